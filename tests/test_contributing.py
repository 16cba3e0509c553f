"""The recipes of CONTRIBUTING.md work, and the files that they name exist."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from answers_in_c import answers
from bounds_in_c import bounds_by
from counted import judge_calls
from loopless.bounds.methods import looperman
from loopless.bounds.portfolio import METHODS
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


MASKED = "unsigned f(unsigned x, unsigned y) { unsigned n = 0; while (x) { x = x & y & (x - 1); n++; } return n; }"
NOT_FOLLOWED = """unsigned f(unsigned x, unsigned y) {
    for (unsigned c = 0;;) {
        if (x) { x = x & (x - 1); continue; }
        for (unsigned z = (y + c) | 2; z > 1; c++) z = z % 2 ? 3 * z + 1 : z / 2;
        if (c > 3000) return c;
        x = 513;
    }
}"""
SEVERAL = """unsigned f(unsigned x, unsigned y, unsigned char i, unsigned char n) {
    while (x) x = x & y & (x - 1);
    while (i < n) { i++; n = n * 3 ^ i; }
    return i;
}"""


def test_the_method_of_the_recipe_gives_bounds_that_are_right() -> None:
    method = written("a new method")["METHOD"]
    found = bounds_by((looperman.METHOD, method), MASKED)
    (loop,), (before,) = found.loops.values(), bounds_by((looperman.METHOD,), MASKED).loops.values()
    assert method.name in {bound.method for bound in loop.per_entry}
    assert method.name not in {bound.method for bound in before.per_entry}
    rows = [(x, y) for x in (0, 1, 255, 0x5555, 2**32 - 1) for y in (0, 1, 255, 2**32 - 1)]
    counted = judge_calls(graph(MASKED), rows, bounds=found)
    assert counted.compared >= len(rows)
    assert counted.longest == 32


def test_the_method_of_the_recipe_knows_what_paths_lack() -> None:
    """The way through the inner loop, which has no summary, sets bits again: the outer loop takes 127 iterations."""
    found = bounds_by((looperman.METHOD, written("a new method")["METHOD"]), NOT_FOLLOWED)
    judge_calls(graph(NOT_FOLLOWED), [(1, 27)], bounds=found)
    assert all(not loop.total for loop in found.loops.values())


def test_the_method_of_the_recipe_passes_on_what_is_known() -> None:
    method = written("a new method")["METHOD"]
    before, after = bounds_by(METHODS, SEVERAL), bounds_by((*METHODS, method), SEVERAL)
    assert after.in_call == before.in_call
    assert after.in_call.loops
    for name, loop in before.loops.items():
        assert set(loop.per_entry) <= set(after.loops[name].per_entry)
        assert set(loop.total) <= set(after.loops[name].total)
    assert {"linear ranking", method.name} <= {b.method for loop in after.loops.values() for b in loop.per_entry}


def test_the_format_of_the_recipe_has_a_row_for_each_loop() -> None:
    row = written("a new format")["row"]
    source = "int f(int n, int *a) { int i = 0; while (i < n) i++; while (a[a[i] & 7]) a[a[i++] & 7]--; return i; }"
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
