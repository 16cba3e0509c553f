"""The same place of memory, read again in an iteration that writes memory, against runs of the interpreter."""

from __future__ import annotations

import random

import pytest

from counted import judge_calls, judge_entries_in_calls
from loopless.bounds import FunctionBounds, LoopBounds
from loopless.bounds.induction.counts import Counted, induction_counts
from loopless.check.interpreter.run import Interpreter
from loopless.flowgraph import build
from loopless.source import load
from loopless.terms import TRUE

HEAD = "typedef unsigned char u8; typedef unsigned u32; void *memset(void *, int, unsigned long);\n"
ASKED = "if (p[n & 7] == 0 || p[n & 7] > n) break; "

SAME = {
    # By name: the body of a loop that ends, since what is asked of memory still holds where it is used.
    "asked, and taken away": "p[9]++; " + ASKED + "n -= p[n & 7];",
    "on several ways": "p[9]++; if (p[n & 7] > n) break; if (m & 1) { if (p[n & 7] < 2) break; }"
    " else if (!p[n & 7]) break; else m++; n -= p[n & 7];",
    "written behind": ASKED + "n -= p[n & 7]; p[n & 7] = 0;",
    "another object is written": "p[9]++; " + ASKED + "q[n & 7] = 9; n -= p[n & 7];",
    "read with another sign": "p[9]++; if ((signed char)p[n & 7] <= 0 || p[n & 7] > n) break; n -= p[n & 7];",
    "a loop that reads stands between": "p[9]++; " + ASKED + "for (u32 k = 0; k < 3; k++) m += p[k]; n -= p[n & 7];",
}
OTHER = {
    # What is asked may have been changed: some of these go on for ever.
    "written in between": ASKED + "p[n & 3] = 0; n -= p[n & 7];",
    "written on one way": ASKED + "if (m & 1) p[n & 7] = 0; n -= p[n & 7];",
    "written on one way, and written back": "u8 k = p[n & 7]; if (k == 0 || k > n) break; if (m & 1) p[n & 7] = 0;"
    " n -= p[n & 7]; p[n & 7] = k;",
    "filled in between": ASKED + "memset(p, 0, 4); n -= p[n & 7];",
    "written by a loop in between": ASKED + "for (u32 k = 0; k < m; k++) p[k & 7] = 0; n -= p[n & 7];",
    "read at another place": "p[9]++; " + ASKED + "n -= p[(n + 1) & 7];",
    "read in another type": "p[9]++; if (p[0] == 0 || p[0] > n) break; n -= *(unsigned short *)(void *)p & 0xff00;",
    "read where the index has changed": "p[9]++; " + ASKED + "n--; n -= p[n & 7]; n++;",
    "read on one way only": "p[9]++; if (m & 1) { if (p[1] == 0 || p[1] > n) break; } else { if (p[2] == 0) break; } n -= p[1];",
}


def counted(text: str, folder):
    file = folder / "a.c"
    file.write_text(f"{HEAD}int f(u8 *p, u8 *q, u8 n, u8 m) {{ while (n != 0) {{ {text} }} return n; }}")
    program = load([file])
    g = build(program.inlined.functions["f"], program.inlined)
    found = {name: one for name, one in induction_counts(g).items() if isinstance(one, Counted)}
    of = {loop.name: found.get(loop.name, Counted()) for loop in g.loops}
    bounds = FunctionBounds(
        {
            loop.name: LoopBounds(loop, of[loop.name].bounds, of[loop.name].any_entry, of[loop.name].total)
            for loop in g.loops
        }
    )
    outer = next(loop for loop in g.loops if loop.parent is None)
    return g, Interpreter(program.inlined, g), bounds, bounds.loops[outer.name]


def rows(seed: int, count: int = 150) -> list[list[object]]:
    chosen = random.Random(seed)

    def memory() -> list[int]:
        return [chosen.choice((0, 1, 1, 2, 3, 200, 255)) for _ in range(16)]

    return [[memory(), memory(), chosen.choice((0, 1, 7, 100, 255)), chosen.randrange(8)] for _ in range(count)]


@pytest.mark.parametrize("name", SAME)
def test_the_same_place_holds_the_same_value(name, tmp_path):
    g, interpreter, bounds, outer = counted(SAME[name], tmp_path)
    assert any(bound.when is TRUE for bound in outer.per_entry)
    assert judge_calls(g, rows(1), (), bounds, interpreter, max_steps=5_000).longest >= 1
    assert judge_entries_in_calls(g, rows(2), (), bounds, interpreter, max_steps=5_000).compared > 100


@pytest.mark.parametrize("name", OTHER)
def test_what_may_have_been_written_is_read_anew(name, tmp_path):
    g, interpreter, bounds, outer = counted(OTHER[name], tmp_path)
    assert not any(bound.when is TRUE for bound in outer.per_entry)
    judge_calls(g, rows(3), (), bounds, interpreter, max_steps=5_000)
