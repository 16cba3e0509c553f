"""The question what a loop does from the states in which the program enters it."""

from __future__ import annotations

from collections.abc import Callable

from loopless import terms as t
from loopless.paths.model import LoopPaths, NoPaths
from loopless.records import dataclass
from loopless.summary.model import LoopSummary, Outcome


@dataclass(frozen=True, slots=True)
class Entry:
    """A loop that is entered under ``facts``, by ``paths``, whose ``outcome`` without these is not complete.

    ``entered``: those of the facts that speak of values which matter. ``narrowed``: the paths and the outcome under a
    condition that all iterations keep.
    """

    paths: LoopPaths
    outcome: Outcome
    facts: t.Condition
    entered: t.Condition
    narrowed: Callable[[t.Condition], tuple[LoopPaths | NoPaths, Outcome]]


@dataclass(frozen=True, slots=True)
class EntrySummary:
    """A summary of the states in which a loop is entered, and the paths that it is about."""

    paths: LoopPaths
    summary: LoopSummary
