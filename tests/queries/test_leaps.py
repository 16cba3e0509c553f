"""Calls evaluated from the summary of the whole function: the same as by jumps and by the interpreter."""

from __future__ import annotations

import itertools
import json

import pytest

from asking import summary_of
from loopless.check.interpreter.run import Interpreter
from loopless.check.oracle.native import NativeHost, NativeLimits, NativeOracle
from loopless.check.oracle.native import NativeRun as Call
from loopless.check.outcome import Outcome
from loopless.queries import program as session
from loopless.queries.evaluation import calls
from loopless.queries.evaluation.evaluate import Evaluator
from loopless.queries.functions import summarize_whole
from loopless.queries.settings import Settings
from loopless.stepping import no_stepping
from loopless.summary import CallSummary
from loopless_fuzz.generator.generate import PROFILES, generate, inputs, nondet_stream, print_program

PROGRAM = """extern int __VERIFIER_nondet_int(void);
void abort(void);
int total = 3;
int f(int x, unsigned n, int *p) {
    if (x == 77) abort();
    if (x == 78) while (1) { }
    for (unsigned i = 0; i < n; i++) total += x & 1;
    while (x < *p) x += 2;
    *p = __VERIFIER_nondet_int();
    return x + *p;
}
unsigned long far(unsigned n) {
    unsigned long s = 0;
    for (unsigned i = 0; i < n; i++) s += i * 3ul;
    return s;
}
unsigned visit(unsigned x) {
    unsigned k = 0;
    while (x >= 50000) { x += 1000003; k++; }
    return k;
}
int unknown(int n) {
    int y;
    if (n > 3) n += y;
    while (n > 0) n--;
    return n;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    file = tmp_path_factory.mktemp("leaps") / "program.c"
    file.write_text(PROGRAM, encoding="utf-8")
    return session.load(file)


def evaluators(program, name: str) -> tuple[Evaluator, Interpreter]:
    """An evaluator that knows the summary of the function, and the judge."""
    function = program[name]
    graph, whole = function.graph(), summarize_whole(function)
    assert isinstance(whole, CallSummary)
    outcomes = {loop.name: summary_of(loop) for loop in function.loops}
    interpreter = Interpreter(program.source.inlined, graph)
    return Evaluator(graph, interpreter, lambda loop: outcomes[loop.name], whole), interpreter


def test_results_globals_pointees_counts_and_inputs(program) -> None:
    evaluator, interpreter = evaluators(program, "f")
    seen = set()
    for x, n, before, input in itertools.product((-3, 0, 5, 77, 78, 2**31 - 1), (0, 4), (-9, 6), (0, 5, -(2**31))):
        own, judged = evaluator.run([x, n, [before]], [input]), interpreter.run([x, n, [before]], [input])
        assert own.whole
        assert own.by == "summary"
        assert own.status == judged.status
        seen.add(own.status)
        if own.status == "ok":
            assert own.return_value == judged.outcome.return_value
            assert (own.outputs, dict(own.globals)) == (judged.outcome.outputs, dict(judged.outcome.globals))
            assert {name: n for name, n in own.iterations.items() if n} == dict(judged.iterations)
            assert own.nondet_used == judged.nondet_used == 1
    assert seen == {"ok", "aborted", "diverges", "undefined"}


@pytest.mark.parametrize("n", [0, 10, 1000, 2**31, 2**32 - 1])
def test_no_iteration_is_run_however_many_there_are(program, n: int) -> None:
    evaluator, _ = evaluators(program, "far")
    with no_stepping():
        found = evaluator.run([n])
    assert (found.status, found.whole, found.by) == ("ok", True, "summary")
    assert found.return_value == 3 * n * (n - 1) // 2 % 2**64
    assert list(found.iterations.values()) == [n]


def test_a_first_visit_that_has_no_formula(program) -> None:
    evaluator, interpreter = evaluators(program, "visit")
    for x in (0, 9, 10, 12345, 2**31, 2**32 - 1):
        own, judged = evaluator.run([x]), interpreter.run([x])
        assert own.whole
        assert own.return_value == judged.outcome.return_value
        assert {name: n for name, n in own.iterations.items() if n} == dict(judged.iterations)


def test_what_the_summary_does_not_know_is_evaluated_as_before(program) -> None:
    evaluator, interpreter = evaluators(program, "unknown")
    assert evaluator.run([2]).whole
    assert not evaluator.run([4]).whole
    assert evaluator.run([4]).status == interpreter.run([4]).status == "unknown"
    evaluator, interpreter = evaluators(program, "f")
    own, judged = evaluator.run([1, 2, [3]], []), interpreter.run([1, 2, [3]], [])
    assert (own.whole, own.status) == (False, judged.status)
    assert own.reason == judged.reason
    assert evaluator.run([1, 2, None], [7]).status == interpreter.run([1, 2, None], [7]).status


@pytest.mark.slow
def test_random_functions_against_native_runs(tmp_path) -> None:
    told = 0
    with NativeHost() as host:
        for seed in (1, 4, 5, 9, 12, 15):
            text = print_program(generate(seed, PROFILES["composed"]))
            (tmp_path / "case.c").write_text(text, encoding="utf-8")
            function = session.load(tmp_path / "case.c")["f"]
            whole = summarize_whole(function)
            if not isinstance(whole, CallSummary):
                continue
            outcomes = {loop.name: summary_of(loop) for loop in function.loops}
            interpreter = Interpreter(function.program.source.inlined, function.graph())
            evaluator = Evaluator(function.graph(), interpreter, lambda loop, o=outcomes: o[loop.name], whole)
            oracle = NativeOracle(text, limits=NativeLimits(seconds=0.2), host=host)
            rows, stream = inputs(oracle.signature("f"), seed, 12), nondet_stream(seed)
            natives = oracle.run_many("f", [Call(args, stream) for args in rows])
            for args, native in zip(rows, natives, strict=True):
                found = evaluator.run(list(args), stream)
                if not found.whole or native.status in ("timeout", "crashed"):
                    continue
                told += 1
                own = Outcome(found.status, found.return_value, found.outputs, found.globals)
                assert own.agrees_with(native), (seed, args)
    assert told > 20


def test_many_calls_are_evaluated_from_the_summary(program, monkeypatch) -> None:
    monkeypatch.setattr(calls, "MANY_CALLS", 3)
    monkeypatch.setattr(calls, "FIRST_TIME_S", 20.0)
    with calls.Calls(program["far"], Settings()) as many:
        found = [many.run([n]) for n in (5, 6, 7, 8, 2**31)]
    assert [one.return_value for one in found] == [30, 45, 63, 84, 3 * 2**31 * (2**31 - 1) // 2]
    assert [one.whole for one in found] == [False, False, False, True, True]


def test_one_call_does_not_summarize_the_function(program, monkeypatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("summarized")

    monkeypatch.setattr(calls, "summary_for_calls", never)
    with calls.Calls(program["far"], Settings()) as one:
        assert one.run([2**31]).by == "summary"


def test_a_stream_goes_on_the_same(program, tmp_path) -> None:
    import subprocess
    import sys

    lines = [json.dumps({"args": [n % 7]}) for n in range(calls.MANY_CALLS + 30)]
    done = subprocess.run(
        [sys.executable, "-m", "loopless", "eval", program.files[0], "far"],
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        check=True,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer.pop("by") for answer in answers][-1] == "summary"
    assert len(answers) == len(lines)
    assert answers[7:] == answers[:-7]
