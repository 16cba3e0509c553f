"""How many sides of the branches of functions ``loopless reach --cover`` takes, and random inputs in the same time.

    python bench/cover.py FILE... [--functions F ...] [-p BUILD_DIR] [--seconds 30] [--gcov] [--keep FILE]

Of each function of the FILEs (or of those that are named) one line: the sides of its branches, how many tests take, how
many cannot be taken, how many are unknown; and how many native runs with inputs drawn at random take in as much time.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from gcov_branches import branches_taken

from loopless.errors import LooplessError
from loopless.flowgraph.model import Flowgraph
from loopless.queries.program import load
from loopless.queries.reach.covering import cover
from loopless.queries.reach.covering_driver import CoveringDriver
from loopless.queries.settings import Settings
from loopless.source import SourceOptions

BATCH = 500


def by_chance(file: Path, function: str, settings: Settings, seconds: float) -> int:
    """The sides that random inputs take within so many seconds."""
    until = time.monotonic() + seconds
    driver = CoveringDriver([str(file)], settings.source, function, until)
    graph = next(f.graph() for f in load([file], settings).functions if f.code.name == function)
    taken: set[int] = set()
    seed = 1
    try:
        while time.monotonic() < until and isinstance(graph, Flowgraph) and len(taken) < len(driver.sides):
            seed += 1
            taken = taken.union(*(one.sides for one in driver.taken_by_chance(graph, BATCH, 0.02, seed=seed)))
    finally:
        driver.close()
    return len(taken)


def row(file: Path, function: str, settings: Settings, seconds: float, *, gcov: bool) -> dict[str, Any]:
    """What came of one function."""
    started = time.monotonic()
    found = cover([file], function, settings, started + seconds)
    took = time.monotonic() - started
    chance = by_chance(file, function, settings, took)
    return {
        "file": file.name, "function": function, "sides": len(found.sides), "covered": found.count("covered"),
        "unreachable": found.count("unreachable"), "unknown": found.count("unknown"), "tests": len(found.tests),
        "seconds": round(took, 1), "random": chance,
    } | ({"gcov": branches_taken(found.tests, file, function, settings)} if gcov else {})  # fmt: skip


def main() -> None:
    """The table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--functions", nargs="*")
    parser.add_argument("-p", dest="build", type=Path)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument(
        "--gcov", action="store_true", help="count the branches that the written tests take by gcov, too"
    )
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    settings = Settings(source=SourceOptions(compile_database=options.build))
    rows = []
    heads = ["file", "function", "sides", "covered", "cannot be taken", "unknown", "tests", "s", "random inputs"]
    heads += ["branches by gcov"] * options.gcov
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}", flush=True)
    for file in options.files:
        try:
            defined = [f.code.name for f in load([file], settings).functions]
        except LooplessError as error:
            print(f"{file}: {error}")
            continue
        for function in defined:
            if options.functions and function not in options.functions:
                continue
            try:
                one = row(file, function, settings, options.seconds, gcov=options.gcov)
            except LooplessError as error:
                print(f"| {file.name} | {function} | {error} |", flush=True)
                continue
            if one["sides"]:
                rows.append(one)
                print("| " + " | ".join(str(value) for value in one.values()) + " |", flush=True)
    sums = [sum(one[key] for one in rows) for key in ("sides", "covered", "unreachable", "unknown", "random")]
    print(f"\n{len(rows)} functions, {sums[0]} sides: {sums[1]} covered, {sums[2]} cannot be taken, {sums[3]} unknown; "
          f"random inputs {sums[4]}")  # fmt: skip
    if options.keep:
        options.keep.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
