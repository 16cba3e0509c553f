"""Answers come from summaries: nothing is run, interpreted or unrolled, and what an answer costs does not grow with
the number of iterations. Costs are counted in calls, never read off a clock.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import own_loops
import pytest

from loopless.check.interpreter.run import Interpreter
from loopless.check.oracle.native import NativeOracle
from loopless.flowgraph.model import Flowgraph
from loopless.queries.evaluation.evaluate import Evaluation, Evaluator
from loopless.stepping import SteppingForbidden, enumerating, no_stepping
from loopless.summary import paths_of, summarize
from loops_in_c import graph

WITHOUT_ENUMERATION = 0
STARTS: dict[str, dict[str, int]] = {
    "p1a": {"x": -(2**30), "z": -(2**30) - 77, "n": 2**30},
    "p1b": {"i": -(2**30), "a": 3, "j": -(10**6)},
    "p1f": {"s": 1, "x1": 0, "x2": 0, "t": -(2**30), "n": 2**29},
    "p6a": {"i": -1000, "j": 3, "m": 10**6, "n": 1000},
    "l1a": {"i": -(2**30), "x": -(10**6)},
    "l1b": {"i": -(2**30), "x": 10**7},
    "l1c": {"i": -(2**31), "x": -(10**7)},
    "l1d": {"i": -(2**31), "x": 10**7},
    "l3a": {"i": -(2**31), "x": -(10**7)},
    "l5a": {"i": -(2**31), "x": -(10**7)},
    "l5b": {"i": -(2**30), "x": -(10**7)},
    "custom4": {"i": -(2**30), "x": 10**6, "flag": 0},
    "t27": {"n": -(10**6), "y": 10**6, "pc": 0},
    "t30": {"x": 10**9, "y": 10**9},
}
"""For each of the papers' loops a state from which it takes millions of iterations."""


def evaluator(g: Flowgraph) -> Evaluator:
    return Evaluator(g, Interpreter(None, g), lambda loop: summarize(paths_of(g, loop)))


def evaluated(name: str) -> Evaluation:
    g = own_loops.graph(own_loops.program(own_loops.text(name)))
    with no_stepping(WITHOUT_ENUMERATION):
        return evaluator(g).run([STARTS[name][parameter.name] for parameter in g.parameters])


@pytest.mark.parametrize("name", STARTS)
def test_the_papers_loops_are_evaluated_without_an_iteration(name: str) -> None:
    found = evaluated(name)
    assert (found.status, found.by) == ("ok", "summary"), found.reason
    assert sum(found.iterations.values()) > 10**6


def test_the_switch_stops_the_interpreter_at_the_first_way_back() -> None:
    g = graph("int f(int n) { int i = 0; while (i < n) i++; return i; }")
    with no_stepping():
        assert Interpreter(None, g).run([0]).outcome.return_value == 0
        with pytest.raises(SteppingForbidden, match="was interpreted"):
            Interpreter(None, g).run([1])
    assert Interpreter(None, g).run([1]).outcome.return_value == 1


def test_the_switch_stops_loops_of_several_entries() -> None:
    g = graph("int f(int n, int i) { if (n > 5) goto in; again: if (i < n) { i++; in: i++; goto again; } return i; }")
    assert Interpreter(None, g).run([9, 0]).outcome.return_value == 9
    with no_stepping(), pytest.raises(SteppingForbidden):
        Interpreter(None, g).run([9, 0])


def test_the_switch_stops_native_runs_and_enumeration() -> None:
    with NativeOracle("int f(int x) { return x + 1; }") as oracle:
        with no_stepping(), pytest.raises(SteppingForbidden, match="natively"):
            oracle.run("f", [1])
        assert oracle.run("f", [1]).return_value == 2
    enumerating(10**6, "anything")
    with no_stepping(100):
        enumerating(100, "a table")
        with pytest.raises(SteppingForbidden, match="101 states"):
            enumerating(101, "a table")


# -- costs ------------------------------------------------------------------------------------------------------------


def calls(action: Callable[[], object]) -> int:
    """How many functions, of Python and of its extensions, ``action`` calls."""
    count = 0

    def seen(_frame: object, event: str, _what: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        action()
    finally:
        sys.setprofile(before)
    return count


EVALUATED = {
    "for": "unsigned f(unsigned n) { unsigned s = 0; for (unsigned i = 0; i < n; i++) s += i * i; return s; }",
    "while": "long long f(unsigned n) { long long i = 0; while (i < n) { i += 1; } return i; }",
    "until equal": "unsigned f(unsigned n) { unsigned u = 0; while (u != n) u += 7; return u; }",
    "towards each other": "unsigned f(unsigned n) { unsigned x = 0, z = 5; while (x < n) { if (z > x) x++; else z++; } return z; }",
}  # fmt: skip


@pytest.mark.parametrize("name", EVALUATED)
def test_two_thousand_million_iterations_cost_what_ten_do(name: str) -> None:
    g = graph(EVALUATED[name])
    asked = evaluator(g)
    asked.run([10])
    few = calls(lambda: asked.run([10]))
    many = calls(lambda: asked.run([2**31]))
    assert asked.run([2**31]).by == "summary"
    assert few < 20_000
    assert many <= 1.2 * few + 50, (few, many)


SUMMARIZED = {
    "p1b": ("i < 100", "i < 2000000000"),
    "l1b": ("i < 100", "i < 2000000000"),
    "l1c": ("i < 100", "i < 2000000000"),
    "l5a": ("i < 100", "i < 2000000000"),
    "l3a": ("i < 100", "i < 2000000000"),
    "phases": ("x < 100", "x < 2000000000"),
}


@pytest.mark.parametrize("name", SUMMARIZED)
def test_a_summary_costs_the_same_for_a_distant_limit(name: str) -> None:
    near, far = SUMMARIZED[name]
    source = own_loops.text(name)
    assert near in source
    costs = []
    for limit in (near, near, far):
        g = own_loops.graph(own_loops.program(source.replace(near, limit)))
        paths = own_loops.paths(g)
        costs.append(calls(lambda paths=paths: summarize(paths)))
    assert costs[2] <= 2 * min(costs[:2]) + 1000, costs
