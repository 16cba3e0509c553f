"""The hard cases are hard, and the limits inside the process end them."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from hard_cases import hard_condition, hard_regions
from loopless import logic
from loopless.logic import SmtAnswer


def test_the_operation_budget_ends_a_hard_subtraction() -> None:
    everything, stripes = hard_regions()
    start = time.monotonic()
    with logic.budget(10_000), pytest.raises(logic.BudgetExceeded):
        everything - stripes
    assert time.monotonic() - start < 10
    assert not stripes.is_empty()


def test_the_limit_ends_a_hard_query() -> None:
    assert logic.satisfiable(hard_condition(), 100).answer is SmtAnswer.UNKNOWN


@pytest.mark.parametrize("engine", ["isl", "z3"])
@pytest.mark.slow
def test_without_limits_the_engine_is_still_busy_after_a_while(engine: str) -> None:
    script = Path(__file__).parents[1] / "support" / "hard_cases.py"
    child = subprocess.Popen(
        [sys.executable, str(script), engine],
        env={"PYTHONPATH": ":".join(sys.path)},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "started\n"
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(timeout=4)
    finally:
        child.kill()
        child.communicate()
