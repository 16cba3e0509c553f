"""Written loops that write memory (``bench/memory``): what summaries say of elements, beside runs.

    python bench/memory_loops.py [--only NAME...] [--runs 60] [--states 150] [--all] [--keep FILE]

Each function is run natively with arrays of random and edge contents, small counts and edges of numbers. *exact*: the
summaries of its loops tell all elements; they are compared byte by byte with runs of each loop alone from any state (with ``--all`` also from all small ones, with all small contents), and
the arrays behind evaluations by summaries with those behind native runs. *lost*: some element is not told. *refused*: a loop
has no summary. *wrong*: something that is told is not so. ``eval`` says who gave what evaluations came to: summaries,
or the interpreter, which knows nothing of summaries.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path

from loopless import clock
from loopless.check.oracle.native import NativeHost
from loopless.check.oracle.signature import CType, PointerType
from loopless_fuzz.campaigns.functions import Bench, compose_function
from loopless_fuzz.campaigns.loops import judge_loop, read, short, summarize_loop
from loopless_fuzz.campaigns.rows import FunctionRow, LoopRow
from loopless_fuzz.generator.writing import Writing

FOLDER = Path(__file__).resolve().parent / "memory"
_FUNCTION = re.compile(r"^[a-z][\w ]*?\**(\w+)\([^)]*\) \{$", re.MULTILINE)
_WORST = ("exact", "partly", "lost", "refused", "wrong")


@dataclass(slots=True)
class Result:
    """What came of one function; ``eval``: by whom calls were answered."""

    file: str
    name: str
    verdict: str = "exact"
    why: str = ""
    loops: int = 0
    states: int = 0
    elements: int = 0
    """Bytes that were compared and had changed, in runs of loops alone."""
    runs: int = 0
    seconds: float = 0.0
    eval: Counter[str] = field(default_factory=Counter)


def functions() -> list[tuple[str, str]]:
    """The files and the names of their functions."""
    return [(file.stem, name) for file in sorted(FOLDER.glob("*.c")) for name in _FUNCTION.findall(file.read_text())]


def ask(file: str, name: str, options: argparse.Namespace, host: NativeHost) -> Result:
    """What summaries say of one function, and whether it is so."""
    found = Result(file, name)
    text = (FOLDER / f"{file}.c").read_text()
    with tempfile.TemporaryDirectory() as folder:
        started = clock.now()
        subject = read(text, Path(folder), name)
        rows = {loop.name: LoopRow(short(loop), loop.depth) for loop in subject.loops}
        if subject.graph is None:
            found.verdict, found.why = "refused", str(subject.refused)
            return found
        for loop in sorted(subject.loops, key=lambda loop: -loop.depth):
            summarize_loop(subject, loop, rows[loop.name])
        whole = compose_function(subject, FunctionRow())
        found.seconds = clock.now() - started
        for loop in subject.loops:
            row = rows[loop.name]
            judge_loop(subject, loop, row, 1, options.states, everything=options.all)
            note(found, row)
        bench = Bench(subject, text, whole, host)
        compare(found, bench, options.runs)
    return found


def note(found: Result, row: LoopRow) -> None:
    """Add what was found about one loop."""
    found.loops += 1
    found.states += row.compared
    found.elements += row.memory.get("changed", 0)
    if row.mismatches:
        worse(found, "wrong", f"{row.mismatches[0][1]} from {row.mismatches[0][0]}")
    elif row.unjudged:
        worse(found, "lost" if row.writes != "refused" else "refused", row.unjudged)
    elif row.status not in ("complete", "entered"):
        worse(found, "refused", (row.details or row.causes or [row.status])[0])
    elif row.writes in ("partly", "lost"):
        worse(found, row.writes, f"{row.name}: {row.writes} told")


def worse(found: Result, verdict: str, why: str) -> None:
    """The verdict of the worst part counts."""
    if _WORST.index(verdict) > _WORST.index(found.verdict):
        found.verdict, found.why = verdict, why


def compare(found: Result, bench: Bench, runs: int) -> None:
    """Put evaluations beside native runs."""
    signature = bench.oracle.signature(found.name)
    types = []
    for parameter in signature.params:
        pointer = isinstance(parameter, PointerType)
        element = parameter.element if isinstance(parameter, PointerType) else parameter
        assert isinstance(element, CType)
        types.append((element, pointer))
    rows = Writing("", tuple(types), ()).rows(1, runs)
    for row, native in zip(rows, bench.native(rows, ()), strict=True):
        voices = bench.voices(row, ())
        wrong = bench.difference(voices, native)
        found.runs += 1
        found.eval[getattr(voices[-1].evaluation, "by", "") or "nobody"] += 1
        if wrong:
            worse(found, "wrong", f"{row}: {wrong}")
            return


def main() -> int:
    """Ask about each function, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=None, help="names of functions or files")
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--states", type=int, default=150)
    parser.add_argument("--all", action="store_true", help="judge all small states and contents, too")
    parser.add_argument("--keep", type=Path, help="write the rows as JSON")
    options = parser.parse_args()
    host = NativeHost()
    found: list[Result] = []
    print("| loop | told | s | bytes compared that had changed | calls answered by | why |\n|---|---|---|---|---|---|")
    for file, name in functions():
        if options.only and not {file, name} & set(options.only):
            continue
        one = ask(file, name, options, host)
        found.append(one)
        by = ", ".join(f"{count} {who}" for who, count in one.eval.most_common())
        print(
            f"| {file}: {name} | {one.verdict} | {one.seconds:.2f} | {one.elements} | {by} | {one.why[:300]} |",
            flush=True,
        )
    total = Counter(one.verdict for one in found)
    runs, states = sum(one.runs for one in found), sum(one.states for one in found)
    print(f"\n{len(found)} functions: {', '.join(f'{count} {name}' for name, count in total.most_common())}; ", end="")
    print(f"{runs} native runs, {states} states of loops alone")
    if options.keep:
        options.keep.write_text(json.dumps([{**asdict(one), "eval": dict(one.eval)} for one in found], indent=1))
    return 1 if total["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
