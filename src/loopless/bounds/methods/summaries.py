"""Counts from summaries as bounds on one entry, carried outwards as any other bound."""

from __future__ import annotations

from loopless.bounds.claims.joint import added
from loopless.bounds.function import with_more
from loopless.bounds.model import FunctionBounds
from loopless.bounds.question import BoundQuestion
from loopless.portfolio import Method, NoAnswer, Tried


def _run(question: BoundQuestion, tried: Tried[FunctionBounds]) -> FunctionBounds:
    found = tried.answer
    assert found is not None
    claims = question.claims(found)
    known = {name: added(claims[name], bounds.per_entry) for name, bounds in found.loops.items()}
    more = {name: (*found.loops[name].per_entry, *bounds) for name, bounds in known.items() if bounds}
    if not more:
        raise NoAnswer
    return with_more(question.graph, found, more)


METHOD = Method(
    "summaries",
    "Proteus (FSE 2016), section 5, application on loop bound analysis",
    _run,
    lambda _, tried: tried.answer is not None,
)
"""The bounds keep the names of the methods that gave the summaries."""
