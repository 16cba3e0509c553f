"""Case files: sources, commands about them and what these print, each in one file that ``--update-cases`` rewrites.

``tests/cases/README.md`` says how such a file looks.
"""

from __future__ import annotations

import difflib
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

CASES = Path(__file__).resolve().parents[1] / "cases"
OPTION = "--update-cases"
_FILE, _NATIVE, _SESSION = "--- file ", "--- native", "--- session"
_PROMPT, _ERROR, _STATUS = "$ ", "stderr: ", "status: "

Run = Callable[[Sequence[str], Path], "subprocess.CompletedProcess[str]"]
"""Runs ``loopless`` with these words in a folder."""


class MalformedError(ValueError):
    """A case file that is not written as the page says: one sentence with the line."""


class DifferentError(AssertionError):
    """What a command prints, or a native run, is not what the file says."""


@dataclass(frozen=True, slots=True)
class Printed:
    """What one command prints on both streams, and its exit status."""

    line: str
    out: tuple[str, ...] = ()
    err: tuple[str, ...] = ()
    status: int = 0

    def text(self) -> str:
        """The command and its output as a session shows them."""
        status = [f"{_STATUS}{self.status}"] if self.status else []
        return "\n".join([_PROMPT + self.line, *self.out, *(_ERROR + line for line in self.err), *status]) + "\n"


@dataclass(frozen=True, slots=True)
class Case:
    """A case file: ``head`` is its text up to the session, which an update keeps to the byte."""

    name: str
    head: str
    why: tuple[str, ...]
    files: dict[str, str]
    native: str | None
    session: tuple[Printed, ...]


def session_text(session: Sequence[Printed]) -> str:
    """The part of a case file that an update writes: a blank line stands between commands."""
    return "\n".join(one.text() for one in session)


# -- reading ----------------------------------------------------------------------------------------------------------


def read_case(path: Path) -> Case:
    """The case in a file; raises :class:`MalformedError`."""
    return _Reader(path.name, path.read_text(encoding="utf-8").split("\n")).case(path.stem)


@dataclass(slots=True)
class _Reader:
    file: str
    lines: list[str]
    why: list[str] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    native: str | None = None

    def case(self, name: str) -> Case:
        starts = [number for number, line in enumerate(self.lines) if line.startswith("--- ")]
        self._facts(starts[0] if starts else len(self.lines))
        for start, end in zip(starts, [*starts[1:], len(self.lines)], strict=True):
            if self.lines[start] == _SESSION:
                if end != len(self.lines):
                    raise self._wrong(end, "no part may follow the session")
                head = "".join(line + "\n" for line in self.lines[: start + 1])
                return Case(name, head, tuple(self.why), self.files, self.native, self._session(start + 1))
            self._part(start, "".join(line + "\n" for line in self.lines[start + 1 : end]))
        raise self._wrong(len(self.lines) - 1, f"the line '{_SESSION}' is missing, below which the commands stand")

    def _wrong(self, number: int, what: str) -> MalformedError:
        return MalformedError(f"{self.file}:{number + 1}: {what}")

    def _facts(self, end: int) -> None:
        """The lines before the first part: what the case shows, and why its output is right."""
        if not self.lines[0].strip() or self.lines[0].startswith(("why:", "--- ")):
            raise self._wrong(0, "the first line must say what the case shows")
        for number in range(1, end):
            line = self.lines[number]
            if line.startswith("why: "):
                self.why.append(line.removeprefix("why: "))
            elif line.startswith("  ") and self.why:
                self.why[-1] += " " + line.strip()
            elif line.strip():
                raise self._wrong(
                    number, "before the first part only lines 'why: ...' may stand, continued by two spaces"
                )
        if not "".join(self.why).strip():
            raise self._wrong(0, "a line 'why: ...' is missing, with the reasoning behind the output")

    def _part(self, number: int, text: str) -> None:
        line = self.lines[number]
        name = line.removeprefix(_FILE)
        if line == _NATIVE and self.native is None:
            self.native = text
        elif line.startswith(_FILE) and re.fullmatch(r"\w[\w.-]*", name) and name not in self.files:
            self.files[name] = text
        else:
            raise self._wrong(
                number,
                f"a part begins with '{_FILE}NAME' (a new name, without folders), '{_NATIVE}' once, or '{_SESSION}'",
            )

    def _session(self, start: int) -> tuple[Printed, ...]:
        prompts = [number for number in range(start, len(self.lines)) if self.lines[number].startswith(_PROMPT)]
        if not prompts or any(line.strip() for line in self.lines[start : prompts[0]]):
            raise self._wrong(start - 1, f"a session begins with a command: '{_PROMPT}loopless ...'")
        # Between commands stands a blank line; what follows the last line break of the file is none.
        ends = [number - (not self.lines[number - 1]) for number in prompts[1:]]
        ends.append(len(self.lines) - (not self.lines[-1]))
        return tuple(self._printed(number, end) for number, end in zip(prompts, ends, strict=True))

    def _printed(self, start: int, end: int) -> Printed:
        line = self.lines[start].removeprefix(_PROMPT)
        try:
            words = shlex.split(line)
        except ValueError as wrong:
            raise self._wrong(start, f"the command cannot be split into words: {wrong}") from None
        if words[:1] != ["loopless"]:
            raise self._wrong(start, "a session has commands of loopless only")
        out, err, status = [], [], 0
        for number in range(start + 1, end):
            line_ = self.lines[number]
            if status:
                raise self._wrong(number, "nothing may follow the status of a command")
            if line_.startswith(_STATUS):
                if not re.fullmatch(r"[1-9][0-9]*", line_.removeprefix(_STATUS)):
                    raise self._wrong(number, "a status is a number, and 0 is not written")
                status = int(line_.removeprefix(_STATUS))
            elif line_.startswith(_ERROR):
                err.append(line_.removeprefix(_ERROR))
            elif err:
                raise self._wrong(number, "standard output stands before standard error")
            else:
                out.append(line_)
        return Printed(line, tuple(out), tuple(err), status)


# -- running ----------------------------------------------------------------------------------------------------------


def neutral(text: str, folder: Path) -> str:
    """The text without what differs between two runs: times, and the folder of the sources."""
    text = text.replace(str(folder), "FOLDER")
    return re.sub(r"\b\d+\.\d+ ?(ms|s|seconds)\b", r"N \1", text)


def printed(case: Case, run: Run, folder: Path) -> tuple[Printed, ...]:
    """What the commands of a case print today."""
    for name, text in case.files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return tuple(_asked(case, one.line, run, folder) for one in case.session)


def _asked(case: Case, line: str, run: Run, folder: Path) -> Printed:
    done = run(shlex.split(line)[1:], folder)
    out, err = (tuple(neutral(text, folder).splitlines()) for text in (done.stdout, done.stderr))
    if any(text.startswith((_PROMPT, _ERROR, _STATUS, "--- ")) for text in out):
        raise MalformedError(f"{case.name}: the output of '{line}' has lines that mean something else in a case file")
    return Printed(line, out, err, done.returncode)


def native_lines(case: Case, folder: Path) -> list[str]:
    """What the native program of a case prints, compiled beside its sources: undefined behaviour ends it."""
    assert case.native is not None
    (folder / "native_main.c").write_text(case.native, encoding="utf-8")
    compiler = [sys.executable, "-m", "ziglang", "cc", "-fsanitize=undefined", "-fsanitize-trap=undefined"]
    lines: list[str] = []
    for command in ([*compiler, "native_main.c", "-o", "native_main"], [str(folder / "native_main")]):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise DifferentError(f"{case.name}: the native program ends with status {done.returncode}: {done.stderr}")
        lines = done.stdout.splitlines()
    if not any(line.strip() for line in lines):
        raise DifferentError(f"{case.name}: the native program prints nothing that could be compared")
    return lines


def judge_natively(case: Case, session: Sequence[Printed], folder: Path) -> None:
    """Each line of the native program stands in the output, not inside a longer word or number."""
    text = session_text([Printed("", one.out, one.err) for one in session])
    for line in native_lines(case, folder):
        if not re.search(rf"(?<![\w-]){re.escape(line)}(?!\w)", text):
            raise DifferentError(f"{case.name}: the native program prints '{line}', but no command does:\n{text}")


def judge_case(path: Path, run: Run, folder: Path, *, update: bool = False) -> None:
    """Compare a case with what is printed today; with ``update`` write that into the file.

    An update raises :class:`DifferentError`, too: a person has to look at what it wrote, and no run of tests passes by it.
    """
    case = read_case(path)
    now = printed(case, run, folder)
    if case.native is not None:
        judge_natively(case, now, folder)
    before, after = session_text(case.session), session_text(now)
    if before == after:
        return
    lines = before.splitlines(keepends=True), after.splitlines(keepends=True)
    diff = "".join(difflib.unified_diff(*lines, fromfile="in the file", tofile="printed now"))
    if not update:
        raise DifferentError(f"{path.name}: other output than in the file (`pytest {OPTION}` rewrites it):\n{diff}")
    path.write_text(case.head + after, encoding="utf-8")
    why = "\n".join(f"  why: {line}" for line in case.why)
    raise DifferentError(f"{path.name}: rewritten. Check by hand that the reasons still fit the output:\n{why}\n{diff}")
