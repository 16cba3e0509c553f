"""8-bit functions: every entry state, evaluation by summaries against the judge, divergence included."""

from __future__ import annotations

import pytest

from loopless.check.interpreter.run import Interpreter
from loopless.flowgraph.model import Flowgraph
from loopless.queries.evaluation.evaluate import Evaluator
from loopless.summary import paths_of, summarize
from loopless_fuzz.generator.generate import PROFILES, generate, print_program
from loopless_fuzz.judging.exhaustive import every_entry
from loops_in_c import graph

ONE_INPUT = [
    "int f(unsigned char x) { unsigned k = 0; while (x >= 10) { x += 16; k++; } return k; }",
    "int f(unsigned char x) { unsigned k = 0; while (x != 7) { x += 6; k++; } return k; }",
    "int f(signed char x) { unsigned k = 0; do { x += 37; k += 3; } while (x < 100 && x != 1); return k + x; }",
    "int f(unsigned char x) { unsigned char s = 1; for (unsigned char i = 0; i < x; i += 3) s = s * 5 + i; return s; }",
    "int f(signed char x) { while (x) { if (x == 77) return -1; x -= 7; } return x; }",
    "int f(signed char x) { int y = 1 << 30; while (x > 3) { y += 40000000; x--; } return y; }",
]
TWO_INPUTS = [
    "int f(signed char x, signed char n) { unsigned k = 0; while (x < n) { x += 5; k++; } return k; }",
    "int f(unsigned char u, unsigned char v) { unsigned k = 0; while (u != v) { u += 12; k++; } return k; }",
]


def compare(g: Flowgraph) -> dict[str, int]:
    """Every entry state; the number of runs by status. Summaries must answer some of them."""
    evaluator = Evaluator(g, Interpreter(None, g), lambda loop: summarize(paths_of(g, loop)))
    counts: dict[str, int] = {}
    for arguments, run in every_entry(g, max_steps=20_000):
        own = evaluator.run(arguments, max_steps=20_000)
        status = "unknown" if run.status == "timeout" else run.status
        assert own.status == status, (arguments, own, run)
        if status == "ok":
            assert own.return_value == run.outcome.return_value, (arguments, own, run)
            assert {k: n for k, n in own.iterations.items() if n} == dict(run.iterations), (arguments, own, run)
        counts[own.status] = counts.get(own.status, 0) + 1
        counts[own.by] = counts.get(own.by, 0) + 1
    return counts


@pytest.mark.parametrize("source", ONE_INPUT)
def test_every_state_of_one_input(source: str) -> None:
    counts = compare(graph(source))
    assert counts["summary"] > 100


@pytest.mark.slow
@pytest.mark.parametrize("source", TWO_INPUTS)
def test_every_state_of_two_inputs(source: str) -> None:
    counts = compare(graph(source))
    assert counts["summary"] > 60_000


def test_divergence_is_found_exactly() -> None:
    counts = compare(graph(ONE_INPUT[0]))
    # The residues modulo 16 that never come below 10 are 10 to 15: six of sixteen.
    assert counts["diverges"] == 6 * 16


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_random_functions_of_one_8_bit_input(seed: int) -> None:
    profile = PROFILES["eight-bit"]
    candidates = (generate(1000 * seed + i, profile) for i in range(200))
    program = next(p for p in candidates if len(p.signature.params) == 1)
    counts = compare(graph(print_program(program)))
    assert sum(counts.values()) == 2 * 256
