"""Whether a run of a program never ends since it comes to a state in which it was before: by the interpreter."""

from __future__ import annotations

from collections.abc import Sequence

from loopless import clock
from loopless.check.certificates.judge import Judgement
from loopless.check.interpreter.run import Interpreter, InterpreterRun
from loopless.flowgraph import Options, build
from loopless.limits.check import MAX_REPEATING_STEPS
from loopless.source import SourceProgram


class Follower:
    """Runs of a program from ``entry``, with inputs of which the last one comes again and again."""

    def __init__(self, program: SourceProgram, entry: str, *, mathematical: bool = False, wrapv: bool = False) -> None:
        options = Options(mathematical, wrapv, apart=False)
        module = program.inlined
        graph = build(module.functions[entry], module, options)
        self._interpreter = Interpreter(module, graph, options=options)

    def run(self, inputs: Sequence[int], seconds: float, max_steps: int = MAX_REPEATING_STEPS) -> InterpreterRun:
        """A run: it ``diverges`` where a loop comes to a state in which it was before in the same activation (what is
        read later, memory, inputs to come), or a call begins in the state of one that has not returned.
        """
        deadline = clock.now() + seconds
        return self._interpreter.run([], inputs, repeats=bool(inputs), max_steps=max_steps, deadline=deadline)


def judged_run(
    program: SourceProgram, entry: str, inputs: Sequence[int], *, mathematical: bool, wrapv: bool, seconds: float
) -> Judgement:
    """Whether the run with these inputs repeats a state.

    Raises:
        UsageError: the program takes arguments that are not given.
    """
    started = clock.now()
    run = Follower(program, entry, mathematical=mathematical, wrapv=wrapv).run(inputs, seconds)
    why = run.reason or run.status
    failed = () if run.status == "diverges" else (f"the run does not come to a state again: {why}",)
    return Judgement(not failed, failed, (), 1, clock.now() - started)
