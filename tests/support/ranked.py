"""Bounds by ranking functions against the interpreter: never below the truth, and how often equal to it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

from loopless.bounds.ranking.linear import Ranking, rank
from loopless.check.interpreter.run import Interpreter
from loopless.paths import LoopPaths, loop_paths
from loopless.refusals import Refused
from loopless.terms import TRUE, Condition, evaluate, holds
from loopless_fuzz.judging.loop_alone import LoopAlone
from loopless_fuzz.judging.states import constants, draw_states
from loops_in_c import graph

STEPS = 20_000


def ranked(source: str, entry: Condition = TRUE) -> tuple[LoopPaths, tuple[Ranking, ...]]:
    """The paths of the first loop and the bounds on it, which must not be refused."""
    paths = loop_paths(graph(source), graph(source).loops[0])
    assert isinstance(paths, LoopPaths), paths
    found = rank(paths, entry)
    assert not isinstance(found, Refused), found
    return paths, found


def judged(source: str, count: int = 400, seed: int = 1, entry: Condition = TRUE) -> Counter[str]:
    """The bounds on a loop without inputs, from states at its header: how many were "compared", how many were "tight".

    A run is compared with each ranking that is valid there; also one that is cut off or ends in undefined behaviour.
    """
    g = graph(source)
    paths, found = ranked(source, entry)
    alone = LoopAlone(g, g.loops[0], {p.id: p.condition for p in paths.iterative})
    numbers = constants([part for p in paths.all for part in (p.condition, *p.update.values())])
    counts: Counter[str] = Counter()
    for state in draw_states(alone.entry, numbers, seed, count):
        if not holds(entry, state):
            continue
        valid = [ranking for ranking in found if holds(ranking.valid_when, state)]
        counts["entries"] += 1
        if not valid:
            continue
        truth = alone.run(state, max_steps=STEPS)
        if truth.status in ("unknown", "aborted"):
            continue
        counts["compared"] += 1
        for ranking in valid:
            bound = evaluate(ranking.iterations, state)
            assert truth.status != "diverges", (source, state, ranking)
            assert 0 <= truth.iterations <= bound, (source, state, truth, bound, ranking)
            for path, often in ranking.per_path.items():
                assert truth.per_path.get(path, 0) <= evaluate(often, state), (source, state, truth, ranking)
        if truth.status == "ok":
            counts["left"] += 1
            counts["tight"] += truth.iterations == min(evaluate(r.iterations, state) for r in valid)
        counts["long"] += truth.iterations > 3
    assert counts["compared"] > count // 20, counts
    assert counts["long"] > 5, counts
    return counts


def judged_with_inputs(source: str, ranges: Sequence[tuple[int, int]], count: int = 300, inputs: int = 400) -> int:
    """The bounds on a loop with inputs, in whole runs of its function; how many runs were compared.

    ``ranges``: of the arguments. Inputs are small numbers, mostly 0 and 1.
    """
    g = graph(source)
    _, found = ranked(source)
    interpreter = Interpreter(None, g)
    chosen = random.Random(7)
    compared = longest = 0
    for _ in range(count):
        arguments = [chosen.randint(low, high) for low, high in ranges]
        often = chosen.random()
        nondet = [
            int(chosen.random() < often) if chosen.random() < 0.9 else chosen.randint(-9, 30) for _ in range(inputs)
        ]
        seen: list[dict] = []
        run = interpreter.run(arguments, nondet, max_steps=STEPS, on_loop=lambda _, v, seen=seen: seen.append(dict(v)))
        if not seen:
            continue
        taken = sum(run.iterations.values())
        for ranking in found:
            if holds(ranking.valid_when, seen[0]):
                assert taken <= evaluate(ranking.iterations, seen[0]), (arguments, taken, ranking)
                compared += 1
                longest = max(longest, taken)
    assert longest > 3
    return compared
