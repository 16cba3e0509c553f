"""Searches and comparisons of the C library over memory that nothing writes: what summaries say of them is what they do.

Functions without loops are compared by their summaries, case by case, with native calls; loops by evaluation with
their summaries, with interpretation and with native calls.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from loopless.check.interpreter.run import Interpreter
from loopless.check.oracle.native import NativeOracle, NativeRun
from loopless.flowgraph.model import Flowgraph, Parameter
from loopless.queries.evaluation.calls import evaluate
from loopless.queries.evaluation.evaluate import Evaluator
from loopless.queries.functions import summarize_whole
from loopless.queries.loops.answer import Question
from loopless.queries.loops.answers import answer_loop
from loopless.queries.program import AnalyzedFunction, load
from loopless.refusals import Refused
from loopless.report.smtlib import smtlib
from loopless.summary import CallSummary, LoopSummary, paths_of, summarize
from loopless.summary.function import Region
from loopless.terms import EvaluationError, IntType, Read, Term, Var, aggregates_in, holds, walk_inside
from loopless.terms import evaluate as value_of

HEAD = (
    "typedef unsigned long size; char *strchr(const char *, int); char *strrchr(const char *, int);"
    " void *memchr(const void *, int, size); int memcmp(const void *, const void *, size);"
    " int strcmp(const char *, const char *); int strncmp(const char *, const char *, size); size strlen(const char *);"
    " size strspn(const char *, const char *), strcspn(const char *, const char *); char *strpbrk(const char *, const char *);\n"
)
STRAIGHT = {
    "at": "long at(const char *s, int c) { const char *p = strchr(s, c); return p ? p - s : -1; }",
    "there": "int there(const char *s, int c) { return strchr(s, c) != 0; }",
    "end": "long end(const char *s) { return strchr(s, 0) - s; }",
    "behind": "int behind(const char *s, int c) { const char *p = strchr(s, c); return p && *p ? p[1] : -1; }",
    "twice": "int twice(const char *s, int c) { const char *p = strchr(s, c); if (!p || !*p) return 0; return strchr(p + 1, c) ? 2 : 1; }",
    "last": "long last(const char *s, int c) { const char *p = strrchr(s, c); if (p == 0) return -1; return p - s; }",
    "base": "long base(const char *s) { const char *p = strrchr(s, 2); return (p ? p + 1 : s) - s; }",
    "found": "long found(const unsigned char *s, int c, int n) { const unsigned char *p = memchr(s, c, n & 7); return p ? p - s : -1; }",
    "before": "int before(const char *s, int c, int n) { const char *p = memchr(s, c, n & 7), *e = s + 4; return p && p < e; }",
    "vowel": 'int vowel(int c) { return strchr("\\1\\2\\377z", c) != 0; }',
    "digit": 'long digit(int c) { static const char d[] = "0123\\2505501"; const char *p = strchr(d, c); return p ? p - d : 99; }',
    "rear": 'long rear(int c) { static const char d[] = "\\1\\2\\1\\3\\5\\2"; const char *p = strrchr(d, c); return p ? p - d : 99; }',
    "among": "long among(int c) { static const char d[5] = {3, 1, 2, 2, 0}; const char *p = memchr(d, c, 4); return p ? p - d : -1; }",
    "span": 'long span(const char *s) { return strspn(s, "\\2\\377\\250"); }',
    "rest": 'long rest(const char *s) { return strcspn(s, "\\3\\377"); }',
    "spans": "long spans(const char *s, const char *t) { return 10 * strspn(s, t) + strcspn(s, t); }",
    "any": "long any(const char *s, const char *t) { const char *p = strpbrk(s, t); return p ? p - s : -1; }",
    "none": 'long none(const char *s) { return strcspn(s, "") - strspn(s, "") - (strpbrk(s, "") != 0); }',
    "same": "int same(const char *s, const char *t) { return strcmp(s, t) == 0; }",
    "less": "int less(const char *s, const char *t) { return strcmp(s, t) < 0; }",
    "more": "int more(const char *s, const char *t) { return strcmp(s, t) > 0; }",
    "sign": "int sign(const char *s, const char *t, int n) { int r = strncmp(s, t, n & 3); return r < 0 ? -1 : r > 0; }",
    "is": 'int is(const char *s) { return !strcmp(s, "\\2\\3"); }',
    "begins": 'int begins(const char *s) { return strncmp("\\2\\377", s, 2) >= 0; }',
    "alike": "int alike(const char *s, const char *t, int n) { return memcmp(s, t, n & 3) == 0; }",
    "order": "int order(const short *s, const short *t) { return memcmp(s, t, 4) <= 0; }",
    "guarded": "int guarded(const char *s, int c) { if (!s) return -1; return strchr(s, c) ? *s : -2; }",
    "nothing": "int nothing(const char *s, const char *t) { return memcmp(s, t, 0) || memchr(s, 1, 0) != 0; }",
}
LOOPS = {
    "occurs": "int occurs(const char *s, int c) { int n = 0; if (!(c & 255)) return 0; while ((s = strchr(s, c)) != 0) { n++; s++; } return n; }",
    "again": "int again(const char *s, int c) { int n = 0; if (!(c & 255)) return 0;"
    " for (const char *p = strchr(s, c); p; p = strchr(p + 1, c)) n++; return n; }",
    "words": 'int words(const char *s) { int n = 0; for (;;) { s += strspn(s, "\\2"); if (!*s) return n; n++; s += strcspn(s, "\\2"); } }',
    "lines": "int lines(const char *s, int n) { int k = 0; const char *p = s, *e = s + n;"
    " while ((p = memchr(p, 2, e - p)) != 0) { p++; k++; } return k; }",
    "classes": 'int classes(const char *s) { int n = 0; for (int i = 0; s[i]; i++) if (strchr("\\2\\5", s[i])) n++; return n; }',
    "set": "int set(const char *s, const char *t) { int n = 0; while (s[n] && strchr(t, s[n])) n++; return n; }",
    "find": "int find(const char *s, const char *t, int n) { for (int i = 0; i + 2 <= n; i++) if (memcmp(s + i, t, 2) == 0) return i;"
    " return -1; }",
    "same_all": "int same_all(const char *s, int n) { for (int i = 1; i < n; i++) if (memcmp(s, s + i, 1)) return i; return n; }",
    "table": 'int table(const char *s) { static const char w[4][3] = {"\\1", "\\2\\2", "\\3", "\\2"}; for (int i = 0; i < 4; i++)'
    " if (strcmp(w[i], s) == 0) return i; return -1; }",
    "suffixes": "int suffixes(const char *s, int n) { int c = 0; for (int i = 0; i < n; i++) c += strcmp(s + i, s) < 0; return c; }",
}
CALLS = 150
_LETTERS = (0, 1, 2, 2, 3, 5, -1, -88)


def _function(name: str, folder: Path) -> AnalyzedFunction:
    file = folder / "case.c"
    file.write_text(HEAD + {**STRAIGHT, **LOOPS}[name], encoding="utf-8")
    return load([file])[name]


def _graph(function: AnalyzedFunction) -> Flowgraph:
    graph = function.graph()
    assert isinstance(graph, Flowgraph)
    return graph


def _argument(parameter: Parameter, length: int, rng: random.Random) -> int | list[int]:
    if parameter.object is None:
        return rng.choice((0, 1, 2, 3, 5, length, 255, 256 + 2, -1, 168))
    signed = parameter.pointee is None or parameter.pointee.signed
    letters = rng.sample(_LETTERS, 3)
    return [value if signed else value & 255 for value in (rng.choice(letters) for _ in range(length))] + [0]


def _calls(graph: Flowgraph, rng: random.Random) -> Iterator[list[int | list[int]]]:
    for _ in range(CALLS):
        length = rng.choice((8, 8, 9))  # as much as the functions read without an end
        yield [_argument(parameter, length, rng) for parameter in graph.parameters]


def _reader(graph: Flowgraph, arguments: list[int | list[int]]):
    """The contents of what is pointed to, byte by byte; what is outside is not there."""
    held: dict[str, bytes] = {o.name: o.content for o in graph.objects.values() if o.content is not None}
    for parameter, argument in zip(graph.parameters, arguments, strict=True):
        if isinstance(argument, list) and parameter.object is not None:
            width = (parameter.pointee.width or 8) // 8 if parameter.pointee is not None else 1
            mask = (1 << 8 * width) - 1
            content = b"".join((value & mask).to_bytes(width, "little") for value in argument)
            held[graph.objects[parameter.object].name] = content

    def reader(array: str, offset: int, type: IntType) -> int:
        size = (type.width or 8) // 8
        if not 0 <= offset <= len(held[array]) - size:
            raise EvaluationError(f"{array} at {offset}")
        return type.wrap(int.from_bytes(held[array][offset : offset + size], "little"))

    return reader


def _state(graph: Flowgraph, arguments: list[int | list[int]]) -> dict[Var, int]:
    given = zip(graph.parameters, arguments, strict=True)
    state = {parameter.var: value for parameter, value in given if isinstance(value, int) and parameter.var is not None}
    return state | {parameter.null: 0 for parameter in graph.parameters if parameter.null is not None}


def _regions(outcome: CallSummary) -> list[Region]:
    return [*outcome.cases, *outcome.undefined, *outcome.residual, *outcome.diverges]


@pytest.mark.parametrize("name", STRAIGHT)
@pytest.mark.slow
def test_functions_do_what_their_summaries_say(name: str, tmp_path: Path) -> None:
    function = _function(name, tmp_path)
    graph = _graph(function)
    outcome = summarize_whole(function)
    assert isinstance(outcome, CallSummary) and outcome.complete and outcome.exact, outcome
    calls = list(_calls(graph, random.Random(name)))
    with NativeOracle(tmp_path / "case.c") as oracle:
        natives = oracle.run_many(name, [NativeRun(arguments) for arguments in calls])
    results = set()
    for arguments, native in zip(calls, natives, strict=True):
        assert native.status == "ok", (arguments, native)
        state, reader = _state(graph, arguments), _reader(graph, arguments)
        for chosen in (-300, -1, 0, 1, 77):  # what the library returns beyond what C says of it
            free = {found.var: chosen for found in outcome.inputs if found.kind == "call"}
            (case,) = [part for part in _regions(outcome) if holds(part.when, {**state, **free}, reader)]
            assert case in outcome.cases, arguments
            assert value_of(case.result, {**state, **free}, reader) == native.return_value, arguments
        results.add(native.return_value)
    assert len(results) > 1 or name == "nothing"


@pytest.mark.parametrize("callee", ["strcmp(s, t)", "strncmp(s, t, 3)", "memcmp(s, t, 4)", "bcmp(s, t, 4)"])
def test_of_comparisons_the_sign_is_told_and_no_more(callee: str, tmp_path: Path) -> None:
    file = tmp_path / "case.c"
    more = "int bcmp(const void *, const void *, size);"
    file.write_text(f"{HEAD}{more} int f(const char *s, const char *t) {{ return {callee}; }}")
    function = load([file])["f"]
    graph = _graph(function)
    outcome = summarize_whole(function)
    assert isinstance(outcome, CallSummary) and outcome.complete
    (chosen,) = (found.var for found in outcome.inputs if found.kind == "call")
    (case,) = outcome.cases
    assert isinstance(case.result, Term)
    calls = list(_calls(graph, random.Random(callee)))
    with NativeOracle(file) as oracle:
        natives = oracle.run_many("f", [NativeRun(arguments) for arguments in calls])
    for arguments, native in zip(calls, natives, strict=True):
        assert native.return_value is not None
        reader = _reader(graph, arguments)
        told = {value: value_of(case.result, {chosen: value}, reader) for value in (-(2**31), -3, 0, 9, 2**31 - 1)}
        signs = {(value > 0) - (value < 0) for value in told.values()}
        sign = (native.return_value > 0) - (native.return_value < 0)
        assert sign in signs and (signs == {sign} or (callee.startswith("bcmp") and signs == {-1, 1})), arguments
        # Each result that C allows is the value of some choice: itself.
        assert value_of(case.result, {chosen: native.return_value}, reader) == native.return_value
        if sign:
            assert len(set(told.values())) > 1


def _summaries(function: AnalyzedFunction) -> Mapping[str, LoopSummary]:
    streams = function.over_streams
    assert isinstance(streams, Flowgraph)
    found = {}
    for loop in streams.loops:
        outcome = summarize(paths_of(streams, loop, known=function.inner))
        assert isinstance(outcome, LoopSummary), outcome
        found[loop.name] = outcome
    return found


@pytest.mark.parametrize("name", LOOPS)
def test_loops_do_what_their_summaries_say(name: str, tmp_path: Path) -> None:
    function = _function(name, tmp_path)
    graph = _graph(function)
    found = _summaries(function)
    assert all(summary.complete and summary.exact for summary in found.values())
    calls = []
    for arguments in _calls(graph, random.Random(name)):
        longest = min(len(argument) - 1 for argument in arguments if isinstance(argument, list))
        calls.append([min(max(a, 0), longest) if p.name == "n" and isinstance(a, int) else a
                      for p, a in zip(graph.parameters, arguments, strict=True)])  # fmt: skip
    with NativeOracle(tmp_path / "case.c") as oracle:
        natives = oracle.run_many(name, [NativeRun(arguments) for arguments in calls])
    interpreter = Interpreter(function.program.source.inlined, graph)
    evaluator = Evaluator(graph, interpreter, lambda loop: found[loop.name])
    jumped, results = 0, set()
    for arguments, native in zip(calls, natives, strict=True):
        by_summary, run = evaluator.run(arguments), interpreter.run(arguments)
        assert (by_summary.status, by_summary.return_value) == (native.status, native.return_value), arguments
        assert run.outcome.return_value == native.return_value, arguments
        assert {loop: run.iterations.get(loop, 0) for loop in by_summary.iterations} == dict(by_summary.iterations), (
            arguments
        )
        jumped += by_summary.by == "summary"
        results.add(native.return_value)
    assert jumped > CALLS / 2
    assert len(results) > 1


@pytest.mark.slow
@pytest.mark.parametrize("name", LOOPS)
def test_functions_around_loops_have_summaries(name: str, tmp_path: Path) -> None:
    """What a loop reads through a pointer is what the function was given, by the name that it has there."""
    function = _function(name, tmp_path)
    graph = _graph(function)
    outcome = summarize_whole(function)
    assert isinstance(outcome, CallSummary) and outcome.complete and outcome.exact, outcome
    compared = 0
    for arguments in _calls(graph, random.Random(f"whole {name}")):
        bounded = [min(max(a, 0), 8) if p.name == "n" and isinstance(a, int) else a
                   for p, a in zip(graph.parameters, arguments, strict=True)]  # fmt: skip
        reader = _reader(graph, bounded)
        (case,) = [part for part in _regions(outcome) if holds(part.when, _state(graph, bounded), reader)]
        assert case in outcome.cases
        run = evaluate(function, bounded)
        assert value_of(case.result, _state(graph, bounded), reader) == run.return_value, bounded
        compared += 1
    assert compared == CALLS


def test_functions_of_smt_lib_have_names_of_their_own(tmp_path: Path) -> None:
    """A search inside of a search is another function."""
    function = _function("find", tmp_path)
    answer = answer_loop(function, function.loops[0].id, Question())
    lines = smtlib([answer]).splitlines()
    names = [line.split()[1] for line in lines if line.startswith(("(define-fun", "(declare-fun"))]
    assert sum("first" in name for name in names) > 1
    assert len(names) == len(set(names))


def _whole(source: str, folder: Path, name: str = "f") -> tuple[AnalyzedFunction, CallSummary]:
    file = folder / "case.c"
    file.write_text(HEAD + source, encoding="utf-8")
    function = load([file])[name]
    outcome = summarize_whole(function)
    assert isinstance(outcome, CallSummary)
    return function, outcome


UNDEFINED = {
    "no end": ("static const char d[3] = {1, 2, 3}; int f(int c) { return strchr(d, c) != 0; }", [1, 3, 9, 0]),
    "no end of a length": (
        "static const char d[3] = {1, 2, 3}; int f(int i) { return (int)strlen(d + (i & 1)); }",
        [0, 1],
    ),
    "too far": (
        "static const char d[4] = {1, 2, 3, 4}; int f(int n) { return memchr(d, 3 + n / 2, n & 7) != 0; }",
        [0, 2, 3, 4, 5, 7],
    ),
    "behind the end": (
        "static const char d[4] = {1, 2, 3, 4}, e[4] = {1, 2, 4, 4}, g[4] = {1, 2, 3, 4};"
        " int f(int n) { if (n < 0) return memcmp(d, e, n & 7) < 0; return memcmp(d, g, n & 7) < 0; }",
        [0, 4, 5, 7, -1, -2, -4, -7],
    ),
    "null": ('int f(int c) { const char *p = strchr("\\1\\2", c); return *p; }', [1, 2, 3, 0]),
    "of null": ('int f(int c) { return strrchr(strchr("\\1\\2\\1", c), 1) != 0; }', [1, 2, 3, 0]),
    "difference": (
        'long f(int c) { const char *s = "\\1\\2"; const char *p = strchr(s, c); return p - s; }',
        [1, 2, 3, 0],
    ),
    "order": ('long f(int c) { const char *s = "\\1\\2", *p = strchr(s, c); return p > s; }', [1, 2, 3, 0]),
}


@pytest.mark.parametrize("name", UNDEFINED)
def test_what_is_undefined(name: str, tmp_path: Path) -> None:
    """Reads outside of objects, and uses of null pointers, are regions of their own, as in interpreted runs."""
    source, values = UNDEFINED[name]
    function, outcome = _whole(source, tmp_path)
    graph = _graph(function)
    assert outcome.complete and outcome.exact
    interpreter = Interpreter(function.program.source.inlined, graph)
    found = set()
    for value in values:
        run = interpreter.run([value]).outcome
        state, reader = _state(graph, [value]), _reader(graph, [value])
        free = {found.var: 5 for found in outcome.inputs if found.kind == "call"}
        (region,) = [part for part in _regions(outcome) if holds(part.when, {**state, **free}, reader)]
        assert (region in outcome.undefined) == (run.status == "undefined"), (value, run)
        if region in outcome.cases:
            assert value_of(region.result, {**state, **free}, reader) == run.return_value, value
        found.add(run.status)
    assert "undefined" in found


def test_a_search_says_nothing_of_null_arguments(tmp_path: Path) -> None:
    """That what a search returns is compared with null does not make the argument one that may be null."""
    for body, null in (
        ("const char *p = strchr(s, 1); return p ? 1 : 2;", False),
        ("const char *p = s; int n = 0; while ((p = strchr(p, 1))) { p++; n++; } return n;", False),
        ("const char *p = s; int n = 0; while (p) { p = strchr(p, 1); n++; if (p) p++; } return n;", True),
        ("if (!s) return 0; return strchr(s, 1) != 0;", True),
    ):
        function, _ = _whole(f"int f(const char *s) {{ {body} }}", tmp_path)
        assert [parameter.null is not None for parameter in _graph(function).parameters] == [null], body


def test_a_difference_of_numbers_of_pointers_may_be_of_null_ones(tmp_path: Path) -> None:
    source = "long f(const char *s, int c) { const char *p = strchr(s, c); return (long)((size)p - (size)s); }"
    file = tmp_path / "case.c"
    file.write_text(HEAD + source, encoding="utf-8")
    outcome = summarize_whole(load([file])["f"])
    assert not isinstance(outcome, Refused) and outcome.complete
    (address,) = (
        found for found in outcome.inputs if found.kind == "uninitialised"
    )  # null is 0, so where nothing is found the difference is its negative
    results = [case.result for case in outcome.cases]
    assert [address.var in result.variables for result in results] == [False, True]
    assert value_of(results[1], {address.var: 4096}) == -4096


def test_what_the_loop_writes_is_not_told(tmp_path: Path) -> None:
    """Then the results of the calls are a stream of values from outside, as those of other calls."""
    file = tmp_path / "case.c"
    body = "int c = 0; for (int i = 0; i < n; i++) { s[i] = 2; c += strcmp(s, t) == 0; } return c;"
    file.write_text(f"{HEAD} int f(char *s, const char *t, int n) {{ {body} }}", encoding="utf-8")
    function = load([file])["f"]
    (summary,) = _summaries(function).values()
    read = {part.array for case in summary.cases for term in case.then.values() for part in walk_inside(term)
            if isinstance(part, Read)}  # fmt: skip
    assert read == {"strcmp()"}


def test_a_comparison_whose_value_is_used_is_told_by_sign(tmp_path: Path) -> None:
    """What the library returns beside the sign is a stream; where only the sign matters nothing is read of it."""
    source = "int f(const char *s, const char *t, int n) { int i = 0, r = 0; while (i < n && !r) r = memcmp(s + i, t + i, 1), i++; return %s; }"
    for used, streams in (("r", True), ("r < 0", False), ("i", False)):
        _, outcome = _whole(source % used, tmp_path)
        assert outcome.complete and outcome.exact
        terms = [term for case in outcome.cases for term in (case.when, case.result) if term is not None]
        read = {part.array for term in terms for part in walk_inside(term) if isinstance(part, Read)}
        assert ("memcmp()" in read) == streams
        assert any(aggregates_in(term) for term in terms)
