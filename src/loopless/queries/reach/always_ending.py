"""That each call of a function ends: all loops that it can come to are bounded, and no function calls itself again.

The bounds are those of the program in which signed numbers never overflow: a loop that only an overflow ends is told as
one that does not end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from loopless import clock
from loopless import terms as t
from loopless.flowgraph.callees.call_graph import CallGraph, reached_instructions
from loopless.graphs import cycles
from loopless.queries.bounds.answering import answer_bounds
from loopless.queries.program import AnalyzedFunction, AnalyzedProgram
from loopless.queries.settings import Settings


def always_ends(program: AnalyzedProgram, entry: str, settings: Settings, seconds: float) -> tuple[str, ...] | str:
    """What is taken for granted where each call of ``entry`` ends; else why that is not known, in a sentence."""
    own = program if settings.mathematical or settings.wrapv else program.in_exact_arithmetic
    calls = CallGraph(own.source.inlined)
    names = calls.of((entry,)).names
    again = _calls_itself(calls, names)
    if again:
        return f"whether {again} ends is not known, since it can call itself again"
    outside = _outside(calls, names)
    if "a pointer" in outside:
        return "whether what is called through a pointer ends is not known"
    granted = dict.fromkeys(f"calls of {name} return" for name in outside)
    bounds = _bounds(own, names, settings, seconds)
    if isinstance(bounds, str):
        return bounds
    return (*granted, *(one for one in bounds if one not in granted))


def most_rounds(
    program: AnalyzedProgram, entry: str, settings: Settings, seconds: float
) -> tuple[int, tuple[str, ...]] | None:
    """The most rounds that any entry of a loop takes in a call of ``entry``, and what that takes for granted.

    None where it is not known.
    """
    calls = CallGraph(program.source.inlined)
    names = calls.of((entry,)).names
    if "a pointer" in _outside(calls, names):
        return None
    functions = _looping(program, names)
    if any(loop.id.refused is not None for function in functions for loop in function.loops):
        return None
    chosen = replace(settings, timeout_s=seconds)
    most = 0
    granted: dict[str, None] = {}
    for answer in answer_bounds(functions, "all", chosen, clock.now() + seconds):
        for loop in answer.loops:
            highs = [high for bound in loop.unconditional if (high := t.range_of(bound)[1]) is not None]
            if not highs:
                return None
            most = max(most, min(highs))
        granted |= dict.fromkeys(answer.granted)
    return most, tuple(granted)


def _bounds(
    program: AnalyzedProgram, names: Sequence[str], settings: Settings, seconds: float
) -> tuple[str, ...] | str:
    functions = _looping(program, names)
    unread = next((loop.id for f in functions for loop in f.loops if loop.id.refused is not None), None)
    if unread is not None:
        return f"no bound is known of {unread.name}: {unread.refused}"
    chosen = replace(program.settings, timeout_s=seconds, loop_timeout_s=settings.loop_timeout_s)
    granted: dict[str, None] = {}
    for answer in answer_bounds(functions, "all", chosen, clock.now() + seconds):
        for loop in answer.loops:
            if not loop.unconditional:
                return f"no bound is known of the loop {loop.name}"
        granted |= dict.fromkeys(answer.granted)
    return tuple(granted)


def _looping(program: AnalyzedProgram, names: Sequence[str]) -> list[AnalyzedFunction]:
    by_name = {function.code.name: function for function in program.functions}
    return [by_name[name] for name in names if name in by_name and by_name[name].loops]


def _calls_itself(calls: CallGraph, names: Sequence[str]) -> str:
    """A function that can come to itself again; empty where there is none."""
    functions = calls.module.functions
    onward = {name: [one for one in calls.calls(functions[name])[0] if one in names] for name in names}
    again = cycles(onward)
    return functions[again[0][0]].source_name if again else ""


def _outside(calls: CallGraph, names: Sequence[str]) -> list[str]:
    """What is called that is not known."""
    functions = calls.module.functions
    told = (
        calls.target(instruction)[1]
        for name in names
        for instruction in reached_instructions(functions[name])
        if instruction.op in ("call", "invoke", "callbr")
    )
    return list(dict.fromkeys(one for one in told if one))
