"""Affine ranking functions: each step has its effect at all points where its rows are 0 or more."""

from __future__ import annotations

import itertools
import random
from functools import partial

import pytest

from loopless.logic.farkas import Farkas
from loopless.ranking.affine import Kept, Lowered, Raised, RankedStep, ranking_functions
from loopless.ranking.templates import LinearStep
from loopless.terms import INTEGERS, Var, const, evaluate, substitute

X, Y, N = (Var(name, INTEGERS) for name in "xyn")


def step(source, target, rows, after, effect):
    return RankedStep(LinearStep(source, target, tuple(rows), partial(_after, after)), effect)


def _after(after, term):
    return substitute(term, after)


def has_its_effect(one, found, span, rise=None):
    """At all points of a box, over the rationals of the functions; how many points there were."""
    seen = 0
    for values in itertools.product(span, repeat=3):
        state = dict(zip((X, Y, N), values, strict=True))
        if any(evaluate(row, state) < 0 for row in one.step.rows):
            continue
        seen += 1
        before, after = found[one.step.source], found[one.step.target]
        now = evaluate(before.term, state)
        then = evaluate(one.step.after(after.term), state)
        match one.effect:
            case Lowered(by, least):
                assert now >= least * before.divisor
                assert now - then >= by * before.divisor
            case Kept():
                assert now >= then
            case Raised():
                assert then - now <= rise * before.divisor
    return seen


def test_two_places_share_a_function_that_falls():
    """From a to b y := x + 3, back x := y - 4: x falls by 1 in a round."""
    steps = [
        step("a", "b", [X], {Y: X + 3}, Lowered(1, 0)),
        step("b", "a", [Y], {X: Y - 4}, Kept()),
    ]
    found = ranking_functions(Farkas(), {"a": [X], "b": [Y]}, steps)
    assert found is not None
    assert sum(has_its_effect(one, found, range(-6, 7)) for one in steps) > 100


@pytest.mark.parametrize("after", [{}, {X: X + 1}, {X: const(5)}], ids=["still", "rising", "set anew"])
def test_nothing_falls_where_x_may_stay_or_rise(after):
    assert ranking_functions(Farkas(), {"a": [X]}, [step("a", "a", [X], after, Lowered(1, 0))]) is None


def test_a_rise_is_as_small_as_possible():
    """x falls by 1 while it is positive, and x := x + 7 at most where n is 0."""
    steps = [
        step("a", "a", [X - 1], {X: X - 1}, Lowered(1, 1)),
        step("a", "a", [N, -N], {X: X + 7}, Raised("rise")),
    ]
    found = ranking_functions(Farkas(), {"a": [X, N]}, steps)
    assert found is not None
    assert has_its_effect(steps[0], found, range(-5, 6)) > 100
    assert has_its_effect(steps[1], found, range(-5, 6), rise=7) > 100
    with pytest.raises(AssertionError):
        has_its_effect(steps[1], found, range(-5, 6), rise=6)


def test_the_lexicographic_second_component_asks_for_the_first_to_be_kept():
    """x falls while y is reset to n; y falls while x is kept: each has a function that the other step keeps or not."""
    outer = partial(step, "a", "a", [X - 1], {X: X - 1, Y: N})
    inner = partial(step, "a", "a", [Y - 1], {Y: Y - 1})
    every = {"a": [X, Y, N]}
    assert ranking_functions(Farkas(), every, [outer(Lowered(1, 1)), inner(Kept())]) is not None
    assert ranking_functions(Farkas(), every, [outer(Kept()), inner(Lowered(1, 1))]) is None


@pytest.mark.parametrize("seed", range(30))
def test_what_is_found_on_random_steps_has_its_effects(seed):
    chosen = random.Random(seed)

    def affine(low, high):
        return X * chosen.randint(low, high) + Y * chosen.randint(low, high) + chosen.randint(-3, 3)

    steps = []
    for number, (source, target) in enumerate([("a", "a"), ("a", "b"), ("b", "a")]):
        rows = [affine(-2, 2) for _ in range(3)]
        update = {X: X + chosen.randint(-3, 1), Y: Y + chosen.randint(-2, 2)}
        steps.append(step(source, target, rows, update, Kept() if number else Lowered(1, 0)))
    found = ranking_functions(Farkas(), {"a": [X, Y], "b": [X, Y]}, steps)
    if found is not None:
        assert all(found[one.step.source].divisor == found[one.step.target].divisor for one in steps)
        for one in steps:
            has_its_effect(one, found, range(-6, 7))


def test_most_random_steps_have_functions():
    """So that the test above sees some."""
    found = 0
    for seed in range(30):
        chosen = random.Random(seed)
        update = {X: X - chosen.randint(1, 3), Y: Y + chosen.randint(-2, 2)}
        one = step("a", "a", [X * chosen.randint(1, 3) + chosen.randint(-3, 3)], update, Lowered(1, 0))
        functions = ranking_functions(Farkas(), {"a": [X, Y]}, [one])
        if functions is not None:
            found += has_its_effect(one, functions, range(-4, 5)) > 0
    assert found == 30
