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
from loopless.flowgraph.model import Origin
from loopless.limits.verification import MAX_STREAMED_INPUTS
from loopless.logic.contents import Content, Fulfilled, Run
from loopless.records import dataclass
from loopless.transition.algebra import named_at
from loopless.transition.building import system_of
from loopless.transition.relation import VIOLATION, TransitionSystem
from loopless.transition.star import accelerated, leaps_of
from loopless.verification.exploration import Explored, explored

_READ: Final = counter_of(INPUTS)
"""How many inputs were read."""


def streamed(system: TransitionSystem, goals: Collection[str], seconds: float, left: float) -> Explored:
    """A path into one of ``goals`` by summaries over the stream of inputs, in so many seconds of processor time for the
    summaries and ``left`` of counted work for the paths. Nothing is told where no loop takes inputs.
    """
    graph = with_streams(system.graph)
    streams = {stream for var in graph.variables if (stream := stream_of(var)) is not None}
    if streams != {INPUTS}:
        return Explored()  # what several streams give comes in an order that is not known
    kept = frozenset((_READ,))
    over = system_of(graph, system.violates, system.calls, kept=kept)
    if not isinstance(over, TransitionSystem):
        return Explored()
    leaps, _ = leaps_of(over, seconds, kept)
    if not leaps:
        return Explored()
    return explored(accelerated(over, leaps, kept), goals, left, begin={_READ: t.ZERO}, proposals=True)


def drawn(found: Explored) -> tuple[Content, int]:
    """What the stream of inputs holds for the path that was found, and how many it takes."""
    assert found.path is not None
    if found.fulfilled is None:
        inputs = {at: value for (array, at, _), value in found.elements.items() if array == INPUTS}
        runs = tuple(Run(at, at + 1, (inputs[at],)) for at in sorted(inputs))
        content, values = Content(t.INTEGERS, 1, 1, runs), Fulfilled(found.values, {}, {})
    else:
        content, values = found.fulfilled.contents.get(INPUTS, Content(t.INTEGERS, 1, 1, ())), found.fulfilled
    read = values.value(found.path.values.get(_READ, _READ)) or 0
    return content, max(read, content.length)


@dataclass(frozen=True, slots=True)
class StreamedRun:
    """A run that probably comes to a violation: its ``inputs``, the last one again and again where it ``repeats``; what
    uninitialised variables hold; the most ``iterations`` of a loop.
    """

    inputs: tuple[int, ...]
    repeats: bool
    uninitialised: Mapping[str, int]
    iterations: int


def streamed_violation(system: TransitionSystem, seconds: float, deadline: float) -> StreamedRun | None:
    """A run into a violation by summaries over the stream of inputs, within so many seconds and until a deadline of
    counted work; None where none is found.
    """
    found = streamed(system, (VIOLATION,), seconds, min(seconds, deadline - clock.counted()))
    if found.path is None:
        return None
    content, length = drawn(found)
    if length <= MAX_STREAMED_INPUTS:
        return StreamedRun(tuple(content.elements(length)), False, _uninitialised(found), length)
    steady = content.until_steady(length)
    if steady >= MAX_STREAMED_INPUTS:
        return None
    return StreamedRun(tuple(content.elements(steady + 1)), True, _uninitialised(found), length)


def _uninitialised(found: Explored) -> dict[str, int]:
    """What uninitialised variables hold, by their names."""
    return {
        one.var.name: found.values.get(named_at(one.var, number), 0)
        for number, step in enumerate(found.path.taken if found.path is not None else ())
        for one in step.inputs
        if one.origin is Origin.UNINITIALISED
    }
