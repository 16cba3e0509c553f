"""Strongly connected components of the dependency graph, dependencies first (Tarjan, SIAM J. Comput. 1972)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet

from loopless.terms import Var


def components(graph: Mapping[Var, AbstractSet[Var]]) -> list[tuple[Var, ...]]:
    """The components of ``graph`` (each node with what it depends on), every one after those that it depends on.

    The order is the same in every run: nodes in the order of the mapping, dependencies by name.
    """
    number: dict[Var, int] = {}
    low: dict[Var, int] = {}
    stack: list[Var] = []
    done: set[Var] = set()
    found: list[tuple[Var, ...]] = []
    for root in graph:
        if root in number:
            continue
        work: list[tuple[Var, Iterator[Var]]] = [(root, iter(sorted(graph[root])))]
        number[root] = low[root] = len(number)
        stack.append(root)
        while work:
            node, rest = work[-1]
            following = next(rest, None)
            if following is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == number[node]:
                    place = stack.index(node)
                    found.append(tuple(stack[place:]))
                    done.update(stack[place:])
                    del stack[place:]
            elif following not in number:
                number[following] = low[following] = len(number)
                stack.append(following)
                work.append((following, iter(sorted(graph[following]))))
            elif following not in done:
                low[node] = min(low[node], number[following])
    return found
