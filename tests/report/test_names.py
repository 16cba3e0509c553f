"""First times that stand in a case more than once get names there, and are told below it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SOURCE = "int f(int n, int N, int c) { while (n > N) { n /= 10; c++; } return c; }"


def test_a_long_first_time_is_told_once(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text(SOURCE)
    words = ["summarize", str(file), "--loop-timeout", "120"]
    done = subprocess.run([sys.executable, "-m", "loopless", *words], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    told = [line.split(" = ", 1) for line in lines if line.startswith("    where ")]
    assert told
    for name, meaning in told:
        assert name.removeprefix("    where ") != "N", "a variable has this name"
        assert meaning.startswith("least(")
    for at, line in enumerate(lines):
        if line.startswith("    M iterations"):
            below = lines[at:]
            assert any(other.startswith("    where M = least(") for other in below)
            assert "least(" not in line
