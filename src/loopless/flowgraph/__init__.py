"""Functions as flowgraphs over integer variables: blocks, edges, loops, memory scalars as variables."""

from __future__ import annotations

from loopless.flowgraph.build import build
from loopless.flowgraph.objects import Options
from loopless.flowgraph.recursion import as_loop

__all__ = ["Options", "as_loop", "build"]
