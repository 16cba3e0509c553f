"""``eval`` against native execution on random functions: mismatches, and who answered, by feature.

    python bench/differential.py --functions 2000 --inputs 20 --jobs 2

Every function is generated from its seed, so that a run can be repeated; a mismatch is minimized and kept as a C file
in ``--keep``. Exit status 1 if there was any.
"""

from __future__ import annotations

import argparse
import collections
import json
import multiprocessing
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path

from loopless.check.generate import PROFILES, features, generate, inputs, nondet_stream, print_program
from loopless.check.generate_case import Case, save_case
from loopless.check.interpret import Interpreter
from loopless.check.minimize import minimize
from loopless.check.native import Limits, NativeHost, NativeOracle, Run
from loopless.check.outcome import Outcome
from loopless.flowgraph import build
from loopless.flowgraph.model import LoopInfo
from loopless.paths import loop_paths
from loopless.queries.evaluation import Evaluation, Evaluator
from loopless.refusals import Refused
from loopless.source import load
from loopless.summary import Outcome as Summarized
from loopless.summary import summarize

STEPS = 60_000
NATIVE_SECONDS = 0.25


@dataclass
class Tally:
    """Counts of one share of the campaign."""

    functions: int = 0
    loops: collections.Counter[str] = field(default_factory=collections.Counter)
    runs: collections.Counter[str] = field(default_factory=collections.Counter)
    by: collections.Counter[str] = field(default_factory=collections.Counter)
    by_feature: collections.Counter[tuple[str, str]] = field(default_factory=collections.Counter)
    refusals: collections.Counter[str] = field(default_factory=collections.Counter)
    unknown: collections.Counter[str] = field(default_factory=collections.Counter)
    mismatches: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, other: Tally) -> None:
        """Sum up."""
        self.functions += other.functions
        for name in ("loops", "runs", "by", "by_feature", "refusals", "unknown"):
            getattr(self, name).update(getattr(other, name))
        self.mismatches += other.mismatches
        self.seconds += other.seconds


def disagreement(evaluation: Evaluation, native: Outcome) -> str | None:
    """What the two say differently, None where they agree or one of them has no answer."""
    if evaluation.status == "unknown" or native.status in ("unknown", "timeout", "crashed"):
        if evaluation.status == "ok" and native.status == "crashed":
            return f"evaluated to ok, crashed natively ({native.detail})"
        return None
    if evaluation.status == "diverges":
        return f"evaluated to diverges, natively {native}"
    own = Outcome(
        evaluation.status,  # type: ignore[arg-type]
        evaluation.return_value,
        evaluation.outputs,
        evaluation.globals,
    )
    return None if own.agrees_with(native) else f"evaluated to {own}, natively {native}"


class Subject:
    """One program, ready to be evaluated."""

    def __init__(self, text: str, host: NativeHost, folder: Path, tally: Tally | None = None) -> None:
        file = folder / "case.c"
        file.write_text(text)
        program = load([file])
        self.graph = build(program.inlined.functions["f"], program.inlined)
        self.interpreter = Interpreter(program.inlined, self.graph)
        self.tally = tally
        self.evaluator = Evaluator(self.graph, self.interpreter, self._summarize)
        self.oracle = NativeOracle(text, limits=Limits(seconds=NATIVE_SECONDS), host=host)

    def _summarize(self, loop: LoopInfo) -> Summarized:
        outcome = summarize(loop_paths(self.graph, loop))
        if self.tally is not None:
            if isinstance(outcome, Refused):
                self.tally.loops["refused"] += 1
                self.tally.refusals[f"{outcome.reason.code} {outcome.reason.label}"] += 1
            else:
                self.tally.loops["complete" if outcome.complete else "residual"] += 1
                for residual in outcome.residual:
                    self.tally.refusals[f"{residual.why.reason.code} {residual.why.reason.label}"] += 1
        return outcome

    def evaluate(self, args: tuple[object, ...], nondet: tuple[int, ...]) -> Evaluation:
        """One evaluation."""
        return self.evaluator.run(list(args), nondet, max_steps=STEPS)  # type: ignore[arg-type]


def share(job: tuple[int, int, int, str, str]) -> Tally:
    """The functions with seeds ``first`` ≤ seed < ``last``."""
    first, last, count, profile_name, keep = job
    profile = next(p for p in PROFILES.values() if p.name == profile_name) if profile_name else None
    tally = Tally()
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder, NativeHost() as host:
        for seed in range(first, last):
            try:
                one(seed, count, profile, Path(folder), host, tally, keep)
            except Exception:  # noqa: BLE001  a crash on any program is a finding, and the campaign goes on
                tally.mismatches.append(f"seed {seed}: {traceback.format_exc(limit=-6)}")
    tally.seconds = time.perf_counter() - started
    return tally


def one(  # noqa: PLR0917
    seed: int, count: int, profile: object, folder: Path, host: NativeHost, tally: Tally, keep: str
) -> None:
    """One function with all its inputs."""
    generated = generate(seed, profile) if profile is not None else generate(seed)  # type: ignore[arg-type]
    text = print_program(generated)
    subject = Subject(text, host, folder, tally)
    tally.functions += 1
    signature = subject.oracle.signature("f")
    stream = nondet_stream(seed)
    rows = inputs(signature, seed, count)
    natives = subject.oracle.run_many("f", [Run(args, stream) for args in rows])
    found = sorted(features(generated))
    answered: set[str] = set()
    for args, native in zip(rows, natives, strict=True):
        evaluation = subject.evaluate(args, stream)
        tally.runs[evaluation.status] += 1
        who = evaluation.by if evaluation.status != "unknown" else "unknown"
        tally.by[who] += 1
        answered.add(who)
        if evaluation.status == "unknown":
            tally.unknown[evaluation.reason.split(" at ")[0][:80]] += 1
        difference = disagreement(evaluation, native)
        if difference is not None:
            tally.mismatches.append(f"seed {seed} args {args}: {difference}")
            if keep:
                keep_smallest(Case(generated, args, stream), difference, host, folder, Path(keep), seed)
            break
    for feature in found:
        for who in answered:
            tally.by_feature[feature, who] += 1
        tally.by_feature[feature, "functions"] += 1


def keep_smallest(case: Case, why: str, host: NativeHost, folder: Path, keep: Path, seed: int) -> None:
    """Minimize a mismatch and write it to ``keep``."""

    def fails(candidate: Case) -> bool:
        try:
            subject = Subject(print_program(candidate.program), host, folder)
            native = subject.oracle.run("f", candidate.args, nondet=candidate.nondet)
            return disagreement(subject.evaluate(candidate.args, candidate.nondet), native) is not None
        except Exception:  # noqa: BLE001  a candidate that cannot be run does not show this mismatch
            return False

    small = minimize(case, fails, budget=150)
    subject = Subject(print_program(small.program), host, folder)
    expected = subject.oracle.run("f", small.args, nondet=small.nondet)
    keep.mkdir(parents=True, exist_ok=True)
    save_case(keep / f"seed{seed}.c", small, expected, why)


def shown(tally: Tally) -> str:
    """The report."""
    total = sum(tally.runs.values())
    lines = [
        f"{tally.functions} functions, {total} runs, {len(tally.mismatches)} mismatches, {tally.seconds:.0f} s of work",
        "loops: " + ", ".join(f"{n} {k}" for k, n in sorted(tally.loops.items())),
        "outcomes: " + ", ".join(f"{n} {k}" for k, n in tally.runs.most_common()),
        "answered by: " + ", ".join(f"{n} {k} ({100 * n / max(total, 1):.1f}%)" for k, n in tally.by.most_common()),
        "refusals: " + ", ".join(f"{n} {k}" for k, n in tally.refusals.most_common()),
        "unknown because: " + "; ".join(f"{n} {k}" for k, n in tally.unknown.most_common(12)),
        "",
        "| feature | functions | a run by summary | a run by interpretation | a run unknown |",
        "|---|---|---|---|---|",
    ]
    names = sorted({feature for feature, _ in tally.by_feature})
    for name in names:
        row = [tally.by_feature[name, who] for who in ("functions", "summary", "interpretation", "unknown")]
        lines.append(f"| {name} | " + " | ".join(map(str, row)) + " |")
    return "\n".join([*lines, "", *tally.mismatches])


def main() -> int:
    """Run the campaign."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--functions", type=int, default=200)
    parser.add_argument("--inputs", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--profile", default="", help="a profile of the generator: " + ", ".join(PROFILES))
    parser.add_argument("--keep", default="", help="folder for minimized mismatches")
    parser.add_argument("--json", default="", help="file for the counts")
    options = parser.parse_args()
    size = 10
    end = options.first + options.functions
    jobs = [
        (start, min(start + size, end), options.inputs, options.profile, options.keep)
        for start in range(options.first, end, size)
    ]
    tally = Tally()
    with multiprocessing.get_context("spawn").Pool(options.jobs, maxtasksperchild=4) as pool:
        for part in pool.imap_unordered(share, jobs):
            tally.add(part)
            print(
                f"\r{tally.functions}/{options.functions}, {len(tally.mismatches)} mismatches", end="", file=sys.stderr
            )
    print(file=sys.stderr)
    tally.mismatches.sort()
    print(shown(tally))
    if options.json:
        counts = {"functions": tally.functions, "runs": tally.runs, "by": tally.by, "loops": tally.loops}
        Path(options.json).write_text(json.dumps(counts, indent=1))
    return 1 if tally.mismatches else 0


if __name__ == "__main__":
    sys.exit(main())
