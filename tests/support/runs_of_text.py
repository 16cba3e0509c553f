"""Functions given as text, C or LLVM assembly: their flowgraphs, and how runs of them come out."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from loopless.check.interpreter.run import Argument, Interpreter
from loopless.flowgraph import Options, build
from loopless.flowgraph.model import End, Flowgraph
from loopless.source import ir, load


@functools.cache
def module(text: str, *, inlined: bool = True) -> ir.Module:
    """The module of a C file or, where the text defines its functions by ``define``, of LLVM assembly."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / ("a.ll" if "\ndefine " in text else "a.c")
        file.write_text(text, encoding="utf-8")
        program = load([file])
    return program.inlined if inlined else program.module


@functools.cache
def flowgraph(text: str, function: str = "f", options: Options | None = None) -> Flowgraph:
    """The flowgraph of ``function``."""
    return build(module(text).functions[function], module(text), options)


@functools.cache
def _interpreter(text: str, function: str, options: Options | None) -> Interpreter:
    return Interpreter(module(text), flowgraph(text, function, options), options=options, checked=True)


def came_out(
    text: str, *arguments: Argument, function: str = "f", options: Options | None = None, **given: Any
) -> int | str | None:
    """What a run returns; else how it ended, and where that is "undefined" of which kind: "undefined: bounds"."""
    run = _interpreter(text, function, options).run(arguments, **given)
    if run.status == "ok":
        return run.outcome.return_value
    return f"{run.status}: {run.reason}" if run.reason else run.status


def statements(flowgraph: Flowgraph, kind: type) -> list[Any]:
    """All statements of a kind, in the order of the blocks."""
    return [s for b in flowgraph.blocks.values() for s in b.statements if isinstance(s, kind)]


def ends(flowgraph: Flowgraph) -> Iterator[End]:
    """The ends of runs."""
    return (block.end for block in flowgraph.blocks.values() if block.end is not None)
