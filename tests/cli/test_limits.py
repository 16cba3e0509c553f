"""A loop whose work hangs inside an engine is refused by name; the other loops of the file are answered."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent.parent
PROGRAM = """int f(int x, int n) {
    while (x < n) x += 3;
    return x;
}
int g(int x, int n) {
    while (x < n) x += 5;
    return x;
}
int h(int x, int n) {
    while (x < n) x += 7;
    return x;
}
"""
# The work on the loop of line 6 is replaced by one call of an engine that does not return; all the rest is as it is.
DRIVER = """
import sys
from hard_cases import run_hard_query, run_hard_subtraction
import loopless.queries.loops.answers as answers
from loopless.cli import main

hard = {"isl": run_hard_subtraction, "z3": run_hard_query}[sys.argv[1]]
usual = answers.summarize

def summarize(paths):
    return hard() if paths.loop.line == 6 else usual(paths)

answers.summarize = summarize
sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.parametrize("engine", ["isl", "z3"])
@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.slow
def test_a_hanging_engine_costs_one_loop(tmp_path, engine, workers):
    (tmp_path / "program.c").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "driver.py").write_text(DRIVER, encoding="utf-8")
    words = ["summarize", "program.c", "--format", "json", "--loop-timeout", "4", "-j", workers]
    done = subprocess.run(
        [sys.executable, "driver.py", engine, *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS.parent / "src"), str(TESTS / "support")])},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 3, done.stderr
    first, blocked, last = json.loads(done.stdout)["loops"]
    assert (first["status"], first["complete"]) == (last["status"], last["complete"]) == ("exact", True)
    assert blocked["line"] == 6
    # What the limit ended is the search for something exact; paths and their counters are another question.
    assert (blocked["status"], blocked["complete"], blocked["cases"]) == ("over-approximate", False, [])
    assert [part["code"] for part in blocked["residual"]] == ["L302"]
    assert "4 s" in blocked["residual"][0]["detail"]
    assert "--loop-timeout" in blocked["residual"][0]["detail"]
    assert blocked["time_ms"] >= 4000
