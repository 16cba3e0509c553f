"""Functions whose loops write memory: each loop judged by itself, its elements byte by byte, and calls beside native
runs, their arrays element by element. What is wrong is made small by leaving out lines.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Final

from loopless import clock
from loopless.queries.jobs.sandbox import note
from loopless_fuzz.campaigns.keeping import path_of, write_facts
from loopless_fuzz.campaigns.plan import EIGHT_BIT_EVERY, WRITING, Plan
from loopless_fuzz.campaigns.programs import judge_text, workplace
from loopless_fuzz.campaigns.rows import Row
from loopless_fuzz.generator.writing import Writing, writing

_WIDTH: Final = 600
_ELEMENTS: Final = 3_000
_CANDIDATES: Final = 150
"""How many smaller programs are tried."""


def program_of(seed: int) -> Writing:
    """The program of a seed; each fourth one has 8-bit elements and numbers only."""
    return writing(seed, narrow=seed % EIGHT_BIT_EVERY == 0)


def judge_writing(plan: Plan, seed: int, base: Path, skip: tuple[str, ...] = ()) -> Row:
    """The row of a seed. ``skip``: stages that met a limit before and are left out."""
    program = program_of(seed)
    row = Row(WRITING, seed, sorted(set(program.shapes)))
    try:
        with _few_elements():
            _judge(plan, row, program, program.text, workplace(base), skip)
        row.status = "done"
    except Exception:  # noqa: BLE001  # a crash on any program is a finding, and the campaign goes on
        row.status, row.note = "crash", traceback.format_exc(limit=-6)
    return row


@contextmanager
def _few_elements() -> Iterator[None]:
    """Evaluations end soon that go over many elements: what the programs access is small, and counters are not."""
    evaluation = import_module("loopless.terms.evaluate")
    before = evaluation.MAX_ELEMENTS
    evaluation.MAX_ELEMENTS = _ELEMENTS  # type: ignore[attr-defined]
    try:
        yield
    finally:
        evaluation.MAX_ELEMENTS = before  # type: ignore[attr-defined]


def _judge(plan: Plan, row: Row, program: Writing, text: str, folder: Path, skip: Sequence[str] = ()) -> None:
    everything = plan.every > 0 and row.seed % (EIGHT_BIT_EVERY * plan.every) == 0
    rows = program.rows(row.seed, plan.inputs)
    judge_text(plan, row, text, lambda _: rows, (folder, skip), everything=everything)


def keep_writing(plan: Plan, row: Row, keep: Path, base: Path, seconds: float) -> Path:
    """Write the program of a row that is wrong, and write it again each time that it has become smaller."""
    note(None, 2 * seconds)
    folder = workplace(base)
    keep.mkdir(parents=True, exist_ok=True)
    program, path = program_of(row.seed), path_of(keep, row)
    _write(path, row, program.text)
    ends = clock.wall() + seconds
    kind = _kind(row)

    def fails(text: str) -> bool:
        if clock.wall() > ends:
            return False
        found = Row(WRITING, row.seed)
        try:
            with _few_elements():
                _judge(plan, found, program, text, folder)
        except Exception:  # noqa: BLE001  # it does not compile, or it crashes as the whole did
            found.status, found.note = "crash", traceback.format_exc(limit=-6)
        if not found.wrong or _kind(found) != kind:
            return False
        _write(path, found, text)
        return True

    smaller(program.text, fails)
    return path


def _write(path: Path, row: Row, text: str) -> None:
    wrong = [f"{loop.name} from {state}: {why}" for loop in row.loops for state, why in loop.mismatches]
    wrong += [f"{args}: {why}" for args, why in (row.function.mismatches if row.function is not None else [])]
    wrong += row.note.splitlines()[-8:]
    write_facts(path, text, {"profile": WRITING, "seed": row.seed, "wrong": [one[:_WIDTH] for one in wrong[:8]]})


def _kind(row: Row) -> str:
    """In which way a row is wrong."""
    if row.status == "crash":
        return row.note.strip().splitlines()[-1].split(":")[0] if row.note.strip() else "crash"
    return "loop" if any(loop.mismatches for loop in row.loops) else "call"


def smaller(text: str, fails: Callable[[str], bool], most: int = _CANDIDATES) -> str:
    """The text without lines that are not needed for it to fail, those of a block all at once or its braces only."""
    lines = text.splitlines()
    tried = 0
    found = True
    while found:
        found = False
        for at in range(len(lines)):
            for left in _without(lines, at):
                tried += 1
                if tried > most:
                    return "\n".join(lines) + "\n"
                if fails("\n".join(left) + "\n"):
                    lines, found = left, True
                    break
            if found:
                break
    return "\n".join(lines) + "\n"


def _without(lines: list[str], at: int) -> list[list[str]]:
    """The lines without that one; where it begins a block without the whole block, and without its first and last."""
    if not lines[at].rstrip().endswith("{") or lines[at].startswith("}"):
        return [lines[:at] + lines[at + 1 :]]
    depth = 0
    for end in range(at, len(lines)):
        depth += lines[end].count("{") - lines[end].count("}")
        if depth == 0:
            return [lines[:at] + lines[end + 1 :], lines[:at] + lines[at + 1 : end] + lines[end + 1 :]]
    return []
