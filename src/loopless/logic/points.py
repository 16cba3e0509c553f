"""Points where a condition holds: they tell most terms apart that differ, and evaluating costs next to nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from loopless import terms as t
from loopless.limits.logic import MAX_SAMPLED_PARTS
from loopless.logic.region import Region

Point = Mapping[t.Var, int]


def sample_points(region: Region) -> tuple[Point, ...]:
    """One point of each of the region's first few parts; none where it is empty."""
    found = (part.sample() for part in region.split()[:MAX_SAMPLED_PARTS])
    return tuple(point for point in found if point is not None)


def may_be_equal(left: t.Term, right: t.Term, points: Sequence[Point]) -> bool:
    """False only if at one of the points the terms differ; variables that a point leaves out are 0 there."""
    if left is right:
        return True
    try:
        return all(_at(left, point) == _at(right, point) for point in points)
    except (t.EvaluationError, ArithmeticError):
        return True


def _at(term: t.Term, point: Point) -> int:
    return t.evaluate(term, {var: point.get(var, 0) for var in term.variables})
