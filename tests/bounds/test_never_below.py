"""No bound is below the truth: on random programs, on random and edge inputs, and from any state at a loop's header."""

from __future__ import annotations

import random

import pytest

from counted import judge_calls, judge_entries
from loopless.bounds import function_bounds
from loopless.check.interpreter.run import Interpreter
from loopless.flowgraph import Options, build
from loopless.source import load
from loopless_fuzz.generator.generate import PROFILES, generate, nondet_stream, print_program

EDGES = (0, 1, -1, -(2**31), 2**31 - 1, 2**32 - 1, 127, -128, 255, 5, 10)


def rows(g, seed: int, count: int) -> list[list[object]]:
    chosen = random.Random(seed)

    def value(parameter):
        if parameter.object is not None:
            return [chosen.choice((0, 1, 3, -2, 9, 40, 127)) for _ in range(64)]
        kind = chosen.randrange(4)
        low, high = parameter.type.min or -(10**6), parameter.type.max or 10**6
        drawn = (chosen.choice(EDGES), chosen.randint(-200, 200), chosen.randint(-3, 20), chosen.randint(low, high))
        return parameter.type.wrap(drawn[kind])

    return [[value(parameter) for parameter in g.parameters] for _ in range(count)]


@pytest.mark.slow
@pytest.mark.parametrize("mathematical", [False, True])
@pytest.mark.parametrize("first", [0, 10, 20, 30])
def test_random_programs(tmp_path, first, mathematical):
    compared = 0
    for seed in range(first, first + 10):
        file = tmp_path / f"{seed}.c"
        file.write_text(print_program(generate(seed, PROFILES["everything"])))
        program = load([file])
        options = Options(mathematical=mathematical)
        g = build(program.inlined.functions["f"], program.inlined, options)
        bounds = function_bounds(g)
        interpreter = Interpreter(program.inlined, g, options=options)
        found = judge_calls(g, rows(g, seed, 25), nondet_stream(seed), bounds, interpreter)
        compared += found.compared
        if not mathematical:
            compared += judge_entries(g, bounds, seed).compared
    assert compared > 200
