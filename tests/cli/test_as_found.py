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
OF_SUMMARIES = ("loopless.queries.answers", "summarize", "given[0].loop.line == 6")


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
        first = started.read(until=b"paths")
        assert first.startswith("program.c:f:2:5: exact, complete")
        assert "program.c:g" not in first
        (tmp_path / "go").touch()
        whole = started.read()
        assert started.process.wait(60) == 0
    assert [line.split(":")[1] for line in whole.splitlines() if line.startswith("program.c")] == ["f", "g", "h"]
    assert "\n\nprogram.c:g" in whole
    assert b"0 of 3 answered; working on f:2:5" in started.err


def test_an_interruption_leaves_what_was_found(tmp_path):
    with _Started(tmp_path, OF_SUMMARIES, "summarize", "program.c", "-j", "1") as started:
        started.read(until=b"paths")
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

