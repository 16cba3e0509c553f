"""Bounds of C source by some methods of the portfolio, without summaries and other sources, which hide weak bounds."""

from __future__ import annotations

from collections.abc import Sequence

from loopless.bounds.claims.of_summaries import Claim
from loopless.bounds.looperman.scopes import scopes_of
from loopless.bounds.model import FunctionBounds
from loopless.bounds.portfolio import bounds_of
from loopless.bounds.question import BoundQuestion
from loopless.paths import LoopPaths
from loopless.portfolio import Method
from loopless.summary import paths_of
from loops_in_c import graph


def bounds_by(methods: Sequence[Method[BoundQuestion, FunctionBounds]], source: str) -> FunctionBounds:
    """What ``methods``, of which Looperman's is the first, find about the function ``f`` together."""
    g = graph(source)
    paths = {loop.name: found for loop in g.loops if isinstance(found := paths_of(g, loop), LoopPaths)}
    question = BoundQuestion(
        g,
        paths,
        scopes=lambda: scopes_of(g, frozenset()),
        claims=lambda found: {name: Claim(None) for name in found.loops},
        is_counted=lambda: False,
    )
    found = bounds_of(question, "a.c:1", lambda _: None, methods).answer
    assert found is not None
    return found
