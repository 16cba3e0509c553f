"""Commands that answer more about a loop than its summary does, each of which was tried before it is told.

An answer that is not complete may have a bound all the same, and a call with given arguments is answered by
interpretation. Whether that is so of this loop is found out by asking, under a limit of its own.
"""

from __future__ import annotations

import functools
import shlex
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from loopless.check.interpreter.run import Argument
from loopless.errors import UsageError
from loopless.flowgraph.model import Flowgraph
from loopless.queries.answers import Advice, LoopAnswer
from loopless.queries.bounds import answer_bounds
from loopless.queries.calls import Calls
from loopless.queries.jobs import run_all
from loopless.queries.program import Loop, Program
from loopless.queries.sandbox import Limits, Overrun
from loopless.queries.settings import Settings
from loopless.refusals import Refused
from loopless.terms import FALSE

_EACH_S: Final = 2.0
"""The time for trying what helps with one loop. A guess."""
ALL_S: Final = 10.0
"""The time for trying that with all loops of a request. A guess."""
_ARGUMENTS: Final = ((12, 18, 5, 7), (45, 7, 100, 3), (3, 2, 1, 1), (1000, 13, 97, 10))
"""With what calls are tried: small numbers that differ."""


def advised(loop: Loop, answer: LoopAnswer, settings: Settings, until: float | None = None) -> LoopAnswer:
    """The answer; where it is not complete, with commands that answer more."""
    if answer.answered or isinstance(loop.function.graph(), Refused) or not settings.sandboxed:
        return answer
    program, index = loop.function.program, loop.function.program.functions.index(loop.function)
    alone = replace(settings, sandboxed=False, timeout_s=None)
    jobs = []
    if _count_is_open(answer):
        jobs.append(functools.partial(_bound, program, index, loop.name, alone))
    jobs.append(functools.partial(_evaluation, program, index, loop.name, alone))
    limit = _EACH_S if settings.loop_timeout_s is None else min(_EACH_S, settings.loop_timeout_s)
    found = run_all(jobs, Limits(limit, settings.loop_memory_mb, until), settings.processes)
    tried = tuple(advice for advice in found if advice is not None and not isinstance(advice, Overrun))
    return replace(answer, advice=tried)


class Adviser:
    """Tries what helps with one loop after the other, as long as there is time."""

    def __init__(self, settings: Settings, until: float | None) -> None:
        self._settings, self._until, self._left_s = settings, until, ALL_S

    def __call__(self, loop: Loop, answer: LoopAnswer) -> LoopAnswer:
        """As :func:`advised`."""
        if self._left_s <= 0:
            return answer
        started = time.monotonic()
        found = advised(loop, answer, self._settings, self._until)
        self._left_s -= time.monotonic() - started
        return found


def _count_is_open(answer: LoopAnswer) -> bool:
    """Whether the answer does not say of every state how often the loop runs."""
    if answer.summary is None:
        return True
    found = answer.summary.approximation
    if found is None:
        return not answer.summary.complete
    return any(case.iterations.variables & frozenset(case.free) for case in found.cases)


def _bound(program: Program, index: int, name: str, settings: Settings) -> Advice | None:
    """The command that bounds the loop, if it does."""
    function = program.functions[index]
    (found,) = answer_bounds([function], "all", settings)
    bound = next((one for one in found.loops if one.answer.loop.name == name), None)
    claims = () if bound is None else (bound.call, bound.entry)
    if not any(claim.upper is not None and claim.gap is FALSE for claim in claims):
        return None
    words = ["bound", *program.files, "--function", function.name]
    return Advice(_command(words, program.settings), "how often it runs at most")


def _evaluation(program: Program, index: int, name: str, settings: Settings) -> Advice | None:
    """The command that evaluates a call in which the loop runs, if there is one."""
    function = program.functions[index]
    graph = function.graph()
    if not isinstance(graph, Flowgraph) or function.code.variadic or len(program.files) > 1:
        return None  # the command takes one file
    with Calls(function, settings, outcomes=dict) as calls:
        for arguments in _samples(graph):
            try:
                found = calls.run(arguments)
            except UsageError:
                continue
            if found.status == "ok" and found.iterations.get(name, 0) > 0:
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
