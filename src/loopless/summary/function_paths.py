"""All paths through a function, an outermost loop being one step: it goes on by each case of its summary.

States that meet with the same transformer become one. What is not followed to its end is kept with the reason, and with
all that the state has come to know: so the paths cover every entry state once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from loopless import terms as t
from loopless.flowgraph.callees.streams import stream_of
from loopless.flowgraph.liveness import live_at_entry
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
    Pointer,
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
from loopless.records import dataclass
from loopless.refusals import Reason, Refused
from loopless.source.ir import Loc
from loopless.source.vocabulary import meaning_of
from loopless.summary.function import CallSummary, FunctionCase, FunctionOutcome, PassedLoop
from loopless.summary.model import Case, LoopSummary, Outcome, nodes_of, with_arrays

Callees = Callable[[str], "FunctionOutcome | None"]
"""The summary of a function of the program, by its name; None where its body is not known."""


@dataclass(frozen=True, slots=True)
class FunctionPath(ExecutionState):
    """A path through the function: the loops passed, what is taken for granted, and the loops whose iterations are not
    known.
    """

    passed: tuple[PassedLoop, ...] = ()
    assumptions: tuple[str, ...] = ()
    uncounted: frozenset[str] = frozenset()


class FunctionPaths(Execution[FunctionPath]):
    """A whole function, executed on symbols.

    After :meth:`run`: ``finished`` has the paths that end, ``residual`` those that are not followed to their end, with
    the reason, ``diverging`` those that never leave a loop, with its name. Together they are all ways there are, and
    they exclude each other; those that are not ``exact`` go by a case of a loop or of a called function that is not.
    ``arrived`` has the paths to the header of each loop by its name. ``counters`` are the variables that hold the
    iterations of the loops. Without ``memory`` what the function writes to memory is not asked for: ways are followed
    past such writes, and no further than to a read of what may have been written.
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

    # -- the whole ----------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """All paths through the function."""
        following = self._following()
        order = reverse_postorder(following, self.graph.entry)
        waiting: dict[str, list[FunctionPath]] = {self.graph.entry: [FunctionPath((), self._entry_values(), (), ())]}
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
            taken = self.under(state, self.holding(state, case.when), None)
            if taken is None:
                continue
            said = (case.when, *case.then.values(), case.iterations, *case.totals.values())
            if not all(self.known_content(node, taken) for node in said):
                detail = f"the loop {loop.name} reads memory that the function writes"
                self._give_up(taken, Refused(Reason.MEMORY, self._place(loop.loc), detail))
                continue
            uncounted = self._uncounted(summary, case)
            if uncounted is not None:
                detail = f"more of {uncounted} is read behind {loop.name}, which does not tell how much it reads"
                self._give_up(taken, Refused(Reason.INPUT_DEPENDENT, self._place(loop.loc), detail))
                continue
            values = {**taken.values, **{var: self.inside(state, term) for var, term in case.then.items()}}
            after = replace(
                taken,
                values=values,
                passed=(*taken.passed, PassedLoop(loop.name, number)),
                assumptions=_joined(taken.assumptions, case.assumptions),
                exact=taken.exact and case.exact,
            )
            counts = {loop.name: case.iterations, **case.totals}
            after = self._counted(after, {name: self.inside(state, count) for name, count in counts.items()})
            missing = {other.name for other in self.graph.loops if other.header in loop.blocks} - counts.keys()
            after = replace(after, uncounted=after.uncounted | missing)
            if case.exit.edge is None:
                result = self.inside(state, case.result) if case.result is not None else None
                self.finished.append(Finished(after, case.exit, result))
                continue
            edge = self.graph.blocks[case.exit.block].edges[case.exit.edge]
            yield edge.target, self.along(after, edge)

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
            exit = Exit("undefined", undefined.line, summary.loop.header, detail=undefined.kind)
            self.leave(state, self.holding(state, undefined.when), exit)
        if summary.diverges is not t.FALSE:
            forever = self.under(state, self.holding(state, summary.diverges), None)
            if forever is not None:
                self.diverging.append((forever, summary.loop.name))
        for residual in summary.residual:
            unknown = self.under(state, self.holding(state, residual.when), None)
            if unknown is not None:
                self._give_up(unknown, residual.why)

    def _usable(self, loop: LoopInfo, state: FunctionPath) -> LoopSummary | Refused:
        """The loop's summary where it says all that the loop does."""
        outcome = self.outcomes.get(loop.name)
        if outcome is None:
            return Refused(Reason.NO_CLOSED_FORM, self._place(loop.loc), f"the loop {loop.name} was not summarized")
        if isinstance(outcome, Refused):
            return outcome
        reads = [unknown for path in outcome.paths.all for unknown in path.unknowns]
        if reads:
            detail = reads[0].words
            return reads[0].refused or Refused(Reason.INPUT_DEPENDENT, self._place(reads[0].loc), detail)
        for label in self.graph.blocks:
            for statement in self.graph.blocks[label].statements if label in loop.blocks else ():
                refused = self._beyond(statement)
                if refused is not None:
                    return refused
        outcome = with_arrays(outcome, self.arrays_at(state, nodes_of(outcome)))
        regions = [outcome.diverges, *(u.when for u in outcome.undefined), *(r.when for r in outcome.residual)]
        if not all(self.known_content(region, state) for region in regions):
            detail = f"the loop {loop.name} reads memory that the function writes"
            return Refused(Reason.MEMORY, self._place(loop.loc), detail)
        return outcome

    def _beyond(self, statement: Statement) -> Refused | None:
        """Why a statement of a loop does what the loop's summary does not say."""
        match statement:
            case Store() | Fill() | Copy():
                return self._visible(statement)
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

    def call(self, state: FunctionPath, statement: Call) -> Sequence[FunctionPath]:
        return list(self._through_call(statement, state))

    def allocate(self, state: FunctionPath, statement: Allocate) -> Sequence[FunctionPath]:
        detail = "memory that is allocated is not followed"
        return self._give_up(state, Refused(Reason.MEMORY, self._place(statement.loc), detail))

    def write(self, state: FunctionPath, statement: Store | Fill | Copy | Expire) -> Sequence[FunctionPath]:
        refused = None if isinstance(statement, Expire) else self._visible(statement)
        return (state,) if refused is None else self._give_up(state, refused)

    def fresh(self, state: FunctionPath, target: t.Var, origin: Origin, name: str, source: Source) -> FunctionPath:
        """``target`` takes a value from outside, named by its number among those of its kind on the way."""
        number = 1 + sum(unknown.origin is origin for unknown in state.unknowns)
        called = unknown_in_words(self.graph.variables, target, origin, name, line_of(source.loc))
        var = t.Var(with_number(called, number), target.type)
        return self.take(state, Unknown(var, origin, name, source.loc), target)

    def _visible(self, statement: Store | Fill | Copy) -> Refused | None:
        """Why a write is one that the summary, which is about variables, does not tell of.

        Writes to the function's own objects are seen by its reads only, and reads of what is written are not answered.
        """
        if not self.memory:
            return None
        owner = (statement.target if isinstance(statement, Copy) else statement.address).object
        known = self.graph.objects.get(owner.value) if isinstance(owner, t.Const) else None
        if known is not None and known.kind == "local":
            return None
        name = known.name if known is not None else "memory"
        return Refused(Reason.MEMORY, self._place(statement.loc), f"what is written to {name} is not summarized")

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
            state = self.havocked(state, call)
            yield replace(state, assumptions=_joined(state.assumptions, _calls_return(call)))
            return
        bindings = self._arguments(call, summary, state)
        if isinstance(bindings, Refused):
            self._give_up(state, bindings)
            return
        assert isinstance(summary, CallSummary)
        state = replace(state, assumptions=_joined(state.assumptions, summary.assumptions))
        for case in summary.cases:
            taken = self.under(state, self._of(case.when, bindings), call.loc)
            if taken is not None:
                yield from self._called(call, case, bindings, taken)
        for region in summary.diverges:
            taken = self.under(state, self._of(region.when, bindings), call.loc)
            if taken is not None:
                self.diverging.append((taken, region.loop))
        for undefined in summary.undefined:
            exit = Exit("undefined", undefined.line, call.callee, detail=undefined.kind)
            self.leave(state, self._of(undefined.when, bindings), exit)
        for residual in summary.residual:
            taken = self.under(state, self._of(residual.when, bindings), call.loc)
            if taken is not None:
                self._give_up(taken, residual.why)

    def _called(
        self, call: Call, case: FunctionCase, bindings: Mapping[t.Var, t.Term], state: FunctionPath
    ) -> Iterator[FunctionPath]:
        iterations = {name: self._of_term(count, bindings) for name, count in case.iterations.items()}
        state = self._counted(state, iterations)
        state = replace(
            state,
            passed=(*state.passed, *case.passed),
            assumptions=_joined(state.assumptions, case.assumptions),
            uncounted=state.uncounted | case.uncounted,
            exact=state.exact and case.exact,
        )
        if case.kind != "return":
            self.finished.append(Finished(state, Exit(case.kind, case.line, call.callee)))
        elif call.target is None:
            yield state
        else:
            assert case.result is not None
            result = _as(self._of_term(case.result, bindings), call.target.type)
            yield self.assigned(state, {call.target: result}, call.loc)

    def _arguments(self, call: Call, summary: FunctionOutcome, state: FunctionPath) -> Mapping[t.Var, t.Term] | Refused:
        """The parameters' values, where all that the function does is to compute an integer from integers."""
        place = self._place(call.loc)
        if isinstance(summary, Refused):
            return Refused(summary.reason, place, f"the call of {function_in_words(call.callee)}: {summary.detail}")
        detail = f"{function_in_words(call.callee)} reads or changes more than its arguments"
        impure = Refused(Reason.UNKNOWN_CALL, place, detail)
        if call.target_object is not None or len(call.arguments) != len(summary.parameters):
            return impure
        if any(input.kind != "parameter" for input in summary.inputs) or summary.reads_streams:
            return impure
        returns = [case for case in summary.cases if case.kind == "return"]
        if any(case.then or (call.target is not None and case.result is None) for case in returns):
            return impure
        bindings: dict[t.Var, t.Term] = {}
        for parameter, argument in zip(summary.parameters, call.arguments, strict=True):
            if isinstance(argument, Pointer) or parameter.var is None or parameter.object is not None:
                return impure
            value = self.inside(state, argument)
            if parameter.type is not None and parameter.type.width == 1:
                value = t.ite(t.not_zero(value), t.ONE, t.ZERO)
            bindings[parameter.var] = _as(value, parameter.var.type)
        return bindings

    def _of(self, condition: t.Condition, bindings: Mapping[t.Var, t.Term]) -> t.Condition:
        try:
            return t.substitute(condition, bindings)
        except t.TermTooLarge as error:
            raise Unreadable(self._too_large(error)) from error

    def _of_term(self, term: t.Term, bindings: Mapping[t.Var, t.Term]) -> t.Term:
        try:
            return t.substitute(term, bindings)
        except t.TermTooLarge as error:
            raise Unreadable(self._too_large(error)) from error

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


def _counter(loop: str) -> t.Var:
    """Counts the iterations of a loop; no variable of a program has such a name."""
    return t.Var(f"#{loop}", t.INTEGERS)


def _calls_return(call: Call) -> tuple[str, ...]:
    own = "is told of the variables of this function only"
    if call.returns:
        return (f"what {called(call.callee)} change {own}",) if call.writes_memory else ()
    return (f"{called(call.callee)} return; what they change {own}" if call.writes_memory else calls_return(call),)


def _as(value: t.Term, type: t.IntType) -> t.Term:
    """``value``, which the caller may have read with another sign, as ``type`` reads its bits."""
    return t.wrap(value, type) if type.width is not None else value


def _joined(known: tuple[str, ...], more: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*known, *more)))
