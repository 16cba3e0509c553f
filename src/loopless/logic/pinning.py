"""Terms where a condition holds: what its equalities pin, and whether two terms are equal there."""

from __future__ import annotations

from collections.abc import Iterator

from loopless import terms as t
from loopless.limits.logic import MAX_PINNING_ROUNDS
from loopless.logic.region import Region
from loopless.logic.translate import NotPresburger


def shortest_where(term: t.Term, condition: t.Condition) -> t.Term:
    """A term that has the value of ``term`` wherever ``condition`` holds, in the fewest words that its equalities
    allow: where x == n - 1 holds, x + 1 is n.
    """
    bindings = [binding for equality in _equalities(condition) for binding in _solved(equality)]
    remainders = [known for equality in _equalities(condition) if (known := _remainder(equality)) is not None]
    for _ in range(MAX_PINNING_ROUNDS):
        found = term
        others = [other for v, value in bindings if (other := _substituted(term, v, value)) is not None]
        for other in (*others, *(_with_remainder(term, *known) for known in remainders)):
            if _length(other) < _length(found):
                found = other
        if found is term:
            break
        term = found
    return term


def equal_where(left: t.Term, right: t.Term, condition: t.Condition, region: Region | None) -> bool:
    """Whether the two have the same value wherever ``condition`` holds; False where that is not found out.

    ``region``: the condition's, None where it is not Presburger.
    """
    if left is right:
        return True
    if _eliminated(left - right, condition) is t.ZERO:
        return True
    if region is None:
        return False
    try:
        return (region & Region.of(left.ne(right))).is_empty()
    except NotPresburger:
        return False


def _equalities(condition: t.Condition) -> list[t.Term]:
    """The terms that are 0 wherever ``condition`` holds."""
    return [part.term for part in t.conjuncts(condition) if isinstance(part, t.Compare) and part.relation == "eq"]


def _solved(equality: t.Term) -> Iterator[tuple[t.Var, t.Term]]:
    """The variables that ``equality`` = 0 gives, with their values."""
    poly = t.polynomial(equality)
    for monomial, coefficient in poly.items():
        if len(monomial) != 1 or monomial[0][1] != 1 or abs(coefficient) != 1:
            continue
        variable = monomial[0][0]
        rest = t.from_polynomial({m: -coefficient * c for m, c in poly.items() if m is not monomial})
        if isinstance(variable, t.Var) and variable not in rest.variables:
            yield variable, rest


def _remainder(equality: t.Term) -> tuple[t.Term, int, int] | None:
    """(e, d, r) where ``equality`` = 0 says that mod(e, d) = r."""
    poly = t.polynomial(equality)
    constant = poly.pop((), 0)
    if len(poly) != 1:
        return None
    ((monomial, coefficient),) = poly.items()
    if len(monomial) != 1 or monomial[0][1] != 1 or constant % coefficient:
        return None
    known = _division(monomial[0][0])
    return None if known is None or known[0] != "mod" else (known[1], known[2], -constant // coefficient)


def _division(atom: t.Term) -> tuple[str, t.Term, int] | None:
    """The operator, the dividend and the divisor of a quotient or remainder by a positive constant."""
    if not (isinstance(atom, t.Op) and atom.op in ("floor_div", "mod")):
        return None
    divisor = atom.args[1]
    return (atom.op, atom.args[0], divisor.value) if isinstance(divisor, t.Const) and divisor.value > 0 else None


def _with_remainder(term: t.Term, dividend: t.Term, divisor: int, rest: int) -> t.Term:
    """``term`` where mod(dividend, divisor) = rest: remainders that this gives are numbers, and multiples of quotients
    differences.
    """
    total: list[t.Term] = [t.ZERO]
    for monomial, coefficient in t.polynomial(term).items():
        part: t.Term = t.from_polynomial({monomial: coefficient})
        known = _division(monomial[0][0]) if len(monomial) == 1 and monomial[0][1] == 1 else None
        if known is not None and divisor % known[2] == 0:
            op, argument, by = known
            value = _residue(argument, dividend, by, rest)
            if value is not None and op == "mod":
                part = t.const(coefficient * value)
            elif value is not None and coefficient % by == 0:
                part = (argument - value) * (coefficient // by)
        total.append(part)
    return t.add(*total)


def _residue(argument: t.Term, dividend: t.Term, divisor: int, rest: int) -> int | None:
    """mod(argument, divisor) where mod(dividend, divisor) = mod(rest, divisor), if that decides it."""
    for sign in (1, -1):
        difference = t.polynomial(argument - dividend * sign)
        constant = difference.pop((), 0)
        if all(c % divisor == 0 for c in difference.values()):
            return (sign * rest + constant) % divisor
    return None


def _eliminated(term: t.Term, condition: t.Condition) -> t.Term:
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


def _substituted(term: t.Term, variable: t.Var, value: t.Term) -> t.Term | None:
    try:
        return t.substitute(term, {variable: value})
    except t.TermTooLarge:
        return None


def _length(term: t.Term) -> tuple[int, int]:
    return len(t.polynomial(term)), len(t.text(term))
