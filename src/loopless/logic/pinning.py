"""Terms where a condition holds: what its equalities pin, and whether two terms are equal there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from loopless.logic.region import Region
from loopless.logic.translate import NotPresburger
from loopless.terms import (
    ZERO,
    Compare,
    Condition,
    Const,
    Op,
    Term,
    TermTooLarge,
    Var,
    add,
    conjuncts,
    const,
    from_polynomial,
    not_equal,
    polynomial,
    scale,
    sub,
    substitute,
    text,
)

_ROUNDS: Final = 3
"""Rounds of putting in values that equalities give: one finds what the one before has made plain. A guess."""


def shortest_where(term: Term, condition: Condition) -> Term:
    """A term that has the value of ``term`` wherever ``condition`` holds, in the fewest words that its equalities
    allow: where x == n - 1 holds, x + 1 is n.
    """
    bindings = [binding for equality in _equalities(condition) for binding in _solved(equality)]
    remainders = [known for equality in _equalities(condition) if (known := _remainder(equality)) is not None]
    for _ in range(_ROUNDS):
        found = term
        others = [other for v, value in bindings if (other := _substituted(term, v, value)) is not None]
        for other in (*others, *(_with_remainder(term, *known) for known in remainders)):
            if _length(other) < _length(found):
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
    if _eliminated(sub(left, right), condition) is ZERO:
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


def _remainder(equality: Term) -> tuple[Term, int, int] | None:
    """(e, d, r) where ``equality`` = 0 says that mod(e, d) = r."""
    poly = polynomial(equality)
    constant = poly.pop((), 0)
    if len(poly) != 1:
        return None
    ((monomial, coefficient),) = poly.items()
    if len(monomial) != 1 or monomial[0][1] != 1 or constant % coefficient:
        return None
    known = _division(monomial[0][0])
    return None if known is None or known[0] != "mod" else (known[1], known[2], -constant // coefficient)


def _division(atom: Term) -> tuple[str, Term, int] | None:
    """The operator, the dividend and the divisor of a quotient or remainder by a positive constant."""
    if not (isinstance(atom, Op) and atom.op in ("floor_div", "mod")):
        return None
    divisor = atom.args[1]
    return (atom.op, atom.args[0], divisor.value) if isinstance(divisor, Const) and divisor.value > 0 else None


def _with_remainder(term: Term, dividend: Term, divisor: int, rest: int) -> Term:
    """``term`` where mod(dividend, divisor) = rest: remainders that this gives are numbers, and multiples of quotients
    differences.
    """
    total: list[Term] = [ZERO]
    for monomial, coefficient in polynomial(term).items():
        part: Term = from_polynomial({monomial: coefficient})
        known = _division(monomial[0][0]) if len(monomial) == 1 and monomial[0][1] == 1 else None
        if known is not None and divisor % known[2] == 0:
            op, argument, by = known
            value = _residue(argument, dividend, by, rest)
            if value is not None and op == "mod":
                part = const(coefficient * value)
            elif value is not None and coefficient % by == 0:
                part = scale(sub(argument, const(value)), coefficient // by)
        total.append(part)
    return add(*total)


def _residue(argument: Term, dividend: Term, divisor: int, rest: int) -> int | None:
    """mod(argument, divisor) where mod(dividend, divisor) = mod(rest, divisor), if that decides it."""
    for sign in (1, -1):
        difference = polynomial(sub(argument, scale(dividend, sign)))
        constant = difference.pop((), 0)
        if all(c % divisor == 0 for c in difference.values()):
            return (sign * rest + constant) % divisor
    return None


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
    for equality in _equalities(condition):
        known = _remainder(equality)
        if known is not None:
            term = _with_remainder(term, *known)
    return term


def _substituted(term: Term, variable: Var, value: Term) -> Term | None:
    try:
        return substitute(term, {variable: value})
    except TermTooLarge:
        return None


def _length(term: Term) -> tuple[int, int]:
    return len(polynomial(term)), len(text(term))
