"""Signs of polynomials that are beyond the logic.

By bounds of the variables, i*n*(n - 1)/2 for i >= 0, n >= 1: with each variable at its bound plus something that is not
negative, a polynomial without negative coefficients is not negative. By squares, i*i - 2*i*n + n*n: a polynomial of
degree 2 is nowhere negative over the reals iff it is a sum of squares. Both are sound, and cheap; where they do not
apply nothing is known.
"""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import lcm

from loopless import terms as t
from loopless.limits.summary import MAX_BOUND_CHOICES, MAX_RESIDUE_COMBINATIONS
from loopless.logic import EmptyRegion, NotPresburger, Region


def never_negative(term: t.Term, region: Region) -> bool:
    """Whether ``term`` is surely at least 0 on ``region``; False where that is not known."""
    try:
        plain = _without_quotients(term)
        return plain is not None and (_is_sum_of_squares(plain) or region.is_empty() or _by_bounds(plain, region))
    except (t.TermTooLarge, NotPresburger, EmptyRegion):
        return False


def _without_quotients(term: t.Term) -> t.Term | None:
    """A positive multiple of ``term``, or of something less, without quotients; None where that is no polynomial."""
    found: list[tuple[t.Term, int]] = []
    for monomial, count in t.polynomial(term).items():
        numerator: t.Term = t.const(count)
        denominator, exact = 1, True
        for atom, exponent in monomial:
            if isinstance(atom, t.Op) and atom.op == "floor_div" and isinstance(atom.args[1], t.Const):
                divided, divisor = atom.args[0], atom.args[1].value
                exact = exact and _is_multiple(divided, divisor)
                numerator, denominator = t.product([numerator, *[divided] * exponent]), denominator * divisor**exponent
            else:
                numerator = t.product([numerator, *[atom] * exponent])
        if not exact:
            if len(monomial) > 1 or monomial[0][1] > 1:
                return None
            # count * floor(x / d) >= (count * x - count * (d - 1)) / d for count > 0, >= count * x / d for count < 0
            numerator = numerator - max(0, count) * (denominator - 1)
        found.append((numerator, denominator))
    factor = lcm(1, *(denominator for _, denominator in found))
    plain = t.add(*(numerator * (factor // denominator) for numerator, denominator in found))
    return plain if all(isinstance(atom, t.Var) for m in t.polynomial(plain) for atom, _ in m) else None


def _is_multiple(term: t.Term, divisor: int) -> bool:
    """Whether ``term`` is a multiple of ``divisor`` for all integers."""
    variables = sorted(term.variables)
    if divisor ** len(variables) > MAX_RESIDUE_COMBINATIONS:
        return False
    for residues in itertools.product(range(divisor), repeat=len(variables)):
        at = t.substitute(term, {var: t.const(r) for var, r in zip(variables, residues, strict=True)})
        if not isinstance(at, t.Const) or at.value % divisor:
            return False
    return True


def _is_sum_of_squares(term: t.Term) -> bool:
    """Whether a polynomial of degree 2 over variables is at least 0 for all their real values.

    It is iff its matrix, with 1 as a further variable, is positive semidefinite: pivot by pivot none is negative, and a
    pivot of 0 has nothing beside it.
    """
    variables = sorted(term.variables)
    place: dict[t.Term, int] = {var: at for at, var in enumerate(variables, 1)}
    rows = [[Fraction(0)] * (len(variables) + 1) for _ in range(len(variables) + 1)]
    for monomial, factor in t.polynomial(term).items():
        at = [place[atom] for atom, exponent in monomial for _ in range(exponent)]
        if len(at) > 2:
            return False
        first, second = [0] * (2 - len(at)) + at
        rows[first][second] += Fraction(factor, 2)
        rows[second][first] += Fraction(factor, 2)
    for pivot, row in enumerate(rows):
        if row[pivot] < 0 or (not row[pivot] and any(row[pivot + 1 :])):
            return False
        if row[pivot]:
            for below in rows[pivot + 1 :]:
                share = below[pivot] / row[pivot]
                below[pivot:] = [b - share * r for b, r in zip(below[pivot:], row[pivot:], strict=True)]
    return True


def _by_bounds(term: t.Term, region: Region) -> bool:
    """Whether no coefficient is negative over variables that are at least 0."""
    # From the last variable on, since a bound may be one of those before.
    choices = [_bounded(var, term, region) for var in sorted(term.variables, reverse=True)]
    for chosen in itertools.islice(itertools.product(*choices), MAX_BOUND_CHOICES):
        at = term
        for var, value in chosen:
            at = t.substitute(at, {var: value})
        if all(factor >= 0 for factor in t.polynomial(at).values()):
            return True
    return False


def _bounded(var: t.Var, term: t.Term, region: Region) -> list[tuple[t.Var, t.Term]]:
    """Ways to write ``var`` as a bound and a variable that is not negative, here of the same name: by numbers, and by
    the other variables that it is never less than.
    """
    found: list[tuple[t.Var, t.Term]] = []
    for other in sorted(term.variables - {var}):
        low, _ = region.range_of(var - other)
        if low is not None and low >= 0 and other < var:
            found.append((var, other + var + low))
    low, high = region.range_of(var)
    if low is not None:
        found.append((var, var + low))
    if high is not None:
        found.append((var, high - var))
    return found
