"""What the pages show of the Python interface is what it gives."""

from __future__ import annotations

import ast
import doctest
import re
from pathlib import Path
from typing import Any

import pytest

import loopless

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOK = ROOT / "examples" / "notebook.py"
_SHOWN = re.compile(r"^(?P<line>\S.*?)  # -> (?P<value>.+)$")


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize(("page", "least"), [("docs/python.md", 40), ("README.md", 6)])
def test_the_examples_of_a_page_give_what_it_shows(page: str, least: int) -> None:
    failed, tried = doctest.testfile(str(ROOT / page), module_relative=False, encoding="utf-8")
    assert failed == 0
    assert tried >= least


def values_of(text: str) -> tuple[list[tuple[str, Any, Any]], list[Any]]:
    """The lines of a notebook that show a value, with what they show and what they give; what ends each cell."""
    lines, names = text.splitlines(), {"__name__": "__main__"}
    shown, ends = [], []
    body = ast.parse(text).body
    for at, statement in enumerate(body):
        if not isinstance(statement, ast.Expr):
            exec(compile(ast.Module([statement], []), "notebook", "exec"), names)
            continue
        value = eval(compile(ast.Expression(statement.value), "notebook", "eval"), names)
        assert statement.end_lineno is not None
        match = _SHOWN.match(lines[statement.end_lineno - 1])
        if match is not None:
            shown.append((match["line"], value, ast.literal_eval(match["value"])))
        else:
            until = body[at + 1].lineno if at + 1 < len(body) else len(lines) + 1
            between = lines[statement.end_lineno : until - 1]
            assert not between or any(line.startswith("# %%") for line in between), lines[statement.end_lineno - 1]
            ends.append(value)
    return shown, ends


def test_the_notebook_gives_what_it_shows() -> None:
    text = NOTEBOOK.read_text(encoding="utf-8")
    shown, ends = values_of(text)
    assert len(shown) == text.count("# -> ") >= 12
    for line, value, said in shown:
        assert value == said, line
    kinds = [loopless.Program, loopless.LoopBound, loopless.LoopAnswer, loopless.LoopAnswer, loopless.Refused]
    assert [type(value) for value in ends[:4]] == kinds[:4]
    assert isinstance(ends[4], loopless.Refused)
    assert all(value._repr_html_() or value._repr_svg_() for value in ends)


def test_a_wrong_value_in_a_notebook_would_be_seen() -> None:
    ((_, value, said),), _ = values_of("1 + 1  # -> 3\n")
    assert value != said
