"""The examples on the page of refusals are refused for the reason that they are examples of."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from loopless.report.explanations import explain

ABOUT_LOOPS = ("L101", "L102", "L105", "L106", "L202", "L203", "L204", "L205", "L206", "L207", "L301")


@pytest.mark.parametrize("code", ABOUT_LOOPS)
def test_an_example_is_refused_for_its_reason(code: str, tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text(explain(code).example)
    words = ["summarize", str(file), "--format", "json", "--loop-timeout", "120", "--unknown-ok"]
    done = subprocess.run([sys.executable, "-m", "loopless", *words], capture_output=True, text=True, check=True)
    loops = json.loads(done.stdout)["loops"]
    given = {loop["refused"]["code"] for loop in loops if loop["refused"] is not None}
    left = {part["code"] for loop in loops for part in loop["residual"]}
    assert code in given | left
