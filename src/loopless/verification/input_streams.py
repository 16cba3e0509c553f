"""Violations behind loops that take inputs in each iteration.

The inputs of the program are a stream there, and a loop is a function of what it gets: its summary speaks of the first
input at which it leaves, of how many are positive, of their sum. Paths of such steps lead to a violation for contents
of the stream that the logic proposes and a run of the compiled program tries.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from loopless import clock
from loopless import terms as t
from loopless.flowgraph.callees.streams import INPUTS, counter_of, stream_of, with_streams
from loopless.flowgraph.model import Flowgraph, Havoc, Origin
from loopless.limits.verification import MAX_STREAMED_INPUTS
from loopless.logic.contents import Content, Fulfilled, Run
from loopless.records import dataclass
from loopless.transition.algebra import named_at
from loopless.transition.building import system_of
from loopless.transition.relation import VIOLATION, TransitionSystem
from loopless.transition.star import accelerated, leaps_of
from loopless.verification.exploration import Explored, SystemPath, explored

_READ: Final = counter_of(INPUTS)
"""How many inputs were read."""


@dataclass(frozen=True, slots=True)
class StreamedPath:
    """A path, with what the stream of inputs holds for it: ``content``, of which it takes ``length`` inputs.
    ``uninitialised``: what variables hold that are not initialised, by their names. ``iterations``: the most of a loop
    that its summary tells.
    """

    found: Explored
    content: Content
    length: int
    uninitialised: Mapping[str, int]
    iterations: int


def streamed(system: TransitionSystem, goals: Collection[str], seconds: float, left: float) -> StreamedPath | None:
    """A path into one of ``goals`` by summaries over the stream of inputs, in so many seconds of processor time for the
    summaries and ``left`` of counted work for the paths. None where none is found, or no loop takes inputs.
    """
    graph = with_streams(system.graph)
    streams = {stream for var in graph.variables if (stream := stream_of(var)) is not None}
    if streams != {INPUTS}:
        return None  # what several streams give comes in an order that is not known
    kept = frozenset((_READ,))
    over = system_of(graph, system.violates, system.calls, kept=kept)
    if not isinstance(over, TransitionSystem):
        return None
    leaps, _ = leaps_of(over, seconds, kept)
    if not leaps:
        return None
    leaping = accelerated(over, leaps, kept)
    found = explored(leaping, goals, left, begin={_READ: t.ZERO}, proposals=True)
    return None if found.path is None else _told(graph, found.path, found)


def _told(graph: Flowgraph, path: SystemPath, found: Explored) -> StreamedPath:
    """What the path that was found takes."""
    fulfilled = found.fulfilled
    if fulfilled is None:
        inputs = {at: value for (array, at, _), value in found.elements.items() if array == INPUTS}
        runs = tuple(Run(at, at + 1, (inputs[at],)) for at in sorted(inputs))
        fulfilled = Fulfilled(found.values, {}, {INPUTS: Content(t.INTEGERS, 1, 1, runs)})
    content = fulfilled.contents.get(INPUTS, Content(t.INTEGERS, 1, 1, ()))
    read = fulfilled.value(path.values.get(_READ, _READ)) or 0
    length = max(read, content.length)
    return StreamedPath(found, content, length, _uninitialised(graph, path, found.values), fulfilled.iterations)


@dataclass(frozen=True, slots=True)
class StreamedRun:
    """A run that probably comes to a violation: its ``inputs``, the last one again and again where it ``repeats``."""

    inputs: tuple[int, ...]
    repeats: bool
    path: StreamedPath


def streamed_violation(system: TransitionSystem, seconds: float, deadline: float) -> StreamedRun | None:
    """A run into a violation by summaries over the stream of inputs, within so many seconds and until a deadline of
    counted work; None where none is found.
    """
    found = streamed(system, (VIOLATION,), seconds, min(seconds, deadline - clock.counted()))
    if found is None:
        return None
    if found.length <= MAX_STREAMED_INPUTS:
        return StreamedRun(tuple(found.content.elements(found.length)), False, found)
    steady = found.content.until_steady(found.length)
    if steady >= MAX_STREAMED_INPUTS:
        return None
    return StreamedRun(tuple(found.content.elements(steady + 1)), True, found)


def _uninitialised(graph: Flowgraph, path: SystemPath, values: Mapping[t.Var, int]) -> dict[str, int]:
    """What variables hold that are not initialised, by their names in the source."""
    chosen: dict[str, int] = {}
    for number, step in enumerate(path.taken):
        for one in step.inputs:
            if one.origin is Origin.UNINITIALISED:
                taken = graph.blocks[one.block].statements[one.index]
                assert isinstance(taken, Havoc)
                chosen[graph.variables[taken.target].shown] = values.get(named_at(one.var, number), 0)
    return chosen
