"""A method is added by one value in a tuple: its answers carry its name, and what it cannot do is left to the others."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from judged import judge_alone
from loopless.check.certificates.property import Property
from loopless.check.interpreter.run import Interpreter
from loopless.logic import BudgetExceeded, Region
from loopless.paths import LoopPaths
from loopless.portfolio import Method, NoAnswer, Tried, answered
from loopless.queries.call_values.reached import Reached
from loopless.queries.program import load
from loopless.queries.reach import answering
from loopless.queries.settings import Settings
from loopless.queries.verification import termination
from loopless.queries.verification.answering import verify
from loopless.queries.verification.verdict import Verdict
from loopless.refusals import Reason, Refused
from loopless.source.targets import SourceTarget
from loopless.summary import Case, LoopSummary, PathRun, Residual, nests, summarize
from loopless.summary.case_builder import CaseBuilder
from loopless.summary.entry import Entry, EntrySummary
from loopless.summary.parts import PartQuestion, summarize_parts
from loopless.summary.portfolio import ENTRY_METHODS, METHODS, PART_METHODS, summarize_by_parts
from loopless.summary.transitions.elimination import ExitSegment
from loopless.summary.transitions.transformer import GuardedTransition, NoIteration
from loopless.terms import (
    FALSE,
    INTEGERS,
    ONE,
    TRUE,
    ZERO,
    Term,
    TermTooLarge,
    Var,
    add,
    const,
    evaluate,
    ite,
    less,
    mod,
    not_equal,
    sub,
    wrap,
)
from loopless.verification.portfolio import TERMINATION, TerminationQuestion
from loopless.verification.termination import Ranked
from loops_in_c import graph, paths

TOWARDS = "unsigned f(unsigned char x, unsigned char c) { while (x != c) x++; return x; }"
DOWN = "unsigned f(unsigned char x, unsigned char c) { while (x != c) x--; return x; }"


def steps_towards(found: LoopPaths, _: Tried[LoopSummary], more: Term = ONE) -> LoopSummary:
    """``while (x != c) x++`` in unsigned arithmetic: ``c - x`` iterations modulo 2^width, and then x is c."""
    if len(found.iterative) != 1 or len(found.exits) != 1 or len(found.state) != 1:
        raise NoAnswer
    (path,), (leaving,), (x,) = found.iterative, found.exits, found.state
    others = [var for var in path.condition.variables if var is not x]
    if x.type.signed or x.type.width is None or len(others) != 1 or path.condition is not not_equal(x, others[0]):
        raise NoAnswer
    if path.update[x] is not wrap(add(x, ONE), x.type) or others[0].type != x.type:
        raise NoAnswer
    assert leaving.exit is not None
    times = mod(add(sub(others[0], x), more, const(-1)), const(1 << x.type.width))
    case = Case(TRUE, {x: others[0]}, leaving.exit, leaving.id, times, {path.id: times}, (PathRun(path.id, times),))
    return LoopSummary(found.loop, found, (case,), FALSE, (), (), "")


TOY = Method("steps towards", "this test", steps_towards)


def with_toy(found: LoopPaths):
    return summarize(found, (TOY, *METHODS))


def test_answers_of_a_method_that_is_added_carry_its_name_and_are_right() -> None:
    summary, regions = judge_alone(TOWARDS, with_toy, count=3000)
    assert summary.method == "steps towards"
    assert summary.complete
    assert sum(regions.values()) == regions["case"] == 3000
    assert summary(x=250, c=3) == {"x": 3, "c": 3}


def test_a_wrong_method_is_found_out_by_the_judge() -> None:
    wrong = Method("one too many", "this test", lambda found, tried: steps_towards(found, tried, const(2)))
    with pytest.raises(AssertionError):
        judge_alone(TOWARDS, lambda found: summarize(found, (wrong, *METHODS)), count=200)


def test_what_a_method_does_not_answer_goes_to_the_next() -> None:
    summary, _ = judge_alone(DOWN, with_toy, count=200)
    assert summary == summarize(paths(DOWN))
    assert summary.method in {method.name for method in METHODS}


def test_a_method_that_does_not_apply_is_not_asked() -> None:
    asked = []

    def run(found: LoopPaths, tried: Tried[LoopSummary]) -> LoopSummary:
        asked.append(found)
        return steps_towards(found, tried)

    never = Method("never", "this test", run, applies=lambda _found, _tried: False)
    assert summarize(paths(TOWARDS), (never, *METHODS)) == summarize(paths(TOWARDS))
    assert asked == []


def refuse(_found: LoopPaths, _tried: Tried[LoopSummary]) -> LoopSummary:
    raise NoAnswer(Refused(Reason.NO_CLOSED_FORM, "here", "made for this test"))


def silent(_found: LoopPaths, _tried: Tried[LoopSummary]) -> LoopSummary:
    raise NoAnswer


def exhausted(_found: LoopPaths, _tried: Tried[LoopSummary]) -> LoopSummary:
    raise BudgetExceeded("made for this test")


def too_large(_found: LoopPaths, _tried: Tried[LoopSummary]) -> LoopSummary:
    raise TermTooLarge("made for this test")


def endless(_found: LoopPaths, _tried: Tried[LoopSummary]) -> LoopSummary:
    x, y = Var("x", INTEGERS), Var("y", INTEGERS)
    while True:  # only the operations that the driver allows end this
        Region.of(less(mod(add(x, y), const(7)), mod(x, const(5)))).project_out((y,)).coalesce()


FAILING = {
    "refuses": Method("refuses", "this test", refuse),
    "says nothing": Method("says nothing", "this test", silent),
    "comes to its limit": Method("comes to its limit", "this test", exhausted),
    "grows too large": Method("grows too large", "this test", too_large),
    "never comes back": Method("never comes back", "this test", endless, operations=20_000),
}
LOOPS = {
    "towards": TOWARDS,
    "accelerated": "int f(int x, int n) { while (x < n) x += 3; return x; }",
    "wraps around": "unsigned f(unsigned x, unsigned n) { while (x < n) x += 12345; return x; }",
    "takes turns": "int f(int x, int n) { while (n > 0) { if (x > 3) x -= 5; else x += 2; n--; } return x; }",
    "left open": "unsigned f(unsigned x, unsigned n) { while (x < n) x = x * x + 1; return x; }",
}


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("kind", FAILING)
def test_a_method_that_fails_leaves_the_answers_of_the_others_as_they_are(kind: str, loop: str) -> None:
    plain = summarize(paths(LOOPS[loop]))
    assert isinstance(plain, LoopSummary)
    assert plain.method
    for methods in ((FAILING[kind], *METHODS), (METHODS[0], FAILING[kind], *METHODS[1:])):
        assert summarize(paths(LOOPS[loop]), methods) == plain


def test_why_a_method_failed_is_kept_in_the_order_of_the_methods() -> None:
    methods = [FAILING[kind] for kind in ("refuses", "says nothing", "comes to its limit", "never comes back")]
    tried = answered(methods, paths(TOWARDS), "a.c:1:2", complete=lambda summary: summary.complete)
    assert (tried.answer, tried.method) == (None, "")
    assert [refused.reason for refused in tried.refused] == [Reason.NO_CLOSED_FORM, Reason.BUDGET, Reason.BUDGET]
    assert [refused.where for refused in tried.refused] == ["here", "a.c:1:2", "a.c:1:2"]


def test_a_loop_that_no_method_answers_is_refused_with_the_first_reason() -> None:
    found = summarize(paths(TOWARDS), (FAILING["says nothing"], FAILING["refuses"], FAILING["comes to its limit"]))
    assert found == Refused(Reason.NO_CLOSED_FORM, "here", "made for this test")
    found = summarize(paths(TOWARDS), (FAILING["says nothing"],))
    assert isinstance(found, Refused)
    assert found.detail == "no method applies to it"


def partly(found: LoopPaths, tried: Tried[LoopSummary]) -> LoopSummary:
    """As :func:`steps_towards`, but nothing is said for x > c."""
    whole = steps_towards(found, tried)
    (x,), (c,) = found.state, found.invariants
    rest = Residual(less(c, x), Refused(Reason.WRAP, "here", "made for this test"))
    case = replace(whole.cases[0], when=less(x, add(c, ONE)))
    return replace(whole, cases=(case,), residual=(rest,))


PARTLY = Method("partly", "this test", partly)


def test_a_complete_answer_is_taken_before_one_that_leaves_something_open() -> None:
    summary, regions = judge_alone(TOWARDS, lambda found: summarize(found, (PARTLY,)), count=1000)
    assert (summary.method, summary.complete) == ("partly", False)
    assert regions["case"] > 300
    assert regions["residual"] > 300
    whole = summarize(paths(TOWARDS), (PARTLY, TOY))
    assert isinstance(whole, LoopSummary)
    assert (whole.method, whole.complete) == ("steps towards", True)


# -- parts -------------------------------------------------------------------------------------------------------------


def at_once(part: PartQuestion, _: Tried[CaseBuilder]) -> CaseBuilder:
    """Loops that are left at once; all that take an iteration are left open."""
    builder = CaseBuilder(part.system)
    taken = part.system.universe - part.system.ended
    why = Refused(Reason.MULTI_PATH, "here", "made for this test")
    builder.add(ExitSegment(GuardedTransition(part.system.ended, {}, NoIteration()), "ended"))
    builder.add(ExitSegment(GuardedTransition(taken, {}, NoIteration()), "stuck", why=why))
    return builder


AT_ONCE = Method("at once", "this test", at_once)
SOME = "int f(signed char x, signed char n) { while (x < n) { if (x < 0) x += 2; else x += 3; } return x; }"


@pytest.mark.slow
def test_a_method_for_parts_is_added_in_the_same_way() -> None:
    summary, regions = judge_alone(SOME, lambda found: summarize_parts(found, (AT_ONCE,)), count=0)
    assert summary.method == "at once"
    # x >= n holds for 256·257/2 pairs.
    assert regions == {"case": 256 * 257 // 2, "residual": 256 * 255 // 2}
    assert {part.why.detail for part in summary.residual} == {"made for this test"}


def test_a_method_for_parts_that_leaves_something_open_or_fails_leaves_the_others_as_they_are() -> None:
    plain = summarize_by_parts(paths(SOME))
    assert plain.complete

    def fails(_part: PartQuestion, _tried: Tried[CaseBuilder]) -> CaseBuilder:
        raise BudgetExceeded("made for this test")

    for added in (AT_ONCE, Method("fails", "this test", fails)):
        assert summarize_parts(paths(SOME), (added, *PART_METHODS)) == plain


# -- entries -----------------------------------------------------------------------------------------------------------


FROM_TEN = "unsigned f(unsigned char x, unsigned char c) { c = 10; while (x != c) x++; return x; }"
THREE_TO_TEN = FROM_TEN.replace("c = 10;", "c = 10; x = 3;")


def entered_towards(question: Entry, tried: Tried[EntrySummary]) -> EntrySummary:
    """As :func:`steps_towards`, of the states of the entry."""
    found = steps_towards(question.paths, Tried())
    assert tried.answer is None
    return EntrySummary(question.paths, replace(found, entered=question.entered))


def test_a_method_for_the_states_of_the_entry_is_added_in_the_same_way(monkeypatch) -> None:
    toy = Method("from ten", "this test", entered_towards)
    monkeypatch.setattr(nests, "ENTRY_METHODS", (toy, *ENTRY_METHODS))
    found = paths(FROM_TEN)
    assert isinstance(found, LoopPaths)
    _, answer = nests.from_entry(graph(FROM_TEN), found, summarize(found, (PARTLY,)))
    assert isinstance(answer, LoopSummary)
    assert answer.method == "from ten"
    assert answer(x=250, c=10) == {"x": 10, "c": 10}
    with pytest.raises(ValueError, match="enters the loop only with"):
        answer(x=250, c=11)
    g = graph(FROM_TEN)
    (case,) = answer.cases
    for x in range(256):
        run = Interpreter(None, g).run((x, 0))
        state = {var: x if var.name == "x" else 10 for var in (*found.state, *found.invariants)}
        assert evaluate(case.iterations, state) == sum(run.iterations.values())
        assert evaluate(case.then[found.state[0]], state) == run.outcome.return_value


def test_a_method_for_the_entry_that_fails_leaves_the_others_as_they_are(monkeypatch) -> None:
    found = paths(THREE_TO_TEN)
    assert isinstance(found, LoopPaths)
    outcome = summarize(found, (PARTLY,))
    _, plain = nests.from_entry(graph(THREE_TO_TEN), found, outcome)
    assert isinstance(plain, LoopSummary)
    assert plain.complete

    def fails(_question: Entry, _tried: Tried[EntrySummary]) -> EntrySummary:
        raise BudgetExceeded("made for this test")

    monkeypatch.setattr(nests, "ENTRY_METHODS", (Method("fails", "this test", fails), *ENTRY_METHODS))
    assert nests.from_entry(graph(THREE_TO_TEN), found, outcome)[1] == plain


# -- termination -------------------------------------------------------------------------------------------------------


HALVED = "int main(void) { int x = __VERIFIER_nondet_int(); while (x > 0) x /= 2; return 0; }"
FOR_EVER = "int main(void) { int x = __VERIFIER_nondet_int(); while (x > 0) x -= x == 9 ? 0 : 1; return 0; }"


def ends(source: str, tmp_path: Path, monkeypatch, *added: Method) -> Verdict:
    """Whether the program ends, where these methods come before the others."""
    monkeypatch.setattr(termination, "TERMINATION", (*added, *TERMINATION))
    file = tmp_path / "p.c"
    file.write_text("extern int __VERIFIER_nondet_int(void);\n" + source, encoding="utf-8")
    settings = Settings(sandboxed=False)
    return verify(load([file], settings), Property.TERMINATION, settings)


def falling(number: int):
    """A method that says of every loop that its variable falls, cut off below ``number``."""

    def run(question: TerminationQuestion, _: Tried[Verdict]) -> Verdict:
        state = question.search.system.state
        ranks = {label: (ite(less(var, const(number)), ZERO, var),) for label, (var,) in state.items()}
        verdict = question.settle(Ranked({}, ranks, "falling"))
        if verdict is None:
            raise NoAnswer
        return verdict

    return Method("falling", "this test", run)


def test_a_method_for_termination_is_added_in_the_same_way(tmp_path, monkeypatch) -> None:
    verdict = ends(HALVED, tmp_path, monkeypatch, falling(0))
    assert (verdict.verdict, verdict.method) == ("true", "falling")


def test_what_the_judge_refuses_of_a_method_is_no_verdict(tmp_path, monkeypatch) -> None:
    """A rank that is 0 below 3 does not fall from 2 to 1. In the other loop x == 9 stays."""
    verdict = ends(HALVED, tmp_path, monkeypatch, falling(3))
    assert verdict.verdict == "true"
    assert verdict.method != "falling"
    assert ends(FOR_EVER, tmp_path, monkeypatch, falling(0)).verdict == "false"


@pytest.mark.parametrize("kind", FAILING)
def test_a_method_for_termination_that_fails_leaves_the_others(kind: str, tmp_path, monkeypatch) -> None:
    plain = ends(HALVED, tmp_path, monkeypatch)
    failing = replace(FAILING[kind], operations=20_000)
    added = ends(HALVED, tmp_path, monkeypatch, failing)
    assert (added.verdict, added.method, added.certificate) == (plain.verdict, plain.method, plain.certificate)


def test_a_proof_without_overflow_takes_the_place_of_one_with(tmp_path, monkeypatch) -> None:
    """A proof by bounds is kept, and the one without overflow takes its place; without other methods it is told."""
    source = "int main(void) { int n = __VERIFIER_nondet_int(); if (n > 1) return 0; while (n != 1) n++; return 0; }"
    asked: list[str] = []

    def run(_question: TerminationQuestion, tried: Tried[Verdict]) -> Verdict:
        asked.append(tried.method)
        raise NoAnswer

    after = Method("asked again", "this test", run, applies=lambda _, tried: tried.answer is not None)
    every = TERMINATION
    cut = [method.name for method in every].index("bounds") + 1
    monkeypatch.setattr(sys.modules[__name__], "TERMINATION", (every[cut - 1], after, *every[cut:]))
    verdict = ends(source, tmp_path, monkeypatch)
    assert (verdict.verdict, verdict.assumptions) == ("true", ())
    assert asked == ["bounds"]
    assert verdict.method != "bounds"


# -- reach -------------------------------------------------------------------------------------------------------------


LOCK = "int f(int n) {\n    int s = 0;\n    while (s < n) s += 3;\n    if (s == 3) return 1;\n    return 0;\n}\n"


def gets_there(line: int, tmp_path: Path, monkeypatch, methods: tuple[Method, ...]) -> Reached:
    """Whether a run comes to the line, by these methods."""
    monkeypatch.setattr(answering, "REACH", methods)
    file = tmp_path / "p.c"
    file.write_text(LOCK, encoding="utf-8")
    return answering.reach([file], SourceTarget("p.c", line), "f", Settings(sandboxed=False))


def test_a_method_for_reach_is_added_in_the_same_way(tmp_path, monkeypatch) -> None:
    def run(asked: answering.ReachSearch, _: Tried[Reached]) -> Reached:
        found = asked.runs.drawn()
        if found is None:
            raise NoAnswer
        return found

    answer = gets_there(5, tmp_path, monkeypatch, (Method("drawn", "this test", run), *answering.REACH))
    assert (answer.verdict, answer.method) == ("reached", "random inputs")


@pytest.mark.parametrize("kind", FAILING)
def test_a_method_for_reach_that_fails_leaves_the_others(kind: str, tmp_path, monkeypatch) -> None:
    failing = replace(FAILING[kind], operations=20_000)
    every = answering.REACH
    plain = gets_there(4, tmp_path, monkeypatch, every)
    added = gets_there(4, tmp_path, monkeypatch, (failing, *every))
    assert (added.verdict, added.method, added.inputs) == (plain.verdict, plain.method, plain.inputs)
    assert added.verdict == "reached"


def test_a_limit_is_the_reason_where_no_method_answers(tmp_path, monkeypatch) -> None:
    answer = gets_there(4, tmp_path, monkeypatch, (FAILING["says nothing"], FAILING["comes to its limit"]))
    assert answer.verdict == "unknown"
    assert "the logic needs more steps than its budget" in answer.reason
