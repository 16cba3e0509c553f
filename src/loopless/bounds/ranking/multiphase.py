"""Bounds that are no linear functions: of loops in phases, and of loops whose values grow or shrink geometrically.

Nested functions f1, …, fd (Ben-Amram and Genaim, On multiphase-linear ranking functions, CAV 2017; Leike and Heizmann,
Ranking templates for linear loops, LMCS 2015): f1 falls by 1 in each iteration, each further one by at least minus the
one before it, and fd is ≥ 0. After t iterations fd is at most Σ fi·C(t, d-i) - C(t, d) over the entry values, and the
loop has ended before that is negative: a root of a polynomial, not only a linear bound.

A quotient: g ≥ 1 grows by a factor a/b in each iteration and stays below h, which does not grow; or h shrinks by it
and g is 1. The loop has ended before (a/b)^t·g exceeds h.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import factorial, lcm

from loopless import terms as t
from loopless.bounds.ranking.size_bounds import SizeBounds
from loopless.bounds.ranking.transition_system import LinearTransition
from loopless.limits.bounds import MAX_PHASES, MAX_RATIOS
from loopless.logic.farkas import FarkasClaim, affine
from loopless.ranking.templates import RationalFunction, Template

Phased = tuple[tuple[RationalFunction, ...], t.Term]
"""Functions, and the bound that follows from them."""


def nested(sizes: SizeBounds, transitions: Sequence[LinearTransition], basis: Sequence[t.Term]) -> Phased | None:
    """Two functions or more, each of which falls once the one before is negative, in all ``transitions``; proved."""
    for depth in range(2, MAX_PHASES + 1):
        templates = [Template(f"f{i}_", tuple(basis)) for i in range(depth)]
        claims: list[FarkasClaim] = []
        for step in map(sizes.linear, transitions):
            first, last = templates[0], templates[-1]
            claims += [step.falls(first, first, by=1), step.claims(last.now())]
            claims += [step.falls(later, later, earlier.now()) for earlier, later in pairwise(templates)]
        of_size: dict[str, int] = {name: 1 for template in templates for name in template.size()}
        constants = (template.constant() for template in reversed(templates))
        solution = sizes.engine.solve(claims, least=(of_size, *constants))
        if solution is None:
            continue
        functions = tuple(template.found(solution) for template in templates)
        divisor = lcm(*(f.divisor for f in functions))
        terms = [f.term * (divisor // f.divisor) for f in functions]
        if all(_nested_on(sizes, transition, terms, divisor) for transition in transitions):
            return functions, _until_negative([sizes.meaning(term) for term in terms], divisor)
    return None


def _nested_on(sizes: SizeBounds, transition: LinearTransition, terms: Sequence[t.Term], divisor: int) -> bool:
    drops = [term - sizes.exact(transition, term) for term in terms]
    parts = [drops[0].ge(divisor), terms[-1].ge(0)]
    parts += [(drop + before).ge(0) for drop, before in zip(drops[1:], terms, strict=False)]
    return sizes.proves(transition, t.conjunction(parts))


def _until_negative(terms: Sequence[t.Term], divisor: int) -> t.Term:
    """The least t with Σ terms[i]·C(t, d-1-i) < divisor·C(t, d)."""
    depth = len(terms)
    curve: dict[tuple[int, int], t.Term] = {}
    for order, term in enumerate((t.const(-divisor), *terms)):
        choose = depth - order  # times C(t, choose), all of it times d!
        for power, coefficient in enumerate(_falling(choose)):
            weight = -coefficient * (factorial(depth) // factorial(choose))
            curve[1, power] = curve.get((1, power), t.ZERO) + term * weight
    return t.maximum(t.ZERO, t.first_positive({key: c for key, c in curve.items() if c is not t.ZERO}))


def _falling(count: int) -> list[int]:
    """The coefficients of t·(t-1)·…·(t-count+1), lowest first."""
    found = [1]
    for i in range(count):
        found = [a - i * b for a, b in zip([0, *found], [*found, 0], strict=True)]
    return found


# -- geometric growth -------------------------------------------------------------------------------------------------


def geometric(sizes: SizeBounds, transitions: Sequence[LinearTransition], basis: Sequence[t.Term]) -> Phased | None:
    """Two functions whose quotient falls by a constant factor in all ``transitions``; proved."""
    for numerator, denominator in _ratios(transitions):
        for shrinks in (True, False):
            found = _quotient(sizes, transitions, (() if shrinks else basis, basis), (numerator, denominator))
            if found is not None:
                return found
    return None


def _ratios(transitions: Sequence[LinearTransition]) -> Iterator[tuple[int, int]]:
    """The factors that occur in updates, and what a quotient by them adds, the greatest first."""
    factors: set[int] = set()
    for transition in transitions:
        named = {v for term in transition.after.values() for v in term.variables if v.name.startswith("'")}
        for term in (
            *transition.after.values(),
            *(row for row in transition.rows if not named.isdisjoint(row.variables)),
        ):
            factors |= {abs(c) for v, c in affine(term).items() if v is not None and 2 <= abs(c) <= 1 << 16}
    ratios = {(k, 1) for k in factors} | {(k + 1, k) for k in factors} | {(k, k - 1) for k in factors if k > 2}
    yield from sorted(ratios, key=lambda r: -r[0] / r[1])[:MAX_RATIOS]


def _quotient(
    sizes: SizeBounds,
    transitions: Sequence[LinearTransition],
    bases: tuple[Sequence[t.Term], Sequence[t.Term]],
    ratio: tuple[int, int],
) -> Phased | None:
    """Over the ``bases`` g ≥ 1 and h ≥ g: with g constant h falls by the ratio, else g grows by it, h does not."""
    a, b = ratio
    low, high = Template("g", tuple(bases[0])), Template("h", tuple(bases[1]))
    shrinks = not bases[0]
    claims: list[FarkasClaim] = []
    for step in map(sizes.linear, transitions):
        claims += [step.claims(low.now(), least=1), step.claims(high.now(), low.now(-1))]
        if shrinks:
            claims.append(step.claims(high.now(b), step.then(high, -a)))
        else:
            claims += [step.claims(step.then(low, b), low.now(-a)), step.falls(high, high)]
    least = {**low.size(), **high.size()}
    solution = sizes.engine.solve(claims, least=(least, low.constant(), high.constant()))
    if solution is None:
        return None
    g, h = low.found(solution), high.found(solution)
    if not all(
        sizes.proves(transition, _quotient_on(sizes, transition, (g, h), ratio, shrinks=shrinks))
        for transition in transitions
    ):
        return None
    start, limit = (sizes.meaning(f.term * other.divisor) for f, other in ((g, h), (h, g)))
    curve: dict[tuple[int, int], t.Term] = {(a, 0): start}
    curve[b, 0] = curve.get((b, 0), t.ZERO) - limit
    return (g, h), t.maximum(t.ZERO, t.first_positive(curve))


def _quotient_on(
    sizes: SizeBounds,
    transition: LinearTransition,
    pair: tuple[RationalFunction, RationalFunction],
    ratio: Sequence[int],
    *,
    shrinks: bool,
) -> t.Condition:
    g, h = pair
    a, b = ratio
    parts = [g.term.ge(g.divisor), (h.term * g.divisor).ge(g.term * h.divisor)]
    if shrinks:
        parts.append((h.term * b).ge(sizes.exact(transition, h.term) * a))
    else:
        parts.append((sizes.exact(transition, g.term) * b).ge(g.term * a))
        parts.append(h.term.ge(sizes.exact(transition, h.term)))
    return t.conjunction(parts)


def grows(transitions: Sequence[LinearTransition]) -> bool:
    """Whether something is multiplied or divided in every one of the ``transitions``."""
    return all(any(_is_scaled(term) for term in transition.after.values()) for transition in transitions)


def _is_scaled(term: t.Term) -> bool:
    return any(v is not None and (abs(c) >= 2 or v.name.startswith("'")) for v, c in affine(term).items())
