"""A sample of the campaign of functions whose loops write memory, and that it finds and keeps wrong answers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from loopless import terms as t
from loopless.check.interpreter.run import Interpreter
from loopless.flowgraph.model import Flowgraph
from loopless.summary import LoopSummary
from loopless_fuzz.campaigns import loops
from loopless_fuzz.campaigns.loops import read
from loopless_fuzz.campaigns.plan import WRITING, Plan
from loopless_fuzz.campaigns.rows import LoopRow, Row
from loopless_fuzz.campaigns.table import report
from loopless_fuzz.campaigns.writing import judge_writing, keep_writing, program_of, smaller

PLAN = Plan(WRITING, states=60, inputs=8, every=0, limit_s=20)
SEEDS = range(3, 11)


def rows_of(base: Path) -> list[Row]:
    return [judge_writing(PLAN, seed, base) for seed in SEEDS]


@pytest.mark.slow
def test_what_is_said_of_elements_is_so(tmp_path: Path) -> None:
    rows = rows_of(tmp_path)
    assert all(row.status == "done" and not row.wrong for row in rows), [(row.note, row.loops) for row in rows]
    memory = [loop.memory for row in rows for loop in row.loops]
    assert sum(counts.get("changed", 0) for counts in memory) > 300
    assert sum(row.function.compared for row in rows if row.function is not None) > 7 * len(rows)
    assert "write memory, what it holds behind them" in report(rows)


def one_too_many(case):
    """What a layer says of each element, it says also of the next one."""
    contents = {
        name: tuple(
            replace(layer, where=layer.where | t.substitute(layer.where, {t.INDEX: t.INDEX - 1}), value=layer.value)
            for layer in layers
        )
        for name, layers in (case.contents or {}).items()
    }
    return replace(case, contents=contents)


@pytest.mark.slow
def test_a_wrong_layer_is_found_and_kept_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = loops.readable

    def wrong(summary: LoopSummary) -> LoopSummary:
        return replace(right(summary), cases=tuple(map(one_too_many, summary.cases)))

    monkeypatch.setattr(loops, "readable", wrong)
    rows = [row for row in rows_of(tmp_path) if any(loop.mismatches for loop in row.loops)]
    assert len(rows) > 2
    row = rows[0]
    kept = keep_writing(PLAN, row, tmp_path / "kept", tmp_path, 30.0).read_text()
    program = program_of(row.seed).text
    assert "wrong" in kept
    assert len(kept[kept.index("*/") :]) < len(program)


def test_what_is_not_needed_is_left_out() -> None:
    text = "a\nif {\n  b\n}\nwhile {\n  c\n}\nd\n"
    assert smaller(text, lambda candidate: "c" in candidate) == "  c\n"
    assert smaller(text, lambda candidate: "while {" in candidate and "c" in candidate) == "while {\n  c\n"
    assert smaller(text, lambda candidate: False) == text


@pytest.mark.parametrize("seed", range(12))
def test_programs_write_inside_of_their_arrays(seed: int, tmp_path: Path) -> None:
    program = program_of(seed)
    assert program == program_of(seed)
    subject = read(program.text, tmp_path)
    graph = subject.function.as_written()
    assert isinstance(graph, Flowgraph)
    interpreter = Interpreter(subject.function.program.source.inlined, graph)
    for row in program.rows(seed, 10):
        run = interpreter.run(list(row), max_steps=5_000)
        assert run.outcome.status in ("ok", "undefined")
        assert not run.reason.startswith("access")


def test_a_row_tells_how_much_was_compared() -> None:
    row = Row(WRITING, 0, loops=[LoopRow("f", writes="exact", memory={"states": 2, "compared": 1, "changed": 1})])
    assert Row.from_json(row.to_json()) == row
    assert "1 exact; 0 wrong" in report([row])
    assert "2 states with 1 byte compared, of which 1 had changed, 0 not told" in report([row])
