"""How long a run lasts: one parametric least value, asked for in as few words as possible."""

from __future__ import annotations

from collections.abc import Sequence

from loopless import terms as t
from loopless.limits.summary import MAX_HOLES
from loopless.logic import Pieces, Region, first, first_exit
from loopless.summary.rewrite.auxiliary import later, preimage
from loopless.summary.transitions.transformer import COUNTER, GuardedTransition, Values


def run_lengths(where: Region, members: Sequence[GuardedTransition], forms: Values) -> tuple[Pieces, Region]:
    """After how many iterations of ``members``, which fill ``where``, this is left; and from where it never is.

    ``forms``: the control variables after :data:`COUNTER` iterations, right as long as the run stays in ``where``. What
    every step keeps true is not asked for, and variables that have no part in when the run ends are kept out of the
    question. Raises :class:`loopless.logic.BudgetExceeded`.
    """
    condition = where.rough_condition()
    missing: t.Condition = t.FALSE
    if isinstance(condition, t.Or):
        hull, holes = where.hull_and_holes()
        if holes.parts > MAX_HOLES:
            found = first_exit(where, forms, COUNTER, where.variables, within=where)
            return found.pieces, found.never
        condition = hull.rough_condition()
        missing = holes.rough_condition()
    failing = [part for part in t.conjuncts(condition) if may_fail(part, where, members)]
    needed = {v for part in (*failing, missing) for v in part.variables}
    read = needed.union(*(forms[v].variables for v in needed if v in forms)) - {COUNTER}
    given = t.conjunction(part for part in t.conjuncts(condition) if part.variables <= read)
    fails = t.substitute(~t.conjunction(failing) | missing, dict(forms))
    ends = any(_comes_nearer(part, members) for part in failing)
    found = first(fails, COUNTER, read, at_least=t.ONE, within=Region.of(given, read), always=ends)
    transitions = [((region & where).coalesce(), count) for region, count in found.pieces]
    return tuple(transition for transition in transitions if not transition[0].is_empty()), (
        found.never & where
    ).coalesce()


def what_may_fail(where: Region, members: Sequence[GuardedTransition]) -> Region:
    """A larger region such that the runs of ``members``, all within ``where``, leave both at the same time."""
    condition = where.rough_condition()
    if isinstance(condition, t.Or):
        return where
    failing = [part for part in t.conjuncts(condition) if may_fail(part, where, members)]
    return Region.of(t.conjunction(failing), where.variables, typed=False)


def may_fail(part: t.Condition, where: Region, members: Sequence[GuardedTransition]) -> bool:
    """Whether a step from inside may make ``part`` false."""
    failed = Region.of(~part, where.variables)
    return any(not preimage(failed, member.control).disjoint(member.where) for member in members)


def _comes_nearer(part: t.Condition, members: Sequence[GuardedTransition]) -> bool:
    """Whether ``part`` comes nearer to failing with every step."""
    if not isinstance(part, t.Compare) or part.relation != "le":
        return False
    moves = [later(part.term, member.control) - part.term for member in members]
    return all(isinstance(move, t.Const) and move.value > 0 for move in moves)
