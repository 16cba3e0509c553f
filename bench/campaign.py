"""Random single loops: the summary of each, judged state by state against the loop itself, run alone.

    python bench/campaign.py --loops 5000 --out campaign.jsonl --keep DIR [--jobs 2] [--seconds 3600]

Every state drawn at the loop's header must lie in exactly one of the cases and regions of the summary, and the run of
the loop from there must agree with it: exit, values at the exit, iterations, iterations of each path. A quarter of the
loops is of 8 bits; of those every entry state of the function is judged, and every state of the header where these are
no more than 2^16. Results go to ``--out``, one line a loop; loops that are there already are not done again. A loop
that takes longer than ``--limit`` seconds is abandoned together with its process; judging has two minutes.
"""

from __future__ import annotations

import argparse
import collections
import json
import multiprocessing
import signal
import statistics
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from loopless.check.alone import LoopAlone
from loopless.check.claims import Claims, Judgement, judge_all
from loopless.check.generate import PROFILES, features, generate, print_program
from loopless.check.generate_ast import GeneratedProgram
from loopless.check.generate_case import Case
from loopless.check.interpret import Interpreter, Jump
from loopless.check.minimize import minimize
from loopless.check.states import all_states, constants, draw_states
from loopless.errors import UsageError
from loopless.flowgraph import build
from loopless.flowgraph.model import Flowgraph, LoopInfo
from loopless.paths import LoopPaths, loop_paths
from loopless.refusals import Refused
from loopless.source import load
from loopless.summary import Summary, summarize
from loopless.terms import Var

EIGHT_BIT_EVERY = 4
STATES = 300
STEPS = 20_000
JUDGE_SECONDS = 120.0
STAGES = ("read", "flowgraph", "paths", "summary", "judge")


@dataclass
class Subject:
    """One program on its way through the stages."""

    text: str
    folder: Path
    seconds: dict[str, float] = field(default_factory=dict)
    graph: Flowgraph | None = None
    loop: LoopInfo | None = None
    paths: Any = None
    outcome: Any = None

    def timed(self, stage: str, started: float) -> None:
        """Note what a stage took, in processor time."""
        self.seconds[stage] = time.process_time() - started

    def summarize(self) -> None:
        """All stages up to the summary; ``loop`` stays None where no loop is left to summarize."""
        file = self.folder / "case.c"
        file.write_text(self.text)
        begun = time.perf_counter()
        program = load([file])
        self.seconds["read"] = time.perf_counter() - begun  # clang is another process
        started = time.process_time()
        self.graph = build(program.inlined.functions["f"], program.inlined)
        self.timed("flowgraph", started)
        if len(self.graph.loops) != 1:
            return
        self.loop = self.graph.loops[0]
        started = time.process_time()
        self.paths = loop_paths(self.graph, self.loop)
        self.timed("paths", started)
        started = time.process_time()
        self.outcome = summarize(self.paths)
        self.timed("summary", started)

    def judge(
        self, seed: int, states: int, *, everything: bool = False, extra: Sequence[Mapping[str, int]] = ()
    ) -> Judgement | None:
        """The summary against the loop; None where the loop depends on more than its variables. ``extra``: states to
        judge first, by the names of variables.
        """
        if self.graph is None or self.loop is None or not isinstance(self.outcome, Summary):
            return None
        assert isinstance(self.paths, LoopPaths)
        started = time.process_time()
        try:
            alone = LoopAlone(self.graph, self.loop, {path.id: path.condition for path in self.paths.iterative})
        except UsageError:
            return None
        claims = Claims(self.outcome, alone.variables, {path.id: path.outputs for path in self.paths.exits})
        numbers = constants([part for path in self.paths.all for part in (path.condition, *path.update.values())])
        drawn = [{var: state[var.name] for var in alone.entry if var.name in state} for state in extra]
        drawn = [state for state in drawn if all(var.type.holds(value) for var, value in state.items())]
        drawn += draw_states(alone.entry, numbers, seed, states)
        found = judge_all(alone, claims, drawn, max_steps=STEPS)
        if everything and not found.mismatches:
            header = all_states(alone.entry)
            rest = header if header is not None else entry_states(self.graph)
            found = joined(found, judge_all(alone, claims, rest, max_steps=STEPS))
        self.timed("judge", started)
        return found


def joined(one: Judgement, other: Judgement) -> Judgement:
    """Both together."""
    return Judgement(
        one.regions + other.regions,
        one.outcomes + other.outcomes,
        one.states + other.states,
        one.compared + other.compared,
        one.mismatches + other.mismatches,
    )


def entry_states(graph: Flowgraph) -> Iterator[Mapping[Var, int]]:
    """The states in which the function's runs, on all its arguments, come to the loop."""
    interpreter = Interpreter(None, graph)
    seen: list[Mapping[Var, int]] = []

    def arrived(_: LoopInfo, values: Mapping[Var, int]) -> Jump:
        seen.append(dict(values))
        return Jump(status="unknown", reason="only the entry is asked for")

    known: set[tuple[tuple[Var, int], ...]] = set()
    types = [parameter.type for parameter in graph.parameters]
    if sum(type_.width or 64 if type_ is not None else 64 for type_ in types) > 16:
        return
    for arguments in all_arguments(graph):
        seen.clear()
        interpreter.run(arguments, on_loop=arrived)
        for state in seen:
            key = tuple(state.items())
            if key not in known:
                known.add(key)
                yield state


def all_arguments(graph: Flowgraph) -> Iterable[tuple[int, ...]]:
    """Every tuple of arguments."""
    ranges = [range(p.type.min or 0, (p.type.max or 0) + 1) for p in graph.parameters if p.type is not None]
    return product(*ranges)


def programme(seed: int) -> GeneratedProgram:
    """The program of a seed."""
    name = "single-loop-8" if seed % EIGHT_BIT_EVERY == 0 else "single-loop"
    return generate(seed, PROFILES[name])


def one(
    seed: int,
    folder: Path,
    states: int,
    every: int = 1,
    progress: Callable[[dict[str, Any]], None] | None = None,
) -> dict[str, Any]:
    """One loop, from its text to its judgement: all entry states of each ``every``-th of the 8-bit loops.
    ``progress`` gets the row as it is before the judgement.
    """
    program = programme(seed)
    subject = Subject(print_program(program), folder)
    row: dict[str, Any] = {"seed": seed, "features": sorted(features(program)), "status": "crash"}
    try:
        subject.summarize()
        row["seconds"] = subject.seconds
        if subject.loop is None:
            row["status"] = "no loop"
            return row
        row["paths"] = len(subject.paths.iterative) if isinstance(subject.paths, LoopPaths) else 0
        if isinstance(subject.outcome, Refused):
            row |= {"status": "refused", "causes": [cause(subject.outcome)], "details": [subject.outcome.detail[:160]]}
            return row
        summary = subject.outcome
        row |= {
            "status": "complete" if summary.complete else "residual",
            "causes": sorted({cause(part.why) for part in summary.residual}),
            "details": [part.why.detail[:160] for part in summary.residual[:2]],
            "pieces": len(summary.cases),
            "strategy": summary.strategy,
        }
        if progress is not None:
            progress(row)
        judged = subject.judge(seed, states, everything=every > 0 and seed % (EIGHT_BIT_EVERY * every) == 0)
        if judged is not None:
            row |= {
                "states": judged.states,
                "compared": judged.compared,
                "regions": judged.regions,
                "outcomes": judged.outcomes,
                "mismatches": [[{v.name: n for v, n in state.items()}, why] for state, why in judged.mismatches],
            }
    except Exception:  # noqa: BLE001  a crash on any program is a finding, and the campaign goes on
        row |= {"status": "crash", "causes": [traceback.format_exc(limit=-5)]}
    return row


def cause(refused: Refused) -> str:
    """A refusal in a word."""
    return f"{refused.reason.code} {refused.reason.label}"


def smallest(seed: int, folder: Path, keep: Path, states: int, seconds: float) -> None:
    """Minimize the mismatch or the crash of a seed and write it to ``keep``."""
    program = programme(seed)
    ends = time.perf_counter() + seconds
    row = one(seed, folder, states)
    crashed = row["status"] == "crash"
    known = [state for state, _ in row.get("mismatches", ())]

    def failure(candidate: GeneratedProgram) -> tuple[Subject, Judgement | None] | None:
        subject = Subject(print_program(candidate), folder)
        try:
            subject.summarize()
            judged = subject.judge(seed, min(states, 100), extra=known)
        except Exception:  # noqa: BLE001  crashes are minimized among themselves
            return (subject, None) if crashed else None
        return (subject, judged) if judged is not None and judged.mismatches and not crashed else None

    def fails(candidate: Case) -> bool:
        return time.perf_counter() < ends and failure(candidate.program) is not None

    no_input = tuple(0 for _ in program.function.params)
    small = minimize(Case(program, no_input), fails, budget=250)
    found = failure(small.program)
    keep.mkdir(parents=True, exist_ok=True)
    lines = [f"seed {seed} of bench/campaign.py"]
    if found is not None and found[1] is not None:
        for state, why in found[1].mismatches[:3]:
            lines.append(", ".join(f"{var.name} = {value}" for var, value in state.items()) + ": " + why)
    lines += ["", str(found[0].outcome) if found is not None else "not reproduced with these few states"]
    if crashed:
        lines.append("\n".join(row["causes"]))
    told = "\n".join(line[:600] for line in "\n".join(lines).splitlines()[:40]).replace("*/", "* /")
    (keep / f"seed{seed}.c").write_text(f"{print_program(small.program)}\n/*\n{told}\n*/\n")


# -- processes --------------------------------------------------------------------------------------------------------


def serve(pipe: Connection, states: int, every: int) -> None:
    """A worker: a seed in, a row out; ("keep", seed, folder, seconds) minimizes."""
    with tempfile.TemporaryDirectory() as name:
        while True:
            job = pipe.recv()
            if job is None:
                return
            if isinstance(job, tuple):
                _, seed, keep, seconds = job
                smallest(seed, Path(name), Path(keep), states, seconds)
                pipe.send({"seed": seed, "status": "kept"})
            else:
                pipe.send(one(job, Path(name), states, every, lambda row: pipe.send(row | {"partial": True})))


class Worker:
    """A process that can be given up on."""

    def __init__(self, states: int, every: int) -> None:
        self._asked = states, every
        self.pipe, self._process = self._start()
        self.job: Any = None
        self.partial: dict[str, Any] | None = None
        self.until = 0.0

    def _start(self) -> tuple[Connection, Any]:
        context = multiprocessing.get_context("spawn")
        here, there = context.Pipe()
        process = context.Process(target=serve, args=(there, *self._asked), daemon=True)
        process.start()
        return here, process

    def give(self, job: Any, limit: float) -> None:
        """Start a job."""
        self.job, self.until, self.partial = job, time.monotonic() + limit, None
        self.pipe.send(job)

    def receive(self, limit: float) -> dict[str, Any] | None:
        """The row, None where it is not finished: then the judgement has ``limit`` seconds. Raises EOFError."""
        row: dict[str, Any] = self.pipe.recv()
        if row.pop("partial", False):
            self.partial, self.until = row, time.monotonic() + limit
            return None
        self.job = None
        return row

    def restart(self) -> None:
        """Abandon the job."""
        self._process.kill()
        self._process.join()
        self.pipe.close()
        self.pipe, self._process = self._start()
        self.job = None

    def close(self) -> None:
        """End the process."""
        self._process.kill()


def campaign(options: argparse.Namespace, done: set[int]) -> Iterator[dict[str, Any]]:
    """The rows of all loops that are not done, as they come."""
    seeds = (seed for seed in range(options.first, options.first + options.loops) if seed not in done)
    ends = time.monotonic() + options.seconds if options.seconds else float("inf")
    jobs: collections.deque[Any] = collections.deque()
    workers = [Worker(options.states, options.every) for _ in range(options.jobs)]
    try:
        while True:
            for worker in workers:
                if worker.job is None:
                    job = jobs.popleft() if jobs else next(seeds, None) if time.monotonic() < ends else None
                    if job is not None:
                        worker.give(job, options.limit + 5 if not isinstance(job, tuple) else 10 * options.limit)
            busy = [worker for worker in workers if worker.job is not None]
            if not busy:
                return
            ready = wait([worker.pipe for worker in busy], 0.5)
            for worker in busy:
                row: dict[str, Any] | None = None
                if worker.pipe in ready:
                    try:
                        row = worker.receive(JUDGE_SECONDS)
                    except EOFError:
                        row = lost(worker, "the process died")
                elif time.monotonic() > worker.until:
                    row = lost(worker, "time limit")
                if row is None or row["status"] in ("kept", "given up"):
                    continue
                wrong = row["status"] == "crash" or row.get("mismatches")
                if wrong and options.keep and row.get("causes") != ["the process died"]:
                    jobs.append(("keep", row["seed"], options.keep, 5 * options.limit))
                yield row
    finally:
        for worker in workers:
            worker.close()


def lost(worker: Worker, why: str) -> dict[str, Any]:
    """A row for a job whose process is gone."""
    job, partial = worker.job, worker.partial
    worker.restart()
    if isinstance(job, tuple):
        return {"status": "given up"}
    if partial is not None:
        return partial | {"judgement": why}
    return {"seed": job, "features": sorted(features(programme(job))), "status": "limit", "causes": [why]}


# -- the report -------------------------------------------------------------------------------------------------------


def shown(rows: list[dict[str, Any]]) -> str:
    """The report."""
    loops = [row for row in rows if row["status"] != "no loop"]
    for row in loops:
        row["features"] += [f"paths: {row['paths']}"] if row.get("paths") else []
    status = collections.Counter(row["status"] for row in loops)
    mismatches = [row for row in loops if row.get("mismatches")]
    judged = sum(row.get("states", 0) for row in loops)
    compared = sum(row.get("compared", 0) for row in loops)
    complete = [row for row in loops if row["status"] == "complete"]
    lines = [
        f"{len(loops)} loops, {len(mismatches)} with a mismatch, {status['crash']} crashes; "
        f"{100 * len(complete) / max(len(loops), 1):.1f}% complete",
        f"{judged} states judged, {compared} compared with a run",
        "status: " + ", ".join(f"{count} {name}" for name, count in status.most_common()),
    ]
    unjudged = sum("judgement" in row for row in loops)
    if unjudged:
        lines.append(f"{unjudged} judgements were abandoned")
    outcomes: collections.Counter[str] = collections.Counter()
    regions: collections.Counter[str] = collections.Counter()
    for row in loops:
        outcomes.update(row.get("outcomes", {}))
        regions.update(row.get("regions", {}))
    lines.append("runs: " + ", ".join(f"{count} {name}" for name, count in outcomes.most_common()))
    lines.append("regions: " + ", ".join(f"{count} {name}" for name, count in regions.most_common()))
    lines += ["", "| stage | ms median | p90 | max | s in all |", "|---|---|---|---|---|"]
    for stage in STAGES:
        spent = sorted(1000 * row["seconds"][stage] for row in loops if stage in row.get("seconds", {}))
        if spent:
            lines.append(
                f"| {stage} | {statistics.median(spent):.1f} | {spent[len(spent) * 9 // 10]:.1f} | {spent[-1]:.0f} "
                f"| {sum(spent) / 1000:.0f} |"
            )
    pieces = sorted(row["pieces"] for row in complete)
    if pieces:
        lines += ["", f"pieces of complete loops: median {pieces[len(pieces) // 2]}, p90 {pieces[len(pieces) * 9 // 10]}, "
                  f"most {pieces[-1]}"]
    causes: collections.Counter[str] = collections.Counter()
    for row in loops:
        causes.update(word.strip().splitlines()[-1][:90] for word in row.get("causes", ()))
    lines += ["", "| cause of what is not complete | loops |", "|---|---|"]
    lines += [f"| {name} | {count} |" for name, count in causes.most_common()]
    kinds = collections.Counter(kind for row in loops for kind in {kind_of(text) for text in row.get("details", ())})
    lines += ["", "| what is in the way | loops |", "|---|---|"]
    lines += [f"| {name} | {count} |" for name, count in kinds.most_common(25)]
    lines += ["", "| feature | loops | complete |", "|---|---|---|"]
    names = sorted({name for row in loops for name in row["features"]})
    lines += [shares(name, [row for row in loops if name in row["features"]]) for name in names]
    for row in mismatches:
        state, why = row["mismatches"][0]
        lines += ["", f"seed {row['seed']}: {state}: {why}"]
    return "\n".join(lines)


_KINDS = (
    ("after k rounds", "pow(", "control grows or shrinks by a factor"),
    ("after k rounds", "#k*#k", "control is a polynomial in the number of rounds"),
    ("after k rounds", "#k*", "control steps by an invariant"),
    ("after k rounds", "", "control has another closed form"),
    ("take turns has no closed form", "", "a sum over paths that take turns"),
    ("in each iteration", "is not linear", "an update that is not linear"),
    ("has no closed form", "", "no closed form of one path"),
    ("not affine in the number", "", "a condition that is not affine in the number of iterations"),
    ("holds all along is not decided", "", "a check along the run"),
    ("ends at some time", "", "whether a run ends by undefined behaviour"),
    ("budget", "", "the budget"),
)


def kind_of(detail: str) -> str:
    """What a refusal complains of, without the names of its variables."""
    for word, other, kind in _KINDS:
        if word in detail and other in detail:
            return kind
    return detail[:60]


def shares(name: str, rows: list[dict[str, Any]]) -> str:
    """One row of a table: how many, and which share is complete."""
    good = sum(row["status"] == "complete" for row in rows)
    return f"| {name} | {len(rows)} | {100 * good / max(len(rows), 1):.0f}% |"


def main() -> int:
    """Run the campaign and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loops", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--states", type=int, default=STATES, help="states drawn for each loop")
    parser.add_argument("--every", type=int, default=1, help="judge all entry states of each N-th 8-bit loop; 0: none")
    parser.add_argument("--limit", type=float, default=20.0, help="seconds for one loop")
    parser.add_argument("--seconds", type=float, default=0.0, help="start no loop after this time")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", default="", help="file for the results; what it has is not done again")
    parser.add_argument("--keep", default="", help="folder for minimized mismatches and crashes")
    parser.add_argument("--report", action="store_true", help="only report what is in --out")
    options = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit("interrupted"))  # so that the workers are ended, too
    rows: list[dict[str, Any]] = []
    out = Path(options.out) if options.out else None
    if out is not None and out.exists():
        rows = [json.loads(line) for line in out.read_text().splitlines()]
    if not options.report:
        for row in campaign(options, {row["seed"] for row in rows}):
            rows.append(row)
            if out is not None:
                with out.open("a") as file:
                    file.write(json.dumps(row) + "\n")
            print(f"\r{len(rows)} loops", end="", file=sys.stderr)
        print(file=sys.stderr)
    chosen = list({row["seed"]: row for row in rows if options.first <= row["seed"] < options.first + options.loops}.values())
    print(shown(sorted(chosen, key=lambda row: row["seed"])))
    return 1 if any(row.get("mismatches") or row["status"] == "crash" for row in chosen) else 0


if __name__ == "__main__":
    sys.exit(main())
