"""Bounds on ticks beside C4B's: how much ``__cost`` grows in a call, compared on many inputs, and with native runs.

    python bench/c4b.py FOLDER [--inputs 3000] [--runs 300] [--only t28]

FOLDER holds the programs of Carbonneaux, Hoffmann and Shao (PLDI 2015) with a counter ``__cost``, and ``manifest.json``
with the bound that their tool printed (``c4b_bound``; ``|[a,b]|`` is max(0, b - a)). Both bounds are evaluated on edges and
random inputs; ours is looser where it is larger by a whole tick in some call that ends. No call may take more ticks than
our bound, or another number where it is said to be exact.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor
from pathlib import Path
from typing import Any

from loopless.check.oracle.native import NativeHost, NativeLimits, NativeOracle
from loopless.errors import UsageError
from loopless.queries.bounds.answering import answer_bounds
from loopless.queries.bounds.costs import answer_cost
from loopless.queries.program import load
from loopless.queries.settings import Settings
from loopless.terms import EvaluationError, Var, evaluate

_INTERVAL = re.compile(r"([\d.]*)\|\[([^,\]]+),([^\]]+)\]\|")
_EDGES = (0, 1, -1, 2, 99, 100, 101, -100, 1000, -1000)


@dataclass
class Row:
    """What one program came to."""

    name: str
    theirs: str
    ours: str = ""
    why: str = ""
    exact: bool = False
    compared: int = 0
    looser: int = 0
    tighter: int = 0
    runs: int = 0
    met: int = 0
    wrong: list[str] = field(default_factory=list)
    seconds: float = 0.0


def c4b_value(text: str, values: Mapping[str, int]) -> Fraction:
    """The value of a bound as C4B prints it."""

    def number(word: str) -> Fraction:
        word = word.strip()
        return Fraction(values[word]) if word in values else Fraction(word)

    total = sum((Fraction(k or "1") * max(Fraction(0), number(b) - number(a)) for k, a, b in _INTERVAL.findall(text)),
                Fraction(0))  # fmt: skip
    rest = _INTERVAL.sub("", text)
    return total + sum((Fraction(word) for word in re.findall(r"[\d.]+", rest)), Fraction(0))


def inputs(count: int, number: int, seed: int) -> Iterator[list[int]]:
    """Edges, then random inputs of several sizes."""
    chosen = random.Random(seed)
    for at in range(number):
        size = (5, 50, 2000, 10**6)[at % 4]
        yield [chosen.choice(_EDGES) if chosen.random() < 0.2 else chosen.randint(-size, size) for _ in range(count)]


def measure(file: Path, theirs: str, options: argparse.Namespace, host: NativeHost) -> Row:
    """One program."""
    row = Row(file.stem, theirs)
    settings = Settings(workers=1)
    started = time.perf_counter()
    program = load([file], settings)
    name = "start" if any(f.name == "start" for f in program.functions) else file.stem
    function = program[name]
    (bound,) = answer_bounds([function], "all", settings)
    try:
        cost = answer_cost(function, "__cost", bound, settings).cost
    except UsageError as error:
        row.why = str(error)
        return row
    row.seconds = time.perf_counter() - started
    if cost.upper is None:
        row.why = f"{cost.refused.reason.code} {cost.refused.detail}" if cost.refused is not None else "no bound"
        return row
    row.ours, row.exact = str(cost.upper), cost.exact
    graph = function.graph()
    parameters = [p.var for p in graph.parameters]
    # A global that the bound speaks of, as the counter itself, and a parameter of the same name begin alike.
    others = sorted(v for v in cost.upper.variables if v not in parameters and v.name != "__cost")
    shown = {v: graph.variables[v].shown for v in (*parameters, *others)}
    oracle = NativeOracle([file], limits=NativeLimits(seconds=5.0), host=host)
    chosen = random.Random(7)
    for at, drawn in enumerate(inputs(len(parameters) + len(others), options.inputs, 1)):
        names = dict(zip((shown[v] for v in (*parameters, *others)), drawn, strict=True))
        values: dict[Var, int] = {v: names[shown[v]] for v in (*parameters, *others)}
        values |= {v: 0 for v in cost.upper.variables if v.name == "__cost"}
        try:
            ours = evaluate(cost.upper, values)
        except EvaluationError as error:
            row.wrong.append(f"{names}: {error}")
            continue
        best = c4b_value(theirs, names)
        arguments = [names[shown[v]] for v in parameters]
        start = {shown[v]: names[shown[v]] for v in others} | {"__cost": 0}
        small = max(map(abs, drawn), default=0) <= 2000
        if ours > floor(best) and _ends(oracle, name, arguments, start, chosen):
            row.looser += 1
            row.why = row.why or f"at {names}: {ours}, theirs {best}"
        row.compared += 1
        row.tighter += ours < floor(best)
        if small and row.runs < options.runs and at % 3 == 0:
            run = oracle.run(name, arguments, nondet=stream(chosen), globals=start)
            if run.status != "ok":
                continue
            row.runs += 1
            ticks = dict(run.globals)["__cost"]
            row.met += ticks == ours
            if ticks > ours or (row.exact and ticks != ours):
                row.wrong.append(f"{names}: {ticks} ticks, bound {ours}")
    return row


def stream(chosen: random.Random) -> list[int]:
    """Nondeterministic values: mostly 0, mostly 1, or mixed."""
    often = chosen.choice((0.0, 0.05, 0.5, 0.95, 1.0))
    return [int(chosen.random() < often) for _ in range(6000)]


def _ends(
    oracle: NativeOracle, name: str, arguments: Sequence[int], start: Mapping[str, int], chosen: random.Random
) -> bool:
    """Whether a call ends without undefined behaviour and failed assumptions: only then something is claimed of it."""
    run: Any = oracle.run(name, list(arguments), nondet=stream(chosen), globals=dict(start))
    return bool(run.status in ("ok", "timeout"))


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--inputs", type=int, default=3000)
    parser.add_argument("--runs", type=int, default=300, help="native runs for each program")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    entries = json.loads((options.folder / "manifest.json").read_text(encoding="utf-8"))
    rows: list[Row] = []
    print(
        "| program | C4B | ours | | inputs | tighter | looser | runs | equal to ours | s |\n|---|---|---|---|---|---|---|---|---|---|"
    )
    with NativeHost() as host:
        for entry in entries:
            if options.only not in entry["file"]:
                continue
            row = measure(options.folder / entry["file"], entry["c4b_bound"], options, host)
            rows.append(row)
            ours = f"`{row.ours[:120]}`" if row.ours else row.why[:120]
            kind = "exact" if row.exact else "upper" if row.ours else "refused"
            theirs = row.theirs.replace("|", r"\|")
            ours = ours.replace("||", "or") if row.ours else ours
            print(f"| {row.name} | {theirs} | {ours} | {kind} | {row.compared} | {row.tighter} | {row.looser} | {row.runs} "
                  f"| {row.met} | {row.seconds:.1f} |", flush=True)  # fmt: skip
            if row.looser:
                print(f"  {row.name}: {row.why}", file=sys.stderr)
            for line in row.wrong[:3]:
                print(f"WRONG {row.name}: {line}", file=sys.stderr)
    never = sum(bool(row.ours) and not row.looser for row in rows)
    print(f"\n{len(rows)} programs, never looser {never}, refused {sum(not row.ours for row in rows)}, "
          f"exact {sum(row.exact for row in rows)}, wrong {sum(bool(row.wrong) for row in rows)}")  # fmt: skip
    return 1 if any(row.wrong for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
