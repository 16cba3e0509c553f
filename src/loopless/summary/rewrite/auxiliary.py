"""Auxiliary variables: variables that stand for terms over the values before a run which the logic cannot express.

How long a run of ``x += y`` lasts and where it lands are products and quotients of variables. An auxiliary variable
names such a term; for the logic it is a variable like others, of which linear facts are known, and since it is a
function of the entry values, transitions that are divided by it still partition these. What the logic says without
knowing the term (that a set is empty, that one lies within another) is right; what it cannot say is left open.

A transition that comes before moves the values that an auxiliary variable is a function of: the auxiliary variable of
the moved term takes its place. In answers the terms are put back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import gcd
from typing import Final, overload

from loopless import terms as t
from loopless.logic import NotPresburger, Region, is_quasi_affine


class Auxiliary(t.Var):
    """A variable that stands for ``term``, which has a value everywhere."""

    __match_args__ = ("name", "type", "term")
    __slots__ = ("term",)
    term: t.Term
    """What the auxiliary variable stands for, over the values before the transition that speaks of it; perhaps over
    other auxiliary variables.
    """

    def __new__(cls, term: t.Term) -> Auxiliary:
        return cls._intern(f"?{term.key}", t.INTEGERS, term)


def auxiliaries_in(variables: Iterable[t.Var]) -> list[Auxiliary]:
    """The auxiliary variables among the variables, in order."""
    return sorted(v for v in variables if isinstance(v, Auxiliary))


_reads: dict[t.Var, frozenset[t.Var]] = {}


def reads(variables: Iterable[t.Var]) -> frozenset[t.Var]:
    """The variables, those that auxiliary variables stand for in their place."""
    return frozenset().union(*(_read(v) for v in variables))


def _read(variable: t.Var) -> frozenset[t.Var]:
    if not isinstance(variable, Auxiliary):
        return frozenset((variable,))
    if variable not in _reads:
        _reads[variable] = reads(variable.term.variables)
    return _reads[variable]


def moving(variables: Iterable[t.Var], changed: Iterable[t.Var]) -> bool:
    """Whether one of the variables is an auxiliary variable of a term that speaks of ``changed`` ones."""
    return not reads(auxiliaries_in(variables)).isdisjoint(changed)


def expanded(term: t.Term, changed: Iterable[t.Var]) -> t.Term:
    """``term``, auxiliary variables that speak of ``changed`` variables replaced by what they stand for."""
    names = frozenset(changed)
    while moving(term.variables, names):
        found = [auxiliary for auxiliary in auxiliaries_in(term.variables) if not _read(auxiliary).isdisjoint(names)]
        term = t.substitute(term, {auxiliary: auxiliary.term for auxiliary in found})
    return term


# -- naming -----------------------------------------------------------------------------------------------------------

MAX_SHIFT: Final = 128
"""A shift by more than this counts as 0 where a term must have a value; no operation of a program shifts so far."""


def total(term: t.Term) -> t.Term | None:
    """``term`` where it has a value that is not too large, else 0; None if that cannot be told by a condition."""
    needed: dict[t.Condition, None] = {}
    for node in t.walk(term):
        if isinstance(node, t.Read | t.Aggregate):
            return None
        if isinstance(node, t.Op) and (node.op in t.NAMED_FUNCTIONS or node.op == "pow"):
            return None
        if isinstance(node, t.Op) and node.op in t.DIVISIONS:
            needed[t.not_zero(node.args[1])] = None
        elif isinstance(node, t.Op) and node.op in ("shl", "shr"):
            needed[t.between(0, node.args[1], MAX_SHIFT)] = None
    return t.ite(t.conjunction(needed), term, t.ZERO)


def bounds(variables: Iterable[t.Var]) -> t.Condition:
    """The ranges of the terms of the auxiliary variables among ``variables``, on the auxiliary variables."""
    found = auxiliaries_in(variables)
    return t.conjunction(
        t.between(low, auxiliary, high) for auxiliary in found for low, high in (t.range_of(auxiliary.term),)
    )


def named(term: t.Term) -> t.Term:
    """``term``, what the logic cannot express of it as one auxiliary variable."""
    if is_quasi_affine(term):
        return term
    if not isinstance(term, t.Sum):
        return Auxiliary(term)
    plain: list[t.Term] = []
    rest = {}
    for monomial, coefficient in t.polynomial(term).items():
        part = t.from_polynomial({monomial: coefficient})
        if is_quasi_affine(part):
            plain.append(part)
        else:
            rest[monomial] = coefficient
    factor = gcd(*rest.values())
    if next(iter(rest.values())) < 0:
        factor = -factor
    primitive = t.from_polynomial({monomial: coefficient // factor for monomial, coefficient in rest.items()})
    return t.add(*plain, Auxiliary(primitive) * factor)


def named_condition(condition: t.Condition) -> t.Condition:
    """``condition`` with :func:`named` terms."""
    return t.with_comparisons(condition, _named_comparison)


def _named_comparison(condition: t.Condition) -> t.Condition:
    if not isinstance(condition, t.Compare):
        return condition
    build = {"le": t.at_most_zero, "eq": t.equals_zero, "ne": t.not_zero}[condition.relation]
    return build(named(condition.term))


# -- through transitions ---------------------------------------------------------------------------------------------


def carried(values: Mapping[t.Var, t.Term], variables: Iterable[t.Var]) -> Mapping[t.Var, t.Term]:
    """``values`` of variables, with those of the auxiliary variables among ``variables`` that speak of them."""
    found = auxiliaries_in(variables)
    if not found:
        return values
    moving_ones = [auxiliary for auxiliary in found if not _read(auxiliary).isdisjoint(values)]
    moved: dict[t.Var, t.Term] = {auxiliary: named(later(auxiliary.term, values)) for auxiliary in moving_ones}
    return {**values, **moved} if moved else values


@overload
def later(node: t.Term, values: Mapping[t.Var, t.Term]) -> t.Term: ...
@overload
def later(node: t.Condition, values: Mapping[t.Var, t.Term]) -> t.Condition: ...
def later(node: t.Term | t.Condition, values: Mapping[t.Var, t.Term]) -> t.Term | t.Condition:
    """``node`` after variables have taken ``values``, auxiliary variables included. Raises
    :class:`loopless.terms.TermTooLarge`.
    """
    return t.substitute(node, carried(values, node.variables))


def preimage(region: Region, values: Mapping[t.Var, t.Term]) -> Region:
    """From where variables come into ``region`` by taking ``values``, auxiliary variables included.

    Raises :class:`loopless.terms.TermTooLarge`.
    """
    extended = carried(values, region.variables)
    found = region.preimage(extended)
    if extended is values:
        return found
    kept = {v for auxiliary in extended.keys() - values.keys() for v in extended[auxiliary].variables}
    kept |= {v for term in values.values() for v in term.variables}
    # Nothing is said of the auxiliary variables themselves any more.
    return found.project_out(v for v in extended.keys() - values.keys() if v not in kept)


# -- in answers -------------------------------------------------------------------------------------------------------


class Revealed:
    """The terms of auxiliary variables where a region holds: without those of their choices that are not open there."""

    def __init__(self, region: Region) -> None:
        self._region = region
        self._terms: dict[t.Var, t.Term] = {}
        self._decided: dict[t.Var, t.Condition] = {}

    def term(self, term: t.Term) -> t.Term:
        """``term`` over the program's variables; right in the region only."""
        return t.substitute(term, self._bindings(term.variables))

    def condition(self, condition: t.Condition) -> t.Condition:
        """``condition`` over the program's variables, behind what the terms in it need to be right."""
        given, shown = self.parts(condition)
        return given & shown

    def parts(self, condition: t.Condition) -> tuple[t.Condition, t.Condition]:
        """What holds in the region and the terms need to be right, and ``condition`` over the program's variables."""
        found = auxiliaries_in(condition.variables)
        if not found:
            return t.TRUE, condition
        bindings = self._bindings(found)
        given = dict.fromkeys(part for auxiliary in found for part in t.conjuncts(self._decided[auxiliary]))
        return t.conjunction(given), t.substitute(_ordered(condition), bindings)

    def _bindings(self, variables: Iterable[t.Var]) -> dict[t.Var, t.Term]:
        found = auxiliaries_in(variables)
        for auxiliary in found:
            if auxiliary not in self._terms:
                self._reveal(auxiliary)
        return {auxiliary: self._terms[auxiliary] for auxiliary in found}

    def _reveal(self, auxiliary: Auxiliary) -> None:
        term = auxiliary.term
        decided: list[t.Condition] = []
        while isinstance(term, t.Ite):
            holds = self._holds(term.condition)
            if holds is None:
                break
            decided.append(self.condition(term.condition if holds else ~term.condition))
            term = term.then if holds else term.otherwise
        self._terms[auxiliary] = self.term(term)
        inner = (self._decided[other] for other in auxiliaries_in(term.variables))
        self._decided[auxiliary] = t.conjunction((*inner, *decided))

    def _holds(self, condition: t.Condition) -> bool | None:
        """Whether the condition holds in all of the region (True), or in no point of it; None if neither is known."""
        try:
            where = Region.of(condition)
        except NotPresburger:
            return None
        if self._region.is_subset(where):
            return True
        return False if self._region.disjoint(where) else None


def _ordered(condition: t.Condition) -> t.Condition:
    """With what speaks of auxiliary variables last in each conjunction."""
    match condition:
        case t.And():
            parts = sorted(condition.args, key=lambda part: bool(auxiliaries_in(part.variables)))
            return t.conjunction(_ordered(part) for part in parts)
        case t.Or():
            return t.disjunction(_ordered(part) for part in condition.args)
        case _:
            return condition
