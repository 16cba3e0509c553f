"""Quotients without a remainder, taken out of comparisons: 2*floor((n*n + n)/2) == s says that n*n + n == s."""

from __future__ import annotations

import itertools
from math import gcd, lcm, prod
from typing import Final

from loopless.limits.terms import MAX_RESIDUES
from loopless.terms.build import add, fits, from_polynomial, polynomial, product, wrap
from loopless.terms.conditions import at_most_zero, equals_zero, not_zero, with_comparisons
from loopless.terms.nodes import Compare, Condition, Const, Op, Term, Wrap
from loopless.terms.types import IntType

_ROUNDS: Final = 8
"""Maximum number of quotients taken out of one comparison."""


def without_exact_quotients(condition: Condition) -> Condition:
    """An equivalent condition: where the dividend of a quotient is a multiple of the divisor for all integers, the
    comparison is multiplied by the divisor. So are both sides of an equation of what wraps around, of which there are
    as many more bits then as the divisor has.
    """
    return with_comparisons(condition, _multiplied)


def _multiplied(condition: Condition) -> Condition:
    if not isinstance(condition, Compare):
        return condition
    found = _congruent(condition)
    if found is not None:
        term, width = found
        whole, factor = _without_quotients(term)
        if whole is term:
            return condition
        # The odd part of the factor has an inverse modulo 2^width, and 2^k * a = 0 modulo 2^(width + k) where a = 0.
        modulus = IntType(width + (factor & -factor).bit_length() - 1, signed=False)
        return _compared(wrap(whole, modulus), condition.relation)
    term, _ = _without_quotients(condition.term)
    if term is condition.term:
        return condition
    return _compared(term, condition.relation)


def _compared(term: Term, relation: str) -> Condition:
    return {"le": at_most_zero, "eq": equals_zero, "ne": not_zero}[relation](term)


def _congruent(condition: Compare) -> tuple[Term, int] | None:
    """A term and a number of bits, where a condition says that these all are 0 in the term, or that they are not."""
    if condition.relation == "le":
        return None
    poly = polynomial(condition.term)
    for monomial, factor in poly.items():
        match monomial:
            case ((Wrap() as atom, 1),) if abs(factor) == 1 and atom.type.width is not None:
                other = from_polynomial({m: -c * factor for m, c in poly.items() if m != monomial})
                if fits(other, atom.type):
                    inner = other.arg if isinstance(other, Wrap) and other.type == atom.type else other
                    return atom.arg - inner, atom.type.width
    return None


def _without_quotients(term: Term) -> tuple[Term, int]:
    """The term times a positive number, and that number, such that quotients without a remainder are gone."""
    whole = 1
    for _ in range(_ROUNDS):
        poly = polynomial(term)
        quotients = (
            (atom, dividend, divisor)
            for monomial in poly
            for atom, _ in monomial
            if isinstance(atom, Op) and atom.op == "floor_div"
            for dividend, divisor in [atom.args]
            if isinstance(divisor, Const) and divisor.value > 1 and divides_always(divisor.value, dividend)
        )
        quotient = next(quotients, None)
        if quotient is None:
            break
        atom, dividend, divisor = quotient
        parts = []
        for monomial, factor in poly.items():
            exponent = next((e for at, e in monomial if at is atom), 0)
            parts.append((tuple((at, e) for at, e in monomial if at is not atom), factor, exponent))
        times = lcm(*(divisor.value**e // gcd(factor, divisor.value**e) for _, factor, e in parts))
        term = add(
            *(
                product((from_polynomial({rest: factor * times // divisor.value**e}), *[dividend] * e))
                for rest, factor, e in parts
            )
        )
        whole *= times
    return term, whole


def divides_always(divisor: int, term: Term) -> bool:
    """Whether a polynomial is a multiple of ``divisor`` whatever integers stand for what is no sum in it; False where
    these are too many to try.
    """
    poly = polynomial(term)
    atoms = sorted({atom for monomial in poly for atom, _ in monomial}, key=lambda atom: atom.key)
    if divisor ** len(atoms) > MAX_RESIDUES:
        return False
    for residues in itertools.product(range(divisor), repeat=len(atoms)):
        at = dict(zip(atoms, residues, strict=True))
        if sum(factor * prod(at[atom] ** e for atom, e in monomial) for monomial, factor in poly.items()) % divisor:
            return False
    return True
