"""The summary of all states, taken at the values that a loop is entered with: its gaps may lie elsewhere."""

from __future__ import annotations

from loopless.limits.summary import ENTRY_VALUE_OPERATIONS
from loopless.portfolio import Method, NoAnswer, Tried
from loopless.summary.entry import Entry, EntrySummary
from loopless.summary.model import LoopSummary
from loopless.summary.rewrite.entry import entered_with


def _run(question: Entry, _: Tried[EntrySummary]) -> EntrySummary:
    if not isinstance(question.outcome, LoopSummary):
        raise NoAnswer
    found = entered_with(question.outcome, question.entered)
    if not found.complete:
        raise NoAnswer
    return EntrySummary(question.paths, found)


METHOD = Method("entry values", "ours", _run, operations=ENTRY_VALUE_OPERATIONS)
"""The answer keeps the name of the method that gave the summary of all states."""
