"""Disjunctive loop summaries: what a loop does, as a function of its entry values."""

from __future__ import annotations

from loopless.summary.composition import summarize_function
from loopless.summary.function import Diverges, FunctionCase, FunctionOutcome, FunctionSummary, Input, Passed
from loopless.summary.merging import Merged, Traced, merged
from loopless.summary.model import Case, Cycle, Interleaving, Outcome, Residual, Run, Step, Summary, Undefined
from loopless.summary.narrowing import fixed_by
from loopless.summary.nests import Known, from_entry, paths_of
from loopless.summary.reading import readable
from loopless.summary.strategy import summarize

__all__ = [
    "Case",
    "Cycle",
    "Diverges",
    "FunctionCase",
    "FunctionOutcome",
    "FunctionSummary",
    "Input",
    "Interleaving",
    "Known",
    "Merged",
    "Outcome",
    "Passed",
    "Residual",
    "Run",
    "Step",
    "Summary",
    "Traced",
    "Undefined",
    "fixed_by",
    "from_entry",
    "merged",
    "paths_of",
    "readable",
    "summarize",
    "summarize_function",
]
