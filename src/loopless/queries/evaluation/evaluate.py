"""Evaluation: what a function returns for given inputs, its loops jumped over by their summaries where they can be.

The run itself is the judge's interpreter; at each entry of a loop whose summary says something about the present
values, exit values and counts are computed from the summary instead. What no summary covers is iterated, and the answer
says so. Where the summary of the whole function is there and covers the inputs, one of its cases is evaluated instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from typing import Any

from loopless import terms as t
from loopless.check.interpreter.run import Application, Argument, Interpreter, InterpreterRun, Jump, WholeObject
from loopless.check.interpreter.services import LoopState, Written
from loopless.flowgraph.callees.streams import stream_of
from loopless.flowgraph.model import Allocate, Call, Copy, Fill, Flowgraph, LoopInfo, Store
from loopless.queries.call_values.argument_types import PlainValue
from loopless.queries.evaluation.compiled_summary import CompiledSummary
from loopless.queries.evaluation.written_elements import written_elements
from loopless.queries.shown import Shown, presentation
from loopless.records import dataclass
from loopless.refusals import Refused
from loopless.summary import CallSummary, Case, LoopSummary, Outcome


@dataclass(frozen=True, slots=True, repr=False)
class Evaluation(Shown):
    """The result of one call of a function; ``print`` shows it as ``loopless eval`` does.

    ``status``: "ok", "diverges", "undefined", "aborted", "assumption-failed", "error-reached" or "unknown" (then
    ``reason``). ``outputs``: per pointer parameter what it points to afterwards. ``iterations``: taken back edges by
    loop, but for loops in which the run ended by a summary: that does not count them then, and for inner loops whose
    iterations the summary of the loop around them does not give. ``by``: "summary" where no
    loop was iterated, else "interpretation". ``jumped``: the loops that a summary passed over; ``iterated``: those that
    ran. ``whole``: whether the summary of the function gave it all. ``elements``: how many elements of memory summaries
    read to find what loops do. ``assumptions``: what it takes for granted. ``nondet_used``: how many of the inputs, of
    which there were ``nondet_given``, were read. ``place``: where the run ended, ``file:line``, or of several returns
    the one by which it did; empty where that is not known. ``pointers``: by the names of pointer parameters
    what they point to afterwards, as C has it (lists for arrays, mappings for structures); ``changed``: those of them
    that pointed to something else before; ``text``: those that point to characters.
    """

    status: str
    return_value: int | None
    outputs: tuple[tuple[int, ...], ...]
    globals: Mapping[str, int]
    iterations: Mapping[str, int]
    by: str
    reason: str = ""
    jumped: frozenset[str] = field(default_factory=frozenset)
    iterated: frozenset[str] = field(default_factory=frozenset)
    nondet_used: int = 0
    whole: bool = False
    assumptions: tuple[str, ...] = ()
    elements: int = 0
    nondet_given: int = 0
    place: str = ""
    pointers: Mapping[str, PlainValue] = field(default_factory=dict)
    changed: frozenset[str] = frozenset()
    text: frozenset[str] = frozenset()
    memory: tuple[WholeObject | None, ...] = ()
    """What pointer parameters point to afterwards, None for other parameters."""

    @property
    def value(self) -> int | None:
        """The integer that the call returns; None where it returns none, or does not return."""
        return self.return_value

    def to_dict(self) -> dict[str, Any]:
        """The fields of the JSON of ``loopless eval``."""
        fields: dict[str, Any] = presentation().fields(self)
        return fields


class Evaluator:
    """Evaluates calls of one function; ``summaries`` gives the outcome of summarizing a loop (None: do not ask),
    ``whole`` the summary of the function where there is one.
    """

    def __init__(
        self,
        graph: Flowgraph,
        interpreter: Interpreter,
        summaries: Callable[[LoopInfo], Outcome] | None,
        whole: CallSummary | None = None,
    ) -> None:
        self._graph = graph
        self._interpreter = interpreter
        self._summaries = summaries
        self._whole = CompiledSummary(whole, graph) if whole is not None and summaries is not None else None
        self._usable: dict[str, LoopSummary | None] = {}

    def run(
        self,
        arguments: Sequence[Argument],
        nondet: Sequence[int] = (),
        *,
        max_steps: int = 10_000_000,
        deadline: float | None = None,
    ) -> Evaluation:
        """One call. ``max_steps`` bounds the iterations that are interpreted, ``deadline`` is a monotonic time."""
        trip = _Trip(self)
        run = self._interpreter.run(
            arguments,
            nondet,
            max_steps=max_steps,
            deadline=deadline,
            on_loop=trip.enter if self._summaries is not None else None,
            on_call=trip.begin if self._whole is not None else None,
        )
        return replace(_answer(run, trip, self._graph), nondet_given=len(nondet))

    def application(self, values: Mapping[t.Var, int], nondet: Sequence[int]) -> Application | None:
        """What the summary of the whole function says about a call."""
        return self._whole.application(values, nondet) if self._whole is not None else None

    def inside(self, loop: LoopInfo) -> frozenset[str]:
        """The names of the loops inside ``loop``, and its own."""
        return frozenset(other.name for other in self._graph.loops if other.header in loop.blocks)

    def writes(self, loop: LoopInfo) -> bool:
        """Whether an iteration of ``loop`` may write memory."""
        return _writes(self._graph, loop)

    def summary(self, loop: LoopInfo) -> LoopSummary | None:
        """The summary by which ``loop`` can be jumped over, None where it must be iterated."""
        if loop.header not in self._usable:
            found = None
            if self._summaries is not None and not _changes_untold(self._graph, loop):
                outcome = self._summaries(loop)
                found = None if isinstance(outcome, Refused) else outcome
            self._usable[loop.header] = found
        return self._usable[loop.header]


class _Trip:
    """The jumps of one run."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self.jumped: set[str] = set()
        self.counted: dict[str, int] = {}
        self.ended_by_summary = False
        self.uncounted: set[str] = set()
        self.ended_in: LoopInfo | None = None
        self.whole = False
        self.elements = 0

    def begin(self, values: Mapping[t.Var, int], nondet: Sequence[int]) -> Application | None:
        """What the summary of the function says about the call."""
        found = self._evaluator.application(values, nondet)
        if found is not None:
            self.whole = True
            self.ended_by_summary = found.status == "diverges"
            self.jumped.update(found.iterations)
            self.counted.update(found.iterations)
        return found

    def enter(self, loop: LoopInfo, values: LoopState) -> Jump | None:
        summary = self._evaluator.summary(loop)
        if summary is None:
            return None
        try:
            jump = self._jump(summary, values)
        except t.EvaluationError:
            return None  # a value is missing or too large to be built: the loop is iterated
        if jump is not None:
            self.jumped.add(loop.name)
            for name, count in jump.iterations.items():
                self.counted[name] = self.counted.get(name, 0) + count
        return jump

    def _jump(self, summary: LoopSummary, values: LoopState) -> Jump | None:
        counters = (var for var in summary.paths.state if stream_of(var) is not None)
        given = {**values, **dict.fromkeys(counters, 0)}  # streams count from here
        here = t.Valuation(given, values.content)
        try:
            return self._found(summary, here, partial(self._written, summary, given, values))
        finally:
            self.elements += here.elements

    def _written(
        self, summary: LoopSummary, given: Mapping[t.Var, int], values: LoopState, case: Case
    ) -> Sequence[Written] | None:
        """What a case writes to memory; None where it does not tell."""
        if not self._evaluator.writes(summary.loop):
            return ()
        if case.contents is None:
            return None
        return written_elements(case.contents, given, values.content, values.extent)

    def _found(
        self, summary: LoopSummary, here: t.Valuation, written: Callable[[Case], Sequence[Written] | None]
    ) -> Jump | None:
        if not here.holds(summary.entered):
            return None  # the summary says nothing of these values
        for case in summary.cases:
            if here.holds(case.when):
                jump = _leave(summary, case, here, written)
                if jump is not None:
                    self.uncounted |= self._evaluator.inside(summary.loop) - jump.iterations.keys()
                return jump
        if here.holds(summary.diverges):
            self.ended_by_summary, self.ended_in = True, summary.loop
            return Jump(status="diverges", reason=f"the loop {summary.loop.name} never ends from these values")
        for undefined in summary.undefined:
            if here.holds(undefined.when):
                self.ended_by_summary, self.ended_in = True, summary.loop
                place = f"{summary.loop.file}:{undefined.line}" if undefined.line else summary.loop.file
                return Jump(status="undefined", reason=f"{undefined.kind.replace('-', ' ')} at {place}")
        return None


def _leave(
    summary: LoopSummary, case: Case, here: t.Valuation, written: Callable[[Case], Sequence[Written] | None]
) -> Jump | None:
    if case.exit.edge is None or not case.exact:
        return None
    elements = written(case)
    if elements is None:
        return None
    counts = {summary.loop.name: case.iterations, **case.totals}
    return Jump(
        {var: here.evaluate(term) for var, term in case.then.items()},
        (case.exit.block, case.exit.edge),
        {name: here.evaluate(count) for name, count in counts.items()},
        written=elements,
    )


def _changes_untold(graph: Flowgraph, loop: LoopInfo) -> bool:
    """Whether an iteration may do something that no summary says."""
    return any(
        isinstance(statement, Allocate) or (isinstance(statement, Call) and statement.writes_memory)
        for label in loop.blocks
        for statement in graph.blocks[label].statements
    )


def _writes(graph: Flowgraph, loop: LoopInfo) -> bool:
    """Whether an iteration may write memory."""
    return any(isinstance(s, Store | Fill | Copy) for label in loop.blocks for s in graph.blocks[label].statements)


def _answer(run: InterpreterRun, trip: _Trip, graph: Flowgraph) -> Evaluation:
    outcome = run.outcome
    iterated = frozenset(name for name, count in run.iterations.items() if count > trip.counted.get(name, 0))
    status, reason = outcome.status, run.reason or outcome.detail
    if status in ("timeout", "crashed"):
        status, reason = "unknown", reason or "the run did not end within its limits"
    found_by_running = status == "diverges" and not trip.ended_by_summary
    place = f"{run.where.file}:{run.where.line}" if run.where is not None and run.where.line else ""
    if place and status not in ("ok", "unknown") and place not in reason:
        reason = f"{reason} at {place}" if reason else f"at {place}"
    elif not place and status == "undefined" and " at " in reason:
        place = reason.rpartition(" at ")[2]
    # Cycles with several entries are no loops that are counted, but they are iterated all the same.
    cyclic = graph.irreducible and not trip.whole
    by = "interpretation" if iterated or found_by_running or cyclic else "summary"
    return Evaluation(
        status,
        outcome.return_value,
        outcome.outputs,
        outcome.globals,
        _counts(run, trip, graph),
        by,
        reason,
        frozenset(trip.jumped),
        iterated,
        run.nondet_used,
        trip.whole,
        elements=trip.elements,
        place=place,
        memory=tuple(run.memory),
    )


def _counts(run: InterpreterRun, trip: _Trip, graph: Flowgraph) -> dict[str, int]:
    """The iterations of each loop; of one that never ends, or ends undefined, a summary does not say how many, nor of
    one inside whose total has no closed form.
    """
    counts = {loop.name: 0 for loop in graph.loops} | dict(run.iterations)
    unknown = set(trip.uncounted)
    if trip.ended_in is not None:
        unknown |= {loop.name for loop in graph.loops if loop.header in trip.ended_in.blocks}
    elif trip.whole and run.outcome.status in ("diverges", "undefined"):
        unknown = set(counts)
    return {name: count for name, count in counts.items() if name not in unknown}
