"""``loopless-fuzz``: a table at the end, a log that is gone on with, an exit status."""

from __future__ import annotations

import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from loopless_fuzz.cli import command as described

Command = Callable[..., subprocess.CompletedProcess[str]]

SMALL = ("--profile", "single-path", "--only", "loops", "--states", 50, "--every", 0)


@pytest.mark.slow
def test_a_few_programs_and_the_log_is_gone_on_with(run: Command, tmp_path: Path) -> None:
    done = run(*SMALL, "--seed", 1, "--programs", 2, "--keep", tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("2 programs of single-path: 0 with a mismatch, 0 crashed, 0 met a limit\n")
    assert "| construct | loops | complete |" in done.stdout
    log = (tmp_path / "programs.jsonl").read_text()
    assert log.count("\n") == 2
    more = run(*SMALL, "--seed", 1, "--programs", 3, "--keep", tmp_path)
    assert more.returncode == 0
    assert more.stdout.startswith("3 programs of single-path")
    assert (tmp_path / "programs.jsonl").read_text().startswith(log)
    table = run(*SMALL, "--keep", tmp_path, "--report")
    assert table.returncode == 0
    assert table.stdout == more.stdout


@pytest.mark.slow
def test_a_wrong_answer_in_the_log_gives_status_one(run: Command, tmp_path: Path) -> None:
    run(*SMALL, "--seed", 1, "--programs", 1, "--keep", tmp_path)
    log = tmp_path / "programs.jsonl"
    log.write_text(log.read_text().replace('"mismatches": []', '"mismatches": [[{"n": 3}, "planted"]]', 1))
    done = run(*SMALL, "--keep", tmp_path, "--report")
    assert done.returncode == 1
    assert "1 with a mismatch" in done.stdout
    assert "loop {'n': 3}: planted" in done.stdout


def test_programs_that_read_data(run: Command) -> None:
    few = ("--states", 40, "--inputs", 4, "--every", 0)
    done = run("--only", "data", "--programs", 2, "--seed", 1, *few)
    assert done.returncode == 0, done.stdout
    assert done.stdout.startswith("2 programs of data: 0 with a mismatch, 0 crashed")
    assert "read-only-parameter" in done.stdout and "compared natively" in done.stdout


def test_functions_are_called(run: Command) -> None:
    done = run("--profile", "composed", "--only", "functions", "--programs", 2, "--seed", 1, "--inputs", 5)
    assert done.returncode == 0, done.stdout
    assert "| construct | functions | complete |" in done.stdout
    assert "calls, " in done.stdout


def test_an_interrupt_ends_with_the_table(environment: dict[str, str], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "loopless_fuzz", *map(str, SMALL), "--keep", str(tmp_path)]
    # Tests in the background of a shell ignore interrupts, and what they start would, too.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as child:
        signal.signal(signal.SIGINT, before)
        try:
            ends = time.monotonic() + 120
            while not (tmp_path / "programs.jsonl").exists() and time.monotonic() < ends:
                time.sleep(0.1)
            child.send_signal(signal.SIGINT)
            out, error = child.communicate(timeout=60)
        finally:
            child.kill()
    assert child.returncode == 0, error
    assert " of single-path: 0 with a mismatch" in out
    assert "Traceback" not in error


def test_time_ends_it(run: Command) -> None:
    done = run(*SMALL, "--seconds", 0.01)
    assert done.returncode == 0
    assert " with a mismatch" in done.stdout


def test_bad_usage(run: Command, tmp_path: Path) -> None:
    unknown = run("--profile", "no-such")
    assert unknown.returncode == 2
    assert "there is no profile no-such; take one of everything," in unknown.stderr
    (tmp_path / "programs.jsonl").write_text("no row\n\n")
    assert run("--keep", tmp_path, "--report").returncode == 2
    assert run("-j", 0).returncode == 2


def refused(done: subprocess.CompletedProcess[str], *words: str) -> None:
    """Refused in one sentence with these words."""
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done
    assert done.stderr.startswith("loopless-fuzz: ")
    assert all(word in done.stderr for word in words), done.stderr


@pytest.mark.slow
def test_the_folder_of_a_campaign(run: Command, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    small = ("--programs", 1, "--only", "loops", "--profile", "single-path", "--every", 0, "--states", 20)
    refused(run(*small, "--keep", tmp_path / "file" / "below"), "--keep", "below")
    refused(run("--report"), "--keep")
    refused(run("--report", "--keep", tmp_path / "nosuch"), "nothing to report", "nosuch")
    refused(run("--format", "json"), "--format", "(see loopless-fuzz --help)")
    done = run(*small, "--loop-timeout", 0.001)
    assert done.returncode == 0
    assert done.stdout.startswith("1 program of single-path: 0 with a mismatch, 0 crashed, 1 met a limit\n")
    assert "\n1 loop, " in done.stdout
    assert "limit" in done.stdout.split("status: ")[1].splitlines()[0]


def test_the_version(run: Command) -> None:
    assert re.fullmatch(r"loopless-fuzz [\d.]+\n", run("--version").stdout)


EXAMPLES = re.findall(r"^ *loopless-fuzz (.*)$", described.help or "", re.MULTILINE)


def test_the_help_has_examples() -> None:
    assert len(EXAMPLES) > 5


@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.slow
def test_the_examples_of_the_help_work(run: Command, example: str) -> None:
    done = run(*shlex.split(example))
    assert done.returncode == 0, done.stderr
    assert " with a mismatch" in done.stdout
