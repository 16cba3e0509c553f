"""Where a run that takes nothing from outside ends, by the exact summary of ``main``.

No verdict rests on this. It says beforehand that a violation lies behind more iterations than any native run makes, so
that nobody waits for a replay that cannot come.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from loopless import clock
from loopless import terms as t
from loopless.deadline import in_time
from loopless.errors import LimitError
from loopless.queries.functions import answer_functions
from loopless.queries.loops.answer import Question
from loopless.queries.program import AnalyzedProgram
from loopless.queries.settings import Settings
from loopless.summary import CallSummary, FunctionCase


@dataclass(frozen=True, slots=True)
class ErrorAhead:
    """The one run of a program comes to the error in this line, behind so many iterations by the loops' names."""

    line: int
    iterations: Mapping[str, int]

    @property
    def most(self) -> int:
        """The iterations of the loop that takes most of them."""
        return max(self.iterations.values(), default=0)


def error_ahead(program: AnalyzedProgram, settings: Settings, seconds: float) -> ErrorAhead | None:
    """The error that the one run of ``program`` comes to; None where that is not known exactly, or there is none."""
    (main,) = [function for function in program.functions if function.code.name == "main"]
    question = Question(classify=False)
    here = replace(settings, sandboxed=False)  # this is at work in a child process, which need not be able to fork
    try:
        with in_time(clock.now() + seconds):
            (found,) = answer_functions([main], question, here)
    except LimitError:
        return None
    summary = found.summary
    if not isinstance(summary, CallSummary) or not summary.complete or not summary.exact or summary.inputs:
        return None
    match summary.regions:
        case (FunctionCase(kind="error", when=when) as case,) if when == t.TRUE and not case.uncounted:
            try:
                return ErrorAhead(case.line, {loop: t.evaluate(count, {}) for loop, count in case.iterations.items()})
            except t.EvaluationError:
                return None
    return None
