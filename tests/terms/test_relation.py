"""The algebra of steps, against steps that are taken one by one."""

from __future__ import annotations

import random

import pytest

from loopless import terms as t
from loopless.terms.relation import GuardedUpdate, behind, compose, computed_from, followed, join, over, pre

X, Y, IN, OTHER = (t.Var(name, t.INTEGERS) for name in ("x", "y", "in", "other"))
VALUES = range(-3, 4)
STATES = [{X: x, Y: y} for x in VALUES for y in VALUES]


def drawn(random_: random.Random, inputs: bool) -> GuardedUpdate:
    """A step over x and y, which may take one value from outside."""

    def term() -> t.Term:
        parts = [t.const(random_.randint(-2, 2)), X * random_.randint(-1, 2), Y * random_.randint(-1, 1)]
        return t.add(*parts, IN if inputs and random_.random() < 0.5 else t.ZERO)

    conditions = [random_.choice((term().le(0), term().eq(0), term().ne(0), term().le(0) | term().ge(2)))]
    update = {var: term() for var in (X, Y) if random_.random() < 0.8}
    return GuardedUpdate(t.conjunction(conditions), update)


def taken(step: GuardedUpdate, state: dict[t.Var, int], *inputs: tuple[t.Var, int]) -> dict[t.Var, int] | None:
    """The state behind the step; None where it is not taken."""
    values = {**state, **dict(inputs)}
    if not t.holds(step.condition, values):
        return None
    return {var: t.evaluate(step.update.get(var, var), values) for var in (X, Y)}


@pytest.mark.parametrize("seed", range(40))
def test_a_preimage_is_where_the_step_leads_into_the_condition(seed):
    random_ = random.Random(seed)
    step, wanted = drawn(random_, inputs=False), drawn(random_, inputs=False).condition
    for state in STATES:
        after = taken(step, state)
        assert t.holds(pre(step, wanted), state) == (after is not None and t.holds(wanted, after))
        if after is not None:
            assert t.evaluate(behind(step, X * 2 - Y), state) == 2 * after[X] - after[Y]


@pytest.mark.parametrize("seed", range(40))
def test_a_composition_takes_one_step_and_the_next(seed):
    """Each takes a value of its own from outside."""
    random_ = random.Random(seed)
    first, second = drawn(random_, inputs=True), drawn(random_, inputs=True)
    whole = compose(first, second, {IN: OTHER})
    for state in STATES:
        for a, b in ((0, 0), (1, -2), (3, 1)):
            middle = taken(first, state, (IN, a))
            expected = None if middle is None else taken(second, middle, (IN, b))
            assert taken(whole, state, (IN, a), (OTHER, b)) == expected


@pytest.mark.parametrize("seed", range(20))
def test_updates_one_after_another(seed):
    random_ = random.Random(seed)
    first, second = drawn(random_, inputs=False).update, drawn(random_, inputs=False).update
    for state in STATES:
        middle = {var: t.evaluate(first.get(var, var), state) for var in (X, Y)}
        after = {var: t.evaluate(second.get(var, var), middle) for var in (X, Y)}
        both = followed(first, second)
        assert {var: t.evaluate(both.get(var, var), state) for var in (X, Y)} == after


@pytest.mark.parametrize("seed", range(40))
def test_a_join_takes_the_step_whose_condition_holds(seed):
    random_ = random.Random(seed)
    common, split = drawn(random_, inputs=False).condition, drawn(random_, inputs=False).condition
    steps = [
        GuardedUpdate(common & condition, drawn(random_, inputs=False).update)
        for condition in (split, ~split & X.le(0), ~split & X.gt(0))
    ]
    whole, of_x = join(steps), join(steps, frozenset((X,)))
    assert Y not in of_x.update
    for state in STATES:
        after = next((found for step in steps if (found := taken(step, state)) is not None), None)
        assert taken(whole, state) == after
        assert t.holds(of_x.condition, state) == (after is not None)
        if after is not None:
            assert t.evaluate(of_x.update.get(X, X), state) == after[X]


@pytest.mark.parametrize("seed", range(20))
def test_a_step_over_values_is_the_step_from_there(seed):
    random_ = random.Random(seed)
    step = drawn(random_, inputs=True)
    for state in STATES:
        placed = over(step, {var: t.const(value) for var, value in {**state, IN: 1}.items()})
        after = taken(step, state, (IN, 1))
        assert (placed.condition is t.TRUE) == (after is not None)
        if after is not None:
            assert all(placed.update[var] is t.const(after[var]) for var in step.update)


def test_what_variables_are_computed_from_is_followed_through_steps():
    steps = [GuardedUpdate(t.TRUE, {X: Y + 1, OTHER: X}), GuardedUpdate(OTHER.le(0), {Y: IN})]
    assert computed_from(frozenset((X,)), steps) == {X, Y, IN}
    assert computed_from(frozenset((Y,)), steps[:1]) == {Y}
    assert computed_from(frozenset((OTHER,)), steps) == {OTHER, X, Y, IN}
