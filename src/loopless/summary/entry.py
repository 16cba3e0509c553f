"""The question what a loop does from the states in which the program enters it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from loopless.paths.model import LoopPaths, NoPaths
from loopless.summary.model import Outcome, Summary
from loopless.terms import Condition


@dataclass(frozen=True, slots=True)
class Entry:
    """A loop that is entered under ``facts``, by ``paths``, whose ``outcome`` without these is not complete.

    ``entered``: those of the facts that speak of values which matter. ``narrowed``: the paths and the outcome under a
    condition that all iterations keep.
    """

    paths: LoopPaths
    outcome: Outcome
    facts: Condition
    entered: Condition
    narrowed: Callable[[Condition], tuple[LoopPaths | NoPaths, Outcome]]


@dataclass(frozen=True, slots=True)
class Entered:
    """A summary of the states in which a loop is entered, and the paths that it is about."""

    paths: LoopPaths
    summary: Summary
