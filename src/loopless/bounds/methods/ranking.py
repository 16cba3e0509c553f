"""Ranking functions of single loops, by their iterative paths, else by one iteration with inner loops passed over."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from loopless.bounds.function import with_more
from loopless.bounds.looperman.iterations import iteration_paths
from loopless.bounds.model import Bounds, FunctionBounds, TermBound, by_types, least
from loopless.bounds.question import BoundQuestion
from loopless.bounds.ranking.linear import rank
from loopless.paths import LoopPaths
from loopless.portfolio import Method, NoAnswer, Tried
from loopless.refusals import Refused

_KNOWN_ENDS: Final = frozenset(("normal", "return", "abort", "exit", "error", "undefined", "assumption"))
"""Exits after which a run is over for the loop; what else may happen there is not known."""


def _run(question: BoundQuestion, tried: Tried[FunctionBounds]) -> FunctionBounds:
    assert tried.answer is not None
    ranked = {name: _ranked(question, name, found.per_entry) for name, found in tried.answer.loops.items()}
    given = {name: bounds for name, bounds in ranked.items() if bounds and not isinstance(bounds, Refused)}
    if not given:
        raise NoAnswer(next((why for why in ranked.values() if isinstance(why, Refused)), None))
    return with_more(question.graph, tried.answer, given)


def _ranked(question: BoundQuestion, name: str, bounds: Bounds) -> Bounds | Refused:
    """The bounds of ranking functions, where ``bounds`` says nothing, or nothing but the end of a type; else none."""
    best = least(bounds)
    if best is not None and not by_types(best):
        return ()
    refused: Refused | None = None
    for paths in _paths(question, name):
        found = rank(paths)
        if not isinstance(found, Refused):
            return tuple(TermBound(r.iterations, r.valid_when, _name_of(r.kind)) for r in found)
        refused = refused or found
    return refused or ()


def _name_of(kind: str) -> str:
    return f"{kind} ranking" if kind != "none" else METHOD.name


def _paths(question: BoundQuestion, name: str) -> Iterator[LoopPaths]:
    """The loop's paths; then, where there are loops inside, one iteration, for which these need no summary."""
    known = question.paths.get(name)
    if known is not None and all(path.exit is None or path.exit.kind in _KNOWN_ENDS for path in known.exits):
        yield known
    loops = question.scopes().graph.loops
    loop = next((info for info in loops if info.name == name), None)
    if loop is not None and any(info.parent == loop.header for info in loops):
        found = iteration_paths(question.scopes(), loop.header)
        if not isinstance(found, Refused):
            yield found


METHOD = Method(
    "ranking",
    "Podelski and Rybalchenko (VMCAI 2004); Bradley, Manna, Sipma (CAV 2005); Ben-Amram and Genaim (CAV 2017)",
    _run,
    lambda question, tried: tried.answer is not None and bool(question.paths),
)
"""The bounds are named after the kind of the function: linear, lexicographic, multi-phase, logarithmic."""
