"""The bounds that the papers give for their examples, by Looperman's algorithm alone; compared at many values."""

from __future__ import annotations

from pathlib import Path

import pytest

from counted import judge_calls, judge_entries
from loopless.bounds import function_bounds, least
from loopless.flowgraph import build
from loopless.flowgraph.model import Flowgraph
from loopless.source import load
from loopless.terms import evaluate

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"
NUMBERS = (*range(-5, 30), 100, 1000, 2**31 - 1, -(2**31))


def example(name: str) -> Flowgraph:
    program = load([EXAMPLES / name])
    (function,) = (f for f in program.inlined.functions.values() if f.blocks)
    return build(function, program.inlined)


def at(term, g: Flowgraph, **given: int) -> int:
    values = {p.var: given.get(p.name, 0) for p in g.parameters if p.var is not None}
    assert term is not None
    return evaluate(term, values)


def total(g: Flowgraph, loop: int):
    return least(function_bounds(g).loops[g.loops[loop].name].total)


def visits(g: Flowgraph, loop: int, line: int):
    """The bounds on the blocks of one line."""
    bounds = function_bounds(g).loops[g.loops[loop].name].blocks
    return [
        least(bounds[label])
        for label in bounds
        if any(s.loc is not None and s.loc.line == line for s in g.blocks[label].statements)
    ]


@pytest.mark.parametrize("x", NUMBERS)
def test_figure_1(x):
    """max(0, ceil((x - 5) / 2))."""
    g = example("looperman/fig1.c")
    assert at(total(g, 0), g, x=x) == max(0, -((5 - x) // 2))


def test_figure_2():
    """max(0, n) for the loop, min(max(0, n), 3) for the branch."""
    g = example("looperman/fig2.c")
    (branch,) = visits(g, 0, 14)
    for n in NUMBERS:
        assert at(total(g, 0), g, n=n) == max(0, n)
        assert at(branch, g, n=n) == min(max(0, n), 3)


@pytest.mark.slow
def test_figure_3():
    """max(0, n - 1) for the outer loop, the sum of max(0, n - K - 1) for 0 <= K <= max(-1, n - 2) for the inner."""
    g = example("looperman/fig3.c")
    for n in NUMBERS[:-2]:
        assert at(total(g, 0), g, n=n) == max(0, n - 1)
        assert at(total(g, 1), g, n=n) == sum(max(0, n - k - 1) for k in range(max(-1, n - 2) + 1))
        assert n <= 0 or at(total(g, 1), g, n=n) == n * (n - 1) // 2


def test_an_inner_loop_without_end_has_no_bound():
    g = example("looperman/inner_forever.c")
    assert total(g, 0) is None
    assert function_bounds(g).loops[g.loops[0].name].refused is not None


def test_the_first_case_of_section_7():
    """The least k with (x + k)^2 >= n."""
    g = example("looperman/square.c")
    for x in range(-6, 7):
        for n in range(-3, 60, 7):
            truth = next(k for k in range(100) if (x + k) ** 2 >= n)
            assert at(total(g, 0), g, x=x, n=n) == truth


def test_the_second_case_of_section_7():
    """The least k with x + sum(y + 1 + i for i < k) >= n."""
    g = example("looperman/growing_step.c")
    for x in range(-6, 7, 3):
        for y in range(-6, 7, 3):
            for n in range(-3, 60, 7):
                truth = next(k for k in range(100) if x + sum(y + 1 + i for i in range(k)) >= n)
                assert at(total(g, 0), g, x=x, y=y, n=n) == truth


@pytest.mark.slow
def test_the_third_case_of_section_7():
    """x + max(0, y) and max(0, y) for x > 0."""
    g = example("looperman/gives_back.c")
    for x in range(1, 7):
        for y in range(-6, 7):
            assert at(total(g, 0), g, x=x, y=y) == x + max(0, y)
            assert at(total(g, 1), g, x=x, y=y) == max(0, y)


def test_two_counters_in_one_loop():
    """Proteus, Fig. 6(a): n*m + n for 0 < m < n; the counters alone give as much and the last row once more."""
    g = example("proteus/fig6a_whole.c")
    for m in range(1, 10):
        for n in range(m + 1, 12):
            assert n * m + n <= at(total(g, 0), g, m=m, n=n) <= n * m + n + m


PROGRAMS = {
    "looperman/square.c": lambda: [[x, n] for x in range(-6, 7) for n in range(-3, 60, 7)],
    "looperman/growing_step.c": lambda: [[x, y, n] for x in range(-6, 7, 3) for y in (-9, 0, 4) for n in (-3, 5, 60)],
    "looperman/gives_back.c": lambda: [[x, y] for x in range(-3, 7) for y in range(-6, 7)],
    "looperman/fig1.c": lambda: [[x] for x in NUMBERS[:-2]],
    "looperman/fig2.c": lambda: [[n, [0, 1, 2, 0, 0, 5, 0] * 150] for n in NUMBERS[:-2]],
    "looperman/fig3.c": lambda: [[n, [5, 1, 4, 2, 3] * 20] for n in NUMBERS[:-4]],
    "proteus/fig6a_whole.c": lambda: [[m, n] for m in range(1, 12) for n in range(m + 1, 14)],
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_bound_of_these_is_below_the_count(name):
    g, rows = example(name), PROGRAMS[name]()
    found = judge_calls(g, rows)
    assert found.compared >= len(rows) * len(g.loops)
    assert found.longest > 3
    assert name == "proteus/fig6a_whole.c" or found.tight >= found.compared // 4  # there the last row counts twice
    entered = judge_entries(g)
    assert entered.compared >= 60 * len(g.loops)
    assert entered.tight >= 20
