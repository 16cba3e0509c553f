"""What is known of all iterations of a loop: what one walk over it gives
(:mod:`loopless.bounds.iteration.one_iteration`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Final

from loopless import terms as t
from loopless.bounds.callees.effects import Returned, Transformers
from loopless.bounds.iteration.facts import NO_FACTS, Facts, SymbolIntervals
from loopless.bounds.iteration.loop_effects import Drift, LoopEffect, drift_of, effect_of
from loopless.bounds.iteration.meetings import Meetings
from loopless.bounds.reads.choices import Game
from loopless.flowgraph.model import LoopInfo
from loopless.records import dataclass


@dataclass(frozen=True, slots=True)
class Point:
    """A place in the iteration: the ``values`` that are not those at the header any more, over these and symbols, and
    what holds.
    """

    values: Mapping[t.Var, t.Term]
    facts: Facts = NO_FACTS


@dataclass(frozen=True, slots=True)
class LoopBodyFacts:
    """What is known of all iterations of a loop.

    ``facts`` hold in every iteration that is completed, over the values at its beginning and symbols; ``after`` are the
    values at its end of the variables that it changes. ``exits``: for each way out, what holds in the iterations that
    take it, where the function goes on behind the loop; ``ended``: where it does not (``exit``).
    ``entered``: by their headers, where the loops directly inside are entered. ``intervals``: where the symbols lie.
    ``game``: finds out whether what is read anew in each iteration alone decides how long the loop runs.
    ``meetings``: what symbols stand for on each way. For a function as a whole, without a ``loop``, there are no
    iterations; ``returned``: its returns. ``granted``: what is taken for granted of calls; ``called``: whether it is
    known what some call does. ``steady``: what the iteration assigns, and leaves as it was.
    """

    loop: LoopInfo | None
    facts: Facts
    after: Mapping[t.Var, t.Term]
    exits: tuple[Facts, ...]
    intervals: SymbolIntervals
    changed: frozenset[t.Var]
    entered: Mapping[str, Point] = field(default_factory=dict)
    game: Game | None = None
    meetings: Meetings = field(default_factory=dict)
    ended: tuple[Facts, ...] = ()
    returned: tuple[Returned, ...] = ()
    granted: tuple[str, ...] = ()
    called: bool = False
    steady: frozenset[t.Var] = frozenset()

    def drift(self) -> Drift:
        """By how much each variable grows in an iteration, where that is known and nothing wraps around."""
        found, reduced = drift_of(self.after, self.facts, self.intervals)
        return {var: by for var, by in found.items() if var not in reduced}

    def effect(self) -> LoopEffect:
        """What the loop does to what is around it, but for the number of iterations."""
        return effect_of(self.after, self.facts, self.intervals, self.changed)


@dataclass(frozen=True, slots=True)
class Beyond:
    """What is known of what lies outside of a loop: ``ending``, the blocks behind which the function does not go on
    (:mod:`loopless.bounds.claims.endings`); ``calls``: what the functions do that are called; ``holding``: what holds
    at the beginning of each iteration; ``constants``: variables that hold one wherever they are read.
    """

    ending: frozenset[str] = frozenset()
    calls: Transformers | None = None
    holding: Facts = NO_FACTS
    constants: Mapping[t.Var, t.Term] = field(default_factory=dict)


NOTHING_BEYOND: Final = Beyond()
