"""Summaries of whole functions: their loops are summarized first, each under its own limits, then composed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from loopless import clock
from loopless import terms as t
from loopless.flowgraph.callees.streams import stream_of
from loopless.queries.call_values.layouts import layouts_in
from loopless.queries.jobs.overrun import Overrun, attempted
from loopless.queries.jobs.running import run_all, work
from loopless.queries.jobs.sandbox import Limits
from loopless.queries.loops.answer import LoopAnswer, Question
from loopless.queries.loops.answering import answer_all
from loopless.queries.loops.answers import answer_loop
from loopless.queries.loops.approximating import whatever_calls_do
from loopless.queries.program import AnalyzedFunction, AnalyzedProgram
from loopless.queries.settings import Settings
from loopless.queries.summarized import Summarized
from loopless.records import dataclass
from loopless.refusals import Refused
from loopless.summary import (
    CallSummary,
    Diverges,
    FunctionCase,
    FunctionOutcome,
    LoopSummary,
    Outcome,
    SummaryInput,
    summarize_function,
)


@dataclass(frozen=True, slots=True, repr=False)
class FunctionAnswer(Summarized):
    """The summary of one function, or why there is none; ``print`` shows it as ``summarize --whole`` does.

    Called with inputs it gives what the call comes to: ``answer(n=9)["return"]``.

    ``place`` is ``file:line:column``; ``loops`` are the answers about its loops; ``trouble``: a traceback where an
    error inside Loopless is the reason; ``time_ms``: how long composing took, the loops aside.
    """

    name: str
    place: str
    summary: CallSummary | None = None
    refused: Refused | None = None
    loops: tuple[LoopAnswer, ...] = ()
    time_ms: float = 0.0
    trouble: str = ""

    @property
    def status(self) -> str:
        """``exact``, ``over-approximate`` or ``refused``."""
        if self.summary is None:
            return "refused"
        return "exact" if self.summary.exact else "over-approximate"

    @property
    def inputs(self) -> tuple[SummaryInput, ...]:
        """The values that the summary speaks of: parameters, globals, what pointers point to, inputs that are read."""
        return self._summarized.inputs

    @property
    def cases(self) -> tuple[FunctionCase, ...]:
        """Each says for which inputs (``when``) the run ends how (``kind``), with which ``result`` and final values
        (``then``), after how many ``iterations`` of each loop. No entry state is in two of them.
        """
        return self._summarized.cases

    @property
    def diverges(self) -> tuple[Diverges, ...]:
        """The inputs for which the call never ends, each with the loop that it stays in."""
        return self._summarized.diverges

    @property
    def _summarized(self) -> CallSummary:
        found = self.told
        assert isinstance(found, CallSummary)
        return found


def answer_functions(
    functions: Sequence[AnalyzedFunction],
    question: Question,
    settings: Settings,
    until: float | None = None,
    *,
    memory: bool = True,
) -> list[FunctionAnswer]:
    """The summaries of ``functions``, in their order: loops and functions each under their limits.

    ``question`` is what else is asked about the loops; it must not narrow their summaries. ``memory``: whether what the
    functions write to memory matters.
    """
    loops = [loop for function in functions for loop in function.loops]
    answers = iter(answer_all(loops, question, settings, until))
    own = [tuple(next(answers) for _ in function.loops) for function in functions]
    return composed(functions, own, settings, until, memory=memory)


def composed(
    functions: Sequence[AnalyzedFunction],
    own: Sequence[tuple[LoopAnswer, ...]],
    settings: Settings,
    until: float | None = None,
    *,
    memory: bool = True,
) -> list[FunctionAnswer]:
    """The summaries of ``functions`` from the answers about their loops, ``own``."""
    jobs = [
        ComposeFunction(function.program, function.program.functions.index(function), outcomes_of(found), memory).run
        for function, found in zip(functions, own, strict=True)
    ]
    results = work(jobs, settings, until, fresh=True)
    return [
        replace(_answer(function, result), loops=found)
        for function, result, found in zip(functions, results, own, strict=True)
    ]


def outcomes_of(answers: Sequence[LoopAnswer]) -> dict[str, Outcome]:
    """The summaries and refusals by the names of the loops; what is said of runs whose calls return is over-approximate
    where one need not.
    """
    found = {answer.loop.name: _outcome_of(answer) for answer in answers}
    return {name: outcome for name, outcome in found.items() if outcome is not None}


def _outcome_of(answer: LoopAnswer) -> Outcome | None:
    found = answer.absolute or answer.summary or answer.refused
    if answer.past_calls is None or not isinstance(found, LoopSummary):
        return found
    return whatever_calls_do(found, answer.past_calls)


def _answer(function: AnalyzedFunction, result: FunctionAnswer | Overrun) -> FunctionAnswer:
    if isinstance(result, FunctionAnswer):
        if result.summary is None or not function.stubs:
            return result
        granted = (*result.summary.assumptions, *function.stubs)
        return replace(result, summary=replace(result.summary, assumptions=granted))
    refused = result.refused(function.place)
    return FunctionAnswer(
        function.name, function.place, refused=refused, time_ms=1000 * result.seconds, trouble=result.traceback
    )


@dataclass(frozen=True, slots=True)
class ComposeFunction:
    """The job of composing the summary of one function from ``outcomes``, those of its loops.

    ``index``: the number of the function, by which another process finds it. ``memory``: whether what it writes to
    memory matters.
    """

    program: AnalyzedProgram
    index: int
    outcomes: Mapping[str, Outcome]
    memory: bool = True

    def run(self) -> FunctionAnswer:
        """The summary, or why there is none."""
        started = clock.now()
        function = self.program.functions[self.index]
        with t.as_declared(layouts_in(function)):
            made = attempted(lambda: compose(function, self.outcomes, memory=self.memory))
        trouble = made.traceback if isinstance(made, Overrun) else ""
        outcome = made.refused(function.place) if isinstance(made, Overrun) else made
        spent = 1000 * (clock.now() - started)
        if isinstance(outcome, Refused):
            return FunctionAnswer(
                function.name, function.place, refused=outcome, time_ms=spent, trouble=trouble or function.trouble
            )
        return FunctionAnswer(function.name, function.place, outcome, time_ms=spent)


def compose(
    function: AnalyzedFunction,
    outcomes: Mapping[str, Outcome],
    known: dict[str, FunctionOutcome | None] | None = None,
    *,
    memory: bool = True,
) -> FunctionOutcome:
    """The summary of ``function`` from those of its loops; functions that it calls are summarized where that is needed.

    ``memory``: whether what it writes to memory matters. ``known`` has the functions that are summarized already, by
    their names in the module.
    """
    summaries = (outcome for outcome in outcomes.values() if isinstance(outcome, LoopSummary))
    streams = any(stream_of(var) is not None for summary in summaries for var in summary.paths.state)
    graph = function.over_streams if streams else function.graph()
    if isinstance(graph, Refused):
        return graph
    found = known if known is not None else {}
    found[function.code.name] = function.recursion

    def callee(name: str) -> FunctionOutcome | None:
        if name not in found:
            called = next((other for other in function.program.functions if other.code.name == name), None)
            found[name] = None if called is None else summarize_whole(called, found)
        return found[name]

    found_whole = summarize_function(graph, outcomes, callee, memory=memory)
    return found_whole if isinstance(found_whole, Refused) else replace(found_whole, layouts=layouts_in(function))


def summarize_whole(
    function: AnalyzedFunction, known: dict[str, FunctionOutcome | None] | None = None
) -> FunctionOutcome:
    """The summary of ``function``, worked out in this process."""
    question = Question(classify=False)
    graph = function.graph()
    outer = [] if isinstance(graph, Refused) else [loop for loop in function.loops if loop.id.depth == 1]
    return compose(function, outcomes_of([answer_loop(function, loop.id, question) for loop in outer]), known)


def summary_for_calls(
    function: AnalyzedFunction, outcomes: Mapping[str, Outcome], settings: Settings, time_s: float
) -> CallSummary | None:
    """The summary of ``function`` for evaluating calls, within this time; None where there is none, for any reason."""
    job = ComposeFunction(function.program, function.program.functions.index(function), outcomes)
    (found,) = run_all([job.run], Limits(time_s, settings.loop_memory_mb))
    return found.summary if isinstance(found, FunctionAnswer) else None
