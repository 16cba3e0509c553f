"""The paths between headers: a function as transitions from its entry and from each loop's header to the next header.

They are the steps of the program's relation, as paths that ranks are looked for on. A nest is looked at as a whole so,
the header at which a run stands being its program counter (Alias et al., Multi-dimensional rankings, program
termination, and complexity bounds of flowchart programs, SAS 2010).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache

from loopless import terms as t
from loopless.bounds.looperman.scopes import dead, deciding
from loopless.flowgraph.def_use import assigned_in
from loopless.flowgraph.liveness import live_at_entry
from loopless.flowgraph.model import Call, End, Flowgraph, Origin, Statement
from loopless.graphs import reachable
from loopless.limits.bounds import MAX_CUTPOINT_TRANSITIONS
from loopless.logic import feasible
from loopless.paths import LoopPaths, Path, Unknown
from loopless.paths.build import simplest
from loopless.paths.joining import join
from loopless.paths.model import Exit
from loopless.records import dataclass
from loopless.refusals import Reason, Refused
from loopless.transition.algebra import given
from loopless.transition.building import system_of
from loopless.transition.relation import OPEN, START, VIOLATION, Step, TransitionSystem

ENTRY = START
"""Where a call begins, among the headers."""

END = "~end"
"""Where a call ends."""


@dataclass(frozen=True, slots=True)
class CutpointGraph:
    """All transitions of a function as the iterative ``paths`` of one loop, each from the header ``source`` to the
    header ``target`` by the path's id. ``inputs``: what a call is given.
    """

    paths: LoopPaths
    source: Mapping[str, str]
    target: Mapping[str, str]
    inputs: frozenset[t.Var]
    back: Mapping[str, str]
    """Of the transitions that take a back edge of a loop, by id: the loop's header."""


def cutpoints_of(graph: Flowgraph, watched: frozenset[t.Var] = frozenset()) -> CutpointGraph | Refused:
    """The transitions between headers; those to the end of a call too where something is ``watched``."""
    leaves = Refused(Reason.UNKNOWN_CALL, graph.source_name, "a call may not return")

    def ends(what: Statement | End) -> bool:
        return bool(watched) and isinstance(what, End) and what.kind not in ("undefined", "unsupported")

    def passed(call: Call) -> Refused | None:
        return leaves if watched and call.leaves else None

    wanted = deciding(graph, watched)
    made = system_of(graph, ends, passed, ways=MAX_CUTPOINT_TRANSITIONS, accesses=True, kept=watched, only=wanted)
    if isinstance(made, Refused):
        return made
    refused = _refused(made, leaves)
    if refused is not None:
        return refused
    known = {OPEN: END, VIOLATION: END} if watched else {}
    known |= {loop.header: loop.header for loop in graph.loops}
    entry = {p.var: t.ZERO for p in graph.parameters if p.object is not None and p.var is not None and not p.shared}
    place = {label: number for number, label in enumerate((START, *(loop.header for loop in graph.loops)))}
    steps = [
        _plain(given(replace(step, update={**entry, **step.update}), entry) if step.source == START else step)
        for step in sorted(made.transitions, key=lambda step: (place[step.source], known.get(step.target) == END))
        if step.target in known
    ]
    steps = [step for step in steps if step.condition is not t.FALSE and feasible(step.condition, solver=False)]
    if len(steps) > MAX_CUTPOINT_TRANSITIONS:
        return Refused(Reason.BUDGET, graph.source_name, "there are too many ways between the loops")
    source = {f"{number}": step.source for number, step in enumerate(steps, 1)}
    target = {f"{number}": known[step.target] for number, step in enumerate(steps, 1)}
    unused = _unused(graph, wanted, watched)
    found = tuple(_path(graph, f"{number}", step, unused(step)) for number, step in enumerate(steps, 1))
    changed = {v for path in found for v in path.update} & set(graph.variables)
    occurring = {v for p in found for node in (p.condition, *p.update.values()) for v in node.variables}
    moved = tuple(sorted(changed, key=lambda v: v.key))
    invariants = tuple(sorted((occurring & set(graph.variables)) - changed, key=lambda v: v.key))
    inputs = {p.var for p in graph.parameters if p.var is not None}
    inputs |= {v for v, info in graph.variables.items() if info.kind.name == "GLOBAL"}
    paths = LoopPaths(graph.loops[0], found, _undefined(made), moved, invariants, moved, ())
    inside = {loop.header: loop.blocks for loop in graph.loops}
    back = {i: h for i, h in target.items() if h in inside and source[i] in inside[h]}
    return CutpointGraph(paths, source, target, frozenset(inputs), back)


def _refused(made: TransitionSystem, leaves: Refused) -> Refused | None:
    """Why runs are not followed from header to header, where they are not."""
    if {*made.cutpoints} != {loop.header for loop in made.graph.loops}:
        return Refused(Reason.IRREDUCIBLE, made.graph.source_name, "jumps enter a cycle at several places")
    blocked = [*made.graph.blocked.values()]
    lost = (Reason.UNDEF_VALUE, Reason.RECURSION)
    return next((one for one in made.open if one is not leaves and (one in blocked or one.reason in lost)), None)


def _undefined(made: TransitionSystem) -> tuple[Path, ...]:
    """Where behaviour is undefined the run ends; the conditions tell what only checks are about."""
    exit = Exit("undefined", 0, "")
    failing = (t.conjunction(step.facts) for step in made.failing)
    return tuple(Path(f"u{number}", condition, {}, exit, (), ()) for number, condition in enumerate(failing))


def _plain(step: Step) -> Step:
    """The step with alternatives of its condition, which are those of ways that meet, as few as they can be."""
    told = (
        join([*map(t.conjuncts, part.args)]) if isinstance(part, t.Or) else (part,)
        for part in t.conjuncts(step.condition)
    )
    return replace(step, condition=t.conjunction(part for parts in told for part in parts))


def _unused(
    graph: Flowgraph, wanted: frozenset[t.Var], watched: frozenset[t.Var]
) -> Callable[[Step], Mapping[t.Var, t.Term]]:
    """Of a step, what may change on the way and is used no more: it is unknown from there on, not unchanged."""
    headers = {loop.header for loop in graph.loops}
    live = live_at_entry(graph.blocks, watched)

    @cache
    def changed(source: str) -> frozenset[t.Var]:
        way = reachable((source,), lambda label: [to for to in graph.blocks[label].successors if to not in headers])
        return assigned_in(graph.blocks[label] for label in way) & wanted

    def of(step: Step) -> Mapping[t.Var, t.Term]:
        gone = (changed(step.source or graph.entry) | step.update.keys()) - watched
        return {var: dead(var) for var in gone - live.get(step.target, frozenset())}

    return of


def _path(graph: Flowgraph, name: str, step: Step, unused: Mapping[t.Var, t.Term]) -> Path:
    values = {**{var: simplest(term, step.condition) for var, term in step.update.items()}, **unused}
    update = {v: value for v, value in values.items() if value is not v and v in graph.variables}
    occurring = {v for node in (step.condition, *update.values()) for v in node.variables} - set(graph.variables)
    unknowns = tuple(Unknown(v, Origin.UNSUPPORTED, v.name, None) for v in sorted(occurring, key=lambda v: v.key))
    return Path(name, step.condition, update, None, unknowns, ())


def under(paths: LoopPaths, invariants: Mapping[str, t.Condition]) -> LoopPaths:
    """The paths with what holds where each begins, by their ids."""
    known = tuple(replace(p, condition=invariants[p.id] & p.condition) for p in paths.iterative)
    return replace(paths, iterative=known)
