"""The campaign of the rule: right answers are found right, planted errors are found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from loopless.bounds import Claim
from loopless.queries.bounds import rules as loop_rules
from loopless.terms import ONE, TRUE, ZERO
from loopless_fuzz.campaigns import ruled
from loopless_fuzz.campaigns.plan import RULED, Plan
from loopless_fuzz.campaigns.rows import Row
from loopless_fuzz.generator.entered import entered_program

PLAN = Plan(RULED, inputs=10, limit_s=30.0)
EVEN = """extern unsigned __VERIFIER_nondet_uint(void);
int main(void)
{
    /*begin main | */;
    unsigned n = __VERIFIER_nondet_uint();
    if (n % 2 || n > 60) {
        return /*leave*/(1);
    }
    /*enter 0*/;
    while (/*head 0*/(n != 0)) n -= 2;
    return /*leave*/(0);
}
"""
ASSUMED = """extern void __VERIFIER_assume(int);
extern int __VERIFIER_nondet_int(void);
int main(void)
{
    /*begin main | */;
    int n = __VERIFIER_nondet_int();
    __VERIFIER_assume(n == 3);
    /*enter 0*/;
    while (/*head 0*/(n != 0)) n -= 1;
    return /*leave*/(0);
}
"""


def judged(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str) -> Row:
    monkeypatch.setattr(ruled, "entered_program", lambda _: text)
    return ruled.judge_ruled(PLAN, 1, tmp_path)


def test_what_is_right_is_found_right(tmp_path: Path) -> None:
    row = ruled.judge_ruled(PLAN, 1, tmp_path)
    assert (row.status, row.mismatches) == ("done", 0), row
    assert row.program is not None
    assert row.program.runs >= 10
    assert sum(sum(found.values()) for what, found in row.program.found.items() if what.startswith("rule")) == 1


@pytest.mark.slow
def test_a_loop_that_is_said_to_never_end_and_ends_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From states that nobody enters, as the rule did."""
    assert judged(monkeypatch, tmp_path, EVEN).mismatches == 0

    def before(*given: object, **more: object) -> list[loop_rules.RuledLoop]:
        found = loop_rules.bounded_loops(*given, **more)  # type: ignore[arg-type]
        return [replace(loop, bound=None, never=TRUE) for loop in found]

    monkeypatch.setattr(ruled, "bounded_loops", before)
    row = judged(monkeypatch, tmp_path, EVEN)
    assert row.program is not None
    assert any("never ends, and it did" in said for _, said in row.program.mismatches)


def test_a_bound_that_is_too_small_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def small(*given: object, **more: object) -> list[loop_rules.RuledLoop]:
        found = loop_rules.bounded_loops(*given, **more)  # type: ignore[arg-type]
        return [replace(loop, bound=ONE) for loop in found]

    monkeypatch.setattr(ruled, "bounded_loops", small)
    row = judged(monkeypatch, tmp_path, EVEN)
    assert row.program is not None
    assert any("at most 1 an entry" in said for _, said in row.program.mismatches)


def test_runs_whose_assumption_fails_may_take_fewer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = judged(monkeypatch, tmp_path, ASSUMED)
    assert row.program is not None
    assert row.program.outcomes.get("assumption-failed", 0) > 0
    assert row.mismatches == 0


def test_claims_that_contradict_each_other_are_found() -> None:
    assert list(ruled.contradictions(Claim(ONE, never=TRUE), {})) == ["never ends, and has a bound"]
    assert list(ruled.contradictions(Claim(ZERO, ONE), {})) == ["at least more than at most"]
    assert "undefined" in next(ruled.contradictions(Claim(None, never=TRUE, always_undefined=TRUE), {}))
    assert not list(ruled.contradictions(Claim(ONE, ZERO), {}))


def test_programs_are_the_same_for_the_same_seed() -> None:
    assert entered_program(5) == entered_program(5)
    assert len({entered_program(seed) for seed in range(40)}) > 35
