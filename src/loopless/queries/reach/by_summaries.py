"""Paths to a target on which loops are passed as their summaries say."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from loopless import terms as t
from loopless.limits.queries import MAX_ELEMENTS
from loopless.navigation.routes import Route, RouteStep
from loopless.navigation.store import ElementRange
from loopless.queries.call_values.reached import runs_of
from loopless.transition.algebra import named_at
from loopless.transition.relation import VIOLATION, TransitionSystem
from loopless.transition.star import accelerated, leaps_of
from loopless.verification.exploration import Explored, explored
from loopless.verification.input_streams import streamed


def route_by_summaries(system: TransitionSystem, seconds: float, goals: Collection[str] = (VIOLATION,)) -> Route | None:
    """A path to one of the ``goals``, found in so many seconds for summaries, and as many for paths. Where loops take
    inputs it goes by summaries over all that the program is given.
    """
    leaps, _ = leaps_of(system, seconds)
    found = explored(accelerated(system, leaps), goals, seconds, proposals=True) if leaps else Explored()
    if found.path is not None:
        return route_of(found)
    if len(leaps) == len(system.graph.loops):
        return None
    given = streamed(system, goals, seconds, seconds)
    if given is None or given.length > MAX_ELEMENTS:
        return None
    inputs = tuple((run.count, run.value) for run in runs_of(given.content.elements(given.length)))
    # Its steps are those of another flowgraph.
    return replace(route_of(given.found), steps=(), drawn=inputs, uninitialised=given.uninitialised)


def route_of(found: Explored) -> Route:
    """The path that was found, as inputs are made of it."""
    assert found.path is not None
    steps = tuple(
        RouteStep(0, 1, {one: named_at(one.var, number) for one in step.taken})
        for number, step in enumerate(found.path.taken)
    )
    cells = {place: t.Var(f"|element {number}", place[2]) for number, place in enumerate(found.elements)}
    values = {**found.values, **{var: found.elements[place] for place, var in cells.items()}}
    return Route(steps, values, cells, tuple(_ranges(found)), {})


def _ranges(found: Explored) -> Iterator[ElementRange]:
    """The elements of objects that are alike."""
    for name, content in (found.fulfilled.contents if found.fulfilled is not None else {}).items():
        for run in content.runs if not name.endswith(t.STREAM) else ():
            for column, value in enumerate(run.row):
                start = content.size * (run.begin * content.width + column)
                yield ElementRange(name, start, content.size * content.width, run.end - run.begin, content.type, value)
