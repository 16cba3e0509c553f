"""Loops of the kinds that SPEED (Gulwani, Mehra, Chilimbi, POPL 2009) is about, with the bounds that its paper gives.

Bounds are of the iterations of all loops of a function together, by path counters alone.
"""

from __future__ import annotations

import itertools

import pytest

from counted import arguments_of, judge_calls
from loopless.bounds import function_bounds, least
from loopless.terms import add, evaluate
from loops_in_c import graph

VALUES = (-4, 0, 1, 2, 5, 9)
NONDET = "extern int __VERIFIER_nondet_int(void);\n"

LOOPS = {
    "one counter on both sides of a branch": (
        "void f(int n) { int x = 0; while (x < n) { if (__VERIFIER_nondet_int()) x++; else x = x + 1; } }",
        lambda n: max(0, n),
    ),
    "two counters, one after the other": (
        "void f(int n, int m) { int x = 0, y = 0; while (x < n) { if (y < m) y++; else x++; } }",
        lambda n, m: max(0, n) + max(0, m),
    ),
    "one counter ends the loop at either limit": (
        "void f(int n, int m) { int x = 0, y = 0;"
        " while (1) { if (x < n) { x++; y++; } else if (y < m) { x++; y++; } else break; } }",
        lambda n, m: max(0, n) + max(0, m),
    ),
    "one counter set anew by the other": (
        "void f(int n, int m) { int x = 0, y = 0; while (x < n) { if (y < m) y++; else { y = 0; x++; } } }",
        lambda n, m: max(0, n) * (1 + max(0, m)) + max(0, m),
    ),
    "a nest whose inner counter is never set anew": (
        "void f(int n, int m) { int x = 0, y = 0; while (x < n) {"
        " while (y < m) { if (__VERIFIER_nondet_int()) break; y++; } x++; } }",
        lambda n, m: max(0, n) + max(0, m),
    ),
    "a nest with an inner counter of its own": (
        "void f(int n, int m) { int x = 0; while (x < n) { int y = 0; x++; while (y < m) y++; } }",
        lambda n, m: max(0, n) + max(0, n) * max(0, m),
    ),
    "a nest over one counter": (
        "void f(int n) { int x = 0; while (x < n) { while (x < n) { if (__VERIFIER_nondet_int()) break; x++; } x++; } }",
        lambda n: 2 * max(0, n),
    ),
    "two loops over one counter": (
        "void f(int n) { int x = 0; while (x < n && __VERIFIER_nondet_int()) x++; while (x < n) x++; }",
        lambda n: 2 * max(0, n),
    ),
    "two counters that chase a limit": (
        "void f(int x, int z, int n) { while (x < n) { if (z > x) x++; else z++; } }",
        lambda x, z, n: max(0, n - x) + max(0, n - z + 1, x - z + 1),
    ),
}


@pytest.mark.parametrize("name", LOOPS)
def test_bounds_of_speed(name):
    source, expected = LOOPS[name]
    g = graph(NONDET + source)
    bounds = function_bounds(g)
    whole = add(*(least(bounds.loops[loop.name].total) for loop in g.loops))
    rows = list(itertools.product(VALUES, repeat=len(g.parameters)))
    for row in rows:
        assert evaluate(whole, arguments_of(g, row)) <= expected(*row)
    for nondet in ([0] * 200, [1] * 200, [0, 1] * 100):
        assert judge_calls(g, rows, nondet, bounds).compared
