"""Campaigns of programs whose loops read data: contents are drawn, wrong claims found, and kept small with contents."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from campaigns.unrolled import SLIPS, UNROLLED
from loopless.summary import LoopSummary
from loopless_fuzz.campaigns.campaign import campaign
from loopless_fuzz.campaigns.functions import Bench
from loopless_fuzz.campaigns.loops import court, judge_loop, read, summarize_loop
from loopless_fuzz.campaigns.plan import READING, Plan, check_profile
from loopless_fuzz.campaigns.programs import host
from loopless_fuzz.campaigns.rows import LoopRow, Row, read_rows, write_rows
from loopless_fuzz.generator.generate import PROFILES

PLAN = Plan(READING, states=150, inputs=8, every=0, functions=False, limit_s=20)


def rows_of(plan: Plan, seeds: range, base: Path, **how) -> list[Row]:
    return sorted(campaign(plan, seeds, base, **how), key=lambda row: row.seed)


@pytest.mark.slow
def test_what_is_right_of_the_first_iterations_is_found_right(tmp_path: Path) -> None:
    assert check_profile(READING) == READING and f"{READING}-8" in PROFILES
    rows = rows_of(PLAN, range(20, 32), tmp_path, work=UNROLLED, jobs=2)
    assert all(row.status == "done" and not row.wrong for row in rows), [(row.note, row.loops) for row in rows]
    loops = [loop for row in rows for loop in row.loops]
    assert sum(loop.compared for loop in loops) > 600
    assert sum(loop.regions.get("outside", 0) for loop in loops) > 50


@pytest.mark.slow
def test_all_contents_at_eight_bits(tmp_path: Path) -> None:
    plan = dataclasses.replace(PLAN, every=1)
    (row,) = rows_of(plan, range(400, 401), tmp_path, work=UNROLLED)
    assert plan.everything(400) and row.status == "done" and not row.wrong
    assert row.loops[0].states > 1000 and row.loops[0].compared > 500


@pytest.mark.slow
def test_a_wrong_element_is_found_and_kept_small(tmp_path: Path) -> None:
    rows = rows_of(PLAN, range(1, 4), tmp_path, keep=tmp_path / "kept", work=SLIPS)
    wrong = [row for row in rows if row.mismatches]
    assert wrong
    for row in wrong:
        state, _ = next(found for loop in row.loops for found in loop.mismatches)
        assert any(name.endswith("[]") and isinstance(held, list) for name, held in state.items())
        text = (tmp_path / "kept" / f"data-{row.seed}.c").read_text()
        facts = json.loads(text.removeprefix("/* kept loop\n").split("\n*/\n")[0])
        assert any(name.endswith("[]") for name in facts["state at the header"])
        assert len(text.split("\n*/\n")[1].splitlines()) <= 25
    log = tmp_path / "rows.jsonl"
    write_rows(log, rows)
    again = [list(found[0].items()) for row in read_rows(log) for loop in row.loops for found in loop.mismatches]
    assert again == [list(state.items()) for row in rows for loop in row.loops for state, _ in loop.mismatches]


def test_a_known_state_is_judged_again_with_its_contents(tmp_path: Path) -> None:
    subject = read("int f(const char *s, int n) { int i = 0; while (i < n && s[i]) i++; return i; }", tmp_path)
    (loop,) = subject.loops
    summarize_loop(subject, loop, LoopRow(loop.name))
    if not isinstance(subject.outcomes[loop.name], LoopSummary):  # as long as there is no method for it
        return
    found = court(subject, loop)
    assert not isinstance(found, str)
    first = found.drawn(1, 1, [{"i": 2, "n": 9, "s[]": [7, 7, 7, 0]}])[0]
    assert first.contents == {"s": b"\7\7\7\0"} and {v.name: x for v, x in first.values.items()} == {"i": 2, "n": 9}


def test_what_is_said_where_nothing_is_read_is_judged_also(tmp_path: Path) -> None:
    text = "int f(const int *a, int n) { int t = 0; for (int i = 0; i < n; i++) t += a[i]; return t; }"
    subject = read(text, tmp_path)
    (loop,) = subject.loops
    row = LoopRow(loop.name)
    summarize_loop(subject, loop, row)
    judge_loop(subject, loop, row, seed=1, states=300, everything=False)
    assert not row.mismatches and row.compared > 30 and not row.unjudged


def test_a_call_that_reads_outside_of_its_argument_is_not_compared(tmp_path: Path) -> None:
    text = "int f(const int *a, int i) { return a[i] + 7; }"
    subject = read(text, tmp_path)
    bench = Bench(subject, text, None, host())
    for index, outside in ((3, False), (-1, True), (4, True)):
        args = ((1, 2, 3, 4), index)
        (native,) = bench.native([args], ())
        assert bench.difference(bench.voices(args, ()), native) == ""
        assert outside is (bench.interpreter.run(list(args)).outcome.status == "undefined")
        if not outside:
            other = dataclasses.replace(native, return_value=5)
            assert bench.difference(bench.voices(args, ()), other)
