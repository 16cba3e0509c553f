"""How fast: reading, flowgraphs, paths, summaries and their stages, classification, evaluation, the cold command.

    python bench/run.py [--functions N]

The workload is the examples and functions from the generator's fixed seeds, so two versions can be compared. Times are
of this machine at this moment: quote ratios of one run.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import own_loops

from loopless.automaton import classify
from loopless.check.interpreter.run import Interpreter
from loopless.flowgraph import build
from loopless.queries.evaluation.evaluate import Evaluator
from loopless.source import ir, load
from loopless.source.compile import compile_ir
from loopless.source.reader import read_module
from loopless.stepping import no_stepping
from loopless.summary import CallSummary, LoopSummary, paths_of, summarize, summarize_function
from loopless_fuzz.generator.generate import generate, print_program

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


def timed(action: Callable[[], object]) -> tuple[float, object]:
    """Seconds and result."""
    started = time.perf_counter()
    result = action()
    return time.perf_counter() - started, result


def processor(action: Callable[[], object]) -> tuple[float, object]:
    """Seconds of processor time and result."""
    started = time.process_time()
    result = action()
    return time.process_time() - started, result


def instructions(module: ir.Module) -> int:
    """The number of IR instructions of a module."""
    return sum(len(block.instructions) for function in module.defined() for block in function.blocks)


def stages(files: list[Path]) -> None:
    """Each stage over all files."""
    seconds = dict.fromkeys(("clang", "read", "flowgraph", "paths", "summary", "classify"), 0.0)
    count = loops = 0
    slowest: list[tuple[float, str]] = []
    for file in files:
        spent, text = timed(lambda file=file: compile_ir(file))
        seconds["clang"] += spent
        spent, module = timed(lambda text=text: read_module(str(text)))
        seconds["read"] += spent
        assert isinstance(module, ir.Module)
        count += instructions(module)
        for function in module.defined():
            spent, graph = timed(lambda function=function, module=module: build(function, module))
            seconds["flowgraph"] += spent
            for loop in graph.loops:  # type: ignore[attr-defined]
                loops += 1
                begun = time.perf_counter()
                spent, paths = timed(lambda graph=graph, loop=loop: paths_of(graph, loop))
                seconds["paths"] += spent
                spent, _ = timed(lambda paths=paths: summarize(paths))  # type: ignore[arg-type]
                seconds["summary"] += spent
                spent, _ = timed(lambda paths=paths: classify(paths))  # type: ignore[arg-type]
                seconds["classify"] += spent
                slowest.append((time.perf_counter() - begun, loop.name))
    total = sum(seconds.values())
    print(f"{len(files)} files, {count} IR instructions, {loops} loops, {total:.2f} s")
    print("\n| stage | s | share | s per 1,000 IR instructions | per loop, ms |")
    print("|---|---|---|---|---|")
    for name, spent in seconds.items():
        per_loop = f"{1000 * spent / max(loops, 1):.2f}" if name in ("paths", "summary", "classify") else ""
        print(f"| {name} | {spent:.3f} | {100 * spent / total:.0f}% | {1000 * spent / count:.4f} | {per_loop} |")
    rate = loops / (seconds["flowgraph"] + seconds["paths"] + seconds["classify"])
    median = statistics.median(spent for spent, _ in slowest)
    print(f"\nloops classified a second (flowgraph, paths, type): {rate:.0f}")
    print(f"a loop from paths to type: median {1000 * median:.2f} ms, slowest {1000 * max(slowest)[0]:.0f} ms")


SUMMARY_STAGES = {
    "system": ("loopless.summary.parts", "build_system"),
    "oscillation": ("loopless.summary.methods.elimination", "accelerate_groups"),
    "elimination": ("loopless.summary.methods.elimination", "eliminate"),
    "cases as they are shown": ("loopless.summary.case_builder", "CaseBuilder.add"),
    "single path": ("loopless.summary.methods.acceleration", "Solver.solve"),
}
"""Where the stages of summarizing begin: a module and the name by which it calls the stage."""


@contextmanager
def watched(seconds: dict[str, float]) -> Iterator[None]:
    """Sum up what each stage of summarizing takes. A name that is gone is an error: then this table must follow."""
    before = []
    for stage, (module_name, name) in SUMMARY_STAGES.items():
        *owner, name = name.split(".")
        module = functools.reduce(getattr, owner, importlib.import_module(module_name))
        original = getattr(module, name)

        def timing(*args: object, original: Callable[..., object] = original, stage: str = stage) -> object:
            begun = time.process_time()
            try:
                return original(*args)
            finally:
                seconds[stage] += time.process_time() - begun

        before.append((module, name, original))
        setattr(module, name, timing)
    try:
        yield
    finally:
        for module, name, original in before:
            setattr(module, name, original)


def summaries() -> None:
    """Where the time of a summary goes: loops of ``bench/loops``, warm, by stage."""
    rows: list[tuple[str, float, int, str]] = []
    seconds = dict.fromkeys(SUMMARY_STAGES, 0.0)
    paths_spent = spent_in_all = 0.0
    for name in TIMED:
        graph = own_loops.graph(own_loops.program(own_loops.text(name)))
        summarize(paths_of(graph, graph.loops[0]))
        spent, paths = processor(lambda graph=graph: paths_of(graph, graph.loops[0]))
        paths_spent += spent
        with watched(seconds):
            found, outcome = processor(lambda paths=paths: summarize(paths))  # type: ignore[arg-type]
        spent_in_all += found
        transitions = len(outcome.cases) if isinstance(outcome, LoopSummary) else 0
        status = "complete" if isinstance(outcome, LoopSummary) and outcome.complete else "not complete"
        rows.append((name, spent + found, transitions, status))
    print(f"\n{len(rows)} single loops of bench/loops, warm\n\n| stage | s | ms a loop |\n|---|---|---|")
    rest = spent_in_all - sum(seconds.values())
    for stage, spent in {"paths": paths_spent, **seconds, "the rest of the summary": rest}.items():
        print(f"| {stage} | {spent:.3f} | {1000 * spent / len(rows):.1f} |")
    complete = [row for row in rows if row[3] == "complete"]
    median = statistics.median(spent for _, spent, _, _ in complete)
    print(
        f"\n{len(complete)} complete: median {1000 * median:.1f} ms, {sum(s <= 0.02 for _, s, _, _ in complete)} within 20 ms, "
        f"most pieces {max(transitions for _, _, transitions, _ in complete)}"
    )


TIMED = (
    "p1a", "p1b", "p1f", "l1a", "l1b", "l1c", "l1d", "l3a", "l5a", "custom4", "t30", "bubble", "chg", "phases", "big",
    "up", "stepn", "ne",
)  # fmt: skip
"""The loops whose stages are timed; ``bench/single_loops.py`` has all of them, under limits."""


def cold(runs: int) -> None:
    """Whole commands in fresh processes."""
    file = str(EXAMPLES / "proteus" / "fig1a.c")
    commands = {
        "--version": ["--version"],
        "loops": ["loops", file],
        "summarize": ["summarize", file],
        "classify": ["classify", file],
        "eval": ["eval", str(EXAMPLES / "cases" / "sum_of_squares.c"), "sum_of_squares", "100000"],
    }
    print("\n| cold command | median s | min | max |\n|---|---|---|---|")
    for name, words in commands.items():
        found = []
        for _ in range(runs + 1):
            spent, done = timed(
                lambda words=words: subprocess.run(
                    [sys.executable, "-m", "loopless", *words], check=False, capture_output=True
                )
            )
            assert done.returncode in (0, 3), done.stderr  # type: ignore[attr-defined]
            found.append(spent)
        found = found[1:]
        print(f"| {name} | {statistics.median(found):.2f} | {min(found):.2f} | {max(found):.2f} |")


def counting() -> None:
    """A summary's evaluation costs the same for ten iterations and for two thousand million."""
    programs = {
        "a sum of squares": "unsigned f(unsigned n) { unsigned s = 0; for (unsigned i = 0; i < n; i++) s += i * i; return s; }",
        "an oscillation": "unsigned f(unsigned n) { unsigned x = 0; for (unsigned i = 0; i < n; i++) if (x < 5) x += 2; else x -= 5; return x; }",
        "two loops and a branch": "unsigned f(unsigned n) { unsigned s = 0; for (unsigned i = 0; i < n; i++) s += i * i;"
        " if (s > 77) s -= 50; for (unsigned k = 0; k != n; k++) s += 3; return s; }",
    }
    print("\n| function | iterations | eval by jumps, µs | eval by the function's summary, µs |\n|---|---|---|---|")
    for name, text in programs.items():
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "f.c"
            file.write_text(text)
            program = load([file])
        graph = build(program.inlined.functions["f"], program.inlined)
        outcomes = {loop.name: summarize(paths_of(graph, loop)) for loop in graph.loops}
        whole = summarize_function(graph, outcomes)
        assert isinstance(whole, CallSummary)
        interpreter = Interpreter(program.inlined, graph)
        ways = [Evaluator(graph, interpreter, lambda loop, known=outcomes: known[loop.name], w) for w in (None, whole)]
        assert ways[1].run([5]).whole
        for n in (10, 1000, 10**6, 2**31 - 1, 2**32 - 1):
            with no_stepping():
                row = [min(timed(lambda n=n, way=way: way.run([n]))[0] for _ in range(20)) for way in ways]
            print(f"| {name} | {n} | {' | '.join(f'{1e6 * spent:.0f}' for spent in row)} |")


def main() -> None:
    """Run all parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--functions", type=int, default=60, help="generated functions in the workload")
    parser.add_argument("--runs", type=int, default=5, help="runs of each cold command")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        files = sorted(EXAMPLES.rglob("*.c"))
        for seed in range(options.functions):
            file = Path(folder) / f"generated{seed}.c"
            file.write_text(print_program(generate(seed)))
            files.append(file)
        compile_ir(files[0])  # the compiler's first start is not ours to measure
        stages(files)
    summaries()
    counting()
    cold(options.runs)


if __name__ == "__main__":
    main()
