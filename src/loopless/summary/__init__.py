"""Disjunctive loop summaries: what a loop does, as a function of its entry values."""

from __future__ import annotations

from loopless.summary.approximation.method import approximated
from loopless.summary.composition import summarize_function
from loopless.summary.function import CallSummary, Diverges, FunctionCase, FunctionOutcome, PassedLoop, SummaryInput
from loopless.summary.model import (
    Approximation,
    Case,
    Cycle,
    Interleaving,
    LoopSummary,
    Outcome,
    PathRun,
    Residual,
    Step,
    Undefined,
)
from loopless.summary.nests import KnownLoops, from_entry, paths_of, summarized, with_memory
from loopless.summary.portfolio import summarize
from loopless.summary.presentation.entered import AtEntry, at_entry
from loopless.summary.presentation.merging import Merged, Traced, merged
from loopless.summary.presentation.readable import readable, readable_paths
from loopless.summary.presentation.relative import relative, relative_paths
from loopless.summary.rewrite.entry import fixed_by

__all__ = [
    "Approximation",
    "AtEntry",
    "CallSummary",
    "Case",
    "Cycle",
    "Diverges",
    "FunctionCase",
    "FunctionOutcome",
    "Interleaving",
    "KnownLoops",
    "LoopSummary",
    "Merged",
    "Outcome",
    "PassedLoop",
    "PathRun",
    "Residual",
    "Step",
    "SummaryInput",
    "Traced",
    "Undefined",
    "approximated",
    "at_entry",
    "fixed_by",
    "from_entry",
    "merged",
    "paths_of",
    "readable",
    "readable_paths",
    "relative",
    "relative_paths",
    "summarize",
    "summarize_function",
    "summarized",
    "with_memory",
]
