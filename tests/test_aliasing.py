"""Memory in awkward ways: evaluation, by summaries where they cover it, against native execution."""

from __future__ import annotations

import pytest

from loopless.check.interpreter.run import Interpreter
from loopless.check.oracle.native import NativeOracle
from loopless.check.outcome import Outcome
from loopless.flowgraph import build
from loopless.paths import loop_paths
from loopless.queries.evaluation.evaluate import Evaluator
from loopless.source import load
from loopless.summary import summarize
from loops_in_c import graph

PROGRAMS = {
    "pointers in a local array": "int f(int n, int j) { int a = 1, b = 2; int *arr[2]; arr[0] = &a; arr[1] = &b; j &= 1; "
    "*arr[j] = 7; for (int i = 0; i < n; i++) if (a == 7) return 1000; return a * 10 + b; }",
    "a struct with a pointer copied": "struct s { int *p; int n; }; int f(int n) { int x = 1; struct s a, b; a.p = &x; "
    "a.n = 3; b = a; for (int i = 0; i < n; i++) *b.p = 5; return x; }",
    "two arrays of one name": "int f(int n, int m) { int a[4] = {1, 2, 3, 4}; int *p = a; int r = 0; "
    "{ int a[4] = {1, 2, 5, n}; int i; for (i = 0; i < 4 && p[i] == a[i]; i++) ; r = i; } return r + m; }",
    "an argument handed back": "int *id(int *p, int k) __attribute__((const)); int *id(int *p, int k) { return k > 0 ? "
    "id(p, k - 1) : p; } int f(int n) { int x = n & 7; int *q = id(&x, 2); for (int i = 0; i < 5; i++) *q += 2; return x; }",
    "a function of one's own with a library name": "int G = 0; int puts(const char *s) { if (G > 100) return puts(s + 0 * "
    '(G -= 200)); G += 1; return 0; } int f(int n) { G = 0; for (int i = 0; i < (n & 15); i++) puts("x"); return G; }',
    "a cycle with two entries": "int f(int n) { int s = 0, i = 0; if (n & 1) goto in; for (; i < 10; i++) { s += i; in: "
    "s += 100; } return s; }",
    "a pointer read as a number's bytes": "int f(int n) { int x = 1, y = 2; union { int *p; unsigned char b[8]; } u, v; "
    "u.p = &x; v.p = &y; for (int i = 0; i < 8; i++) v.b[i] = u.b[i]; *v.p = n; return x * 3 + y; }",
    "swapped pointers": "int f(int n) { int a = 0, b = 100; int *p = &a, *q = &b; for (int i = 0; i < (n & 31); i++) { "
    "*p += 1; int *t = p; p = q; q = t; } return a * 1000 + b; }",
    "a truth value in a union": "union u { _Bool b; unsigned char c; }; int f(int n) { union u u; u.c = n & 127; int k = 0; "
    "while (u.c > 5) { u.c -= 3; k++; } return k * 1000 + u.c; }",
    "a truth value written as a number": "int f(int n) { _Bool b = 0; *(unsigned char *)&b = n & 3; int k = 0; "
    "while (k < *(unsigned char *)&b) k++; return k; }",
    "a pointer to a pointer": "int f(int n) { int a = 1, b = 2; int *p = &a; int **pp = &p; if (n & 1) *pp = &b; "
    "for (int i = 0; i < 3; i++) *p += 10; return a * 100 + b; }",
    "an address kept in a global": "int *g; void set(int *p, int k) { if (k > 0) set(p, k - 1); else g = p; } int f(int n) { "
    "int x = n & 3; set(&x, 2); for (int i = 0; i < 4; i++) *g += 1; return x; }",
}


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_against_native(name: str, tmp_path) -> None:
    source = PROGRAMS[name]
    (tmp_path / "a.c").write_text(source)
    program = load([tmp_path / "a.c"])
    g = build(program.inlined.functions["f"], program.inlined)
    evaluator = Evaluator(g, Interpreter(program.inlined, g), lambda loop: summarize(loop_paths(g, loop)))
    count = len(g.parameters)
    answered = 0
    with NativeOracle(source) as oracle:
        for n in (-1, 0, 1, 2, 3, 4, 7, 9, 100, 114, 1 << 20):
            for m in (0, 9) if count == 2 else (0,):
                arguments = [n, m][:count]
                native = oracle.run("f", arguments)
                own = evaluator.run(arguments, max_steps=50_000)
                if own.status == "unknown" or native.status == "timeout":
                    continue
                answered += 1
                assert Outcome(own.status, own.return_value, (), own.globals).agrees_with(native), (
                    arguments,
                    own,
                    native,
                )
    if name != "a pointer read as a number's bytes":
        assert answered >= 5


def test_a_cycle_with_two_entries_is_not_by_summary() -> None:
    g = graph(PROGRAMS["a cycle with two entries"])
    evaluator = Evaluator(g, Interpreter(None, g), lambda loop: summarize(loop_paths(g, loop)))
    assert evaluator.run([3]).by == "interpretation"


SHARED = "int f(int *p, int *e) { int k = 0; while (p != e && k < 3) { p++; k++; } return k; }"


def test_pointers_that_are_compared_take_one_object_and_an_index() -> None:
    g = graph(SHARED)
    evaluator = Evaluator(g, Interpreter(None, g), lambda loop: summarize(loop_paths(g, loop)))
    assert evaluator.run([[1, 2, 3, 4], 2]).return_value == 2
    assert evaluator.run([[1, 2, 3, 4], 4]).return_value == 3
    apart = evaluator.run([[1, 2, 3, 4], [5, 6, 7, 8]])
    assert apart.status == "unknown"
    assert "one object" in apart.reason


SPECULATED = """
define i32 @f(i32 noundef %a, i32 noundef %b) {
entry:
  %less = add nsw i32 %a, -1
  %chosen = icmp sgt i32 %b, 5
  %r = select i1 %chosen, i32 %less, i32 %b
  ret i32 %r
}
"""


def test_a_broken_promise_of_optimized_code_is_not_called_undefined(tmp_path) -> None:
    (tmp_path / "a.ll").write_text(SPECULATED)
    module = load([tmp_path / "a.ll"]).inlined
    g = build(module.functions["f"], module)
    interpreter = Interpreter(module, g)
    assert interpreter.run([7, 9]).outcome.return_value == 6
    # a - 1 overflows, but it is b that is chosen.
    assert interpreter.run([-(2**31), 0]).status == "unknown"


def test_what_a_call_may_change_is_not_said_to_stay() -> None:
    g = graph("void ext(int *); int f(int n) { int x = 1, i = 0; while (i < n) { ext(&x); i++; } return i; }")
    x = next(v for v, info in g.variables.items() if info.shown == "x")
    assert summarize(loop_paths(g, g.loops[0], [x])).reason.label == "unknown-call"
