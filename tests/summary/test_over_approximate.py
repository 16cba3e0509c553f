"""Cases that are no equivalences: what is made of them is none either, and nothing is claimed of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from answers_in_c import answers
from loopless.bounds.claims.of_summaries import claim, claim_of_call
from loopless.bounds.methods.lower import least_iterations
from loopless.bounds.methods.nontermination import recurrent
from loopless.bounds.methods.ranking import rank
from loopless.check.interpreter.run import Interpreter
from loopless.flowgraph.model import Flowgraph
from loopless.paths import LoopPaths, NoPaths
from loopless.queries.evaluation.evaluate import Evaluator
from loopless.queries.functions import FunctionAnswer
from loopless.refusals import Reason, Refused
from loopless.report import functions as function_reports
from loopless.report import html, text
from loopless.report.json_report import loop as loop_json
from loopless.report.smtlib import smtlib
from loopless.summary import CallSummary, LoopSummary, Outcome, merged, nests, paths_of, summarize, summarize_function
from loopless.terms import FALSE, ZERO, Const, holds
from loopless_fuzz.judging.claims import Claims
from loopless_fuzz.judging.loop_alone import LoopAlone
from loops_in_c import graph, summary

LOOP = "int f(int n) { int s = 0; while (n > 0) { s += 2; n--; } return s; }"
NEST = """int f(int n, int m) {
    int c = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) c++;
    return c;
}
"""
FOREVER = """int f(unsigned n, int m) {
    unsigned c = 0;
    while (n != 7) { for (int j = 0; j < m; j++) c += n; n += 2; }
    return c;
}
"""
FIG_1A = """int f(int x, int z, int n) {
    while (x < n) { if (z > x) x++; else z++; }
    return x + z;
}
"""
MARK = "over-approximate: a run from there may end otherwise"


def guessed(found: LoopSummary, which: Callable[[int], bool] = lambda _: True) -> LoopSummary:
    """The summary as if a method had only over-approximated: its cases, those of which it is so, are not exact."""
    return replace(found, cases=tuple(replace(case, exact=not which(at)) for at, case in enumerate(found.cases)))


def running(found: LoopSummary) -> LoopSummary:
    """The summary whose cases with iterations are not exact."""
    return guessed(found, lambda at: found.cases[at].iterations is not ZERO)


@pytest.fixture
def inner_loops_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops inside others are summarized by a toy that over-approximates where there are iterations."""

    def toy(paths: LoopPaths | NoPaths) -> Outcome:
        found = summarize(paths)
        return running(found) if isinstance(found, LoopSummary) else found

    monkeypatch.setattr(nests, "summarize", toy)


def nest(source: str) -> tuple[LoopPaths, LoopSummary]:
    g = graph(source)
    paths = paths_of(g, g.loops[0])
    assert isinstance(paths, LoopPaths)
    found = summarize(paths)
    assert isinstance(found, LoopSummary)
    return paths, found


def test_a_summary_is_exact_if_all_its_cases_are() -> None:
    found = summary(LOOP)
    assert found.exact
    assert len(found.cases) > 1
    assert not guessed(found, lambda at: at == 1).exact


def test_no_values_are_told_of_a_state_in_an_inexact_case() -> None:
    found = running(summary(LOOP))
    assert found(n=-3, s=5) == {"n": -3, "s": 5}
    with pytest.raises(ValueError, match="over-approximation"):
        found(n=3, s=5)


@pytest.mark.usefixtures("inner_loops_guessed")
def test_a_case_that_goes_by_an_inexact_step_of_an_inner_loop_is_not_exact() -> None:
    paths, found = nest(NEST)
    assert sorted(path.exact for path in paths.iterative) == [False, True]
    assert {case.exact for case in found.cases} == {True, False}
    values = {var.name: var for case in found.cases for var in case.when.variables}
    for case in found.cases:
        if holds(case.when, {var: {"i": 0, "n": 5, "m": 0, "c": 0}[name] for name, var in values.items()}):
            assert case.exact, "no iteration of the inner loop: its case is exact"
        if holds(case.when, {var: {"i": 0, "n": 5, "m": 4, "c": 0}[name] for name, var in values.items()}):
            assert not case.exact


def test_the_nest_is_exact_where_its_loops_are() -> None:
    _, found = nest(NEST)
    assert found.exact


@pytest.mark.usefixtures("inner_loops_guessed")
def test_regions_that_may_come_from_an_inexact_step_are_residual() -> None:
    paths, found = nest(FOREVER)
    assert not paths.exact
    assert found.diverges is FALSE
    assert not found.undefined
    assert {part.why.reason for part in found.residual} == {Reason.NESTED}


def test_the_nest_says_when_it_runs_for_ever() -> None:
    assert nest(FOREVER)[1].diverges is not FALSE


@pytest.mark.usefixtures("inner_loops_guessed")
def test_no_bound_is_read_from_paths_that_are_not_exact() -> None:
    paths, _ = nest(NEST)
    assert isinstance(rank(paths), Refused)
    assert least_iterations(paths) is ZERO
    endless, _ = nest(FOREVER)
    assert recurrent(endless) == ()


def test_bounds_are_read_from_the_same_paths_where_they_are_exact() -> None:
    paths, _ = nest(NEST)
    assert not isinstance(rank(paths), Refused)
    assert least_iterations(paths) is not ZERO


def test_no_count_of_an_inexact_case_is_claimed() -> None:
    plain = summary(LOOP)
    whole, partly = claim(plain, ()), claim(guessed(plain), ())
    assert whole.exact
    assert not partly.exact
    assert partly.lower is ZERO
    assert (partly.upper, partly.has_gap) == (None, True)


def composed(source: str, change: Callable[[LoopSummary], LoopSummary]) -> CallSummary:
    g = graph(source)
    outcomes: dict[str, Outcome] = {}
    for loop in g.loops:
        outcome = summarize(paths_of(g, loop))
        outcomes[loop.name] = change(outcome) if isinstance(outcome, LoopSummary) else outcome
    found = summarize_function(g, outcomes)
    assert isinstance(found, CallSummary)
    return found


def at(found: CallSummary, *values: int) -> object:
    return found.at(dict(zip((p.var for p in found.parameters if p.var is not None), values, strict=True)))


def test_a_function_is_exact_where_its_loops_are() -> None:
    found = composed(LOOP, running)
    assert not found.exact
    assert {case.exact for case in found.cases} == {True, False}
    assert found(n=-3) == {"return": 0}
    with pytest.raises(ValueError, match="over-approximation"):
        found(n=3)
    assert composed(LOOP, lambda same: same).exact


def test_what_comes_after_an_inexact_case_is_not_sure() -> None:
    source = """int f(int n, int d) { int s = 0; while (n > 0) { s += 2; n--; }
        if (d > 5) for (;;) ;
        return 10 / d; }"""
    found = composed(source, running)
    assert type(at(found, -1, 0)).__name__ == "Undefined"
    assert type(at(found, -1, 9)).__name__ == "Diverges"
    for d in (0, 9):
        assert type(at(found, 4, d)).__name__ == "Residual"


def test_a_call_of_a_function_with_an_inexact_case_is_not_exact() -> None:
    called = composed(LOOP, running)
    caller = graph("int g(int n); int f(int n) { return g(n) + 1; }")
    found = summarize_function(caller, {}, {"g": called}.get)
    assert isinstance(found, CallSummary)
    assert {case.exact for case in found.cases} == {True, False}


def test_no_count_of_an_inexact_case_of_a_function_is_claimed() -> None:
    (name,) = (loop.name for loop in graph(LOOP).loops)
    assert claim_of_call(composed(LOOP, lambda same: same), name, ()).exact
    partly = claim_of_call(composed(LOOP, running), name, ())
    assert not partly.exact
    assert partly.has_gap


def test_a_summary_says_nothing_of_loops_that_it_does_not_know() -> None:
    assert claim_of_call(composed(LOOP, lambda same: same), "a call that stands for loops", ()).upper is None


def test_cases_are_put_together_only_where_both_are_exact_or_none() -> None:
    plain = summary(FIG_1A)
    together = next(part.cases for part in merged(plain) if len(part.cases) > 1)
    parts = merged(guessed(plain, lambda at: at == together[0]))
    assert [part.cases for part in parts if not part.exact] == [together[:1]]
    assert sorted(at for part in parts for at in part.cases) == list(range(len(plain.cases)))
    assert together in [part.cases for part in merged(guessed(plain))]


def evaluator(
    change: Callable[[LoopSummary], LoopSummary], whole: CallSummary | None = None
) -> tuple[Flowgraph, Evaluator]:
    g = graph(LOOP)
    found = change(summary(LOOP))
    return g, Evaluator(g, Interpreter(None, g), lambda _: found, whole)


def test_no_loop_is_jumped_over_by_an_inexact_case() -> None:
    _, exact = evaluator(lambda same: same)
    _, partly = evaluator(running)
    assert [exact.run((n,)).by for n in (-2, 4)] == ["summary", "summary"]
    runs = [partly.run((n,)) for n in (-2, 4)]
    assert [(run.by, run.return_value) for run in runs] == [("summary", 0), ("interpretation", 8)]


def test_no_call_is_answered_by_an_inexact_case() -> None:
    _, found = evaluator(running, composed(LOOP, running))
    assert [found.run((n,)).whole for n in (-2, 4)] == [True, False]
    assert found.run((4,)).return_value == 8


def test_the_judge_compares_no_run_with_an_inexact_case() -> None:
    g = graph(LOOP)
    found = replace(summary(LOOP), cases=tuple(replace(c, iterations=Const(77)) for c in guessed(summary(LOOP)).cases))
    alone = LoopAlone(g, g.loops[0], {path.id: path.condition for path in found.paths.iterative})
    claims = Claims(found, alone.variables)
    state = dict.fromkeys(alone.entry, 5)
    verdict = claims.judge(state, alone.run(state, max_steps=100))
    assert (verdict.region, verdict.compared, verdict.mismatch) == ("over-approximate", False, "")


def test_reports_say_which_cases_are_not_exact() -> None:
    (plain,) = answers(LOOP, merge=True)
    assert plain.summary is not None
    assert plain.status == "exact"
    partly = replace(plain, summary=running(plain.summary), merged=merged(running(plain.summary)))
    assert partly.status == "over-approximate"
    assert MARK not in text.loop_summary(plain)
    assert text.loop_summary(partly).count(MARK) == 1
    assert MARK not in html.loop_summary(plain)
    assert html.loop_summary(partly).count(MARK) == 1
    assert "; No relation" not in smtlib((plain,))
    assert MARK in smtlib((partly,))
    assert "; No relation" in smtlib((partly,))
    shown = loop_json(partly)
    assert sorted(case["exact"] for case in shown["cases"]) == [False, True]
    assert sorted(case["exact"] for case in shown["merged"]) == [False, True]


def test_reports_of_functions_say_which_cases_are_not_exact() -> None:
    exact = FunctionAnswer("f", "a.c:1:5", composed(LOOP, lambda same: same))
    partly = FunctionAnswer("f", "a.c:1:5", composed(LOOP, running))
    assert (exact.status, partly.status) == ("exact", "over-approximate")
    assert MARK not in function_reports.function_summary(exact)
    assert function_reports.function_summary(partly).count(MARK) == 1
    assert html.function_summary(partly).count(MARK) == 1
    shown = function_reports.function_json(partly)
    assert sorted(case["exact"] for case in shown["cases"]) == [False, True]
