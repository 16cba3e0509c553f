"""Answers are printed as they are found: what is slow keeps back only what comes after it."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest

from loopless.cli import colour

SOURCE = str(Path(__file__).resolve().parent.parent.parent / "src")
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
# The work on the loop of line 6 is not done before there is a file called "go".
DRIVER = """
import sys, time
from pathlib import Path
import COMMAND as module
from loopless.cli import main

usual = module.FUNCTION

def slow(*given):
    while not Path("go").exists() and WAITS:
        time.sleep(0.02)
    return usual(*given)

module.FUNCTION = slow
sys.exit(main(sys.argv[1:]))
"""
OF_BOUNDS = ("loopless.queries.bounds.answering", "bound_function", "given[0].name == 'g'")
OF_TYPES = ("loopless.queries.loops.answers", "_classified", "given[0].loop.line == 6")
OF_SUMMARIES = ("loopless.queries.loops.answers", "summarize", "given[0].loop.line == 6")


class _Started:
    """The command at work, its standard error a terminal."""

    def __init__(self, folder: Path, slow: tuple[str, str, str], *words: str) -> None:
        (folder / "program.c").write_text(PROGRAM, encoding="utf-8")
        module, function, when = slow
        text = DRIVER.replace("COMMAND", module).replace("FUNCTION", function).replace("WAITS", when)
        (folder / "driver.py").write_text(text, encoding="utf-8")
        self.terminal, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "driver.py", *words],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": SOURCE, "TERM": "xterm", "NO_COLOR": "1"},
            stdout=subprocess.PIPE,
            stderr=theirs,
        )
        os.close(theirs)
        self.out = b""
        self.err = b""

    def __enter__(self) -> _Started:
        return self

    def __exit__(self, *_: object) -> None:
        with self.process:
            self.process.kill()
        os.close(self.terminal)

    def read(self, until: bytes = b"") -> str:
        """Standard output up to where ``until`` stands in it, else all."""
        assert self.process.stdout is not None
        pipes = [self.process.stdout.fileno(), self.terminal]
        while pipes and (not until or until not in self.out):
            ready, _, _ = select.select(pipes, [], [], 120)
            assert ready, f"nothing for two minutes: {self.err!r}"
            for pipe in ready:
                try:
                    read = os.read(pipe, 1 << 16)
                except OSError:  # a terminal that nobody has any more
                    read = b""
                if pipe == self.terminal:
                    self.err += read
                else:
                    self.out += read
                if not read:
                    pipes.remove(pipe)
        return self.out.decode()


def test_the_first_answer_does_not_wait_for_a_slow_one(tmp_path):
    with _Started(tmp_path, OF_SUMMARIES, "summarize", "program.c", "-j", "1") as started:
        first = started.read(until=b"program.c:f")
        assert first.startswith("program.c:f:2:5: exact, complete")
        assert "program.c:g" not in first
        (tmp_path / "go").touch()
        whole = started.read()
        assert started.process.wait(60) == 0
    assert [line.split(":")[1] for line in whole.splitlines() if line.startswith("program.c")] == ["f", "g", "h"]
    assert "\n\nprogram.c:g" in whole
    assert b"0 of 3 answered; working on f:2:5" in started.err


def test_the_first_bounds_do_not_wait_for_slow_ones(tmp_path):
    with _Started(tmp_path, OF_BOUNDS, "bound", "program.c", "-j", "1") as started:
        first = started.read(until=b"program.c:f")
        assert "program.c:g" not in first
        (tmp_path / "go").touch()
        names = [line.split(":")[1] for line in started.read().splitlines() if line.startswith("program.c")]
        assert (started.process.wait(60), names) == (0, ["f", "g", "h"])


def test_the_first_type_does_not_wait_for_a_slow_one(tmp_path):
    with _Started(tmp_path, OF_TYPES, "classify", "program.c", "-j", "1") as started:
        first = started.read(until=b"program.c:f")
        assert "program.c:g" not in first
        (tmp_path / "go").touch()
        whole = started.read()
        assert started.process.wait(60) == 0
    assert [line.split(":")[1] for line in whole.splitlines() if line.startswith("program.c:")] == ["f", "g", "h"]
    assert whole.splitlines()[-1].split() == ["program.c", "3", "3", "0", "0", "0", "0"]


CALLS = """int f(int n) { int i = 0; while (i < n) i++; return i; }
int g(int n) { int s = 0; for (int i = 0; i < n; i++) s ^= f(i); return s; }
int h(int n) { while (n > 0) if (n < 9) n--; return n; }
int k(int n) { int s = 0; for (int i = 0; i < n; i++) s ^= h(i); return s; }
"""
SAME = """
import sys
from dataclasses import replace
from pathlib import Path
from loopless.queries.bounds.answering import answer_bounds, bounds_as_found
from loopless.queries.program import load
from loopless.queries.settings import Settings
from loopless.report.bounds import bound_text

settings = Settings(workers=2)
functions = load(Path(sys.argv[1]), settings, inline=False).functions
found = dict(bounds_as_found(functions, "all", settings))
assert sorted(found) == [0, 1, 2, 3]
names = [loop.name for function in functions for loop in function.loops]
one, other = (bound_text(some, names, {}) for some in ([found[at] for at in range(4)], answer_bounds(functions, "all", settings)))
assert one == other, (one, other)
assert "calls of h need not return" in one and "calls of f" not in one
"""


def test_bounds_that_come_one_by_one_know_what_is_called(tmp_path):
    (tmp_path / "calls.c").write_text(CALLS, encoding="utf-8")
    command = [sys.executable, "-c", SAME, str(tmp_path / "calls.c")]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": SOURCE}, capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_an_interruption_leaves_what_was_found(tmp_path):
    with _Started(tmp_path, OF_SUMMARIES, "summarize", "program.c", "-j", "1") as started:
        started.read(until=b"program.c:f")
        started.process.send_signal(signal.SIGINT)
        found = started.read()
        assert started.process.wait(60) == 130
    assert found.startswith("program.c:f:2:5: exact, complete")
    assert "program.c:g" not in found
    assert b"interrupted: no answer about program.c:g:6:5, program.c:h:10:5" in started.err


@pytest.mark.parametrize(
    ("environment", "choice", "colours"),
    [
        ({}, "auto", False),
        ({}, "always", True),
        ({"NO_COLOR": "1"}, "always", True),
        ({"FORCE_COLOR": "1"}, "auto", True),
        ({"CLICOLOR_FORCE": "1"}, "auto", True),
        ({"CLICOLOR_FORCE": "0"}, "auto", False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, "auto", False),
        ({"FORCE_COLOR": "1"}, "never", False),
    ],
)
def test_when_there_are_colours(environment, choice, colours, monkeypatch, capsys):
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    colour.show("a.c:f:2:5: exact, complete\n  when x < n", choice)
    shown = capsys.readouterr().out
    assert ("\x1b[32mexact\x1b[0m" in shown) is colours
    assert click.unstyle(shown) == "a.c:f:2:5: exact, complete\n  when x < n\n"
