"""The loops of a C package beside LLVM's ScalarEvolution: which have an exact count, which an upper bound.

    python bench/scev.py FOLDER... --keep DIR [--flags "-Iinclude"] [--limit 6] [--report]

Every C file below the FOLDERs is compiled once; Loopless reads the module, and ``opt`` of LLVM 14 reads the same text with
what it does not know yet taken out (debug records, attributes, flags of newer instructions), brings it into the form in which
ScalarEvolution is usually asked (``mem2reg``, ``early-cse``, ``instcombine``, ``loop-simplify``, ``licm``) and prints its
counts. Loops are told by function and header. A count is exact where it is said for every entry, over the values there; an
upper bound that owes to nothing but the width of a type is none. The work is resumable: files in DIR are not done again.
"""

from __future__ import annotations

import argparse
import collections
import functools
import json
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from loopless import clock
from loopless.bounds.model import by_types
from loopless.errors import LooplessError
from loopless.limits.bounds import LARGE_CONSTANT
from loopless.queries.bounds.answering import answer_bounds
from loopless.queries.program import load
from loopless.queries.settings import Settings
from loopless.refusals import Refused
from loopless.source.compile import SourceOptions, compile_ir
from loopless.terms import Const

PASSES = "function(mem2reg,early-cse,instcombine,loop-simplify,lcssa,loop-mssa(licm)),print<scalar-evolution>"

_NEWER = (
    (re.compile(r"^\s*#dbg_.*\n", re.MULTILINE), ""),
    (re.compile(r"^(attributes #|![\w.]+ = |!llvm).*\n", re.MULTILINE), ""),
    (re.compile(r",? *![A-Za-z][\w.]* ![0-9]+"), ""),
    (re.compile(r" #[0-9]+(?=[ ,{\n]|$)", re.MULTILINE), ""),
    (re.compile(r"(captures|memory|initializes|range|nofpclass)\([^)]*\)+ ?"), ""),
    (re.compile(r"getelementptr (inbounds )?(nusw )?(nuw )?"), r"getelementptr \1"),
    (re.compile(r"\b(samesign|nneg|disjoint|dead_on_unwind|writable|dead_on_return|nocreateundeforpoison) "), ""),
    (re.compile(r"\btrunc (nuw )?(nsw )?"), "trunc "),
)  # fmt: skip
_FUNCTION = re.compile(r"^Determining loop execution counts for: @\"?([^\"\n]+)\"?$")
_LOOP = re.compile(r"^Loop %\"?([^\":]+)\"?: (.*)$")
_MOST = re.compile(r"(?:constant )?max backedge-taken count is (.*)")


def theirs_of(text: str) -> dict[tuple[str, str], dict[str, str]]:
    """What ScalarEvolution says, by function and header: ``exact`` and ``most`` as it prints them. Raises ValueError."""
    for pattern, replacement in _NEWER:
        text = pattern.sub(replacement, text)
    command = ["opt", *_opaque(), f"-passes={PASSES}", "-disable-output", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode:
        raise ValueError((done.stderr.strip().splitlines() or ["?"])[0])
    found: dict[tuple[str, str], dict[str, str]] = {}
    function = ""
    for line in done.stderr.splitlines():
        if named := _FUNCTION.match(line):
            function = named[1]
        elif said := _LOOP.match(line):
            entry = found.setdefault((function, said[1]), {})
            what = said[2]
            several = "backedge-taken count is "
            if what.startswith((several, "<multiple exits> " + several)):
                entry["exact"] = what.split(several)[1]
            elif most := _MOST.match(what):
                entry["most"] = most[1]
    return found


@functools.cache
def _opaque() -> tuple[str, ...]:
    """What LLVM 14 has to be told to read pointers without a type; others would not know it."""
    version = subprocess.run(["opt", "--version"], capture_output=True, text=True, check=False).stdout
    return ("-opaque-pointers",) if re.search(r"version 14\.", version) else ()


def ours_of(file: Path, text: str, keep: Path, settings: Settings) -> Iterable[dict[str, Any]]:
    """What Loopless says, loop by loop."""
    module = keep / "module.ll"
    module.write_text(text)
    program = load([module], settings)
    functions = [f for f in program.functions if any(loop.id.inlined_from is None for loop in f.loops)]
    for function in functions:
        graph = function.graph()
        headers = {} if isinstance(graph, Refused) else {loop.name: loop.header for loop in graph.loops}
        (found,) = answer_bounds([function], "all", settings, clock.now() + 6 * (settings.loop_timeout_s or 10))
        for bound in found.counts:
            loop = bound.answer.loop
            if loop.inlined_from is not None:
                continue
            entry = bound.entry
            info = next((own.id.info for own in function.loops if own.name == loop.name), None)
            header = headers.get(loop.name) or (info.header if info is not None else "?")
            whole = entry.upper is not None and not entry.has_gap
            number = entry.upper if isinstance(entry.upper, Const) else bound.any_entry
            yield {
                "file": file.name, "function": function.code.name, "header": header, "line": loop.line,
                "exact": whole and entry.exact,
                "upper": whole and (entry.exact or (entry.upper is not None and not by_types(entry.upper))),
                "some": entry.upper is not None,
                "text": str(entry.upper)[:160] if entry.upper is not None else "",
                "number": number.value if isinstance(number, Const) else None,
                "call": bound.call.upper is not None and not bound.call.has_gap and not by_types(bound.call.upper),
                "why": next((f"{r.reason.code} {r.reason.label}" for r in (bound.answer.refused, bound.refused) if r), ""),
                "residual": _residual(bound.answer.summary),
            }  # fmt: skip


def _residual(summary: Any) -> str:
    return "" if summary is None or not summary.residual else summary.residual[0].why.reason.code


def measure(file: Path, keep: Path, flags: Sequence[str], settings: Settings) -> list[dict[str, Any]]:
    """One file."""
    text = compile_ir(file, SourceOptions(flags=tuple(flags)))
    theirs = theirs_of(text)
    rows = []
    for row in ours_of(file, text, keep, settings):
        said = theirs.get((row["function"], row["header"]))
        row["scev"] = said
        rows.append(row)
    return rows


def is_bound(said: Mapping[str, str] | None) -> bool:
    """Whether ScalarEvolution has an upper bound that does not owe to the width of a type alone."""
    if said is None:
        return False
    most = said.get("most", "")
    return "exact" in said or (most.lstrip("-").isdigit() and 0 <= int(most) < LARGE_CONSTANT)


def report(rows: Sequence[Mapping[str, Any]]) -> None:
    """The shares, and what one has and the other has not."""
    both = [row for row in rows if row["scev"] is not None]
    print(f"{len(rows)} loops of {len({row['file'] for row in rows})} files; {len(both)} found again by header")
    print("\n| | exact count | upper bound (exact counts among them) |\n|---|---|---|")
    shares = {
        "Loopless": ([r for r in both if r["exact"]], [r for r in both if r["upper"]]),
        "ScalarEvolution": ([r for r in both if "exact" in r["scev"]], [r for r in both if is_bound(r["scev"])]),
    }
    for name, (exact, upper) in shares.items():
        print(f"| {name} | {_share(exact, both)} | {_share(upper, both)} |")
    either = [r for r in both if r["exact"] or "exact" in r["scev"]]
    print(f"\nexact by both {sum(r['exact'] and 'exact' in r['scev'] for r in both)}, by one of them {len(either)}")
    print(f"with a bound under a condition on the entry, or over a call only, besides: "
          f"{sum(not r['upper'] and (r['some'] or r['call']) for r in both)}")  # fmt: skip
    for title, chosen in (
        ("exact there, not here", [r for r in both if "exact" in r["scev"] and not r["exact"]]),
        ("exact here, not there", [r for r in both if r["exact"] and "exact" not in r["scev"]]),
        ("bounded there, not here", [r for r in both if is_bound(r["scev"]) and not r["upper"]]),
    ):
        causes = collections.Counter(r["why"] or r["residual"] or "a bound only" for r in chosen)
        print(f"\n{title}: {len(chosen)}" + "".join(f"\n  {n} {cause}" for cause, n in causes.most_common()))
        for r in chosen:
            print(f"    {r['file']}:{r['line']} {r['function']}: ours {r['text'] or '-'}; theirs {r['scev']}"[:220])
    print("\nconstants that differ:")
    for r in both:
        count = r["scev"].get("exact", "")
        if r["exact"] and count.isdigit() and r["number"] is not None and int(count) != r["number"]:
            print(f"    {r['file']}:{r['line']} {r['function']}: ours {r['number']}, theirs {count}")


def _share(part: Sequence[object], whole: Sequence[object]) -> str:
    return f"{len(part)} ({100 * len(part) / max(len(whole), 1):.0f}%)"


def main() -> int:
    """Work through the files, or report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--keep", type=Path, required=True)
    parser.add_argument("--flags", default="", help="for the compiler")
    parser.add_argument("--limit", type=float, default=6.0, help="seconds for one stage of one loop or function")
    parser.add_argument("--seconds", type=float, help="begin no further file after so long")
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    options.keep.mkdir(parents=True, exist_ok=True)
    kept = options.keep / "results.jsonl"
    done = [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []
    known = {one["path"] for one in done}
    settings = Settings(loop_timeout_s=options.limit, workers=1)
    files = [file for folder in options.folders for file in sorted(folder.rglob("*.c"))]
    started = time.monotonic()
    for file in () if options.report else files:
        if str(file) in known or (options.seconds and time.monotonic() - started > options.seconds):
            continue
        try:
            one: dict[str, Any] = {
                "path": str(file), "rows": measure(file, options.keep, shlex.split(options.flags), settings)
            }  # fmt: skip
        except (LooplessError, ValueError, subprocess.TimeoutExpired) as error:
            one = {"path": str(file), "rows": [], "error": (str(error).splitlines() or ["?"])[0]}
        done.append(one)
        with kept.open("a", encoding="utf-8") as out:
            out.write(json.dumps(one) + "\n")
        print(f"{file.name}: {len(one['rows'])} loops {one.get('error', '')}"[:200], flush=True)
    for one in done:
        if "error" in one:
            print(f"not measured: {Path(one['path']).name}: {one['error']}"[:200])
    report([row for one in done for row in one["rows"]])
    return 0


if __name__ == "__main__":
    sys.exit(main())
