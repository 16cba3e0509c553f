"""First and last values and quantifiers against brute force over a window."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st

from loopless import logic
from loopless import terms as t
from loopless.logic import FirstValue, Region
from loopless.terms import Condition, Term, Var
from quasi_affine import SMALL, U, X, Z, check, condition, points, term, window

K = Var("k", t.INTEGERS)
PAIR = (X, Z)
LIMIT = 12


def value_in(outcome: FirstValue, point: dict[Var, int]) -> int | None:
    """The value that the outcome gives at a point; it must lie in exactly one region."""
    found = [t.evaluate(value, point) for region, value in outcome.pieces if region.contains(point)]
    assert len(found) + outcome.never.contains(point) == 1
    return found[0] if found else None


@check(80, condition((K, *PAIR), depth=1), st.integers(-2, 2))
@pytest.mark.slow
def test_first_is_the_least_value(c: Condition, low: int) -> None:
    bounded = t.conjunction((c, t.less_equal(K, t.const(LIMIT))))
    outcome = logic.first(bounded, K, PAIR, at_least=t.const(low))
    for p in points(PAIR):
        expected = next((k for k in range(low, LIMIT + 1) if t.holds(c, {**p, K: k})), None)
        assert value_in(outcome, p) == expected
        if expected is None:
            assert t.holds(outcome.never.condition(), p)


@check(60, condition((K, *PAIR), depth=1), condition(PAIR, depth=0))
@pytest.mark.slow
def test_last_is_the_greatest_value_within_the_universe_asked_about(c: Condition, universe: Condition) -> None:
    bounded = t.conjunction((c, t.between(-3, K, LIMIT)))
    outcome = logic.last(bounded, K, PAIR, within=Region.of(universe, PAIR))
    for p in points(PAIR):
        if t.holds(universe, p):
            expected = next((k for k in range(LIMIT, -4, -1) if t.holds(c, {**p, K: k})), None)
            assert value_in(outcome, p) == expected
        else:
            assert not outcome.never.contains(p)
            assert not any(region.contains(p) for region, _ in outcome.pieces)


@pytest.mark.parametrize(("step", "modulus", "others"), [(2, 8, 2), (2, 8, 1), (3, 4, 1), (2, 4, 2), (6, 16, 3)])
def test_a_remainder_that_only_its_greatest_value_fulfils(step: int, modulus: int, others: int) -> None:
    """What never comes there is told, too: isl's lexmin alters the relation that it is asked about."""
    signed, start = Var("s", t.IntType(8)), Var("u", t.IntType(8, signed=False))
    value = t.mod(t.add(start, t.scale(K, step)), t.const(modulus))
    reached = t.less_equal(t.add(signed, t.const(modulus + 99)), value)
    also = [t.equal(signed, t.const(-100 + other)) for other in range(1, others + 1)]
    universe = t.conjunction((t.between(-100, signed, -97), t.less_equal(start, t.add(signed, t.const(130)))))
    outcome = logic.first(
        t.disjunction((reached, *also)), K, (signed, start), at_least=t.ONE, within=Region.of(universe)
    )
    for s in range(-100, -96):
        for u in range(s + 131):
            point = {signed: s, start: u}
            truth = (k for k in range(1, modulus + 1) if t.holds(t.disjunction((reached, *also)), {**point, K: k}))
            assert value_in(outcome, point) == next(truth, None)


def test_steps_of_seven_read_as_a_quotient() -> None:
    n = Var("n", t.INTEGERS)
    outcome = logic.first(t.greater_equal(t.add(Z, t.scale(K, 7)), n), K)
    assert outcome.never.is_empty()
    assert {(t.text(region.condition()), t.text(value)) for region, value in outcome.pieces} == {
        ("n <= z", "0"),
        ("z < n", "ceil_div(n - z, 7)"),
    }


@pytest.mark.parametrize("step", [5, 6, 7, 12])
def test_an_equality_after_many_wraps_is_one_modular_expression(step: int) -> None:
    u = Var("u", t.IntType(64, signed=False))
    outcome = logic.first(t.equal(t.wrap(t.add(u, t.scale(K, step)), u.type), t.const(3)), K)
    assert len(outcome.pieces) == 1
    for start in (0, 1, 2, 3, 7, 2**63, 2**64 - 1, 12345678901234567):
        steps = value_in(outcome, {u: start})
        divisible = (3 - start) % {5: 1, 6: 2, 7: 1, 12: 4}[step] == 0
        assert (steps is not None) == divisible
        if steps is not None:
            assert steps >= 0
            assert (start + step * steps) % 2**64 == 3
            # the least: the solutions repeat with this period
            assert steps < 2**64 // {5: 1, 6: 2, 7: 1, 12: 4}[step]


@check(40, term((K, *PAIR), depth=1), condition((K, *PAIR), depth=0))
@pytest.mark.slow
def test_the_extremes_of_a_term_while_a_variable_runs(value: Term, c: Condition) -> None:
    where = Region.of(t.conjunction((c, t.between(0, K, SMALL))), (K, *PAIR))
    high, low = logic.greatest(value, K, where), logic.least(value, K, where)
    for p in points(PAIR):
        found = [t.evaluate(value, {**p, K: k}) for k in range(SMALL + 1) if t.holds(c, {**p, K: k})]
        assert [t.evaluate(e, p) for region, e in high if region.contains(p)] == ([max(found)] if found else [])
        assert [t.evaluate(e, p) for region, e in low if region.contains(p)] == ([min(found)] if found else [])


def test_values_of_a_variable_that_only_some_others_allow() -> None:
    value = t.mod(t.scale(Z, 2), t.const(-5))
    halves = Region.of(t.conjunction((t.equal(t.add(t.scale(K, 2), Z), t.const(0)), t.between(0, K, SMALL))), (K, Z))
    pieces = logic.greatest(value, K, halves)
    for p in points((Z,)):
        expected = [t.evaluate(value, p)] if p[Z] <= 0 and p[Z] % 2 == 0 else []
        assert [t.evaluate(e, p) for region, e in pieces if region.contains(p)] == expected


def test_values_without_bound_are_an_error() -> None:
    with pytest.raises(logic.Unbounded):
        logic.last(t.greater_equal(K, Z), K)


@check(80, term(PAIR))
def test_pieces_of_a_term_agree_with_it(value: Term) -> None:
    pieces = logic.pieces_of(value, Region.universe(PAIR))
    for p in points(PAIR):
        assert [t.evaluate(e, p) for region, e in pieces if region.contains(p)] == [t.evaluate(value, p)]


@check(60, condition((K, *PAIR), depth=1))
def test_quantifiers_over_an_interval(c: Condition) -> None:
    some = logic.exists(K, t.const(0), Z, c, PAIR)
    every = logic.for_all(K, t.const(0), Z, c, PAIR)
    for p in points(PAIR):
        truths = [t.holds(c, {**p, K: k}) for k in range(p[Z])]
        assert some.contains(p) == any(truths)
        assert every.contains(p) == all(truths)


def test_quantifiers_without_an_upper_bound() -> None:
    reached = logic.exists(K, t.const(0), None, t.equal(t.add(U, t.scale(K, -3)), t.const(1)), (U,))
    assert [p[U] for p in points((U,)) if reached.contains(p)] == [1, 4, 7, 10, 13]


def test_window_is_what_points_enumerates() -> None:
    assert Region.of(window(PAIR), PAIR).range_of(Z) == (-SMALL, SMALL)


def test_maps_with_many_quotients_become_functions_soon() -> None:
    """x += 37 on 8 bits until x is 100 or more: at least six quotients in a part of the map. isl alone uses up ten
    times this budget, and takes half a minute.
    """
    found = Var("x", t.IntType(8))
    count = Var("k", t.INTEGERS)
    after = t.wrap(t.add(found, t.scale(count, 37)), found.type)
    left = t.add(after, t.const(37))
    again = t.wrap(left, found.type)
    leaves = t.disjunction((t.greater_equal(again, t.const(100)), t.equal(again, t.const(1))))
    with logic.budget(300_000):
        pieces = logic.first(t.conjunction((t.less_equal(t.ZERO, count), leaves)), count, (found,)).pieces
    for x in range(-128, 128):
        value, steps = x, 0
        while not ((v := found.type.wrap(value + 37)) >= 100 or v == 1):
            value, steps = v, steps + 1
        (told,) = (term for region, term in pieces if region.contains({found: x}))
        assert t.evaluate(told, {found: x}) == steps
