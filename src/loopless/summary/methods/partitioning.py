"""Parts of a loop's states that no step leaves, and variables that do not matter there: for loops too large as a whole.

An *autonomous subsystem* is a set of control variables that move by themselves, whatever else happens. From where an
*autonomous subsystem* never comes to a value at which the loop may end, the loop runs for ever; the other values are a
loop of their own, often one in which nothing wraps around any more. Where some control variable turns out to choose no
path, it is an accumulator. And where what is added to a checked sum may have either sign, the sign chooses between two
transitions.
"""

from __future__ import annotations

from dataclasses import replace

from loopless import terms as t
from loopless.limits.summary import MAX_PHASES, MAX_STEPS_BACK
from loopless.logic import NotPresburger, Region
from loopless.portfolio import Method, NoAnswer, Tried
from loopless.refusals import Reason
from loopless.summary.case_builder import CaseBuilder
from loopless.summary.methods.elimination import reasons, wholly_eliminated
from loopless.summary.methods.oscillation import accelerate_groups
from loopless.summary.obligations.monotone_accumulators import monotone_accumulators
from loopless.summary.parts import PartQuestion
from loopless.summary.rewrite.auxiliary import preimage
from loopless.summary.transitions.elimination import ExitSegment, eliminate
from loopless.summary.transitions.system import ControlSystem
from loopless.summary.transitions.transformer import GuardedTransition, NoIteration, Once


def without_diverging(system: ControlSystem) -> tuple[ControlSystem, Region]:
    """The system for the states from which some autonomous subsystem lets it end, and the others.

    Raises :class:`loopless.logic.BudgetExceeded`.
    """
    never = Region.empty(system.variables)
    for subsystem in _subsystems(system):
        stopped = _never_ends(system, subsystem)
        if stopped is not None:
            never |= stopped.over(system.variables) & system.universe
    closed = _with_what_leads_there(system, never.coalesce()) if not never.is_empty() else None
    if closed is None:
        return system, Region.empty(system.variables)
    return system.within((system.universe - closed).coalesce()), closed


def _with_what_leads_there(system: ControlSystem, never: Region) -> Region | None:
    """States that never end, and those from which a step leads there; None if that has no end, or a step leads out."""
    for _ in range(MAX_STEPS_BACK):
        before = [preimage(never, transition.control) & transition.where for transition in system.transitions]
        if not all(
            (transition.where & never).is_subset(here)
            for transition, here in zip(system.transitions, before, strict=True)
        ):
            return None
        further = [here for here in before if not here.is_subset(never)]
        if not further:
            return never
        for here in further:
            never |= here
        never = never.coalesce()
    return None


def _subsystems(system: ControlSystem) -> list[frozenset[t.Var]]:
    """The smallest sets of control variables that read no others, but for all of them."""
    reads = {
        v: {w for transition in system.transitions for w in transition.control.get(v, v).variables} & system.control
        for v in system.control
    }
    found: dict[frozenset[t.Var], None] = {}
    for var in sorted(system.control):
        whole = {var}
        while True:
            more = set().union(*(reads[v] for v in whole)) - whole
            if not more:
                break
            whole |= more
        if whole < system.control:
            found[frozenset(whole)] = None
    return list(found)


def _never_ends(system: ControlSystem, subsystem: frozenset[t.Var]) -> Region | None:
    """The values of an *autonomous subsystem*, and of invariants, from which it comes to none at which the loop may
    end; None where that is not known, or its steps depend on something else.
    """
    kept = [v for v in system.variables if v in subsystem or v not in system.control]
    ended = system.ended.project_onto(kept).coalesce()
    universe = system.universe.project_onto(kept).coalesce()
    going_on = (universe - ended).coalesce()
    if going_on.is_empty():
        return None
    steps: dict[tuple[tuple[t.Var, object], ...], GuardedTransition] = {}
    for transition in system.transitions:
        if not isinstance(transition.transformer, Once):
            return None
        control = {v: term for v, term in transition.control.items() if v in subsystem}
        where = (transition.where.project_onto(kept) & going_on).coalesce()
        key = tuple(sorted(control.items()))
        if key in steps:
            where = (steps[key].where | where).coalesce()
        path = replace(transition.transformer.path, update=control)
        steps[key] = GuardedTransition(where, control, Once(path, control, ()))
    transitions = [transition for transition in steps.values() if not transition.where.is_empty()]
    if any(not one.where.disjoint(other.where) for i, one in enumerate(transitions) for other in transitions[:i]):
        return None
    alone = replace(
        system,
        control=subsystem,
        variables=tuple(kept),
        universe=universe,
        transitions=transitions,
        exits=[],
        ended=ended,
        rare=[],
        signs=[],
        monotone=[],
    )
    never = Region.empty(kept)
    for segment in eliminate(alone, *accelerate_groups(alone)):
        if segment.kind == "forever":
            never |= segment.transition.where
    return None if never.is_empty() else never.coalesce()


def without_idle(system: ControlSystem) -> ControlSystem:
    """The system with control variables that choose nothing as accumulators."""
    for var in sorted(system.control):
        if not any(known.var is var for known in system.monotone):
            system = _without(system, var) or system
    return system


def _without(system: ControlSystem, var: t.Var) -> ControlSystem | None:
    """The system with ``var`` as an accumulator, None where something depends on it."""
    if any(var in term.variables for p in system.transitions for v, term in p.control.items() if v is not var):
        return None
    merged: dict[tuple[object, ...], GuardedTransition] = {}
    for transition in system.transitions:
        transformer = transition.transformer
        if not isinstance(transformer, Once):
            return None
        control = {v: term for v, term in transition.control.items() if v is not var}
        key = (transformer.path.id, tuple(sorted(control.items())), transformer.obligations())
        where = transition.where if key not in merged else (merged[key].where | transition.where).coalesce()
        merged[key] = GuardedTransition(where, control, Once(transformer.path, control, transformer.obligations()))
    regions = [
        system.ended,
        *(transition.where for transition in merged.values()),
        *(view.where for view in system.exits),
    ]
    shorter = [_cylinder(region, var, system.universe) for region in regions]
    if any(region is None for region in shorter):
        return None
    given = iter([region for region in shorter if region is not None])
    ended = next(given)
    transitions = [transition.within(next(given)) for transition in merged.values()]
    exits = [replace(view, where=next(given)) for view in system.exits]
    transitions, monotone = monotone_accumulators(transitions)
    beside = system.beside
    if _cylinder(system.universe, var, Region.universe(system.variables)) is None:
        # That the variable chooses nothing may hold in these states only.
        beside = system.universe if beside is None else beside & system.universe
    return replace(
        system,
        beside=beside,
        control=system.control - {var},
        variables=tuple(v for v in system.variables if v is not var),
        universe=system.universe.project_out([var]).coalesce(),
        transitions=transitions,
        exits=exits,
        ended=ended,
        monotone=[
            *system.monotone,
            *(value for value in monotone if all(value.var is not known.var for known in system.monotone)),
        ],
    )


def _cylinder(region: Region, var: t.Var, universe: Region) -> Region | None:
    """The region without ``var``, None where that chooses between its points."""
    shadow = region.project_out([var]).coalesce()
    return shadow if (shadow.over(universe.variables) & universe).is_subset(region) else None


def by_signs(system: ControlSystem) -> ControlSystem | None:
    """The system divided by the signs of what is added to checked sums, if that may have either; None if nothing is
    divided.
    """
    phases = [system.universe]
    for rising in _signs(system):
        phases = [half for part in phases for half in (part & rising, part - rising)]
    if not 1 < len(phases) <= MAX_PHASES:
        return None
    divided = [
        [transition.within((transition.where & phase).coalesce()) for transition in system.transitions]
        for phase in phases
    ]
    divided = [[transition for transition in phase if not transition.where.is_empty()] for phase in divided]
    transitions = [transition for phase in divided for transition in phase]
    return replace(system, transitions=transitions, phases=[phase for phase in divided if phase])


def _signs(system: ControlSystem) -> list[Region]:
    """Where what is added to a sum is not negative, for those additions for which both occur."""
    found: dict[t.Condition, Region] = {}
    for transition in system.transitions:
        if not isinstance(transition.transformer, Once):
            continue
        checked = {
            v for obligation in transition.transformer.obligations() for v in obligation.condition.variables
        } - system.control
        for var in sorted(checked & transition.transformer.path.update.keys()):
            try:
                sign = (transition.transformer.path.update[var] - var).ge(0)
                rising = Region.of(sign, system.variables)
            except (NotPresburger, t.TermTooLarge, ValueError):
                continue
            if sign not in found and not transition.where.is_subset(rising) and not transition.where.disjoint(rising):
                found[sign] = rising
    return list(found.values())


def _in_phases(part: PartQuestion, _: Tried[CaseBuilder]) -> CaseBuilder:
    phases = by_signs(part.system)
    if phases is None:
        raise NoAnswer
    return wholly_eliminated(phases, *accelerate_groups(phases))


def _in_smaller_parts(part: PartQuestion, _: Tried[CaseBuilder]) -> CaseBuilder:
    """By the other methods, without what makes the system large."""
    system = part.system
    assert part.smaller is not None
    smaller, never = without_diverging(system)
    smaller = without_idle(smaller)
    if smaller is system:
        raise NoAnswer
    found = part.smaller(smaller)
    builder, methods = found.cases, found.methods
    if not never.is_empty():
        if system.monotone or any(transition.transformer.obligations() for transition in system.transitions):
            other = part.smaller(system.within(never))
            builder.include(other.cases)
            methods += other.methods
        else:
            nothing = GuardedTransition(never, {}, NoIteration())
            others = CaseBuilder(system)
            others.add(ExitSegment(nothing, "forever", again=nothing))
            builder.include(others)
    builder.methods = tuple(dict.fromkeys(("partitioning", *methods)))
    return builder


PHASES = Method(
    "elimination in phases of one sign",
    "ours",
    _in_phases,
    lambda part, tried: not part.system.auxiliaries and Reason.OVERFLOW_UNDECIDED in reasons(tried),
)
"""Phases in which sums only rise or only fall, where their overflow is not known."""

PARTITIONING = Method(
    "partitioning",
    "ours",
    _in_smaller_parts,
    lambda part, _: part.smaller is not None and not part.system.auxiliaries,
)
