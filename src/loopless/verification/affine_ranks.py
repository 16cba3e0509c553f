"""Affine terms that may be components of a rank, by Farkas' lemma on transitions between cutpoints.

Of transitions that go on, one term is looked for that none of them raises and some of them lower while it is 0 or more
(Bradley, Manna and Sipma, Linear ranking with reachability, CAV 2005). What is found is a proposal: the search proves
it before it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from math import lcm
from typing import Final

from loopless.logic.farkas import Claim, Farkas, Form, Linear, affine
from loopless.terms import (
    ONE,
    ZERO,
    Compare,
    Condition,
    IntType,
    Op,
    Term,
    Var,
    add,
    conjuncts,
    const,
    less_equal,
    neg,
    polynomial,
    scale,
    sub,
    substitute,
    walk,
)
from loopless.verification.transitions import Transition, apart

MAX_VARIABLES: Final = 14
"""Terms are looked for over at most so many variables. A guess."""
MAX_CHOICES: Final = 10
"""So many choices of transitions that fall are tried. A guess."""

Shown = Callable[[Transition, Condition], bool]
"""Whether a condition holds before a transition that is taken."""


class AffineRanks:
    """The search of one question; ``known``: what holds at a cutpoint."""

    def __init__(self, known: Callable[[str], Sequence[Condition]], shown: Shown) -> None:
        self.known, self.shown = known, shown
        self.engine = Farkas()

    def terms(self, shared: Collection[Var], transitions: Sequence[Transition]) -> Iterator[Term]:
        """Terms over ``shared`` that no transition raises, and that all, or some, lower by 1 or more where they are 0
        or more.
        """
        transitions = [part for t in transitions for part in apart(t)]
        moved = {var for t in transitions for var in t.update}
        used = {var for t in transitions for c in (t.condition, *t.update.values()) for var in c.variables}
        over = sorted((v for v in shared if v in moved or v in used), key=lambda v: v.key)
        if not 0 < len(over) <= MAX_VARIABLES:
            return
        rows = [self._rows(t) for t in transitions]
        every = range(len(transitions))
        choices = (tuple(every), *((index,) for index in every)) if len(transitions) > 1 else (tuple(every),)
        for falling in choices[:MAX_CHOICES]:
            found = self._solved(over, transitions, rows, falling)
            if found is not None:
                yield found

    def _solved(
        self,
        over: Sequence[Var],
        transitions: Sequence[Transition],
        rows: Sequence[tuple[Term, ...]],
        falling: Sequence[int],
    ) -> Term | None:
        basis = (ONE, *over)
        claims: list[Claim] = []
        for index, (t, known) in enumerate(zip(transitions, rows, strict=True)):
            after = [_stepped(var, t.update, index) for var in over]
            new = {var for term in after for var in term.variables if var.name.endswith(f" behind {index}")}
            given = (*known, *(row for var in sorted(new, key=lambda v: v.key) for row in _range(var, var.type)))
            falls = [sub(var, then) for var, then in zip(over, after, strict=True)]
            drop = _combined((ZERO, *falls))
            if index in falling:
                claims += [Claim(given, _combined(basis)), Claim(given, _less(drop, 1))]
            else:
                claims.append(Claim(given, drop))
        size: Linear = {f"c{at}{sign}": 1 for at in range(1, len(basis)) for sign in "+-"}
        constant: Linear = {"c0+": 1, "c0-": -1}
        solution = self.engine.solve(claims, least=(size, constant))
        if solution is None:
            return None
        zero = Fraction(0)
        values = [solution.get(f"c{at}+", zero) - solution.get(f"c{at}-", zero) for at in range(len(basis))]
        divisor = lcm(*(value.denominator for value in values))
        return add(*(scale(term, int(value * divisor)) for term, value in zip(basis, values, strict=True)))

    def _rows(self, transition: Transition) -> tuple[Term, ...]:
        """Affine terms that are 0 or more where the transition is taken."""
        found: dict[Term, None] = {}
        for condition in (*conjuncts(transition.condition), *self.known(transition.source)):
            for part in conjuncts(condition):
                if isinstance(part, Compare) and all(_is_affine(term) for term in _positive(part)):
                    found.update(dict.fromkeys(_positive(part)))
                else:
                    found.update(dict.fromkeys(self._cut_off(transition, part)))
        variables = {var for row in found for var in row.variables} | {
            var for term in transition.update.values() for var in term.variables
        }
        for var in sorted(variables, key=lambda v: v.key):
            found.update(dict.fromkeys(_range(var, var.type)))
        return tuple(found)

    def _cut_off(self, transition: Transition, condition: Condition) -> Iterator[Term]:
        """Of the terms that a condition cuts off below 0 those that are 0 or less there."""
        for node in walk(condition):
            if not isinstance(node, Op) or node.op != "max":
                continue
            for part in node.args:
                if part.variables and _is_affine(part) and self.shown(transition, less_equal(part, ZERO)):
                    yield neg(part)


def borders(transitions: Sequence[Transition], shared: Collection[Var]) -> Iterator[Term]:
    """Terms that are below 0 behind a transition since its condition bounds them before: they fall before it is taken,
    or are used up for good.
    """
    for t in (part for t in transitions for part in apart(t)):
        for part in conjuncts(t.condition):
            if not isinstance(part, Compare):
                continue
            for side in _positive(part):
                if not side.variables or not side.variables <= frozenset(shared):
                    continue
                change = sub(substitute(side, t.update), side)
                if not change.variables and polynomial(change).get((), 0) < 0:
                    yield add(neg(side), change, const(-1))


def _positive(comparison: Compare) -> tuple[Term, ...]:
    """What is 0 or more where it holds; nothing of an inequation."""
    match comparison.relation:
        case "le":
            return (neg(comparison.term),)
        case "eq":
            return (comparison.term, neg(comparison.term))
        case _:
            return ()


def _is_affine(term: Term) -> bool:
    try:
        affine(term)
    except ValueError:
        return False
    return True


def _range(var: Var, type_: IntType) -> Iterator[Term]:
    if type_.min is not None:
        yield sub(var, const(type_.min))
    if type_.max is not None:
        yield sub(const(type_.max), var)


def _stepped(var: Var, update: Mapping[Var, Term], index: int) -> Term:
    """The value behind a transition: any value of the type where it is not affine."""
    after = update.get(var, var)
    return after if _is_affine(after) else Var(f"{var.name} behind {index}", var.type)


def _combined(terms: Sequence[Term]) -> Form:
    """The terms with unknown coefficients, each the difference of two that are 0 or more."""
    found: dict[Var | None, dict[str, int | Fraction]] = {}
    for at, term in enumerate(terms):
        for var, coefficient in affine(term).items():
            linear = found.setdefault(var, {})
            for sign, factor in (("+", 1), ("-", -1)):
                linear[f"c{at}{sign}"] = linear.get(f"c{at}{sign}", 0) + factor * coefficient
    return found


def _less(form: Form, by: int) -> Form:
    found = {var: dict(linear) for var, linear in form.items()}
    constant = found.setdefault(None, {})
    constant[""] = constant.get("", 0) - by
    return found
