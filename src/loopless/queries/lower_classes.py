"""How fast counts grow: the class of a bound, and the class that a count surely reaches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise, product
from math import floor, log2
from typing import Final

from loopless.bounds import Claim, Growth, growth_of
from loopless.terms import EvaluationError, Term, Var, evaluate, holds


def growth(term: Term | None, shown: Mapping[Var, str]) -> Growth | None:
    """How fast a bound grows with its variables, by their names in the source."""
    return None if term is None else growth_of(term, lambda var: shown.get(var, var.name))


@dataclass(frozen=True, slots=True)
class LowerGrowth:
    """That a count reaches n^degree for some inputs of size n: those with the variables at their sign in ``ray``, 0, 1
    or -1, times n. ``text``: as Ω, in the variables where it is the class of an exact count.
    """

    degree: int
    ray: Mapping[Var, int]
    text: str


def lower_class(found: Claim, shown: Mapping[Var, str]) -> str | None:
    """The class that a count reaches for some inputs of a size, as ``Omega(n*m)``; None where none is seen."""
    grows = lower_growth(found, shown)
    return None if grows is None else grows.text


def lower_growth(found: Claim, shown: Mapping[Var, str]) -> LowerGrowth | None:
    """How fast the count's lower bound grows along some ray of inputs: the fastest that is seen, of those the one with
    the largest counts; None where none is.

    An exact count that grows by the degree of the upper bound has that bound's class.
    """
    exact = found.exact and found.reached is None
    grows = growth(found.upper, shown) if exact else None
    single = grows is not None and len(grows.products) == 1
    nodes = (reached(found), found.when)
    variables = sorted({var for node in nodes for var in node.variables}, key=lambda var: var.key)
    if len(variables) > _MOST_RAYS:
        return None
    best: LowerGrowth | None = None
    most = 0
    for signs in product((1, 0, -1), repeat=len(variables)):
        ray = dict(zip(variables, signs, strict=True))
        counts = [_count_at(found, {v: s * t for v, s in ray.items()}) for t in _SIZES]
        known = [count for count in counts if count is not None and count > 0]
        if len(known) < len(_SIZES):
            continue
        degrees = {_power_of(a, b) for a, b in pairwise(known)}
        if len(degrees) == 1 and (best is None or (min(degrees), known[-1]) > (best.degree, most)):
            (degree,) = degrees
            most = known[-1]
            same = grows is not None and single and degree == grows.degree
            text = grows.text("Omega") if grows is not None and same else _omega(degree)
            best = LowerGrowth(degree, ray, text)
    return best


def reached(found: Claim) -> Term:
    """What some run surely takes."""
    if found.reached is not None:
        return found.reached
    return found.upper if found.exact and found.upper is not None else found.lower


def _omega(degree: int) -> str:
    """The class in the size of the inputs."""
    return "Omega(1)" if degree == 0 else "Omega(size)" if degree == 1 else f"Omega(size^{degree})"


_SIZES: Final = (1 << 12, 1 << 13, 1 << 14)
_MOST_RAYS: Final = 5


def _count_at(found: Claim, values: Mapping[Var, int]) -> int | None:
    """The count, or what is surely reached; types that cannot hold a value have none."""
    if not all(var.type.holds(value) for var, value in values.items()):
        return None
    try:
        told = holds(found.when, values) and not holds(found.never, values)
        return evaluate(reached(found), values) if told else None
    except EvaluationError:
        return None


def _power_of(a: int, b: int) -> int:
    """The whole exponent with which a count surely grows from ``a`` to ``b`` when its inputs double."""
    return floor(log2(b) - log2(a) + 0.05)
