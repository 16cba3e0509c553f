"""Long answers are cut, say so, and say how to get the rest."""

from __future__ import annotations

from pathlib import Path

from loopless.queries.answers import Question, answer_loop
from loopless.queries.program import load
from loopless.queries.settings import Settings
from loopless.report.brevity import cut, some_arms, some_cases
from loopless.report.text import Layout, loop_summary


def test_a_long_line_is_cut_between_its_parts_and_says_how_much_is_left() -> None:
    short = "when " + " && ".join(f"x{i} > {i}" for i in range(30))
    assert cut(short) == short
    line = short * 3
    found = cut(line)
    shown, _, rest = found.partition(" … (")
    assert line.startswith(shown + " && ")
    assert rest == f"{len(line) - len(shown)} characters more: --all-cases)"
    assert len(found) < len(line)


def test_so_many_alternatives_and_cases_are_shown() -> None:
    arms = [f"x == {i}" for i in range(6)]
    assert some_arms(arms) == arms
    assert some_arms([*arms, "x > 9", "x < 0"]) == [*arms[:5], "3 more: --all-cases"]
    assert [some_cases(number) for number in (0, 1, 12, 13, 49)] == [0, 1, 12, 10, 10]


def test_all_is_shown_where_it_is_asked_for(tmp_path: Path) -> None:
    ways = "".join(f"if (x == {i * i * 7}) return {i}; " for i in range(20))
    (tmp_path / "a.c").write_text(f"int f(int x, int n) {{ while (n > 0) {{ {ways} n--; }} return x; }}\n")
    (loop,) = load([tmp_path / "a.c"], Settings(workers=1)).loops
    answer = answer_loop(loop.function, loop.id, Question(merge=True))
    brief, whole = loop_summary(answer), loop_summary(answer, Layout(all_cases=True))
    assert "--all-cases" in brief
    assert "--all-cases" not in whole
    assert len(brief) < len(whole)
    assert "x == 2527" in whole
