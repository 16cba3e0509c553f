"""What ``--assume`` says, over the variables of one loop."""

from __future__ import annotations

from loopless import terms as t
from loopless.errors import UsageError
from loopless.flowgraph.model import Flowgraph, LoopInfo
from loopless.paths.build import changed_variables
from loopless.queries.assume.c_arithmetic import IntegerKind, Reading
from loopless.queries.assume.conditions import Named, parse_condition
from loopless.queries.program import AnalyzedFunction
from loopless.queries.selection import variables_named


def assumption_of(function: AnalyzedFunction, graph: Flowgraph, loop: LoopInfo, text: str | None) -> t.Condition | None:
    """The assumption over this function's variables; None where there is none, or it speaks of other functions."""
    if text is None:
        return None
    unknown: list[str] = []
    inside = changed_variables(graph, loop)

    source, settings = function.program.source, function.program.settings
    long_bits = 64 if source.data_model == "LP64" else 32
    int_bits = min(32, source.pointer_bits)
    reading = Reading(int_bits, long_bits, source.pointer_bits, settings.mathematical, settings.wrapv)

    def lookup(name: str) -> Named:
        named = variables_named(graph, name, inside)
        if not named:
            unknown.append(name)
            return t.Var(name, t.IntType(32)), reading.plain
        if len(named) > 1:
            choices = ", ".join(var.name for var in named)
            raise UsageError(f"{name} in --assume may be any of {choices} in {graph.source_name}; name one")
        return named[0], _type_of(graph, named[0], reading)

    condition = parse_condition(text, lookup, reading)
    return None if unknown else condition


def _type_of(graph: Flowgraph, var: t.Var, reading: Reading) -> IntegerKind:
    """The type that C has for a variable; for a pointer that of its offset, which is an exact number."""
    info = graph.variables[var]
    if info.pointer_part:
        return IntegerKind(reading.pointer_bits, signed=True, exact=True)
    if var.type.width is not None:
        return reading.sized(var.type.width, signed=var.type.signed)
    declared = next((p.type.width for p in graph.parameters if p.var is var and p.type is not None), None)
    return reading.sized(8 * info.size or declared or reading.int_bits, signed=True)
