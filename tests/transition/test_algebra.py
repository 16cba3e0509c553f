"""The algebra of steps, judged by running steps on all states of small ranges."""

from __future__ import annotations

import itertools
import random

import pytest

from loopless import terms as t
from loopless.flowgraph.model import Load, Origin, Pointer
from loopless.terms.relation import GuardedUpdate, behind, join, pre
from loopless.transition.algebra import apart, compose, given, identity, named_at, numbered
from loopless.transition.relation import Kind, Step, TransitionInput

X, Y, IN = t.Var("x", t.INTEGERS), t.Var("y", t.INTEGERS), t.Var("?in", t.INTEGERS)
TAKEN = TransitionInput(IN, Origin.NONDET, "b", 0)
STATES = [{X: x, Y: y} for x, y in itertools.product(range(-2, 3), repeat=2)]
SEEDS = range(25)


def valuation(values):
    return t.Valuation(values, lambda *_: 0)


def some_term(rng):
    term = rng.randint(-2, 2) + rng.choice((X, Y, IN)) * rng.randint(-2, 2) + rng.choice((X, Y))
    if rng.random() < 0.4:
        return t.ite(some_condition(rng), term, rng.choice((X, Y, IN)))
    return term * rng.choice((X, IN)) if rng.random() < 0.2 else term


def some_condition(rng):
    left = rng.choice((X, Y, IN)) * rng.randint(-2, 2) + rng.choice((X, Y, IN))
    condition = rng.choice((left.le(rng.randint(-2, 2)), left.eq(rng.randint(-2, 2)), left.ge(1)))
    return condition | Y.lt(X) if rng.random() < 0.3 else condition


def some_step(rng, source="a", target="b"):
    update = {var: some_term(rng) for var in (X, Y) if rng.random() < 0.7}
    return Step(source, target, some_condition(rng), update, (TAKEN,), taken=(TAKEN,))


def run(step, state, inputs):
    """The state behind the step, by its numbers; None where it is not taken."""
    here = valuation({**state, **inputs})
    if not here.holds(step.condition):
        return None
    return {var: here.evaluate(step.update.get(var, var)) for var in state}


@pytest.mark.parametrize("seed", SEEDS)
def test_composed_steps_run_as_both_one_after_the_other(seed):
    rng = random.Random(seed)
    first, second = some_step(rng), some_step(rng, "b", "c")
    whole = compose(numbered(first, 0), numbered(second, 1))
    names = named_at(IN, 0), named_at(IN, 1)
    assert (whole.source, whole.target) == ("a", "c")
    assert tuple(one.var for one in whole.inputs) == tuple(one.var for one in whole.taken) == names
    for state, one, other in itertools.product(STATES, (-1, 2), (0, 1)):
        between = run(first, state, {IN: one})
        after = run(second, between, {IN: other}) if between is not None else None
        assert run(whole, state, dict(zip(names, (one, other), strict=True))) == after


@pytest.mark.parametrize("seed", SEEDS)
def test_pre_holds_where_the_step_leads_to_the_condition(seed):
    rng = random.Random(seed)
    step, condition, term = some_step(rng), Y.le(X + 1) | X.eq(0), X - Y * 2
    for state, taken in itertools.product(STATES, (-1, 0, 2)):
        after = run(step, state, {IN: taken})
        here = valuation({**state, IN: taken})
        assert here.holds(pre(step, condition)) == (after is not None and valuation(after).holds(condition))
        if after is not None:
            assert here.evaluate(behind(step, term)) == valuation(after).evaluate(term)


@pytest.mark.parametrize("seed", SEEDS)
def test_joined_ways_run_as_the_one_that_is_taken(seed):
    rng = random.Random(seed)
    choice, common, shared = some_condition(rng), some_condition(rng), {X: X + 1}
    steps = [some_step(rng), some_step(rng)]
    ways = [
        (common & choice, {**shared, **steps[0].update}),
        (common & ~choice & Y.le(1), {**shared, **steps[1].update}),
    ]
    whole = join([GuardedUpdate(*way) for way in ways], frozenset((X, Y)))
    joined = Step("a", "b", whole.condition, whole.update, (TAKEN,))
    for state, taken in itertools.product(STATES, (-1, 0, 2)):
        each = [run(Step("a", "b", when, values, (TAKEN,)), state, {IN: taken}) for when, values in ways]
        expected = next((one for one in each if one is not None), None)
        assert run(joined, state, {IN: taken}) == expected


@pytest.mark.parametrize("seed", SEEDS)
def test_a_step_divided_by_its_choices_runs_as_one_of_its_parts(seed):
    step = some_step(random.Random(seed))
    parts = apart(step)
    for state, taken in itertools.product(STATES, (-1, 0, 2)):
        found = [after for part in parts if (after := run(part, state, {IN: taken})) is not None]
        expected = run(step, state, {IN: taken})
        assert found == ([] if expected is None else [expected])


def test_what_accesses_read_has_the_name_that_the_step_gives_it():
    """Both steps load from a place that depends on ``x``, which the first one sets to what it has loaded."""
    load = Load(IN, Pointer(t.const(1), X), t.IntType(8))
    step = Step("a", "a", t.TRUE, {X: IN}, (TAKEN,), taken=(TAKEN,), accesses=(load, None))
    whole = compose(numbered(step, 0), numbered(step, 1))
    first, unknown, second, _ = whole.accesses
    assert unknown is None
    assert isinstance(first, Load)
    assert isinstance(second, Load)
    assert (first.target, first.address.offset) == (named_at(IN, 0), X)
    assert (second.target, second.address.offset) == (named_at(IN, 1), named_at(IN, 0))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_step_of_given_values_runs_as_it_does_from_them(seed):
    step = some_step(random.Random(seed))
    for state, taken in itertools.product(STATES, (-1, 2)):
        fixed = given(step, {X: t.const(state[X]), IN: t.const(taken)})
        assert not fixed.inputs
        assert IN not in fixed.condition.variables
        assert run(fixed, state, {}) == run(step, state, {IN: taken})


def test_nothing_is_composed_that_does_not_follow():
    step = some_step(random.Random(0))
    assert compose(identity("a"), step) == step
    with pytest.raises(ValueError, match="not followed"):
        compose(step, step)


@pytest.mark.parametrize(
    ("first", "second", "whole"),
    [
        (Kind.EXACT, Kind.EXACT, Kind.EXACT),
        (Kind.EXACT, Kind.OVER, Kind.OVER),
        (Kind.OVER, Kind.OVER, Kind.OVER),
        (Kind.UNDER, Kind.EXACT, Kind.UNDER),
    ],
)
def test_a_composed_step_says_no_more_than_its_parts(first, second, whole):
    made = compose(Step("a", "b", t.TRUE, {}, (), kind=first), Step("b", "c", t.TRUE, {}, (), kind=second))
    assert made.kind is whole
    assert made.kind.proves == (first.proves and second.proves)
    assert made.kind.refutes == (first.refutes and second.refutes)


def test_nothing_follows_from_too_much_and_too_little():
    over, under = Step("a", "b", t.TRUE, {}, (), kind=Kind.OVER), Step("b", "c", t.TRUE, {}, (), kind=Kind.UNDER)
    with pytest.raises(ValueError, match="nothing follows"):
        compose(over, under)
