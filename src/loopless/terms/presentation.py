"""Sums with quotients in the form that people read best: about the difference that a quotient counts.

i + 2*ceil_div(x - i, 2) instead of 2*ceil_div(i + x, 2) - i, ceil_div(100 - i, 7) instead of floor_div(1 - i, 7) + 15,
mod(x, 7) instead of x - 7*floor_div(x, 7). The results have the same values but not the canonical form of
:mod:`loopless.terms.build`; they are for printing only.
"""

from __future__ import annotations

from collections.abc import Callable

from loopless.limits.terms import MAX_PRESENTED_MONOMIALS
from loopless.terms.build import Polynomial, from_polynomial, polynomial
from loopless.terms.nodes import Const, Monomial, Op, Sum, Term, Var


def _none(_: Op) -> bool:
    return False


def presented(term: Term, closed: Callable[[Op], bool] = _none) -> Term:
    """``term``, if it is a sum, with its quotients and remainders, not ``closed`` ones, in the form that reads best."""
    if not isinstance(term, Sum) or len(term.items) > MAX_PRESENTED_MONOMIALS:
        return term
    poly = dict(term.items)
    atoms = [monomial for monomial in poly if (op := _division(monomial)) is not None and not closed(op)]
    if not atoms:
        return term
    alone = len(atoms) == 1
    for monomial in atoms:
        if monomial in poly:  # two atoms may have become one
            poly = _best(poly, monomial, alone=alone)
    return from_polynomial(_upright(poly, closed))


def presented_comparison(term: Term, relation: str, closed: Callable[[Op], bool] = _none) -> Term:
    """A term compared with 0: as :func:`presented`, and with quotients on the side of the variables, where that leaves
    a constant on the other side.
    """
    poly = polynomial(term)
    if len(poly) > MAX_PRESENTED_MONOMIALS:
        return term
    for monomial in list(poly):  # of two that become one, the second is no longer there
        op = _division(monomial)
        if monomial in poly and op is not None and not closed(op) and op.op == "mod" and len(poly) > 2:
            poly = _without_constant(poly, monomial, op)
    if relation == "le" and all(c > 0 for m, c in poly.items() if m and _division(m) is None):
        for monomial in [m for m, c in poly.items() if c < 0 and m]:
            op = _division(monomial)
            if poly.get(monomial, 0) < 0 and op is not None and not closed(op) and op.op == "floor_div":
                poly = _flipped(poly, monomial, op)
    return from_polynomial(_upright(poly, closed))


def _upright(poly: Polynomial, closed: Callable[[Op], bool]) -> Polynomial:
    """Quotients of what only has minus signs turned around: x - 5*(x / 8), not x + 5*ceil_div(-x, 8)."""
    for monomial in list(poly):
        op = _division(monomial)
        if monomial not in poly or op is None or op.op != "floor_div" or closed(op):
            continue
        inside = polynomial(op.args[0])
        if all(c < 0 for part, c in inside.items() if part) and inside.get((), 0) == _divisor(op) - 1:
            poly = _flipped(poly, monomial, op)
    return poly


def _division(monomial: Monomial) -> Op | None:
    """The quotient or remainder by a positive constant that the monomial is."""
    if len(monomial) != 1 or monomial[0][1] != 1:
        return None
    atom = monomial[0][0]
    if isinstance(atom, Op) and atom.op in ("floor_div", "mod") and isinstance(atom.args[1], Const):
        return atom if atom.args[1].value > 0 else None
    return None


def _divisor(op: Op) -> int:
    assert isinstance(op.args[1], Const)
    return op.args[1].value


def _atom(op: str, argument: Polynomial, divisor: int) -> Monomial:
    return ((Op(op, (from_polynomial(argument), Const(divisor))), 1),)


def _plus(poly: Polynomial, monomial: Monomial, amount: int) -> None:
    total = poly.get(monomial, 0) + amount
    if total:
        poly[monomial] = total
    else:
        poly.pop(monomial, None)


def _best(poly: Polynomial, monomial: Monomial, *, alone: bool) -> Polynomial:
    op = _division(monomial)
    assert op is not None
    if op.op == "mod":
        return _mirrored(poly, monomial, op) if poly[monomial] < 0 and len(poly) == 2 and () in poly else poly
    as_quotient = _shifted(poly, monomial, op, alone=alone)
    as_remainder = _remainder(poly, monomial, op)
    if as_remainder is None or len(as_remainder) > len(as_quotient):
        return as_quotient
    only = all(not part or (_division(part) is not None and c > 0) for part, c in as_remainder.items())
    return as_remainder if only or len(as_remainder) < len(as_quotient) else as_quotient


def _shifted(poly: Polynomial, monomial: Monomial, op: Op, *, alone: bool) -> Polynomial:
    """c·floor(e/d) + r with multiples of d moved between e and r: floor((e + d·k·v)/d) = floor(e/d) + k·v."""
    outside = dict(poly)
    factor = outside.pop(monomial)
    divisor = _divisor(op)
    inside = polynomial(op.args[0])
    for part in list(inside):
        if part and _is_variable(part):
            times = _best_move(inside[part], outside.get(part, 0), factor, divisor)
            _move(inside, outside, part, times, factor, divisor)
    constant = outside.get((), 0)
    counts = any(part and coefficient < 0 for part, coefficient in inside.items())
    if alone and counts and constant and constant % factor == 0:
        _move(inside, outside, (), constant // factor, factor, divisor)
    quotient = _atom("floor_div", inside, divisor)
    _plus(outside, quotient, factor)
    if quotient in outside and factor < 0 and all(c < 0 if part else c < divisor for part, c in inside.items()):
        return _flipped(outside, quotient, Op("floor_div", (from_polynomial(inside), Const(divisor))))
    return outside


def _is_variable(monomial: Monomial) -> bool:
    return len(monomial) == 1 and monomial[0][1] == 1 and isinstance(monomial[0][0], Var)


def _move(inside: Polynomial, outside: Polynomial, part: Monomial, times: int, factor: int, divisor: int) -> None:
    _plus(inside, part, times * divisor)
    _plus(outside, part, -times * factor)


def _best_move(inside: int, outside: int, factor: int, divisor: int) -> int:
    """How often to move: so that nothing is left outside, or nothing negative, with small coefficients inside."""
    candidates = [0, -1 if inside > 0 else 1]
    if outside and outside % factor == 0:
        candidates.append(outside // factor)
    allowed = [k for k in candidates if abs(inside + k * divisor) < max(divisor, abs(inside) + 1)]

    def cost(times: int) -> tuple[bool, bool, int, int, int]:
        left, within = outside - times * factor, inside + times * divisor
        return left != 0, left < 0, abs(within), abs(left), abs(times)

    return min(allowed, key=cost)


def _remainder(poly: Polynomial, monomial: Monomial, op: Op) -> Polynomial | None:
    """d·floor(e/d) as e - mod(e, d), where the factor allows it."""
    rest = dict(poly)
    factor = rest.pop(monomial)
    divisor = _divisor(op)
    if factor % divisor:
        return None
    times = factor // divisor
    inside = polynomial(op.args[0])
    for part, coefficient in inside.items():
        _plus(rest, part, times * coefficient)
    remainder = Op("mod", (from_polynomial(inside), Const(divisor)))
    _plus(rest, ((remainder, 1),), -times)
    return _without_constant(rest, ((remainder, 1),), remainder)


def _without_constant(poly: Polynomial, monomial: Monomial, op: Op) -> Polynomial:
    """mod(e, d) as d - 1 - mod(-e - 1, d), where the constant of e then goes away."""
    divisor = _divisor(op)
    if monomial not in poly or polynomial(op.args[0]).get((), 0) % divisor != divisor - 1:
        return poly  # it may have met its like, and both be gone
    return _mirrored(poly, monomial, op)


def _mirrored(poly: Polynomial, monomial: Monomial, op: Op) -> Polynomial:
    """mod(e, d) as d - 1 - mod(-e - 1, d)."""
    found = dict(poly)
    factor = found.pop(monomial)
    divisor = _divisor(op)
    inside = polynomial(op.args[0])
    mirrored = {part: centred for part, c in inside.items() if part and (centred := _centred(-c, divisor))}
    _plus(mirrored, (), (-inside.get((), 0) - 1) % divisor)
    _plus(found, _atom("mod", mirrored, divisor), -factor)
    _plus(found, (), factor * (divisor - 1))
    return found


def _centred(coefficient: int, divisor: int) -> int:
    """The coefficient modulo ``divisor``, in (-d/2, d/2]."""
    rest = coefficient % divisor
    return rest - divisor if 2 * rest > divisor else rest


def _flipped(poly: Polynomial, monomial: Monomial, op: Op) -> Polynomial:
    """-floor(e/d) as floor((d - 1 - e)/d)."""
    found = dict(poly)
    factor = found.pop(monomial)
    divisor = _divisor(op)
    inside = {part: -c for part, c in polynomial(op.args[0]).items()}
    _plus(inside, (), divisor - 1)
    _plus(found, _atom("floor_div", inside, divisor), -factor)
    return found
