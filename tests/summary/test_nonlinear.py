"""Loops with one path whose conditions or values are not linear: against the judge, on all states at 8 bits."""

from __future__ import annotations

import random

import pytest

from judged import judge_alone
from loopless import terms as t
from loopless.check.interpreter.run import Interpreter
from loopless.paths import loop_paths
from loopless.queries.evaluation.evaluate import Evaluator
from loopless.stepping import no_stepping
from loopless.summary import summarize
from loopless.summary.rewrite.univariate import as_intervals
from loopless.terms.modular import first_scaled
from loops_in_c import graph

EIGHT_BITS = [
    # two variables of 8 bits: polynomials that wrap around or not
    "int f(unsigned char i, unsigned char n) { while (i * i < n) i++; return i; }",
    "int f(signed char i, signed char n) { while (i * i != n) i++; return i; }",
    "int f(unsigned char i, unsigned char n) { while ((unsigned char)(i * i) < n) i++; return i; }",
    "int f(unsigned char i, unsigned char n) { while ((unsigned char)(i * i * i + 3) != n) i++; return i; }",
    "int f(signed char i, signed char n) { while (i * i * i < 50 * n + 7 * i) i += 3; return i; }",
    "int f(signed char i, signed char n) { while (i * i * i - 40 * i * i + 7 * n < 2000) i--; return i; }",
    "int f(unsigned char x, unsigned char n) { while (x < n) x = 2 * x; return x; }",
    "int f(unsigned char x, unsigned char n) { while (x <= n) x = 3 * x + 1; return x; }",
    "int f(unsigned char x, unsigned char n) { while (x > n) x = x / 2; return x; }",
    "int f(signed char x, signed char n) { while (x != n) x = x / 3; return x; }",
    "int f(signed char x, signed char n) { while (x > n) x /= 2; return x; }",
    "int f(signed char x, signed char n) { while (x < n) x /= 2; return x; }",
    "int f(signed char x, signed char n) { while (x >= n) x >>= 1; return x; }",
    "int f(signed char x, signed char n) { while (x != n) x >>= 2; return x; }",
    "int f(signed char x, signed char n) { while (x == n) x /= 2; return x; }",
    "int f(signed char x, signed char n) { while (n - 2 * x < 9) x /= 5; return x; }",
    "int f(unsigned char x, unsigned char n) { while (x > 0 && n > 3) { x >>= 1; n -= 2; } return x; }",
    "int f(unsigned char r, unsigned char d) { while (r >= d) r -= d; return r; }",
    "int f(signed char r, signed char d) { while (r >= d) r -= d; return r; }",
    "int f(signed char x, signed char y) { while (x < 100) x += y; return x; }",
    "int f(unsigned char x, unsigned char y) { while (x < 100) x += y; return x; }",
    "int f(unsigned char x, unsigned char y) { while (x < 200 || y < 100) { x++; y++; } return x; }",
    "int f(signed char x, signed char y) { while (x * x > y && x != 3) { x -= 2; y++; } return x; }",
    "int f(unsigned char x, unsigned char y) { while (x * x < 3000) { x = y; y += 5; } return x; }",
    "int f(signed char x, signed char y) { while (x * y < 300 && x > -100) { x = y; y += 3; } return x; }",
    "int f(signed char x, signed char y) { while (x * y - y * y < 300) { x = y; y += 3; } return x; }",
    "int f(signed char x, signed char y) { while (x < 3 * y) { x += 5; y -= x > 200; } return x; }",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("source", EIGHT_BITS)
def test_every_state_at_8_bits(source):
    judge_alone(source, count=0, max_steps=3000)


@pytest.mark.parametrize("source", EIGHT_BITS)
@pytest.mark.slow
def test_some_states_at_8_bits(source):
    judge_alone(source, count=300, max_steps=3000)


INTS = [
    "unsigned f(unsigned n) { unsigned i = 0; while (i * i < n) i++; return i; }",
    "int f(int n, int i) { for (i = 0; i * i < n; i++); return i; }",
    "int f(int n, int s, int i) { while (s < n) { s += i; i++; } return s; }",
    "int f(int n, int s, int i) { while (s > n) { s += i; i -= 3; } return s; }",
    "int f(int x, int n) { while (x < n) x = 2 * x; return x; }",
    "int f(int x, int n) { while (x < n) x = 3 * x - 5; return x; }",
    "unsigned f(unsigned x, unsigned n) { while (x < n) x = 2 * x + 1; return x; }",
    "unsigned f(unsigned x) { unsigned c = 0; while (x) { x /= 2; c++; } return c; }",
    "int f(int n) { int c = 0; while (n != 0) { n /= 10; c++; } return c; }",
    "int f(int n, int m) { int c = 0; while (n > m) { n /= 10; c++; } return c; }",
    "int f(int n, int m) { int c = 0; while (n < m) { n /= 7; c += 1000; } return c; }",
    "int f(int r, int d) { int q = 0; while (r >= d) { r -= d; q++; } return q; }",
    "int f(int x, int y, int n) { while (x < n) x += y; return x; }",
    "int f(int x, int y, int n) { while (x != n) x += y; return x; }",
    "int f(int n) { int odd = 1, c = 0; while (n >= odd) { n -= odd; odd += 2; c++; } return c; }",
    "int f(int a, int b, int s) { while (s > 0) { s -= a; a += b; } return s; }",
    "int f(int s, int n) { int i = 0; while (s < n) { s += i * i; i++; } return s; }",
    "int f(int s, int n) { int f = 1; while (s < n) { s += f; f *= 3; } return s; }",
    "int f(int s, int n, int p) { while (s < n) { s += p; p = 2 * p - 7; } return s; }",
    "long f(int n) { long s = 0; int i = 1; while (s * 3 < n) { s += i; i += 4; } return s; }",
    "int f(int x, int n) { while (x * x * x <= n) x++; return x; }",
    "int f(int x, int n, int m) { int y = 0; while (x < n && y * y < m) { x += 5; y++; } return x; }",
    "int f(int x, int n) { while (x > n) x = -2 * x + 1; return x; }",
    "unsigned f(unsigned x, unsigned y, unsigned n) { while (x < n) { x += y; } return x; }",
    "int f(int n, int s) { for (int i = 0; i < n; i++) s += i * i - 1000 * i; return s; }",
    "int f(int n, int s, int p) { for (int i = 0; i < n; i++) { s += 5 - p; p *= 2; } return s; }",
    "int f(int n, int y, int z) { while (3 * n * n + 3 * n + 1 == y && z == 6 * n + 6 && n < 500) { y += z; z += 6; n++; } return y; }",
    "int f(int a, int b, int y) { while (a * y == b && b < 9999) { a = 2 * a; b = 2 * b; } return b; }",
    "int f(int a, int b, int y) { while (a * y <= b && b < 9999) { a = a + y; b = 2 * b + y; } return b; }",
    "int f(int x, int y) { while (x * y < 1000) { x++; y++; } return x; }",
    "int f(int x, int y, int n) { while (x < n) { x += y; y -= 1; } return x; }",
    "unsigned long f(unsigned long x, unsigned n) { while (x * x < n) { x += 7; } return x; }",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("source", INTS)
def test_states_of_ints(source):
    low = 0 if "unsigned" in source else -40
    small = {name: range(low, 60) for name in "abdinmopqrsxy"} | {"n": range(low, 5000)}
    for seed in range(2):
        if "==" in source:
            small |= {"a": (3, 5, -2), "b": (21, 35, -14), "y": (7, 1, 19), "z": (6, 12, 18), "n": (0, 0, 1, 2)}
        _, regions = judge_alone(source, count=150, seed=seed, near=small, max_steps=20_000)
        assert regions["case"] > 5


VALUES = [
    # values of digits, of powers of a matrix, of several sums; complete, but where signs are mixed
    ("unsigned f(unsigned n, unsigned s) { while (n) { s += n % 10; n /= 10; } return s; }", True),
    ("unsigned f(unsigned n, unsigned s) { while (n) { s = s * 10 + n % 10; n /= 10; } return s; }", True),
    ("unsigned f(unsigned n, unsigned c) { while (n) { c += n & 1; n >>= 1; } return c; }", True),
    ("int f(int n, int s) { while (n > 0) { s += n % 10; n /= 10; } return s; }", True),
    ("int f(int n, int s) { while (n) { s += n % 10; n /= 10; } return s; }", True),
    ("unsigned f(unsigned n, unsigned s) { while (n > 3) { n /= 5; s += n; } return s; }", True),
    ("unsigned f(unsigned n, unsigned s) { while (n) { s += 3 * n + 2 * (n % 4) + 1; n /= 4; } return s; }", True),
    ("unsigned f(int n, unsigned s) { while (n) { s = s * 7 - n; n /= 3; } return s; }", True),
    ("unsigned f(unsigned char n, unsigned char s) { for (int i = 0; i < n; i++) { s = 3 * s + n % 2; n >>= 1; } return s; }", False),
    ("unsigned f(int n, int i) { unsigned a = 3, b = n; for (; i < n; i++) { unsigned t = a + b; a = b; b = t; } return a; }", True),
    ("int f(int n) { int a = 0, b = 1; for (int i = 0; i < n; i++) { int t = a + b; a = b; b = t; } return a; }", False),
    ("long f(int n, int a, int b) { long x = a, y = b; while (n > 0) { long t = 2 * x + 3 * y; x = y; y = t; n--; } return y; }", False),
    ("unsigned f(unsigned n, unsigned p) { unsigned char a = 1, b = 3; unsigned s = 0; while (n > 5) { unsigned char t = a + p * b; a = b; b = t; n -= 6; } return a; }", True),
    ("unsigned f(unsigned n, unsigned x) { while (n--) x = x * 1664525u + 1013904223u; return x; }", True),
    ("int f(int n, int s) { int p = 1; for (int i = 0; i < n; i++) { s += i * p; p *= 3; } return s; }", False),
    ("unsigned f(unsigned n) { unsigned s = 0, p = 1; for (unsigned i = 0; i < n; i++) { s += i * i * p; p *= 5; } return s; }", True),
    ("unsigned f(unsigned n) { unsigned s = 0, u = 0, v = 7; for (unsigned i = 0; i < n; i++) { s += u; u += v; v += i; } return s; }", True),
    ("int f(int n, int x) { for (int i = 0; i < n; i++) x = 2 * x + i; return x; }", False),
    ("int f(int n, int x) { while (n > 0) { x += x / 2 * 0 + n; n -= 2; } return x; }", False),
]  # fmt: skip


@pytest.mark.parametrize(("source", "complete"), VALUES)
@pytest.mark.slow
def test_values_that_have_a_name_or_a_sum(source, complete):
    small = {"n": range(40), "i": range(30), "a": range(-3, 9), "b": range(-3, 9), "x": range(-9, 9), "p": range(4)}
    found, regions = judge_alone(source, count=250, near=small, max_steps=20_000)
    assert found.complete or not complete
    assert regions["case"] > 20


@pytest.mark.parametrize("seed", range(20))
def test_polynomial_conditions_in_one_variable_are_intervals(seed):
    chosen = random.Random(seed)
    changed = 0
    for _ in range(30):
        type_ = chosen.choice((t.IntType(8), t.IntType(8, signed=False), t.INTEGERS))
        x = t.variable("x", type_)
        size = chosen.choice((1, 100, 10**4, 10**6))
        powers = [t.scale(t.product([x] * i), chosen.randrange(-50, 51) * size ** (i < 2)) for i in range(8)]
        value = t.add(*chosen.sample(powers, chosen.randrange(2, 6)))
        condition = chosen.choice((t.at_most_zero, t.equals_zero, t.not_zero))(value)
        found = as_intervals(condition)
        changed += found is not condition
        for v in range(-400 if type_.min is None else type_.min, 401 if type_.max is None else type_.max + 1):
            assert t.holds(condition, {x: v}) == t.holds(found, {x: v}), (condition, found, v)
    assert changed > 5


LOOPS_OF_ONE_VARIABLE = [
    ("int f(int x) { while (x * x * x * x * x * x * x < x * x * x + 2) x++; return x; }", {"x": range(-30, 30)}),
    ("int f(int x, int y) { while (x * x * x < 1000) { if (x * x < 50) x += 3; else x += 1; y++; } return x + y; }", {"x": range(-2000, 30)}),
    ("int f(int x) { while (x * x - 12 * x + 32 != 0) x += 3; return x; }", {"x": range(-2000, 30)}),
    ("int f(int x, int n) { while (x * x > 100 && n > 0) { if (x * x * x < 20000) x -= 7; else n--; } return x; }", {"x": range(-99, 99)}),
]  # fmt: skip


@pytest.mark.parametrize(("source", "near"), LOOPS_OF_ONE_VARIABLE)
@pytest.mark.slow
def test_such_loops_are_presburger(source, near):
    found, _ = judge_alone(source, count=300, near=near, max_steps=20_000)
    assert found.complete
    assert "least" not in str(found)


FAR = [
    ("unsigned f(unsigned n) { unsigned i = 0; while (i * i < n) i++; return i; }", (4294836225,), 65535),
    ("unsigned long f(unsigned long n) { unsigned long s = 0, i = 0; while (s < n) { i++; s += i; } return i; }", (5 * 10**17 + 10**9 // 2,), 10**9),
    ("long f(long r, long d) { long q = 0; while (r >= d) { r -= d; q++; } return q; }", (10**18, 7), 10**18 // 7),
    ("long f(long n) { long odd = 1, c = 0; while (n >= odd) { n -= odd; odd += 2; c++; } return c; }", (10**18 + 5,), 10**9),
    ("unsigned f(unsigned n) { unsigned a = 0, b = 1; for (unsigned i = 0; i < n; i++) { unsigned t = a + b; a = b; b = t; } return a; }", (3 * 2**30 + 10,), 55),
    ("unsigned long f(unsigned long n) { unsigned long r = 0; while (n) { r = r * 10 + n % 10; n /= 10; } return r; }", (1234567890123,), 3210987654321),
]  # fmt: skip


@pytest.mark.parametrize(("source", "arguments", "expected"), FAR)
@pytest.mark.slow
def test_far_ends_are_reached_without_an_iteration(source, arguments, expected):
    # 3·2^31 is a period of the Fibonacci numbers modulo 2^32; so F(3·2^30 + 10) is one of F(10), F(10) + 2^31
    g = graph(source)
    with no_stepping(0):
        evaluator = Evaluator(g, Interpreter(None, g), lambda loop: summarize(loop_paths(g, loop)))
        found = evaluator.run(arguments)
    assert (found.status, found.by) == ("ok", "summary"), found.reason
    assert found.return_value in (expected, expected + 2**31)


SCALED = [
    "int f(unsigned char x, unsigned char n) { while (x < n) x = 2 * x; return x; }",
    "int f(signed char x, signed char n) { while (x < n) x *= 2; return x; }",
    "int f(signed char x, signed char n) { while (x != n) x = 6 * x + 5; return x; }",
    "int f(unsigned char x, unsigned char n) { while (x == n) x = 4 * x; return x; }",
    "int f(unsigned char x, unsigned char n) { while (x <= n) { x = 3 * x + 1; } return x; }",
    "int f(signed char x, signed char n) { while (2 * x < 3 * n + 1) x = 5 * x; return x; }",
    "int f(signed char x, signed char n) { while (x < n) x = 5 * x - 3; return x; }",
    "int f(signed char x, signed char n) { while (x < n) x = 4 * x + 1; return x; }",
    "int f(unsigned char x, unsigned char n) { while (x > n && x != 40) { x = 2 * x + 1; } return x; }",
]


@pytest.mark.slow
@pytest.mark.parametrize("source", SCALED)
def test_every_state_of_powers_that_wrap_around(source):
    judge_alone(source, count=0, max_steps=3000)


@pytest.mark.parametrize("source", SCALED)
def test_powers_that_wrap_around_leave_nothing_open(source):
    summary, _ = judge_alone(source, count=500, max_steps=3000)
    assert summary.complete


@pytest.mark.parametrize("width", [16, 32, 64])
def test_powers_that_wrap_around_at_any_width(width):
    kind = f"uint{width}_t"
    source = f"#include <stdint.h>\n{kind} f({kind} x, {kind} n) {{ while (x < n) x = 12 * x + 7; return x; }}"
    summary, _ = judge_alone(source, count=500, near={"n": [2**width - 1, 2 ** (width - 1), 7, 0]})
    assert summary.complete


def test_first_scaled_is_the_first():
    chosen = random.Random(5)
    for _ in range(3000):
        width = chosen.choice((1, 2, 5, 8, 8, 13))
        m, b = 1 << width, chosen.randrange(-40, 40) * (2 if width > 12 else 1)
        u, c, low, high = (chosen.randrange(-300, 300) for _ in range(4))
        values = [(u * b**k + c) % m for k in range(1100 if width == 12 else 300)]
        expected = next((k for k, value in enumerate(values) if low <= value <= high), -1)
        assert first_scaled(u, b, c, m, low, high) == expected
    with pytest.raises(ValueError, match="powers of 3"):
        first_scaled(1, 3, 0, 1 << 13, 0, 0)


WRAPPING_BEHIND_A_CHECK = """
signed char f(int j, signed char s) {
    for (; j < 5; j++) s += j;
    return s;
}
"""


def test_a_value_that_wraps_around_does_not_fail_a_check() -> None:
    """s + j is an int, and s is reduced again and again; nothing of that is undefined."""
    summary, regions = judge_alone(WRAPPING_BEHIND_A_CHECK, near={"j": range(-200, 8)})
    assert regions["undefined"] == 0
    assert regions["case"] > 150
    inside = {var: -150 if var.name == "j" else 3 for var in summary.paths.state}
    assert any(t.holds(case.when, inside) for case in summary.cases)
