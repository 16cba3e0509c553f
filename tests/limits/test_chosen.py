"""Limits stand in one place, say what they were chosen by, and can be varied."""

from __future__ import annotations

import ast
import importlib
import os
import subprocess
import sys
import typing
from pathlib import Path

import pytest

import loopless
from loopless import limits
from loopless.limits.chosen import ChosenBy

PACKAGE = Path(loopless.__file__).parent
MODULES = sorted(path for path in Path(limits.__file__).parent.glob("*.py") if path.stem not in ("__init__", "chosen"))


def wrong_limits(text: str) -> list[str]:
    """The statements of a module of limits that are no limits with a literal value, a reason and a text."""
    body = ast.parse(text).body[1:]
    wrong = []
    for statement, after in zip(body, [*body[1:], None], strict=True):
        match statement:
            case ast.ImportFrom() | ast.Expr(value=ast.Constant(value=str())):
                continue
            case ast.Expr(value=ast.Call(func=ast.Name(id="varied"))) if after is None:
                continue
            case ast.AnnAssign(annotation=ast.Subscript(value=ast.Name(id="Annotated")), value=value) if isinstance(
                value, ast.Constant | ast.UnaryOp | ast.BinOp
            ) and not list(_names(value)):
                if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                    continue
        wrong.append(ast.unparse(statement))
    return wrong


def _names(value: ast.expr) -> list[ast.Name]:
    return [node for node in ast.walk(value) if isinstance(node, ast.Name)]


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.stem)
def test_each_limit_has_a_value_a_reason_and_a_text(module: Path) -> None:
    assert wrong_limits(module.read_text()) == []
    loaded = importlib.import_module(f"loopless.limits.{module.stem}")
    for name, annotation in typing.get_type_hints(loaded, include_extras=True).items():
        kind, reason = typing.get_args(annotation)
        assert kind in (int, float), name
        assert isinstance(reason, ChosenBy), name
        assert reason.reason, name
        assert isinstance(getattr(loaded, name), kind), name


@pytest.mark.parametrize(
    "text",
    [
        '"""M."""\nA: Annotated[int, GUESS] = 3\n',
        '"""M."""\nA: int = 3\n"""T."""\n',
        '"""M."""\nA: Annotated[int, GUESS] = B\n"""T."""\n',
        '"""M."""\nA = 3\n"""T."""\n',
    ],
    ids=["no-text", "no-reason", "not-literal", "not-typed"],
)
def test_other_statements_are_found(text: str) -> None:
    assert wrong_limits(text)


def _varied(assignment: str, expression: str) -> subprocess.CompletedProcess[str]:
    code = f"import loopless.limits.automaton as limits; print({expression})"
    environment = {**os.environ, "LOOPLESS_LIMITS": assignment}
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False, timeout=60
    )


def test_a_sweep_gives_other_values() -> None:
    found = _varied("automaton.MAX_COMPONENT=9, automaton.MAX_PATHS=1_000", "limits.MAX_PATHS, limits.MAX_PREFIX")
    assert found.stdout == "1000 8\n"


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("automaton.MAX_PATH=9", "LOOPLESS_LIMITS sets automaton.MAX_PATH, which is no limit"),
        ("automaton.MAX_PATHS=many", "LOOPLESS_LIMITS gives automaton.MAX_PATHS the value 'many', which is no int"),
        ("automata.MAX_PATHS=9", "LOOPLESS_LIMITS sets automata.MAX_PATHS; no module of limits is called 'automata'"),
    ],
)
def test_what_is_no_limit_is_said(assignment: str, message: str) -> None:
    found = _varied(assignment, "1")
    assert found.returncode != 0
    assert message in found.stderr
