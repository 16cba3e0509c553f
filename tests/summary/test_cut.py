"""Runs whose length or landing the logic cannot express, against the interpreter: steps by invariants, powers, squares."""

from __future__ import annotations

from itertools import product

import pytest

from judged import judge, judge_alone
from loopless.summary.portfolio import summarize_by_parts
from loops_in_c import graph

LOOP = "signed char f(signed char x, signed char y) { signed char i = 0; if (y < 70 && y > -60) %s return x + i; }"

EXHAUSTIVE = {
    "a step by an invariant": "while (x < 50) { if (y < 0) break; x += y; }",
    "downwards": "while (x > -50) { if (y < 0) return i; x -= y; i++; }",
    "up or down": "while (x < 50 && x > -50) { x += y; i++; }",
    "to a limit that is met or jumped over": "while (x != 7 && x < 50) { if (y <= 0) return 9; x += y; }",
    "a step of its own on each side": "while (x < 50 && x > -60) { if (y > 5) x += y; else x -= 3; }",
    "half a step": "while (x < 90 && y > 0) { x += y / 2; }",
    "one run after another": "while (x < 50 && y > 0) { if (x < 20) x += y; else x += 7; i++; }",
    "two runs of such steps": "while (x < 50 && y > 0 && y < 30) { if (x < 0) x += y; else x += 2 * y + 1; i++; }",
    "a second variable": "{ signed char z = x; while (x < 50 && z > -60) { if (y < 0) break; x += 3; z -= y; i++; } }",
    "the second variable decides": "while (x < 50 && i < 60) { x += 3; if (y > 0) i += y; else i++; }",
    "doubling": "while (x < 60 && x > -60) { if (y > 5) x *= 2; else x += 7; i++; }",
    "tripling and more": "while (x < 40 && x > -30) { if (y > 5) x = 3 * x + 1; else if (y < 0) break; else x = x + y + 1; }",
    "division": "while (x > 0) { if (y > 5) x /= 3; else x -= 3; i++; }",
    "shifts of what may be negative": "while (x < -5 || x > 3) { if (y > 5) x >>= 1; else if (x > 0) x--; else x++; }",
    "growing steps": "while (x < 50 && i < 10 && i >= 0 && x > -60) { if (y > 5) { x += i; i++; } else x += 3; }",
    "a limit that is copied": "{ signed char z = x; while (x < 50 && y > 0 && y < 30) { x += y; if (z > 40) z = 1; else z = x; } }",
}


@pytest.mark.slow
@pytest.mark.parametrize("what", EXHAUSTIVE)
def test_all_states_of_eight_bits(what):
    g = graph(LOOP % EXHAUSTIVE[what])
    counts = judge(g, summarize_by_parts, product(range(-128, 128), (-59, -1, 0, 1, 7, 20)))
    assert counts["case"] > 300
    assert counts["residual"] == 0


WIDE = {
    "doubling": "int f(int i, int n, int c) { while (i < n) { if (c > 3) i *= 2; else i += 5; } return i; }",
    "division": "int f(int i, int n, int c) { while (i > n) { if (c > 3) i /= 10; else i -= 5; } return i; }",
    "one after another": (
        "unsigned f(unsigned i, unsigned n) { while (i < n) { if (i < 1000) i = 3 * i + 1; else i += 7; } return i; }"
    ),
    "growing steps": (
        "int f(int i, int n, int j, int c) { while (i < n) { if (c > 3) { i += j; j++; } else i += 3; } return i; }"
    ),
    "products as steps": (
        "int f(int i, int n, short a, short b) { while (i < n) { if (a > b) i += a * b; else i++; } return i; }"
    ),
}


@pytest.mark.parametrize("what", WIDE)
def test_states_of_all_sizes(what):
    summary, regions = judge_alone(
        WIDE[what], summarize_by_parts, count=300, near={"i": (-(2**31), -(10**9), 0, 7, 90)}
    )
    assert summary.complete, [str(part.why) for part in summary.residual]
    assert regions["case"] > 50


PARTIAL = {
    "products of what has been cut": """unsigned short f(unsigned short n, unsigned short x, unsigned short s) {
        int i = 0;
        while (i < x) { if (i < s) { n -= x; s++; } else s = n; i++; }
        return n + s;
    }""",
}


@pytest.mark.slow
@pytest.mark.parametrize("what", PARTIAL)
def test_what_is_left_open_is_left_in_the_residual(what):
    near = {"i": (-(2**31), -(10**9), 0, 90), "x": (-1, 0, 1, 9, 700)}
    _, regions = judge_alone(PARTIAL[what], summarize_by_parts, count=200, near=near)
    assert regions["case"] > 30
