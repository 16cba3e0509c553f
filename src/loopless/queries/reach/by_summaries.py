"""Paths to a target on which loops are passed as their summaries say."""

from __future__ import annotations

from collections.abc import Collection

from loopless import terms as t
from loopless.navigation.routes import Route, RouteStep
from loopless.transition.algebra import named_at
from loopless.transition.relation import VIOLATION, TransitionSystem
from loopless.transition.star import accelerated, leaps_of
from loopless.verification.exploration import Explored, explored


def route_by_summaries(system: TransitionSystem, seconds: float, goals: Collection[str] = (VIOLATION,)) -> Route | None:
    """A path to one of the ``goals``, found in so many seconds for summaries, and as many for paths."""
    leaps, _ = leaps_of(system, seconds)
    if not leaps:
        return None
    return route_of(explored(accelerated(system, leaps), goals, seconds))


def route_of(found: Explored) -> Route | None:
    """The path that was found, as inputs are made of it."""
    if found.path is None:
        return None
    steps = tuple(
        RouteStep(0, 1, {one: named_at(one.var, number) for one in step.taken})
        for number, step in enumerate(found.path.taken)
    )
    cells = {place: t.Var(f"|element {number}", place[2]) for number, place in enumerate(found.elements)}
    values = {**found.values, **{var: found.elements[place] for place, var in cells.items()}}
    return Route(steps, values, cells, (), {})
