"""What JSON says of bounds beside which a limit ended a search."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from loopless.queries.bounds.answering import answer_bounds
from loopless.queries.program import load
from loopless.queries.settings import Settings
from loopless.refusals import Reason, Refused
from loopless.report.bounds import bound_json

SETTINGS = Settings(sandboxed=False)


def test_an_exact_count_says_that_its_summary_was_cut(tmp_path: Path) -> None:
    """What the summary tells beside it may be more in another run."""
    file = tmp_path / "a.c"
    file.write_text("int f(int n) { int k = 0; for (int i = 0; i < n; i++) k += 3; return k; }")
    program = load([file], SETTINGS)
    (found,) = answer_bounds([program["f"]], "all", SETTINGS)
    (loop,) = found.loops
    assert loop.call.exact and loop.counts.cut is None
    assert "cut" not in bound_json(loop, None)
    limit = Refused(Reason.TIME_LIMIT, "a.c:1:28", "cut by --loop-timeout")
    cut = replace(loop, counts=replace(loop.counts, answer=loop.answer.with_cut(limit)))
    assert bound_json(cut, None)["cut"]["code"] == "L302"
