"""What ``reach`` says where its methods contradict each other."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopless.logic.solver import SmtAnswer
from loopless.queries.call_values.reached import Reached
from loopless.queries.reach import answering as module
from loopless.queries.settings import Settings
from loopless.source.targets import SourceTarget

PROGRAM = """int f(int n) {
    int s = 0;
    for (int i = 0; i < n; i++) s += n;
    return s;
}
"""


def found(tmp_path: Path, settings: Settings) -> Reached:
    file = tmp_path / "f.c"
    file.write_text(PROGRAM, encoding="utf-8")
    return module.reach([file], SourceTarget("f.c", 4), "f", settings, seconds=20.0)


def test_what_is_refuted_without_a_certificate_is_looked_for_by_native_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wrong refutation (a defect of the counters, made here) is no answer where the first runs get there."""
    monkeypatch.setattr(module, "route_by_summaries", lambda *_: None)
    monkeypatch.setattr(module, "counters_of", lambda *_, **__: SmtAnswer.NO)
    answer = found(tmp_path, Settings(sandboxed=False))
    assert (answer.verdict, answer.method) == ("reached", "random inputs")
    assert found(tmp_path, Settings(run=False, sandboxed=False)).verdict == "unreachable"  # --no-run
