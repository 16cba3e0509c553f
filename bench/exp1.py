"""Programs with known outputs (LoopSCC's first experiment): exact, not by running, in how much time.

    python bench/exp1.py FOLDER [--inputs 1000] [--size 1000000]

FOLDER holds C templates: a function ``start`` of integers that ends in ``assert(v == {k})`` for each of its outputs. The
assertions become assignments to globals, and the rest of the template, which calls ``start`` with given values, is left
out. Each program gets ``--inputs`` random inputs of up to ``--size`` in absolute value, drawn so that its loops run at
least a tenth as often where that is found in 20 tries, and each answer is compared with a native run. An output that the
program never assigns on a run is found by a second native run in which uninitialised variables hold another value, and
is not judged: the program is asked again without it.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from loopscc_templates import as_function

from loopless.check.interpreter.run import Interpreter
from loopless.check.oracle.native import NativeHost, NativeLimits, NativeOracle, NativeRun
from loopless.check.outcome import Outcome
from loopless.flowgraph import build
from loopless.flowgraph.model import LoopInfo
from loopless.queries.evaluation.evaluate import Evaluation, Evaluator
from loopless.source import load
from loopless.summary import Outcome as Summarized
from loopless.summary import paths_of, summarize

_START = re.compile(r"void\s+start\s*\(([^)]*)\)")


@dataclass
class Row:
    """What one program came to."""

    name: str
    runs: int = 0
    exact: int = 0
    interpreted: int = 0
    unknown: int = 0
    wrong: list[str] = field(default_factory=list)
    unjudged: int = 0
    iterations: list[int] = field(default_factory=list)
    summary_ms: float = 0.0
    eval_us: float = 0.0
    why: set[str] = field(default_factory=set)


class Subject:
    """A program that can be evaluated and run."""

    def __init__(self, text: str, name: str, folder: Path, host: NativeHost) -> None:
        file = folder / name
        file.write_text(text)
        program = load([file])
        self.graph = build(program.inlined.functions["start"], program.inlined)
        self.summary_ms = 0.0
        self.evaluator = Evaluator(self.graph, Interpreter(program.inlined, self.graph), self._summarize)
        self.oracle = NativeOracle(text, limits=NativeLimits(seconds=20.0), host=host)

    def _summarize(self, loop: LoopInfo) -> Summarized:
        started = time.perf_counter()
        outcome = summarize(paths_of(self.graph, loop))
        self.summary_ms += 1000 * (time.perf_counter() - started)
        return outcome

    def evaluate(self, args: list[int]) -> Evaluation:
        """One call."""
        return self.evaluator.run(args, max_steps=20_000_000)

    def natively(self, args: list[int]) -> tuple[Outcome, frozenset[str]]:
        """One call, and the outputs that it never assigns."""
        one, other = self.oracle.run_many("start", [NativeRun(args), NativeRun(args, uninit=[12345] * 8)])
        return one, frozenset(x.removeprefix("out_") for x, value in one.globals.items() if other.globals[x] != value)


def measure(path: Path, inputs: int, size: int, seed: int, host: NativeHost) -> Row:
    """One program on random inputs."""
    row = Row(path.stem)
    template = path.read_text()
    rng = random.Random(f"{seed} {path.stem}")
    found = _START.search(template)
    count = len([p for p in (found[1] if found else "").split(",") if p.strip()])
    with tempfile.TemporaryDirectory() as folder:
        subject = Subject(as_function(template), path.name, Path(folder), host)
        others: dict[frozenset[str], Subject] = {}
        for _ in range(inputs):
            args = drawn(subject, rng, count, size)
            started = time.perf_counter()
            answer = subject.evaluate(args)
            row.eval_us += 1e6 * (time.perf_counter() - started) / inputs
            native, unassigned = subject.natively(args)
            row.unjudged += len(unassigned)
            if unassigned:
                if unassigned not in others:
                    others[unassigned] = Subject(as_function(template, unassigned), path.name, Path(folder), host)
                answer = others[unassigned].evaluate(args)
                native, _ = others[unassigned].natively(args)
            judge(row, args, native, answer)
        row.summary_ms = subject.summary_ms
    return row


def drawn(subject: Subject, rng: random.Random, count: int, size: int) -> list[int]:
    """Random inputs, drawn again up to 20 times where the loops run less than a tenth of ``size``."""
    for _ in range(20):
        args = [rng.randint(-size, size) for _ in range(count)]
        if 10 * sum(subject.evaluate(args).iterations.values()) >= size:
            break
    return args


def judge(row: Row, args: list[int], native: Outcome, answer: Evaluation) -> None:
    """Compare one evaluation with its native run."""
    row.runs += 1
    row.iterations.append(sum(answer.iterations.values()))
    if answer.status == "unknown":
        row.unknown += 1
        row.why.add(answer.reason)
    elif answer.status != native.status or answer.globals != native.globals:
        row.wrong.append(f"{args}: {answer.status} {dict(answer.globals)}, natively {native}")
    elif answer.by != "summary":
        row.interpreted += 1
        row.why |= {f"iterated {name}" for name in answer.iterated}
    else:
        row.exact += 1


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--inputs", type=int, default=1000)
    parser.add_argument("--size", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    files = sorted(options.folder.glob("*.c"))
    if not files:
        print(f"{options.folder} holds no C templates", file=sys.stderr)
        return 2
    print(
        "| program | exact by summary | iterated | unknown | wrong | median iterations | summary ms | evaluation µs |"
    )
    print("|---|---|---|---|---|---|---|---|")
    wrong = False
    with NativeHost() as host:
        for file in files:
            row = measure(file, options.inputs, options.size, options.seed, host)
            middle = sorted(row.iterations)[len(row.iterations) // 2]
            print(
                f"| {row.name} | {row.exact}/{row.runs} | {row.interpreted} | {row.unknown} | {len(row.wrong)} "
                f"| {middle} | {row.summary_ms:.1f} | {row.eval_us:.0f} |",
                flush=True,
            )
            for line in [*row.wrong[:3], *sorted(row.why)[:3]]:
                print(f"  {row.name}: {line}"[:300], file=sys.stderr)
            wrong = wrong or bool(row.wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
