"""The same question gives the same answer, whatever else the machine does: limits count work, not time by the wall."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from determinism import asked, busy

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
BUSY = min(16, 4 * (os.cpu_count() or 1))

QUESTIONS = {
    "loops": ("loops", EXAMPLES / "cba" / "eqcnt.c"),
    # The work on its outer loop is half a second or one, which takes longer than the limit where others work, too.
    "summarize": ("summarize", EXAMPLES / "cases" / "triangle.c", "--loop-timeout", "2.5"),
    "bound": ("bound", EXAMPLES / "looperman" / "fig3.c"),
    "verify": ("verify", EXAMPLES / "verify" / "two_counters.c"),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_busy_machine_gives_the_same_answer(name: str) -> None:
    command, file, *options = QUESTIONS[name]
    alone = asked(command, file, options)
    assert "loops" in alone or "verdict" in alone
    assert "cut by" not in json.dumps(alone)
    with busy(BUSY):
        assert asked(command, file, options) == alone
