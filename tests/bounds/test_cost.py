"""How much a counter grows over a call: never less than it does, and no more than expected."""

from __future__ import annotations

import itertools

import pytest

from counted import arguments_of
from loopless.bounds.methods.cost import cost_of
from loopless.check.interpreter.run import Interpreter
from loopless.errors import UsageError
from loopless.queries.bounds.answering import answer_bounds
from loopless.queries.bounds.costs import answer_cost, function_with
from loopless.queries.program import load
from loopless.queries.settings import Settings
from loopless.refusals import Reason
from loopless.terms import evaluate
from loops_in_c import graph, variable

COSTS = {
    "sequence": (
        "int f(int x, int y) { int c = 0; while (x > 0) { x--; y++; c++; } while (y > 0) { y--; c++; } return c; }",
        lambda x, y: 2 * max(0, x) + max(0, y),
    ),
    "towards each other": (
        "int f(int x, int y) { int c = 0; while (x < y) { x++; c++; } while (y < x) { y++; c++; } return c; }",
        lambda x, y: abs(x - y),
    ),
    "weights": (
        "int f(int n) { int c = 0; for (int i = 0; i < n; i++) { if (i % 3 == 0) c += 5; else c += 2; } return c; }",
        lambda n: 5 * max(0, n),
    ),
    "flag": (
        "int f(int n) { int c = 0, flag = 1; while (flag > 0) { c++; if (n > 0) { n--; flag = 1; } else flag = 0; } return c; }",
        lambda n: max(0, n) + 1,
    ),
    "given back": (
        "int f(int n) { int c = 0; while (n > 0) { n--; while (n > 0) { c++; if (n % 7 == 0) break; n--; } } return c; }",
        lambda n: max(0, n),
    ),
    "subtracting": (
        "int f(int x, int y) { int c = 0; if (x <= 0 || y <= 0) return 0;"
        " for (;;) { c++; if (x > y) x -= y; else if (y > x) y -= x; else break; } return c; }",
        lambda x, y: x + y if x > 0 and y > 0 else 0,
    ),
    "nest": (
        "int f(int n) { int c = 0; for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) c += 3; return c; }",
        lambda n: 3 * max(0, n) ** 2,
    ),
}


@pytest.mark.parametrize("name", COSTS)
def test_costs(name):
    source, expected = COSTS[name]
    g = graph(source)
    cost = cost_of(g, variable(g, "c"))
    assert cost.upper is not None
    assert cost.lower is not None
    interpreter = Interpreter(None, g)
    for row in itertools.product((-3, 0, 1, 2, 7, 12), repeat=len(g.parameters)):
        truth = interpreter.run(row).outcome.return_value
        values = {**arguments_of(g, row), variable(g, "c"): 0}
        assert evaluate(cost.lower, values) <= truth <= evaluate(cost.upper, values) <= expected(*row), row


GLOBAL = """int ticks;
void f(int x, int y) {
    int t;
    while (x > 0) { ticks += 2; x--; t = x; x = y; y = t; }
    while (y > 9) { ticks++; y -= 3; }
}"""


def test_the_cost_is_exact_where_the_summary_of_the_function_is(tmp_path):
    file = tmp_path / "ticks.c"
    file.write_text(GLOBAL)
    settings = Settings(workers=1)
    program = load([file], settings)
    function = program["f"]
    (bound,) = answer_bounds([function], "all", settings)
    cost = answer_cost(function, "ticks", bound, settings).cost
    assert cost.exact
    g = function.graph()
    interpreter = Interpreter(program.source.inlined, g)
    for x, y, before in itertools.product((-5, 0, 1, 7, 30), (-40, 0, 6, 31), (-3, 0, 100)):
        run = interpreter.run([x, y], globals={"ticks": before})
        values = arguments_of(g, [x, y]) | {v: before for v in cost.upper.variables if v.name == "ticks"}
        assert run.outcome.globals["ticks"] - before == evaluate(cost.upper, values)


PARAMETERS = {
    "n": "int f(int n) { n += 5; for (int i = 0; i < n; i++) n--; return n; }",
    "s": "int f(int n, int s) { while (n > 0) { n--; if (s > 10) s = 3; else s += 4; } return s; }",
    "k": "int f(int k) { while (k > 0) k--; return k; }",
}
"""By the last parameter, which they return."""


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_parameter_grows_by_what_the_call_makes_of_it(tmp_path, name):
    """The summary says nothing of parameters at the end, which is not that they are what they were."""
    file = tmp_path / "parameter.c"
    file.write_text(PARAMETERS[name])
    settings = Settings(workers=1)
    program = load([file], settings)
    function = program["f"]
    (bound,) = answer_bounds([function], "all", settings)
    assert bound.summary is not None
    cost, g = answer_cost(function, name, bound, settings).cost, function.graph()
    assert cost.lower is not None or cost.upper is not None
    interpreter = Interpreter(program.source.inlined, g)
    for row in itertools.product((-20, -3, 0, 1, 2, 7, 11), repeat=len(g.parameters)):
        grown = interpreter.run(row).outcome.return_value - row[-1]
        values = arguments_of(g, row)
        assert cost.upper is None or grown <= evaluate(cost.upper, values), row
        assert cost.lower is None or evaluate(cost.lower, values) <= grown, row
        assert not cost.exact or grown == evaluate(cost.upper, values)
    if name == "k":
        assert [evaluate(cost.lower, {variable(g, "k"): k}) for k in (-1, 0, 5)] == [0, 0, -5]


PIECES = {
    "a register": ("struct s { int k; };", "n", 0, "k", 1),
    "unsigned": ("struct s { unsigned short k; };", "n", 0, "k", 1),
    "the second register": ("struct s { long j; int k; };", "n", 1, "k", 1),
    "both": ("struct s { long k; long j; };", "n + q.j", 0, "k", 2),
    "deeper": ("struct in { int k; }; struct s { struct in a; };", "n", 0, "a.k", 1),
}
"""Structures that are passed by value in pieces: the limit of the loop, which of the pieces is counted, its name, and
how many of the last arguments the limit is the sum of.
"""


@pytest.mark.parametrize("integers", ["machine", "mathematical"])
@pytest.mark.parametrize("name", PIECES)
def test_a_part_of_a_structure_counts_from_what_it_is_at_the_call(name, integers, tmp_path):
    types, limit, at, part, last = PIECES[name]
    file = tmp_path / "piece.c"
    body = f"for (int i = 0; i < {limit}; i++) q.{part} += 2; return q.{part};"
    file.write_text(f"{types}\nlong f(struct s q, int n) {{ {body} }}\n")
    function = load(file, mathematical=integers == "mathematical")["f"]
    g = function.graph()
    cost = cost_of(g, variable(g, f"q.{part}"))
    interpreter = Interpreter(function.program.source.inlined, g)
    for row in itertools.product((-3, 0, 5, 99), repeat=len(g.parameters)):
        if name == "unsigned" and row[at] < 0:
            continue
        values = arguments_of(g, row)
        truth = interpreter.run(row).outcome.return_value - row[at]
        assert evaluate(cost.lower, values) <= truth <= evaluate(cost.upper, values) <= 2 * max(0, sum(row[-last:]))


def test_a_part_of_a_structure_that_is_in_memory_is_refused_by_its_name(tmp_path):
    """Two members come in one register: neither is a variable of its own."""
    file = tmp_path / "both.c"
    file.write_text(
        "struct s { int k, j; };\nint f(struct s q, int n) { for (int i = 0; i < n; i++) q.k++; return q.k; }\n"
    )
    function = load(file)["f"]
    assert function_with([function], "q.k") is function
    (bound,) = answer_bounds([function], "all", Settings())
    found = answer_cost(function, "q.k", bound, Settings()).cost
    assert (found.upper, found.lower, found.refused.reason) == (None, None, Reason.MEMORY)
    assert found.refused.detail.startswith("q.k is no variable of its own")
    for wrong in ("q.m", "q.k.j", "q", "r.k", "q->k", "q.k[1]"):
        with pytest.raises(UsageError, match="no function with loops has a variable"):
            function_with([function], wrong)


def test_what_recursive_calls_add_goes_on_where_one_returned(tmp_path):
    """The second call counts down from what the first one returns: y, and one more for each call."""
    file = tmp_path / "a.c"
    file.write_text(
        "int c;\nint down(int x, int y) { c++; if (x > 0) y = down(x - 1, y + 1); return y; }\n"
        "void f(int x, int y) { c++; y = down(x, y); down(y, 0); }\n"
    )
    program = load([file], Settings())
    (bound,) = answer_bounds([program["f"]], "all", Settings())
    cost = answer_cost(program["f"], "c", bound, Settings()).cost
    assert cost.upper is not None
    by_name = {var.name: var for var in cost.upper.variables}
    for x in range(-3, 5):
        for y in range(-6, 5):
            expected = 3 + max(0, x) + max(0, y + max(0, x))
            assert evaluate(cost.upper, {by_name["x"]: x, by_name["y"]: y}) == expected
