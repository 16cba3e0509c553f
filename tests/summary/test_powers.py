"""Accumulators that double, change sign or start late, and those that one of several paths changes by itself."""

from __future__ import annotations

import pytest

from judged import judge_alone
from loopless.summary.obligations.powers import powers
from loopless.terms import INTEGERS, IntType, Var, add, const, evaluate, floor_div, mul, neg, power

K = Var("#k", INTEGERS)
A = Var("a", IntType(32))

SMALL = [*range(-40, 41), 2**30, 2**30 - 1, -(2**30), -(2**30) - 1, 715827882, 715827883, 2**31 - 1, -(2**31)]
ENDS = [*range(-12, 13), 2**31 - 1, 2**31 - 2, -(2**31)]

LOOPS = {
    "doubled": "int f(int x, int i, int n) { while (i < n) { x += x; i++; } return x; }",
    "doubled, from any side": "int f(int x, int i) { for (; i != 5; i++) x += x; return x; }",
    "affine": "int f(int x, int i, int n) { while (i < n) { x = 3 * x - 4; i += 2; } return x; }",
    "negative": "int f(int x, int i, int n) { while (i < n) { x *= -2; i++; } return x; }",
    "negated": "int f(int x, int i, int n) { while (i < n) { x *= -1; i++; } return x; }",
    "for ever": "int f(int x, int i) { while (i) { x += x; } return x; }",
    "beside": "int f(int s, int i, int n) { while (i < n) { if (i < 3) { s -= 2; s += s; i++; } else { s -= s; i += 10; } }"
    " return s; }",
    "in turns": "int f(int s, int i, int n, int x) { while (i < n) { if (x < 10) { x += 2; s *= 2; } else x -= 13; i++; }"
    " return s; }",
    "divided in turns": "unsigned f(unsigned s, int i, int n, int x)"
    " { while (i < n) { if (x < 20) { x += 3; s /= 5; } else x--; i++; } return s; }",
    "late": "int f(int n, int i, int s, int b) { for (; i < n; i++) { if (b == 0) { s = 5; b = 1; } else if (b == 1)"
    " { s -= 2; b = 2; } else { s *= -1; b = 0; } } return s; }",
    "chosen by an invariant": "int f(int n, int i, int j, int t, int s) { while (i < n) { if (j < t) { j++; s *= -1; }"
    " else { j = 0; i++; } } return s; }",
}


@pytest.mark.parametrize("name", LOOPS)
def test_products_beside_a_counter(name):
    near = {"x": SMALL, "s": SMALL, "i": ENDS, "n": ENDS, "t": ENDS, "b": [0, 1, 2, 3]}
    summary, regions = judge_alone(LOOPS[name], count=600, near=near)
    assert summary.complete
    assert regions["case"] + regions["diverges"] > 20
    assert regions["out of reach"] == 0


@pytest.mark.parametrize("base", [2, 3, -2, -3])
@pytest.mark.parametrize("divisor", [1, 2, 5])
def test_the_extremes_decide_for_all_rounds(base, divisor):
    start = add(mul(A, power(const(base), K)), const(7))
    term = add(neg(floor_div(start, const(divisor))), const(-20))
    found = powers(term, K)
    assert found is not None
    for a in (*range(-30, 31), 2**31 - 1, -(2**31)):
        for final in (0, 1, 2, 3, 7, 20, 60):
            all_along = all(evaluate(term, {A: a, K: k}) <= 0 for k in range(final + 1))
            assert all_along == all(evaluate(value, {A: a}) <= 0 for value in found.extremes(const(final)))


def test_what_is_no_power_is_none():
    assert powers(add(mul(K, power(const(2), K)), const(1)), K) is None
    assert powers(add(power(const(2), K), power(const(3), K)), K) is None
    assert powers(mul(A, K), K) is None


WRAPPED = {
    "counted": "int f(int n, int i, signed char t, int u) { for (; i < u; i += 3) { t -= n; } return t; }",
    "for ever": "int f(int n, signed char t, int u) { while (u) { t = n - t; t += 3; } return t; }",
    "in one of two paths": "int f(int n, int i, signed char t, int u) { while (i < u) { if (i > 3) i += 2; else { t -= n; i += 3; } }"
    " return t; }",
}


@pytest.mark.parametrize("name", WRAPPED)
def test_checks_of_what_wraps_around(name):
    edges = [*(2**31 - 1 - k for k in range(0, 260, 3)), *(k - 2**31 for k in range(0, 260, 3)), *range(-5, 5)]
    near = {"n": edges, "i": range(-60, 60), "u": range(-60, 100)}
    summary, regions = judge_alone(WRAPPED[name], count=700, near=near)
    assert summary.complete
    assert regions["undefined"] > 50
