"""Which limit made the bounds of loops weaker than they may be."""

from __future__ import annotations

from dataclasses import replace

from loopless.queries.bounds.answers import FunctionBound, LoopIterations
from loopless.queries.jobs.effort import NOT_SEARCHED
from loopless.queries.jobs.overrun import Overrun
from loopless.refusals import Reason, Refused


def with_cuts(found: FunctionBound, searched: FunctionBound | Overrun | None) -> FunctionBound:
    """The bounds with the limit that ended the search for each loop of which the count is not known exactly: that for
    bounds, which came to ``searched`` (None: there was none), or that for a summary of the loop.
    """
    late: Refused | None = None
    if searched is None:
        late = Refused(Reason.TIME_LIMIT, found.place, NOT_SEARCHED)
    elif isinstance(searched, Overrun) and searched.is_limit:
        late = searched.refused(found.place)
    return replace(found, counts=tuple(_with_cut(loop, late) for loop in found.counts))


def _with_cut(loop: LoopIterations, late: Refused | None) -> LoopIterations:
    exact = loop.entry.exact and (loop.call.exact or loop.call.upper is None)
    cut = None if exact else late or loop.answer.cut
    return loop if cut is None else replace(loop, cut=cut)
