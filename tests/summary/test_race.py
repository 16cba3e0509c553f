"""The race of first times: single-path loops under wrap-around, against the judge and against native runs."""

from __future__ import annotations

import random
from itertools import product

import pytest

from judged import judge, states
from loopless import terms as t
from loopless.summary import summarize
from loopless.summary.race import summarize_race
from loops_in_c import graph

U8, I8, U32, U64 = (t.IntType(8, signed=False), t.IntType(8), t.IntType(32, signed=False), t.IntType(64, signed=False))


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


@pytest.mark.parametrize("seed", range(40))
def test_random_loops_at_8_bits(seed):
    g = graph(random_loop(seed))
    counts = judge(g, summarize_race, states((U8, U8), 250, seed))
    assert not counts["residual"]
    assert counts["case"] + counts["diverges"] + counts["undefined"] > 100


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
        graph(source), summarize_race, product(*(range(p.type.min, p.type.max + 1) for p in graph(source).parameters))
    )
    assert sum(counts.values()) == 65536
    assert not counts["residual"]


@pytest.mark.parametrize("source", EIGHT_BITS)
def test_some_states_at_8_bits(source):
    types = [p.type for p in graph(source).parameters]
    assert judge(graph(source), summarize_race, states(types, 800, 3))["case"] > 100


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
        g, summarize_race if ">= 10" in source else summarize, states([p.type for p in g.parameters], 300, 7)
    )
    assert not counts["residual"]
    assert counts["case"] > 50
