"""Directed graphs: reachable nodes, cycles, orders, dominators, and values that callers compute from their callees.

A graph maps each node to the nodes that it leads to; what is only led to is a node too, and leads nowhere. Nodes are
anything hashable. The *order given* is that of the mapping, then that in which the others are first led to; it settles
what the graph leaves open, so that results are the same in every run. The algorithms are rustworkx's, which knows nodes
by number; none of them is recursive, so that long graphs do not overflow the stack.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    import rustworkx

_T = TypeVar("_T", bound=Hashable)
_V = TypeVar("_V")


def reachable(starts: Iterable[_T], following: Callable[[_T], Iterable[_T]]) -> list[_T]:
    """``starts`` and all that they lead to, each once, nearer ones first.

    ``following`` is asked once for each node, when it is reached: so the graph need not be known before. That is why
    this walk is made here, not by the library.
    """
    order = list(dict.fromkeys(starts))
    seen = set(order)
    for node in order:  # which grows on the way
        for target in following(node):
            if target not in seen:
                seen.add(target)
                order.append(target)
    return order


def predecessors(graph: Mapping[_T, Iterable[_T]]) -> dict[_T, list[_T]]:
    """The graph with all edges turned round: for each node those that lead to it, each once."""
    found: dict[_T, dict[_T, None]] = {node: {} for node in graph}
    for node, targets in graph.items():
        for target in targets:
            found.setdefault(target, {})[node] = None
    return {node: list(sources) for node, sources in found.items()}


def components(graph: Mapping[_T, Collection[_T]]) -> list[tuple[_T, ...]]:
    """The strongly connected components, each after those that it leads to.

    Where that leaves a choice, the component whose first node was given first comes first; the nodes of each stand in
    the order given. The order of the targets of a node does not matter, unless they are nowhere else.
    """
    import rustworkx

    numbered = _Numbered(graph)
    members = {min(found): sorted(found) for found in rustworkx.strongly_connected_components(numbered.graph)}
    first_of = {number: first for first, found in members.items() for number in found}
    # What is led to comes first, so the edges are turned round. A place in this graph is not a node's number.
    place = {first: index for index, first in enumerate(members)}
    between: rustworkx.PyDiGraph[int, None] = rustworkx.PyDiGraph(multigraph=False)
    between.add_nodes_from(list(members))
    between.add_edges_from_no_data(
        [
            (place[first_of[target]], place[first_of[source]])
            for source, target in numbered.graph.edge_list()
            if first_of[source] != first_of[target]
        ]
    )
    order = rustworkx.lexicographical_topological_sort(between, key=lambda first: f"{first:012}")
    return [tuple(numbered.nodes[number] for number in members[first]) for first in order]


def cycles(graph: Mapping[_T, Collection[_T]]) -> list[tuple[_T, ...]]:
    """The components whose nodes come after themselves, in the order of :func:`components`."""
    return [found for found in components(graph) if len(found) > 1 or found[0] in graph.get(found[0], ())]


def bottom_up(
    calls: Mapping[_T, Collection[_T]],
    transfer: Callable[[_T, Mapping[_T, _V]], _V],
    *,
    recursive: Callable[[Sequence[_T], Mapping[_T, _V]], Mapping[_T, _V]],
    unknown: _V,
) -> dict[_T, _V]:
    """A value of each function, callees before callers: the functional approach of Sharir and Pnueli, Two approaches to
    interprocedural data flow analysis, 1981.

    Args:
        calls: the functions, each with those that it calls.
        transfer: the value of a function, by the values of those that it calls. It is asked once.
        recursive: the values of functions that call one another, or of one that calls itself, by those of the others
            that they call: :func:`least_fixed_point`, or what else is known of a recursion.
        unknown: the value of what is called and is no key of ``calls``.
    """
    known: dict[_T, _V] = {}
    for component in components(calls):
        node = component[0]
        if node not in calls:
            known[node] = unknown
        elif len(component) == 1 and node not in calls[node]:
            known[node] = transfer(node, known)
        else:
            known |= recursive(component, known)
    return known


def least_fixed_point(
    calls: Mapping[_T, Collection[_T]],
    transfer: Callable[[_T, Mapping[_T, _V]], _V],
    *,
    start: _V,
    join: Callable[[_V, _V], _V],
) -> Callable[[Sequence[_T], Mapping[_T, _V]], Mapping[_T, _V]]:
    """The ``recursive`` of :func:`bottom_up` that repeats ``transfer`` until nothing is added.

    ``start`` is the least value. ``join`` gives the least value above what was known of a function and what is found
    now, so each function's values rise; they must not do so for ever. A function is asked again only when the value of
    a function that it calls has risen.
    """

    def solved(component: Sequence[_T], known: Mapping[_T, _V]) -> Mapping[_T, _V]:
        inside = dict.fromkeys(component, start)
        values = ChainMap(inside, known)  # type: ignore[arg-type]  # only the first is written
        callers = predecessors({node: [one for one in calls[node] if one in inside] for node in component})
        waiting = dict.fromkeys(component)
        while waiting:
            round_, waiting = list(waiting), {}
            for node in round_:
                waiting.pop(node, None)
                found = join(inside[node], transfer(node, values))
                if found != inside[node]:
                    inside[node] = found
                    waiting |= dict.fromkeys(callers[node])
        return inside

    return solved


def reverse_postorder(graph: Mapping[_T, Collection[_T]], entry: _T) -> list[_T]:
    """The nodes that ``entry`` leads to, itself among them, each before those that it leads to; cycles have no right
    order.

    Depth first, in the order in which each node's targets are given: that must be the same in every run.
    """
    import rustworkx
    from rustworkx.visit import DFSVisitor

    numbered = _Numbered(graph, (entry,))
    order: list[int] = []

    class Finished(DFSVisitor):
        def finish_vertex(self, v: int, t: float) -> None:  # noqa: ARG002
            order.append(v)

    rustworkx.digraph_dfs_search(numbered.graph, [numbered.number[entry]], Finished())
    return [numbered.nodes[number] for number in reversed(order)]


def dominators(graph: Mapping[_T, Collection[_T]], entry: _T) -> dict[_T, _T]:
    """The immediate dominator of each node that ``entry`` leads to, but for ``entry`` itself, in the order given."""
    import rustworkx

    numbered = _Numbered(graph, (entry,))
    found = rustworkx.immediate_dominators(numbered.graph, numbered.number[entry])
    return {numbered.nodes[node]: numbered.nodes[found[node]] for node in sorted(found) if node != found[node]}


class _Numbered(Generic[_T]):
    """A graph as the library has it: nodes by number, in the order given."""

    def __init__(self, graph: Mapping[_T, Collection[_T]], more: Iterable[_T] = ()) -> None:
        import rustworkx

        self.nodes = list(dict.fromkeys(chain(graph, more, *graph.values())))
        self.number = {node: number for number, node in enumerate(self.nodes)}
        self.graph: rustworkx.PyDiGraph[None, None] = rustworkx.PyDiGraph()
        self.graph.add_nodes_from([None] * len(self.nodes))
        # The library goes through the edges of a node from the last one that was added.
        self.graph.add_edges_from_no_data(
            [
                (self.number[node], self.number[target])
                for node, targets in graph.items()
                for target in reversed(dict.fromkeys(targets))
            ]
        )
