"""Loops that take what they do from outside: their summaries say what they do with each value."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from loopless import report
from loopless.check.interpreter.run import Interpreter
from loopless.check.oracle.native import NativeOracle
from loopless.flowgraph.callees.streams import INPUTS, counter_of, with_streams
from loopless.flowgraph.model import Flowgraph
from loopless.queries.evaluation.calls import evaluate
from loopless.queries.evaluation.evaluate import Evaluator
from loopless.queries.functions import answer_functions, outcomes_of, summarize_whole
from loopless.queries.loops.answer import Question
from loopless.queries.loops.answers import answer_loop
from loopless.queries.program import AnalyzedFunction, load
from loopless.queries.settings import Settings
from loopless.refusals import Reason
from loopless.report.functions import function_json
from loopless.report.json_report import loop as loop_json
from loopless.summary import CallSummary, LoopSummary, paths_of, relative, summarize
from loopless.terms import FALSE, aggregates_in, holds, text
from loopless.terms import evaluate as value_of
from loopless_fuzz.campaigns.loops import court, read, summarize_loop
from loopless_fuzz.campaigns.rows import LoopRow

HEAD = (
    "extern int __VERIFIER_nondet_int(void); extern unsigned char __VERIFIER_nondet_uchar(void);"
    " extern _Bool __VERIFIER_nondet_bool(void);\n#define I __VERIFIER_nondet_int()\n"
)
PROGRAMS = {
    "until": "int until(int x) { while (I) x++; return x; }",
    "count": "int count(int n) { int c = 0, d = 0; for (int i = 0; i < n; i++) { if (I > 0) c++; else d += 2; } return c - d; }",
    "flags": "int flags(int n) { int c = 0; while (n-- > 0) if (__VERIFIER_nondet_bool()) c++; return c; }",
    "second": "int second(int n) { int s = 0; for (int i = 0; i < n; i++) if (I > 0) s += I & 7; return s; }",
    "least": "int least(int n) { int m = 9; for (int i = 0; i < n; i++) { int v = I; if (v < m) m = v; } return m; }",
    "last": "int last(int n) { int r = -1; for (int i = 0; i < n; i++) if (I == 2) r = i; return r; }",
    "hash": "unsigned hash(int n) { unsigned h = 7; while (n-- > 0) h = h * 31 + __VERIFIER_nondet_uchar(); return h; }",
    "toggle": "int toggle(void) { int k = 0; while (I != 5) k = !k; return k; }",
    "nest": "int nest(int n) { int s = 0; for (int i = 0; i < n; i++) while (I > 0) s++; return s; }",
    "pairs": "int pairs(int n) { int c = 0; for (int i = 0; i < n; i++) { int a = I, b = I; c += a == b; } return c; }",
    "twice": "int twice(int n) { int a = 0, b = 0; while (I > 0) a++; while (n-- > 0) b += I == 2; return 10 * a + b; }",
    "unused": "int unused(int n) { int s = 0; for (int i = 0; i < n; i++) { I; s += I; } return s; }",
    "beside": "int beside(const int *a, int n) { int c = 0; for (int i = 0; i < n; i++) c += a[i & 3] == I; return c; }",
}
CALLS = 80


def _function(name: str, folder: Path) -> AnalyzedFunction:
    file = folder / "case.c"
    file.write_text(HEAD + PROGRAMS[name], encoding="utf-8")
    return load([file])[name]


def _graphs(function: AnalyzedFunction) -> tuple[Flowgraph, Flowgraph]:
    graph, streams = function.graph(), function.over_streams
    assert isinstance(graph, Flowgraph) and isinstance(streams, Flowgraph)
    return graph, streams


def _summaries(function: AnalyzedFunction) -> dict[str, LoopSummary]:
    _, streams = _graphs(function)
    found = {}
    for loop in streams.loops:
        outcome = summarize(paths_of(streams, loop, known=function.inner))
        assert isinstance(outcome, LoopSummary), outcome
        found[loop.name] = outcome
    return found


def _calls(graph: Flowgraph, rng: random.Random) -> Iterator[tuple[list[int | list[int]], list[int]]]:
    for _ in range(CALLS):
        inputs = [rng.choice((0, 0, 1, 1, 2, 5, 5, -1, 7, 300)) for _ in range(rng.choice((40, 40, 40, 3)))]
        yield [[1, 2, 5, 0] if p.object is not None else rng.randrange(9) for p in graph.parameters], inputs


@pytest.mark.parametrize("name", PROGRAMS)
def test_calls_by_summary_are_calls_by_interpretation(name: str, tmp_path: Path) -> None:
    function = _function(name, tmp_path)
    graph, _ = _graphs(function)
    found = _summaries(function)
    assert all(summary.complete and summary.exact for summary in found.values())
    shown = {loop: relative(summary) for loop, summary in found.items()}
    interpreter = Interpreter(function.program.source.inlined, graph)
    for summaries in (found, shown):
        evaluator = Evaluator(graph, interpreter, lambda loop, summaries=summaries: summaries[loop.name])
        jumped = 0
        for arguments, inputs in _calls(graph, random.Random(name)):
            by_summary, run = evaluator.run(arguments, inputs), interpreter.run(arguments, inputs)
            got = by_summary.status, by_summary.return_value, by_summary.nondet_used
            assert got == (run.outcome.status, run.outcome.return_value, run.nondet_used), (arguments, inputs)
            jumped += by_summary.by == "summary" and run.outcome.status == "ok"
        assert jumped > CALLS / 4


@pytest.mark.slow
@pytest.mark.parametrize("name", ["until", "second", "nest", "twice"])
def test_calls_by_summary_are_native_calls(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loopless.queries.evaluation.calls.QUICK_STEPS", 0)  # short calls are interpreted else
    function = _function(name, tmp_path)
    graph, _ = _graphs(function)
    calls = list(_calls(graph, random.Random(f"native {name}")))
    with NativeOracle(tmp_path / "case.c") as oracle:
        natives = [oracle.run(name, arguments, nondet=inputs) for arguments, inputs in calls]
    compared = 0
    for (arguments, inputs), native in zip(calls, natives, strict=True):
        own = evaluate(function, arguments, inputs)
        if own.by == "summary" and native.status == "ok":
            assert own.return_value == native.return_value, (arguments, inputs)
            compared += 1
    assert compared > CALLS / 4


@pytest.mark.parametrize("name", PROGRAMS)
def test_loops_by_themselves(name: str, tmp_path: Path) -> None:
    """From any state at the header, with inputs that are drawn: values, counts, how many inputs are read."""
    subject = read(HEAD + PROGRAMS[name], tmp_path, name)
    for loop in subject.loops:
        summarize_loop(subject, loop, LoopRow(loop.name))
        judge = court(subject, loop)
        assert not isinstance(judge, str), judge
        found = judge.judge(judge.drawn(7, 150))
        assert not found.mismatches, found.mismatches
        assert found.compared > 20, (found.regions, found.outcomes)


def test_a_wrong_number_of_inputs_is_found(tmp_path: Path) -> None:
    """The judge of the tests above does compare how many inputs a loop reads."""
    subject = read(HEAD + PROGRAMS["pairs"], tmp_path, "pairs")
    (loop,) = subject.loops
    summarize_loop(subject, loop, LoopRow(loop.name))
    summary = subject.outcomes[loop.name]
    assert isinstance(summary, LoopSummary)
    reads = counter_of(INPUTS)
    for case in summary.cases:
        if reads in case.then:
            case.then[reads] = case.iterations  # type: ignore[index]  # two are read in each iteration
    judge = court(subject, loop)
    assert not isinstance(judge, str)
    assert judge.judge(judge.drawn(7, 150)).mismatches


def test_a_search_without_an_end(tmp_path: Path) -> None:
    """``while (nondet() != 5) k = !k;``: left at the first 5, never where there is none."""
    (found,) = _summaries(_function("toggle", tmp_path)).values()
    summary = relative(found)
    (case,) = summary.cases
    inputs = [3, 1, 0, 5, 5]

    def reader(array: str, offset: int, _: object) -> int:
        assert array == INPUTS
        return inputs[offset]

    state = dict.fromkeys(case.when.variables, 0)
    assert holds(case.when, state, reader)
    assert value_of(case.iterations, state, reader) == 3
    assert {part.kind for part in aggregates_in(case.iterations)} == {"earliest"}
    assert text(case.iterations) == "earliest(k: nondet()[k] == 5)"
    assert summary.diverges is not FALSE
    assert not holds(summary.diverges, state, reader)


def test_results_of_calls_and_volatile_objects(tmp_path: Path) -> None:
    file = tmp_path / "case.c"
    file.write_text(
        "int getchar(void); int lines(void) { int n = 0, c; while ((c = getchar()) != -1) n += c == 10; return n; }\n"
        "volatile int flag; unsigned spin(void) { unsigned n = 0; while (!flag) n++; return n; }\n"
        "int g; void step(void); int moved(int n) { int s = 0; for (int i = 0; i < n; i++) { step(); s += g & 1; } return s; }\n"
    )
    program = load([file])
    for name, read_from in (("lines", "getchar()"), ("spin", "volatile()"), ("moved", "g by step()")):
        function = program[name]
        answer = answer_loop(function, function.loops[0].id, Question())
        assert answer.complete and answer.status == "exact", name
        assert answer.summary is not None
        assert any(f"{read_from}[" in text(case.iterations) + text(case.when) + "".join(map(text, case.then.values()))
                   for case in answer.summary.cases), name  # fmt: skip


def test_only_loops_read_streams(tmp_path: Path) -> None:
    file = tmp_path / "case.c"
    file.write_text(HEAD + "int f(int n) { int x = I; for (int i = 0; i < n; i++) x += i; return x; }")
    graph = load([file])["f"].graph()
    assert isinstance(graph, Flowgraph)
    assert with_streams(graph) is graph


def test_loops_with_calls_that_need_not_return_are_exact_where_these_return(tmp_path: Path) -> None:
    file = tmp_path / "case.c"
    file.write_text(
        "void exit(int); static int g; static void check(int i) { if (i == g) exit(1); g += 3; if (i > 5) check(i - 2); }\n"
        "int f(int n) { int i; for (i = 0; i < n; i++) check(i); return i; }\n"
    )
    function = load([file])["f"]
    (loop,) = function.loops
    exactly = answer_loop(function, loop.id, Question())
    assert exactly.refused is not None
    assert exactly.refused.reason is Reason.UNKNOWN_CALL
    answer = answer_loop(function, loop.id, Question(approximate=True))
    assert answer.status == "exact" and answer.complete and answer.past_calls is not None
    (outcome,) = outcomes_of([answer]).values()
    assert isinstance(outcome, LoopSummary)
    found = outcome.approximation
    assert found is not None
    assert any(lost.why.reason is Reason.UNKNOWN_CALL for lost in found.may_be_lost)


@pytest.mark.parametrize("name", ["until", "second", "twice", "unused"])
def test_functions_take_inputs_as_one_stream(name: str, tmp_path: Path) -> None:
    """Inputs before, in and behind loops are values of one stream; calls by the function's summary take as many."""
    file = tmp_path / "case.c"
    body = PROGRAMS[name].replace(f"int {name}(", "static int inner(", 1)
    file.write_text(
        f"{HEAD}{body}\nint {name}(int n) {{ int a = I & 3, b = inner(n); return 1000 * a + 100 * b + (I & 7); }}"
    )
    function = load([file])[name]
    graph, _ = _graphs(function)
    outcome = summarize_whole(function)
    assert isinstance(outcome, CallSummary) and outcome.complete and outcome.exact, outcome
    assert outcome.reads_streams and not any(found.kind == "nondet" for found in outcome.inputs)
    interpreter = Interpreter(function.program.source.inlined, graph)
    evaluator = Evaluator(graph, interpreter, lambda _: None, outcome)
    applied = 0
    for arguments, inputs in _calls(graph, random.Random(f"whole {name}")):
        own, run = evaluator.run(arguments, inputs), interpreter.run(arguments, inputs)
        got = own.status, own.return_value, own.nondet_used
        assert got == (run.outcome.status, run.outcome.return_value, run.nondet_used), (arguments, inputs)
        applied += own.whole
    assert applied > CALLS / 4


def test_functions_whose_loops_take_nothing_name_their_inputs(tmp_path: Path) -> None:
    file = tmp_path / "case.c"
    file.write_text(HEAD + "int f(int n) { int x = I; for (int i = 0; i < n; i++) x ^= 1; return x; }")
    outcome = summarize_whole(load([file])["f"])
    assert isinstance(outcome, CallSummary)
    assert [found.number for found in outcome.inputs if found.kind == "nondet"] == [1]


def test_what_functions_of_the_program_do_is_no_stream(tmp_path: Path) -> None:
    """It depends on the program's state; so it does where they are called through pointers."""
    file = tmp_path / "case.c"
    file.write_text(
        "int g; int again(int x) { if (x > 3) { g += again(x - 1); return again(x - 2); } return g += x; }\n"
        "int direct(int n) { int c = 0; while (n-- > 0) c += again(n) > 2; return c; }\n"
        "int (*through)(int); int indirect(int n) { int c = 0; while (n-- > 0) c += through(n) > 2; return c; }\n"
    )
    program = load([file])
    for name in ("direct", "indirect"):
        function = program[name]
        (loop,) = function.loops
        answer = answer_loop(function, loop.id, Question(approximate=True))
        assert answer.status == "over-approximate"
        assert function.over_streams is function.graph()


def test_values_are_numbered_from_the_beginning_of_the_function(tmp_path: Path) -> None:
    """What is taken before, in and behind loops are values of one stream, in the order of the calls."""
    file = tmp_path / "case.c"
    file.write_text(
        "int in(void); int f(void) { int first = in(), n = 0, m = 0; while (in() != -1) n++; if (first == 7) return in();"
        " while (in() != 5) m++; return 100 * n + 10 * m + in(); }"
    )
    outcome = summarize_whole(load([file])["f"])
    assert isinstance(outcome, CallSummary) and outcome.complete
    assert not any(found.kind == "call" for found in outcome.inputs)
    for values, result in (((7, 0, 0, -1, 9), 9), ((1, -1, 0, 5, 3), 13), ((1, 0, -1, 5, 4), 104)):

        def reader(array: str, offset: int, _: object, values: tuple[int, ...] = values) -> int:
            assert array == "in()"
            return values[offset]

        (case,) = [case for case in outcome.cases if holds(case.when, {}, reader)]
        assert case.result is not None
        assert value_of(case.result, {}, reader) == result


def test_how_many_inputs_are_read_is_in_the_schema(tmp_path: Path) -> None:
    file = tmp_path / "case.c"
    file.write_text(HEAD + "int f(int x) { while (I) x++; return x; }")
    function = load([file])["f"]
    answer = answer_loop(function, function.loops[0].id, Question(merge=True))
    (told,) = answer_functions([function], Question(classify=False), Settings(sandboxed=False))
    for shown in (loop_json(answer), function_json(told)):
        assert shown["cases"] and all("inputs_read" in one for one in shown["cases"])
    schema = json.loads((Path(report.__file__).parent / "schema.json").read_text())
    defined = [
        part["properties"] for part in _objects(schema) if {"then", "when", "exit"} <= part.get("properties", {}).keys()
    ]
    assert (
        len([part for part in defined if "inputs_read" in part]) == 3
    )  # cases and merged cases of loops, cases of functions


def _objects(node: object) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
    below = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    for part in below:
        yield from _objects(part)
