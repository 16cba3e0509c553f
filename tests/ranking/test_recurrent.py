"""Recurrent sets: from their states, at all points of a box that the proofs look at, runs never leave them."""

from __future__ import annotations

import itertools

import pytest

from loopless import clock
from loopless.logic.steps import PlaceStep
from loopless.ranking.recurrent import Rounds, deciding_variables, first_visit, unchanged
from loopless.terms import FALSE, INTEGERS, TRUE, IntType, TermTooLarge, Var, conjunction, evaluate, holds, wrap

X, Y, N = (Var(name, INTEGERS) for name in "xyn")
BOX = [dict(zip((X, Y, N), values, strict=True)) for values in itertools.product(range(-6, 7), repeat=3)]
DOWN = PlaceStep("a", "a", X.gt(0), {X: X - Y})
OUT = PlaceStep("a", "", X.le(0), {})


def excludes(given, condition):
    return not any(holds(conjunction((*given, condition)), state) for state in BOX)


def runs_on(steps, states, place, state, most=30):
    """Whether some step is taken each time, within the states."""
    for _ in range(most):
        assert all(holds(condition, state) for condition in states[place]), (place, state)
        step = next((one for one in steps if one.source == place and holds(one.condition, state)), None)
        if step is None:
            return False
        state = state | {var: evaluate(term, state) for var, term in step.update.items()}
        place = step.target
        if max(map(abs, state.values())) > 10**6:
            return True
    return True


@pytest.mark.parametrize(
    ("condition", "recurs"),
    [
        (X.gt(0) & Y.eq(0), True),
        (X.gt(0) & Y.le(0), True),
        (X.gt(0), False),  # it is left
        (X.ge(0) & Y.eq(0), False),  # no step is taken at 0
        (FALSE, True),
    ],
)
def test_a_set_is_recurrent_where_no_run_leaves_it(condition, recurs):
    states = {"a": (condition,)}
    assert Rounds([DOWN], excludes, [OUT]).is_recurrent(states) is recurs
    if recurs:
        inside = [state for state in BOX if holds(condition, state)]
        assert all(runs_on([DOWN, OUT], states, "a", state) for state in inside)


def test_a_set_may_lie_at_several_places():
    steps = [PlaceStep("a", "b", X.ge(1), {X: X - 1}), PlaceStep("b", "a", TRUE, {X: X + 1})]
    states = {"a": (X.eq(4),), "b": (X.eq(3),)}
    assert Rounds(steps, excludes).is_recurrent(states)
    assert runs_on(steps, states, "a", {X: 4, Y: 0, N: 0})
    assert not Rounds(steps, excludes).is_recurrent({"a": (X.eq(4),), "b": (X.eq(4),)})
    assert not Rounds(steps, excludes).is_recurrent({"a": (X.ge(0),), "b": (X.ge(-1),)})  # stuck at a with 0


def test_the_candidates_that_steps_keep_are_a_recurrent_set():
    """x >= 1 is lost where y may be positive, and x >= 1 and y == 0 hold for ever."""
    states = Rounds([DOWN], excludes).largest_within({"a": (X.ge(1), Y.eq(0), X.le(N))}, clock.counted() + 60)
    assert states == {"a": (X.ge(1), Y.eq(0), X.le(N))}
    assert Rounds([DOWN], excludes, [OUT]).is_recurrent(states)
    assert Rounds([DOWN], excludes).largest_within({"a": (X.ge(1), N.eq(0))}, clock.counted() + 60) is None


def test_facts_hold_whichever_step_is_taken():
    """Without the fact some state has no step."""
    states = {"a": (X.ge(0) & Y.eq(0),)}
    assert not Rounds([DOWN], excludes).goes_on(states)
    assert Rounds([DOWN], excludes, facts={"a": [X.ne(0)]}).goes_on(states)


def test_where_steps_cover_all_states_only_those_that_leave_count():
    unknown = PlaceStep("a", "a", X.gt(0) & N.gt(0), {})
    states = {"a": (X.gt(0),)}
    assert not Rounds([unknown], excludes).is_recurrent(states)
    assert Rounds([unknown], excludes, covered=True).is_recurrent(states)
    assert not Rounds([unknown], excludes, [PlaceStep("a", "", X.gt(5), {})], covered=True).is_recurrent(states)


def test_a_visit_enters_a_set_at_its_place_only():
    states = {"a": (X.ge(2), Y.eq(0))}
    visits = [("b", {X: 5, Y: 0}), ("a", {X: 1, Y: 0}), ("a", {X: 2, Y: 1}), ("a", {X: 2, Y: 0})]
    assert first_visit(states, visits) == 3
    assert first_visit(states, visits[:3]) is None


def test_what_conditions_are_computed_from_decides():
    steps = [PlaceStep("a", "a", X.gt(0), {X: X - Y, N: N + 1}), PlaceStep("a", "a", X.gt(3), {Y: Y * 2})]
    assert deciding_variables([*steps, OUT], steps) == {X, Y}


def test_a_step_leaves_what_decides_unchanged_where_its_conditions_say():
    found = unchanged({X: X - Y, N: N + 1}, frozenset((X, Y)))
    assert list(found) == [X]
    for state in BOX:
        assert holds(found[X], state) is (state[X] - state[Y] == state[X])


def test_a_variable_that_wraps_around_is_unchanged_by_a_multiple_of_all_its_values():
    byte = IntType(8, signed=False)
    a, b = Var("a", byte), Var("b", byte)
    (same,) = unchanged({a: wrap(a + b * 4, byte)}, frozenset((a,))).values()
    for x, y in itertools.product((0, 3, 255), range(256)):
        assert holds(same, {a: x, b: y}) is ((x + 4 * y) % 256 == x)


def test_a_term_that_grows_too_large_is_not_shown_to_lead_back():
    power = X
    for _ in range(4):
        power = power * power + Y
    with pytest.raises(TermTooLarge):
        power * power
    assert not Rounds([PlaceStep("a", "a", TRUE, {X: power})], lambda *_: True).leads_back({"a": ((X * X * X).ge(0),)})
