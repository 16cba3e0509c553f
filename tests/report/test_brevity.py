"""Long answers are cut, say so, and say how to get the rest."""

from __future__ import annotations

from pathlib import Path

from loopless.queries.loops.answer import Question
from loopless.queries.loops.answers import answer_loop
from loopless.queries.program import load
from loopless.queries.settings import Settings
from loopless.report.brevity import chosen, cut, lines_for, more
from loopless.report.text import TextLayout, loop_summary


def test_a_long_line_is_cut_between_its_parts_and_says_how_much_is_left() -> None:
    short = "when " + " && ".join(f"x{i} > {i}" for i in range(30))
    assert cut(short) == short
    line = short * 3
    found = cut(line)
    shown, _, rest = found.partition(" … (")
    assert line.startswith(shown + " && ")
    assert rest == f"{len(line) - len(shown)} characters more: --all-cases)"
    assert len(found) < len(line)


def test_of_many_alternatives_the_short_ones_are_shown_in_their_order() -> None:
    assert chosen([6] * 6, 6) == [0, 1, 2, 3, 4, 5]
    assert chosen([6] * 8, 6) == [0, 1, 2, 3, 4]
    assert chosen([9, 2, 50, 3, 7, 1, 1, 8], 6) == [1, 3, 4, 5, 6]
    assert [len(chosen([1] * number, 12)) for number in (0, 1, 12, 13, 49)] == [0, 1, 12, 10, 10]
    assert chosen([5, 4], 1) == [1]
    assert chosen([1, 2, 3, 40, 50, 4, 5, 6], 6, "aaabbaaa") == [0, 1, 2, 3, 4]
    assert chosen([1, 2, 3, 40, 50, 60], 3, "aaabba") == [0, 3]
    assert more("or {} more", 3) == ["or 3 more: --all-cases"]
    assert more("and {} more {}", 1, "case") == ["and 1 more case: --all-cases"]
    assert more("and {} more {}", 0, "case") == []


def test_the_loops_of_a_function_share_the_lines_of_its_answer() -> None:
    found = lines_for(["f", "f", "f", "g", *["h"] * 20])
    assert found == {"f": 19, "g": 60, "h": 12}
    assert 3 * found["f"] + 2 <= 60  # with the empty lines in between


def test_an_answer_has_no_more_lines_than_there_are_for_it(tmp_path: Path) -> None:
    ways = "".join(f"if (x == {i * i * 7}) return {i}; " for i in range(20))
    (tmp_path / "a.c").write_text(f"int f(int x, int n) {{ while (n > 0) {{ {ways} n--; }} return x; }}\n")
    (loop,) = load([tmp_path / "a.c"], Settings(workers=1)).loops
    answer = answer_loop(loop.function, loop.id, Question(merge=True))
    whole = loop_summary(answer, TextLayout(all_cases=True)).splitlines()
    heads = [line for line in whole if line.startswith("  when ")]
    assert len(whole) > 12
    for most in (40, 12):
        lines = loop_summary(answer, most=most).splitlines()
        assert len(lines) <= most
        left = next(line for line in lines if "more cases: --all-cases" in line)
        assert sum(line.startswith("  when ") for line in lines) + int(left.split()[1]) == len(heads)


def test_all_is_shown_where_it_is_asked_for(tmp_path: Path) -> None:
    ways = "".join(f"if (x == {i * i * 7}) return {i}; " for i in range(20))
    (tmp_path / "a.c").write_text(f"int f(int x, int n) {{ while (n > 0) {{ {ways} n--; }} return x; }}\n")
    (loop,) = load([tmp_path / "a.c"], Settings(workers=1)).loops
    answer = answer_loop(loop.function, loop.id, Question(merge=True))
    brief, whole = loop_summary(answer), loop_summary(answer, TextLayout(all_cases=True))
    assert "--all-cases" in brief
    assert "--all-cases" not in whole
    assert len(brief) < len(whole)
    assert "x == 2527" in whole
