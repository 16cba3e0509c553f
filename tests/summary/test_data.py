"""Loops that read data: what their summaries say is what the loops do, element by element."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from loopless.check.interpreter.run import Interpreter
from loopless.flowgraph.model import Flowgraph, Parameter
from loopless.logic import BudgetExceeded
from loopless.paths import LoopPaths
from loopless.portfolio import Tried
from loopless.queries.call_values.layouts import layouts_in
from loopless.queries.evaluation.evaluate import Evaluator
from loopless.queries.program import AnalyzedFunction, load
from loopless.refusals import Reason, Refused
from loopless.summary import LoopSummary, Residual, paths_of, readable, summarize
from loopless.summary.methods import aggregation
from loopless.terms import FALSE, Aggregate, EvaluationError, aggregates_in, as_declared, evaluate, holds, text

PROGRAMS = {
    "find": "int find(const int *a, int n, int x) { int i = 0; while (i < n && a[i] != x) i++; return i; }",
    "length": "int length(const char *s) { unsigned long n = 0; while (s[n]) n++; return n; }",
    "walked": "int walked(const char *s) { const char *p = s; while (*p) p++; return p - s; }",
    "total": "int total(const int *a, int n) { int s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }",
    "wrapped": "unsigned wrapped(const short *a, int n) { unsigned char s = 3; while (n-- > 0) s += a[n]; return s; }",
    "counted": "int counted(const int *a, int n) { int c = 0; for (int i = 0; i < n; i++) if (a[i] > 3) c++; return c; }",
    "last": "int last(const int *a, int n) { int r = -1; for (int i = 0; i < n; i++) if (a[i] == 2) r = i; return r; }",
    "largest": "int largest(const int *a, int n) { int m = -9; for (int i = 0; i < n; i++) if (a[i] > m) m = a[i]; return m; }",
    "both": "int both(const short *a, int n) { int m = 9, M = 0; for (int i = 0; i < n; i++) { if (a[i] > M) M = a[i];"
    " if (a[i] < m) m = a[i]; } return 100 * m + M; }",
    "ends": "int ends(const int *a, int n) { int m = 50; for (int i = 0; i < n; i++) { if (a[n - 1 - i] < m) m = a[n - 1 - i];"
    " if (a[i] < m) m = a[i]; } return m; }",
    "guarded": "int guarded(const int *a, int n) { int m = 4; for (int i = 0; i < n; i++) if (m < 50) if (a[i] < m) m = a[i];"
    " return m; }",
    "argmin": "int argmin(const int *a, int n) { int b = 0; for (int i = 1; i < n; i++) if (a[i] < a[b]) b = i; return b; }",
    "hash": "unsigned hash(const unsigned char *s) { unsigned h = 5381; while (*s) h = h * 33 + *s++; return h; }",
    "number": "int number(const char *s) { int v = 0; while (*s > 0 && *s <= 9 && *s != 3) v = v * 10 + *s++; return v; }",
    "words": "int words(const char *s) { int in = 0, c = 0; for (; *s; s++) { if (*s == 1) in = 0; else if (!in) { in = 1; c++; } }"
    " return c; }",
    "until": "int until(const unsigned char *a, int n, int k) { int s = 0, i; for (i = 0; i < n; i++) { s += a[i];"
    " if (s > k) break; } return i * 100 + s; }",
    "longest": "int longest(const char *a, int n) { int cur = 0, best = 0; for (int i = 0; i < n; i++) { if (a[i] == 2) { cur++;"
    " if (cur > best) best = cur; } else cur = 0; } return best; }",
    "adler": "unsigned adler(const unsigned char *p, int n) { unsigned a = 1, b = 0; for (int i = 0; i < n; i++) {"
    " a = (a + p[i]) % 7; b = (b + a) % 7; } return b << 16 | a; }",
    "compared": "int compared(const char *a, const char *b) { while (*a && *a == *b) { a++; b++; } return *a - *b; }",
    "depth": "int depth(const char *s) { int d = 0; for (; *s; s++) { if (*s == 1) d++; else if (*s == 2) { d--;"
    " if (d < 0) return -1; } } return d; }",
    "mixed": "int mixed(const int *a, int n) { unsigned x = 0; for (int i = n; i > 0; i--) x ^= a[i - 1] << 1; return x & 0xffff; }",
    "hops": "int hops(const unsigned char *a, int n) { int i = 0, c = 0; while (i < n) { i += a[i] + 1; c++; } return c; }",
    "halves": "int halves(const int *a, int n, int x) { int lo = 0, hi = n; while (lo < hi) { int m = lo + (hi - lo) / 2;"
    " if (a[m] < x) lo = m + 1; else hi = m; } return lo; }",
    "distinct": "int distinct(const int *a, int n) { int c = 0; for (int i = 0; i < n; i++) { int j = 0;"
    " while (j < i && a[j] != a[i]) j++; if (j == i) c++; } return c; }",
    "held": "static const unsigned char *kept; int held(const unsigned char *q, int n) { kept = q; int c = 0;"
    " for (int i = 0; i < n; i++) c += kept[i] == 2; return c; }",
    "either": "int either(const char *a, const char *b, int which) { const char *p = which ? a : b; int n = 0;"
    " while (*p) { p++; n++; } return n; }",
    "vowels": "unsigned long strlen(const char *); int vowels(const char *s) { int c = 0;"
    " for (unsigned i = 0; i < strlen(s); i++) if (s[i] == 2) c++; return c; }",
    "tails": "unsigned long strlen(const char *); int tails(const char *s, int n) { int c = 0, m = strlen(s);"
    " for (int i = 0; i < n && i <= m; i++) c += strlen(s + i) == 2; return c; }",
    "short_ones": "unsigned long strnlen(const char *, unsigned long); int short_ones(const char *s, int n) { int c = 0,"
    " m = strnlen(s, 9); for (int i = 0; i < n && i <= m; i++) c += strnlen(s + i, 3); return c; }",
    "table": "static const unsigned char t[4] = {1, 2, 3, 9}; unsigned table(const unsigned char *p, int n) {"
    " unsigned c = 0; while (n-- > 0) c = (c << 1) + t[*p++ & 3]; return c; }",
}
CALLS = 120


def _function(name: str, folder: Path) -> AnalyzedFunction:
    file = folder / "case.c"
    file.write_text(PROGRAMS[name], encoding="utf-8")
    return load([file])[name]


def _summaries(function: AnalyzedFunction) -> dict[str, LoopSummary]:
    graph = function.graph()
    assert isinstance(graph, Flowgraph)
    found = {}
    for loop in graph.loops:
        outcome = summarize(paths_of(graph, loop, known=function.inner))  # type: ignore[arg-type]
        assert isinstance(outcome, LoopSummary), outcome
        found[loop.name] = outcome
    return found


def _argument(parameter: Parameter, length: int, rng: random.Random) -> int | list[int]:
    if parameter.object is not None:
        return [rng.choice((0, 1, 2, 2, 3, 5)) for _ in range(length)] + [0]
    return rng.choice((length, length, rng.randrange(length + 1), 2))


def _calls(graph: Flowgraph, rng: random.Random) -> Iterator[list[int | list[int]]]:
    for _ in range(CALLS):
        length = rng.randrange(9)
        yield [_argument(parameter, length, rng) for parameter in graph.parameters]


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.slow
def test_calls_by_summary_are_calls_by_interpretation(name: str, tmp_path: Path) -> None:
    function = _function(name, tmp_path)
    graph = function.graph()
    assert isinstance(graph, Flowgraph)
    found = _summaries(function)
    assert all(summary.complete and summary.exact for summary in found.values())
    assert all(readable(summary).complete for summary in found.values())
    interpreter = Interpreter(function.program.source.inlined, graph)
    evaluator = Evaluator(graph, interpreter, lambda loop: found[loop.name])
    jumped = 0
    for arguments in _calls(graph, random.Random(name)):
        by_summary, run = evaluator.run(arguments), interpreter.run(arguments)
        assert (by_summary.status, by_summary.return_value) == (run.outcome.status, run.outcome.return_value), arguments
        if run.outcome.status == "ok":
            counts = {loop.name: run.iterations.get(loop.name, 0) for loop in graph.loops}
            assert {name: counts[name] for name in by_summary.iterations} == dict(by_summary.iterations), arguments
        jumped += by_summary.by == "summary"
    assert jumped > CALLS / 2


def _kinds(summary: LoopSummary) -> set[str]:
    nodes = [node for case in summary.cases for node in (case.when, case.iterations, *case.then.values())]
    return {part.kind for node in nodes for part in aggregates_in(node) if isinstance(part, Aggregate)}


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("find", {"first"}),
        ("walked", {"first"}),
        ("total", {"first", "sum"}),
        ("wrapped", {"sum"}),
        ("counted", {"sum"}),
        ("last", {"last"}),
        ("largest", {"greatest"}),
        ("both", {"least", "greatest"}),
        ("ends", {"least"}),
        ("hash", {"first", "fold"}),
        ("distinct", {"first", "sum"}),
    ],
)
def test_each_loop_has_the_aggregates_that_name_what_it_does(name: str, kinds: set[str], tmp_path: Path) -> None:
    found = _summaries(_function(name, tmp_path))
    assert set[str]().union(*map(_kinds, found.values())) == kinds


def test_a_search_in_its_own_words(tmp_path: Path) -> None:
    function = _function("find", tmp_path)
    (summary,) = _summaries(function).values()
    with as_declared(layouts_in(function)):
        iterations = {text(case.iterations) for case in readable(summary).cases}
    assert iterations == {"0", "n - i", "first(k < n - i: a[i + k] == x)"}


def _loop(source: str, folder: Path) -> tuple[AnalyzedFunction, LoopSummary]:
    """The summary of the outermost loop of a function f."""
    file = folder / "case.c"
    file.write_text(source, encoding="utf-8")
    function = load([file])["f"]
    graph = function.graph()
    assert isinstance(graph, Flowgraph)
    outer = next(loop for loop in graph.loops if loop.parent is None)
    outcome = summarize(paths_of(graph, outer, known=function.inner))  # type: ignore[arg-type]
    assert isinstance(outcome, LoopSummary)
    return function, outcome


def test_an_endless_sum_may_overflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With anything but zeros it does some day; so it is not said to run for ever."""
    _, summary = _loop(
        "int f(const unsigned char *a) { int c = 0; for (unsigned i = 0; ; i++) c += a[i & 7]; }", tmp_path
    )
    assert summary.complete
    (undefined,) = summary.undefined
    (after,) = (part for part in aggregates_in(undefined.when) if part.kind == "earliest")
    zeros, ones = (lambda *_: 0), (lambda *_: 100)
    state = dict.fromkeys(undefined.when.variables, 0) | {
        var: 2**31 - 250 for var in after.variables if var.name == "c"
    }
    assert evaluate(after, state, ones) == 2  # c is 2^31 - 50 before the third is added
    assert holds(undefined.when, state, ones) and not holds(summary.diverges, state, ones)
    monkeypatch.setattr(sys.modules["loopless.terms.evaluate"], "MAX_ELEMENTS", 1000)
    with pytest.raises(EvaluationError):  # nothing ends a search that finds nothing
        holds(summary.diverges, state, zeros)


def test_a_search_in_a_ring_may_never_end(tmp_path: Path) -> None:
    """The offset moves on, but not by the same number each time: it comes back."""
    source = "int f(const unsigned char *a, unsigned n, int x) { unsigned i = 0; while (a[i % 5] != x) i++; return i; }"
    _, summary = _loop(source, tmp_path)
    assert summary.complete
    assert summary.diverges is not FALSE


def test_a_pointer_may_point_into_the_middle_of_an_object(tmp_path: Path) -> None:
    """Offsets below 0 are inside then: the index may come to the end of its type."""
    _, summary = _loop("int f(const char *p, int i) { while (p[i]) i--; return i; }", tmp_path)
    assert [part.kind for part in summary.undefined] == ["signed-overflow"]


@pytest.mark.parametrize(
    ("body", "undefined", "n"),
    [
        ("for (const char *p = a; p != a + n; p++) s ^= *p;", {"pointer-overflow"}, -1),
        ("while (1) s ^= *a++;", {"pointer-overflow"}, 0),
        ("while (n) { s ^= *a; a += n > 0; }", {"pointer-overflow"}, 1),
    ],
)
def test_a_pointer_that_is_moved_on_leaves_its_object_at_last(
    body: str, undefined: set[str], n: int, tmp_path: Path
) -> None:
    """That it never ends would be said of runs that no memory is large enough for."""
    _, summary = _loop(f"int f(const char *a, int n) {{ int s = 0; {body} return s; }}", tmp_path)
    assert {part.kind for part in summary.undefined} == undefined
    state = {var: n if var.name == "n" else 0 for part in summary.undefined for var in part.when.variables}
    assert any(holds(part.when, state) for part in summary.undefined)
    assert not summary.diverges.variables or not holds(
        summary.diverges, state | dict.fromkeys(summary.diverges.variables, n)
    )


def test_iterations_that_count_what_is_written_are_not_told(tmp_path: Path) -> None:
    """Each round ends the string earlier; the inner loop's count says nothing of what it held at first."""
    source = (
        "void f(char *s, int n) { for (int i = n; i > 0; i--) { for (unsigned long j = 0; s[j]; j++) ; s[i] = 0; } }"
    )
    function, summary = _loop(source, tmp_path)
    assert summary.complete
    assert all(not case.totals for case in summary.cases)
    graph = function.graph()
    assert isinstance(graph, Flowgraph)
    inner = {loop.name: summarize(paths_of(graph, loop, known=function.inner)) for loop in graph.loops}  # type: ignore[arg-type]
    evaluator = Evaluator(graph, Interpreter(function.program.source.inlined, graph), lambda loop: inner[loop.name])
    run = Interpreter(function.program.source.inlined, graph).run([[1] * 9 + [0], 7])
    assert dict(evaluator.run([[1] * 9 + [0], 7]).iterations) == dict(run.iterations)


def test_a_limit_takes_nothing_from_what_was_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second look at a loop, where the first one left something open, meets a limit."""
    whole, skeleton = aggregation._Loop.__init__, aggregation._Loop._skeleton

    def limited(self: aggregation._Loop, paths: LoopPaths, *, affine: bool = False) -> None:
        if affine:
            raise BudgetExceeded
        whole(self, paths, affine=affine)

    def in_part(self: aggregation._Loop) -> LoopSummary:
        found = skeleton(self)
        first, *others = found.cases
        why = Refused(Reason.BUDGET, "here", "for this test")
        return replace(found, cases=tuple(others), residual=(Residual(first.when, why),))

    source = "int f(const int *p, int i, int n) { while (i < n && p[i & 7]) i++; return i; }"
    function, _ = _loop(source, tmp_path)
    graph = function.graph()
    assert isinstance(graph, Flowgraph)
    paths = paths_of(graph, graph.loops[0], known=function.inner)
    assert isinstance(paths, LoopPaths)
    monkeypatch.setattr(aggregation._Loop, "_skeleton", in_part)
    monkeypatch.setattr(aggregation._Loop, "__init__", limited)
    found = aggregation.METHOD.run(paths, Tried())
    assert found.residual
    assert found.cases


def test_what_guards_a_read_is_not_left_out(tmp_path: Path) -> None:
    """The read lies at offset -i - 1: inside of the object only where i is not 0, but the loop asks that first."""
    file = tmp_path / "case.c"
    body = "int i = s; while (i) { if (a[0 - 1 - i]) return 0; i++; } return 1;"
    file.write_text(f"int f(const signed char *a, int s) {{ {body} }}", encoding="utf-8")
    function = load([file])["f"]
    graph = function.graph()
    assert isinstance(graph, Flowgraph)
    found = _summaries(function)
    interpreter = Interpreter(function.program.source.inlined, graph)
    evaluator = Evaluator(graph, interpreter, lambda loop: found[loop.name])
    for start in (0, -1, -2, -3):
        for content in ([0, 0, 0], [1, 0, 0], [0, 1, 0]):
            got, expected = evaluator.run([content, start]), interpreter.run([content, start])
            assert (got.status, got.return_value) == (expected.outcome.status, expected.outcome.return_value)
