"""How often at least: loops that choices of inputs make shorter or longer, against counts of the interpreter."""

from __future__ import annotations

import random

import pytest

from loopless.bounds.asymptotics.lower import lower_class_of
from loopless.check.interpreter.run import Interpreter
from loopless.queries.bounds.answering import answer_bounds
from loopless.queries.program import load
from loopless.queries.settings import Settings
from loopless.terms import ZERO, evaluate

NONDET = "int nondet(void);\n"

STEPS = "int f(int n) { int i = 0; while (i < n) { if (nondet() > 0) i += 2; else i += 1; } return i; }"

NESTED = """int f(int n, int m) {
    int c = 0;
    if (m == 0) return 1;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; ) { if (nondet() > 0) j += 3; else { j++; c++; } if (c > 20) c = 0; }
    return c;
}"""

TWO_EXITS = """int f(int n, int m) {
    int i = 0, j = 0;
    while (i < n) { if (j >= m) break; i++; j += 2; if (nondet() > 0) j--; }
    return i;
}"""

BREAKS = "int f(int n) { int i = 0; while (i < n) { if (nondet() > 0) break; i++; } return i; }"

OUT_OF_BOTH = """int f(int n, int m) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            if (nondet() > 0) return j;
    return n;
}"""

GIVES_BACK = """int f(int n) {
    int i = 0;
    while (i < n) { int j = i; while (j > 0 && nondet() > 0) j--; i = i + 4 - (j < i); }
    return i;
}"""

CHOOSES = """int f(int n, int x) {
    int i = 0;
    if (nondet() > 0) i = n;
    while (i < n) { i++; x += nondet(); }
    return x;
}"""

EXPECTED = {
    "steps": (STEPS, [(10,), (11,), (0,), (-5,), (1,)], {(10,): 5, (11,): 6, (0,): 0, (-5,): 0, (1,): 1}),
    "nested": (NESTED, [(4, 6), (3, 1), (5, 0), (-1, 4), (4, 7)], {(4, 6): 12, (3, 1): 6, (5, 0): 0, (4, 7): 16}),
    "two exits": (TWO_EXITS, [(10, 6), (3, 40), (7, 13), (0, 1)], {(10, 6): 3, (3, 40): 3, (7, 13): 7, (0, 1): 0}),
    "breaks": (BREAKS, [(10,), (0,)], {(10,): 0, (0,): 0}),
    "out of both": (OUT_OF_BOTH, [(3, 4), (0, 2)], {(3, 4): 0, (0, 2): 0}),
    "gives back": (GIVES_BACK, [(20,), (9,), (0,)], {(20,): 5, (9,): 3, (0,): 0}),
    "chooses": (CHOOSES, [(10, 3), (0, 0)], {(10, 3): 0, (0, 0): 0}),
}


def bounds(folder, text: str):
    file = folder / "a.c"
    file.write_text(NONDET + text)
    program = load([file], Settings(workers=1))
    (found,) = answer_bounds([program["f"]], "all", program.settings)
    assert not found.trouble
    return program, found


@pytest.mark.parametrize("name", EXPECTED)
def test_no_run_takes_fewer_and_the_least_is_as_worked_out_by_hand(tmp_path, name):
    text, rows, least = EXPECTED[name]
    program, found = bounds(tmp_path, text)
    g = program["f"].graph()
    chosen, interpreter = random.Random(4), Interpreter(program.source.inlined, g)
    told, compared = {}, 0
    for row in rows:
        values = {p.var: value for p, value in zip(g.parameters, row, strict=True)}
        told[row] = evaluate(found.call.lower, values)
        for _ in range(60):
            share = chosen.choice((0, 1, 2, 10))
            stream = [chosen.randint(-1, share) for _ in range(400)]
            run = interpreter.run(list(row), stream, max_steps=5000)
            if run.status != "ok":
                continue
            compared += 1
            assert told[row] <= sum(run.iterations.values()), (row, stream)
            for loop in found.counts:
                least_of_it = evaluate(loop.call.lower, values)
                assert least_of_it <= run.iterations.get(loop.answer.loop.name, 0), (row, loop.answer.loop.name)
    assert {row: told[row] for row in least} == least
    assert compared > 10 * len(rows)


def test_where_the_least_is_the_most_the_count_is_exact(tmp_path):
    _, found = bounds(tmp_path, NESTED)
    outer, inner = found.counts
    assert outer.entry.exact
    assert not inner.entry.exact
    assert inner.entry.lower is not ZERO


def test_looperman_alone_has_no_lower_bounds(tmp_path):
    file = tmp_path / "a.c"
    file.write_text(NONDET + STEPS)
    program = load([file], Settings(workers=1))
    (found,) = answer_bounds([program["f"]], "looperman", program.settings)
    assert found.counts[0].call.lower is ZERO


WRITTEN = """int t[8];
int f(int n, int k) {
    int s = 0;
    for (int a = 0; a < n; ) {
        t[k & 7] = a;
        for (int i = 0; i < n; ) {
            int m = t[3] & 7;
            for (int j = 0; j < m; ) j += 1 + (nondet() & 1);
            i += 1 + (nondet() & 1);
        }
        a += 1 + (nondet() & 1);
    }
    return s;
}"""

WRITTEN_BEFORE = """unsigned char g[10];
int f(int n, int k) {
    g[k & 7] = 0;
    for (int i = 0; i < n; ) {
        int m = g[2];
        for (int j = 0; j < m; ) j += 1 + (nondet() & 1);
        i += 1 + (nondet() & 1);
    }
    return n;
}"""


@pytest.mark.parametrize("text", [WRITTEN, WRITTEN_BEFORE])
def test_memory_that_may_have_been_written_gives_no_lower_bound(tmp_path, text):
    _, found = bounds(tmp_path, text)
    innermost = max(found.counts, key=lambda loop: loop.answer.loop.line)
    assert innermost.call.lower is ZERO
    assert found.call.lower is not ZERO


ASSUMED = "void __VERIFIER_assume(int); int f(int n) { __VERIFIER_assume(n < 100); int i = 0;"
ASSUMED += " while (i < n) { if (nondet() > 0) i++; else i += 2; } return i; }"
OUTSIDE = "int f(int n) { int t[10]; int i = 0; while (i < n) { t[i] = 1; i += 1 + (nondet() & 1); } return i; }"


@pytest.mark.parametrize("text", [ASSUMED, OUTSIDE])
def test_where_no_run_may_end_well_nothing_is_said_to_be_reached(tmp_path, text):
    _, found = bounds(tmp_path, text)
    assert found.call.lower is not ZERO
    assert lower_class_of(found.call, found.shown) is None


def test_where_all_runs_count_the_least_is_reached(tmp_path):
    file = tmp_path / "a.c"
    file.write_text(NONDET + NESTED)
    program = load([file], Settings(workers=1, mathematical=True))
    (found,) = answer_bounds([program["f"]], "all", program.settings)
    grows = lower_class_of(found.call, found.shown)
    assert grows is not None
    assert grows.degree == 2
