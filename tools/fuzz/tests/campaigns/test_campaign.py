"""Campaigns find planted errors, keep them small, and go on when a process hangs or dies."""

from __future__ import annotations

import dataclasses
import json
import time
from pathlib import Path
from typing import Any

import pytest

from campaigns.planted import DYING, FAILING, HANGING, WRONG_FUNCTIONS, WRONG_LOOPS
from loopless.check.oracle.native import NativeOracle
from loopless.errors import UsageError
from loopless_fuzz.campaigns.campaign import campaign
from loopless_fuzz.campaigns.loops import judge_loop, read, summarize_loop
from loopless_fuzz.campaigns.plan import Plan, check_profile
from loopless_fuzz.campaigns.rows import LoopRow, Row, read_rows, write_rows
from loopless_fuzz.campaigns.table import report
from loopless_fuzz.generator.case import load_case
from loopless_fuzz.generator.generate import PROFILES

LOOPS = Plan("single-path", states=60, inputs=6, functions=False, limit_s=10)
CALLS = dataclasses.replace(LOOPS, loops=False, functions=True)


def rows_of(plan: Plan, seeds: range, base: Path, **how: Any) -> list[Row]:
    return sorted(campaign(plan, seeds, base, **how), key=lambda row: row.seed)


def test_right_summaries_are_found_right(tmp_path: Path) -> None:
    rows = rows_of(dataclasses.replace(LOOPS, functions=True), range(1, 7), tmp_path, jobs=2)
    assert [row.seed for row in rows] == list(range(1, 7))
    assert all(row.status == "done" and not row.wrong for row in rows), [row.note for row in rows]
    loops = [loop for row in rows for loop in row.loops]
    assert sum(loop.compared for loop in loops) > 50 and {loop.status for loop in loops} >= {"complete"}
    assert sum(row.function.compared for row in rows if row.function is not None) > 30


def test_what_holds_at_the_entry_of_a_value_that_does_not_matter(tmp_path: Path) -> None:
    text = """
    int f(signed char n) {
        unsigned char s = 0, t = 0, i = t;
        for (; i <= t; i += t * t) s += i * i + i;
        s += 5;
        return n * i;
    }
    """
    subject = read(text, tmp_path)
    (loop,) = subject.loops
    row = LoopRow(loop.name)
    summarize_loop(subject, loop, row)
    assert row.status == "entered"
    judge_loop(subject, loop, row, seed=1, states=20, everything=False)
    assert row.regions == {"diverges": 20} and not row.mismatches


@pytest.mark.slow
def test_a_planted_error_of_loops_is_found_and_kept_small(tmp_path: Path) -> None:
    rows = rows_of(LOOPS, range(1, 4), tmp_path, keep=tmp_path / "kept", work=WRONG_LOOPS)
    wrong = [row for row in rows if row.mismatches]
    assert wrong
    assert all("1 iterations" in why or "iterations" in why for row in wrong for _, why in row.loops[0].mismatches)
    for row in wrong:
        text = (tmp_path / "kept" / f"single-path-{row.seed}.c").read_text()
        facts = json.loads(text.removeprefix("/* kept loop\n").split("\n*/\n")[0])
        assert facts["seed"] == row.seed and facts["loop"].startswith("case.c:f:")
        assert "iterations" in facts["wrong"][0] and isinstance(facts["state at the header"], dict)
        assert len(text.split("\n*/\n")[1].splitlines()) <= 12
    told = report(rows)
    assert f"{len(wrong)} with a mismatch" in told and f"single-path {wrong[0].seed}, loop " in told


@pytest.mark.slow
def test_a_planted_error_of_functions_is_found_and_kept(tmp_path: Path) -> None:
    rows = rows_of(CALLS, range(1, 4), tmp_path, keep=tmp_path / "kept", work=WRONG_FUNCTIONS)
    wrong = [row for row in rows if row.mismatches]
    assert wrong
    for row in wrong:
        assert row.function is not None and row.function.mismatches[0][1].startswith("whole: ")
        kept = load_case(tmp_path / "kept" / f"single-path-{row.seed}.c")
        with NativeOracle(kept.text) as oracle:
            assert oracle.run(kept.function, kept.args, nondet=kept.nondet).agrees_with(kept.expected)


@pytest.mark.slow
def test_a_loop_that_hangs_is_left_out_and_the_rest_is_judged(tmp_path: Path) -> None:
    plan = dataclasses.replace(LOOPS, functions=True, limit_s=1.0)
    started = time.monotonic()
    (row,) = rows_of(plan, range(1, 2), tmp_path, work=HANGING)
    assert row.status == "done" and [loop.status for loop in row.loops] == ["limit"]
    assert row.loops[0].causes == ["L302 time-limit"]
    assert row.function is not None and row.function.calls > 0
    assert time.monotonic() - started < 55


def test_a_process_that_dies_is_recorded_and_replaced(tmp_path: Path) -> None:
    rows = rows_of(LOOPS, range(1, 4), tmp_path, keep=tmp_path / "kept", work=DYING)
    assert [row.status for row in rows].count("crash") == 1 and [row.status for row in rows].count("done") == 2
    (crashed,) = [row for row in rows if row.status == "crash"]
    assert "died" in crashed.note
    assert (tmp_path / "kept" / f"single-path-{crashed.seed}.c").exists()


def test_an_error_inside_is_a_crash_with_its_traceback(tmp_path: Path) -> None:
    (row,) = rows_of(LOOPS, range(1, 2), tmp_path, keep=tmp_path / "kept", work=FAILING)
    assert row.status == "crash" and "ZeroDivisionError: planted" in row.note and row.wrong
    text = (tmp_path / "kept" / "single-path-1.c").read_text()
    assert "ZeroDivisionError: planted" in text and len(text.split("\n*/\n")[1].splitlines()) <= 8


def test_no_program_is_started_after_the_time(tmp_path: Path) -> None:
    assert rows_of(LOOPS, range(1, 1000), tmp_path, until=time.monotonic() - 1) == []


def test_rows_are_read_as_they_were_written(tmp_path: Path) -> None:
    rows = rows_of(dataclasses.replace(LOOPS, functions=True), range(1, 3), tmp_path)
    path = tmp_path / "log"
    for row in rows:
        write_rows(path, [row])
    with path.open("a") as file:
        file.write(rows[0].to_json()[:40])  # as if the machine had gone down there
    again = list(read_rows(path))
    assert [row.to_json() for row in again] == [row.to_json() for row in rows]
    path.write_text("nonsense\n" + rows[0].to_json() + "\n")
    with pytest.raises(UsageError, match="line 1"):
        list(read_rows(path))
    assert list(read_rows(tmp_path / "none")) == []


def test_profiles_are_known_by_name() -> None:
    assert all(check_profile(name) == name for name in PROFILES)
    with pytest.raises(UsageError, match="single-loop"):
        check_profile("no-such")


def test_the_report_of_nothing() -> None:
    assert report([]).startswith("0 programs")
