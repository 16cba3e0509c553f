"""Linear steps: in each state in which a step is taken, a way's rows hold, and it leads where the step does."""

from __future__ import annotations

import itertools

import pytest

from loopless.ranking.templates import Template
from loopless.terms import INTEGERS, IntType, Var, evaluate, holds, ite, maximum, minimum, wrap
from loopless.transition.relation import Step
from loopless.verification.linear_steps import linear, ways

X, Y = Var("x", INTEGERS), Var("y", INTEGERS)
BYTE = Var("b", IntType(8, signed=False))
STATES = [{X: x, Y: y, BYTE: b} for x, y, b in itertools.product(range(-5, 6), range(-5, 6), (0, 1, 7, 254, 255))]

STEPS = {
    "affine": Step("a", "b", X.gt(0), {X: X - Y * 2, Y: X + 3}, ()),
    "a choice": Step("a", "a", X.gt(-3), {X: ite(Y.gt(0), X - 1, Y)}, ()),
    "either": Step("a", "a", X.gt(2) | Y.lt(0), {X: X - 1}, ()),
    "unequal": Step("a", "a", X.ne(Y), {X: X + 1}, ()),
    "the smaller": Step("a", "a", X.gt(0), {X: minimum(X - 1, Y), Y: maximum(X, Y)}, ()),
    "round the type": Step("a", "a", BYTE.ne(0), {BYTE: wrap(BYTE + 3, BYTE.type)}, ()),
}
KNOWN = Y.le(4)


@pytest.mark.parametrize("name", STEPS)
def test_ways_cover_a_step_and_are_linear(name):
    step = STEPS[name]
    found = [(way, linear(way)) for way in ways(step, (KNOWN,))]
    taken = 0
    for state in STATES:
        here = [made for way, made in found if holds(way.condition, state)]
        if not holds(step.condition & KNOWN, state):
            assert not here
            continue
        taken += 1
        assert here
        for made in here:
            assert (made.source, made.target) == (step.source, step.target)
            assert all(evaluate(row, state) >= 0 for row in made.rows)
            for var, term in step.update.items():
                assert evaluate(made.after(var), state) == evaluate(term, state)
    assert taken > 50


def test_what_is_known_at_the_source_holds():
    step = STEPS["affine"]
    (made,) = (linear(way) for way in ways(step, (KNOWN,)))
    assert any(evaluate(row, {X: 1, Y: 5, BYTE: 0}) < 0 for row in made.rows)
    assert list(ways(step, (X.lt(0),))) == []


def test_what_is_not_linear_has_a_name_with_what_is_known_of_it():
    """A quotient by 3 is below a third of x, but no row says what the product of x and y is."""
    step = Step("a", "a", X.gt(0), {X: X // 3, Y: X * Y}, ())
    (made,) = (linear(way) for way in ways(step, ()))
    quotient, product = made.after(X), made.after(Y)
    assert quotient not in (X, Y) and product not in (X, Y)
    for x in range(1, 9):
        bound = [evaluate(row, {X: x, Y: 0, quotient: q, product: 0}) >= 0 for row in made.rows for q in (x // 3,)]
        assert all(bound)
        wrong = {X: x, Y: 0, quotient: x // 3 + 1, product: 0}
        assert any(evaluate(row, wrong) < 0 for row in made.rows)


def test_a_function_behind_a_step_is_one_of_the_values_before():
    (made,) = (linear(way) for way in ways(STEPS["affine"], ()))
    form = made.then(Template("f", (X, Y)))
    assert set(form) == {None, X, Y}
    assert form[Y] == {"f1+": -2, "f1-": 2}
    assert form[X] == {"f1+": 1, "f1-": -1, "f2+": 1, "f2-": -1}
    assert form[None] == {"f0+": 1, "f0-": -1, "f2+": 3, "f2-": -3}
