"""Helpers for the tests of ``loopless.source``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from loopless.source import SourceOptions, SourceProgram, load

Write = Callable[[str, str], Path]
Read = Callable[..., SourceProgram]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file below the test's directory and give its path."""

    def do(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return do


@pytest.fixture
def read(write: Write) -> Read:
    """Load a program of one file, C unless ``name`` says otherwise."""

    def do(text: str, name: str = "t.c", **options: object) -> SourceProgram:
        return load(write(name, text), SourceOptions(**options))  # type: ignore[arg-type]

    return do
