"""What iterations of inner loops use up and give back: no bound on a call is below the counts of runs that use it to the full."""

from __future__ import annotations

from itertools import product

import pytest

from counted import judge_calls, judge_entries_in_calls
from loopless.bounds import function_bounds, least
from loopless.check.interpreter.run import Interpreter
from loopless.flowgraph import build
from loopless.refusals import Reason
from loopless.source import load
from loopless.terms import Read, evaluate, walk

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
}
WITHOUT = {
    "what is gained in another variable is added": {1},
    "what is gained is kept in a sum": {3},
    "what is gained is counted in an inner loop that may be left": {1, 2},
    "saved and put back": {2},
    "saved, moved to another variable, and put back": {3},
    "set anew in the middle of a lap that lowers and raises": {1},
    "negative in the inner loop only": {1},
}
"""Which loops, as they stand in the source, have no bound for the whole call: what inner loops add is not known there."""
VALUES = (-1, 0, 1, 3, 10)


def read(folder, text):
    file = folder / "case.c"
    file.write_text(f"int __VERIFIER_nondet_int(void);\n#define more __VERIFIER_nondet_int\nint s;\n{text}\n")
    program = load([file])
    return program, build(program.inlined.functions["f"], program.inlined)


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_bound_is_below_what_runs_take(tmp_path, name):
    program, graph = read(tmp_path, f"void f(int a, int b, int c) {{{PROGRAMS[name]}\n}}")
    bounds = function_bounds(graph)
    in_source = sorted(graph.loops, key=lambda loop: (loop.line, loop.column))
    bounded = [loop.name for loop in in_source if bounds.loops[loop.name].total]
    assert bounded == [loop.name for at, loop in enumerate(in_source, 1) if at not in WITHOUT.get(name, ())]
    interpreter = Interpreter(program.inlined, graph)
    rows = list(product(VALUES, repeat=3))
    some = ([1] * 4000, [0] * 4000, [1, 0] * 2000, [1, 1, 1, 0] * 1000, [1, 0, 0] * 1300)
    calls = [judge_calls(graph, rows, choices, bounds, interpreter, max_steps=3000) for choices in some]
    assert all(counted.compared >= len(bounded) * len(rows) for counted in calls)
    entries = [judge_entries_in_calls(graph, rows, choices, bounds, interpreter, max_steps=3000) for choices in some]
    assert all(counted.compared >= len(rows) // 5 for counted in entries)
    assert max(counted.longest for counted in (*calls, *entries)) >= 10  # of rows with 10


def test_a_block_is_come_to_once_more_in_each_entry_that_is_left_behind_it(tmp_path):
    """``s`` counts how often its block is come to: with n = 10, x = 1 and every choice a break, 10 times."""
    body = "for (int i = 0; i < n; i++) while (x > 0) { s++; if (more()) break; x--; }"
    program, graph = read(tmp_path, f"int f(int n, int x) {{ s = 0; {body} return s; }}")
    inner = max(graph.loops, key=lambda loop: loop.depth)
    blocks = function_bounds(graph).loops[inner.name].blocks
    (label,) = [name for name in inner.blocks if "body" in name]
    upper = least(blocks[label])
    assert upper is not None
    interpreter = Interpreter(program.inlined, graph)
    names = {p.name: p.var for p in graph.parameters}
    counts = {}
    for n, x in product(VALUES, repeat=2):
        for kind, choices in enumerate(([1] * 500, [0] * 500, [0, 1] * 250)):
            run = interpreter.run([n, x], choices)
            counts[n, x, kind] = run.outcome.return_value
            assert counts[n, x, kind] <= evaluate(upper, {names["n"]: n, names["x"]: x})
    assert (counts[10, 1, 0], counts[10, 10, 0], counts[10, 10, 1]) == (10, 10, 10)


def test_no_bound_is_over_what_another_part_of_the_lap_writes(tmp_path):
    """The inner loop adds 20 from the second iteration of the outer one on, whatever ``cell`` holds at the entry."""
    inner = "while (b > 0 && more()) { a += cell[c & 7]; b--; }"
    text = (
        f"int cell[64]; void f(int a, int b, unsigned char c) {{ while (a > 0) {{ {inner} cell[c & 7] = 20; a--; }} }}"
    )
    _, graph = read(tmp_path, text)
    bounds = function_bounds(graph).loops
    outer, inner = (bounds[loop.name] for loop in sorted(graph.loops, key=lambda loop: loop.depth))
    assert (outer.total, outer.per_entry) == ((), ())
    assert outer.refused is not None
    assert outer.refused.reason is Reason.NO_BOUND
    b = next(p.var for p in graph.parameters if p.name == "b")
    for bound in inner.total:
        assert not any(isinstance(node, Read) for node in walk(bound.term))
    for value in VALUES:  # b is used up, and never given back
        assert evaluate(least(inner.total), {b: value}) == max(0, value)
