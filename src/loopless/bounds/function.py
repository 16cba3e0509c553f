"""The bounds of all loops of one function by Looperman's algorithm, beside given ones; or why there are none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from loopless.bounds.induction.measures import without_larger
from loopless.bounds.invariants.in_call import with_invariants
from loopless.bounds.looperman.nested import of_any_entry, over_call
from loopless.bounds.looperman.path_counters import ITERATIONS, PathCounters
from loopless.bounds.looperman.scopes import Scope, Scopes, deciding, scopes_of
from loopless.bounds.model import Bounds, FunctionBounds, LoopBounds, TermBound, kept
from loopless.bounds.reads.deciding import causes, in_a_sentence
from loopless.flowgraph.model import Flowgraph, LoopInfo
from loopless.graphs import dominators
from loopless.refusals import Reason, Refused

NAME: Final = "looperman"
"""What bounds are called that this algorithm gives."""


def function_bounds(graph: Flowgraph, known: Mapping[str, Bounds] | None = None) -> FunctionBounds:
    """Bounds for all loops of a function. ``known``: bounds on one entry of loops, by name, found by other means.

    Bounds of one entry keep the names of the methods that gave them; those of a call are named :data:`NAME`.
    """
    given = {loop.header: known[loop.name] for loop in graph.loops if known and loop.name in known}
    told = frozenset(v for bounds in given.values() for b in bounds for v in b.term.variables | b.when.variables)
    # What was found by other means may speak of variables that decide nothing, as those that only checks are about.
    scopes = scopes_of(graph, told & frozenset(graph.variables) - deciding(graph))
    counters = PathCounters(scopes, given), PathCounters(with_invariants(scopes), given, in_call=True)
    whole = scopes.scopes[""]
    found = {loop.name: _loop(*counters, loop) for loop in graph.loops}
    return FunctionBounds(found, whole if isinstance(whole, Refused) else None)


def with_more(graph: Flowgraph, found: FunctionBounds, more: Mapping[str, Bounds]) -> FunctionBounds:
    """The bounds with ``more`` on one entry of some loops, by name, in place of what ``found`` has of them, and carried
    outwards to the call. What ``found`` has of the other loops is passed on: it may be that of a method before.
    """
    every = {name: more.get(name, loop.per_entry) for name, loop in found.loops.items()}
    known = {name: bounds for name, bounds in every.items() if bounds}
    return replace(function_bounds(graph, known), in_call=found.in_call)


def _loop(counter: PathCounters, in_call: PathCounters, loop: LoopInfo) -> LoopBounds:
    scopes, header = counter.scopes, loop.header
    scope = scopes.scopes[header]
    if isinstance(scope, Refused) and header not in counter.given:
        return LoopBounds(loop, refused=scope, refused_total=scope)
    per_entry = _named(without_larger(counter.count(header, header, ITERATIONS)))
    any_entry = _named(kept(b for bound in per_entry for b in of_any_entry(in_call, header, bound)))
    total = _over_call(in_call, header, ITERATIONS)
    blocks = {label: _over_call(in_call, header, label) for label in sorted(loop.blocks) if _own(scopes, loop, label)}
    passed = (bound for label in _in_each_iteration(scopes.graph, loop) for bound in blocks.get(label, ()))
    total = without_larger(kept((*total, *passed)))
    where = str(loop.loc) if loop.loc is not None else loop.name
    missing = Refused(Reason.NO_BOUND, where, in_a_sentence(causes(scopes.graph, loop)) or _why(scopes, scope))
    whole = scopes.scopes[""]
    beyond = Refused(Reason.NO_BOUND, where, "the bound of one entry is not known in terms of the function's inputs")
    if not per_entry:
        beyond = missing
    elif isinstance(whole, Refused):
        beyond = whole
    return LoopBounds(
        loop,
        per_entry,
        any_entry,
        total,
        blocks,
        refused=None if per_entry else missing,
        refused_total=None if total else beyond,
    )


def _own(scopes: Scopes, loop: LoopInfo, label: str) -> bool:
    return scopes.home(label) == loop.header


def _in_each_iteration(graph: Flowgraph, loop: LoopInfo) -> Iterator[str]:
    """The blocks, but the header, that every completed iteration comes to: there are no more of these than visits."""
    inside = {
        label: tuple(target for target in graph.blocks[label].successors if target in loop.blocks)
        for label in sorted(loop.blocks)
    }
    above = dominators(inside, loop.header)
    latches = [label for label, targets in inside.items() if loop.header in targets]
    common = set.intersection(*(set(_up(above, label)) for label in latches)) if latches else set()
    yield from sorted(common - {loop.header})


def _up(above: Mapping[str, str], label: str) -> Iterator[str]:
    while label in above and above[label] != label:
        yield label
        label = above[label]


def _named(bounds: Bounds) -> Bounds:
    """The bounds, those of this algorithm by its name: bounds that were given have the names of their methods."""
    return tuple(bound.by(NAME) for bound in bounds)


def _over_call(counter: PathCounters, header: str, what: str) -> Bounds:
    around = counter.scopes.ancestors(header)
    outermost = around[-1] if around else header
    bounds: list[TermBound] = []
    for bound in counter.count(outermost, header, what):
        bounds += over_call(counter, outermost, bound)
    return _named(without_larger(kept(bounds)))


def _why(scopes: Scopes, scope: Scope | Refused) -> str:
    if isinstance(scope, Refused):
        return scope.detail
    unread = [h for h in scopes.inside(scope.header) if isinstance(scopes.scopes[h], Refused)]
    if unread:
        return "a loop inside could not be followed"
    return "no exit condition compares a value that every iteration changes in one direction"
