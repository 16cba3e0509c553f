"""Over the integers, what C converts to unsigned is converted: where nothing overflows, runs are those of the machine."""

from __future__ import annotations

import itertools
import re

import pytest

from counted import arguments_of
from loopless.check.interpreter.run import Interpreter
from loopless.check.oracle.native import NativeHost, NativeOracle
from loopless.flowgraph import Options
from loopless.queries import program as session
from loopless.queries.bounds.answering import answer_bounds
from loopless.queries.settings import Settings
from loopless.terms import evaluate

PROGRAM = """
typedef unsigned u32; typedef unsigned char u8; typedef unsigned short u16; typedef unsigned long u64;
u32 global; struct { u16 h; u32 k; } whole;
int below(int x, u32 u) { return x < u; }
int at_least(int x, u32 u) { return u <= x; }
int same(int x, u32 u) { return x == u; }
int wider(int x, u32 u) { return (long)x < u; }
int wide(int x) { return (u64)x > 7; }
int both(int x, int y) { return (u32)x >= (u32)y; }
u32 quotient(int x, u32 u) { return u ? x / u : 9; }
u32 remainder(int x, u32 u) { return u ? u % x : x % 7u; }
long extended(int x) { return (u32)x; }
u32 returned(int x) { return x; }
int byte(int x) { return (u8)x < 5; }
int two_bytes(int x) { return (u16)x; }
int stored(int x) { global = x; whole.h = x; whole.k = x; return (global > 7) + 2 * (whole.h > 300) + 4 * (whole.k > 7); }
int back(int x) { u32 u = x; int y = u; return y; }
int back_compared(int x, u32 u) { int y = u; return (y < x) + 2 * ((int)u < x); }
u32 chosen(int x, u32 u) { return x > u ? x : u; }
int chosen_signed(int x, u32 u) { int r = x > 3 ? x : u; return r > 7; }
int sums(int x, u32 u) { return (x - u > 3) + 2 * (x + u > 3) + 4 * (x * u > 3) + 8 * ((x - u) / 2 == 5); }
int cases(int x) { switch ((u32)x) { case 4294967295u: return 1; case 3: return 2; } return 0; }
static int sign(int y, int n) { return n > 0 ? sign(y, n - 1) + (y < 0) : 0; }
static u32 less(u32 y, int n) { return n > 0 ? less(y, n - 1) - 1 : y; }
int passed(u32 u) { return sign(u, 3); }
int result(int x) { int y = less(x, 2); return (y < 0) + 2 * (less(x, 2) > 7); }
int absolute(int x) { return x > -100000 ? __builtin_abs(x) : 0; }
"""
NAMES = [name for name in re.findall(r"(\w+)\(.*\{ ", PROGRAM) if name not in ("sign", "less")]
VALUES = (-(2**31), -257, -7, -1, 0, 1, 2, 5, 12, 261, 2**31 - 1)


@pytest.fixture(scope="module")
def host():
    with NativeHost() as shared:
        yield shared


def rows(parameters) -> list[tuple[int, ...]]:
    return [
        tuple(value if p.type.signed else value % 2**p.type.width for value, p in zip(row, parameters, strict=True))
        for row in itertools.product(VALUES, repeat=len(parameters))
    ]


@pytest.mark.slow
@pytest.mark.parametrize("inline", [True, False])
def test_conversions_are_those_of_the_machine(inline, host, tmp_path):
    file = tmp_path / "conversions.c"
    file.write_text(PROGRAM)
    program = session.load(file, mathematical=True, inline=inline)
    assert len(NAMES) > 20
    with NativeOracle(PROGRAM, host=host) as native:
        for name in NAMES:
            graph = program[name].graph()
            judge = Interpreter(program.source.inlined, graph, options=Options(mathematical=True), checked=True)
            compared = 0
            for row in rows(graph.parameters):
                truth, found = native.run(name, list(row)), judge.run(list(row)).outcome
                if truth.status == "ok":
                    compared += 1
                    assert (found.status, found.return_value) == ("ok", truth.return_value), (name, row)
            assert compared > 5, name


LOOPS = {
    "an index and a size": "int a[10]; int f(int x) { int s = 0; for (int i = 0; i < sizeof a / sizeof *a; i++) s++; return s; }",
    "from below": "int a[10]; int f(int x) { int s = 0; for (int i = x; i < sizeof a / sizeof *a; i++) s++; return s; }",
    "up to unsigned": "int f(unsigned n) { int s = 0; for (int i = 0; i < n; i++) s++; return s; }",
    "up to size_t": "int f(unsigned long n) { int s = 0; for (int i = 0; i < n; i++) s++; return s; }",
    "up to a cast": "int f(unsigned n) { int s = 0; for (int i = 0; i < (int)n; i++) s++; return s; }",
    "unsigned up to signed": "int f(int n) { int s = 0; for (unsigned i = 0; i < n && i < 50; i++) s++; return s; }",
    "down": "int f(int n) { int s = 0; for (int i = n; (unsigned)i > 3 && (unsigned)i < 90; i--) s++; return s; }",
}
"""Loops of which the function returns how often they run."""


@pytest.mark.parametrize("name", LOOPS)
def test_counts_stay_exact(name, host, tmp_path):
    file = tmp_path / "loop.c"
    file.write_text(LOOPS[name])
    function = session.load(file, mathematical=True)["f"]
    (bound,) = answer_bounds([function], "all", Settings(mathematical=True, workers=1))
    assert bound.call.exact
    g = function.graph()
    with NativeOracle(LOOPS[name], host=host) as native:
        for value in (-90, -3, -1, 0, 1, 3, 4, 9, 30, 90, 1000):
            if value < 0 and not g.parameters[0].type.signed:
                continue
            truth = native.run("f", [value])
            assert truth.status == "ok"
            assert evaluate(bound.call.upper, arguments_of(g, [value])) == truth.return_value, value
