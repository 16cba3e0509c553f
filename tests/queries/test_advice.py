"""Commands that answer more are tried before they are told, and what they tell of a function is asked for once."""

from __future__ import annotations

from dataclasses import replace

from loopless.queries.loops import advice
from loopless.queries.loops.answer import LoopAnswer
from loopless.queries.program import load
from loopless.queries.settings import Settings
from loopless.refusals import Reason, Refused

TWO = """
int f(int n) {
  int s = 0;
  for (int i = 0; i < n; i++) s ^= i;
  for (int j = n; j > 0; j -= 3) s ^= j;
  return s;
}
"""


def test_bounds_of_a_function_are_asked_for_once(monkeypatch, tmp_path) -> None:
    file, other = tmp_path / "a.c", tmp_path / "b.c"
    file.write_text(TWO)
    other.write_text("int g(void) { return 0; }")
    asked = []

    def watched(jobs, *_):
        asked.extend(type(job.__self__) for job in jobs)
        return [job() for job in jobs]  # however slow the machine is

    monkeypatch.setattr(advice, "run_all", watched)
    settings = Settings()
    loops = load([file, other], settings).loops
    tries = advice.Adviser(settings, None)
    for loop in loops:
        name = replace(loop.id, info=None)
        found = tries(loop, LoopAnswer(name, refused=Refused(Reason.BUDGET, name.place, "not asked")))
        assert [one.tells for one in found.advice] == ["how often it runs at most"]
        assert "--function f" in found.advice[0].command
    assert asked == [advice.TryBound]  # and none that evaluates a call, which takes one file


def test_nothing_is_tried_where_no_time_is_left(monkeypatch, tmp_path) -> None:
    file = tmp_path / "a.c"
    file.write_text(TWO)
    monkeypatch.setattr(advice, "ADVISED_LOOPS", 0)
    settings = Settings()
    loop = load([file], settings).loops[0]
    answer = LoopAnswer(loop.id, refused=Refused(Reason.BUDGET, loop.id.place, "not asked"))
    assert advice.Adviser(settings, None)(loop, answer) is answer
