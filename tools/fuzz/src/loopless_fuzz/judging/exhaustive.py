"""Every run of a function whose arguments have few values: the whole truth about it, for comparison."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from loopless.check.interpreter.run import Interpreter, InterpreterRun, Lookup
from loopless.check.interpreter.services import LoopHook
from loopless.errors import UsageError
from loopless.flowgraph import Options
from loopless.flowgraph.model import Flowgraph
from loopless.source import ir

MAX_ENTRIES = 1 << 16
"""The largest number of entry states that is visited."""


def entry_ranges(flowgraph: Flowgraph) -> tuple[range, ...]:
    """The values of each parameter.

    Raises:
        UsageError: if a parameter is no machine integer, or all together have more than :data:`MAX_ENTRIES` values.
    """
    ranges: list[range] = []
    entries = 1
    for parameter in flowgraph.parameters:
        type = parameter.type
        if parameter.object is not None or type is None or type.min is None or type.max is None:
            raise UsageError(f"{flowgraph.source_name}: the parameter {parameter.name} has no finite range of values")
        ranges.append(range(type.min, type.max + 1))
        entries *= type.max + 1 - type.min  # len() of a range is limited to the machine's word
    if entries > MAX_ENTRIES:
        raise UsageError(f"{flowgraph.source_name} has {entries} entry states; at most {MAX_ENTRIES} are visited")
    return tuple(ranges)


def every_entry(
    flowgraph: Flowgraph,
    program: ir.Module | Lookup | None = None,
    *,
    options: Options | None = None,
    globals: Mapping[str, int] | None = None,
    max_steps: int = 1_000_000,
    on_loop: LoopHook | None = None,
) -> Iterator[tuple[tuple[int, ...], InterpreterRun]]:
    """The run from every entry state, in order of the arguments. See :meth:`Interpreter.run` for the rest.

    Each run ends by itself, by the repetition of its state, or after ``max_steps``.

    Raises:
        UsageError: as :func:`entry_ranges`.
    """
    ranges = entry_ranges(flowgraph)
    interpreter = Interpreter(program, flowgraph, options=options)
    for arguments in product(*ranges):
        yield arguments, interpreter.run(arguments, globals=globals, max_steps=max_steps, on_loop=on_loop)
