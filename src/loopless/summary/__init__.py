"""Disjunctive loop summaries: what a loop does, as a function of its entry values."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from loopless.flowgraph.model import Flowgraph, LoopInfo
from loopless.paths import LoopPaths, NoPaths, loop_paths
from loopless.refusals import Reason, Refused
from loopless.summary.composition import summarize_function
from loopless.summary.function import Diverges, FunctionCase, FunctionOutcome, FunctionSummary, Input, Passed
from loopless.summary.merging import Merged, Traced, merged
from loopless.summary.model import Case, Cycle, Interleaving, Outcome, Residual, Run, Step, Summary, Undefined
from loopless.summary.race import summarize_one
from loopless.summary.reading import readable
from loopless.summary.several import summarize_several
from loopless.summary.system import NotSummarized, where

__all__ = [
    "Case",
    "Cycle",
    "Diverges",
    "FunctionCase",
    "FunctionOutcome",
    "FunctionSummary",
    "Input",
    "Interleaving",
    "Merged",
    "Outcome",
    "Passed",
    "Residual",
    "Run",
    "Step",
    "Summary",
    "Traced",
    "Undefined",
    "merged",
    "readable",
    "summarize",
    "summarize_function",
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
    strategies: tuple[Callable[[LoopPaths], Summary], ...] = (summarize_several,)
    if len(paths.iterative) <= 1:
        strategies = (summarize_one, summarize_several)
    return _first_complete(paths, strategies)


def _first_complete(paths: LoopPaths, strategies: Iterable[Callable[[LoopPaths], Summary]]) -> Outcome:
    """The first complete summary; else the first one that says something, else the first refusal."""
    partial: Summary | None = None
    refused: Refused | None = None
    for strategy in strategies:
        try:
            found = strategy(paths)
        except NotSummarized as failure:
            refused = refused or failure.refused
            if failure.refused.reason is Reason.WRAP:
                break  # what wraps around many times is nothing for isl, whose budget then does not bound the time
            continue
        if found.complete:
            return found
        partial = partial or found
    if partial is not None:
        return partial
    assert refused is not None
    return refused
