"""Runs of a function from header to header, by the transitions between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from loopless.bounds.ranking.cutpoints import ENTRY, CutpointGraph
from loopless.flowgraph.model import Flowgraph
from loopless.paths import Path
from loopless.terms import Var, evaluate, holds

State = dict[Var, int]


def arguments(g: Flowgraph, values: Sequence[int]) -> State:
    return {p.var: value for p, value in zip(g.parameters, values, strict=True) if p.var is not None}


def walk(cutpoints: CutpointGraph, entry: Mapping[Var, int], limit: int = 500) -> Iterator[tuple[str, State, Path]]:
    """Where a run stands, the state there, and the one transition that it takes; for functions without inputs."""
    place, state = ENTRY, dict(entry)
    for _ in range(limit):
        taken = [
            path
            for path in cutpoints.paths.iterative
            if cutpoints.source[path.id] == place
            and path.condition.variables <= state.keys()
            and holds(path.condition, state)
        ]
        assert len(taken) <= 1, (place, state, taken)
        if not taken:
            return
        yield place, state, taken[0]
        state = state | {
            var: evaluate(term, state) for var, term in taken[0].update.items() if term.variables <= state.keys()
        }
        place = cutpoints.target[taken[0].id]
