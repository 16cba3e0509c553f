"""Loop paths: path conditions and simultaneous updates of one iteration, sliced by variables of interest."""

from __future__ import annotations

from loopless.paths.build import loop_paths, seen_at_ends
from loopless.paths.model import Exit, Inner, InnerStep, LoopPaths, NoPaths, Path, Unknown

__all__ = ["Exit", "Inner", "InnerStep", "LoopPaths", "NoPaths", "Path", "Unknown", "loop_paths", "seen_at_ends"]
