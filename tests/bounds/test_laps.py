"""Bounds on loops around loops, of which only the drift is known: judged by whole runs of the function."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest

from loopless.bounds.looperman.iterations import iteration_paths
from loopless.bounds.looperman.scopes import scopes_of
from loopless.bounds.ranking.linear import rank
from loopless.check.interpreter.run import Interpreter
from loopless.paths import LoopPaths
from loopless.refusals import Reason, Refused
from loopless.terms import Var, evaluate, holds
from loops_in_c import graph

INPUT = "int __VERIFIER_nondet_int(void); "

NESTS = {
    "a triangle": "int f(int n, int k) { for (int i = 0; i < n; i++) for (int j = i; j < n; j++) k--; return k; }",
    "what was put aside": INPUT
    + "int f(int x, int y) { while (x > 0) { x--; y++; while (y > 0 && __VERIFIER_nondet_int()) y--; } return y; }",
    "both go down": INPUT
    + "int f(int x, int y) { while (x > 0) { x--; while (x > 0 && __VERIFIER_nondet_int()) x--; } return x; }",
    "one feeds the other": "int f(int x, int y) { while (x > y) { while (x > 3 && y < 3) { x -= 2; y++; } y++; } return x; }",
    "two inside": INPUT
    + "int f(int x, int y) { while (x > 0 && y > 0) { if (__VERIFIER_nondet_int()) { while (x > 0 && __VERIFIER_nondet_int()) x--; y--; } "
    "else { while (y > 2 && __VERIFIER_nondet_int()) y--; x--; } } return x; }",
    "three deep": INPUT
    + "int f(int x, int y) { while (x > 0) { while (y > 0 && __VERIFIER_nondet_int()) { while (x > 5 && __VERIFIER_nondet_int()) x--; y--; } x--; } return x; }",
    "a product inside": "int f(int x, int y) { int i = 0; while (i < x) { int j = 0; while (j < i * y) j++; i++; } return i; }",
    "a flag": "int f(int x, int y) { int flag = 1; while (flag > 0) { flag = 0; while (x > y) { x--; flag = 1; } } return x; }",
    "the inner one takes back": INPUT
    + "int f(int x, int y) { while (x > 0) { x -= 3; while (y > 0 && __VERIFIER_nondet_int()) { y--; x++; } } return x; }",
}


@pytest.mark.parametrize("name", NESTS)
def test_no_bound_on_the_laps_of_one_entry_is_below_the_truth(name):
    g = graph(NESTS[name])
    scopes = scopes_of(g)
    found = {}
    for loop in g.loops:
        paths = iteration_paths(scopes, loop.header)
        assert isinstance(paths, LoopPaths), paths
        outcome = rank(paths)
        found[loop.name] = () if isinstance(outcome, Refused) else outcome
    outermost = next(loop.name for loop in g.loops if loop.parent is None)
    assert found[outermost]
    interpreter = Interpreter(None, g)
    chosen = random.Random(3)
    compared = longest = 0
    for _ in range(120):
        arguments = [chosen.randint(-3, 25) for _ in g.parameters]
        often = chosen.random()
        inputs = [int(chosen.random() < often) for _ in range(600)]
        entries: list[tuple[str, dict[Var, int]]] = []

        def note(loop, values: Mapping[Var, int], entries=entries) -> None:
            entries.append((loop.name, dict(values)))

        run = interpreter.run(arguments, inputs, max_steps=20_000, on_loop=note)
        for loop in g.loops:
            own = [values for at, values in entries if at == loop.name]
            if not own or run.status in ("timeout", "unknown"):
                continue
            for ranking in found[loop.name]:
                if all(holds(ranking.valid_when, values) for values in own):
                    # Of several entries only the sum is known.
                    most = sum(evaluate(ranking.iterations, values) for values in own)
                    taken = run.iterations.get(loop.name, 0)
                    assert taken <= most, (arguments, loop.name, taken, most, ranking)
                    compared += 1
                    longest = max(longest, taken)
    assert compared > 50 and longest > 3


def test_an_inner_loop_that_raises_is_not_ignored():
    source = INPUT + "int f(int x) { while (x > 0) { x--; while (__VERIFIER_nondet_int()) x++; } return x; }"
    g = graph(source)
    outer = next(loop for loop in g.loops if loop.parent is None)
    paths = iteration_paths(scopes_of(g), outer.header)
    assert isinstance(paths, LoopPaths)
    found = rank(paths)
    # With one more in each lap than is taken away it need not end.
    assert isinstance(found, Refused)
    assert found.reason is Reason.NO_RANKING
