"""Disjunctive loop summaries: what a loop does, as a function of its entry values."""

from __future__ import annotations

from loopless.flowgraph.model import Flowgraph, LoopInfo
from loopless.paths import LoopPaths, NoPaths, loop_paths
from loopless.refusals import Reason, Refused
from loopless.summary.model import Case, Cycle, Interleaving, Outcome, Residual, Run, Step, Summary, Undefined
from loopless.summary.race import summarize_one
from loopless.summary.several import summarize_several
from loopless.summary.system import NotSummarized, where
from loopless.summary.tables import summarize_tables

__all__ = [
    "Case",
    "Cycle",
    "Interleaving",
    "Outcome",
    "Residual",
    "Run",
    "Step",
    "Summary",
    "Undefined",
    "summarize",
]


def summarize(paths: LoopPaths | NoPaths) -> Outcome:
    """The summary of a loop from its paths; a refusal where nothing can be said."""
    if isinstance(paths, NoPaths):
        return paths.refused
    inputs = [u for path in paths.all for u in path.unknowns]
    if inputs:
        first = inputs[0]
        if first.refused is not None:
            return first.refused
        place = str(first.loc) if first.loc is not None else where(paths)
        detail = f"an iteration depends on {first.name}: {first.origin.value}"
        return Refused(Reason.INPUT_DEPENDENT, place, detail)
    try:
        if len(paths.iterative) <= 1:
            return summarize_one(paths)
        return _several(paths)
    except NotSummarized as failure:
        return failure.refused


def _several(paths: LoopPaths) -> Summary:
    """Tables where three or more paths take turns by a selector and all is known then; else elimination."""
    try:
        found = summarize_tables(paths, or_oscillation=False)
    except NotSummarized:
        return summarize_several(paths)
    if found.complete:
        return found
    try:
        other = summarize_several(paths)
    except NotSummarized:
        return found
    return other if other.complete else found
