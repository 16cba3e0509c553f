"""What laps of inner loops use up and give back: no bound on a call is below the counts of runs that use it to the full."""

from __future__ import annotations

from itertools import product

import pytest

from counted import judge_calls
from loopless.bounds import function_bounds
from loopless.check.interpret import Interpreter
from loopless.flowgraph import build
from loopless.source import load

PROGRAMS = {
    "what is gained in another variable is added": """
        while (a > 0) { int y = 0; while (b > 0 && more()) { y++; b--; } a += y - 1; }""",
    "what is gained is kept in a sum": """
        int y = 0, x = 0;
        for (int i = 0; i < a; i++) { x = 0; for (int j = 0; j < b && more(); j++) x++; y = y + x; }
        for (int j = 0; j < y; j++) s ^= j;""",
    "what is gained is counted in an inner loop that may be left": """
        while (a > 0 && a < 50) { int got = 0; while (more()) { got++; if (got == 3) break; } a = a - 4 + got; }""",
    "saved and put back": """
        for (int i = 0; i < a; i++) { int t = b; while (b > 0 && more()) b--; b = t; }""",
    "saved, moved to another variable, and put back": """
        for (int i = 0; i < a; i++) { int t = b; while (b > 0 && more()) { c++; b--; } b = t; }
        for (int j = 0; j < c + b; j++) s ^= j;""",
    "raised on the way there, and set anew": """
        int x = b; for (int i = 0; i < a; i++) { x += 5; while (x > 0 && more()) x--; x = b; }""",
    "raised on the way there, and set to something else": """
        int x = c; for (int i = 0; i < a; i++) { x += 5; while (x > 0 && more()) x--; x = b; }""",
    "set anew in the middle of a lap that lowers and raises": """
        while (a > 0) { a -= 10; while (b > 0 && more()) { a = 0; b--; } a += 9; }""",
    "negative in the inner loop only": """
        int x = a; while (x != 0) { x -= 5; while (x < 0 && b > 0 && more()) { x = 500 - x; b--; } if (x < 0) x = 0; }""",
    "left before anything is used up": """
        for (int i = 0; i < a; i++) while (b > 0) { s ^= 1; for (int j = 0; j < 2; j++) s ^= j; if (more()) break; b--; }""",
    "added is what another part of the lap writes": """
        while (a > 0) { while (b > 0 && more()) { a += cell[0]; b--; } cell[0] = 20; a--; }""",
}
VALUES = (-1, 0, 1, 3, 10)


@pytest.mark.parametrize("body", PROGRAMS.values(), ids=PROGRAMS)
def test_no_bound_is_below_what_runs_take(tmp_path, body):
    file = tmp_path / "case.c"
    declared = "int __VERIFIER_nondet_int(void);\n#define more __VERIFIER_nondet_int\nint s; int cell[1];\n"
    file.write_text(f"{declared}void f(int a, int b, int c) {{{body}\n}}\n")
    program = load([file])
    graph = build(program.inlined.functions["f"], program.inlined)
    bounds = function_bounds(graph)
    interpreter = Interpreter(program.inlined, graph)
    rows = list(product(VALUES, repeat=3))
    some = ([1] * 4000, [0] * 4000, [1, 0] * 2000, [1, 1, 1, 0] * 1000, [1, 0, 0] * 1300)
    for choices in some:
        judge_calls(graph, rows, choices, bounds, interpreter, max_steps=3000)
