"""The classes of the competition's C programs, over the integers, beside the best that is known; each checked by counts.

    python bench/tpdb.py FOLDER --keep DIR [--limit 20] [--only TEXT]
    python bench/tpdb.py FOLDER --keep DIR --report

FOLDER holds the programs and ``manifest.json``, whose ``best_known`` is the degree of the best upper bound of all entrants
of the termination competitions and whose ``koat2_class`` is KoAT2's. The work is resumable: what DIR/results.jsonl has is
not done again. One program is worked on at a time, in a process of its own.

Each answer is judged by runs of the judge's interpreter over the integers, with inputs that grow, random ones and streams
of nondeterministic values of several kinds: no run may take more iterations than its bound says, the bound may grow by no
more than its class, none may end where it is said that the program never does, and along the inputs of a lower class the
counts must grow by that degree.
"""

from __future__ import annotations

import argparse
import collections
import itertools
import json
import math
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

STEPS = 60_000
"""A run is cut off after so many interpreted steps; what it took until then counts."""

JUDGING_S = 2.5
"""So long is one program judged."""


# -- one program ------------------------------------------------------------------------------------------------------


def measured(file: Path, limit: float) -> dict[str, Any]:
    """One program in this process: what is claimed, and what the judge says of it."""
    from loopless.errors import LooplessError
    from loopless.queries.bounds.answering import answer_bounds
    from loopless.queries.program import load
    from loopless.queries.settings import Settings

    settings = Settings(mathematical=True, loop_timeout_s=limit / 2, timeout_s=limit, workers=1)
    started = time.perf_counter()
    try:
        program = load([file], settings)
        function = start_of(program)
        (found,) = answer_bounds([function], "all", settings)
    except LooplessError as error:
        return {"status": "error", "why": [str(error).splitlines()[0]]}
    graph = function.graph()
    inputs = {p.var for p in graph.parameters} | {
        v for v, info in graph.variables.items() if info.kind.value == "global"
    }
    row = claimed(found, inputs) | {"function": function.name, "seconds": round(time.perf_counter() - started, 2)}
    with tempfile.TemporaryDirectory() as folder:
        row |= Judge(file, Path(folder), settings, function.name).judge(found, row)
    return row


def start_of(program: Any) -> Any:
    """The function that no other one calls; of several the last one with loops."""
    from loopless.refusals import Refused

    called: set[str] = set()
    for function in program.functions:
        graph = function.graph()
        called |= set() if isinstance(graph, Refused) else graph.callees - {function.code.name}
    roots = [f for f in program.functions if f.code.name not in called] or list(program.functions)
    return max(enumerate(roots), key=lambda pair: (bool(pair[1].loops), pair[0]))[1]


def claimed(found: Any, inputs: set[Any]) -> dict[str, Any]:
    """The claim on all loops of a function together as numbers and text."""
    from loopless.bounds.asymptotics.lower import lower_class_of
    from loopless.queries.bounds.answers import class_of
    from loopless.terms import FALSE, TRUE

    call = found.call
    row: dict[str, Any] = {"why": refusals(found), "exact": call.exact, "loops": len(found.counts)}
    never = [loop.call.never for loop in found.counts if loop.call.never is not FALSE]
    whole = call.upper is not None and not call.has_gap and call.never is FALSE
    bounds = (call.upper, found.over_inputs)
    upper = next((term for term in bounds if term is not None and term.variables <= inputs), None)
    if whole and upper is None:
        row |= {
            "status": "unknown",
            "why": ["the bound is over values that the program reads"],
            "upper": str(call.upper)[:400],
        }
    elif whole:
        grows = class_of(found)
        row |= {"status": "finite", "upper": str(upper)[:400], "when": str(call.when)[:200]}
        row["class"] = grows.text() if grows is not None else None
        row["degree"] = str(grows.degree) if grows is not None else None
        row["conditional"] = call.when is not TRUE
    else:
        row["status"] = "infinite" if never else "unknown"
        row["never"] = [str(condition)[:200] for condition in never]
    lower = lower_class_of(call, found.shown)
    if lower is not None:
        row |= {"lower": lower.text, "lower_degree": lower.degree}
        row["ray"] = {var.name: sign for var, sign in lower.ray.items()}
    return row


def refusals(found: Any) -> list[str]:
    """Why a loop, or the function, has no bound."""
    refused = [found.refused, *(r for loop in found.counts for r in (loop.refused, loop.refused_call))]
    return list(dict.fromkeys(f"{r.reason.code} {r.detail}"[:160] for r in refused if r is not None))


# -- the judge --------------------------------------------------------------------------------------------------------


class Judge:
    """Runs of one program over the integers, by the interpreter."""

    def __init__(self, file: Path, folder: Path, settings: Any, name: str) -> None:
        from loopless.check.interpreter.run import Interpreter
        from loopless.flowgraph import Options
        from loopless.queries.program import load

        # What the program calls without defining it is an input of the program.
        text = re.sub(r"\brandom\b", "__VERIFIER_nondet_int", file.read_text(errors="replace"))
        copy = folder / "program.c"
        copy.write_text(text)
        program = load([copy], settings)
        function = next(f for f in program.functions if f.name == name)
        self.graph = function.graph()
        self.interpreter = Interpreter(program.source.inlined, self.graph, options=Options(mathematical=True))
        self.until = time.monotonic() + JUDGING_S
        self.wrong: list[str] = []
        self.runs = self.compared = self.endless = 0

    def run(self, arguments: Sequence[int], nondet: Any) -> Any:
        """One run, cut off after STEPS."""
        self.runs += 1
        return self.interpreter.run(arguments, nondet, max_steps=STEPS)

    def values(self, arguments: Sequence[int]) -> dict[Any, int]:
        """The entry values of the parameters."""
        pairs = zip(self.graph.parameters, arguments, strict=True)
        return {p.var: a for p, a in pairs if p.var is not None}

    def judge(self, found: Any, row: Mapping[str, Any]) -> dict[str, Any]:
        """What the runs say of the claims."""
        for arguments, nondet in drawn(len(self.graph.parameters), self.until):
            try:
                run = self.run(arguments, nondet)
            except Exception as error:  # noqa: BLE001  a run that the judge cannot do judges nothing
                return {"judge": f"{type(error).__name__}: {error}"[:120], "wrong": self.wrong}
            self._compare(found, arguments, run)
            if len(self.wrong) > 3:
                break
        if row.get("degree") is not None:
            self._class_of_bound(found, float(eval_fraction(row["degree"])))
        if "lower_degree" in row:
            self._lower(row)
        said = {"wrong": self.wrong, "runs": self.runs, "compared": self.compared}
        if row["status"] == "infinite" and not self.endless:
            # Nobody has seen inputs from which it does not end: that is no proof.
            said |= {"status": "unknown", "why": ["whether there are inputs for which it never ends is not known"]}
        return said | {"endless": self.endless}

    def _compare(self, found: Any, arguments: Sequence[int], run: Any) -> None:
        from loopless.terms import EvaluationError, evaluate, holds

        values, call, count = self.values(arguments), found.call, sum(run.iterations.values())
        try:
            for loop in found.counts:
                if not holds(loop.call.never, values):
                    continue
                self.endless += run.status != "ok"
                if run.status == "ok":
                    self.wrong.append(f"{arguments}: ends, though {loop.answer.loop.name} is said never to")
            if call.upper is None or not holds(call.when, values) or holds(call.never, values):
                return
            if found.over_inputs is not None and found.over_inputs.variables <= values.keys():
                self._not_above(arguments, count, evaluate(found.over_inputs, values))
            upper = evaluate(call.upper, values)
            self._not_above(arguments, count, upper)
            if run.status == "ok" and not (
                evaluate(call.lower, values) <= count and (not call.exact or count == upper)
            ):
                self.wrong.append(f"{arguments}: {count} iterations, lower {evaluate(call.lower, values)}, {upper}")
        except EvaluationError:
            return

    def _not_above(self, arguments: Sequence[int], count: int, upper: int) -> None:
        self.compared += 1
        if count > upper:
            self.wrong.append(f"{arguments}: {count} iterations, bound {upper}")

    def _class_of_bound(self, found: Any, degree: float) -> None:
        """The bound itself must not grow faster than its class, along some rays."""
        from loopless.terms import EvaluationError, evaluate

        variables = [p.var for p in self.graph.parameters if p.var is not None]
        upper = (
            found.call.upper if found.call.upper.variables <= set(variables) else found.over_inputs or found.call.upper
        )
        chosen = random.Random(1)
        for _ in range(40):
            signs = [chosen.choice((1, 1, -1, 0, 3)) for _ in variables]
            try:
                first, last = (
                    evaluate(upper, {v: s << bits for v, s in zip(variables, signs, strict=True)}) for bits in (40, 80)
                )
            except EvaluationError:
                continue
            if first > 0 and last > 0 and math.log2(last) - math.log2(first) > 40 * degree + 8:
                self.wrong.append(f"the bound grows faster than its class along {signs}")
                return

    def _lower(self, row: Mapping[str, Any]) -> None:
        """Along the ray of a lower class the counts must grow by its degree."""
        signs = [row["ray"].get(p.var.name, 0) if p.var is not None else 0 for p in self.graph.parameters]
        counts: list[tuple[int, int]] = []
        for bits in range(2, 14):
            run = self.run([sign << bits for sign in signs], [])
            if run.status != "ok":
                break
            counts.append((1 << bits, sum(run.iterations.values())))
        if len(counts) < 4:
            return
        # Differences, since what is added to the leading part does not count.
        steps = [after - before for (_, before), (_, after) in itertools.pairwise(counts)][-2:]
        grown = math.log2(max(steps[1], 1) / max(steps[0], 1))
        if counts[-1][1] < 1 or (row["lower_degree"] > 0 and (steps[1] < 1 or grown < row["lower_degree"] - 0.3)):
            self.wrong.append(f"lower class {row['lower']}: measured growth {grown:.2f}")


def eval_fraction(text: str) -> float:
    """``3/2`` as a number."""
    above, _, below = text.partition("/")
    return int(above) / int(below or 1)


def drawn(parameters: int, until: float) -> Iterator[tuple[list[int], Any]]:
    """Inputs and streams of nondeterministic values: edges, then random ones of growing size."""
    chosen = random.Random(parameters)
    for size in (0, 1, 2, 3, 5, 9, 17, 33, 65, 129, 300, 1000):
        for _ in range(60):
            if time.monotonic() > until:
                return
            arguments = [chosen.choice((size, -size, chosen.randint(-size, size), chosen.randint(0, size)))
                         for _ in range(parameters)]  # fmt: skip
            yield arguments, stream(chosen, size)


def stream(chosen: random.Random, size: int) -> list[int]:
    """Nondeterministic values: always 0, always 1, mostly one of them, or anything of a size."""
    often = chosen.choice((0.0, 1.0, 0.5, 0.95, 0.05))
    wild = chosen.choice((0.0, 0.1))
    return [
        chosen.randint(-size, size) if chosen.random() < wild else int(chosen.random() < often) for _ in range(2000)
    ]


# -- all programs -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Kept:
    """The rows that are done, by file."""

    file: Path

    def rows(self) -> dict[str, dict[str, Any]]:
        """All of them; of several of one program the last."""
        if not self.file.exists():
            return {}
        lines = self.file.read_text(encoding="utf-8").splitlines()
        return {row["file"]: row for row in map(json.loads, lines)}

    def add(self, row: Mapping[str, Any]) -> None:
        """One more."""
        with self.file.open("a", encoding="utf-8") as out:
            out.write(json.dumps(row) + "\n")


def in_child(file: Path, limit: float) -> dict[str, Any]:
    """One program in a process of its own."""
    command = [sys.executable, __file__, "--one", str(file), "--limit", str(limit)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=2 * limit + 30, check=False)
    except subprocess.TimeoutExpired:
        return {"status": "unknown", "why": ["time limit"]}
    if done.returncode:
        return {"status": "crash", "why": (done.stderr.strip().splitlines() or ["?"])[-1:]}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def verdict(row: Mapping[str, Any], entry: Mapping[str, Any]) -> str:
    """How a program stands beside the best that is known: better, equal, worse, missed, both unknown."""
    known = (entry.get("best_known") or {}).get("upper_degree")
    if row["status"] == "finite":
        if known is None:
            return "only ours"
        if row["degree"] is None:
            return "higher"
        degree = eval_fraction(row["degree"])
        return "equal" if degree == known else "lower" if degree < known else "higher"
    if known is not None:
        return "missed"
    return "never ends" if row["status"] == "infinite" else "neither"


def report(entries: Sequence[Mapping[str, Any]], rows: Mapping[str, Mapping[str, Any]], *, every: bool) -> None:
    """The table and the counts."""
    judged = [entry for entry in entries if "best_known" in entry]
    done = [(entry, rows[entry["file"]]) for entry in entries if entry["file"] in rows]
    counts = collections.Counter(verdict(row, entry) for entry, row in done)
    known = sum("upper_degree" in (entry.get("best_known") or {}) for entry, _ in done)
    print(f"{len(done)} of {len(entries)} programs done; best known: {known} finite of {len(judged)} with an entry")
    among = [row for entry, row in done if "best_known" in entry]
    finite = [row for _, row in done if row["status"] == "finite"]
    print(f"ours: {sum(row['status'] == 'finite' for row in among)} finite of these, {len(finite)} of all; "
          f"{sum(row['status'] == 'infinite' for _, row in done)} proved not to end for some inputs; "
          f"{sum('lower' in row for _, row in done)} with a lower class; "
          f"{sum(bool(row.get('wrong')) for _, row in done)} wrong")  # fmt: skip
    print("\n| beside the best known | programs |\n|---|---|")
    for name, count in counts.most_common():
        print(f"| {name} | {count} |")
    koat = [(entry["koat2_class"], row) for entry, row in done if entry.get("koat2_class")]
    beside = collections.Counter(
        ("KoAT2 finite" if known_class != "Infinity" else "KoAT2 none")
        + (", ours finite" if row["status"] == "finite" else ", ours none")
        for known_class, row in koat
    )
    print("\n" + "; ".join(f"{name}: {count}" for name, count in sorted(beside.items())))
    why = collections.Counter(row["why"][0] if row["why"] else "?" for entry, row in done
                              if verdict(row, entry) == "missed")  # fmt: skip
    print("\n| cause where one is known and ours is missing | programs |\n|---|---|")
    for cause, count in why.most_common():
        print(f"| {cause} | {count} |")
    if every:
        print(
            "\n| program | upper | lower | best known | KoAT2 | beside it | runs compared |\n|---|---|---|---|---|---|---|"
        )
        for entry, row in done:
            best = (entry.get("best_known") or {}).get("upper_degree")
            upper = (row["class"] or "finite") if row["status"] == "finite" else row["status"]
            print(f"| {entry['file']} | {upper} | {row.get('lower', '')} | {'' if best is None else best} "
                  f"| {entry.get('koat2_class', '')} | {verdict(row, entry)} | {row.get('compared', 0)} |")  # fmt: skip
    for entry, row in done:
        for line in row.get("wrong") or ():
            print(f"WRONG {entry['file']}: {line}")


def main() -> int:
    """Work through the programs, or report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--limit", type=float, default=20.0, help="seconds for one program")
    parser.add_argument("--only", default="", help="programs whose name contains this")
    parser.add_argument("--again", default="", help="do programs again that stand like this beside the best known")
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--every", action="store_true", help="report each program")
    parser.add_argument("--one", type=Path, help="one program in this process, as JSON")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measured(options.one, options.limit)))
        return 0
    if options.folder is None or options.keep is None:
        parser.error("FOLDER and --keep are needed")
    entries = json.loads((options.folder / "manifest.json").read_text(encoding="utf-8"))
    options.keep.mkdir(parents=True, exist_ok=True)
    kept = Kept(options.keep / "results.jsonl")
    rows = kept.rows()
    again = set(options.again.split(",")) if options.again else set()
    for entry in () if options.report else entries:
        known = rows.get(entry["file"])
        if options.only not in entry["file"] or (known is not None and verdict(known, entry) not in again):
            continue
        row = {"file": entry["file"], **in_child(options.folder / entry["file"], options.limit)}
        kept.add(row)
        shown = row.get("class") or row["status"]
        print(f"{entry['file']}: {shown} {row.get('lower', '')} ({verdict(row, entry)}, {row.get('seconds', '')} s)"
              + (f" WRONG {row['wrong'][0]}" if row.get("wrong") else ""), flush=True)  # fmt: skip
    rows = kept.rows()
    report(entries, rows, every=options.every)
    return 1 if any(row.get("wrong") for row in rows.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
