"""Quotients without a remainder, taken out of comparisons: 2*floor((n*n + n)/2) == s says that n*n + n == s."""

from __future__ import annotations

import itertools
from math import prod
from typing import Final

from loopless.limits.terms import MAX_RESIDUES
from loopless.terms.build import add, const, from_polynomial, polynomial, product
from loopless.terms.conditions import at_most_zero, with_comparisons
from loopless.terms.nodes import Compare, Condition, Const, Op, Term, Var

_ROUNDS: Final = 8
"""Maximum number of quotients taken out of one comparison."""


def without_exact_quotients(condition: Condition) -> Condition:
    """An equivalent condition: where the dividend of a quotient is a multiple of the divisor for all integers, the
    comparison is multiplied by the divisor.
    """
    return with_comparisons(condition, _multiplied)


def _multiplied(condition: Condition) -> Condition:
    if not isinstance(condition, Compare):
        return condition
    term = condition.term
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
        most = max(exponent for monomial in poly for at, exponent in monomial if at is atom)
        term = add(
            *(
                product(
                    (
                        from_polynomial({tuple((at, e) for at, e in monomial if at is not atom): factor}),
                        *[dividend] * exponent,
                        const(divisor.value ** (most - exponent)),
                    )
                )
                for monomial, factor in poly.items()
                for exponent in [next((e for at, e in monomial if at is atom), 0)]
            )
        )
    if term is condition.term:
        return condition
    return at_most_zero(term) if condition.relation == "le" else getattr(term, condition.relation)(0)


def divides_always(divisor: int, term: Term) -> bool:
    """Whether a polynomial is a multiple of ``divisor`` for all integers; False where these are too many to try."""
    poly = polynomial(term)
    atoms = sorted({atom for monomial in poly for atom, _ in monomial}, key=lambda atom: atom.key)
    if not all(isinstance(atom, Var) for atom in atoms) or divisor ** len(atoms) > MAX_RESIDUES:
        return False
    for residues in itertools.product(range(divisor), repeat=len(atoms)):
        at = dict(zip(atoms, residues, strict=True))
        if sum(factor * prod(at[atom] ** e for atom, e in monomial) for monomial, factor in poly.items()) % divisor:
            return False
    return True
