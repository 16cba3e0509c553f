"""A sample of the campaign of functions that read arrays otherwise than declared, and that it finds wrong answers."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from loopless.report.bounds import function_json as bound_json
from loopless.report.functions import function_json as summary_json
from loopless_fuzz.campaigns.campaign import Work, campaign
from loopless_fuzz.campaigns.plan import READINGS, Plan
from loopless_fuzz.campaigns.readings import Printing, judge_readings, keep_reading
from loopless_fuzz.campaigns.rows import Row
from loopless_fuzz.generator.readings import BYTES, MOST, reading

PRINTING = Printing(bound_json, summary_json)
PLAN = Plan(READINGS, inputs=25, limit_s=20)


def rows_of(seeds: range, base: Path, printing: Printing = PRINTING, keep: Path | None = None) -> list[Row]:
    work = Work(partial(judge_readings, printing), keep_reading)
    return sorted(campaign(PLAN, seeds, base, work=work, jobs=2, keep=keep), key=lambda row: row.seed)


@pytest.mark.slow
def test_answers_are_those_of_native_runs(tmp_path: Path) -> None:
    rows = rows_of(range(8), tmp_path)
    assert all(row.status == "done" and not row.wrong for row in rows), [(row.note, row.program) for row in rows]
    programs = [row.program for row in rows if row.program is not None]
    for kind, least in (("bound --at", 150), ("printed bound", 150), ("summary", 100), ("printed summary", 100)):
        assert sum(program.found.get(kind, {}).get("tight", 0) for program in programs) > least
    assert sum(program.iterations for program in programs) > 200


def _without_signs(printed: dict) -> dict:
    """What is printed, elements that are read without a sign as the declared ones, and wider ones as narrower."""
    cases = [
        {**case, "then": {name: {**value, "text": _plain(value["text"])} for name, value in case["then"].items()}}
        for case in printed["cases"]
    ]
    return {**printed, "cases": cases}


def _plain(text: str) -> str:
    return text.replace("(uint8_t)", "(int8_t)").replace("*(uint16_t *)", "*(uint8_t *)").replace("(uint32_t)a", "a")


def _slipped(answer):
    return _without_signs(summary_json(answer))


@pytest.mark.slow
def test_a_reading_that_is_printed_wrong_is_found_and_kept(tmp_path: Path) -> None:
    keep = tmp_path / "kept"
    rows = rows_of(range(8), tmp_path, Printing(bound_json, _slipped), keep)
    wrong = [row for row in rows if row.mismatches]
    assert wrong and all("printed summary" in row.program.mismatches[0][1] for row in wrong if row.program)
    for row in wrong:
        assert "long long f(" in (keep / f"{READINGS}-{row.seed}.c").read_text()


def test_programs_read_inside_of_their_arrays() -> None:
    for seed in range(50):
        program = reading(seed)
        assert program == reading(seed)
        for contents, n in program.rows(seed, 5):
            assert 0 <= n <= MOST
            sizes = [len(held) * element.size for held, (_, element) in zip(contents, program.arrays, strict=True)]
            assert sizes == [BYTES] * len(sizes)
