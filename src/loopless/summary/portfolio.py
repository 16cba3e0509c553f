"""The portfolio of summaries: which methods are asked, in which order, with how much of the logic each.

A new method is one file in ``methods`` and one line here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from loopless import terms as t
from loopless.limits.summary import UNCOUNTED_OPERATIONS
from loopless.logic import BudgetExceeded, budget
from loopless.paths.model import LoopPaths, NoPaths
from loopless.portfolio import Method, Tried, answered
from loopless.refusals import Reason, Refused
from loopless.summary.case_builder import CaseBuilder
from loopless.summary.data.inside import leaves_objects
from loopless.summary.entry import Entry, EntrySummary
from loopless.summary.lists import along_lists
from loopless.summary.methods import (
    aggregation,
    bounded_unrolling,
    cyclic_modes,
    earliest_exit,
    elimination,
    entry_invariants,
    entry_values,
    partitioning,
)
from loopless.summary.model import LoopSummary, Outcome, Undefined
from loopless.summary.parts import PartQuestion, summarize_parts
from loopless.summary.rewrite.inner_loops import settled
from loopless.summary.rewrite.univariate import with_intervals
from loopless.summary.transitions.system import place_of

PART_METHODS: Final[tuple[Method[PartQuestion, CaseBuilder], ...]] = (
    elimination.OSCILLATION,
    elimination.ELIMINATION,
    elimination.ROUND_BY_ROUND,
    elimination.DIVIDED_DOMAINS,
    cyclic_modes.METHOD,
    partitioning.PHASES,
    elimination.KNOWN_OSCILLATION,
    partitioning.PARTITIONING,
)
"""For a part of a loop with several iterative paths."""


def summarize_by_parts(paths: LoopPaths) -> LoopSummary:
    """The summary of a loop by :data:`PART_METHODS`. Raises :class:`loopless.portfolio.NoAnswer`, or one of
    :data:`loopless.portfolio.LIMITS`.
    """
    return summarize_parts(paths, PART_METHODS)


def _by_parts(paths: LoopPaths, _: Tried[LoopSummary]) -> LoopSummary:
    return summarize_by_parts(paths)


def _may_have_parts(paths: LoopPaths, tried: Tried[LoopSummary]) -> bool:
    """What wraps around many times is nothing for isl, whose budget then does not bound the time."""
    why = [*tried.refused, *(part.why for part in (tried.answer.residual if tried.answer is not None else ()))]
    if tried.refused and tried.refused[0].reason is Reason.WRAP:
        return False
    return not (any(refused.reason is Reason.WRAP for refused in why) and earliest_exit.wraps_many_times(paths))


METHODS: Final[tuple[Method[LoopPaths, LoopSummary], ...]] = (
    *earliest_exit.OF_ONE_PATH,
    aggregation.METHOD,
    Method("parts", "ours", _by_parts, _may_have_parts),
)
"""For a loop. The summary of parts names the methods of :data:`PART_METHODS` that gave it."""

ENTRY_METHODS: Final[tuple[Method[Entry, EntrySummary], ...]] = (
    entry_values.METHOD,
    entry_invariants.METHOD,
    bounded_unrolling.METHOD,
)
"""For a loop without a complete summary: of the states in which the program enters it."""


def summarize(paths: LoopPaths | NoPaths, methods: Sequence[Method[LoopPaths, LoopSummary]] = METHODS) -> Outcome:
    """The summary of a loop from its paths; a refusal where nothing can be said."""
    if isinstance(paths, NoPaths):
        return paths.refused
    inputs = [u for path in paths.all for u in path.unknowns]
    walking = along_lists(paths) if inputs else None
    if walking is not None:
        found = summarize(walking.paths, methods)
        return found if isinstance(found, Refused) else walking.told(found)
    if inputs:
        first = inputs[0]
        if first.refused is not None:
            return first.refused
        place = str(first.loc) if first.loc is not None else place_of(paths)
        return Refused(Reason.INPUT_DEPENDENT, place, first.words)
    found = _answered(paths, methods)
    if paths.counters and not (isinstance(found, LoopSummary) and found.complete):
        # A count without a closed form must not stand in the way of the values.
        other = _uncounted(paths, methods)
        if isinstance(other, LoopSummary) and (other.complete or isinstance(found, Refused)):
            found = other
    return found if isinstance(found, Refused) else settled(found)


def _uncounted(paths: LoopPaths, methods: Sequence[Method[LoopPaths, LoopSummary]]) -> Outcome | None:
    """The summary without counts of inner loops; None where that takes too long."""
    try:
        with budget(UNCOUNTED_OPERATIONS):
            return _answered(paths.uncounted(), methods)
    except BudgetExceeded:
        return None


def _answered(paths: LoopPaths, methods: Sequence[Method[LoopPaths, LoopSummary]]) -> Outcome:
    """The summary, named after its method; the first refusal where there is none."""
    plain = with_intervals(paths)
    tried = answered(methods, plain, place_of(paths), complete=lambda summary: summary.complete)
    if tried.answer is None:
        return next(iter(tried.refused), Refused(Reason.MULTI_PATH, place_of(paths), "no method applies to it"))
    return _ending(replace(tried.answer, paths=paths, method=tried.answer.method or tried.method))


def _ending(found: LoopSummary) -> LoopSummary:
    """The summary where no run goes on for ever: pointers that are moved on leave their objects at last. That accesses
    stay inside, which is taken for granted, lets no check of the paths say so.
    """
    if found.diverges is t.FALSE or not leaves_objects(found.paths.iterative):
        return found
    lines = {line for path in found.paths.iterative for line in path.lines}
    line = lines.pop() if len(lines) == 1 else 0
    undefined = (*found.undefined, Undefined(found.diverges, "pointer-overflow", line))
    return replace(found, diverges=t.FALSE, undefined=undefined)
