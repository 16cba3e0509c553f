"""Loops that write memory are evaluated by their summaries: the elements are those of native runs."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from functions_that_write import LOOPS, random_arguments
from loopless.check.oracle.native import NativeOracle, NativeRun
from loopless.flowgraph.model import Flowgraph
from loopless.queries import program as session
from loopless.queries.evaluation.prepared_calls import PreparedCalls
from loopless.queries.functions import outcomes_of
from loopless.queries.loops.answer import Question
from loopless.queries.loops.answers import answer_loop
from loopless.queries.program import AnalyzedFunction
from loopless.stepping import no_stepping

MANY = 1 << 40


def prepared(source: str, folder: Path) -> tuple[AnalyzedFunction, PreparedCalls]:
    """The function, ready to be evaluated by the summaries of its loops."""
    file = folder / "a.c"
    file.write_text(source, encoding="utf-8")
    function = session.load(file)["f"]
    question = Question(classify=False)
    outer = [loop for loop in function.loops if loop.id.depth == 1]
    return function, PreparedCalls(function, outcomes_of([answer_loop(function, loop.id, question) for loop in outer]))


@pytest.mark.parametrize("name", LOOPS)
def test_output_arrays_come_from_summaries(name: str, tmp_path: Path) -> None:
    function, calls = prepared(LOOPS[name], tmp_path)
    g = function.graph()
    assert isinstance(g, Flowgraph)
    chance = random.Random(name)
    given = [random_arguments(g, chance) for _ in range(25)]
    with NativeOracle(LOOPS[name]) as oracle:
        runs = oracle.run_many("f", [NativeRun(arguments) for arguments in given])
    for arguments, run in zip(given, runs, strict=True):
        with no_stepping(0):
            found = calls.evaluate(arguments, (), MANY, None)
        assert (found.status, found.by) == ("ok", "summary"), found.reason
        assert (found.return_value, found.outputs) == (run.return_value, run.outputs), arguments


FILLS = "void f(int *a, int n) { for (int i = 0; i < n; i++) a[i] = i; }"


def test_a_fill_of_thousands_is_not_stepped_through(tmp_path: Path) -> None:
    _, calls = prepared(FILLS, tmp_path)
    with no_stepping(0):
        found = calls.evaluate([[7] * 3000, 2999], (), MANY, None)
    assert found.outputs == ((*range(2999), 7),)
    assert found.iterations[next(iter(found.iterations))] == 2999


def test_writes_outside_of_an_array_are_found_by_running(tmp_path: Path) -> None:
    _, calls = prepared(FILLS, tmp_path)
    found = calls.evaluate([[7] * 5, 6], (), MANY, None)
    assert (found.status, found.by) == ("undefined", "interpretation")
    assert calls.evaluate([[7] * 5, 5], (), MANY, None).outputs == ((0, 1, 2, 3, 4),)


def test_what_is_not_told_is_run(tmp_path: Path) -> None:
    source = (
        "void g(int *); void f(int *a, int n) { for (int i = 0; i < n; i++) { int h = a[a[i] & 3]; a[i] = h + 1; } }"
    )
    _, calls = prepared(source, tmp_path)
    with NativeOracle(source) as oracle:
        for arguments in ([[3, 1, 4, 1, 5], 5], [[0, 0, 0, 0], 4], [[9, 8, 7, 6], 3]):
            found = calls.evaluate(arguments, (), MANY, None)
            assert found.by == "interpretation"
            assert found.outputs == oracle.run("f", arguments).outputs
