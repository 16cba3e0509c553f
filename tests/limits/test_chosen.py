"""Limits stand in one place, say what they were chosen by, and can be varied."""

from __future__ import annotations

import ast
import importlib
import os
import subprocess
import sys
import typing
from itertools import pairwise
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


MOVED = (
    *(
        "automaton",
        "check",
        "cli",
        "interface",
        "logic",
        "paths",
        "project",
        "recurrences",
        "report",
        "source",
        "summary",
        "terms",
    ),
    *("clock.py", "errors.py", "graphs.py", "metering.py", "portfolio.py", "refusals.py", "stepping.py"),
)
"""Packages and modules beside them whose guessed limits are all in ``limits``."""


def guessed(text: str) -> list[str]:
    """The numbers of a module whose text calls them a guess."""
    body = ast.parse(text).body
    found = []
    for statement, after in pairwise(body):
        match statement, after:
            case (
                ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=ast.expr() as value),
                ast.Expr(value=ast.Constant(value=str(said))),
            ) if _is_number(value, several=isinstance(target, ast.Tuple)) and "guess" in said.lower():
                found.append(ast.unparse(target))
    return found


def _is_number(value: ast.expr, *, several: bool = False) -> bool:
    match value:
        case ast.Tuple(elts=values):
            return several and any(map(_is_number, values))
        case ast.BinOp(left=left, right=right):
            return _is_number(left) and _is_number(right)
        case ast.UnaryOp(operand=operand):
            return _is_number(operand)
        case ast.Constant(value=number):
            return isinstance(number, int | float) and not isinstance(number, bool)
        case _:
            return isinstance(value, ast.Name | ast.Attribute)


@pytest.mark.parametrize("where", MOVED)
def test_no_module_elsewhere_calls_a_number_a_guess(where: str) -> None:
    place = PACKAGE / where
    modules = [place] if place.is_file() else sorted(place.rglob("*.py"))
    assert modules
    found = {str(module.relative_to(PACKAGE)): guessed(module.read_text()) for module in modules}
    assert {module: names for module, names in found.items() if names} == {}


def test_a_guess_is_found() -> None:
    text = 'A: Final = 1 << 3\n"""Most of it. A\nguess."""\nB = 2 * A\n"""A guess."""\nC = 5\n"""A width."""\n'
    assert guessed(text + 'D, E = 1, 2.5\n"""Guesses."""\nF = (1, 2)\n"""A guess."""\n') == ["A", "B", "(D, E)"]


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
