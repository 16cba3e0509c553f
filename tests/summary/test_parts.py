"""Parts of a loop put together: each entry state is answered once, whatever limits cut off, and the judge agrees."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import pytest

from judged import judge_alone
from loopless.logic import BudgetExceeded
from loopless.paths import LoopPaths
from loopless.portfolio import Method, NoAnswer, Tried
from loopless.refusals import Reason, Refused
from loopless.summary import LoopSummary, parts
from loopless.summary.case_builder import CaseBuilder
from loopless.summary.methods import elimination
from loopless.summary.parts import PartQuestion, summarize_parts
from loopless.summary.portfolio import PART_METHODS
from loopless.summary.transitions.elimination import ExitSegment
from loopless.summary.transitions.transformer import GuardedTransition, NoIteration
from loopless.terms import FALSE, holds
from loops_in_c import paths

SIGNS = (
    "int f(signed char x, signed char n) { while (x < 50 && x > -50) { if (n > 0) x += 3; else x -= n; } return x; }"
)
"""Upwards by 3 for n > 0, upwards by -n for n < 0, for ever at n = 0."""


def by_all(found: LoopPaths) -> LoopSummary:
    return summarize_parts(found, PART_METHODS)


def test_all_parts_together_answer_each_state_once() -> None:
    summary, regions = judge_alone(SIGNS, by_all, count=4000)
    assert summary.complete
    assert sum(regions.values()) == 4000
    assert regions["case"] > 2000
    near, told = judge_alone(SIGNS, by_all, near={"n": [0], "x": range(-60, 60)}, count=400)
    assert told["diverges"] > 50
    assert near == summary


def left_open(methods: Sequence[Method[PartQuestion, CaseBuilder]]) -> set[Reason]:
    """Why nothing at all is said: each state must be in one part of the residual."""
    found = paths(SIGNS)
    assert isinstance(found, LoopPaths)
    summary = summarize_parts(found, methods)
    assert (summary.cases, summary.undefined, summary.diverges, summary.method) == ((), (), FALSE, "")
    names = (*found.state, *found.invariants)
    for row in product(range(-128, 128, 5), repeat=len(names)):
        state = {var: var.type.wrap(value) for var, value in zip(names, row, strict=True)}
        assert sum(holds(part.when, state) for part in summary.residual) == 1, state
    return {part.why.reason for part in summary.residual}


def test_what_has_too_many_cases_says_nothing_and_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "MAX_CASES", 0)
    assert left_open(PART_METHODS) == {Reason.BUDGET}


def test_without_a_method_each_part_is_left_open() -> None:
    assert left_open(()) == {Reason.MULTI_PATH}


def test_each_part_is_asked_for_and_methods_are_named_once() -> None:
    """Where one method leaves off the next is asked, for that part alone."""
    asked: list[PartQuestion] = []

    def first_only(part: PartQuestion, tried: Tried[CaseBuilder]) -> CaseBuilder:
        asked.append(part)
        if len(asked) > 1:
            raise NoAnswer
        return elimination.ELIMINATION.run(part, tried)

    def rest(part: PartQuestion, tried: Tried[CaseBuilder]) -> CaseBuilder:
        return elimination.ELIMINATION.run(part, tried)

    methods = (Method("first", "this test", first_only), Method("rest", "this test", rest))
    summary, _ = judge_alone(SIGNS, lambda found: summarize_parts(found, methods), count=500)
    assert summary.complete
    assert len(asked) > 1
    assert summary.method == "first, rest"
    for one in asked:
        for other in asked:
            assert one is other or one.system.universe.disjoint(other.system.universe)


def test_a_budget_that_runs_out_in_every_method_is_the_reason() -> None:
    def fails(_part: PartQuestion, _tried: Tried[CaseBuilder]) -> CaseBuilder:
        raise BudgetExceeded("made for this test")

    assert left_open((Method("fails", "this test", fails),)) == {Reason.BUDGET}


ROUND = "int f(signed char x, signed char n) { while (x > n) { if (n < 0) { if (x == n + 1) x = 9; } else x -= 1; } return x; }"


def test_what_is_left_at_once_and_what_repeats_for_ever_are_cases_of_their_own() -> None:
    """With n < 0 < x - n the loop stays where it is: at n + 1 it goes to 9, where it stays."""

    def by_hand(part: PartQuestion, _: Tried[CaseBuilder]) -> CaseBuilder:
        builder = CaseBuilder(part.system)
        why = Refused(Reason.MULTI_PATH, "here", "made for this test")
        builder.add(ExitSegment(GuardedTransition(part.system.ended, {}, NoIteration()), "ended"))
        for transition in part.system.transitions:
            stays = all(transition.control.get(var, var) is var for var in part.system.control)
            none = GuardedTransition(transition.where, {}, NoIteration())
            if stays:
                builder.add(ExitSegment(none, "forever", again=transition))
            else:
                builder.add(ExitSegment(none, "stuck", why=why))
        return builder

    method = Method("by hand", "this test", by_hand)
    summary, regions = judge_alone(ROUND, lambda found: summarize_parts(found, (method,)), count=3000)
    assert summary.method == "by hand"
    assert min(regions["case"], regions["diverges"], regions["residual"]) > 5
