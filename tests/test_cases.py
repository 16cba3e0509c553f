"""What commands print about the sources in ``tests/cases`` is what these files say, and a native run agrees.

All cases together may take more than ten seconds, but they are not marked slow: each stands for itself, and a run of
one in twelve of them would pass over most texts.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from case_files import CASES, DifferentError, MalformedError, judge_case
from command import run_command, run_forked

FILES = sorted(CASES.glob("*.case"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_commands_print_what_the_case_says(file: Path, tmp_path: Path, pytestconfig: pytest.Config) -> None:
    try:
        judge_case(file, run_forked, tmp_path, update=pytestconfig.getoption("--update-cases"))
    except (DifferentError, MalformedError) as wrong:
        pytest.fail(str(wrong), pytrace=False)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
@pytest.mark.slow
def test_processes_that_start_anew_print_it_too(file: Path, tmp_path: Path) -> None:
    judge_case(file, lambda words, folder: run_command(*words, cwd=folder), tmp_path)
