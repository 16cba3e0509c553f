"""Updates of several paths that are not linear, and what becomes of checks on them: against the judge."""

from __future__ import annotations

from itertools import product

import pytest

from judged import judge_alone
from loopless import terms as t
from loopless.summary.rewrite.divisors import spelled

I8, U8 = t.IntType(8), t.IntType(8, signed=False)

CHECKS = [
    # n >= -2^62 is asked for because of 2n: then n + s, with an s of 32 bits, cannot overflow
    "long long f(long long n, long long x, int s, int t) { for (; t != 8; t++) { if (n >= 2147483647) break;"
    " if (t >= x) s += n; else x += t; if (n < 16) n *= 2; } return s; }",
]
EDGES = {"n": [0, 1, -1, 15, 16, -(2**62), -(2**62) - 1, -(2**63)], "s": [-(2**31), 2**31 - 1], "t": range(-3, 9)}


@pytest.mark.parametrize("source", CHECKS)
def test_a_check_that_the_conditions_of_its_path_imply_leaves_nothing_open(source):
    summary, _ = judge_alone(source, near=EDGES, count=400)
    assert summary.complete


QUOTIENTS = [
    "int f(signed char n, signed char i) { while (i < 9) { if (n == 7) { n = 3 / i; i++; } else { n = 7; i += 2; } } return n; }",
    "int f(signed char z, signed char i) { while (i < 9) { i += 7 % z; if (i > 3) z--; } return i; }",
    "int f(signed char z, signed char i) { while (i < 50) { if (z & 1) { i -= -6 / z; } else { i += 3; } z += 3; } return i; }",
    "int f(unsigned char z, unsigned char i) { while (i < 50) { i += 1 + 9u % z; if (i > 20) z++; } return i; }",
    "int f(signed char z, signed char i) { while (i < 50) { i += 1; if ((i & 3) % z == 1) z--; } return z; }",
    "int f(signed char z, signed char i) { while (i < 50) { i += 1; if (((i & 3) - 2) / z < 0) z++; } return z; }",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("source", QUOTIENTS)
def test_quotients_of_few_values_in_every_state(source):
    judge_alone(source, count=0, max_steps=600)


@pytest.mark.slow
@pytest.mark.parametrize("source", QUOTIENTS)
def test_quotients_of_few_values(source):
    summary, _ = judge_alone(source, count=500, near={"z": range(-9, 10), "i": range(-9, 10)}, max_steps=600)
    assert summary.cases


@pytest.mark.parametrize("op", ["floor_div", "mod", "trunc_div", "trunc_rem"])
def test_quotients_are_spelled_out_as_they_are(op):
    n, m, z, u = t.Var("n", t.IntType(3)), t.Var("m", t.IntType(3, signed=False)), t.Var("z", I8), t.Var("u", U8)
    numbers = [t.const(c) for c in (-12, -7, -1, 1, 2, 7, 12)] + [n, m, t.sub(m, t.const(1))]
    changed = 0
    for number, divisor in product(numbers, (z, u)):
        term = t.operation(op, (number, divisor))
        choice = spelled(term)
        changed += choice is not term
        for top, bottom in product(range(-4, 8), range(-20, 40)):
            if bottom and (bottom > 0 or divisor is z) and (top < 4 or n not in term.variables):
                state = {n: top, m: max(top, 0), z: bottom, u: bottom}
                assert t.evaluate(choice, state) == t.evaluate(term, state), (term, state)
    assert changed >= 4


GHOSTS = [
    # what a path sets is a term that the logic does not know, over what other paths change
    "int f(signed char y, signed char t, int x) { while (x < 9) { if (y & 2) { x += 2; t++; } else { y = t * t; x += 3; } } return y + t; }",
    "int f(signed char y, signed char t, int x) { while (x < 9) { if (y > 2) { x += 2; t--; } else { y = 90 % t; x += 3; } } return y + t; }",
    "int f(signed char y, signed char t, int x) { while (x < 9) { if (y > 2) { x += 2; t--; } else { y = t / y; x += 3; } } return y + t; }",
    "int f(unsigned char y, unsigned char t, int x) { while (x < 9) { if (y & 1) { x += t % y; y = 2 * y; } else { x += 1; y -= 3; } } return y + t; }",
    # what is compared is one
    "int f(signed char y, signed char t, int x) { while (x < 9) { if (y * t > 40) { x += 2; y = x; } else { x++; t = 3; } } return y + t; }",
    "int f(signed char y, signed char t, int x) { while (y * t < 40) { if (y > 3) { y = 2; } else { y++; } x++; } return y + x; }",
    "int f(unsigned char y, unsigned char t, int x) { while (x < 20) { if ((y ^ t) < 9) { x += 2; t++; } else { y = 4; x++; } } return y + x; }",
    "int f(unsigned char y, unsigned char t, int x) { while (x < 20) { if (y > 9) { x += 2; y = t << (y & 3); } else { y += 14; x++; } } return y + x; }",
]  # fmt: skip


@pytest.mark.parametrize("source", GHOSTS)
def test_terms_that_the_logic_does_not_know_over_what_changes(source):
    near = {"x": range(-12, 22), "y": range(-9, 12), "t": range(-9, 12)}
    _, regions = judge_alone(source, near=near, count=500, max_steps=900)
    assert regions["case"] > 50


DIVIDED = [
    "int f(signed char s, signed char i) { while (i < 9) { s = s / 10; s += 2; i++; } return s; }",
    "int f(signed char s, signed char i) { while (i < 9) { if (i & 1) { s /= 3; } else { s -= 5; } i++; } return s; }",
    "int f(signed char s, signed char i) { while (i != 9) { s = (s - 60) / 2 - 30; i += 3; } return s; }",
    "int f(int s, int i) { while (i < 900) { if (s == 7) break; s = (s - 4) / 2; i++; } return s; }",
    "int f(int s, int i) { while (i < 900) { s = (s + 2147483640) / 2; i++; } return s; }",
    "int f(int s, int i) { while (i != 0) { s = s / 5 + 2147000000; s -= 9; i -= 2; } return s; }",
]  # fmt: skip


@pytest.mark.parametrize("source", DIVIDED)
def test_quotients_with_summands(source):
    near = {"i": range(-9, 10), "s": [0, 1, 7, -7, 127, -128, 2**31 - 1, 7 - 2**31, -(2**31), 9, 61]}
    _, regions = judge_alone(source, near=near, count=500, max_steps=2500)
    assert regions["case"] + regions["undefined"] + regions["diverges"] > 100


def test_quotients_with_summands_leave_nothing_open():
    for source in DIVIDED[:2]:
        assert judge_alone(source, count=100)[0].complete
