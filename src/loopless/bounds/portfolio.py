"""The portfolio of upper bounds: which methods are asked, in which order.

A new method is one file in ``methods`` and one line here (CONTRIBUTING.md has the recipe). Other modules of ``methods``
answer questions of their own: ``lower``, ``cost`` and ``nontermination``.
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
"""Each is given the answer before it, and its own replaces that, so each passes on what was found before
(:func:`loopless.bounds.function.with_more`).
"""


def bounds_of(
    question: BoundQuestion,
    place: str,
    heard: Callable[[FunctionBounds], None],
    methods: Sequence[Method[BoundQuestion, FunctionBounds]] = METHODS,
) -> Tried[FunctionBounds]:
    """The answer of the last of ``methods`` that gives one. ``heard`` is told of the answer of each.

    All but Looperman's method start from an answer, so that one comes first. Tests switch methods off by ``methods``;
    for whole answers they replace ``bounds_of`` in :mod:`loopless.queries.bounds.function_search`.
    """
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
