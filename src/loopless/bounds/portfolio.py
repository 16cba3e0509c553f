"""The portfolio of upper bounds: which methods are asked, in which order.

A new method is one file in ``methods`` and one line here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from loopless.bounds.methods import components, looperman, ranking, summaries
from loopless.bounds.model import FunctionBounds
from loopless.bounds.question import BoundQuestion
from loopless.portfolio import Method, Tried, answered

METHODS: Final[tuple[Method[BoundQuestion, FunctionBounds], ...]] = (
    looperman.METHOD,
    ranking.METHOD,
    summaries.METHOD,
    components.METHOD,
)
"""Each is given what is known so far, and answers with that and more."""


def bounds_of(
    question: BoundQuestion,
    place: str,
    heard: Callable[[FunctionBounds], None],
    methods: Sequence[Method[BoundQuestion, FunctionBounds]] = METHODS,
) -> Tried[FunctionBounds]:
    """What all methods together know. ``heard`` is told of it after each of them."""
    return answered(
        methods,
        question,
        place,
        complete=lambda _: False,
        better=lambda _new, _old: True,
        heard=heard,
        in_words=_in_words,
    )


def _in_words(found: FunctionBounds) -> str:
    """Which loops have no bound in a call, and why, in one line for developers."""
    lacking = [
        f"{name}: no bound in a call, {why.reason.code} {why.detail}"
        for name, bounds in found.loops.items()
        if (why := bounds.refused_total) is not None and bounds.loop.header not in found.in_call.loops
    ]
    return "; ".join(lacking) or "each loop has a bound in a call"
