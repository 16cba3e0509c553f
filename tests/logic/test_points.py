"""Points of regions: each lies in its region, and terms that differ there are told apart, equal ones never."""

from __future__ import annotations

from loopless import terms as t
from loopless.logic import Region, may_be_equal, sample_points
from loopless.terms import Condition, Term
from quasi_affine import X, Z, check, condition, term, window

PAIR = (X, Z)


@check(60, condition(PAIR, depth=1))
def test_each_point_lies_in_the_region(where: Condition) -> None:
    region = Region.of(t.conjunction((where, window(PAIR))), PAIR)
    found = sample_points(region)
    assert bool(found) != region.is_empty()
    assert all(t.holds(where, point) for point in found)


@check(60, condition(PAIR, depth=1), term(PAIR, depth=1), term(PAIR, depth=1))
def test_terms_are_told_apart_only_where_they_differ(where: Condition, a: Term, b: Term) -> None:
    region = Region.of(where, PAIR)
    if not may_be_equal(a, b, sample_points(region)):
        assert not (region & Region.of(t.not_equal(a, b), PAIR)).is_empty()


def test_terms_that_differ_at_a_point_are_told_apart() -> None:
    found = sample_points(Region.of(t.less(t.ZERO, X)))
    assert not may_be_equal(X, t.scale(X, 2), found)
    assert may_be_equal(t.maximum(t.ZERO, X), X, found)
    assert may_be_equal(t.ZERO, t.ONE, ())
