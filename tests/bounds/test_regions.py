"""Bounds by functions that differ from header to header, against counts of the interpreter."""

from __future__ import annotations

import random

import pytest

from loopless.bounds.asymptotics.classes import asymptotic_class
from loopless.bounds.methods.components import CallBounds, call_bounds
from loopless.check.interpreter.run import Interpreter
from loopless.terms import EvaluationError, evaluate
from loopless_fuzz.generator.generate import PROFILES, generate, nondet_stream, print_program
from loops_in_c import graph

NESTS = {
    "gives_back": (
        "int f(int n) { int x = n, y = 0; while (x > 0) { x--; y++; while (y > 0 && nondet()) y--; } return y; }", "O(n)"),
    "break_inside": (
        "int f(int n) { int c = 0; while (n > 0) { n--; while (n > 0) { c++; if (nondet()) break; n--; } } return c; }",
        "O(n)"),
    "shrinks_the_outer": (
        "int f(int n) { int i, j; for (i = 0; i < n; i++) for (j = i + 1; j < n; j++) if (nondet()) { j--; n--; }"
        " return i; }", "O(n^2)"),
    "renewed": (
        "int f(int n, int m) { int x = n, y = m; while (x > 0) { if (y > 0) y--; else { y = m; x--; } } return x; }",
        "O(m*n)"),
    "flag": (
        "int f(int n) { int b = 1, x = n; while (b) { x--; if (x >= 0) b = 1; else b = 0; } return x; }", "O(n)"),
    "in_turn": (
        "int f(int n) { int x = n, y = 0, z = 0; while (x > 0) { x--; y += 2; } while (y > 0) { y--; z += 3; }"
        " while (z > 0) z--; return z; }", "O(n)"),
    "steps": (
        "int f(int n, int m) { int i = n; if (m > 0 && n > m) while (i > 0) { if (i < m) i--; else i -= m; } return i; }",
        "O(n)"),
    "to_and_fro": (
        "int f(int n, int m) { int b = 0, x = m, y = 0; while (x >= 0 && y >= 0 && y <= n) if (b == 0) { y++;"
        " if (nondet()) b = 1; } else { y--; if (nondet()) { x--; b = 0; } } return x; }", "O(m*n)"),  # y is at most n + 1
    "round_once": (
        "int f(int n, int m) { int t = n + 1; if (0 <= n && n < m) while (t != n && nondet()) if (t <= m) t++; else t = 0;"
        " return t; }", "O(m)"),  # from n + 1 up to m + 1, then from 0 up to n < m
    "between_limits": (
        "int f(int n, int b) { int x = n; while (0 < x && x < 100) if (b) x++; else x--; return x; }", "O(1)"),
    "at_most_twice": (
        "int f(int n, int m) { int x = n, y = m; while (x > 0 && y < 0) { x = y; y = nondet() - 3; } return x; }", "O(1)"),
    "paid_in_advance": (
        "int f(int n) { int a = 0, b = 0, k, i = 0; while (i < n) { i++; if (nondet()) b = i; if (nondet()) {"
        " for (k = a; k < b; k++); b = i; a = b; } } return a; }", "O(n)"),
    "goto": (
        "int f(int n) { int x = n, y = n;\na: if (x <= 0) return y; x--;\nb: if (y > 0 && nondet()) { y--; goto b; }"
        " goto a; }", "O(n)"),
}  # fmt: skip


def judged(text: str, seed: int, count: int = 60, *, low: int = -6, high: int = 25) -> tuple[CallBounds, int]:
    """The bounds, none of which may be below what the interpreter counts, and how many were compared."""
    g = graph(text.replace("int f", "int nondet(void); int f", 1) if "nondet()" in text else text)
    found = call_bounds(g)
    assert isinstance(found, CallBounds), found
    names = {loop.header: loop.name for loop in g.loops}
    interpreter, chosen, compared = Interpreter(None, g), random.Random(seed), 0
    for _ in range(count):
        arguments = [chosen.randint(low, high) if p.object is None else [3, 0, 9, -2] * 16 for p in g.parameters]
        often = chosen.random()
        nondet = [int(chosen.random() < often) for _ in range(4000)]
        run = interpreter.run(arguments, nondet, max_steps=20_000)
        values = {
            p.var: a for p, a in zip(g.parameters, arguments, strict=True) if p.var is not None and p.object is None
        }
        bounds = [(run.iterations.get(names[header], 0), bound) for header, bound in found.loops.items()]
        if found.whole is not None:
            bounds.append((sum(run.iterations.values()), found.whole))
        for truth, bound in bounds:
            try:
                assert truth <= evaluate(bound.term, values), (text, arguments, truth, str(bound.term))
            except EvaluationError:
                continue
            compared += 1
    return found, compared


RENEWED = {
    "the clock runs out first": (
        "int f(int n, int m) { int x = n, y = m; while (x > 0) { if (y > 0) y--; else { y = m; x--; } } return x; }",
        lambda n, m: max(0, n) * max(0, m) + max(0, n)),
    "one stretch more": (
        "int f(int n, int m) { int x = n, y = m; while (x > 0 || y > 0) { if (y > 0) y--; else { y = m; x--; } }"
        " return x; }", lambda n, m: max(0, n) * max(0, m) + max(0, m) + max(0, n)),
    "the clock is not at its start": (
        "int f(int n, int m) { int x = n + 2, y = 3; while (x > 0) { if (y > 0) y--; else { y = m; x -= 2; } }"
        " return x; }", None),
    "inputs that compare": (
        "int f(int n, int m) { int i = 0, j = 0; if (0 < m && m < n) while (i < n && nondet()) if (j < m) j++; else {"
        " j = 0; i++; } return i; }", lambda n, m: n * m + n if 0 < m < n else 10**9),
}  # fmt: skip


@pytest.mark.parametrize("name", RENEWED)
def test_what_is_renewed_until_a_clock_runs_out(name):
    """The counts reach the bounds, and stay below."""
    text, most = RENEWED[name]
    found, compared = judged(text, 3, low=-3, high=12)
    assert compared > 50
    g = graph("int nondet(void); " + text)
    variables = {p.var.name: p.var for p in g.parameters}
    for n in range(-2, 9):
        for m in range(-2, 9):
            count = sum(Interpreter(None, g).run((n, m), [1] * 4000, max_steps=20_000).iterations.values())
            bound = evaluate(found.whole.term, {variables["n"]: n, variables["m"]: m})
            assert count <= bound
            assert most is None or bound <= most(n, m)


@pytest.mark.parametrize("name", NESTS)
@pytest.mark.slow
def test_nests_are_bounded_as_a_whole(name):
    text, grows = NESTS[name]
    found, compared = judged(text, 1)
    assert found.whole is not None
    assert asymptotic_class(found.whole.term, lambda var: var.name).text() == grows
    assert compared > 50


@pytest.mark.slow
@pytest.mark.parametrize(("profile", "first"), [("nests", 40), ("composed", 40), ("everything", 40)])
def test_no_bound_on_random_programs_is_below_the_truth(profile, first):
    compared = answered = 0
    for seed in range(first, first + 14):
        text = print_program(generate(seed, PROFILES[profile]))
        g = graph(text)
        found = call_bounds(g)
        if not isinstance(found, CallBounds):
            continue
        answered += bool(found.loops)
        names = {loop.header: loop.name for loop in g.loops}
        interpreter, chosen = Interpreter(None, g), random.Random(seed)
        for _ in range(25):
            arguments = [
                p.type.wrap(chosen.choice((0, 1, -1, 7, chosen.randint(-200, 200), 2**31 - 1))) if p.object is None else
                [chosen.choice((0, 1, 3, -2, 9)) for _ in range(64)] for p in g.parameters
            ]  # fmt: skip
            run = interpreter.run(arguments, nondet_stream(seed), max_steps=30_000)
            pairs = zip(g.parameters, arguments, strict=True)
            values = {p.var: a if isinstance(a, int) else 0 for p, a in pairs if p.var is not None}
            for header, bound in found.loops.items():
                try:
                    upper = evaluate(bound.term, values)
                except EvaluationError:
                    continue
                assert run.iterations.get(names[header], 0) <= upper, (text, arguments, str(bound.term))
                compared += 1
    assert compared > 100
    assert answered > 7
