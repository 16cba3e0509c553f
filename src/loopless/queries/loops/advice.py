"""Commands that answer more about a loop than its summary does, each of which was tried before it is told.

An answer that is not complete may have a bound all the same, and a call with given arguments is answered by
interpretation. Whether that is so of this loop is found out by asking, under a limit of its own.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from loopless import clock
from loopless import terms as t
from loopless.check.interpreter.run import Argument
from loopless.errors import UsageError
from loopless.flowgraph.model import Flowgraph
from loopless.limits.queries import ADVICE_S, ADVISED_LOOPS
from loopless.queries.bounds.answering import answer_bounds
from loopless.queries.evaluation.calls import Calls
from loopless.queries.jobs.running import run_all
from loopless.queries.jobs.sandbox import Limits
from loopless.queries.loops.answer import Advice, LoopAnswer
from loopless.queries.program import AnalyzedLoop, AnalyzedProgram
from loopless.queries.settings import Settings
from loopless.records import dataclass
from loopless.refusals import Refused

_ARGUMENTS: Final = ((12, 18, 5, 7), (45, 7, 100, 3), (3, 2, 1, 1), (1000, 13, 97, 10))
"""With what calls are tried: small numbers that differ."""


class Adviser:
    """Tries what helps with one loop after the other, as long as there is time."""

    def __init__(self, settings: Settings, until: float | None) -> None:
        limit = ADVICE_S if settings.loop_timeout_s is None else min(ADVICE_S, settings.loop_timeout_s)
        self._limits = Limits(limit, settings.loop_memory_mb, until)
        self._settings, self._left_s = settings, ADVISED_LOOPS * limit
        self._bounded: dict[int, frozenset[str]] = {}

    def __call__(self, loop: AnalyzedLoop, answer: LoopAnswer) -> LoopAnswer:
        """The answer; where it is not complete, with commands that answer more."""
        if answer.answered or isinstance(loop.function.graph(), Refused) or not self._settings.sandboxed:
            return answer
        if self._left_s <= 0:
            return answer
        started = clock.now()
        found = replace(answer, advice=tuple(self._tried(loop, answer)))
        self._left_s -= clock.now() - started
        return found

    def _tried(self, loop: AnalyzedLoop, answer: LoopAnswer) -> Iterator[Advice]:
        """What was tried and helps."""
        program, index = loop.function.program, loop.function.program.functions.index(loop.function)
        alone = replace(self._settings, sandboxed=False, timeout_s=None)
        jobs: list[Callable[[], frozenset[str] | Advice | None]] = []
        # The bounds of one function are found together, and asked for once.
        if _count_is_open(answer) and index not in self._bounded:
            jobs.append(TryBound(program, index, alone).run)
        if len(program.files) == 1 and not loop.function.code.variadic:  # else no command does it
            jobs.append(TryCalls(program, index, loop.name, alone).run)
        found = run_all(jobs, self._limits, self._settings.processes)
        if _count_is_open(answer):
            self._bounded.setdefault(index, next((one for one in found if isinstance(one, frozenset)), frozenset()))
            if loop.name in self._bounded[index]:
                words = ["bound", *program.files, "--function", loop.function.name]
                yield Advice(_command(words, program.settings), "how often it runs at most")
        yield from (one for one in found if isinstance(one, Advice))


def _count_is_open(answer: LoopAnswer) -> bool:
    """Whether the answer does not say of every state how often the loop runs."""
    if answer.summary is None:
        return True
    found = answer.summary.approximation
    if found is None:
        return not answer.summary.complete
    return any(case.iterations.variables & frozenset(case.free) for case in found.cases)


@dataclass(frozen=True, slots=True)
class TryBound:
    """The job of trying ``bound`` with one function."""

    program: AnalyzedProgram
    index: int
    """Of the function among those of the program."""
    settings: Settings

    def run(self) -> frozenset[str]:
        """The names of the loops of the function that ``bound`` bounds."""
        (found,) = answer_bounds([self.program.functions[self.index]], "all", self.settings)
        names = set()
        for loop in found.counts:
            if any(claim.upper is not None and claim.gap is t.FALSE for claim in (loop.call, loop.entry)):
                names.add(loop.answer.loop.name)
        return frozenset(names)


@dataclass(frozen=True, slots=True)
class TryCalls:
    """The job of trying ``eval`` with one function, whose loop ``name`` is to run."""

    program: AnalyzedProgram
    index: int
    """Of the function among those of the program."""
    name: str
    settings: Settings

    def run(self) -> Advice | None:
        """The command that evaluates a call in which the loop runs, if there is one."""
        program, function = self.program, self.program.functions[self.index]
        graph = function.graph()
        if not isinstance(graph, Flowgraph):
            return None
        with Calls(function, self.settings, outcomes=dict) as calls:
            for arguments in _samples(graph):
                try:
                    found = calls.run(arguments)
                except UsageError:
                    continue
                if found.status == "ok" and found.iterations.get(self.name, 0) > 0:
                    words = ["eval", *program.files, function.name, *map(_word, arguments)]
                    return Advice(_command(words, program.settings), "what a call comes to")
        return None


def _samples(graph: Flowgraph) -> Iterator[tuple[Argument, ...]]:
    """Arguments to try: numbers, and a few of them for what a pointer points to."""
    for numbers in _ARGUMENTS:
        given: list[Argument] = []
        for parameter, number in zip(graph.parameters, islice(_repeated(numbers), len(graph.parameters)), strict=True):
            if parameter.object is None and parameter.null is None:
                given.append(number if parameter.type is None or parameter.type.holds(number) else 1)
            elif parameter.pointee is not None:
                given.append([number % 100 for number in numbers])
            else:
                return
        yield tuple(given)


def _repeated(numbers: tuple[int, ...]) -> Iterator[int]:
    while True:
        yield from numbers


def _word(argument: Argument) -> str:
    """An argument as the command line takes it."""
    return "null" if argument is None else str(argument).replace(" ", "")


def _command(words: Sequence[str], settings: Settings) -> str:
    """The command, which reads the program as it was read."""
    source = settings.source
    reading = [f"--stubs={file}" for file in source.stubs]
    if source.compile_database is not None:
        reading += ["-p", str(source.compile_database)]
    if source.language != "c":
        reading += ["-x", source.language]
    for option, value in (("--clang", source.clang), ("--data-model", source.data_model)):
        if value is not None:
            reading += [option, value]
    if settings.mathematical:
        reading += ["--integers", "mathematical"]
    if settings.wrapv:
        reading.append("--wrapv")
    flags = ["--", *source.flags] if source.flags else []
    return shlex.join(["loopless", *words, *reading, *flags])
