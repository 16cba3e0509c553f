"""Regions against brute force: every point of a small window is evaluated with the terms' own arithmetic."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import strategies as st

from loopless import logic
from loopless import terms as t
from loopless.logic import Region
from loopless.terms import Condition, Term, Var
from quasi_affine import I4, SMALL, U, X, Z, check, condition, points, term, window

PAIR = (X, Z)
TRIPLE = (U, X, Z)


def members(region: Region, variables: tuple[Var, ...] = PAIR) -> list[tuple[int, ...]]:
    return [tuple(p.values()) for p in points(variables) if region.contains(p)]


def true_points(c: Condition, variables: tuple[Var, ...] = PAIR) -> list[tuple[int, ...]]:
    return [tuple(p.values()) for p in points(variables) if t.holds(c, p)]


@check(150, condition(PAIR))
def test_a_region_has_the_points_of_its_condition(c: Condition) -> None:
    assert members(Region.of(c, PAIR)) == true_points(c)


@check(100, condition(TRIPLE, depth=1), st.randoms(use_true_random=False))
def test_a_region_over_three_variables_has_the_points_of_its_condition(c: Condition, random) -> None:
    region = Region.of(c, TRIPLE)
    for p in random.sample(list(points(TRIPLE)), 100):
        assert region.contains(p) == t.holds(c, p)


@check(150, condition(PAIR))
@pytest.mark.slow
def test_reading_back_keeps_the_points(c: Condition) -> None:
    back = Region.of(c, PAIR).condition()
    assert back.variables <= set(PAIR)
    assert true_points(back) == true_points(c)


@check(80, condition(PAIR, depth=1), condition(PAIR, depth=1))
@pytest.mark.slow
def test_the_algebra_of_regions_is_that_of_conditions(c: Condition, d: Condition) -> None:
    a, b = Region.of(c, PAIR), Region.of(d, PAIR)
    in_c, in_d, everything = set(true_points(c)), set(true_points(d)), set(true_points(t.TRUE))
    assert set(members(a & b)) == in_c & in_d
    assert set(members(a | b)) == in_c | in_d
    assert set(members(a - b)) == in_c - in_d
    assert set(members(a.complement())) == everything - in_c
    small = Region.of(window(PAIR), PAIR)
    assert (a & small).is_empty() == (not in_c)
    assert (a & small).is_subset(b) == (in_c <= in_d)
    assert (a & small).is_equal(b & small) == (in_c == in_d)
    assert (a & small).disjoint(b) == (not in_c & in_d)
    assert set(members(a.gist(b))) & in_d == in_c & in_d
    assert set(members(a.coalesce())) == in_c == set(members(a.made_disjoint()))


@check(80, condition(PAIR, depth=1), st.sampled_from(PAIR))
def test_projection_is_the_existential_quantifier(c: Condition, dropped: Var) -> None:
    (kept,) = (v for v in PAIR if v is not dropped)
    region = (Region.of(c, PAIR) & Region.of(window(PAIR), PAIR)).project_out([dropped])
    assert region.variables == (kept,)
    position = PAIR.index(kept)
    expected = {p[position] for p in true_points(c)}
    assert {p[kept] for p in points([kept]) if region.contains(p)} == expected
    assert {p[kept] for p in points([kept]) if t.holds(region.condition(), p)} == expected


@check(80, condition(PAIR, depth=1), term(PAIR))
def test_the_range_of_a_term_over_a_region_is_exact(c: Condition, value: Term) -> None:
    small = Region.of(t.conjunction((c, window(PAIR))), PAIR)
    found = [t.evaluate(value, p) for p in points(PAIR) if t.holds(c, p)]
    if not found:
        with pytest.raises(logic.EmptyRegion):
            small.range_of(value)
        return
    assert small.range_of(value) == (min(found), max(found))
    low, high = Region.of(c, PAIR).range_of(value)
    assert low is None or low <= min(found)
    assert high is None or high >= max(found)


@check(60, condition(PAIR, depth=1))
def test_a_sample_is_a_point_of_the_region(c: Condition) -> None:
    small = Region.of(t.conjunction((c, window(PAIR))), PAIR)
    point = small.sample()
    if point is None:
        assert not true_points(c)
    else:
        assert t.holds(c, point)
        assert point == small.sample()


@check(60, condition(PAIR, depth=1), term(PAIR, depth=1), term(PAIR, depth=1))
def test_preimage_and_image_under_an_update(c: Condition, new_x: Term, new_z: Term) -> None:
    update = {X: t.wrap(new_x, I4), Z: new_z}
    region = Region.of(c, PAIR)
    before = region.preimage(update)
    small = Region.of(window(PAIR), PAIR) & region
    after = small.image(update)
    reached = set()
    for p in points(PAIR):
        landing = {v: t.evaluate(e, p) for v, e in update.items()}
        assert before.contains(p) == t.holds(c, landing)
        if t.holds(c, p):
            reached.add((landing[X], landing[Z]))
            assert after.contains(landing)
    assert set(members(after)) == {q for q in reached if abs(q[1]) <= SMALL}


def test_an_update_may_read_variables_that_the_region_is_not_over() -> None:
    positive = Region.of(t.greater(Z, t.const(0)))
    before = positive.preimage({Z: t.add(Z, U)})
    assert set(before.variables) == {U, Z}
    assert before.condition() is t.greater(t.add(U, Z), t.const(0))


def test_regions_over_different_variables_meet_over_all_of_them() -> None:
    a, b = Region.of(t.greater(X, t.const(3))), Region.of(t.less(U, t.const(2)))
    both = a | b
    assert both.variables == (U, X)
    assert members(both, (U, X)) == true_points(t.disjunction((a.condition(), b.condition())), (U, X))


def test_the_universe_is_the_range_of_the_types() -> None:
    assert Region.universe([X, U]).range_of(t.sub(X, U)) == (-8 - 15, 7)
    assert Region.universe([X], typed=False).range_of(X) == (None, None)
    assert Region.universe([X]).complement().is_empty()
    assert Region.empty([X]).is_empty()
    assert Region.universe([]).sample() == {}


@check(30, condition(PAIR, depth=1))
def test_regions_travel_by_pickle(c: Condition) -> None:
    region = Region.of(c, PAIR)
    assert pickle.loads(pickle.dumps(region)).is_equal(region)


def test_pickling_a_region_without_variables() -> None:
    for region in (Region.universe([]), Region.empty([])):
        assert pickle.loads(pickle.dumps(region)).is_equal(region)


def test_the_offending_term_is_named() -> None:
    product = t.mul(Z, Var("y", t.INTEGERS))
    with pytest.raises(logic.NotPresburger) as raised:
        Region.of(t.less(t.add(product, X, t.floor_div(Z, t.const(3))), t.const(4)))
    assert raised.value.term is product
    element = t.read("a", t.scale(Z, 4), t.IntType(32))
    with pytest.raises(logic.NotPresburger) as raised:
        Region.of(t.conjunction((t.less(X, t.const(3)), t.less(t.mul(element, Z), t.const(4)))))
    assert raised.value.term is element
    for term_ in (t.floor_div(Z, X), t.power(t.const(2), Z), t.bit_and(Z, Var("y", t.INTEGERS))):
        with pytest.raises(logic.NotPresburger) as raised:
            Region.of(t.less(t.minimum(term_, Z), t.const(4)))
        assert raised.value.term is term_


def test_a_condition_over_foreign_variables_is_a_programming_error() -> None:
    with pytest.raises(ValueError, match="z"):
        Region.of(t.less(X, Z), [X])


def test_products_with_a_factor_of_few_values_are_affine_by_cases() -> None:
    c = t.less(t.mul(t.mul(t.mod(X, t.const(3)), t.mod(X, t.const(2))), Z), t.const(4))
    assert members(Region.of(c, PAIR)) == true_points(c)
    square = t.less(t.mul(X, X), t.add(Z, t.const(9)))
    assert members(Region.of(square, PAIR)) == true_points(square)


def test_bounds_of_wide_types_are_exact() -> None:
    wide = Var("v", t.IntType(64, signed=False))
    doubled = t.wrap(t.scale(wide, 2), wide.type)
    region = Region.of(t.conjunction((t.equal(doubled, t.const(6)), t.greater(wide, t.const(3)))))
    assert region.sample() == {wide: 2**63 + 3}
    assert region.range_of(wide) == (2**63 + 3, 2**63 + 3)


def test_whether_a_term_is_quasi_affine_is_known_without_asking_isl() -> None:
    byte, bit = Var("b", t.IntType(8)), Var("c", t.IntType(1))
    terms = [
        t.mul(Z, X),
        t.mul(t.mod(X, t.const(3)), Z),
        t.mul(t.mod(X, t.const(30)), t.mod(Z, t.const(29))),
        t.mul(Z, Z),
        t.add(t.floor_div(Z, t.const(7)), t.mod(Z, X)),
        t.wrap(t.mul(byte, t.const(3)), t.IntType(8)),
        t.bit_and(Z, t.const(0b1010101010101)),
        t.bit_and(Z, t.const(0b110011)),
        t.bit_or(bit, t.mod(X, t.const(2))),
        t.bit_or(bit, byte),
        t.ite(t.less(t.mul(X, Z), t.const(3)), X, Z),
        t.table(t.mod(Z, t.const(3)), [4, 9, 1]),
        t.table(t.mod(Z, t.const(99)), [i * i for i in range(99)]),
        t.power(t.const(2), Z),
    ]
    answers = set()
    for term_ in terms:
        try:
            Region.of(t.equal(Var("y", t.INTEGERS), term_))
            expressed = True
        except logic.NotPresburger:
            expressed = False
        assert logic.is_quasi_affine(term_) == expressed, term_
        answers.add(expressed)
    assert answers == {True, False}
