"""Running the command as users do: in a process of its own."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import loopless
from command import run_command

SCHEMA = json.loads((Path(loopless.__file__).parent / "report" / "schema.json").read_text(encoding="utf-8"))

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def run() -> Command:
    """Runs ``loopless WORDS`` in the folder ``cwd`` (default: that of the repository)."""
    return run_command


@pytest.fixture(scope="session")
def answer(run: Command) -> Callable[..., tuple[int, dict[str, Any]]]:
    """The exit status and the JSON answer of a command; its standard output must be that answer and nothing else."""

    def command(*words: object, **how: Any) -> tuple[int, dict[str, Any]]:
        flags = words.index("--") if "--" in words else len(words)
        done = run(*words[:flags], "--format", "json", *words[flags:], **how)
        document = json.loads(done.stdout)
        jsonschema.validate(document, SCHEMA)
        return done.returncode, document

    return command
