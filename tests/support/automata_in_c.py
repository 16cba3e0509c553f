"""Loops in C with a path dependency automaton, and their automata."""

from __future__ import annotations

import functools

import pytest

from figures_of_proteus import FIG_1A, FIG_1B, FIG_1C, FIG_1D, FIG_1E, FIG_1F, NONDET
from loopless.automaton import PathAutomaton, build_automaton
from loopless.paths import LoopPaths
from loopless.terms import TRUE, Condition
from loops_in_c import paths

FIG_6A = (
    NONDET + "int f(int m, int n) { int i = 0, j = 0; __VERIFIER_assume(0 < m && m < n);"
    " while (i < n && __VERIFIER_nondet_int()) { if (j < m) j++; else { j = 0; i++; } } return 1000 * i + j; }"
)

DETERMINISTIC = [
    pytest.param(FIG_1A, id="proteus 1a"),
    pytest.param(FIG_1B, id="proteus 1b"),
    pytest.param(
        "int f(int i, int x) { while (i < 100) { if (x > 1) { x += 1; i += 3; } else if (x < -1) { x += 1; i += 5; }"
        " else { x += 1; i += 7; } } return x + i; }",
        id="loopscc 1a",
    ),
    pytest.param(
        "int f(int i, int x) { while (i < 100) { if (x >= 50) { x -= 2; i += 3; } else if (x < 0) { x += 1; i += 5; }"
        " else { x += 11; i += 7; } } return x + i; }",
        id="loopscc 1c",
    ),
    pytest.param(
        "int f(int i, int x, int flag) { while (i < 100) { if (flag) { if (x > 5) { x -= 5; i += 3; }"
        " else { x += 2; i += 7; } } else { flag = 1; x -= 7; } } return x + i; }",
        id="a flag set once",
    ),
    pytest.param("int f(int n, int s) { while (n > 0) { switch (s) { case 0: s = 1; break; case 1: s = 2; break;"
                 " default: s = 0; } n--; } return s; }", id="three states in turn"),
    pytest.param("unsigned f(unsigned x, unsigned n) { while (x != n) { if (x > 7) x += 3; else x += 1; n ^= 1; }"
                 " return x; }", id="counters that wrap"),
    pytest.param("int f(signed char b, int n) { while (n > 0) { if (b < 5) b += 7; else b -= 100; n--; } return b; }",
                 id="a char that wraps"),
    pytest.param("int f(int x, int y) { while (x > 0) { if (y > 0) { x *= 2; y--; } else x--; } return x; }",
                 id="powers"),
    pytest.param("int f(int a, int b) { while (a != b) { if (a > b) a -= b; else b -= a; } return a; }", id="gcd"),
    pytest.param("int f(int i, int n, int s) { while (i < n) { if (i % 3) s += i; i++; } return s; }",
                 id="every third"),
    pytest.param("int f(int x, int y, int n) { while (n > 0) { if (x > y) { int t = x; x = y; y = t - 3; } else x += 2;"
                 " n--; } return x - y; }", id="a swap"),
    pytest.param("int f(int x, int d, int n) { while (x < n) { if (x % 2) x += d; else x += 1; } return x; }",
                 id="a step that is not known"),
    pytest.param("int f(const int *a, int i, int n) { while (i < n) { if (a[i] == 0) i++; else i += 2; } return i; }",
                 id="an array"),
    pytest.param("int f(int x, int n) { while (x < n * n) { if (x < n) x++; else x += 2; } return x; }", id="a square"),
]  # fmt: skip

WITH_INPUT = [
    pytest.param(FIG_1C, id="proteus 1c"),
    pytest.param(FIG_1D, id="proteus 1d"),
    pytest.param(FIG_1E, id="proteus 1e"),
    pytest.param(FIG_1F, id="proteus 1f"),
    pytest.param(FIG_6A, id="proteus 6a"),
    pytest.param(NONDET + "int f(int k, int n) { while (k < n) { int c = __VERIFIER_nondet_int();"
                 " if (c > 0) k += c & 3; else k++; } return k; }", id="an input as step, and a variable called k"),
    pytest.param(NONDET + "int f(int x, int c) { while (x > 0) { if (c > 0) x--; else if (c < -5) x -= 2;"
                 " c = __VERIFIER_nondet_int(); __VERIFIER_assume(c > -8 && c < 9 + x); } return x; }",
                 id="an input under an assumption"),
]  # fmt: skip


def loop(source: str) -> LoopPaths:
    found = paths(source)
    assert isinstance(found, LoopPaths), found
    return found


@functools.cache
def automaton(source: str, precondition: Condition = TRUE) -> PathAutomaton:
    found = build_automaton(loop(source), precondition)
    assert isinstance(found, PathAutomaton)
    return found
