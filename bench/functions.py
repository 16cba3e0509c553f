"""Summaries of whole functions against native execution on random functions: how many are complete, and mismatches.

    python bench/functions.py --functions 300 --inputs 20 [--profile composed] [--keep DIR]

For every function: its summary as the tool finds it, under limits; whether every sampled entry state, edges included,
lies in exactly one region; whether every prediction from the summary equals the native run. Exit status 1 if not.
"""

from __future__ import annotations

import argparse
import collections
import itertools
import random
import sys
import tempfile
import time
import traceback
from pathlib import Path

from differential import NATIVE_SECONDS, disagreement

from loopless.check.generate import PROFILES, generate, inputs, nondet_stream, print_program
from loopless.check.interpret import Interpreter
from loopless.check.native import Limits, NativeHost, NativeOracle, Run
from loopless.flowgraph.model import Flowgraph
from loopless.queries.answers import Question
from loopless.queries.evaluation import Evaluator
from loopless.queries.functions import answer_functions, outcomes_of
from loopless.queries.session import load
from loopless.queries.settings import Settings
from loopless.refusals import Refused
from loopless.summary import FunctionSummary
from loopless.terms import EvaluationError, Var, holds

EDGES = (0, 1, -1, -(2**31), 2**31 - 1, 2**32 - 1, -(2**63), 2**63 - 1, 2**64 - 1, 127, -128, 255)


def entry_states(summary: FunctionSummary, seed: int, count: int) -> list[dict[Var, int]]:
    """Edge values of all inputs together as far as these are few, else samples; and random values."""
    rng = random.Random(seed)
    variables = [input.var for input in summary.inputs]
    choices = [[value for value in EDGES if var.type.holds(value)] for var in variables]
    edgy = itertools.islice(itertools.product(*choices), 200) if len(variables) <= 2 else ()
    states = [dict(zip(variables, values, strict=True)) for values in edgy]

    def value(var: Var, choice: list[int]) -> int:
        small = rng.choice((3, 20, 200))
        return var.type.wrap(rng.choice((rng.choice(choice), rng.randint(-small, small), rng.randint(-(2**31), 2**31))))

    drawn = ({v: value(v, choice) for v, choice in zip(variables, choices, strict=True)} for _ in range(count))
    return [*states, *drawn]


def unplaced(summary: FunctionSummary, seed: int, count: int) -> str | None:
    """An entry state that lies in no region or in several; None where there is none among those sampled."""
    for state in entry_states(summary, seed, count):
        try:
            here = [type(region).__name__ for region in summary.regions if holds(region.when, state)]
        except EvaluationError:
            continue
        if len(here) != 1:
            return f"{ {var.name: value for var, value in state.items()} } lies in {here or 'no region'}"
    return None


def edge_rows(graph: Flowgraph, seed: int, count: int) -> list[tuple[int, ...]]:
    """Arguments at the edges of their types; none for functions that take pointers."""
    if any(p.object is not None or p.type is None for p in graph.parameters):
        return []
    rng = random.Random(seed)
    choices = [[v for v in EDGES if p.type is not None and p.type.holds(v)] for p in graph.parameters]
    return [tuple(rng.choice(choice) for choice in choices) for _ in range(count)]


def one(
    seed: int, profile: str, count: int, host: NativeHost, folder: Path, tally: collections.Counter[str]
) -> list[str]:
    """One function; what is wrong with its summary."""
    text = print_program(generate(seed, PROFILES[profile]))
    file = folder / "case.c"
    file.write_text(text)
    settings = Settings(loop_timeout_s=5.0, workers=1)
    program = load([file], settings)
    function = program["f"]
    (answer,) = answer_functions([function], Question(classify=False), settings)
    if answer.trouble or any(loop.trouble for loop in answer.loops):
        return [f"seed {seed}: {answer.trouble or next(loop.trouble for loop in answer.loops if loop.trouble)}"]
    if answer.refused is not None:
        tally["refused"] += 1
        tally[f"  because {answer.refused.reason.code} {answer.refused.reason.label}"] += 1
        return []
    summary, graph = answer.summary, function.graph()
    assert summary is not None
    assert not isinstance(graph, Refused)
    tally["complete" if summary.complete else "not complete"] += 1
    tally["cases"] += len(summary.cases)
    for reason in {residual.why.reason for residual in summary.residual}:
        tally[f"  because {reason.code} {reason.label}"] += 1
    wrong = unplaced(summary, seed, 200)
    if wrong is not None:
        return [f"seed {seed}: {wrong}"]
    interpreter = Interpreter(program.source.inlined, graph)
    outcomes = outcomes_of(answer.loops)
    evaluator = Evaluator(graph, interpreter, lambda loop: outcomes[loop.name], summary)
    oracle = NativeOracle(text, limits=Limits(seconds=NATIVE_SECONDS), host=host)
    stream = nondet_stream(seed)
    rows = [*inputs(oracle.signature("f"), seed, count), *edge_rows(graph, seed, count // 2)]
    natives = oracle.run_many("f", [Run(args, stream) for args in rows])
    for args, native in zip(rows, natives, strict=True):
        found = evaluator.run(list(args), stream, max_steps=100)  # only the summary is asked here
        tally["calls"] += 1
        if not found.whole:
            continue
        tally["predicted"] += 1
        tally["compared"] += native.status not in ("timeout", "unknown", "crashed")
        difference = disagreement(found, native)
        if difference is not None:
            return [f"seed {seed} args {args}: {difference}"]
    return []


def main() -> int:
    """Run the campaign."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--functions", type=int, default=100)
    parser.add_argument("--inputs", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--profile", default="composed", choices=list(PROFILES))
    parser.add_argument("--keep", default="", help="folder for programs with a mismatch")
    options = parser.parse_args()
    tally: collections.Counter[str] = collections.Counter()
    wrong: list[str] = []
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder, NativeHost() as host:
        for seed in range(options.first, options.first + options.functions):
            try:
                found = one(seed, options.profile, options.inputs, host, Path(folder), tally)
            except Exception:  # noqa: BLE001  a crash on any program is a finding, and the campaign goes on
                found = [f"seed {seed}: {traceback.format_exc(limit=-6)}"]
            if found and options.keep:
                Path(options.keep).mkdir(parents=True, exist_ok=True)
                Path(options.keep, f"seed{seed}.c").write_text(print_program(generate(seed, PROFILES[options.profile])))
            wrong += found
            print(f"\r{seed + 1 - options.first}/{options.functions}, {len(wrong)} wrong", end="", file=sys.stderr)
    print(file=sys.stderr)
    spent = time.perf_counter() - started
    print(f"{options.functions} functions of {options.profile}, {len(wrong)} wrong, {spent:.0f} s")
    for name, number in sorted(tally.items(), key=lambda pair: (pair[0].startswith(" "), -pair[1])):
        print(f"{number:6} {name}")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
