"""Counts of loops that end after that many iterations, or never."""

from __future__ import annotations

from math import gcd

import pytest

from loopless.bounds.induction.counts import Counted, induction_counts
from loopless.flowgraph.model import Flowgraph
from loopless.terms import FALSE, TRUE, Var, evaluate, holds
from loopless_fuzz.judging.loop_alone import LoopAlone
from loops_in_c import graph

TYPES = "typedef unsigned char u8; typedef signed char i8; typedef unsigned short u16;\n"


def counts(text: str) -> tuple[Flowgraph, Counted]:
    g = graph(TYPES + text)
    found = induction_counts(g)[g.loops[0].name]
    assert isinstance(found, Counted)
    return g, found


ENDLESS = {
    "wider limit": ("u8", "u16", "while (i < n) i++;", lambda i, n: n > 255),
    "wider limit, signed": ("i8", "short", "while (i < n) i++;", lambda i, n: n > 127),
    "wider limit, down": ("i8", "short", "while (i > n) i--;", lambda i, n: n < -128),
    "up to and with": ("u8", "u8", "while (i <= n) i++;", lambda i, n: n == 255),
    "down to and with": ("u8", "u8", "while (i >= n) i--;", lambda i, n: n == 0),
    "at the end": ("u8", "u16", "do i++; while (i < n);", lambda i, n: n > 255),
    "at the end, with": ("u8", "u8", "do i++; while (i <= n);", lambda i, n: n == 255),
    "far away": ("u8", "u16", "while (i + 300 < n) i++;", lambda i, n: n > 555),
    "negative limit": ("u8", "short", "while (i > n) i--;", lambda i, n: n < 0),
    # In larger steps values go round the type, and meet what their residues allow.
    "steps of 2": ("u8", "u16", "while (i < n) i += 2;", lambda i, n: n > 255 or (n == 255 and i % 2 == 0)),
    "steps of 6, at the end": ("u8", "u8", "do i += 6; while (i < n);", lambda i, n: n == 255 and i % 2 == 0),
    "steps of 4 down": ("i8", "i8", "while (i > n) i -= 4;", lambda i, n: i % 4 > n + 128),
    "to what is unequal": ("u8", "u8", "while (i != n) i += 12;", lambda i, n: (n - i) % 4 != 0),
    "by what does not change": ("u8", "u8", "do i -= n; while (i);", lambda i, n: i % gcd(n, 256) != 0),
    "the lowest bits": ("u8", "u16", "while ((i & 7) != n) i += 3;", lambda i, n: n > 7),
    "a remainder": ("u8", "u8", "while (i % 16 < n) i += 2;", lambda i, n: n > 15 or (n == 15 and i % 2 == 0)),
    "a narrower type": ("int", "i8", "while ((i8)i != n) i += 6;", lambda i, n: (i - n) % 2 != 0),
    "unequal beyond the type": ("u8", "u16", "while (i != (n & 511)) i++;", lambda i, n: (n & 511) > 255),
}
NEITHER = {
    "another way out": ("u8", "u16", "u8 k = n & 15; while (i < n) { if (k == 3) break; k++; i++; }"),
    "a limit that moves": ("u8", "u16", "while (i < n) { i++; n--; }"),
    "two limits": ("u8", "u16", "while (i < n && i < 1000 - n) i++;"),
}


def _states(alone: LoopAlone, first: str, second: str) -> list[dict[Var, int]]:
    least = {"u8": 0, "i8": -128, "int": -200}[first]
    low, high = {"u8": (0, 255), "i8": (-128, 127), "u16": (0, 65535), "short": (-32768, 32767)}[second]
    near = (*range(-131, 600, 37), *range(-130, -125), *range(125, 130), *range(253, 258), 554, 555, 556)
    ends = sorted({v for v in (*near, low, high) if low <= v <= high})
    return [
        {v: {"i": i, "n": n}.get(v.name, 0) for v in alone.entry} for i in range(least, least + 256, 5) for n in ends
    ]


@pytest.mark.parametrize("name", ENDLESS)
def test_counts_of_loops_that_end_or_go_on_for_ever(name: str) -> None:
    """The count is exact where a run ends, and where it does not hold no run does."""
    first, second, text, endless = ENDLESS[name]
    g, found = counts(f"int f({first} i, {second} n) {{ {text} return i; }}")
    assert found.exact is not None
    assert found.endless not in (FALSE, TRUE)
    alone = LoopAlone(g, g.loops[0])
    seen = set()
    for state in _states(alone, first, second):
        truth = alone.run(state, max_steps=3000)
        i, n = (next(value for v, value in state.items() if v.name == one) for one in ("i", "n"))
        assert holds(found.endless, state) == endless(i, n) == (truth.status != "ok"), state
        seen.add(truth.status)
        if truth.status == "ok":
            assert truth.iterations == evaluate(found.exact, state), state
    assert len(seen) == 2


@pytest.mark.parametrize("name", NEITHER)
def test_counts_that_another_way_out_may_cut_short_are_not_exact(name: str) -> None:
    first, second, text = NEITHER[name]
    g, found = counts(f"int f({first} i, {second} n) {{ {text} return i; }}")
    assert found.endless is FALSE
    if found.exact is not None:
        alone = LoopAlone(g, g.loops[0])
        for state in _states(alone, first, second):
            truth = alone.run(state, max_steps=3000)
            assert truth.status != "ok" or truth.iterations == evaluate(found.exact, state), state


AROUND = {
    "down to 0 and beyond": ("u8", "u8", "while (i < n) i--;", True),
    "with the limit": ("u8", "u8", "while (i <= n) i--;", True),
    "by 3": ("u8", "u8", "while (i < n) i -= 3;", True),
    "by 1 or 2": ("u8", "u8", "while (i < n) i -= i & 1 ? 1 : 2;", False),
    "by 200": ("u8", "u8", "while (i < n) i -= 200;", True),
    "a constant limit": ("u8", "u8", "while (i <= 15) { i--; if (n == 7) break; }", False),
    "at the end": ("u8", "u8", "do i--; while (i < n);", True),
    "a wider limit": ("u8", "u16", "while (i < n) i--;", True),
    "a limit that falls": ("u8", "u8", "while (i < n) { i--; n--; }", False),
    "a sum": ("u8", "u8", "while ((u8)(i + n) < 20) i--;", True),
    "two that fall": ("u8", "u8", "while ((u8)(i + n) < 20) { i--; n--; }", True),
}


@pytest.mark.parametrize("name", AROUND)
def test_what_falls_below_a_limit_until_it_wraps_around(name: str) -> None:
    first, second, text, exact = AROUND[name]
    g, found = counts(f"int f({first} i, {second} n) {{ {text} return i; }}")
    assert found.bounds or name in ("a limit that falls", "by 1 or 2")
    assert (found.exact is not None) <= exact
    alone = LoopAlone(g, g.loops[0])
    for state in _states(alone, first, second):
        truth = alone.run(state, max_steps=3000)
        for bound in found.bounds:
            if holds(bound.when, state):
                assert truth.status == "ok", (state, str(bound))
                assert truth.iterations <= evaluate(bound.term, state), (state, str(bound))
        if found.exact is not None and truth.status == "ok" and not holds(found.endless, state):
            assert truth.iterations == evaluate(found.exact, state), (state, str(found.exact))
