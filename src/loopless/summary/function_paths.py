"""All paths through a function, an outermost loop being one step: it goes on by each case of its summary.

States that meet with the same transformer become one. What is not followed to its end is kept with the reason, and with
all that the state has come to know: so the paths cover every entry state once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from typing import ClassVar

from loopless import terms as t
from loopless.flowgraph.callees.streams import stream_of
from loopless.flowgraph.liveness import live_at_entry
from loopless.flowgraph.memory.statement_effects import Written, changed_by, changed_in, read_type
from loopless.flowgraph.model import (
    Allocate,
    Block,
    Call,
    Copy,
    Expire,
    Fill,
    Flowgraph,
    Havoc,
    Load,
    LoopInfo,
    Origin,
    Statement,
    Store,
)
from loopless.flowgraph.transfer import Source
from loopless.flowgraph.words import UNNAMED, function_in_words, unknown_in_words, with_number
from loopless.graphs import reverse_postorder
from loopless.limits.paths import MAX_PATHS, MAX_VISITS
from loopless.paths import Exit, seen_at_ends
from loopless.paths.build import called, calls_return, changed_variables
from loopless.paths.execution import Execution, ExecutionState, Finished, TooManyPaths, Unreadable, line_of
from loopless.paths.model import Unknown
from loopless.paths.readings import not_null, read_both_ways
from loopless.records import dataclass
from loopless.refusals import Reason, Refused
from loopless.source.ir import Loc
from loopless.source.vocabulary import meaning_of
from loopless.summary.closed_aggregates import PLACE, simplified, without_closed
from loopless.summary.followed_calls import Caller, FollowedCall, NotFollowed, as_type
from loopless.summary.function import CallSummary, FunctionCase, FunctionOutcome, PassedLoop
from loopless.summary.function_memory import Deciding, FunctionMemory, Memory, met, put
from loopless.summary.lists import POINTER_BYTES
from loopless.summary.model import Case, LoopSummary, Outcome, nodes_of, with_arrays
from loopless.summary.sentinels import borders, ended, searches
from loopless.terms.contents import INDEX, Layer, Overlapping, element, nodes_in, unknown
from loopless.terms.memory_names import bytes_of
from loopless.terms.substitute import with_reads_where

Callees = Callable[[str], "FunctionOutcome | None"]
"""The summary of a function of the program, by its name; None where its body is not known."""


@dataclass(frozen=True, slots=True)
class FunctionPath(ExecutionState):
    """A path through the function: the loops passed, what is taken for granted, the loops whose iterations are not
    known, and what memory holds.
    """

    passed: tuple[PassedLoop, ...] = ()
    assumptions: tuple[str, ...] = ()
    uncounted: frozenset[str] = frozenset()
    memory: Memory = field(default_factory=Memory)


class FunctionPaths(Execution[FunctionPath]):
    """A whole function, executed on symbols.

    After :meth:`run`: ``finished`` has the paths that end, ``residual`` those that are not followed to their end, with
    the reason, ``diverging`` those that never leave a loop, with its name. Together they are all ways there are, and
    they exclude each other; those that are not ``exact`` go by a case of a loop or of a called function that is not.
    ``arrived`` has the paths to the header of each loop by its name. ``counters`` are the variables that hold the
    iterations of the loops. Without ``memory`` what the function writes to memory is not asked for: ways are followed
    past writes to anything, and no further than to a read of what may have been written so.
    """

    questions: ClassVar[int] = 4

    def __init__(
        self, graph: Flowgraph, outcomes: Mapping[str, Outcome], callees: Callees, *, memory: bool = True
    ) -> None:
        self.memory = memory
        self.seen = seen_at_ends(graph)
        where = str(graph.loc) if graph.loc is not None else graph.source_name
        super().__init__(graph, live_at_entry(graph.blocks, self.seen), graph.blocks, where)
        self.outcomes = outcomes
        self.callees = callees
        self.loops = {loop.header: loop for loop in graph.loops if loop.parent is None}
        self.counters = {_counter(loop.name): loop.name for loop in graph.loops}
        havocs = (s for block in graph.blocks.values() for s in block.statements if isinstance(s, Havoc))
        self.begins = Counter(s.target for s in havocs if s.origin is Origin.UNINITIALISED)
        self.residual: list[tuple[FunctionPath, Refused]] = []
        self.diverging: list[tuple[FunctionPath, str]] = []
        self.arrived: dict[str, list[FunctionPath]] = {}
        self.visits = 0
        self.held = FunctionMemory(graph)
        self.both_ways = read_both_ways(graph)
        self.lists: dict[str, tuple[int, tuple[int, ...], str]] = {}
        """What the names of nodes of lists stand for: by which link, where in a node, and which half of a pointer."""
        self.makers: dict[str, str] = {}
        """By what reads call the objects that are made at a place, the loop that makes them."""
        self._deciding: dict[tuple[t.Condition, ...], Deciding] = {}

    # -- the whole ----------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """All paths through the function."""
        following = self._following()
        order = reverse_postorder(following, self.graph.entry)
        first = FunctionPath((), self._entry_values(), (), (), memory=self.held.at_entry(self.written))
        waiting: dict[str, list[FunctionPath]] = {self.graph.entry: [first]}
        for label in order:
            states = self.merged(label, waiting.pop(label, []))
            for index, state in enumerate(states):
                self.visits += 1
                if index >= MAX_PATHS or self.visits > MAX_VISITS:
                    self._give_up(state, self._too_many())
                    continue
                for target, after in self._onward(label, state):
                    waiting.setdefault(target, []).append(after)
        for state in (state for label in order for state in waiting.get(label, ())):
            self._give_up(state, self._irreducible())

    def _following(self) -> dict[str, list[str]]:
        """The flow between blocks, each outermost loop as one node named by its header."""
        home = {label: loop.header for loop in self.loops.values() for label in loop.blocks}
        result: dict[str, list[str]] = {}
        for label, block in self.graph.blocks.items():
            source = home.get(label, label)
            targets = result.setdefault(source, [])
            targets.extend(
                to for to in (home.get(to, to) for to in block.successors) if to != source or label not in home
            )
        return result

    def _entry_values(self) -> dict[t.Var, t.Term]:
        """A pointer parameter points to the start of what it points to; of no stream anything is read."""
        pointers = (p for p in self.graph.parameters if p.object is not None and p.var is not None and not p.shared)
        counters = (var for var in self.graph.variables if stream_of(var) is not None)
        return dict.fromkeys((*(p.var for p in pointers if p.var is not None), *counters), t.ZERO)

    def _irreducible(self) -> Refused:
        found = self.graph.irreducible
        return found[0] if found else Refused(Reason.IRREDUCIBLE, self.where, "jumps enter a cycle at several places")

    def _too_many(self) -> Refused:
        return Refused(Reason.BUDGET, self.where, "the function has too many different ways through it")

    def _give_up(self, state: FunctionPath, why: Refused) -> Sequence[FunctionPath]:
        """No way on from here, for this reason."""
        self.residual.append((state, why))
        return ()

    # -- one step -----------------------------------------------------------------------------------------------------

    def _onward(self, label: str, state: FunctionPath) -> list[tuple[str, FunctionPath]]:
        """Through a block or a loop, and to where that leads; all of it or, where that is not possible, nothing."""
        marks = [(ends, len(ends)) for ends in (self.finished, self.residual, self.diverging)]
        try:
            if label in self.loops:
                return list(self._through_loop(self.loops[label], state))
            return list(self._through_block(self.graph.blocks[label], state))
        except (TooManyPaths, Unreadable) as obstacle:
            for ends, before in marks:
                del ends[before:]
            self._give_up(state, obstacle.refused if isinstance(obstacle, Unreadable) else self._too_many())
            return []

    def _through_block(self, block: Block, state: FunctionPath) -> Iterator[tuple[str, FunctionPath]]:
        for after in self.through(block, state):
            if block.end is None:
                yield from ((edge.target, self.along(taken, edge)) for _, edge, taken in self.ways(block, after))
            elif block.end.kind == "unsupported" or block.end.refused is not None:
                missing = Refused(Reason.UNSUPPORTED_INSTRUCTION, self._place(block.end.loc), "it is not modelled")
                self._give_up(after, block.end.refused or missing)
            else:
                self.end(block, after)

    def _place(self, loc: Loc | None) -> str:
        return str(loc) if loc is not None else self.where

    def beyond(self) -> bool:
        return True  # a way that cannot be gone is a case that never applies

    def needed(self, label: str) -> frozenset[t.Var]:
        return self.live[label] | self.counters.keys()

    def same(self, state: FunctionPath) -> tuple[object, ...]:
        return (super().same(state), state.memory.key)

    def merged(self, label: str, states: list[FunctionPath]) -> list[FunctionPath]:
        """Of states that differ in what memory holds alone one is made, too, where that does not grow too large."""
        groups: dict[tuple[object, ...], list[FunctionPath]] = {}
        for state in super().merged(label, states):
            values = tuple(sorted(state.values.items(), key=lambda pair: pair[0].key))
            groups.setdefault((values, super().same(state), state.exact), []).append(state)
        return [state for group in groups.values() for state in self._met(group)]

    def _met(self, group: list[FunctionPath]) -> list[FunctionPath]:
        if len(group) == 1 or not group[0].exact:
            return group
        memory = met([state.memory for state in group], [state.condition for state in group])
        return group if memory is None else [self.union([replace(state, memory=memory) for state in group])]

    def union(self, group: list[FunctionPath]) -> FunctionPath:
        first = super().union(group)
        if len(group) == 1:
            return first
        passed = tuple(sorted({step for state in group for step in state.passed}, key=lambda p: (p.loop, p.case)))
        assumptions = tuple(dict.fromkeys(a for state in group for a in state.assumptions))
        uncounted = frozenset[str]().union(*(state.uncounted for state in group))
        return replace(first, passed=passed, assumptions=assumptions, uncounted=uncounted)

    # -- loops --------------------------------------------------------------------------------------------------------

    def _through_loop(self, loop: LoopInfo, state: FunctionPath) -> Iterator[tuple[str, FunctionPath]]:
        self.arrived.setdefault(loop.name, []).append(state)
        summary = self._usable(loop, state)
        if isinstance(summary, Refused):
            self._give_up(state, summary)
            return
        state = replace(state, assumptions=_joined(state.assumptions, summary.assumptions))
        self._set_aside(summary, state)
        for number, case in enumerate(summary.cases, start=1):
            taken = self._under_seen(state, case.when)
            if taken is None:
                continue
            uncounted = self._uncounted(summary, case)
            if uncounted is not None:
                detail = f"more of {uncounted} is read behind {loop.name}, which does not tell how much it reads"
                self._give_up(taken, Refused(Reason.INPUT_DEPENDENT, self._place(loop.loc), detail))
                continue
            counts = {loop.name: case.iterations, **case.totals}
            nodes = (*case.then.values(), *counts.values(), *(() if case.result is None else (case.result,)))
            seen = {node: self._seen(taken, node) for node in nodes}
            if None in seen.values():
                self._give_up(taken, self._unseen(loop))
                continue
            after = replace(
                taken,
                values={**taken.values, **{var: _term(seen[term]) for var, term in case.then.items()}},
                passed=(*taken.passed, PassedLoop(loop.name, number)),
                assumptions=_joined(taken.assumptions, case.assumptions),
                exact=taken.exact and case.exact,
                memory=self._behind_loop(loop, case, taken),
            )
            lost = after.memory.written is None and not after.memory.nodes
            if self.memory and lost and case.contents != {} and self._writes(loop):
                detail = f"what the loop {loop.name} writes to memory is not told"
                self._give_up(taken, Refused(Reason.MEMORY, self._place(loop.loc), detail))
                continue
            after = self._counted(after, {name: _term(seen[count]) for name, count in counts.items()})
            missing = {other.name for other in self.graph.loops if other.header in loop.blocks} - counts.keys()
            after = replace(after, uncounted=after.uncounted | missing)
            if case.exit.edge is None:
                result = _term(seen[case.result]) if case.result is not None else None
                self.finished.append(Finished(after, case.exit, result))
                continue
            edge = self.graph.blocks[case.exit.block].edges[case.exit.edge]
            yield edge.target, self.along(after, edge)

    def _behind_loop(self, loop: LoopInfo, case: Case, state: FunctionPath) -> Memory:
        """What memory holds behind a loop that is entered in ``state`` and does what ``case`` says."""
        written = changed_in(self.graph, loop.blocks)
        if case.contents is None:
            return self.held.lost(state.memory, written)
        if not written.some and not case.contents:
            return state.memory
        if state.memory.nodes or any(array in self.lists for array in case.contents):
            return self._behind_nodes(case.contents, state, written)
        numbers = {array: self._number(state, array) for array in case.contents}
        if state.memory.written is None or None in numbers.values():
            return Memory({}, None)
        contents = state.memory.contents
        for array, layers in case.contents.items():
            for layer in reversed(layers):
                contents = put(contents, array, self._seen_layer(state, layer))
        changed = frozenset(number for number in numbers.values() if number is not None)
        return Memory(contents, state.memory.written | changed)

    def _writes(self, loop: LoopInfo) -> bool:
        """Whether the loop itself writes where pointers lead that lie in memory."""
        written = (s for label in loop.blocks for s in self.graph.blocks[label].statements)
        return any(changed_by(self.graph, s).anything for s in written if isinstance(s, Store | Fill | Copy))

    def _behind_nodes(self, contents: t.Contents, state: FunctionPath, written: Written) -> Memory:
        """What memory holds behind a loop that writes no more than ``contents`` tell, where it or a loop before wrote
        nodes of lists, which may be any objects, or objects that it made.
        """
        nodes, objects = state.memory.nodes, state.memory.contents
        numbers = frozenset(written)
        for array, layers in contents.items():
            number = self._number(state, array)
            if array not in self.lists and number is None:
                return Memory({}, None)
            for layer in reversed(layers):
                seen = self._seen_layer(state, layer)
                if array in self.lists:
                    nodes = put(nodes, array, seen)
                else:
                    objects = put(objects, array, seen)
        if state.memory.written is None or not all(t.in_made(array) or array.endswith(t.FREED) for array in nodes):
            return Memory({}, None, nodes if all(array in self.lists for array in contents) else {})
        return Memory(objects, state.memory.written | numbers, nodes)

    def _seen_layer(self, state: FunctionPath, layer: Layer) -> Layer:
        """A layer behind a loop that is entered in ``state``, without the pointers that it holds."""
        start, where = self._seen(state, layer.start), self._seen(state, layer.where)
        if start is None or where is None:
            return unknown()
        assert isinstance(where, t.Condition)
        where = self.deciding(state)(where)
        value = None if layer.value is None or where is t.FALSE else self._seen(state, layer.value, where)
        told = None if value is None else _term(value)
        return replace(layer, start=_term(start), where=where, value=told, pointer=None)

    def _uncounted(self, summary: LoopSummary, case: Case) -> str | None:
        """A stream of which the loop may read, not telling how much, where more of it may be read behind."""
        if case.exit.edge is None:
            return None
        known = summary.known(case)
        behind = self.live[self.graph.blocks[case.exit.block].edges[case.exit.edge].target]
        changed = changed_variables(self.graph, summary.loop)
        lost = (var for var in sorted(changed & behind) if var not in known)
        return next((stream for var in lost if (stream := stream_of(var)) is not None), None)

    def _set_aside(self, summary: LoopSummary, state: FunctionPath) -> None:
        """The parts of ``state`` that the loop has no exit for."""
        for undefined in summary.undefined:
            left = self._under_seen(state, undefined.when)
            if left is not None:
                exit = Exit("undefined", undefined.line, summary.loop.header, detail=undefined.kind)
                self.finished.append(Finished(left, exit))
        forever = self._under_seen(state, summary.diverges)
        if forever is not None:
            self.diverging.append((forever, summary.loop.name))
        for residual in summary.residual:
            open = self._under_seen(state, residual.when)
            if open is not None:
                self._give_up(open, residual.why)

    def _usable(self, loop: LoopInfo, state: FunctionPath) -> LoopSummary | Refused:
        """The loop's summary where it says all that the loop does."""
        outcome = self.outcomes.get(loop.name)
        if outcome is None:
            return Refused(Reason.NO_CLOSED_FORM, self._place(loop.loc), f"the loop {loop.name} was not summarized")
        if isinstance(outcome, Refused):
            return outcome
        reads = [unknown for path in outcome.paths.all for unknown in path.unknowns if unknown.held is None]
        if reads and not outcome.lists:
            detail = reads[0].words
            return reads[0].refused or Refused(Reason.INPUT_DEPENDENT, self._place(reads[0].loc), detail)
        tells_nodes = outcome.lists and all(case.contents is not None for case in outcome.cases)
        for label in self.graph.blocks:
            for statement in self.graph.blocks[label].statements if label in loop.blocks else ():
                refused = None if tells_nodes and isinstance(statement, Store) else self._beyond(statement)
                if refused is not None:
                    return refused
        spoken = frozenset[t.Var]().union(*(node.variables for node in nodes_of(outcome))) - {INDEX}
        if not spoken <= self.graph.variables.keys():
            detail = f"the summary of {loop.name} speaks of elements that are not known where it is entered"
            return Refused(Reason.MEMORY, self._place(loop.loc), detail)
        lists = self._lists_at(state, outcome)
        if lists is None:
            detail = f"the loop {loop.name} walks a list from a pointer that is no argument"
            if state.memory.written != frozenset() and not state.memory.nodes:
                detail = f"the loop {loop.name} walks a list, which the function may have changed before"
            return Refused(Reason.MEMORY, self._place(loop.loc), detail)
        outcome = with_arrays(outcome, {**self.arrays_at(state, nodes_of(outcome)), **lists})
        regions = (*(u.when for u in outcome.undefined), *(r.when for r in outcome.residual))
        whens = (outcome.diverges, *(case.when for case in outcome.cases), *regions)
        if any(self._seen(state, when) is None for when in whens):
            return self._unseen(loop)
        return outcome

    def _lists_at(self, state: FunctionPath, summary: LoopSummary) -> dict[str, str] | None:
        """What the nodes of lists are called that a loop walks which is entered in ``state``: by the arguments that
        lead to them. None where some are reached from other pointers, or memory was written before, but for members of
        the nodes of the same list, which reads find again.
        """
        found: dict[str, str] = {}
        known = state.memory.nodes
        for name, value in summary.lists.items():
            if value.walk.made:
                if self.makers.setdefault(value.walk.called, summary.loop.name) != summary.loop.name:
                    return None  # the same place in another copy of a function
                found[name] = name
                self.lists[name] = value.walk.link[0], value.way, value.part
                continue
            if state.memory.written != frozenset() and not known:
                return None
            owner = not_null(self.inside(state, value.walk.owner))
            held = self.graph.objects.get(owner.value) if isinstance(owner, t.Const) else None
            if held is None or held.kind != "parameter" or held.size is not None:
                return None
            if self.inside(state, value.walk.offset) is not t.ZERO:
                return None
            named = t.in_list(name)
            assert named is not None
            found[name] = t.list_called(held.name, value.walk.name) + named[1]
            place = value.walk.link[0], value.way, value.part
            if self.lists.setdefault(found[name], place) != place:
                return None  # another loop calls something else so
            if known and not self._is_beside(found[name], summary, name, known):
                return None
        return found

    def _is_beside(self, array: str, summary: LoopSummary, name: str, written: t.Contents) -> bool:
        """Whether what reads call ``array``, and a summary calls ``name``, is a member that loops before wrote, or
        shares no byte with one.
        """
        link, way, part = self.lists[array]
        head = t.in_list(array)
        read = {link: POINTER_BYTES, **dict.fromkeys(way[:-1], POINTER_BYTES)}
        if way:
            read[way[-1]] = POINTER_BYTES if part else _most_bytes(summary, name)
        for other, layers in written.items():
            same = t.in_list(other)
            if other.endswith(t.FREED):
                return False  # what it held is gone
            if t.in_made(other):
                continue
            if head is None or same is None or head[0] != same[0] or len(way) > 1:
                return False
            (at,) = self.lists[other][1]
            size = max(layer.size for layer in layers)
            if other != array and any(at < start + of and start < at + size for start, of in read.items()):
                return False
        return True

    def _unseen(self, loop: LoopInfo) -> Refused:
        detail = f"the loop {loop.name} reads memory that the function writes"
        return Refused(Reason.MEMORY, self._place(loop.loc), detail)

    def _beyond(self, statement: Statement) -> Refused | None:
        """Why a statement of a loop does what the loop's summary does not say."""
        match statement:
            case Store() | Fill() | Copy():
                meant = statement.objects is not None and statement.objects <= set(self.held.pointees.values())
                is_anywhere = self.memory and changed_by(self.graph, statement).anything and not meant
                return self._untold(statement) if is_anywhere else None
            case Call() if statement.leaves:
                return self._leaving(statement)
            case Call() if statement.writes_memory and self.callees(statement.callee) is not None:
                detail = f"what the calls of {function_in_words(statement.callee)} in the loop do is not followed"
                return Refused(Reason.UNKNOWN_CALL, self._place(statement.loc), detail)
            case Call():
                return self._unfollowed(statement)
            case _:
                return None

    def _counted(self, state: FunctionPath, iterations: Mapping[str, t.Term]) -> FunctionPath:
        values = dict(state.values)
        for name, count in iterations.items():
            counter = _counter(name)
            self.counters[counter] = name
            values[counter] = values.get(counter, t.ZERO) + count
        return replace(state, values=values)

    # -- memory and inputs --------------------------------------------------------------------------------------------

    def havoc(self, state: FunctionPath, statement: Havoc) -> Sequence[FunctionPath]:
        target, origin = statement.target, statement.origin
        if origin is Origin.UNINITIALISED and self.begins[target] == 1 and target not in state.values:
            return (state,)  # the variable itself stands for what it holds at first
        if origin not in (Origin.UNINITIALISED, Origin.NONDET, Origin.CALL):
            detail = f"{statement.name}: {origin.value}"
            missing = Refused(Reason.UNSUPPORTED_INSTRUCTION, self._place(statement.loc), detail)
            return self._give_up(state, statement.refused or missing)
        return super().havoc(state, statement)

    def load(self, state: FunctionPath, statement: Load) -> Sequence[FunctionPath]:
        found = self.read(state, statement)
        if not isinstance(found, str):
            return (self.assigned(state, found, statement.loc),)
        detail = f"reads {found}, which the function may have written before"
        return self._give_up(state, Refused(Reason.MEMORY, self._place(statement.loc), detail))

    def loaded(self, state: FunctionPath, load: Load) -> t.Term | str:
        """What ``load`` reads by what memory holds in ``state``; the name of the object where that is not known."""
        owner = not_null(self.inside(state, load.address.object))
        places, type = self.held.owners(owner), read_type(load)
        if places is not None:
            self.behind |= {var for var in owner.variables if var in self.held.pointees}
            names = [self.held.name_of(number) for _, number in places]
            if load.target_object is not None:
                return names[0]
            twice = not type.signed and any((name, type.width) in self.both_ways for name in names)
            once = t.IntType(type.width) if twice else type
            value = self._held(state, places, self.inside(state, load.address.offset), once)
            return names[0] if value is None else t.wrap(value, type) if twice else value
        name = self.graph.pointee_name(owner) if isinstance(owner, t.Var) else None
        if name is None or load.target_object is not None or not state.memory.spares(self.graph, load.objects):
            return "memory"
        assert isinstance(owner, t.Var)
        self.behind.add(owner)
        return self._element(name, self.inside(state, load.address.offset), type)

    def _held(
        self,
        state: FunctionPath,
        places: Sequence[tuple[t.Condition, int]],
        offset: t.Term,
        type: t.IntType,
        given: t.Condition = t.TRUE,
    ) -> t.Term | None:
        """The element at this byte of one of the objects, where ``given`` holds; None where it is not known."""
        try:
            return self.held.held(state.memory, places, offset, type, self.deciding(state, given))
        except t.TermTooLarge as error:
            raise Unreadable(self._too_large(error)) from error

    def deciding(self, state: FunctionPath, given: t.Condition = t.TRUE) -> Deciding:
        """What decides conditions where those of ``state``, and ``given``, hold."""
        conditions = state.condition if given is t.TRUE else (*state.condition, *t.conjuncts(given))
        found = self._deciding.get(conditions)
        if found is None:
            found = self._deciding[conditions] = Deciding(conditions)
        return found

    def _seen(self, state: FunctionPath, node: t.Node, given: t.Condition = t.TRUE) -> t.Node | None:
        """``node``, which speaks of the values in ``state`` and of what memory holds there, over the entry's values,
        where ``given`` holds; None where it reads what is not known.
        """
        try:
            deciding = self.deciding(state, given)
            decided = deciding.without_decided(node, state.values)
            if not state.memory.contents:
                return self._read(state, decided, state.values, given)
            shorter, values = ended(decided, dict(self._ends(state, decided, given)))
            seen = self._read(state, shorter, {**state.values, **values}, given)
            return None if seen is None else simplified(seen, deciding)
        except t.TermTooLarge as error:
            raise Unreadable(self._too_large(error)) from error

    def _ends(self, state: FunctionPath, node: t.Node, given: t.Condition) -> Iterator[tuple[t.Aggregate, t.Term]]:
        """The searches in ``node`` that surely find an element, with the first place of which that is known."""
        deciding = self.deciding(state, given)
        for search in searches(node):
            length = self._read(state, search.outside[0], state.values, given)
            best: t.Term | None = None
            if not isinstance(length, t.Term):
                continue
            for place in borders(search, state.memory.contents, state.values):
                inside = place.lt(length) if best is None else place.le(best)
                if deciding(place.ge(0) & inside) is t.TRUE and self._finds(state, search, place, given):
                    best = t.ZERO if deciding(place.le(0)) is t.TRUE else place
            if best is not None:
                yield search, best

    def _finds(self, state: FunctionPath, search: t.Aggregate, place: t.Term, given: t.Condition) -> bool:
        """Whether the search finds an element at a place."""
        there = t.substituted(search.inside[0], {search.bound[0]: PLACE})
        found = self._read(state, there, {**state.values, PLACE: place}, given)
        return isinstance(found, t.Condition) and self.deciding(state, given)(found) is t.TRUE

    def _read(
        self, state: FunctionPath, node: t.Node, values: Mapping[t.Var, t.Term], given: t.Condition
    ) -> t.Node | None:
        """``node`` where its variables hold these ``values``, and memory what it holds in ``state``; None where that is
        not known.
        """
        is_known = True

        def of(array: str, offset: t.Term, type: t.IntType, given: t.Condition) -> t.Term:
            nonlocal is_known
            number = self._number(state, array)
            found: t.Term | None
            if array in self.lists and (state.memory.nodes or state.memory.written == frozenset()):
                found = self._of_node(state, array, offset, type, given)
            elif number is not None:
                found = self._held(state, ((t.TRUE, number),), offset, type, given)
            else:
                pointer = self.graph.pointer_called(array)
                kept = pointer is not None and state.values.get(pointer, pointer) is pointer
                found = t.read(array, offset, type) if kept and state.memory.written == frozenset() else None
                self.behind |= {pointer} if pointer is not None and found is not None else set()
            is_known = is_known and found is not None
            return t.read(array, offset, type) if found is None else found

        result = with_reads_where(node, of, values, given)
        return without_closed(result) if is_known else None

    def _number(self, state: FunctionPath, array: str) -> int | None:
        """The number of the object that reads call so; None where there is none, or the pointer of this name leads
        elsewhere in ``state``.
        """
        number = self.held.numbers.get(array)
        if number is None or number >= 0:
            return number
        pointer = self.graph.pointer_called(array)
        if pointer is None or state.values.get(pointer, pointer) is not pointer:
            return None
        self.behind.add(pointer)
        return number

    def _of_node(
        self, state: FunctionPath, array: str, number: t.Term, type: t.IntType, given: t.Condition
    ) -> t.Term | None:
        """What a node of a list holds; None where that is not known."""
        try:
            return element(state.memory.nodes, array, number, type, self.deciding(state, given))
        except Overlapping:
            return None
        except t.TermTooLarge as error:
            raise Unreadable(self._too_large(error)) from error

    def _under_seen(self, state: FunctionPath, condition: t.Condition) -> FunctionPath | None:
        """``state`` restricted to a condition that reads what is known there; None where that is impossible."""
        seen = self._seen(state, condition)
        assert isinstance(seen, t.Condition)
        return self.under(state, seen, None)

    def call(self, state: FunctionPath, statement: Call) -> Sequence[FunctionPath]:
        return list(self._through_call(statement, state))

    def allocate(self, state: FunctionPath, statement: Allocate) -> Sequence[FunctionPath]:
        if statement.own:
            return super().allocate(state, statement)
        detail = "memory that is allocated is not followed"
        return self._give_up(state, Refused(Reason.MEMORY, self._place(statement.loc), detail))

    def write(self, state: FunctionPath, statement: Store | Fill | Copy | Expire) -> Sequence[FunctionPath]:
        after = self._after(state, statement)
        if after.memory.written is None and self.memory and not isinstance(statement, Expire):
            return self._give_up(state, self._untold(statement))
        return (after,)

    def _after(self, state: FunctionPath, statement: Store | Fill | Copy | Expire | Call) -> FunctionPath:
        """The state where memory is as a statement leaves it."""
        try:
            inside = partial(self.inside, state)
            memory = self.held.after(state.memory, statement, inside, self.deciding(state))
        except t.TermTooLarge as error:
            raise Unreadable(self._too_large(error)) from error
        return replace(state, memory=memory)

    def fresh(self, state: FunctionPath, target: t.Var, origin: Origin, name: str, source: Source) -> FunctionPath:
        """``target`` takes a value from outside, named by its number among those of its kind on the way."""
        number = 1 + sum(unknown.origin is origin for unknown in state.unknowns)
        called = unknown_in_words(self.graph.variables, target, origin, name, line_of(source.loc))
        var = t.Var(with_number(called, number), target.type)
        return self.take(state, Unknown(var, origin, name, source.loc), target)

    def _untold(self, statement: Store | Fill | Copy) -> Refused:
        """That a write may be to any object, so that nothing is told of memory."""
        return Refused(Reason.MEMORY, self._place(statement.loc), "what is written to memory is not summarized")

    # -- calls --------------------------------------------------------------------------------------------------------

    def _through_call(self, call: Call, state: FunctionPath) -> Iterator[FunctionPath]:
        """The ways on after a call: by the cases of the summary where the function's body is known."""
        summary = self.callees(call.callee)
        if summary is None:
            refused = self._leaving(call) if call.leaves else self._unfollowed(call)
            if refused is not None:
                self._give_up(state, refused)
                return
            found = self.called(state, call)
            if found is not None:
                yield from found
                return
            state = self._after(self.havocked(state, call), call)
            yield replace(state, assumptions=_joined(state.assumptions, _calls_return(call)))
            return
        if isinstance(summary, Refused):
            why = Refused(summary.reason, self._place(call.loc), f"the call of {_called(call)}: {summary.detail}")
            self._give_up(state, why)
            return
        marks = [(ends, len(ends)) for ends in (self.finished, self.residual, self.diverging)]
        try:
            yield from list(self._by_summary(call, summary, state))
        except (NotFollowed, t.TermTooLarge) as obstacle:
            for ends, before in marks:
                del ends[before:]
            if isinstance(obstacle, t.TermTooLarge):
                self._give_up(state, self._too_large(obstacle))
            else:
                detail = f"{_called(call)} {obstacle}"
                self._give_up(state, Refused(Reason.UNKNOWN_CALL, self._place(call.loc), detail))

    def _by_summary(self, call: Call, summary: CallSummary, state: FunctionPath) -> Iterator[FunctionPath]:
        """The ways on after a call by the cases of its summary. Raises :class:`.NotFollowed`."""
        inside, deciding = partial(self.inside, state), partial(self.deciding, state)
        caller = Caller(self.graph, self.held, state.memory, state.values, inside, deciding)
        followed = FollowedCall(call, summary, caller)
        state = replace(state, assumptions=_joined(state.assumptions, followed.assumptions))
        for case in summary.cases:
            taken = self.under(state, self._said(followed, case.when), call.loc)
            if taken is not None:
                yield from self._called(call, case, followed, taken)
        for region in summary.diverges:
            taken = self.under(state, self._said(followed, region.when), call.loc)
            if taken is not None:
                self.diverging.append((taken, region.loop))
        for undefined in summary.undefined:
            exit = Exit("undefined", undefined.line, call.callee, detail=undefined.kind)
            self.leave(state, self._said(followed, undefined.when), exit)
        for residual in summary.residual:
            taken = self.under(state, self._said(followed, residual.when), call.loc)
            if taken is not None:
                self._give_up(taken, residual.why)

    def _said(self, followed: FollowedCall, condition: t.Condition) -> t.Condition:
        found = followed.seen(condition)
        if not isinstance(found, t.Condition):
            raise NotFollowed("reads what is not known where it is called")
        return found

    def _said_term(self, followed: FollowedCall, term: t.Term) -> t.Term:
        found = followed.seen(term)
        if not isinstance(found, t.Term):
            raise NotFollowed("returns what is not known where it is called")
        return found

    def _called(
        self, call: Call, case: FunctionCase, followed: FollowedCall, state: FunctionPath
    ) -> Iterator[FunctionPath]:
        iterations = {name: self._said_term(followed, count) for name, count in case.iterations.items()}
        state = self._counted(state, iterations)
        state = replace(
            state,
            passed=(*state.passed, *case.passed),
            assumptions=_joined(state.assumptions, followed.of_case(case)),
            uncounted=state.uncounted | case.uncounted,
            exact=state.exact and case.exact,
        )
        values: dict[t.Var, t.Term] = {}
        if case.contents is not None or case.then:
            memory, values = followed.after(case)
            state = replace(state, memory=memory)
        elif case.kind == "return":
            state = self._after(state, call)
        if case.kind != "return":
            state = self.assigned(state, values, call.loc) if values else state
            self.finished.append(Finished(state, Exit(case.kind, case.line, call.callee)))
            return
        if call.target is not None:
            assert case.result is not None
            values[call.target] = as_type(self._said_term(followed, case.result), call.target.type)
        yield self.assigned(state, values, call.loc) if values else state

    def _unfollowed(self, call: Call) -> Refused | None:
        """Why a call of a function without a body may do what no summary tells."""
        special = call.callee in UNNAMED or meaning_of(call.callee, defined=False) is not None
        if call.writes_memory and special:
            detail = f"what the call of {function_in_words(call.callee)} does is not known"
            return Refused(Reason.UNKNOWN_CALL, self._place(call.loc), detail)
        return None

    def _leaving(self, call: Call) -> Refused:
        detail = f"{called(call.callee)} need not return: {call.leaves}"
        return Refused(Reason.UNKNOWN_CALL, self._place(call.loc), detail)


def _most_bytes(summary: LoopSummary, name: str) -> int:
    """How many bytes a summary reads or writes at most of what it calls ``name``."""
    told = [case.contents for case in summary.cases if case.contents is not None]
    nodes = (*nodes_of(summary), *(node for contents in told for node in nodes_in(contents)))
    parts = (part for node in nodes for part in t.walk_inside(node))
    types = {part.type for part in parts if isinstance(part, t.Read) and part.array == name}
    types |= {layer.type for contents in told for layer in contents.get(name, ())}
    return max((bytes_of(type) or POINTER_BYTES for type in types), default=POINTER_BYTES)


def _counter(loop: str) -> t.Var:
    """Counts the iterations of a loop; no variable of a program has such a name."""
    return t.Var(f"#{loop}", t.INTEGERS)


def _calls_return(call: Call) -> tuple[str, ...]:
    own = "is told of the variables of this function only"
    if call.returns:
        return (f"what {called(call.callee)} change {own}",) if call.writes_memory else ()
    return (f"{called(call.callee)} return; what they change {own}" if call.writes_memory else calls_return(call),)


def _term(node: t.Node | None) -> t.Term:
    assert isinstance(node, t.Term)
    return node


def _called(call: Call) -> str:
    """The function that is called, in words."""
    return function_in_words(call.callee)


def _joined(known: tuple[str, ...], more: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*known, *more)))
