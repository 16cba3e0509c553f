"""Shortest paths into a location, followed by hand."""

from __future__ import annotations

import pytest

from loopless import clock
from loopless.logic.unrolling import runs_into
from loopless.terms import INTEGERS, TRUE, Valuation, Var, add, const, equal, greater, less, mul, scale
from steps_by_hand import Step

X = Var("x", INTEGERS)
INPUT = Var("?loop>a:0", INTEGERS)
GOALS = frozenset(("bad",))


def asked(*steps, most=40, seconds=60.0):
    return runs_into(steps, "", GOALS, clock.counted() + seconds, most)


def followed(steps, taken):
    """What x is at the end of a run along these steps; each must be possible where it is taken."""
    location, values = "", {}
    for one in taken:
        step = steps[one.step]
        assert step.source == location
        here = {**{var: value for var, value in one.values.items() if var not in values}, **values}
        here.update({var: value for var, value in one.values.items() if var.name.startswith("?")})
        assert all(one.values[var] == value for var, value in here.items() if var in one.values)
        assert Valuation(here, lambda *_: 0).holds(step.condition)
        values = {**here, **{v: Valuation(here, lambda *_: 0).evaluate(term) for v, term in step.update.items()}}
        location = step.target
    assert location in GOALS
    return values.get(X)


def test_the_shortest_run_is_found():
    """From 1 by doubling or adding 3 to 11: 1, 4, 8, 11; there is none with two steps."""
    steps = (
        Step("", "loop", TRUE, {X: const(1)}),
        Step("loop", "loop", TRUE, {X: scale(X, 2)}),
        Step("loop", "loop", TRUE, {X: add(X, const(3))}),
        Step("loop", "bad", equal(X, const(11))),
    )
    taken = asked(*steps)
    assert followed(steps, taken) == 11
    assert len(taken) == 5


def test_each_step_has_inputs_of_its_own():
    steps = (
        Step("", "loop", TRUE, {X: const(0)}),
        Step("loop", "loop", less(INPUT, const(10)), {X: add(X, INPUT)}),
        Step("loop", "bad", equal(X, const(25))),
    )
    taken = asked(*steps)
    assert followed(steps, taken) == 25
    assert len(taken) == 5  # 9 is the most that one step adds
    assert len({one.values[INPUT] for one in taken[1:-1]}) > 1


@pytest.mark.parametrize("most", [4, 3])
def test_no_more_steps_than_asked_for(most):
    steps = (
        Step("", "loop", TRUE, {X: const(0)}),
        Step("loop", "loop", TRUE, {X: add(X, const(1))}),
        Step("loop", "bad", equal(X, const(2))),
    )
    assert (asked(*steps, most=most) is not None) == (most == 4)


def test_where_no_run_leads_none_is_found():
    steps = (
        Step("", "loop", TRUE, {X: const(5)}),
        Step("loop", "loop", greater(X, const(0)), {X: add(X, const(-1))}),
        Step("loop", "bad", greater(mul(X, X), const(25))),
    )
    assert asked(*steps) is None


def test_a_deadline_in_the_past_finds_nothing():
    assert asked(Step("", "bad"), seconds=-1) is None
    assert asked(Step("", "bad")) is not None
