"""The race of exit times: single-path loops under wrap-around, against the judge and against native runs."""

from __future__ import annotations

import random
from itertools import product
from math import gcd

import pytest

from judged import judge, judge_alone, natively, states
from loopless import terms as t
from loopless.portfolio import Tried
from loopless.summary import summarize
from loopless.summary.methods import earliest_exit
from loops_in_c import graph, summary

U8, U32 = t.IntType(8, signed=False), t.IntType(32, signed=False)


def by_earliest_exit(paths):
    return earliest_exit.METHOD.run(paths, Tried())


def random_loop(seed: int) -> str:
    """A single-path loop over an unsigned, a signed and a checked variable, each of which moves by a constant."""
    chosen = random.Random(seed)
    step, other, big = (chosen.choice((1, -1, 2, 6, -8, 37, -91, 16, 128, 100)) for _ in range(3))
    constant = chosen.randrange(256)
    small = chosen.randrange(-128, 128)
    conditions = [
        f"u < {constant}", f"u >= {constant}", f"u != {constant}", "u < n", "u <= n", "u > n", "n >= u", "u != n",
        f"(u < {constant} || u > {min(constant + 9, 255)})", f"(unsigned char)(u + {constant}) < {chosen.randrange(1, 60)}",
        f"v < {small}", f"v > {small}", f"v != {small}", f"2 * v + 3 < {small}", "v < (signed char)n", f"u == {constant}",
        f"y < {chosen.randrange(1 << 31)}", f"y != {40 * big + 7}", f"k < {chosen.randrange(300)}", "3 * u <= n", "(unsigned char)(3 * k) != n",
    ]  # fmt: skip
    guard = " && ".join(chosen.sample(conditions, chosen.choice((1, 1, 2, 2, 3))))
    body = [f"u += {step};", f"v += {other};", f"y += {big * chosen.choice((1, 1000003))};", "k++;", "h = h * 5 + u;"]
    if chosen.random() < 0.3:
        body.insert(chosen.randrange(4), f"if (u == {chosen.randrange(256)}) return 77;")
    chosen.shuffle(body)
    declare = f"signed char v = n ^ {chosen.randrange(256)}; int y = 40 * (u - {constant}); unsigned k = 0; unsigned char h = 1;"
    inside = " ".join(body)
    form = f"do {{ {inside} }} while ({guard});" if chosen.random() < 0.2 else f"while ({guard}) {{ {inside} }}"
    return (
        f"unsigned f(unsigned char u, unsigned char n) {{ {declare} {form} return u + 3u * v + 7u * y + 11 * k + h; }}"
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_random_loops_at_8_bits(seed):
    g = graph(random_loop(seed))
    counts = judge(g, by_earliest_exit, states((U8, U8), 250, seed))
    assert not counts["residual"]
    confirmed = counts["case"] + counts["diverges"] + counts["undefined"]
    assert confirmed + counts["timeout"] == 250
    # Where only y ends a loop, runs take a billion iterations: two of these programs.
    assert confirmed > (20 if seed in (13, 31) else 100)


EIGHT_BITS = [
    "unsigned f(unsigned char u, unsigned char n) { unsigned k = 0; while (u < n) { u += 7; k++; } return k; }",
    "unsigned f(unsigned char u, unsigned char n) { unsigned k = 0; while (u <= n) { u += 12; k++; } return k; }",
    "unsigned f(unsigned char u, unsigned char v) { unsigned k = 0; while (u != v) { u += 5; v -= 7; k++; } return k; }",
    "unsigned f(unsigned char u, unsigned char v) { unsigned k = 0; while (u >= 10 && v != 3) { u += 37; v -= 6; k++; } return k; }",
    "unsigned f(signed char u, signed char n) { unsigned k = 0; while (u > n) { u += 100; k++; } return k; }",
]


@pytest.mark.slow
@pytest.mark.parametrize("source", EIGHT_BITS)
def test_every_state_at_8_bits(source):
    counts = judge(
        graph(source), by_earliest_exit, product(*(range(p.type.min, p.type.max + 1) for p in graph(source).parameters))
    )
    assert sum(counts.values()) == 65536
    assert not counts["residual"]


@pytest.mark.parametrize("source", EIGHT_BITS)
def test_some_states_at_8_bits(source):
    types = [p.type for p in graph(source).parameters]
    assert judge(graph(source), by_earliest_exit, states(types, 800, 3))["case"] > 100


SUMS = [
    "unsigned long f(unsigned char u, unsigned char n) { unsigned long s = 9; unsigned k = 0; while (k < n) { s += u; u += 7; k++; } return s; }",
    "unsigned long f(unsigned char u, unsigned char v) { unsigned long s = v; while (u != v) { s += 2ul * u + 5; u += 12; } return s; }",
    "unsigned f(signed char u, unsigned char n) { unsigned s = 0; for (int i = 0; i < n; i++) { s -= u; u += 91; } return s; }",
    "unsigned f(unsigned char u, unsigned short n) { unsigned s = 0; for (unsigned i = u; i < n; i += 3) s += i / 100 + 5 * (i % 77); return s; }",
    "int f(unsigned char u, unsigned char n) { int s = n << 23; for (int i = 0; i < n; i++) { s += 400000 * u; u += 7; } return s; }",
    "unsigned f(unsigned char u, unsigned char n) { unsigned short s = n; while (u >= 10) { s += u; u += 37; n--; } return s + n; }",
    "unsigned f(unsigned char u, unsigned char n) { unsigned s = n; while (u >= 10) { s = s * 3 + 1; u += 37; } return s; }",
]  # fmt: skip


@pytest.mark.parametrize("source", SUMS)
def test_sums_of_values_that_wrap(source):
    g = graph(source)
    counts = judge(
        g, by_earliest_exit if ">= 10" in source else summarize, states([p.type for p in g.parameters], 300, 7)
    )
    assert not counts["residual"]
    assert counts["case"] > 50


WIDE = {
    "unsigned f(unsigned u, unsigned n) { unsigned k = n; while (u >= 70000) { u += 1000003; k += 3; } return u + k; }": 60,
    "unsigned long f(unsigned long u, unsigned long n) { unsigned long s = n; while (u >= 1ul << 46) { u -= 0x1234567890abcdul; s = s * 5 + u; } return u ^ s; }": 15,
    "unsigned long f(unsigned i, unsigned n) { unsigned long s = 0; n |= 0xffff0000; while (i < n) { s += i; i += 10000019; } return s + i; }": 60,
    "unsigned f(unsigned u, unsigned v) { unsigned k = 0; while (u >= 100000 && v - 7 < 4294900000u) { u += 1000003; v -= 700001; k++; } return u + 3 * v + k; }": 60,
    "int f(int u, unsigned v) { while (v > 200000) { if (u > 2000000000) return 5; u += 11; v += 77777777; } return u; }": 60,
    "int f(int u, int y) { unsigned w = 10; while (w >= 3 && u != 4) { u += 3; w += 0x13579bdf; y += 100; } return y; }": 60,
    "short f(unsigned short u, short n) { unsigned short k = 0; while ((short)u < n) { u += 9001; k++; } return k; }": 100,
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("source", WIDE)
def test_wide_loops_run_natively_as_summarized(source):
    g = graph(source)
    counts = natively(source, summary(source), states([p.type for p in g.parameters], WIDE[source], 5))
    assert counts["ok"] > 7


@pytest.mark.parametrize("type_", ["unsigned char", "unsigned short", "unsigned", "unsigned long"])
@pytest.mark.parametrize(("a", "b"), [(7, 0), (5, 7), (6, 0), (1, -1), (128, 0)])
def test_equality_exits_are_one_expression_at_any_width(type_, a, b):
    source = f"unsigned f({type_} u, {type_} v) {{ unsigned k = 0; while (u != v) {{ u += {a}; v -= {b}; k++; }} return k; }}"
    width = {"unsigned char": 8, "unsigned short": 16, "unsigned": 32, "unsigned long": 64}[type_]
    chosen = random.Random(width)
    pairs = [
        (u, (u + (a + b) * times) % 2**width)
        for u, times in ((chosen.getrandbits(width), chosen.randrange(10**5)) for _ in range(20))
    ]
    assert natively(source, summary(source), pairs)["ok"] == 20
    found = summary(source)
    assert found.complete
    assert len(found.cases) <= 2
    others = [(chosen.getrandbits(width), chosen.getrandbits(width)) for _ in range(50)]
    for u, v in others:
        values = {
            t.variable("u", t.IntType(width, signed=False)): u,
            t.variable("v", t.IntType(width, signed=False)): v,
        }
        reached = (v - u) % gcd(a + b, 2**width) == 0
        assert t.holds(found.diverges, values) != reached


def test_a_run_of_many_turns_is_jumped_over():
    found = summary("unsigned f(unsigned u) { while (u >= 10) u += 1000003; return u; }")
    assert found(u=12345) == {"u": (12345 + 1000003 * 448723952) % 2**32}
    assert "first_in_range(u, 1000003, 4294967296, 0, 9)" in str(found)
    assert found.complete
    assert len(found.cases) == 1


def test_where_the_last_step_cannot_pass_the_limit_nothing_is_named():
    found = summary("unsigned f(unsigned i, unsigned n) { while (i < n) i += 12345; return i; }")
    plain, near_the_top = found.cases
    assert "first_in_range" not in str(plain.iterations)
    assert "first_in_range" in str(near_the_top.iterations)


def test_divergence_is_a_congruence():
    found = summary("unsigned f(unsigned u) { while (u % 4096 >= 10) u += 2064; return u; }")
    assert "mod" in str(found.diverges) or "%" in str(found.diverges)
    u = t.variable("u", U32)
    for value in range(0, 3 * 4096, 7):
        reached = any((value + 2064 * k) % 4096 < 10 for k in range(4096))
        assert t.holds(found.diverges, {u: value}) != reached


def test_what_is_no_race_is_left_over_by_its_name_from_where_it_wraps_around():
    source = "unsigned f(unsigned u, unsigned v) { while (u >= 10 && u < v) { u += 1000003; v += 7; } return u; }"
    found, regions = judge_alone(source, count=400, near={"u": range(3000), "v": range(10**9, 10**9 + 99)})
    assert regions["case"] > 50
    assert regions["residual"] > 0
    for part in found.residual:
        assert part.why.reason.code == "L206"
        assert "u < v" in part.why.detail


TWO_REDUCTIONS = """
unsigned long long f(unsigned long long i, int x) {
    int u = 0;
    while (i < x) {
        if (i == x) u += 5;
        i *= 3;
    }
    return i + u;
}
"""


@pytest.mark.slow
def test_a_value_that_wraps_around_as_it_fails_is_not_taken_to_fail():
    """(uint64_t)(i*3^k) and (int64_t)(i*3^k - x): that the second is out of range first does not stand for the first."""
    near = {"i": (1, 2, 3, 5, 7, 1000), "x": (-20, -3, -1, -(2**31), -(2**30), 100, 2**31 - 1)}
    _, regions = judge_alone(TWO_REDUCTIONS, count=400, near=near, max_steps=2000)
    assert regions["residual"] > 20
    assert regions["case"] > 20
