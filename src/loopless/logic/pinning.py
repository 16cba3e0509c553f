"""Terms where a condition holds: what its equalities pin, and whether two terms are equal there."""

from __future__ import annotations

from collections.abc import Iterator

from loopless.logic.region import Region
from loopless.logic.translate import NotPresburger
from loopless.terms import (
    ZERO,
    Compare,
    Condition,
    Term,
    TermTooLarge,
    Var,
    conjuncts,
    from_polynomial,
    not_equal,
    polynomial,
    sub,
    substitute,
    text,
)

_ROUNDS = 3


def shortest_where(term: Term, condition: Condition) -> Term:
    """A term that has the value of ``term`` wherever ``condition`` holds, in the fewest words that its equalities
    allow: where x == n - 1 holds, x + 1 is n.
    """
    bindings = [binding for equality in _equalities(condition) for binding in _solved(equality)]
    for _ in range(_ROUNDS):
        found = term
        for variable, value in bindings:
            other = _substituted(found, variable, value)
            if other is not None and _length(other) < _length(found):
                found = other
        if found is term:
            break
        term = found
    return term


def equal_where(left: Term, right: Term, condition: Condition, region: Region | None) -> bool:
    """Whether the two have the same value wherever ``condition`` holds; False where that is not found out.

    ``region``: the condition's, None where it is not Presburger.
    """
    if left is right:
        return True
    difference = _eliminated(sub(left, right), condition)
    if difference is ZERO:
        return True
    if region is None:
        return False
    try:
        return (region & Region.of(not_equal(left, right))).is_empty()
    except NotPresburger:
        return False


def _equalities(condition: Condition) -> list[Term]:
    """The terms that are 0 wherever ``condition`` holds."""
    return [part.term for part in conjuncts(condition) if isinstance(part, Compare) and part.relation == "eq"]


def _solved(equality: Term) -> Iterator[tuple[Var, Term]]:
    """The variables that ``equality`` = 0 gives, with their values."""
    poly = polynomial(equality)
    for monomial, coefficient in poly.items():
        if len(monomial) != 1 or monomial[0][1] != 1 or abs(coefficient) != 1:
            continue
        variable = monomial[0][0]
        rest = from_polynomial({m: -coefficient * c for m, c in poly.items() if m is not monomial})
        if isinstance(variable, Var) and variable not in rest.variables:
            yield variable, rest


def _eliminated(term: Term, condition: Condition) -> Term:
    """``term`` with a variable put out by each equality that gives one."""
    left = _equalities(condition)
    while left:
        binding = next(_solved(left.pop()), None)
        if binding is None:
            continue
        found = _substituted(term, *binding)
        if found is None:
            return term
        term = found
        left = [other for one in left if (other := _substituted(one, *binding)) is not None]
    return term


def _substituted(term: Term, variable: Var, value: Term) -> Term | None:
    try:
        return substitute(term, {variable: value})
    except TermTooLarge:
        return None


def _length(term: Term) -> tuple[int, int]:
    return len(polynomial(term)), len(text(term))
