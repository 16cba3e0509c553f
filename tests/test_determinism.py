"""The same question gives the same answer, whatever else the machine does: limits count work, not time by the wall."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
TIMES = ("time_ms", "tried")
"""Fields that say how long something took."""
BUSY = min(16, 4 * (os.cpu_count() or 1))

QUESTIONS = {
    "loops": ("loops", EXAMPLES / "cba" / "eqcnt.c"),
    # The work on its outer loop is half a second or one, which takes longer than the limit where others work, too.
    "summarize": ("summarize", EXAMPLES / "cases" / "triangle.c", "--loop-timeout", "2.5"),
    "bound": ("bound", EXAMPLES / "looperman" / "fig3.c"),
    "verify": ("verify", EXAMPLES / "verify" / "two_counters.c"),
}


@contextlib.contextmanager
def busy(count: int) -> Iterator[None]:
    """So many processes that work all the time."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_times(part) for key, part in value.items() if key not in TIMES}
    return [without_times(part) for part in value] if isinstance(value, list) else value


def answer(command: str, file: Path, *options: str) -> Any:
    line = [sys.executable, "-m", "loopless", command, str(file), "--format", "json", *options]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    return without_times(json.loads(done.stdout))


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_busy_machine_gives_the_same_answer(name: str) -> None:
    alone = answer(*QUESTIONS[name])
    assert "cut by" not in json.dumps(alone)
    with busy(BUSY):
        assert answer(*QUESTIONS[name]) == alone
