"""Oscillation in closed form (LoopSCC, section 4.3.2, made symbolic): a two-step oscillation rotates an interval.

A *selector* is a linear form L: below 0 every path of the group adds a > 0 to it, from 0 on every path takes b > 0
away. Among the first t iterations the high ones are H(t) = min(t, max(0, floor((L + b + a·t) / (a + b)))), for every
L at the start and as long as the run stays in the group. What each path adds by constants is then a sum over t and
H(t); several selectors that move independently are a sum of such terms. The run ends where it leaves the domains of
the group: one parametric least value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import gcd

from loopless import terms as t
from loopless.limits.summary import OSCILLATION_OPERATIONS, WIDE_OSCILLATION
from loopless.logic import BudgetExceeded, Region, budget
from loopless.paths.model import Path
from loopless.summary.exit_time.run_length import run_lengths
from loopless.summary.methods.oscillation_sums import Turning, accumulated, checks_of_one, is_late
from loopless.summary.obligations.along_run import Undecided, tightest
from loopless.summary.obligations.monotone_accumulators import MonotoneAccumulator, monotone_accumulators
from loopless.summary.transitions.elimination import ExitSegment
from loopless.summary.transitions.guarded import resolved
from loopless.summary.transitions.oscillating_groups import OscillatingGroup, Selector, find_group, separated, steps
from loopless.summary.transitions.system import ControlSystem
from loopless.summary.transitions.transformer import (
    COUNTER,
    TOTAL,
    GuardedTransition,
    Lost,
    NoIteration,
    Obligation,
    Once,
    RunTransformer,
    TurnForms,
    Turns,
    counter_of,
)


def accelerate_groups(
    system: ControlSystem, *, known_only: bool = False
) -> tuple[list[GuardedTransition], list[ExitSegment]]:
    """The transitions of the loop with each oscillating group replaced by its longest runs, and where those never end.

    ``known_only``: groups after which something is not known are left as they are. Raises
    :class:`loopless.logic.BudgetExceeded` only where the budget around the call is used up.
    """
    found: list[GuardedTransition] = []
    segments: list[ExitSegment] = []
    for phase in system.phases or [system.transitions]:
        runs, ends = _accelerated(phase, known_only=known_only)
        found += runs
        segments += ends
    return found, segments


def _accelerated(
    transitions: list[GuardedTransition], *, known_only: bool
) -> tuple[list[GuardedTransition], list[ExitSegment]]:
    found: list[GuardedTransition] = []
    segments: list[ExitSegment] = []
    while True:
        group = find_group(transitions)
        if group is None:
            return transitions + found, segments
        transitions = [transition for transition in transitions if transition not in group.members]
        if len(group.selectors) == 1:
            # The way into the interval is a run of one path, which elimination finds more easily.
            group, outside = _restricted(group)
            found += outside
        if _wraps_often(group):
            found += group.members
            continue
        members, monotone = monotone_accumulators(list(group.members))
        group = replace(group, members=tuple(members), monotone=tuple(monotone))
        try:
            with budget(OSCILLATION_OPERATIONS):
                runs, ends = longest_runs(group)
        except BudgetExceeded:
            found += group.members
            continue
        if known_only and not all(_is_known(run.transformer) for run in runs):
            found += group.members
            continue
        found += runs
        segments += ends


def _wraps_often(group: OscillatingGroup) -> bool:
    """Whether the group is one path whose value wraps around at ever other places of a wide type, before the run ends
    at one of them: nothing for isl, whose budget does not bound the time then.
    """
    if len({_path(member).id for member in group.members}) > 1:
        return False
    return any(s.up + s.down >= WIDE_OSCILLATION and min(s.up, s.down) > gcd(s.up, s.down) for s in group.selectors)


def _is_known(transformer: RunTransformer) -> bool:
    """Whether the final values of variables, and whether the checks hold, have a form."""
    try:
        transformer.obligations()
    except (Lost, Undecided):
        return False
    return all(var.name.startswith("#") for var in transformer.lost)


def _restricted(group: OscillatingGroup) -> tuple[OscillatingGroup, list[GuardedTransition]]:
    """The group inside the interval that it goes round, and the parts of its members outside."""
    core = Region.of(group.selectors[0].inside, group.members[0].where.variables)
    members = []
    outside = []
    for transition in group.members:
        members.append(transition.within((transition.where & core).coalesce()))
        rest = (transition.where - core).coalesce()
        if not rest.is_empty():
            outside.append(transition.within(rest))
    return OscillatingGroup(tuple(members), group.selectors, group.signs, inside=True), outside


# -- running ----------------------------------------------------------------------------------------------------------


def longest_runs(group: OscillatingGroup) -> tuple[list[GuardedTransition], list[ExitSegment]]:
    """The longest runs of a group, and where they never end. Raises :class:`loopless.logic.BudgetExceeded`."""
    control, forms = _forms(group)
    whole = group.members[0].where
    for member in group.members[1:]:
        whole |= member.where
    whole = whole.coalesce()
    lengths, never = run_lengths(whole, group.members, control)
    runs: list[GuardedTransition] = []
    for region, count in lengths:
        after = {var: t.substitute(form, {COUNTER: count}) for var, form in control.items()}
        obligations = partial(_obligations, group, forms, region, count)
        runs += resolved(GuardedTransition(region, after, Turns(forms, count, obligations)))
    if never.is_empty():
        return runs, []
    again = GuardedTransition(
        never, control, Turns(forms, COUNTER, partial(_obligations_for_ever, group, forms, never))
    )
    return runs, [ExitSegment(GuardedTransition(never, {}, NoIteration()), "forever", again=again)]


def _forms(group: OscillatingGroup) -> tuple[dict[t.Var, t.Term], TurnForms]:
    """The control variables, and all variables and counters, after :data:`COUNTER` iterations."""
    highs = group.highs
    paths = [_path(transition) for transition in group.members]
    control: dict[t.Var, t.Term] = {}
    values: dict[t.Var, t.Term] = {TOTAL: TOTAL + COUNTER}
    lost: dict[t.Var, str] = {}
    moves = [steps(transition) or {} for transition in group.members]
    for var in sorted({v for move in moves for v in move}):
        factors = separated(group.signs, [move.get(var, 0) for move in moves])
        assert factors is not None
        control[var] = var + _total(factors, highs)
    ids = list(dict.fromkeys(path.id for path in paths))
    shares: dict[str, t.Term] = {}
    for id, path in {path.id: path for path in paths}.items():
        counter = counter_of(path)
        share = separated(group.signs, [int(p.id == id) for p in paths])
        if share is None:
            lost[counter] = f"how often path {id} is taken has no closed form"
        else:
            shares[id] = _total(share, highs)
            values[counter] = counter + shares[id]
    single = [high for (high,) in group.signs] if len(group.selectors) == 1 else None
    turning = Turning(paths, single, shares, group.selectors[0].low, highs[0], control)
    for var in sorted({v for path in paths for v in path.update} - control.keys()):
        form = accumulated(var, turning)
        if form is None:
            lost[var] = f"what {var.name} comes to while paths {', '.join(ids)} take turns has no closed form"
        else:
            values[var] = form
    checked = bool(group.monotone) or any(member.transformer.checked for member in group.members)
    return control, TurnForms(values | control, lost, tuple(ids), checked)


def _path(transition: GuardedTransition) -> Path:
    assert isinstance(transition.transformer, Once)
    return transition.transformer.path


def _total(factors: Sequence[int], highs: Sequence[t.Term]) -> t.Term:
    return t.add(COUNTER * factors[0], *(h * c for h, c in zip(highs, factors[1:], strict=True)))


def _obligations(group: OscillatingGroup, forms: TurnForms, region: Region, count: t.Term) -> tuple[Obligation, ...]:
    """What the checks of the members along a run of ``count`` iterations require of the entry values."""
    found = [
        Obligation(summed.fits(t.substitute(_value(summed, forms), {COUNTER: count})), summed.exit)
        for summed in group.monotone
    ]
    alone = group.inside and len(group.members) == 2
    for member, (high, *_) in zip(group.members, group.signs, strict=True):
        obligations = member.transformer.obligations()
        if not obligations:
            continue
        if alone:
            during, known = _while_selected(group.selectors[0], high=high), group.selectors[0].low.variables
            bound: dict[t.Var, t.Term] = {_LENGTH: count}
        else:
            control = {var: forms.values[var] for var in member.control}
            span = Region.of(COUNTER.ge(0) & COUNTER.lt(count))
            during, known, bound = member.where.preimage(control) & region & span, frozenset(region.variables), {}
        for obligation in obligations:
            try:
                shown = _along(group, forms, member, obligation)
                needed = tightest(obligation.condition, shown, COUNTER, during, known, bound)
            except Undecided:
                needed = _by_itself(group, forms, member, obligation, region, count)
            found += [Obligation(condition, obligation.exit) for condition in needed]
    return tuple(dict.fromkeys(found))


def _value(summed: MonotoneAccumulator, forms: TurnForms) -> t.Term:
    """The value of a monotone accumulator after :data:`COUNTER` iterations. Raises :class:`Lost`."""
    if summed.var in forms.lost:
        raise Lost(forms.lost[summed.var])
    return forms.values.get(summed.var, summed.var)


def _by_itself(
    group: OscillatingGroup,
    forms: TurnForms,
    member: GuardedTransition,
    obligation: Obligation,
    region: Region,
    count: t.Term,
) -> list[t.Condition]:
    """What a check of one path on what it alone changes requires. Raises :class:`Undecided`."""
    path = _path(member)
    counter = counter_of(path)
    needed = None
    if counter in forms.values:
        share = t.substitute(forms.values[counter], {counter: t.ZERO, COUNTER: count})
        needed = checks_of_one(
            obligation.condition, path.id, [_path(transition) for transition in group.members], share, region
        )
    if needed is None:
        raise Undecided(f"whether {t.brief(obligation.condition)} holds all along is not decided")
    return needed


_LENGTH = t.Var("#n", t.INTEGERS)
"""How many iterations the run takes, where the logic need not know."""


def _while_selected(selector: Selector, *, high: bool) -> Region:
    """The starts in the interval and the counters below the length of the run at which a high (or low) step comes."""
    down = selector.high_steps_inside * (-selector.up - selector.down)
    here = selector.low + COUNTER * selector.up + down
    turn = here.gt(0) if high else t.at_most_zero(here)
    return Region.of(t.conjunction((selector.inside, COUNTER.ge(0), COUNTER.lt(_LENGTH), turn)))


def _obligations_for_ever(group: OscillatingGroup, forms: TurnForms, never: Region) -> tuple[Obligation, ...]:
    """The checks of the members, after :data:`COUNTER` iterations from values in ``never``."""
    found = [Obligation(summed.fits(_value(summed, forms)), summed.exit) for summed in group.monotone]
    # Of a low and a high transition each is taken again and again; of several high ones perhaps one only.
    recurs = len(group.members) == 2
    each = [set(member.transformer.obligations()) for member in group.members]
    always = [
        obligation
        for obligation in group.members[0].transformer.obligations()
        if all(obligation in obligations for obligations in each)
    ]
    found += [Obligation(_along(group, forms, group.members[0], obligation), obligation.exit) for obligation in always]
    for member in group.members:
        obligations = [obligation for obligation in member.transformer.obligations() if obligation not in always]
        if obligations:
            control = {var: forms.values[var] for var in member.control}
            parts = t.conjuncts(member.where.preimage(control).rough_condition())
            made = t.conjunction(part for part in parts if COUNTER in part.variables or not _holds_in(never, part))
            found += [
                Obligation(_along(group, forms, member, obligation), obligation.exit, made, recurs)
                for obligation in obligations
            ]
    return tuple(dict.fromkeys(found))


def _holds_in(region: Region, part: t.Condition) -> bool:
    return Region.of(~part, region.variables).disjoint(region)


def _along(group: OscillatingGroup, forms: TurnForms, member: GuardedTransition, obligation: Obligation) -> t.Condition:
    """A check of a member after :data:`COUNTER` iterations. Raises :class:`Lost`, :class:`Undecided`."""
    gone = sorted(v for v in obligation.condition.variables if v in forms.lost)
    if gone:
        raise Lost(forms.lost[gone[0]])
    paths = [_path(transition) for transition in group.members]
    others = obligation.condition.variables & forms.values.keys() - member.control.keys()
    if any(is_late(var, paths) for var in others):
        raise Undecided(f"{obligation.condition} takes its final form only after some iterations")
    return t.substitute(obligation.condition, forms.values)
