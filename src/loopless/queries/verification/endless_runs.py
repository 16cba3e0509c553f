"""Runs that never end, found by following some: one that comes to a state in which it was before goes on for ever.

They back what is said of a loop that never ends: that a run enters it in such a state.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from loopless.check.certificates.property import Property
from loopless.check.certificates.repeating import Follower
from loopless.check.interpreter.run import Argument, Interpreter, InterpreterRun, PointedContent
from loopless.errors import LooplessError
from loopless.flowgraph import Options
from loopless.flowgraph.model import Flowgraph, Parameter
from loopless.limits.queries import (
    ENDLESS_RUN_STEPS,
    ENDLESS_RUNS_STEPS,
    FOLLOWED_S,
    MAX_ENDLESS_RUNS,
    POINTED_ELEMENTS,
)
from loopless.queries.program import AnalyzedFunction, AnalyzedProgram
from loopless.queries.settings import Settings
from loopless.queries.verification.replays import Repeating, Replays, as_taken
from loopless.records import dataclass
from loopless.source.ir import Loc
from loopless.stepping import forbidden
from loopless.verification.proofs import short_inputs

BYTES: Final = (0, 1, 2, 3, 65, 255)
"""Values of elements, of which data that decides how loops go on is often made. A guess."""


@dataclass(frozen=True, slots=True)
class EndlessRun:
    """A run that never leaves the loop at ``place``; ``words``: with which inputs, or arguments; ``inputs``: of a run
    of ``main``, the last of them again and again.
    """

    place: Loc
    words: str
    inputs: tuple[int, ...] = ()


def of_program(
    program: AnalyzedProgram, settings: Settings, deadline: float, *, behind_counters: bool = False
) -> list[EndlessRun]:
    """Runs of ``main`` that never end, one for each loop that is found so; natively they were still going on.

    ``behind_counters``: those that go on where signed numbers wrap around, and meet no overflow until a state comes
    again: only what counts beside the loop overflows at last.
    """
    if forbidden() or not settings.run:
        return []
    plain, settings = settings, replace(settings, wrapv=True) if behind_counters else settings
    try:
        follower, strict = (
            Follower(program.source, "main", mathematical=one.mathematical, wrapv=one.wrapv)
            for one in (settings, plain)
        )
        found = _endless(
            (inputs, follower.run(inputs, FOLLOWED_S, ENDLESS_RUN_STEPS))
            for inputs in ((), *short_inputs(MAX_ENDLESS_RUNS))
        )
        if behind_counters:
            found = {
                place: inputs
                for place, inputs in found.items()
                if strict.run(inputs, FOLLOWED_S, ENDLESS_RUN_STEPS).status == "timeout"
            }
        return list(_replayed(program, settings, deadline, found))
    except LooplessError:
        return []  # main takes arguments


def _endless(runs: Iterable[tuple[tuple[int, ...], InterpreterRun]]) -> dict[Loc, tuple[int, ...]]:
    """The inputs of runs that come to a state again, by the places of the loops."""
    found: dict[Loc, tuple[int, ...]] = {}
    steps = 0
    for inputs, run in runs:
        if run.status == "diverges" and run.where is not None:
            found.setdefault(run.where, as_taken(inputs, run.nondet_used))
        steps += ENDLESS_RUN_STEPS if run.status == "timeout" else 1 + sum(run.iterations.values())
        if steps > ENDLESS_RUNS_STEPS or (not inputs and run.nondet_used == 0 and run.status != "unknown"):
            break  # other inputs would make no difference
    return found


def _replayed(
    program: AnalyzedProgram, settings: Settings, deadline: float, found: dict[Loc, tuple[int, ...]]
) -> Iterator[EndlessRun]:
    replays = Replays(program, Property.TERMINATION, settings, deadline)
    try:
        for place, inputs in found.items():
            if replays.repeated(Repeating(inputs, deeper=False)).confirmed:
                listed = ", ".join(map(str, inputs))
                words = f"with inputs {listed} (the last one again and again)" if inputs else "whatever it reads"
                yield EndlessRun(place, words, inputs)
    finally:
        replays.close()


def of_function(function: AnalyzedFunction) -> list[EndlessRun]:
    """Calls of a function that never end, one for each of its loops that is found so."""
    graph = function.graph()
    if forbidden() or not isinstance(graph, Flowgraph) or not function.is_as_written:
        return []
    settings = function.program.settings
    options = Options(settings.mathematical, settings.wrapv, settings.apart)
    interpreter = Interpreter(function.program.source.inlined, graph, options=options)
    found: dict[Loc, EndlessRun] = {}
    steps = 0
    for number in range(MAX_ENDLESS_RUNS):
        arguments = _drawn(graph.parameters, number)
        try:
            run = interpreter.run(arguments, [number % 5] * POINTED_ELEMENTS, max_steps=ENDLESS_RUN_STEPS)
        except LooplessError:
            return list(found.values())
        if run.status == "diverges" and run.where is not None and run.where not in found:
            found[run.where] = EndlessRun(run.where, _words(graph.parameters, arguments))
        steps += ENDLESS_RUN_STEPS if run.status == "timeout" else 1 + sum(run.iterations.values())
        if steps > ENDLESS_RUNS_STEPS or not graph.parameters:
            break
    return list(found.values())


def _drawn(parameters: Sequence[Parameter], number: int) -> list[Argument]:
    """Arguments of a call: small numbers, and contents of few values."""
    draw = random.Random(number)
    found: list[Argument] = []
    for parameter in parameters:
        if parameter.object is None:
            low = -3 if parameter.type is None or parameter.type.signed else 0
            found.append(draw.choice((draw.randint(low, 9), draw.randint(0, 40), draw.randint(0, 255))))
        elif parameter.shared:
            found.append(draw.randint(0, POINTED_ELEMENTS))
        else:
            found.append([draw.choice(BYTES) for _ in range(POINTED_ELEMENTS)])
    return found


def _words(parameters: Sequence[Parameter], arguments: Sequence[Argument]) -> str:
    shown = (f"{p.name}={_argument(a)}" for p, a in zip(parameters, arguments, strict=True))
    return f"called with {', '.join(shown)}" if parameters else "whenever it is called"


def _argument(argument: Argument) -> str:
    if isinstance(argument, int) or argument is None:
        return str(argument)
    values = [] if isinstance(argument, PointedContent) else argument
    return f"[{','.join(map(str, values))}]"
