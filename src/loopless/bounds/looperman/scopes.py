"""Once around: the paths through one iteration of a loop, or through the whole function, with inner loops passed over.

A run falls apart into complete iterations of loops and one path without repetition through the function (Looperman,
section 2.1: a backbone). Here both are executed on symbols. An inner loop is entered, does its iterations, which gives
what it changes new values that nothing is known of yet, and is left by its last, incomplete iteration, which is
executed like straight code.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import ClassVar

from loopless import terms as t
from loopless.flowgraph.def_use import dependencies
from loopless.flowgraph.liveness import live_at_entry
from loopless.flowgraph.model import (
    Assume,
    Block,
    Call,
    Check,
    Flowgraph,
    Load,
    LoopInfo,
    Origin,
)
from loopless.flowgraph.transfer import Source
from loopless.flowgraph.words import unknown_in_words, with_number
from loopless.graphs import reachable, reverse_postorder
from loopless.limits.bounds import MAX_HARD_CONDITIONS, MAX_SCOPE_ITERATIONS
from loopless.limits.paths import MAX_PATHS, MAX_VISITS
from loopless.logic import feasible
from loopless.paths.build import changed_variables, simplest
from loopless.paths.execution import Execution, ExecutionState, Finished, TooManyPaths, Unreadable, line_of
from loopless.paths.model import Exit, Unknown
from loopless.paths.symbolic import obstacle
from loopless.records import dataclass
from loopless.refusals import Reason, Refused

Moves = tuple[frozenset[t.Var], frozenset[t.Var]]
"""The variables that a loop never raises, and those that it never lowers."""


_PLAIN = frozenset(("floor_div", "mod", "trunc_div", "trunc_rem", "min", "max"))

Relation = Callable[[t.Term, t.Term], t.Condition]


@dataclass(frozen=True, slots=True)
class HavocLoop:
    """An inner loop that is passed over: the values at its entry (those that differ from the beginning of the scope),
    and the symbols for what its complete iterations make of the variables that it changes.
    """

    header: str
    before: tuple[tuple[t.Var, t.Term], ...]
    after: tuple[tuple[t.Var, t.Var], ...]
    number: int

    def entry(self) -> dict[t.Var, t.Term]:
        """The values at the loop's entry, of the variables that have changed by then."""
        return dict(self.before)


@dataclass(frozen=True, slots=True)
class SymbolicState(ExecutionState):
    """Where a path is: a state, the inner loops that it passed, the blocks of the scope that it may have visited."""

    passed: tuple[HavocLoop, ...] = ()
    visited: frozenset[str] = frozenset()

    @property
    def holds(self) -> t.Condition:
        """What must be true of the values at the beginning of the scope, and of the symbols, to come here."""
        return t.conjunction(self.condition)


@dataclass(frozen=True, slots=True)
class Iteration:
    """One complete iteration of a loop: from its header back to it. ``values`` are those that change."""

    condition: t.Condition
    values: Mapping[t.Var, t.Term]
    passed: tuple[HavocLoop, ...]
    visited: frozenset[str]


@dataclass(frozen=True, slots=True)
class Scope:
    """A loop, or the function (``loop`` None): its complete iterations, and by block the symbolic states in which it is
    visited.

    Blocks of inner loops are not listed but for the headers of the loops directly inside, where the symbolic states are
    those at the entry. ``changed``: the variables that iterations of this loop or of inner ones change; ``ends``: where
    runs end, or may, in calls that need not return; ``exits``: where they leave the loop.
    """

    loop: LoopInfo | None
    iterations: tuple[Iteration, ...]
    visits: Mapping[str, tuple[SymbolicState, ...]]
    changed: frozenset[t.Var]
    labels: frozenset[str]
    ends: tuple[SymbolicState, ...] = ()
    exits: tuple[SymbolicState, ...] = ()

    def havocs(self) -> tuple[HavocLoop, ...]:
        """All havocs over inner loops, in the order in which they were met."""
        states: list[Iteration | SymbolicState] = [
            *self.iterations,
            *(state for states in self.visits.values() for state in states),
        ]
        found = {havoc.number: havoc for state in states for havoc in state.passed}
        return tuple(found[number] for number in sorted(found))

    @property
    def header(self) -> str:
        """The label of the loop's header; empty for the function."""
        return self.loop.header if self.loop is not None else ""


@dataclass(frozen=True, slots=True)
class Scopes:
    """All scopes of a function by their headers, the function's under the empty name; refusals where there is none."""

    graph: Flowgraph
    scopes: Mapping[str, Scope | Refused]
    variables: frozenset[t.Var]
    by_header: Mapping[str, LoopInfo] = field(default_factory=dict)

    def inside(self, header: str) -> list[str]:
        """The headers of the loops inside the scope, its own included."""
        return [h for h in self.by_header if header in ("", h) or header in self.ancestors(h)]

    def ancestors(self, header: str) -> list[str]:
        """The headers of the loops around a loop, the innermost first."""
        found: list[str] = []
        parent = self.by_header[header].parent
        while parent is not None:
            found.append(parent)
            parent = self.by_header[parent].parent
        return found

    def parent(self, header: str) -> str | None:
        """The header of the loop around a loop, empty for an outermost one; None where the label is no header."""
        loop = self.by_header.get(header)
        return None if loop is None else loop.parent or ""

    def home(self, label: str) -> str:
        """The header of the innermost loop that a block lies in; empty where there is none."""
        around = [loop for loop in self.by_header.values() if label in loop.blocks]
        return max(around, key=lambda loop: loop.depth).header if around else ""


def scopes_of(graph: Flowgraph, watched: frozenset[t.Var] = frozenset()) -> Scopes:
    """All scopes of a function. The values of ``watched`` are followed too, though nothing may depend on them."""
    wanted = deciding(graph, watched)
    live = live_at_entry(graph.blocks, watched)
    found: dict[str, Scope | Refused] = {}
    moves: dict[str, Moves] = {}
    inner_first = sorted(graph.loops, key=lambda loop: -loop.depth)
    for loop in (*inner_first, None):
        around = ScopeExecution(graph, loop, wanted, live, moves)
        try:
            around.run()
        except TooManyPaths:
            detail = "there are too many different ways through the loop's body or through the function"
            found[around.start if loop is not None else ""] = Refused(Reason.BUDGET, around.where, detail)
            continue
        except Unreadable as unreadable:
            found[around.start if loop is not None else ""] = unreadable.refused
            continue
        scope = found[around.start if loop is not None else ""] = around.scope()
        if loop is not None:
            moves[loop.header] = _moves(graph, scope, wanted)
    return Scopes(graph, found, wanted, {loop.header: loop for loop in graph.loops})


def deciding(graph: Flowgraph, watched: frozenset[t.Var] = frozenset()) -> frozenset[t.Var]:
    """The variables on which it depends which way a run takes, or what ``watched`` hold; directly or through others."""
    wanted = set(watched)
    for block in graph.blocks.values():
        for edge in block.edges:
            wanted |= edge.condition.variables
        for statement in block.statements:
            if isinstance(statement, Assume):
                wanted |= statement.condition.variables
    comes_from = dependencies(graph.blocks.values())
    return frozenset(reachable(wanted, lambda var: comes_from.get(var, ())))


class ScopeExecution(Execution[SymbolicState]):
    """One iteration of a loop, or the function, executed on symbols."""

    questions: ClassVar[int] = 2

    def __init__(
        self,
        graph: Flowgraph,
        loop: LoopInfo | None,
        wanted: frozenset[t.Var],
        live: Mapping[str, frozenset[t.Var]],
        moves: Mapping[str, Moves],
    ) -> None:
        labels = loop.blocks if loop is not None else frozenset(graph.blocks)
        place = loop.loc if loop is not None else graph.loc
        super().__init__(graph, live, labels, str(place) if place is not None else graph.source_name)
        self.loop = loop
        self.labels = labels
        self.start = loop.header if loop is not None else graph.entry
        self.variables = wanted
        self.moves = moves
        inside = [info for info in graph.loops if info.blocks < labels or (loop is None and info.blocks <= labels)]
        self.inner = {info.header: info for info in inside}
        self.changed_by = {header: changed_variables(graph, info) & wanted for header, info in self.inner.items()}
        self.visits: dict[str, tuple[SymbolicState, ...]] = {}
        self.ends: list[SymbolicState] = []
        self.exits: list[SymbolicState] = []
        self._numbers = 0
        self._hard = 0

    # -- the whole ----------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """All paths. Raises :class:`TooManyPaths`, :class:`Unreadable`."""
        following = {label: list(self._following(label)) for label in self.labels}
        waiting: dict[str, list[SymbolicState]] = {self.start: [SymbolicState((), self._entry_values(), (), ())]}
        visits = 0
        for label in reverse_postorder(following, self.start):
            states = self.merged(label, waiting.pop(label, []))
            visits += len(states)
            if len(states) > MAX_PATHS or visits > MAX_VISITS:
                raise TooManyPaths
            for target, state in self._onward(label, states):
                waiting.setdefault(target, []).append(state)
        if waiting:
            detail = "jumps enter a cycle at several places"
            raise Unreadable(Refused(Reason.IRREDUCIBLE, self.where, detail))

    def scope(self) -> Scope:
        """What was found."""
        changed = changed_variables(self.graph, self.loop) if self.loop is not None else frozenset[t.Var]()
        complete = self.merged(self.start, [done.state for done in self.finished])
        apart = [part for state in complete for part in _apart(state)]
        iterations = tuple(_iteration(state) for state in (apart if len(apart) <= MAX_SCOPE_ITERATIONS else complete))
        return Scope(self.loop, iterations, self.visits, changed, self.labels, tuple(self.ends), tuple(self.exits))

    def _following(self, label: str) -> Iterable[str]:
        for target in self.graph.blocks[label].successors:
            if target in self.labels and target != self.start and not self._returns(label, target):
                yield target

    def _returns(self, label: str, target: str) -> bool:
        """Whether this is the way back of an inner loop."""
        return target in self.inner and label in self.inner[target].blocks

    def _entry_values(self) -> dict[t.Var, t.Term]:
        """A pointer parameter points to the start of what it points to."""
        if self.loop is not None:
            return {}
        parameters = self.graph.parameters
        return {p.var: t.ZERO for p in parameters if p.object is not None and p.var is not None and not p.shared}

    def _innermost(self, label: str) -> bool:
        """Whether the block lies in no inner loop of the scope."""
        return not any(label in info.blocks for info in self.inner.values())

    def _directly_inside(self, header: str) -> bool:
        parent = self.inner[header].parent
        return parent == (self.loop.header if self.loop is not None else None)

    def _onward(self, label: str, states: Sequence[SymbolicState]) -> Iterable[tuple[str, SymbolicState]]:
        block = self.graph.blocks[label]
        inner = label in self.inner and label != self.start
        if self._innermost(label) or (inner and self._directly_inside(label)):
            states = [replace(state, visited=state.visited | {label}) for state in states]
            self.visits[label] = tuple(states)
        if inner:
            states = [self._passed_over(label, state) for state in states]
        for state in states:
            for after in self.through(block, state):
                if block.end is not None:
                    self.ends.append(self.followed(block, after))
                    continue
                for _, edge, taken in self.ways(block, after):
                    target = edge.target
                    self.followed(self.graph.blocks[target], taken)
                    if self.loop is not None and target == self.start:
                        self.finished.append(Finished(self.along(taken, edge), None))
                    elif target in self.labels and not self._returns(label, target):
                        yield target, self.along(taken, edge)
                    elif target not in self.labels:
                        self.exits.append(taken)
        if len(self.finished) > 4 * MAX_PATHS:
            raise TooManyPaths

    @staticmethod
    def followed(block: Block, state: SymbolicState) -> SymbolicState:
        """The state; raises :class:`Unreadable` where the run goes on from the block in a way that is not followed."""
        found = obstacle(block)
        if found is not None:
            raise Unreadable(found)
        return state

    def _passed_over(self, header: str, state: SymbolicState) -> SymbolicState:
        """The state at the last visit of an inner loop's header."""
        self._numbers += 1
        live = self.live[header]
        after = {}
        symbols = []
        for var in sorted(self.changed_by[header], key=lambda v: v.key):
            symbol = t.Var(with_number(var.name, self._numbers) if var in live else dead(var).name, var.type)
            after[var] = symbol
            symbols.append((var, symbol))
        before = tuple(sorted(state.values.items(), key=lambda pair: pair[0].key))
        known = [relation(state.values.get(var, var), after[var]) for var, relation in self._directions(header, live)]
        state = replace(state, condition=t.conjuncts(t.conjunction((*state.condition, *known))))
        havoc = HavocLoop(header, before, tuple(symbols), self._numbers)
        return replace(state, values={**state.values, **after}, passed=(*state.passed, havoc))

    def _directions(self, header: str, live: Collection[t.Var]) -> Iterator[tuple[t.Var, Relation]]:
        """How the old value of a variable relates to what the iterations of a loop make of it."""
        falls, rises = self.moves.get(header, (frozenset(), frozenset()))
        yield from ((var, t.greater_equal) for var in sorted(falls) if var in live)
        yield from ((var, t.less_equal) for var in sorted(rises) if var in live)

    # -- what differs from other executions ---------------------------------------------------------------------------

    def _worth_solving(self, condition: t.Condition) -> bool:
        """Of conditions on bits and memory only some are put to Z3: what is kept for no reason costs less."""
        if any(
            isinstance(node, t.Read) or (isinstance(node, t.Op) and node.op not in _PLAIN) for node in t.walk(condition)
        ):
            self._hard += 1
            return self._hard <= MAX_HARD_CONDITIONS and super()._worth_solving(condition)
        return super()._worth_solving(condition)

    def wanted(self, target: t.Var) -> bool:
        return target in self.variables

    def keeps(self, label: str, statement: Check | Assume) -> bool:  # noqa: ARG002
        return isinstance(statement, Assume) or statement.condition.variables <= self.variables

    def beyond(self) -> bool:
        return True

    def leave(self, state: SymbolicState, condition: t.Condition, exit: Exit) -> None:
        """Runs that end are no iterations, and what they visit before is counted where it is visited."""

    def same(self, state: SymbolicState) -> tuple[object, ...]:
        return (state.unknowns, tuple(havoc.number for havoc in state.passed))

    def merged(self, label: str, states: list[SymbolicState]) -> list[SymbolicState]:
        """As for other executions; but what is used no more is unknown from here on, not unchanged."""
        needed = self.live[label] & self.variables
        groups: dict[tuple[object, ...], list[SymbolicState]] = {}
        for state in states:
            kept = {v: term if v in needed else dead(v) for v, term in state.values.items() if term is not v}
            key = (tuple(sorted(kept.items(), key=lambda pair: pair[0].key)), self.same(state))
            groups.setdefault(key, []).append(replace(state, values=kept))
        return [self.union(group) for group in groups.values()]

    def union(self, group: list[SymbolicState]) -> SymbolicState:
        visited = frozenset[str]().union(*(state.visited for state in group))
        return replace(super().union(group), visited=visited)

    def call(self, state: SymbolicState, statement: Call) -> Sequence[SymbolicState]:
        if statement.leaves:
            self.ends.append(state)
        return super().call(state, statement)

    def fresh(self, state: SymbolicState, target: t.Var, origin: Origin, name: str, source: Source) -> SymbolicState:
        if not self.wanted(target):
            return state
        self._numbers += 1
        shown = source.shown if isinstance(source, Load) else ""
        called = unknown_in_words(self.graph.variables, target, origin, name, line_of(source.loc), shown)
        var = t.Var(with_number(called, self._numbers), target.type)
        return self.take(state, Unknown(var, origin, name, source.loc), target)


def _moves(graph: Flowgraph, scope: Scope, wanted: frozenset[t.Var]) -> Moves:
    """The variables that no iteration of the loop raises, and those that none lowers."""
    assert scope.loop is not None
    changed = changed_variables(graph, scope.loop) & wanted

    def never(var: t.Var, wrong: Relation) -> bool:
        return not any(
            var in iteration.values and feasible(iteration.condition & wrong(iteration.values[var], var), solver=False)
            for iteration in scope.iterations
        )

    return frozenset(v for v in changed if never(v, t.greater)), frozenset(v for v in changed if never(v, t.less))


def dead(var: t.Var) -> t.Var:
    """The symbol for a value that is used no more."""
    return t.Var(f"{var.name}'dead", var.type)


def _apart(state: SymbolicState) -> list[SymbolicState]:
    """The alternatives of a condition, each by itself, where one conjunct has some: each may have its own bound."""
    either = [part for part in state.condition if isinstance(part, t.Or)]
    if len(either) != 1:
        return [state]
    rest = tuple(part for part in state.condition if part is not either[0])
    return [replace(state, condition=(*rest, *t.conjuncts(part))) for part in either[0].args]


def _iteration(state: SymbolicState) -> Iteration:
    condition = state.holds
    values = {var: simplest(term, condition) for var, term in state.values.items()}
    return Iteration(
        condition, {v: value for v, value in values.items() if value is not v}, state.passed, state.visited
    )
