"""The question how often the loops of a function run at most."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field

from loopless.bounds.claims.of_summaries import Claim
from loopless.bounds.looperman.scopes import Scopes
from loopless.bounds.model import Bounds, FunctionBounds
from loopless.flowgraph.model import Flowgraph
from loopless.paths import LoopPaths
from loopless.records import dataclass


@dataclass(frozen=True, slots=True)
class BoundQuestion:
    """The function of ``graph``, and what is known of it otherwise.

    ``paths``: by the names of loops, where their iterative paths were followed. They lack iterations through code that
    is not followed, which :func:`~loopless.bounds.ranking.transition_system.with_not_followed` adds. ``scopes``: one
    iteration of each loop on symbols. ``claims``: what summaries say of one entry of each loop, beside bounds.
    ``is_counted``: whether summaries have the count of each loop in a call, and it grows as fast as its class says.
    ``known``: bounds on one entry of loops, by name, that are known from the start.
    """

    graph: Flowgraph
    paths: Mapping[str, LoopPaths]
    scopes: Callable[[], Scopes]
    claims: Callable[[FunctionBounds], Mapping[str, Claim]]
    is_counted: Callable[[], bool]
    known: Mapping[str, Bounds] = field(default_factory=dict)
