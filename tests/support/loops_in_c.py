"""Loops of C source for tests: compiled once per source, handed out as flowgraphs, paths and summaries."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path

from loopless.flowgraph import build
from loopless.flowgraph.model import Flowgraph
from loopless.paths import LoopPaths, NoPaths
from loopless.refusals import Refused
from loopless.source import load
from loopless.summary import LoopSummary, paths_of, summarize
from loopless.terms import Var


@functools.cache
def graph(source: str, function: str = "f") -> Flowgraph:
    """The flowgraph of ``function``."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "a.c"
        file.write_text(source)
        program = load([file])
    return build(program.inlined.functions[function], program.inlined)


def paths(source: str, loop: int = 0, names: list[str] | None = None) -> LoopPaths | NoPaths:
    """The paths of one loop, for the variables of ``names``."""
    g = graph(source)
    interest = None if names is None else [v for v, info in g.variables.items() if info.shown in names]
    return paths_of(g, g.loops[loop], interest)


def summary(source: str, loop: int = 0) -> LoopSummary:
    """The summary of one loop, which must not be refused."""
    found = summarize(paths(source, loop))
    assert not isinstance(found, Refused), found
    return found


def variable(names: Flowgraph, name: str) -> Var:
    """The variable that users call ``name``."""
    return next(v for v, info in names.variables.items() if info.shown == name and not info.pointer_part)
