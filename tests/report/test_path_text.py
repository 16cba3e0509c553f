"""What one iteration does stands in answers that do not say what many come to."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopless.queries.loops.answer import Question
from loopless.queries.loops.answers import answer_loop
from loopless.queries.program import load
from loopless.queries.settings import Settings
from loopless.report.text import TextLayout, loop_summary

MIXED = "unsigned f(unsigned n, unsigned c) { for (int k = 0; k < 8; k++) c = c & 1 ? 3 * c + n : c / 2; return c; }"
TURNS = "int f(unsigned n) { int s = 0; while (n != 1) { if (n % 2) n = 3 * n + 1; else n /= 2; s++; } return s; }"
EXACT = "int f(int n) { int i = 0; while (i < n) i++; return i; }"


def told(folder: Path, text: str, layout: TextLayout) -> list[str]:
    """The lines of the answer about the loop, and those of one iteration."""
    (folder / "a.c").write_text(text)
    (loop,) = load([folder / "a.c"], Settings(workers=1)).loops
    question = Question(approximate=True, merge=True, entered=True)
    return loop_summary(answer_loop(loop.function, loop.id, question), layout).splitlines()


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            MIXED,
            {
                "k <= 7 && c % 2 == 0: c' = c / 2, k' = k + 1",
                "k <= 7 && c % 2 != 0: c' = (uint32_t)(3*c + n), k' = k + 1",
            },
        ),
        (
            TURNS,
            {
                "n % 2 == 0 && s < INT_MAX: n' = n / 2, s' = s + 1",
                "n != 1 && n % 2 != 0 && s < INT_MAX: n' = (uint32_t)(3*n + 1), s' = s + 1",
            },
        ),
    ],
)
@pytest.mark.slow
def test_what_one_iteration_does_is_told_where_many_are_not(tmp_path: Path, text: str, wanted: set[str]) -> None:
    lines = told(tmp_path, text, TextLayout())
    at = lines.index("  one iteration")
    assert {line.split("  if ", 1)[1] for line in lines[at + 1 : at + 3]} == wanted
    with_paths = told(tmp_path, text, TextLayout(paths=True))
    assert "  one iteration" not in with_paths
    assert "  paths" in with_paths


def test_an_exact_answer_says_it_all(tmp_path: Path) -> None:
    lines = told(tmp_path, EXACT, TextLayout())
    assert "  one iteration" not in lines
    assert "  paths" not in lines
