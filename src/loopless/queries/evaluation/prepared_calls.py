"""What all calls of one function share: its interpreter, and the summaries by which it jumps over loops."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from loopless import clock
from loopless.check.interpreter.run import Argument, Interpreter
from loopless.flowgraph import Options
from loopless.flowgraph.model import Flowgraph, LoopInfo
from loopless.queries.evaluation.evaluate import Evaluation, Evaluator
from loopless.queries.program import AnalyzedFunction
from loopless.refusals import Reason, Refused

if TYPE_CHECKING:
    from loopless.summary import CallSummary, Outcome


class PreparedCalls:
    """What all calls share; the interpreter is compiled in the process that needs it."""

    def __init__(
        self, function: AnalyzedFunction, outcomes: Mapping[str, Outcome] | None, whole: CallSummary | None = None
    ) -> None:
        self.function = function
        self.outcomes = outcomes
        self.whole = whole

    @functools.cached_property
    def evaluator(self) -> Evaluator:
        """The interpreter that jumps over loops with a summary, and over the whole call where it has one."""
        program = self.function.program
        settings = program.settings
        graph = self.function.graph()
        assert isinstance(graph, Flowgraph)
        options = Options(settings.mathematical, settings.wrapv, settings.apart)
        interpreter = Interpreter(program.source.inlined, graph, options=options)

        def outcome(loop: LoopInfo) -> Outcome:
            missing = Refused(Reason.NO_CLOSED_FORM, loop.name, "the loop was not summarized")
            return (self.outcomes or {}).get(loop.name, missing)

        return Evaluator(graph, interpreter, outcome if self.outcomes is not None else None, self.whole)

    def evaluate(
        self, arguments: Sequence[Argument], nondet: Sequence[int], steps: int, seconds: float | None
    ) -> Evaluation:
        """One call, of which so many steps are interpreted at most, in so many seconds of work."""
        until = clock.now() + seconds if seconds is not None else None
        found = self.evaluator.run(arguments, nondet, max_steps=steps, deadline=until)
        granted = self.function.stubs if found.status != "unknown" else ()
        return replace(found, globals=dict(found.globals), iterations=dict(found.iterations), assumptions=granted)

    def __getstate__(self) -> dict[str, Any]:
        return {"function": self.function, "outcomes": self.outcomes, "whole": self.whole}
