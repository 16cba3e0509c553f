"""The branches that written tests take by gcov's count, for ``bench/cover.py --gcov``.

Each test is written as ``loopless reach --cover --write-test`` writes it, compiled by the command that stands in it, without
optimization and with ``--coverage``, and run. What gcov counts are the outcomes of the conditional jumps that the compiler
made of the function, so their number is not that of the sides that Loopless has.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from loopless.errors import UsageError
from loopless.queries.call_values.surroundings import surroundings
from loopless.queries.reach.coverage import CoveringTest
from loopless.queries.settings import Settings
from loopless.report.reach_tests import c_test

RUN_S = 20.0
"""Seconds for the run of one test."""


def branches_taken(tests: Sequence[CoveringTest], file: Path, function: str, settings: Settings) -> str:
    """``taken/all`` branches of the function, and how many tests could not be counted (not C, or no end by themselves)."""
    counts: dict[tuple[int, int], int] = {}
    lost = 0
    program = surroundings([file], function, settings.source)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for number, test in enumerate(tests):
            try:
                text = c_test(test.inputs, "Counted by gcov.", program, folder, f"test{number}")
            except UsageError:
                lost += 1
                continue
            (folder / f"test{number}.c").write_text(text, encoding="utf-8")
            found = _counted(text, folder, f"test{number}", function)
            lost += not found
            for place, count in found.items():
                counts[place] = counts.get(place, 0) + count
    words = f"{sum(count > 0 for count in counts.values())}/{len(counts)}"
    return words if not lost else f"{words}, {lost} tests not counted"


def _counted(text: str, folder: Path, name: str, function: str) -> dict[tuple[int, int], int]:
    """By line and number how often each branch of the function was taken; nothing where the test leaves no count."""
    command = " ".join(re.split(r"\s+", text.partition("In this folder: ")[2].partition(" && ")[0]))
    built = [*shlex.split(command), "-O0", "-g", "-w", "--coverage"]
    try:
        subprocess.run(built, cwd=folder, capture_output=True, check=True)
        subprocess.run([f"./{name}"], cwd=folder, capture_output=True, check=False, timeout=RUN_S)
        data = sorted(one.name for one in folder.glob("*.gcda"))
        shown = subprocess.run(
            ["gcov", "--json-format", "--stdout", "-b", *data], cwd=folder, capture_output=True, text=True, check=False
        )
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
        return {}
    counts: dict[tuple[int, int], int] = {}
    for line in shown.stdout.splitlines():
        for source in json.loads(line)["files"]:
            for one in source["lines"]:
                if one.get("function_name") == function:
                    for number, branch in enumerate(one["branches"]):
                        counts[one["line_number"], number] = (
                            counts.get((one["line_number"], number), 0) + branch["count"]
                        )
    for one in folder.glob("*.gcda"):
        one.unlink()
    return counts
