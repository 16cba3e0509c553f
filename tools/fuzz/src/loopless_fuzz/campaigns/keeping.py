"""What is wrong, made small and kept as a C file; runs in a worker process."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from loopless import clock
from loopless.queries.jobs.sandbox import note
from loopless.summary import CallSummary
from loopless_fuzz.campaigns.functions import Bench, compose_function, unplaced
from loopless_fuzz.campaigns.loops import court, read, short, summarize_loop
from loopless_fuzz.campaigns.plan import Plan
from loopless_fuzz.campaigns.programs import host, workplace
from loopless_fuzz.campaigns.rows import FunctionRow, LoopRow, Row, State
from loopless_fuzz.generator.case import Case, save_case
from loopless_fuzz.generator.generate import nondet_stream, print_program
from loopless_fuzz.generator.minimize import minimize

_STATES: Final = 100
_BUDGET: Final = 250
"""How many candidates are tried."""
_LINES: Final = 60
_WIDTH: Final = 600


def path_of(keep: Path, row: Row) -> Path:
    """Where the case of a row is kept."""
    return keep / f"{row.profile}-{row.seed}.c"


def keep_program(plan: Plan, row: Row, keep: Path, base: Path, seconds: float) -> Path:
    """Write the case of a row that is wrong, and write it again each time that it has become smaller."""
    note(None, 2 * seconds)
    folder = workplace(base)
    keep.mkdir(parents=True, exist_ok=True)
    path = path_of(keep, row)
    program = plan.program(row.seed)
    facts = {"profile": row.profile, "seed": row.seed, "wrong": _mismatches(row)}
    if row.status == "crash" and "Traceback" not in row.note:  # its process died, and so would this one
        _write(path, print_program(program), facts)
        return path
    fails: Callable[[Case], bool]
    calls = row.function.mismatches if row.function is not None else []
    if any(loop.mismatches for loop in row.loops):
        known = [state for loop in row.loops for state, _ in loop.mismatches]
        start = Case(program, tuple(0 for _ in program.function.params))
        fails = _loop_fails(row, known, folder, path)
    elif calls and calls[0][0] and isinstance(calls[0][0][0], dict):
        start = Case(program, tuple(0 for _ in program.function.params))
        fails = _region_fails(row, folder, path)
    elif calls:
        start = Case(program, _arguments(calls[0][0]), nondet_stream(row.seed))
        fails = _call_fails(row, folder, path)
    else:
        start = Case(program, tuple(0 for _ in program.function.params))
        fails = _crash_fails(row, folder, path)
    ends = clock.wall() + seconds
    if not _quietly(fails, start):
        _write(path, print_program(program), facts)
        return path
    minimize(start, lambda candidate: clock.wall() < ends and _quietly(fails, candidate), _BUDGET)
    return path


def _quietly(fails: Callable[[Case], bool], case: Case) -> bool:
    try:
        return fails(case)
    except Exception:  # noqa: BLE001  # a candidate that cannot be judged does not show what is looked for
        return False


def _arguments(args: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(tuple(value) if isinstance(value, list) else value for value in args)


def _mismatches(row: Row) -> list[str]:
    found = [f"{state}: {why}" for loop in row.loops for state, why in loop.mismatches]
    found += [f"{args}: {why}" for args, why in (row.function.mismatches if row.function is not None else [])]
    return [*found, *row.note.splitlines()]


def _loop_fails(row: Row, known: Sequence[State], folder: Path, path: Path) -> Callable[[Case], bool]:
    """Whether some loop's summary is wrong in one of a few states; then the case is written."""

    def fails(case: Case) -> bool:
        text = print_program(case.program)
        subject = read(text, folder)
        for loop in subject.loops:
            summarize_loop(subject, loop, LoopRow(short(loop)))
        for loop in subject.loops:
            found = court(subject, loop)
            if isinstance(found, str):
                continue
            judged = found.judge(found.drawn(row.seed, _STATES, known))
            if judged.mismatches:
                wrong = judged.mismatches[0][1]
                facts = {
                    "profile": row.profile,
                    "seed": row.seed,
                    "loop": short(loop),
                    "state at the header": judged.entries[0].shown(),
                    "wrong": _shortened(wrong),
                    "summary": _shortened(str(subject.outcomes[loop.name])),
                }
                _write(path, text, facts)
                return True
        return False

    return fails


def _call_fails(row: Row, folder: Path, path: Path) -> Callable[[Case], bool]:
    """Whether someone is wrong about the call; then the case is written."""

    def fails(case: Case) -> bool:
        text = print_program(case.program)
        subject = read(text, folder)
        for loop in subject.loops:
            summarize_loop(subject, loop, LoopRow(short(loop)))
        bench = Bench(subject, text, compose_function(subject, FunctionRow()), host())
        (native,) = bench.native([case.args], case.nondet)
        wrong = bench.difference(bench.voices(case.args, case.nondet), native)
        if wrong:
            save_case(path, case, native, f"{row.profile} {row.seed}: {wrong[:_WIDTH]}")
        return bool(wrong)

    return fails


def _region_fails(row: Row, folder: Path, path: Path) -> Callable[[Case], bool]:
    """Whether some entry state of the function lies in no region of its summary, or in several."""

    def fails(case: Case) -> bool:
        text = print_program(case.program)
        subject = read(text, folder)
        for loop in subject.loops:
            summarize_loop(subject, loop, LoopRow(short(loop)))
        whole = compose_function(subject, FunctionRow())
        wrong = unplaced(whole, row.seed, _STATES) if isinstance(whole, CallSummary) else None
        if wrong is not None:
            facts = {"profile": row.profile, "seed": row.seed, "entry state": wrong[0], "wrong": wrong[1]}
            _write(path, text, {**facts, "summary": _shortened(str(whole))})
        return wrong is not None

    return fails


def _crash_fails(row: Row, folder: Path, path: Path) -> Callable[[Case], bool]:
    """Whether the same kind of error comes up."""
    kind = row.note.strip().splitlines()[-1].split(":")[0] if row.note else ""

    def fails(case: Case) -> bool:
        text = print_program(case.program)
        try:
            subject = read(text, folder)
            for loop in subject.loops:
                summarize_loop(subject, loop, LoopRow(short(loop)))
                found = court(subject, loop)
                if not isinstance(found, str):
                    found.judge(found.drawn(row.seed, _STATES))
            compose_function(subject, FunctionRow())
        except Exception as error:  # noqa: BLE001  # that is what is looked for
            if kind not in (type(error).__name__, f"{type(error).__module__}.{type(error).__name__}"):
                return False
            _write(path, text, {"profile": row.profile, "seed": row.seed, "wrong": _shortened(row.note)})
            return True
        return False

    return fails


def _shortened(text: str) -> list[str]:
    return [line[:_WIDTH] for line in text.splitlines()[:_LINES]]


def write_facts(path: Path, text: str, facts: dict[str, Any]) -> None:
    """Write a program with what is wrong of it in its first comment."""
    _write(path, text, facts)


def _write(path: Path, text: str, facts: dict[str, Any]) -> None:
    header = json.dumps(facts, indent=1).replace("*/", "*\\/")
    path.write_text(f"/* kept loop\n{header}\n*/\n{text}", encoding="utf-8")
