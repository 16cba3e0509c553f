"""What a campaign notes of each program: plain data, one JSON line a program."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from loopless.errors import UsageError

Counts = dict[str, int]
State = dict[str, int | list[int]]
"""A state at a header: variables by their names, and as ``a[]`` the bytes of an object ``a`` that is read there."""


@dataclass(slots=True)
class LoopRow:
    """One loop. ``status``: "complete", "entered" (complete for the states in which the program enters the loop, and no
    others), "residual" (a part of the states is not answered), "refused", or "limit".

    ``causes`` are codes and names of refusals, ``details`` their sentences. ``states`` were judged, ``compared`` of
    them with a run that ended; ``mismatches`` are states at the header with what is wrong. ``unjudged``: why the loop
    was not judged, or not to the end. ``writes``: of a loop that writes memory, how much its summary says of what that
    holds behind it ("exact", "partly", "lost", "refused"); ``memory``: how much of that was compared.
    """

    name: str
    depth: int = 1
    status: str = "limit"
    causes: list[str] = field(default_factory=list)
    details: list[str] = field(default_factory=list)
    paths: int = 0
    pieces: int = 0
    method: str = ""
    seconds: dict[str, float] = field(default_factory=dict)
    states: int = 0
    compared: int = 0
    regions: Counts = field(default_factory=dict)
    outcomes: Counts = field(default_factory=dict)
    memory: Counts = field(default_factory=dict)
    mismatches: list[tuple[State, str]] = field(default_factory=list)
    unjudged: str = ""
    writes: str = ""


@dataclass(slots=True)
class FunctionRow:
    """The function under test. ``status`` as of a loop, of the summary of the whole function; "" where it was not made.

    ``calls`` were evaluated, ``compared`` of them with a native run that ended; ``by``: who answered them ("whole": the
    summary of the function, "summary": those of its loops, "interpretation", "unknown"). ``mismatches`` are arguments
    with what is wrong.
    """

    status: str = ""
    causes: list[str] = field(default_factory=list)
    cases: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    calls: int = 0
    compared: int = 0
    by: Counts = field(default_factory=dict)
    unknown: Counts = field(default_factory=dict)
    outcomes: Counts = field(default_factory=dict)
    mismatches: list[tuple[list[Any], str]] = field(default_factory=list)


@dataclass(slots=True)
class ProgramRow:
    """A program of several functions. ``runs`` of ``main`` were counted, of which ``undefined`` ended by undefined
    behaviour and are left out, and ``cut`` by the limits on what is counted; ``outcomes``: how they ended.

    ``found``: by the kind of a bound, how it stood to counts ("tight", "above", "below"; "unknown": it cannot be
    evaluated, "granted": what it takes for granted is not so). ``mismatches``: the number of the run and what is wrong.
    """

    functions: int = 0
    loops: int = 0
    runs: int = 0
    undefined: int = 0
    cut: int = 0
    iterations: int = 0
    interpreted: int = 0
    outcomes: Counts = field(default_factory=dict)
    found: dict[str, Counts] = field(default_factory=dict)
    mismatches: list[tuple[list[Any], str]] = field(default_factory=list)


@dataclass(slots=True)
class CleanRow:
    """The programs of one file, whose runs are compared with those of the judge's interpreter where they are ``clean``;
    ``sanitized``: gcc's sanitizers were a witness, too. ``outcomes``: how the other runs ended.

    ``compared``: runs by what was interpreted; ``unknown``: why the interpreter knows nothing of a run; ``asked``:
    answers of commands. ``mismatches``: a function, its arguments, and what is wrong.
    """

    language: str = "c"
    programs: int = 0
    runs: int = 0
    clean: int = 0
    sanitized: int = 0
    outcomes: Counts = field(default_factory=dict)
    compared: Counts = field(default_factory=dict)
    unknown: Counts = field(default_factory=dict)
    asked: Counts = field(default_factory=dict)
    mismatches: list[tuple[list[Any], str]] = field(default_factory=list)


@dataclass(slots=True)
class Row:
    """One program. ``status``: "done", "limit" (``stage`` met a limit), "crash" (an error inside Loopless, or its
    process died); ``note`` says more. ``stage`` is what was worked on last.
    """

    profile: str
    seed: int
    features: list[str] = field(default_factory=list)
    status: str = "limit"
    stage: str = "reading"
    note: str = ""
    loops: list[LoopRow] = field(default_factory=list)
    function: FunctionRow | None = None
    program: ProgramRow | None = None
    clean: CleanRow | None = None

    @property
    def wrong(self) -> bool:
        """Whether something is to be mended: a mismatch or a crash."""
        return self.status == "crash" or self.mismatches > 0

    @property
    def mismatches(self) -> int:
        """How many answers are wrong."""
        found = sum(len(loop.mismatches) for loop in self.loops)
        return found + sum(len(row.mismatches) for row in (self.function, self.program, self.clean) if row is not None)

    def to_json(self) -> str:
        """One line."""
        return json.dumps(asdict(self))

    @staticmethod
    def from_json(line: str) -> Row:
        """The row of a line that :meth:`to_json` wrote. Raises ``ValueError``, ``TypeError`` or ``KeyError``."""
        facts = json.loads(line)
        loops = [LoopRow(**loop) for loop in facts.pop("loops")]
        function = facts.pop("function")
        program = facts.pop("program", None)
        clean = facts.pop("clean", None)
        return Row(
            **facts,
            loops=loops,
            function=None if function is None else FunctionRow(**function),
            program=None if program is None else ProgramRow(**program),
            clean=None if clean is None else CleanRow(**clean),
        )


def read_rows(path: Path) -> Iterator[Row]:
    """The rows of a file, none where there is no such file; a line that was cut off at the end is left out.

    Raises:
        UsageError: if the file holds something else.
    """
    if not path.exists():
        return
    lines = path.read_text(encoding="utf-8").split("\n")
    for number, line in enumerate(lines, start=1):
        if not line:
            continue
        try:
            yield Row.from_json(line)
        except (ValueError, TypeError, KeyError):
            if number == len(lines):
                return
            raise UsageError(f"{path}, line {number}, is no row of a campaign") from None


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Add rows to a file."""
    with path.open("a", encoding="utf-8") as file:
        file.writelines(row.to_json() + "\n" for row in rows)
