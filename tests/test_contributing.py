"""The recipes of CONTRIBUTING.md work, and the files that they name exist."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from answers_in_c import answers
from counted import judge_calls
from loopless.bounds.claims.of_summaries import Claim
from loopless.bounds.looperman.scopes import scopes_of
from loopless.bounds.model import FunctionBounds
from loopless.bounds.portfolio import METHODS, bounds_of
from loopless.bounds.question import BoundQuestion
from loopless.paths import LoopPaths, loop_paths
from loopless.portfolio import Method
from loops_in_c import graph

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
RECIPES = dict(re.findall(r"^## Recipe: (.*?)\n(.*?)(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL))
NEW = {"cleared_bits.py", "test_cleared_bits.py", "table.py", "labels.py", "test_bench_labels.py"}
"""Files that the recipes write."""


def written(title: str) -> dict[str, Any]:
    """The names of the module that a recipe writes."""
    (code,) = re.findall(r"^```python\n(.*?)^```$", RECIPES[title], re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {"__name__": "recipe"}
    exec(compile(code, title, "exec"), names)
    return names


def bounds(source: str, *more: Method[BoundQuestion, FunctionBounds]) -> FunctionBounds:
    g = graph(source)
    paths = {loop.name: found for loop in g.loops if isinstance(found := loop_paths(g, loop), LoopPaths)}
    question = BoundQuestion(
        g,
        paths,
        scopes=lambda: scopes_of(g, frozenset()),
        claims=lambda found: {name: Claim(None) for name in found.loops},
        is_counted=lambda: False,
    )
    found = bounds_of(question, "a.c:1", lambda _: None, (METHODS[0], *more, *METHODS[1:])).answer
    assert found is not None
    return found


MASKED = "unsigned f(unsigned x, unsigned y) { unsigned n = 0; while (x) { x = x & y & (x - 1); n++; } return n; }"


def test_the_method_of_the_recipe_gives_bounds_that_are_right() -> None:
    method = written("a new method")["METHOD"]
    found = bounds(MASKED, method)
    (loop,), (before,) = found.loops.values(), bounds(MASKED).loops.values()
    assert method.name in {bound.method for bound in loop.per_entry}
    assert method.name not in {bound.method for bound in before.per_entry}
    rows = [(x, y) for x in (0, 1, 255, 0x5555, 2**32 - 1) for y in (0, 1, 255, 2**32 - 1)]
    counted = judge_calls(graph(MASKED), rows, bounds=found)
    assert counted.compared >= len(rows)
    assert counted.longest == 32


def test_the_format_of_the_recipe_has_a_row_for_each_loop() -> None:
    row = written("a new format")["row"]
    source = "int f(int n, int *a) { int i = 0; while (i < n) i++; while (a[i]) a[i++]--; return i; }"
    assert [row(answer).split("\t")[1:] for answer in answers(source)] == [["exact", "2"], ["refused", "0"]]


def test_the_suite_of_the_recipe_counts_labels(tmp_path: Path) -> None:
    labels = written("a new suite")["labels"]
    file = tmp_path / "a.c"
    file.write_text("int f(int n) { int i = 0; while (i < n) i++; return i; }", encoding="utf-8")
    assert labels(file, 10.0) == {"exact": 1}
    file.write_text("int f(", encoding="utf-8")
    assert labels(file, 10.0) == {"unread": 1}


def test_the_statement_of_the_recipe_meets_every_match() -> None:
    """Each module that takes statements apart is named in the recipe, or takes apart those of one kind only."""
    union = re.findall(r"^Statement = (.*)$", (ROOT / "src/loopless/flowgraph/model.py").read_text(), re.MULTILINE)
    assert "Expire" in union[0].split(" | ")
    modules = {
        path.relative_to(ROOT / "src" / "loopless").as_posix()
        for path in (ROOT / "src" / "loopless").rglob("*.py")
        if re.search(r"\bcase [^:]*\bExpire\(", path.read_text(encoding="utf-8"))
    }
    assert modules
    assert {name for name in modules if f"`{name}`" not in RECIPES["a new statement"]} == set()


@pytest.mark.parametrize("title", RECIPES)
def test_files_that_a_recipe_names_exist(title: str) -> None:
    named = re.findall(r"`((?:\w+/)*\w+\.(?:py|md|json))`", RECIPES[title])
    folders = [ROOT, ROOT / "src" / "loopless", *(ROOT / "src" / "loopless").glob("*/")]
    missing = {name for name in named if not any((folder / name).exists() for folder in folders)}
    assert {Path(name).name for name in missing} <= NEW


def test_there_are_four_recipes() -> None:
    assert list(RECIPES) == ["a new method", "a new statement", "a new format", "a new suite"]
