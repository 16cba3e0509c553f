"""The longest runs of one transition that may land in itself: how long they last, and their closed forms."""

from __future__ import annotations

from loopless import terms as t
from loopless.automaton.runs import iterated
from loopless.limits.summary import (
    BRIEF_RUN_OPERATIONS,
    MAX_BRIEF_ROUNDS,
    MAX_FOLLOWED_ROUNDS,
    MAX_REDUCED_ROUNDS,
    SHORT_RUN_OPERATIONS,
)
from loopless.logic import BudgetExceeded, NotPresburger, Region, budget
from loopless.refusals import Reason, Refused
from loopless.summary.exit_time.run_length import run_lengths
from loopless.summary.model import PathRun
from loopless.summary.rewrite.auxiliary import moving, preimage
from loopless.summary.transitions.guarded import composed, resolved
from loopless.summary.transitions.nonlinear_repeat import accelerated
from loopless.summary.transitions.system import ControlSystem, place_of
from loopless.summary.transitions.transformer import COUNTER, GuardedTransition, Repeat

_CONDITION = "their condition changes from round to round, and is not affine"


class Stuck(Exception):
    """The runs of a transition are not known; carries the refusal."""

    def __init__(self, refused: Refused) -> None:
        super().__init__(str(refused))
        self.refused = refused


def is_simple(transition: GuardedTransition) -> bool:
    """Whether the transition's step has closed forms that the logic can follow."""
    cached = transition.transformer.simple_by_control
    key = tuple(sorted(transition.control.items()))
    if key not in cached:
        cached[key] = isinstance(control_forms(transition), dict)
    return cached[key]


def control_forms(transition: GuardedTransition) -> dict[t.Var, t.Term] | str:
    """The control variables after :data:`COUNTER` ≥ 1 rounds; or why there are no forms that the logic can follow."""
    for var, term in sorted(transition.control.items()):
        if moving(term.variables, transition.control):
            return f"{var.name} moves by a number that changes from round to round, and is not affine"
    if moving(transition.where.variables, transition.control):
        return _CONDITION
    try:
        found = iterated(transition.control, frozenset())
    except t.TermTooLarge:
        return "its closed form is too large"
    if found.scattered:
        names = ", ".join(sorted(var.name for var in found.scattered))
        return f"{names} has no closed form"
    for var, form in found.forms.items():
        try:
            Region.of(t.Var("#value", t.INTEGERS).eq(form))
        except NotPresburger:
            shown = t.brief(t.substitute(form, {COUNTER: t.Var("k", t.INTEGERS)}))
            return f"{var.name} after k rounds is {shown}, which is not affine"
    return dict(found.forms)


def _read(transition: GuardedTransition) -> set[t.Var]:
    return {v for term in transition.control.values() for v in term.variables}


def longest_runs(
    system: ControlSystem, transition: GuardedTransition, *, cutting: bool = True
) -> tuple[list[GuardedTransition], Region]:
    """The longest runs of a transition that may land in itself, and where it never lands outside.

    Raises :class:`Stuck`, :class:`BudgetExceeded`.
    """
    forms = control_forms(transition)
    if isinstance(forms, str):
        found = accelerated(transition) if cutting else None
        if found is not None:
            return found.runs()
        few = _short_runs_within(SHORT_RUN_OPERATIONS, transition, MAX_FOLLOWED_ROUNDS)
        if few is not None:
            return few, Region.empty(system.variables)
        word = transition.transformer.trace()
        several = len(word) != 1 or not isinstance(word[0], PathRun)
        reason = Reason.MULTI_PATH if several else Reason.NO_CLOSED_FORM
        if forms is _CONDITION:
            reason = Reason.NON_AFFINE_CONDITION
        raise Stuck(Refused(reason, place_of(system.paths), f"how often the paths repeat is not known: {forms}"))
    lengths, never = run_lengths(transition.where, [transition], forms)
    runs: list[GuardedTransition] = []
    for region, count in lengths:
        if count is t.ONE:
            runs.append(transition.within(region))
            continue
        control = {var: t.substitute(form, {COUNTER: count}) for var, form in forms.items()}
        runs += resolved(GuardedTransition(region, control, Repeat(transition, count, region)))
    return runs, never


def brief_runs(transition: GuardedTransition) -> list[GuardedTransition] | None:
    """The longest runs of a transition that never takes more than a few rounds; None if it may, or takes too long."""
    return _short_runs_within(BRIEF_RUN_OPERATIONS, transition, MAX_BRIEF_ROUNDS)


def _short_runs_within(operations: int, transition: GuardedTransition, rounds: int) -> list[GuardedTransition] | None:
    """:func:`short_runs`; None also where that takes too long, so that other transitions get their share."""
    try:
        with budget(operations):
            return short_runs(transition, rounds)
    except BudgetExceeded:
        return None


def short_runs(transition: GuardedTransition, rounds: int = MAX_FOLLOWED_ROUNDS) -> list[GuardedTransition] | None:
    """The longest runs of a transition that never takes many rounds; None if it may take more than ``rounds``."""
    if moving({*transition.where.variables, *_read(transition)}, transition.control):
        return None
    runs: list[GuardedTransition] = []
    going_on = transition
    reduced = any(isinstance(node, t.Wrap) for term in transition.control.values() for node in t.walk(term))
    for _ in range(min(rounds, MAX_REDUCED_ROUNDS) if reduced else rounds):
        staying = preimage(transition.where, going_on.control) & going_on.where
        leaving = (going_on.where - staying).coalesce()
        if not leaving.is_empty():
            runs.append(going_on.within(leaving))
        if staying.is_empty():
            return runs
        going_on = composed(going_on, transition, staying.coalesce())
    return None
