"""Regions read back: one variable as a function of the others, and conditions in few words."""

from __future__ import annotations

from loopless import terms as t
from loopless.logic import Pieces, Region, Unbounded, last


def pieces_of_variable(where: Region, variable: t.Var) -> Pieces | None:
    """What ``variable`` equals over ``where``, piece by piece over the other variables; None where it is not unique.

    Raises :class:`loopless.logic.BudgetExceeded`.
    """
    within = where.project_out((variable,))
    try:
        pieces = last(where, variable, within=within).pieces
    except Unbounded:
        return None
    if not pieces:
        return None
    graph = [region & Region.of(variable.eq(term)) for region, term in pieces]
    covered = graph[0]
    for part in graph[1:]:
        covered = covered | part
    return pieces if where.is_subset(covered) else None


def value_of_variable(where: Region, variable: t.Var) -> t.Term | None:
    """The term over the other variables that ``variable`` equals all over ``where``; None where it is not unique.

    Raises :class:`loopless.logic.BudgetExceeded`.
    """
    pieces = pieces_of_variable(where, variable)
    return None if pieces is None else term_of_pieces(pieces)


def term_of_pieces(pieces: Pieces) -> t.Term:
    """The pieces as one term, right wherever one of them is; there is at least one."""
    *others, (_, result) = pieces
    for region, term in reversed(others):
        result = t.ite(region.condition(), term, result)
    return result


def described(region: Region, given: Region) -> t.Condition:
    """A short condition that holds within ``given`` exactly at the points of ``region``.

    Raises :class:`loopless.logic.BudgetExceeded`.
    """
    if given.is_subset(region):
        return t.TRUE
    wanted = given & region
    disjoined = _needed_disjuncts(list(t.disjuncts(region.gist(given).condition())), wanted)
    if len(disjoined) > 1:
        return t.disjunction(disjoined)
    return t.conjunction(_needed_conjuncts([part for one in disjoined for part in t.conjuncts(one)], given, wanted))


def _needed_disjuncts(parts: list[t.Condition], wanted: Region) -> list[t.Condition]:
    for part in list(parts):
        others = [other for other in parts if other is not part]
        if others and wanted.is_subset(Region.of(t.disjunction(others))):
            parts = others
    return parts


def _needed_conjuncts(parts: list[t.Condition], given: Region, wanted: Region) -> list[t.Condition]:
    for part in list(parts):
        others = [other for other in parts if other is not part]
        if (given & Region.of(t.conjunction(others))).is_subset(wanted):
            parts = others
    return parts
