"""Equations that follow from equations: a polynomial that is a combination of others is zero where all of them are.

Solvers for arithmetic have no method for products of unknowns that ends surely and soon; linear algebra over the
monomials decides what most equational invariants need (Müller-Olm and Seidl, Computing polynomial program invariants,
Inf. Process. Lett. 91, 2004; the ideal membership problem with multipliers of bounded degree).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

from loopless import clock
from loopless.limits.terms import COEFFICIENT_CHARGE_S, MAX_EQUATION_MONOMIALS, MAX_EQUATION_PRODUCTS
from loopless.terms.build import const, from_polynomial, polynomial, scale
from loopless.terms.conditions import between, conjunction, conjuncts
from loopless.terms.nodes import (
    FALSE,
    And,
    Compare,
    Condition,
    Const,
    Monomial,
    Op,
    Or,
    Sum,
    Term,
    TermTooLarge,
    Var,
    walk,
)
from loopless.terms.substitute import substitute
from loopless.terms.term_ranges import range_of

if TYPE_CHECKING:
    from flint import fmpq

Row = dict[Monomial, "fmpq"]
"""The coefficients of a polynomial, none of them 0."""


class Combinations:
    """The polynomials that are combinations of given ones, times monomials so that no degree is above ``degree``."""

    def __init__(self, given: Iterable[Term], degree: int) -> None:
        self._rows: dict[Monomial, Row] = {}
        """By one of its monomials, which no other row has: the rows of a basis, in which that monomial has 1."""
        polynomials = [p for term in given if (p := polynomial(term)) and len(p) <= MAX_EQUATION_MONOMIALS]
        atoms = list(dict.fromkeys(atom for p in polynomials for m in p for atom, _ in m))
        multipliers: list[Monomial] = [()]
        for size in range(1, degree):
            for some in combinations_with_replacement(range(len(atoms)), size):
                multipliers.append(_product((), tuple((atoms[i], some.count(i)) for i in dict.fromkeys(some))))
                if len(multipliers) > MAX_EQUATION_PRODUCTS:
                    break
        left = MAX_EQUATION_PRODUCTS
        for multiplier in multipliers:  # the simple products first
            for p in polynomials:
                if left and _degree(multiplier) + max(map(_degree, p)) <= degree:
                    self._add(_row({_product(multiplier, m): c for m, c in p.items()}))
                    left -= 1

    def has(self, term: Term) -> bool:
        """Whether the term is one of the combinations, so that it is 0 where all that was given is."""
        return not self._rest(_row(polynomial(term)))

    def _add(self, row: Row) -> None:
        rest = self._rest(row)
        if not rest:
            return
        pivot, first = next(iter(rest.items()))
        rest = {m: c / first for m, c in rest.items()}
        for other in self._rows.values():
            if pivot in other:
                _subtract(other, other[pivot], rest)
        self._rows[pivot] = rest

    def _rest(self, row: Row) -> Row:
        """What is left of a row once the rows that are there are subtracted."""
        rest = dict(row)
        for monomial, factor in row.items():  # no row has the monomial of another one
            if monomial in self._rows:
                _subtract(rest, factor, self._rows[monomial])
        return rest


def _row(p: Mapping[Monomial, int]) -> Row:
    from flint import fmpq

    return {m: fmpq(c) for m, c in p.items()}


def _subtract(left: Row, factor: fmpq, row: Row) -> None:
    """Take away a multiple of a row."""
    clock.count(COEFFICIENT_CHARGE_S * len(row))
    for m, c in row.items():
        value = left[m] - factor * c if m in left else -factor * c
        if value != 0:
            left[m] = value
        else:
            del left[m]


def equations(conditions: Iterable[Condition]) -> list[Term]:
    """The terms that the conditions say are 0."""
    parts = (part for condition in conditions for part in conjuncts(condition))
    return [part.term for part in parts if isinstance(part, Compare) and part.relation == "eq"]


def independent(conditions: Iterable[Condition]) -> list[Condition]:
    """The conditions without equations that are combinations of others: what has a low degree, and is short, stays."""
    every = list(conditions)
    terms = {c: term for c in every for term in equations((c,))[:1] if not isinstance(c, And)}
    kept: list[Term] = []
    for term in sorted(terms.values(), key=lambda term: (degree_of(term), len(polynomial(term)), term.key)):
        if not Combinations(kept, 1 + degree_of(term)).has(term):
            kept.append(term)
    return [c for c in every if c not in terms or terms[c] in kept]


def has_products(term: Term) -> bool:
    """Whether a term is a polynomial of a degree above 1."""
    return degree_of(term) > 1


def degree_of(term: Term) -> int:
    """The degree of a term as a polynomial over what is no sum in it."""
    return max(map(_degree, polynomial(term)), default=0)


def excluded_by_equations(parts: Sequence[Condition]) -> bool:
    """Whether conditions cannot hold together since one says that something is not 0 which the equations make 0.

    Only where something is multiplied: linear equations are what solvers are good at.
    """
    flat = [part for condition in parts for part in conjuncts(condition)]
    refused = [part.term for part in flat if isinstance(part, Compare) and part.relation == "ne"]
    given = equations(flat)
    if not refused or not given or not any(map(has_products, (*refused, *given))):
        return False
    found = Combinations(given, 1 + max(map(degree_of, (*refused, *given))))
    return any(len(polynomial(term)) <= MAX_EQUATION_MONOMIALS and found.has(term) for term in refused)


def excluded_by_cases(condition: Condition) -> bool:
    """Whether a condition cannot hold: by equations, case by case of constants, with what they set put in its place."""
    for case in cases_of_constants(condition):
        rest = eliminated(case)
        if rest is not FALSE and not excluded_by_equations((rest,)):
            return False
    return True


def eliminated(condition: Condition) -> Condition:
    """The condition without variables that its equations set to a polynomial of the others, and with quotients for
    those that are multiples of a constant: it can be fulfilled if and only if what it was can. Then products that the
    equations make equal are the same terms. Only where something is multiplied.
    """
    named = 0
    while has_products_inside(condition):
        parts = conjuncts(condition)
        for part in parts:
            found = _multiple(part, named) or _solved(part)
            if found is None:
                continue
            var, value = found
            low, high = range_of(var)
            try:
                others = [substitute(other, {var: value}) for other in parts if other is not part]
                condition = conjunction((*others, between(low, value, high)))
            except TermTooLarge:
                continue
            named += 1
            break
        else:
            return condition
    return condition


def _solved(part: Condition) -> tuple[Var, Term] | None:
    """The variable that an equation sets to what does not speak of it, and that."""
    if not isinstance(part, Compare) or part.relation != "eq":
        return None
    p = polynomial(part.term)
    for monomial, coefficient in p.items():
        if abs(coefficient) != 1 or len(monomial) != 1 or monomial[0][1] != 1:
            continue
        var = monomial[0][0]
        rest = from_polynomial({m: -c * coefficient for m, c in p.items() if m != monomial})
        if isinstance(var, Var) and var not in rest.variables:
            return var, rest
    return None


def _multiple(part: Condition, number: int) -> tuple[Var, Term] | None:
    """The variable that has a remainder of 0 by a constant, and the constant times a new variable: its quotient."""
    if not isinstance(part, Compare) or part.relation != "eq" or not isinstance(part.term, Op) or part.term.op != "mod":
        return None
    var, divisor = part.term.args
    if not isinstance(var, Var) or not isinstance(divisor, Const) or divisor.value < 2:
        return None
    return var, scale(Var(f"{var.name}/{divisor.value}#{number}", var.type), divisor.value)


def has_products_inside(condition: Condition) -> bool:
    """Whether something is multiplied anywhere in a condition, also inside of what wraps around, or divided by what is
    not constant.
    """
    for node in walk(condition):
        if isinstance(node, Sum) and any(_degree(m) > 1 for m, _ in node.items):
            return True
        if isinstance(node, Op) and node.op in ("mod", "floor_div") and not isinstance(node.args[1], Const):
            return True
    return False


def cases_of_constants(condition: Condition) -> list[Condition]:
    """The condition once for each of the constants that it says a factor of a product is one of: linear in that factor
    each. The condition itself where there is none.
    """
    parts = conjuncts(condition)
    for part in parts:
        values = _values(part)
        if values is None:
            continue
        var = values[0]
        others = [other for other in parts if other is not part]
        if any(_multiplies(other, var) for other in others):
            cases = (conjunction(substitute(other, {var: const(value)}) for other in others) for value in values[1])
            return [case for case in cases if case is not FALSE]
    return [condition]


def is_one_of_constants(condition: Condition) -> bool:
    """Whether a condition says that a variable has one of some values."""
    return _values(condition) is not None


def _values(condition: Condition) -> tuple[Var, list[int]] | None:
    """The variable that a disjunction says has one of some values, and these."""
    if not isinstance(condition, Or):
        return None
    found: dict[Var, list[int]] = {}
    for part in condition.args:
        if not isinstance(part, Compare) or part.relation != "eq":
            return None
        p = polynomial(part.term)
        atoms = [m for m in p if m]
        if len(atoms) != 1 or len(atoms[0]) != 1 or atoms[0][0][1] != 1 or abs(p[atoms[0]]) != 1:
            return None
        atom = atoms[0][0][0]
        if not isinstance(atom, Var):
            return None
        found.setdefault(atom, []).append(-p.get((), 0) * p[atoms[0]])
    return next(iter(found.items())) if len(found) == 1 else None


def _multiplies(condition: Condition, var: Var) -> bool:
    """Whether a variable is a factor of a product, or a divisor."""
    for node in walk(condition):
        if isinstance(node, Sum) and any(_degree(m) > 1 and any(atom is var for atom, _ in m) for m, _ in node.items):
            return True
        if isinstance(node, Op) and node.op in ("mod", "floor_div") and node.args[1] is var:
            return True
    return False


def _degree(monomial: Monomial) -> int:
    return sum(exponent for _, exponent in monomial)


def _product(a: Monomial, b: Monomial) -> Monomial:
    powers: dict[Term, int] = {}
    for atom, exponent in (*a, *b):
        powers[atom] = powers.get(atom, 0) + exponent
    return tuple(sorted(powers.items(), key=lambda one: one[0].key))
