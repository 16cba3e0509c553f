"""The solver of dataflow equations, forward and backward, of what may and of what must hold.

The framework is that of Kildall (A unified approach to global program optimization, POPL 1973): facts from a lattice of
finite height at the nodes of a graph, a monotone transfer to the nodes that follow, and a join where ways meet. The
join makes the difference between *may* (union, from the empty set on) and *must* (intersection). For a backward problem
the edges are turned round. A worklist has the nodes whose facts have changed, and takes first what comes first in a
given order; with reverse postorder of the direction in which facts flow, a graph without cycles takes one visit a node.

For what flows nowhere, such as the dependencies of variables whatever the place, ask :func:`loopless.graphs.reachable`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import Generic, TypeVar

_N = TypeVar("_N", bound=Hashable)
_F = TypeVar("_F")


class _Worklist(Generic[_N]):
    """Nodes that wait, each once, taken in a given order."""

    def __init__(self, order: Sequence[_N], waiting: Iterable[_N]) -> None:
        self.order = order
        self.place = {node: number for number, node in enumerate(order)}
        self.heap = [self.place[node] for node in dict.fromkeys(waiting)]
        heapify(self.heap)
        self.waits = set(self.heap)

    def add(self, node: _N) -> None:
        number = self.place[node]
        if number not in self.waits:
            self.waits.add(number)
            heappush(self.heap, number)

    def take(self) -> _N:
        number = heappop(self.heap)
        self.waits.discard(number)
        return self.order[number]


def flow(
    order: Sequence[_N],
    starts: Mapping[_N, _F],
    onward: Callable[[_N, _F], Iterable[tuple[_N, _F]]],
    join: Callable[[_F, _F], _F],
) -> dict[_N, _F]:
    """By node the facts that hold where it is entered, of the nodes that facts come to; others are not listed.

    ``order``: all nodes, best each before those that it leads to. ``starts``: facts that some nodes begin with.
    ``onward``: what a node that is entered with facts passes on, and to which nodes; for one node several times, where
    several edges lead to it. ``join`` of old and new facts is equal to the old ones where nothing is new.
    """
    found = dict(starts)
    worklist = _Worklist(order, starts)
    while worklist.heap:
        node = worklist.take()
        for target, brought in onward(node, found[node]):
            known = found.get(target)
            if known is None and target not in found:
                found[target] = brought
                worklist.add(target)
                continue
            joined = join(known, brought)  # type: ignore[arg-type]
            if joined != known:
                found[target] = joined
                worklist.add(target)
    return found


def solution(
    order: Sequence[_N],
    start: dict[_N, _F],
    equation: Callable[[_N], _F],
    dependents: Mapping[_N, Collection[_N]],
) -> dict[_N, _F]:
    """The solution of one equation a node, from ``start`` on, which is changed to it.

    ``equation`` works out the facts of a node from those in ``start`` of the nodes that it depends on; ``dependents``:
    by node the others whose equations ask for its facts. All equations are worked out once in ``order``, then those
    anew that ask for what has changed. Start with the least facts for the least solution, with the greatest for the
    greatest.
    """
    worklist = _Worklist(order, order)
    while worklist.heap:
        node = worklist.take()
        facts = equation(node)
        if facts != start[node]:
            start[node] = facts
            for dependent in dependents.get(node, ()):
                worklist.add(dependent)
    return start
