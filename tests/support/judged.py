"""Summaries against the judge: each entry state lies in one region only, and the run ends as that region says."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from loopless.check.interpreter.run import Interpreter
from loopless.check.oracle.native import NativeLimits, NativeOracle, NativeRun
from loopless.flowgraph.model import Flowgraph
from loopless.paths import LoopPaths
from loopless.queries.evaluation.evaluate import Evaluator
from loopless.summary import LoopSummary, Outcome, paths_of, summarize
from loopless.terms import IntType, evaluate, holds
from loopless_fuzz.judging.claims import Claims, judge_all
from loopless_fuzz.judging.loop_alone import LoopAlone
from loopless_fuzz.judging.states import all_states, constants, draw_states
from loops_in_c import graph

EDGES = (0, 1, 2, 3, -1, -2, 10, 100, 127, 128, 255, 2**31 - 1, 2**31, -(2**31))


def states(types: Sequence[IntType], count: int, seed: int) -> list[tuple[int, ...]]:
    """Random values of parameters, the edges of their types and small ones often."""
    chosen = random.Random(seed)

    def pick(type_: IntType) -> int:
        kind = chosen.randrange(4)
        if kind == 0:
            return type_.wrap(chosen.choice(EDGES))
        if kind == 1:
            return type_.wrap(chosen.randrange(-60, 60))
        return type_.wrap(chosen.getrandbits(chosen.randrange(1, type_.width + 1) if kind == 2 else type_.width))

    return [tuple(pick(type_) for type_ in types) for _ in range(count)]


def judge(
    g: Flowgraph,
    summarize: Callable[[LoopPaths], LoopSummary],
    entries: Iterable[tuple[int, ...]],
    max_steps: int = 100_000,
) -> Counter[str]:
    """Compare the first loop's summary with the interpreter; how often each outcome was confirmed."""
    interpreter = Interpreter(None, g)
    found = summarize(paths_of(g, g.loops[0]))
    evaluator = Evaluator(g, interpreter, lambda _: found)
    counts: Counter[str] = Counter()
    for arguments in entries:
        seen: list[dict] = []
        run = interpreter.run(arguments, max_steps=max_steps, on_loop=lambda _, v, seen=seen: seen.append(dict(v)))
        if not seen:
            continue
        hits = [("case", c) for c in found.cases if holds(c.when, seen[0])]
        hits += [("diverges", None)] if holds(found.diverges, seen[0]) else []
        hits += [("undefined", u) for u in found.undefined if holds(u.when, seen[0])]
        hits += [("residual", r) for r in found.residual if holds(r.when, seen[0])]
        kinds = {kind for kind, _ in hits}
        assert len(hits) == 1 or kinds == {"undefined"}, (arguments, hits, str(found))
        kind, region = hits[0]
        if run.status == "timeout" or kind == "residual":
            counts["residual" if kind == "residual" else "timeout"] += 1
            continue
        expected = run.status if run.status in ("diverges", "undefined") else "case"
        assert kind == expected, (arguments, kind, run, str(found))
        if kind == "case":
            assert evaluate(region.iterations, seen[0]) == sum(run.iterations.values()), (arguments, region, run)
            own = evaluator.run(arguments, max_steps=max_steps)
            assert own.return_value == run.outcome.return_value, (arguments, own, run, str(found))
        counts[kind] += 1
    assert counts["case"] + counts["diverges"] + counts["undefined"] > 0, counts
    return counts


def natively(source: str, found: LoopSummary, arguments: list[tuple[int, ...]]) -> dict[str, int]:
    """Evaluation by a summary of the only loop against native runs; how often each status was confirmed."""
    g = graph(source)
    evaluator = Evaluator(g, Interpreter(None, g), lambda _: found)
    counts: dict[str, int] = {}
    with NativeOracle(source, limits=NativeLimits(seconds=0.5)) as oracle:
        for given, run in zip(arguments, oracle.run_many("f", [NativeRun(a) for a in arguments]), strict=True):
            own = evaluator.run(given)
            if own.by != "summary":  # in the residual
                continue
            status = own.status if run.status == "timeout" else run.status
            assert own.status == status, (given, own, run, str(found))
            if run.status == "ok":
                assert own.return_value == run.return_value, (given, own, run, str(found))
            counts[run.status] = counts.get(run.status, 0) + 1
    assert counts, "nothing was compared"
    return counts


def judge_alone(
    source: str,
    summarize: Callable[[LoopPaths], Outcome] = summarize,
    *,
    count: int = 300,
    seed: int = 1,
    near: Mapping[str, Sequence[int]] | None = None,
    max_steps: int = 5000,
) -> tuple[LoopSummary, Counter[str]]:
    """The summary of the first loop, judged from states at its header: how many lie in each region.

    All states where they are few and ``count`` is 0, else ``count`` of them. ``near``: for variables by name, values
    that half of the states take.
    """
    g = graph(source)
    paths = paths_of(g, g.loops[0])
    assert isinstance(paths, LoopPaths), paths
    summary = summarize(paths)
    assert isinstance(summary, LoopSummary), summary
    alone = LoopAlone(g, g.loops[0], {path.id: path.condition for path in paths.iterative})
    claims = Claims(summary, alone.variables, {path.id: path.outputs for path in paths.exits})
    if count:
        numbers = constants([part for path in paths.all for part in (path.condition, *path.update.values())])
        entries = draw_states(alone.entry, numbers, seed, count)
        chosen = random.Random(seed)
        for state in entries[::2]:
            for var in state:
                if near is not None and var.name in near:
                    state[var] = var.type.wrap(chosen.choice(near[var.name]))
    else:
        every = all_states(alone.entry)
        assert every is not None
        entries = list(every)
    found = judge_all(alone, claims, entries, max_steps=max_steps)
    assert not found.mismatches, (source, found.mismatches, str(summary))
    assert found.compared > 0
    return summary, found.regions
