"""Summaries of functions that call themselves, against native runs and against what the sums come to."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopless.check.interpreter.run import Interpreter
from loopless.check.oracle.native import NativeLimits, NativeOracle, NativeRun
from loopless.flowgraph.model import Flowgraph
from loopless.queries.evaluation.evaluate import Evaluation, Evaluator
from loopless.queries.functions import summarize_whole
from loopless.queries.program import AnalyzedFunction, load
from loopless.refusals import Reason, Refused
from loopless.summary import CallSummary

MOST = 2**31 - 1
SOURCES = {
    "countdown": "int f(int n, int s) { return n <= 0 ? s : f(n - 1, s + 2); }",
    "sum": "int f(int n, int s) { if (n <= 0) return s; return n + f(n - 1, s); }",
    "hash": "unsigned f(unsigned n, unsigned s) { if (n == 0) return s; return 31 * f(n - 1, s) + 7; }",
    "halves": "int f(int n, int s) { if (n <= 1) return s; return 1 + f(n / 2, s); }",
    "capped": "int f(int n, int s) { if (n <= 0) return s; int t = f(n - 1, s); if (t > 10) return t; return t + 3; }",
    "global": "int g; int f(int n, int s) { if (n <= 0) return s; g += 3; int t = f(n - 1, s); g--; return t + 1; }",
    "subtraction": "unsigned f(unsigned n, unsigned s) { if (n < 13) return s; return f(n - 13, s + 1); }",
}


def function(text: str, folder: Path, name: str = "f") -> AnalyzedFunction:
    file = folder / "case.c"
    file.write_text(text)
    return load([file])[name]


def evaluator(found: AnalyzedFunction) -> Evaluator:
    graph = found.graph()
    assert isinstance(graph, Flowgraph)
    summary = summarize_whole(found)
    assert isinstance(summary, CallSummary) and summary.complete, summary
    interpreter = Interpreter(found.program.source.inlined, graph)
    return Evaluator(graph, interpreter, lambda loop: Refused(Reason.NO_CLOSED_FORM, loop.name, "not asked"), summary)


def called(own: Evaluator, *arguments: int) -> Evaluation:
    """What the summary of the function says of a call."""
    found = own.run(arguments, max_steps=100)
    assert found.whole, (arguments, found)
    return found


@pytest.mark.parametrize("name", SOURCES)
def test_native_runs_come_to_the_same(name: str, tmp_path: Path) -> None:
    own = evaluator(function(SOURCES[name], tmp_path))
    unsigned = SOURCES[name].startswith("unsigned")
    low = 0 if unsigned else -4
    rows = [(n, s) for n in (*range(low, 20), 100, 1000, 70_000) for s in (0, 1, 5, 1000, MOST, MOST - 2)]
    rows += [] if unsigned else [(n, s) for n in (0, 1, 7, 40, -MOST - 1) for s in (-1, -MOST - 1, 3 - MOST)]
    compared = 0
    with NativeOracle(SOURCES[name], limits=NativeLimits(seconds=1.0)) as oracle:
        for row, native in zip(rows, oracle.run_many("f", [NativeRun(row) for row in rows]), strict=True):
            if native.status in ("ok", "undefined"):
                found = called(own, *row)
                assert found.status == native.status, (row, found, native)
                if native.status == "ok":
                    assert found.return_value == native.return_value, (row, found, native)
                    assert dict(found.globals) == dict(native.globals)
                compared += 1
    assert compared > 100


def test_the_iterations_are_the_calls(tmp_path: Path) -> None:
    found = function(SOURCES["sum"], tmp_path)
    down, up = (loop.name for loop in found.loops)
    assert down.endswith("case.c:f:1:0") and up == f"{down}~returns"
    assert dict(called(evaluator(found), 60_000, 3).iterations) == {down: 60_000, up: 60_000}


def test_depth_does_not_matter(tmp_path: Path) -> None:
    count = evaluator(function(SOURCES["countdown"], tmp_path))
    assert called(count, 10**9, 7).return_value == 2 * 10**9 + 7
    assert called(count, 10**9 + 10**8, 7).status == "undefined"
    total = evaluator(function(SOURCES["sum"], tmp_path))
    assert called(total, 65_535, 0).return_value == 65_535 * 65_536 // 2
    assert called(total, 65_536, 0).status == "undefined"
    assert called(total, 65_536, -32_769).return_value == MOST
    ring = evaluator(function(SOURCES["hash"], tmp_path))
    n = 3000
    power = pow(31, n, 30 * 2**32)
    assert called(ring, n, 5).return_value == (5 * pow(31, n, 2**32) + 7 * ((power - 1) // 30)) % 2**32


def test_partial_sums_count_from_the_last_call_on(tmp_path: Path) -> None:
    """The terms rise by 1 from -n on: with 0 at the end all partial sums on the way up are negative."""
    text = "int f(int n, int s) { if (n >= 0) return s; return n + f(n + 1, s); }"
    own = evaluator(function(text, tmp_path))
    assert called(own, -65_535, 0).return_value == -65_535 * 65_536 // 2
    assert called(own, -65_536, 0).status == "undefined"
    assert called(own, -65_536, 32_768).return_value == 32_768 - 65_536 * 65_537 // 2


def test_without_an_end_it_diverges(tmp_path: Path) -> None:
    own = evaluator(function("unsigned f(unsigned n) { if (n == 1) return 5; return f(n - 2); }", tmp_path))
    assert called(own, 2**32 - 1).return_value == 5
    assert called(own, 10).status == "diverges"


def test_a_caller_takes_the_summary(tmp_path: Path) -> None:
    text = """
static int sum(int n) { if (n <= 0) return 0; return n + sum(n - 1); }
int f(int n) { int t = sum(n); for (int i = 0; i < n; i++) t -= 2; return t; }
"""
    own = evaluator(function(text, tmp_path))
    assert called(own, 1000).return_value == 1000 * 1001 // 2 - 2000


def test_mutual_recursion_is_refused_by_name(tmp_path: Path) -> None:
    text = """
int odd(int n);
int even(int n) { if (n == 0) return 1; return odd(n - 1); }
int odd(int n) { if (n == 0) return 0; return even(n - 1); }
"""
    found = summarize_whole(function(text, tmp_path, "even"))
    assert isinstance(found, CallSummary)
    (left,) = found.residual
    assert left.why.reason is Reason.RECURSION
    assert "through other functions" in left.why.detail
