"""Accumulators that only grow, or only fall: their checks hold all along exactly if the final value fits its type.

One comparison on the value at the exit then stands for the checks of all iterations.
"""

from __future__ import annotations

from loopless import terms as t
from loopless.limits.summary import ACCUMULATOR_SOLVER_MS, ACCUMULATOR_SOLVER_STEPS
from loopless.logic import NotPresburger, Region
from loopless.logic.smt import satisfiable
from loopless.logic.solver import SmtAnswer
from loopless.paths.model import Exit, Path
from loopless.records import dataclass
from loopless.summary.obligations.monotone import exit_of_all, fits, needed_to_follow
from loopless.summary.obligations.signs import never_negative
from loopless.summary.transitions.transformer import GuardedTransition, Obligation, Once
from loopless.terms.relation import added


@dataclass(frozen=True, slots=True)
class MonotoneAccumulator:
    """``var`` moves one way only, up if ``rising``: no check on it fails exactly if its final value fits its type."""

    var: t.Var
    rising: bool
    exit: Exit
    type: t.IntType

    def fits(self, value: t.Term) -> t.Condition:
        """Whether the final ``value`` fits."""
        return fits(value, self.type, up=self.rising)


def monotone_accumulators(
    transitions: list[GuardedTransition],
) -> tuple[list[GuardedTransition], list[MonotoneAccumulator]]:
    """The transitions without the checks that a total stands for, and the totals."""
    checked = sorted(
        {
            v
            for transition in transitions
            for obligation in transition.transformer.obligations()
            for v in obligation.condition.variables
        }
    )
    totals: list[MonotoneAccumulator] = []
    for var in checked:
        found = _total(var, transitions)
        if found is not None:
            totals.append(found)
            transitions = [_without(transition, var) for transition in transitions]
    return transitions, totals


def _path(transition: GuardedTransition) -> Path:
    assert isinstance(transition.transformer, Once)
    return transition.transformer.path


def _without(transition: GuardedTransition, var: t.Var) -> GuardedTransition:
    obligations = transition.transformer.obligations()
    kept = tuple(obligation for obligation in obligations if var not in obligation.condition.variables)
    if len(kept) == len(obligations):
        return transition
    return GuardedTransition(transition.where, transition.control, Once(_path(transition), transition.control, kept))


def _total(var: t.Var, transitions: list[GuardedTransition]) -> MonotoneAccumulator | None:
    if var.type.min is None or var.type.max is None or var in transitions[0].control:
        return None
    exits: list[Exit] = []
    directions: set[bool] = set()
    for transition in transitions:
        own = [
            obligation for obligation in transition.transformer.obligations() if var in obligation.condition.variables
        ]
        try:
            moved = added(_path(transition), var)
        except t.TermTooLarge:
            return None
        if var in moved.variables:
            return None
        if not own:
            if moved is not t.ZERO:
                return None
            continue
        rising = _never_negative(moved, transition)
        if not rising and not _never_negative(-moved, transition):
            return None
        directions.add(rising)
        if not all(_follows(obligation, var, moved, transition, rising=rising) for obligation in own):
            return None
        exits += [obligation.exit for obligation in own]
    if len(directions) != 1 or not exits:
        return None
    rising = directions.pop()
    return MonotoneAccumulator(var, rising, exit_of_all(exits), var.type)


def _follows(obligation: Obligation, var: t.Var, moved: t.Term, transition: GuardedTransition, *, rising: bool) -> bool:
    """Whether the check holds where the new value, and the one before, fit the type."""
    needed = needed_to_follow(obligation.condition, var, moved, up=rising)
    return needed is not None and _never_negative(needed, transition)


def _never_negative(term: t.Term, transition: GuardedTransition) -> bool:
    """Whether ``term`` is surely not negative where the transition is taken."""
    negative = term.lt(0)
    try:
        return (transition.where & Region.of(negative)).is_empty()
    except NotPresburger:
        if never_negative(term, transition.where):
            return True
    whole = transition.where.rough_condition() & negative
    return satisfiable(whole, ACCUMULATOR_SOLVER_MS, steps=ACCUMULATOR_SOLVER_STEPS).answer is SmtAnswer.NO
