"""The paths between headers: a function as transitions from its entry and from each loop's header to the next header.

Every cycle of the flowgraph goes through a header, so that a run is a sequence of such transitions and a last path to
the end. A nest is looked at as a whole so, the header at which a run stands being its program counter (Alias et al.,
Multi-dimensional rankings, program termination, and complexity bounds of flowchart programs, SAS 2010).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from loopless import terms as t
from loopless.bounds.looperman.scopes import ScopeExecution, SymbolicState, deciding
from loopless.flowgraph.liveness import live_at_entry
from loopless.flowgraph.model import Flowgraph, Origin
from loopless.limits.bounds import MAX_CUTPOINT_TRANSITIONS
from loopless.limits.paths import MAX_PATHS
from loopless.paths import LoopPaths, Path, Unknown
from loopless.paths.build import simplest
from loopless.paths.execution import TooManyPaths, Unreadable
from loopless.paths.model import Exit
from loopless.records import dataclass
from loopless.refusals import Reason, Refused

ENTRY = ""
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
    wanted = deciding(graph, watched)
    live = live_at_entry(graph.blocks, watched)
    headers = [loop.header for loop in graph.loops]
    found: list[Path] = []
    ends: list[Path] = []
    source: dict[str, str] = {}
    target: dict[str, str] = {}
    for start in (ENTRY, *headers):
        between = _Between(graph, start, wanted, live, frozenset(headers))
        try:
            between.run()
        except TooManyPaths:
            return Refused(Reason.BUDGET, between.where, "there are too many ways between the loops")
        except Unreadable as unreadable:
            return unreadable.refused
        known = [(label, state) for label, states in between.arrived.items() for state in between.merged(label, states)]
        if watched:
            known += [(END, state) for state in between.ends]
        for label, state in known:
            name = f"{len(found) + 1}"
            found.append(_path(graph, name, state))
            source[name], target[name] = start, label
        ends += between.undefined
    if len(found) > MAX_CUTPOINT_TRANSITIONS:
        return Refused(Reason.BUDGET, graph.source_name, "there are too many ways between the loops")
    changed = {v for path in found for v in path.update} & set(graph.variables)
    occurring = {v for p in found for node in (p.condition, *p.update.values()) for v in node.variables}
    moved = tuple(sorted(changed, key=lambda v: v.key))
    invariants = tuple(sorted((occurring & set(graph.variables)) - changed, key=lambda v: v.key))
    inputs = {p.var for p in graph.parameters if p.var is not None}
    inputs |= {v for v, info in graph.variables.items() if info.kind.name == "GLOBAL"}
    paths = LoopPaths(graph.loops[0], tuple(found), tuple(ends), moved, invariants, moved, ())
    inside = {loop.header: loop.blocks for loop in graph.loops}
    back = {i: h for i, h in target.items() if h in inside and source[i] in inside[h]}
    return CutpointGraph(paths, source, target, frozenset(inputs), back)


def _path(graph: Flowgraph, name: str, state: SymbolicState) -> Path:
    condition = state.holds
    values = {var: simplest(term, condition) for var, term in state.values.items()}
    update = {v: value for v, value in values.items() if value is not v and v in graph.variables}
    occurring = {v for node in (condition, *update.values()) for v in node.variables} - set(graph.variables)
    unknowns = tuple(Unknown(v, Origin.UNSUPPORTED, v.name, None) for v in sorted(occurring, key=lambda v: v.key))
    return Path(name, condition, update, None, unknowns, ())


class _Between(ScopeExecution):
    """From one header, or the entry, to the headers that come next."""

    def __init__(
        self,
        graph: Flowgraph,
        start: str,
        wanted: frozenset[t.Var],
        live: Mapping[str, frozenset[t.Var]],
        headers: frozenset[str],
    ) -> None:
        super().__init__(graph, None, wanted, live, {})
        self.at_entry = start == ENTRY
        self.start = graph.entry if self.at_entry else start
        self.headers = headers
        self.arrived: dict[str, list[SymbolicState]] = {}
        self.undefined: list[Path] = []

    def run(self) -> None:
        if self.at_entry and self.start in self.headers:
            self.arrived[self.start] = [SymbolicState((), self._entry_values(), (), ())]
            return
        super().run()

    def _entry_values(self) -> dict[t.Var, t.Term]:
        return super()._entry_values() if self.at_entry else {}

    def _following(self, label: str) -> Iterable[str]:
        return (target for target in self.graph.blocks[label].successors if target not in self.headers)

    def _onward(self, label: str, states: Sequence[SymbolicState]) -> Iterable[tuple[str, SymbolicState]]:
        block = self.graph.blocks[label]
        for state in states:
            for after in self.through(block, state):
                if block.end is not None:
                    self.ends.append(self.followed(block, after))
                    continue
                for _, edge, taken in self.ways(block, after):
                    there = self.along(taken, edge)
                    if edge.target in self.headers:
                        self.arrived.setdefault(edge.target, []).append(there)
                    else:
                        yield edge.target, there
        if sum(map(len, self.arrived.values())) > MAX_PATHS:
            raise TooManyPaths

    def leave(self, state: SymbolicState, condition: t.Condition, exit: Exit) -> None:  # noqa: ARG002
        """Where behaviour is undefined the run ends; the condition tells what only checks are about."""
        if exit.kind == "undefined":
            self.undefined.append(Path(f"u{len(self.undefined)}", condition, {}, exit, (), ()))


def under(paths: LoopPaths, invariants: Mapping[str, t.Condition]) -> LoopPaths:
    """The paths with what holds where each begins, by their ids."""
    known = tuple(replace(p, condition=invariants[p.id] & p.condition) for p in paths.iterative)
    return replace(paths, iterative=known)
