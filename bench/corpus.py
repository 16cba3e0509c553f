"""Read every C program of a folder: loops found, summaries and types, refusals by reason. Nothing may crash.

python bench/corpus.py FOLDER... --jobs 2
"""

from __future__ import annotations

import argparse
import collections
import json
import multiprocessing
import sys
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path

from loopless.automaton import classify
from loopless.errors import LooplessError
from loopless.flowgraph import build
from loopless.paths import loop_paths
from loopless.refusals import Refused
from loopless.source import SourceOptions, load
from loopless.summary import summarize


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


def read(job: tuple[str, SourceOptions]) -> Tally:
    """One file."""
    name, source = job
    tally = Tally(files=1)
    try:
        _read(name, source, tally)
    except LooplessError as error:
        tally.unread[name] = str(error).splitlines()[0]
    except Exception:  # noqa: BLE001  a crash is the finding
        tally.crashes.append(f"{name}: {traceback.format_exc(limit=-5)}")
    return tally


def _read(name: str, source: SourceOptions, tally: Tally) -> None:
    started = time.perf_counter()
    program = load([name], source)
    tally.seconds["read"] += time.perf_counter() - started  # type: ignore[assignment]
    for function in program.inlined.defined():
        tally.functions += 1
        tally.instructions += sum(len(block.instructions) for block in function.blocks)
        started = time.perf_counter()
        graph = build(function, program.inlined)
        tally.seconds["flowgraph"] += time.perf_counter() - started  # type: ignore[assignment]
        for refused in graph.irreducible:
            tally.refusals[f"{refused.reason.code} {refused.reason.label}"] += 1
        for loop in graph.loops:
            tally.loops += 1
            begun = time.perf_counter()
            paths = loop_paths(graph, loop)
            tally.seconds["paths"] += time.perf_counter() - begun  # type: ignore[assignment]
            middle = time.perf_counter()
            outcome = summarize(paths)
            tally.seconds["summary"] += time.perf_counter() - middle  # type: ignore[assignment]
            middle = time.perf_counter()
            tally.types[str(classify(paths).type or "-")] += 1
            tally.seconds["classify"] += time.perf_counter() - middle  # type: ignore[assignment]
            spent = time.perf_counter() - begun
            if spent > 2:
                tally.slow.append((round(spent, 1), loop.name))
            if isinstance(outcome, Refused):
                tally.status["refused"] += 1
                tally.refusals[f"{outcome.reason.code} {outcome.reason.label}"] += 1
            else:
                tally.status["complete" if outcome.complete else "partial"] += 1
                for reason in {residual.why.reason for residual in outcome.residual}:
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
    tally = Tally()
    with multiprocessing.get_context("spawn").Pool(options.jobs, maxtasksperchild=40) as pool:
        for part in pool.imap_unordered(read, [(file, source) for file in files]):
            tally.add(part)
            print(f"\r{tally.files}/{len(files)}", end="", file=sys.stderr)
    print(file=sys.stderr)
    print(shown(tally))
    return 1 if tally.crashes else 0


if __name__ == "__main__":
    sys.exit(main())
