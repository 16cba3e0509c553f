"""Read every C program of a folder: loops found, summaries and types, refusals by reason. Nothing may crash.

python bench/corpus.py FOLDER... --jobs 2
"""

from __future__ import annotations

import argparse
import collections
import json
import sys
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path

from loopless.errors import LooplessError
from loopless.queries.loops.answer import LoopAnswer, Question
from loopless.queries.loops.answering import answer_all
from loopless.queries.program import load
from loopless.queries.settings import Settings
from loopless.source import SourceOptions


@dataclass
class Tally:
    """What was found in some programs."""

    files: int = 0
    unread: dict[str, str] = field(default_factory=dict)
    functions: int = 0
    loops: int = 0
    instructions: int = 0
    status: collections.Counter[str] = field(default_factory=collections.Counter)
    refusals: collections.Counter[str] = field(default_factory=collections.Counter)
    types: collections.Counter[str] = field(default_factory=collections.Counter)
    slow: list[tuple[float, str]] = field(default_factory=list)
    crashes: list[str] = field(default_factory=list)
    seconds: collections.Counter[str] = field(default_factory=collections.Counter)

    def add(self, other: Tally) -> None:
        """Sum up."""
        self.files += other.files
        self.functions += other.functions
        self.loops += other.loops
        self.instructions += other.instructions
        self.unread |= other.unread
        self.slow += other.slow
        self.crashes += other.crashes
        for name in ("status", "refusals", "types", "seconds"):
            getattr(self, name).update(getattr(other, name))


def read(name: str, settings: Settings) -> Tally:
    """One file, as the tool reads it: every loop under its limits on time and memory."""
    tally = Tally(files=1)
    try:
        _read(name, settings, tally)
    except LooplessError as error:
        tally.unread[name] = str(error).splitlines()[0]
    except Exception:  # noqa: BLE001  a crash is the finding
        tally.crashes.append(f"{name}: {traceback.format_exc(limit=-5)}")
    return tally


def _read(name: str, settings: Settings, tally: Tally) -> None:
    started = time.perf_counter()
    program = load([name], settings)
    tally.seconds["reading"] += time.perf_counter() - started  # type: ignore[assignment]
    started = time.perf_counter()
    for function in program.functions:
        tally.functions += 1
        tally.instructions += sum(len(block.instructions) for block in function.code.blocks)
    loops = program.loops
    tally.seconds["flowgraphs"] += time.perf_counter() - started  # type: ignore[assignment]
    started = time.perf_counter()
    answers = answer_all(loops, Question(approximate=True), settings)
    tally.seconds["answering"] += time.perf_counter() - started  # type: ignore[assignment]
    for answer in answers:
        _count(answer, tally)


def _count(answer: LoopAnswer, tally: Tally) -> None:
    tally.loops += 1
    tally.types[str(answer.type or "-")] += 1
    if answer.time_ms > 2000:
        tally.slow.append((round(answer.time_ms / 1000, 1), answer.loop.name))
    if answer.trouble:
        tally.crashes.append(f"{answer.loop.name}: {answer.trouble.splitlines()[-1]}")
    if answer.refused is not None:
        tally.status["refused"] += 1
        tally.refusals[f"{answer.refused.reason.code} {answer.refused.reason.label}"] += 1
    elif answer.summary is not None:
        approximated = answer.summary.approximation is not None
        kind = (
            "complete"
            if answer.complete and answer.summary.exact
            else "over-approximate"
            if approximated
            else "partial"
        )
        tally.status[kind] += 1
        for reason in {residual.why.reason for residual in answer.summary.residual}:
            tally.refusals[f"{reason.code} {reason.label} (residual)"] += 1


def shown(tally: Tally) -> str:
    """The report."""
    lines = [
        f"{tally.files} files, {tally.files - len(tally.unread) - len(tally.crashes)} read, {tally.functions} functions, "
        f"{tally.instructions} IR instructions, {tally.loops} loops, {len(tally.crashes)} crashes",
        "summaries: " + ", ".join(f"{n} {k}" for k, n in tally.status.most_common()),
        "types: " + ", ".join(f"{k}: {n}" for k, n in sorted(tally.types.items())),
        "seconds: " + ", ".join(f"{k} {n:.1f}" for k, n in tally.seconds.most_common()),
        "",
        "| refusal | loops |",
        "|---|---|",
        *(f"| {k} | {n} |" for k, n in tally.refusals.most_common()),
        "",
        *(f"not read: {name}: {why}" for name, why in sorted(tally.unread.items())),
        *(f"slow: {seconds} s {name}" for seconds, name in sorted(tally.slow, reverse=True)[:20]),
        *tally.crashes,
    ]
    return "\n".join(lines)


def main() -> int:
    """Read the folders."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*")
    parser.add_argument(
        "-p", dest="database", default="", help="a folder with compile_commands.json: its files are read"
    )
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--data-model", default="")
    parser.add_argument("--loop-timeout", type=float, default=10.0, help="seconds a loop")
    parser.add_argument("--limit", type=int, default=0, help="at most so many files, evenly chosen")
    options = parser.parse_args()
    files = sorted(
        str(file)
        for folder in options.folders
        for file in ([Path(folder)] if Path(folder).is_file() else Path(folder).rglob("*.[ci]"))
    )
    database = Path(options.database) / "compile_commands.json" if options.database else None
    if database is not None:
        entries = json.loads(database.read_text())
        files += sorted({str(Path(entry["directory"]) / entry["file"]) for entry in entries})
    source = SourceOptions(data_model=options.data_model or None, compile_database=database)
    if options.limit:
        files = files[:: max(1, len(files) // options.limit)]
    settings = Settings(source=source, workers=options.jobs, loop_timeout_s=options.loop_timeout)
    tally = Tally()
    for file in files:
        tally.add(read(file, settings))
        print(f"\r{tally.files}/{len(files)}", end="", file=sys.stderr)
    print(file=sys.stderr)
    print(shown(tally))
    return 1 if tally.crashes else 0


if __name__ == "__main__":
    sys.exit(main())
