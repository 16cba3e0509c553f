"""Symbolic execution of one loop body: from the header back to it, or out."""

from __future__ import annotations

from collections.abc import Mapping

from loopless.flowgraph.liveness import defined_by
from loopless.flowgraph.model import (
    Allocate,
    Block,
    Call,
    Check,
    Copy,
    Fill,
    Flowgraph,
    Havoc,
    Load,
    LoopInfo,
    Origin,
    Statement,
    Store,
)
from loopless.paths.execution import (
    MAX_PATHS,
    MAX_VISITS,
    Execution,
    Finished,
    State,
    TooManyPaths,
    Unreadable,
    forward_order,
    line_of,
)
from loopless.paths.model import Exit, Unknown
from loopless.paths.relevance import Relevance
from loopless.refusals import Reason, Refused
from loopless.source.ir import Loc
from loopless.terms import Term, Var


class Body(Execution[State]):
    """One iteration of a loop, executed on symbols."""

    def __init__(
        self,
        graph: Flowgraph,
        loop: LoopInfo,
        relevant: Relevance,
        live: Mapping[str, frozenset[Var]],
    ) -> None:
        super().__init__(graph, live, loop.blocks, str(loop.loc) if loop.loc is not None else loop.name)
        self.loop = loop
        self.relevant = relevant
        self.inner = {info.header: info for info in graph.loops if info.parent == loop.header}
        self._unknowns = 0
        self._visits = 0

    def run(self) -> list[Finished[State]]:
        """All paths of one iteration. Raises :class:`TooManyPaths`, :class:`Unreadable`."""
        waiting: dict[str, list[State]] = {self.loop.header: [State((), {}, (), ())]}
        for label in self._order():
            states = self.merged(label, waiting.pop(label, []))
            self._visits += len(states)
            if len(states) > MAX_PATHS or self._visits > MAX_VISITS:
                raise TooManyPaths
            for state in states:
                for target, following in self._onward(label, state):
                    waiting.setdefault(target, []).append(following)
        if waiting:
            detail = "jumps enter a cycle inside the loop at several places"
            raise Unreadable(Refused(Reason.IRREDUCIBLE, self.where, detail))
        return self.finished

    def _order(self) -> list[str]:
        """Topological order of the body, inner loops as single nodes named by their headers."""
        home = {label: label for label in self.loop.blocks}
        for header, info in self.inner.items():
            home |= dict.fromkeys(info.blocks, header)
        return forward_order(self.loop.header, {label: self._nodes_after(label, home) for label in self.loop.blocks})

    def _nodes_after(self, label: str, home: Mapping[str, str]) -> list[str]:
        inside = self.inner[label].blocks if label in self.inner else (label,)
        targets = [e.target for name in sorted(inside) for e in self.graph.blocks[name].edges]
        nodes = dict.fromkeys(home[t] for t in targets if t in home and t != self.loop.header)
        return [node for node in nodes if node != label]

    def wanted(self, target: Var) -> bool:
        return target in self.relevant.variables

    def keeps(self, label: str, check: Check) -> bool:
        return self.relevant.keeps(label, check)

    def decides(self, label: str) -> bool:
        return label in self.relevant.branches

    def _onward(self, label: str, state: State) -> list[tuple[str, State]]:
        """Through a block, and to where that leads inside the loop."""
        if label in self.inner:
            inner = self.inner[label]
            detail = f"the loop {inner.name} runs inside this one and nested loops are not summarized yet"
            raise Unreadable(Refused(Reason.NESTED, str(inner.loc) if inner.loc is not None else self.where, detail))
        block = self.graph.blocks[label]
        result: list[tuple[str, State]] = []
        for after in self.through(block, state):
            if block.end is not None:
                self.end(block, after)
            else:
                result += self._edges(block, after)
        return result

    def effect(self, state: State, statement: Statement) -> tuple[State]:
        match statement:
            case Havoc(target=target, origin=origin, name=name, loc=loc, refused=refused):
                return (self._unknown(state, target, origin, name, loc, refused),)
            case Load():
                return (self._load(state, statement),)
            case Call() | Allocate():
                for target in defined_by(statement):
                    name = statement.callee if isinstance(statement, Call) else "malloc"
                    state = self._unknown(state, target, Origin.CALL, name, statement.loc)
                return (state,)
            case Store() | Fill() | Copy():
                return (state,)
            case _:
                raise AssertionError(statement)

    def _unknown(
        self,
        state: State,
        target: Var,
        origin: Origin,
        name: str,
        loc: Loc | None,
        refused: Refused | None = None,
    ) -> State:
        if not self.wanted(target) and origin is not Origin.NONDET:
            return state
        self._unknowns += 1
        var = Var(f"{name}()'{self._unknowns}", target.type)
        return self.take(state, Unknown(var, origin, name, loc, refused), target)

    def _load(self, state: State, load: Load) -> State:
        if not self.wanted(load.target) and (load.target_object is None or not self.wanted(load.target_object)):
            return state
        found = self.loaded(state, load)
        if isinstance(found, Term):
            return self.bind(state, load.target, found, load.loc)
        for target in defined_by(load):
            state = self._unknown(state, target, Origin.MEMORY, found, load.loc)
        return state

    def _edges(self, block: Block, state: State) -> list[tuple[str, State]]:
        result: list[tuple[str, State]] = []
        for index, edge, taken in self.ways(block, state):
            following = self.along(taken, edge) if edge.target in self.loop.blocks else taken
            if edge.target == self.loop.header:
                self.finished.append(Finished(following, None))
            elif edge.target not in self.loop.blocks:
                kind = exit_kind(self.graph, self.loop, edge.target)
                exit = Exit(kind, line_of(edge.loc), block.label, index, edge.target)
                self.finished.append(Finished(following, exit))
            else:
                result.append((edge.target, following))
        if len(self.finished) > 4 * MAX_PATHS:
            raise TooManyPaths
        return result


def exit_kind(graph: Flowgraph, loop: LoopInfo, target: str) -> str:
    """What an edge out of the loop to ``target`` means: "normal" (the code behind the loop, a break included), or
    "return", "abort", "exit", "error" where that alone can follow.
    """
    by_block = {label: graph.blocks[label].edges[index].target for label, index in loop.exits}
    # A do loop is left from its latch, the others from their header.
    usual = {by_block[label] for label in loop.latches if label in by_block}
    usual = usual or {by_block[label] for label in (loop.header,) if label in by_block}
    current = _chain(graph, target)
    if usual & set(current):
        return "normal"
    end = graph.blocks[current[-1]].end
    if end is None or not usual:
        return "normal"
    return end.kind if end.kind in ("return", "abort", "exit", "error") else "normal"


def _chain(graph: Flowgraph, label: str) -> list[str]:
    """The blocks that surely follow each other from ``label`` on."""
    chain = [label]
    while True:
        after = graph.blocks[chain[-1]].successors
        if len(after) != 1 or after[0] in chain:
            return chain
        chain.append(after[0])
