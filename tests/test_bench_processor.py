"""The processor time of commands, with that of processes that they leave behind."""

from __future__ import annotations

import math
import subprocess
import sys

import processor

BURN = "import time; until = time.process_time() + 0.4\nwhile time.process_time() < until: pass"


def test_what_a_process_takes_that_nobody_waits_for_counts() -> None:
    left = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {BURN!r}])"
    done, seconds = processor.measured([sys.executable, "-c", left], capture_output=True)
    assert done.returncode == 0
    if sys.platform == "linux":
        assert seconds >= 0.4


def test_the_output_and_the_status_are_those_of_the_command() -> None:
    line = [sys.executable, "-c", "import sys; print('told'); print('wrong', file=sys.stderr); sys.exit(3)"]
    done, seconds = processor.measured(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert (done.stdout, done.stderr, done.returncode) == ("told\n", "wrong\n", 3)
    assert 0 < seconds < 5


def test_a_command_that_is_not_there_has_no_time() -> None:
    done, seconds = processor.measured(["/no/such/command"], capture_output=True)
    assert done.returncode != 0
    assert math.isnan(seconds)
