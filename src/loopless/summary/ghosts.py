"""Ghosts: variables that stand for terms over the values before a run which the logic cannot express (design, 5.5).

How long a run of ``x += y`` lasts and where it lands are products and quotients of variables. A ghost names such a
term; for the logic it is a variable like others, of which linear facts are known, and since it is a function of the
entry values, pieces that are divided by it still partition these. What the logic says without knowing the term (that a
set is empty, that one lies within another) is right; what it cannot say is left open.

A piece that comes before moves the values that a ghost is a function of: the ghost of the moved term takes its place.
In answers the terms are put back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import gcd
from typing import overload

from loopless.logic import NotPresburger, Region, is_quasi_affine
from loopless.terms import (
    INTEGERS,
    NAMED_FUNCTIONS,
    TRUE,
    ZERO,
    And,
    Compare,
    Condition,
    Ite,
    Op,
    Or,
    Read,
    Sum,
    Term,
    Var,
    add,
    at_most_zero,
    between,
    conjunction,
    conjuncts,
    disjunction,
    equals_zero,
    from_polynomial,
    ite,
    negate,
    not_zero,
    polynomial,
    range_of,
    scale,
    substitute,
    walk,
    with_comparisons,
)


class Ghost(Var):
    """A variable that stands for ``term``, which has a value everywhere."""

    __slots__ = ()

    def __new__(cls, term: Term) -> Ghost:
        return cls._intern(f"?{term.key}", INTEGERS, term)

    @property
    def term(self) -> Term:
        """What the ghost stands for, over the values before the piece that speaks of it; perhaps over other ghosts."""
        term: Term = self._fields[2]
        return term


def ghosts_in(variables: Iterable[Var]) -> list[Ghost]:
    """The ghosts among the variables, in order."""
    return sorted(v for v in variables if isinstance(v, Ghost))


_reads: dict[Var, frozenset[Var]] = {}


def reads(variables: Iterable[Var]) -> frozenset[Var]:
    """The variables, those that ghosts stand for in their place."""
    return frozenset().union(*(_read(v) for v in variables))


def _read(variable: Var) -> frozenset[Var]:
    if not isinstance(variable, Ghost):
        return frozenset((variable,))
    if variable not in _reads:
        _reads[variable] = reads(variable.term.variables)
    return _reads[variable]


def moving(variables: Iterable[Var], changed: Iterable[Var]) -> bool:
    """Whether one of the variables is a ghost of a term that speaks of ``changed`` ones."""
    return not reads(ghosts_in(variables)).isdisjoint(changed)


def expanded(term: Term, changed: Iterable[Var]) -> Term:
    """``term``, ghosts that speak of ``changed`` variables replaced by what they stand for."""
    names = frozenset(changed)
    while moving(term.variables, names):
        found = [ghost for ghost in ghosts_in(term.variables) if not _read(ghost).isdisjoint(names)]
        term = substitute(term, {ghost: ghost.term for ghost in found})
    return term


# -- naming -----------------------------------------------------------------------------------------------------------

MAX_SHIFT = 128
"""A shift by more than this counts as 0 where a term must have a value; no operation of a program shifts so far."""


def total(term: Term) -> Term | None:
    """``term`` where it has a value that is not too large, else 0; None if that cannot be told by a condition."""
    needed: dict[Condition, None] = {}
    for node in walk(term):
        if isinstance(node, Read) or (isinstance(node, Op) and (node.op in NAMED_FUNCTIONS or node.op == "pow")):
            return None
        if isinstance(node, Op) and node.op in ("floor_div", "mod", "trunc_div", "trunc_rem"):
            needed[not_zero(node.args[1])] = None
        elif isinstance(node, Op) and node.op in ("shl", "shr"):
            needed[between(0, node.args[1], MAX_SHIFT)] = None
    return ite(conjunction(needed), term, ZERO)


def bounds(variables: Iterable[Var]) -> Condition:
    """The ranges of the terms of the ghosts among ``variables``, on the ghosts."""
    found = ghosts_in(variables)
    return conjunction(between(low, ghost, high) for ghost in found for low, high in (range_of(ghost.term),))


def named(term: Term) -> Term:
    """``term``, what the logic cannot express of it as one ghost."""
    if is_quasi_affine(term):
        return term
    if not isinstance(term, Sum):
        return Ghost(term)
    plain: list[Term] = []
    rest = {}
    for monomial, coefficient in polynomial(term).items():
        part = from_polynomial({monomial: coefficient})
        if is_quasi_affine(part):
            plain.append(part)
        else:
            rest[monomial] = coefficient
    factor = gcd(*rest.values())
    if next(iter(rest.values())) < 0:
        factor = -factor
    primitive = from_polynomial({monomial: coefficient // factor for monomial, coefficient in rest.items()})
    return add(*plain, scale(Ghost(primitive), factor))


def named_condition(condition: Condition) -> Condition:
    """``condition`` with :func:`named` terms."""
    return with_comparisons(condition, _named_comparison)


def _named_comparison(condition: Condition) -> Condition:
    if not isinstance(condition, Compare):
        return condition
    build = {"le": at_most_zero, "eq": equals_zero, "ne": not_zero}[condition.relation]
    return build(named(condition.term))


# -- through pieces ---------------------------------------------------------------------------------------------------


def carried(values: Mapping[Var, Term], variables: Iterable[Var]) -> Mapping[Var, Term]:
    """``values`` of variables, with those of the ghosts among ``variables`` that speak of them."""
    found = ghosts_in(variables)
    if not found:
        return values
    moving_ones = [ghost for ghost in found if not _read(ghost).isdisjoint(values)]
    moved: dict[Var, Term] = {ghost: named(later(ghost.term, values)) for ghost in moving_ones}
    return {**values, **moved} if moved else values


@overload
def later(node: Term, values: Mapping[Var, Term]) -> Term: ...
@overload
def later(node: Condition, values: Mapping[Var, Term]) -> Condition: ...
def later(node: Term | Condition, values: Mapping[Var, Term]) -> Term | Condition:
    """``node`` after variables have taken ``values``, ghosts included. Raises :class:`loopless.terms.TermTooLarge`."""
    return substitute(node, carried(values, node.variables))


def preimage(region: Region, values: Mapping[Var, Term]) -> Region:
    """From where variables come into ``region`` by taking ``values``, ghosts included.

    Raises :class:`loopless.terms.TermTooLarge`.
    """
    extended = carried(values, region.variables)
    found = region.preimage(extended)
    if extended is values:
        return found
    kept = {v for ghost in extended.keys() - values.keys() for v in extended[ghost].variables}
    kept |= {v for term in values.values() for v in term.variables}
    # Nothing is said of the ghosts themselves any more.
    return found.project_out(v for v in extended.keys() - values.keys() if v not in kept)


# -- in answers -------------------------------------------------------------------------------------------------------


class Revealed:
    """The terms of ghosts where a region holds: without those of their choices that are not open there."""

    def __init__(self, region: Region) -> None:
        self._region = region
        self._terms: dict[Var, Term] = {}
        self._decided: dict[Var, Condition] = {}

    def term(self, term: Term) -> Term:
        """``term`` over the program's variables; right in the region only."""
        return substitute(term, self._bindings(term.variables))

    def condition(self, condition: Condition) -> Condition:
        """``condition`` over the program's variables, behind what the terms in it need to be right."""
        given, shown = self.parts(condition)
        return conjunction((given, shown))

    def parts(self, condition: Condition) -> tuple[Condition, Condition]:
        """What holds in the region and the terms need to be right, and ``condition`` over the program's variables."""
        found = ghosts_in(condition.variables)
        if not found:
            return TRUE, condition
        bindings = self._bindings(found)
        given = dict.fromkeys(part for ghost in found for part in conjuncts(self._decided[ghost]))
        return conjunction(given), substitute(_ordered(condition), bindings)

    def _bindings(self, variables: Iterable[Var]) -> dict[Var, Term]:
        found = ghosts_in(variables)
        for ghost in found:
            if ghost not in self._terms:
                self._reveal(ghost)
        return {ghost: self._terms[ghost] for ghost in found}

    def _reveal(self, ghost: Ghost) -> None:
        term = ghost.term
        decided: list[Condition] = []
        while isinstance(term, Ite):
            holds = self._holds(term.condition)
            if holds is None:
                break
            decided.append(self.condition(term.condition if holds else negate(term.condition)))
            term = term.then if holds else term.otherwise
        self._terms[ghost] = self.term(term)
        inner = (self._decided[other] for other in ghosts_in(term.variables))
        self._decided[ghost] = conjunction((*inner, *decided))

    def _holds(self, condition: Condition) -> bool | None:
        """Whether the condition holds in all of the region (True), or in no point of it; None if neither is known."""
        try:
            where = Region.of(condition)
        except NotPresburger:
            return None
        if self._region.is_subset(where):
            return True
        return False if self._region.disjoint(where) else None


def _ordered(condition: Condition) -> Condition:
    """With what speaks of ghosts last in each conjunction."""
    match condition:
        case And():
            parts = sorted(condition.args, key=lambda part: bool(ghosts_in(part.variables)))
            return conjunction(_ordered(part) for part in parts)
        case Or():
            return disjunction(_ordered(part) for part in condition.args)
        case _:
            return condition

