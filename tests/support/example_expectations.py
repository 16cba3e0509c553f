"""The ``// expect`` comments of ``examples/**/*.c``, as data. Their grammar is in ``examples/README.md``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

ENDINGS = ("undefined", "diverges", "assumption-failed", "error-reached")
"""How a run can end other than by returning, in the words of ``loopless eval``."""

_LOOPS = re.compile(r"loops (\w+) +(\d+)")
_LOOP_FACT = re.compile(r"(type|paths) (\w+):(\d+) +(\d+)")
_EVAL = re.compile(r"eval (\w+)\(([^()]*)\)(?: with (-?\d+(?:, *-?\d+)*))? -> (-?\d+|[a-z-]+)")
_ARGUMENT = re.compile(r"\s*(?:\[([-\d, ]*)\]|(-?\d+))\s*(?:,|$)")


@dataclass(frozen=True, slots=True)
class Loops:
    """A function has ``count`` loops."""

    file: Path
    function: str
    count: int


@dataclass(frozen=True, slots=True)
class LoopFact:
    """The ``index``-th loop of a function by source line, from 1, has this ``type`` or this number of ``paths``."""

    file: Path
    kind: str
    function: str
    index: int
    value: int


@dataclass(frozen=True, slots=True)
class Eval:
    """A call ends like this: ``result`` is the returned integer, or one of :data:`ENDINGS`."""

    file: Path
    line: int
    function: str
    args: tuple[int | tuple[int, ...], ...]
    inputs: tuple[int, ...]
    result: int | str


Expectation = Loops | LoopFact | Eval


class MalformedError(ValueError):
    """An ``// expect`` line that the grammar does not know."""


def _integers(text: str | None) -> tuple[int, ...]:
    return tuple(int(part) for part in (text or "").split(",") if part.strip())


def _arguments(text: str) -> tuple[int | tuple[int, ...], ...]:
    found: list[int | tuple[int, ...]] = []
    position = 0
    while position < len(text.rstrip()):
        match = _ARGUMENT.match(text, position)
        if match is None:
            raise MalformedError(f"no argument list: {text!r}")
        found.append(int(match[2]) if match[2] is not None else _integers(match[1]))
        position = match.end()
    return tuple(found)


def parse_line(file: Path, number: int, text: str) -> Expectation:
    """One expectation from the text after ``// expect``.

    Raises:
        MalformedError: if the line is not in the grammar.
    """
    if match := _LOOPS.fullmatch(text):
        return Loops(file, match[1], int(match[2]))
    if match := _LOOP_FACT.fullmatch(text):
        return LoopFact(file, match[1], match[2], int(match[3]), int(match[4]))
    if match := _EVAL.fullmatch(text):
        result = match[4]
        if result not in ENDINGS and not re.fullmatch(r"-?\d+", result):
            raise MalformedError(f"{file}:{number}: no such result: {result}")
        value = result if result in ENDINGS else int(result)
        return Eval(file, number, match[1], _arguments(match[2]), _integers(match[3]), value)
    raise MalformedError(f"{file}:{number}: not an expectation: {text}")


def example_files() -> list[Path]:
    """All example programs, in order."""
    return sorted(EXAMPLES.rglob("*.c"))


def expectations(file: Path) -> Iterator[Expectation]:
    """The expectations of one file, in order."""
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("// expect "):
            yield parse_line(file, number, line.removeprefix("// expect ").rstrip())
        elif "expect " in line and line.lstrip().startswith("//"):
            raise MalformedError(f"{file}:{number}: looks like an expectation, but does not start with '// expect '")
