"""Looperman's algorithm: path counters, and measures that iterations decrease, carried outwards through nests."""

from __future__ import annotations

from loopless.bounds.function import NAME, function_bounds
from loopless.bounds.model import FunctionBounds
from loopless.bounds.question import BoundQuestion
from loopless.portfolio import Method, Tried


def _run(question: BoundQuestion, _: Tried[FunctionBounds]) -> FunctionBounds:
    return function_bounds(question.graph, question.known)


METHOD = Method(NAME, "Čadek, Strejček, Trtík, Looperman (2016), section 3", _run)
"""The others give it bounds on one entry, which it carries outwards."""
