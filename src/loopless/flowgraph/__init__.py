"""Functions as flowgraphs over integer variables: blocks, edges, loops, memory scalars as variables."""

from __future__ import annotations

from loopless.flowgraph.build import build
from loopless.flowgraph.callees.recursion import as_loop
from loopless.flowgraph.memory.objects import Options

__all__ = ["Options", "as_loop", "build"]
