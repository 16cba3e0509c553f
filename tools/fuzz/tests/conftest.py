"""Running the command as people do: in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SOURCES = os.pathsep.join(str(ROOT / folder) for folder in ("src", "tools/fuzz/src"))

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def environment() -> dict[str, str]:
    """Of a process that runs the packages as they are in this repository."""
    return {**os.environ, "PYTHONPATH": SOURCES}


@pytest.fixture(scope="session")
def run(environment: dict[str, str]) -> Command:
    """Runs ``loopless-fuzz WORDS`` in the folder of the repository."""

    def command(*words: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "loopless_fuzz", *map(str, words)],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )

    return command
