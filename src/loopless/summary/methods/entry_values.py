"""The summary of all states, taken at the values that a loop is entered with: its gaps may lie elsewhere."""

from __future__ import annotations

from typing import Final

from loopless.portfolio import Method, NoAnswer, Tried
from loopless.summary.entry import Entry, EntrySummary
from loopless.summary.model import Summary
from loopless.summary.rewrite.entry import entered_with

OPERATIONS: Final = 2_000_000
"""isl's operations allowed for that; conditions at known values are short. Some 200 ms on small sets. A guess."""


def _run(question: Entry, _: Tried[EntrySummary]) -> EntrySummary:
    if not isinstance(question.outcome, Summary):
        raise NoAnswer
    found = entered_with(question.outcome, question.entered)
    if not found.complete:
        raise NoAnswer
    return EntrySummary(question.paths, found)


METHOD = Method("entry values", "ours", _run, operations=OPERATIONS)
"""The answer keeps the name of the method that gave the summary of all states."""
