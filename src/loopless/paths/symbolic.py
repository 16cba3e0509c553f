"""Symbolic execution of one loop body: states that meet with the same effect become one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from loopless.flowgraph.liveness import defined_by
from loopless.flowgraph.model import (
    Allocate,
    Assign,
    Assume,
    Block,
    Call,
    Check,
    Copy,
    Edge,
    Fill,
    Flowgraph,
    Havoc,
    Load,
    LoopInfo,
    Origin,
    Store,
)
from loopless.logic.feasible import feasible
from loopless.paths.joining import join
from loopless.paths.model import Exit, Unknown
from loopless.paths.relevance import Relevance
from loopless.refusals import Reason, Refused
from loopless.source.ir import Loc
from loopless.terms import (
    FALSE,
    TRUE,
    Compare,
    Condition,
    Const,
    IntType,
    Sum,
    Term,
    TermTooLarge,
    Var,
    conjunction,
    conjuncts,
    negate,
    read,
    substitute,
    walk,
)

MAX_PATHS = 256
"""A body with more different paths than this is refused."""


MAX_VISITS = 5000
"""A body in which more pairs of a block and a state have to be looked at is refused."""


MAX_COMPARISONS = 15_000
"""A body whose path conditions have more comparisons than this, all put to the logic together, is refused."""


MAX_DEGREE = 2
MAX_QUESTIONS = 12
"""Conditions of a higher degree are not put to Z3, and of the others no more than so many per body."""


class TooManyPaths(Exception):
    """One of the limits on paths is reached: :data:`MAX_PATHS`, :data:`MAX_VISITS`, :data:`MAX_COMPARISONS`."""


class Unreadable(Exception):
    """The body holds something that no path can go through; carries the refusal."""

    def __init__(self, refused: Refused) -> None:
        super().__init__(str(refused))
        self.refused = refused


@dataclass(frozen=True, slots=True)
class State:
    """A partial path: what must hold, what has changed, what came from outside, where it went."""

    condition: tuple[Condition, ...]
    values: Mapping[Var, Term]
    unknowns: tuple[Unknown, ...]
    lines: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Finished:
    """A complete path before it gets its number."""

    state: State
    exit: Exit | None
    result: Term | None = None


class Body:
    """One iteration of a loop, executed on symbols."""

    def __init__(
        self,
        graph: Flowgraph,
        loop: LoopInfo,
        relevant: Relevance,
        live: Mapping[str, frozenset[Var]],
        seen_at_ends: frozenset[Var],
    ) -> None:
        self.graph = graph
        self.loop = loop
        self.relevant = relevant
        self.live = live
        self.seen_at_ends = seen_at_ends
        self.finished: list[Finished] = []
        self.inner = {info.header: info for info in graph.loops if info.parent == loop.header}
        self.written = _written_objects(graph, loop)
        self.known: dict[Condition, bool] = {}
        self._unknowns = 0
        self._visits = 0
        self._comparisons = 0
        self._questions = 0

    def run(self) -> list[Finished]:
        """All paths of one iteration."""
        waiting: dict[str, list[State]] = {self.loop.header: [State((), {}, (), ())]}
        for label in self._order():
            states = self._merged(label, waiting.pop(label, []))
            self._visits += len(states)
            if self._visits > MAX_VISITS:
                raise TooManyPaths
            for state in states:
                for target, following in self._through(label, state):
                    waiting.setdefault(target, []).append(following)
        return self.finished

    # -- order ----------------------------------------------------------------------------------------------------

    def _order(self) -> list[str]:
        """Topological order of the body, inner loops as single nodes named by their headers."""
        home = {label: label for label in self.loop.blocks}
        for header, info in self.inner.items():
            home |= dict.fromkeys(info.blocks, header)
        order: list[str] = []
        seen = {self.loop.header}
        stack = [(self.loop.header, iter(self._nodes_after(self.loop.header, home)))]
        while stack:
            label, targets = stack[-1]
            for target in targets:
                if target not in seen:
                    seen.add(target)
                    stack.append((target, iter(self._nodes_after(target, home))))
                    break
            else:
                order.append(label)
                stack.pop()
        return order[::-1]

    def _nodes_after(self, label: str, home: Mapping[str, str]) -> list[str]:
        inside = self.inner[label].blocks if label in self.inner else (label,)
        targets = [e.target for name in sorted(inside) for e in self.graph.blocks[name].edges]
        nodes = dict.fromkeys(home[t] for t in targets if t in home and t != self.loop.header)
        return [node for node in nodes if node != label]

    # -- one block ------------------------------------------------------------------------------------------------

    def _through(self, label: str, state: State) -> list[tuple[str, State]]:
        if label in self.inner:
            raise Unreadable(
                Refused(
                    Reason.NESTED,
                    self._where(self.inner[label].loc),
                    f"the loop {self.inner[label].name} runs inside this one and nested loops are not summarized yet",
                )
            )
        blocked = self.graph.blocked.get(label)
        if blocked is not None:
            raise Unreadable(blocked)
        block = self.graph.blocks[label]
        after = state
        for statement in block.statements:
            following = self._statement(label, statement, after)
            if following is None:
                return []
            after = following
        if block.end is not None:
            self._end(block, after)
            return []
        return self._edges(block, after)

    def _statement(self, label: str, statement: object, state: State) -> State | None:
        match statement:
            case Assign(target=target, value=value, loc=loc):
                if target not in self.relevant.variables:
                    return state
                return self._bind(state, target, self._in(state, value), loc)
            case Check():
                return self._check(label, statement, state)
            case Assume():
                condition = self._in_condition(state, statement.condition)
                self._leave(state, negate(condition), Exit("assumption", _line(statement.loc), label))
                return self._under(state, condition, statement.loc)
            case Havoc(target=target, origin=origin, name=name, loc=loc, refused=refused):
                return self._unknown(state, target, origin, name, loc, refused)
            case Load():
                return self._load(state, statement)
            case Call() | Allocate():
                for target in defined_by(statement):
                    name = statement.callee if isinstance(statement, Call) else "malloc"
                    state = self._unknown(state, target, Origin.CALL, name, statement.loc)
                return state
            case Store() | Fill() | Copy():
                return state
            case _:
                raise AssertionError(statement)

    def _check(self, label: str, check: Check, state: State) -> State | None:
        if not self.relevant.keeps(label, check):
            return state
        condition = self._in_condition(state, check.condition)
        exit = Exit("undefined", _line(check.loc), label, detail=check.kind)
        self._leave(state, negate(condition), exit)
        return self._under(state, condition, check.loc)

    def _bind(self, state: State, target: Var, value: Term, loc: Loc | None) -> State:
        values = {**state.values, target: value}
        return replace(state, values=values, lines=_with_line(state.lines, loc))

    def _unknown(
        self,
        state: State,
        target: Var,
        origin: Origin,
        name: str,
        loc: Loc | None,
        refused: Refused | None = None,
    ) -> State:
        if target not in self.relevant.variables and origin is not Origin.NONDET:
            return state
        self._unknowns += 1
        var = Var(f"{name}()'{self._unknowns}", target.type)
        unknown = Unknown(var, origin, name, loc, refused)
        values = {**state.values, target: var}
        return State(state.condition, values, (*state.unknowns, unknown), _with_line(state.lines, loc))

    def _load(self, state: State, load: Load) -> State:
        if load.target not in self.relevant.variables and load.target_object not in self.relevant.variables:
            return state
        owner = self._in(state, load.address.object)
        fixed = isinstance(owner, Const) and owner.value in self.graph.objects and owner.value not in self.written
        if fixed and load.target_object is None and not self.written.anything and isinstance(owner, Const):
            offset = self._in(state, load.address.offset)
            name = self.graph.objects[owner.value].name
            held = load.type if load.target.type.width is not None else IntType(None)
            return self._bind(state, load.target, read(name, offset, held), load.loc)
        name = self.graph.objects[owner.value].name if isinstance(owner, Const) and owner.value else "memory"
        state = self._unknown(state, load.target, Origin.MEMORY, name, load.loc)
        if load.target_object is not None:
            state = self._unknown(state, load.target_object, Origin.MEMORY, name, load.loc)
        return state

    def _in(self, state: State, term: Term) -> Term:
        try:
            return substitute(term, state.values)
        except TermTooLarge as error:
            raise Unreadable(self._too_large(error)) from error

    def _in_condition(self, state: State, condition: Condition) -> Condition:
        try:
            return substitute(condition, state.values)
        except TermTooLarge as error:
            raise Unreadable(self._too_large(error)) from error

    def _too_large(self, error: TermTooLarge) -> Refused:
        return Refused(Reason.BUDGET, self._where(self.loop.loc), f"an expression grows too large: {error}")

    def _where(self, loc: Loc | None) -> str:
        return str(loc) if loc is not None else self.loop.name

    # -- branching ------------------------------------------------------------------------------------------------

    def _under(self, state: State, condition: Condition, loc: Loc | None) -> State | None:
        """``state`` restricted to ``condition``; None where that is impossible."""
        if condition is TRUE:
            return state
        combined = conjuncts(conjunction((*state.condition, condition)))
        whole = conjunction(combined)
        if whole is FALSE or not self._feasible(whole):
            return None
        return State(combined, state.values, state.unknowns, _with_line(state.lines, loc))

    def _feasible(self, condition: Condition) -> bool:
        found = self.known.get(condition)
        if found is None:
            self._comparisons += sum(1 for node in walk(condition) if isinstance(node, Compare))
            if self._comparisons > MAX_COMPARISONS:
                raise TooManyPaths
            found = self.known[condition] = feasible(condition, solver=self._worth_solving(condition))
        return found

    def _worth_solving(self, condition: Condition) -> bool:
        """Whether Z3 is asked where isl cannot tell: a few times a body, and for low degrees only, since it may take
        seconds beyond. A path kept though it is infeasible costs less.
        """
        sums = [node for node in walk(condition) if isinstance(node, Sum)]
        degree = max((sum(e for _, e in m) for node in sums for m, _ in node.items), default=0)
        if degree <= 1:
            return True
        self._questions += 1
        return degree <= MAX_DEGREE and self._questions <= MAX_QUESTIONS

    def _edges(self, block: Block, state: State) -> list[tuple[str, State]]:
        result: list[tuple[str, State]] = []
        matters = block.label in self.relevant.branches
        for index, edge in enumerate(block.edges):
            condition = self._in_condition(state, edge.condition) if matters else TRUE
            following = self._under(state, condition, edge.loc if len(block.edges) > 1 else None)
            if following is None:
                continue
            if edge.assigns and edge.target in self.loop.blocks:
                following = self._along(following, edge)
            if edge.target == self.loop.header:
                self.finished.append(Finished(following, None))
            elif edge.target not in self.loop.blocks:
                kind = exit_kind(self.graph, self.loop, edge.target)
                exit = Exit(kind, _line(edge.loc), block.label, index, edge.target)
                self.finished.append(Finished(following, exit))
            else:
                result.append((edge.target, following))
        if len(self.finished) > 4 * MAX_PATHS:
            raise TooManyPaths
        return result

    def _along(self, state: State, edge: Edge) -> State:
        new = {target: self._in(state, value) for target, value in edge.assigns if target in self.relevant.variables}
        return replace(state, values={**state.values, **new})

    def _leave(self, state: State, condition: Condition, exit: Exit) -> None:
        left = self._under(state, condition, None)
        if left is not None:
            self.finished.append(Finished(left, exit))

    def _end(self, block: Block, state: State) -> None:
        end = block.end
        assert end is not None
        detail = end.refused.detail if end.refused is not None else ("unreachable" if end.kind == "undefined" else "")
        result = self._in(state, end.value) if end.value is not None else None
        self.finished.append(Finished(state, Exit(end.kind, _line(end.loc), block.label, detail=detail), result))

    # -- merging --------------------------------------------------------------------------------------------------

    def _merged(self, label: str, states: list[State]) -> list[State]:
        """States of equal effect on what is still needed at ``label`` become one."""
        needed = self.live[label]
        groups: dict[tuple[object, ...], list[State]] = {}
        for state in states:
            kept = {v: t for v, t in state.values.items() if v in needed and t is not v}
            trimmed = replace(state, values=kept)
            key = (tuple(sorted(kept.items(), key=lambda pair: pair[0].key)), trimmed.unknowns)
            groups.setdefault(key, []).append(trimmed)
        merged = [merge_states(group) for group in groups.values()]
        if len(merged) > MAX_PATHS:
            raise TooManyPaths
        return merged


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


def merge_states(group: list[State]) -> State:
    """One state for several with the same values."""
    first = group[0]
    if len(group) == 1:
        return first
    lines = tuple(dict.fromkeys(line for state in group for line in state.lines))
    return State(join([state.condition for state in group]), first.values, first.unknowns, tuple(sorted(lines)))


def _line(loc: Loc | None) -> int:
    return loc.line if loc is not None else 0


def _with_line(lines: tuple[int, ...], loc: Loc | None) -> tuple[int, ...]:
    if loc is None or not loc.line or loc.line in lines:
        return lines
    return (*lines, loc.line)


class _Written(frozenset[int]):
    """Numbers of the objects that a loop writes; ``anything`` where some write or call may hit any object."""

    anything: bool = False


def _written_objects(graph: Flowgraph, loop: LoopInfo) -> _Written:
    numbers: set[int] = set()
    anything = False
    for label in loop.blocks:
        for statement in graph.blocks[label].statements:
            if isinstance(statement, Store | Fill):
                owner = statement.address.object
            elif isinstance(statement, Copy):
                owner = statement.target.object
            elif isinstance(statement, Call) and statement.writes_memory:
                anything = True
                continue
            else:
                continue
            if isinstance(owner, Const):
                numbers.add(owner.value)
            else:
                anything = True
    found = _Written(numbers)
    found.anything = anything
    return found
