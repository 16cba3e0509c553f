"""Oscillation by steps that are parameters: judged against the loop itself, complete where no step can overflow."""

from __future__ import annotations

import random
from itertools import product

import pytest

from judged import judge, judge_alone
from loopless.summary.portfolio import summarize_by_parts
from loopless.terms import holds
from loops_in_c import graph

BOTH_STEPS = "int f(int t, int x, int a, int b) { while (t > 0) { if (x < 10) x += a; else x -= b; t--; } return x; }"
A_BORDER = "int f(int t, int x, int a, int m) { while (t > 0) { if (x < m) x += a; else x -= 3; t--; } return x; }"
SUMS = """int f(int t, int x, int a, int b) {
    int s = 0;
    while (t > 0) { if (x < 10) { x += a; s += 2; } else { x -= b; s += 5; } t--; }
    return s;
}"""
DOWN_BY_A_PARAMETER = """int f(int t, int x, int a, int b, int d) {
    while (t > 0) { if (x > 0) { x -= a; } else { x += b; } t -= d; }
    return x + t;
}"""
TWO_MOVE = """int f(int t, int x, int y, int a) {
    while (t != 0) { if (x <= y) { x += a; y -= 1; } else { x -= 2; y += 1; } t--; }
    return x;
}"""
EACH = {
    "both steps": BOTH_STEPS,
    "border and one step": A_BORDER,
    "sums": SUMS,
    "a counter with a step": DOWN_BY_A_PARAMETER,
    "two that move": TWO_MOVE,
}
SMALL = {name: range(-20, 40) for name in ("t", "x", "a", "b", "d", "m", "y")}


@pytest.mark.slow
@pytest.mark.parametrize("what", EACH)
def test_any_state(what):
    judge_alone(EACH[what], count=60, seed=3, near=SMALL)


@pytest.mark.slow
def test_small_steps_are_complete():
    summary, _ = judge_alone(SUMS, count=10)
    chosen = random.Random(5)
    variables = {v for path in summary.paths.all for v in path.condition.variables | set(path.update)}
    for _ in range(60):
        state = {v: chosen.randrange(-1000, 1000) for v in variables}
        assert not any(holds(residual.when, state) for residual in summary.residual), state


@pytest.mark.parametrize(("a", "b"), [(1, 3), (7, 1), (60, 8)])
@pytest.mark.slow
def test_every_start_of_eight_bits(a, b):
    source = """signed char f(signed char t, signed char x, signed char a, signed char b) {
        if (x > -60 && x < 60) while (t > 0) { if (x < 10) x += a; else x -= b; t--; }
        return x;
    }"""
    counts = judge(graph(source), summarize_by_parts, product((-1, 0, 1, 2, 3, 50, 127), range(-62, 62), (a,), (b,)))
    assert counts["case"] > 500
    assert counts["residual"] == 0


@pytest.mark.slow
def test_two_billion_turns():
    summary, _ = judge_alone(BOTH_STEPS, count=10)
    t, x, a, b = 2_000_000_000, 5, 1_000_003, 999
    high = (x - 10 + 1 + b - 1 + a * t) // (a + b)  # turns from within the interval, by the formula in the paper
    assert 10 - b <= x < 10 + a
    assert summary(t=t, x=x, a=a, b=b)["x"] == x + a * t - (a + b) * high
