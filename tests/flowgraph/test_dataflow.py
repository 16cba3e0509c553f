"""The solver of dataflow equations, against searches for paths fact by fact."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from loopless.flowgraph.dataflow import flow, solution
from loopless.graphs import predecessors, reachable, reverse_postorder

FACTS = range(4)
Graph = dict[int, list[int]]
Sets = dict[int, frozenset[int]]


def problem(seed: int) -> tuple[Graph, Sets, Sets]:
    """A graph that is reached from 0, and by node the facts that it makes and that it ends."""
    draw = random.Random(seed)
    nodes = range(draw.randint(1, 9))
    graph = {node: [draw.choice(nodes) for _ in range(draw.randint(0, 3))] for node in nodes}
    kept = reachable((0,), graph.__getitem__)
    made = {node: frozenset(fact for fact in FACTS if draw.random() < 0.25) for node in kept}
    ended = {node: frozenset(fact for fact in FACTS if draw.random() < 0.4) for node in kept}
    return {node: graph[node] for node in kept}, made, ended


def behind(node: int, facts: frozenset[int], made: Sets, ended: Sets) -> frozenset[int]:
    return (facts - ended[node]) | made[node]


@pytest.mark.parametrize("seed", range(60))
def test_what_may_hold_has_a_path_on_which_it_does(seed: int) -> None:
    graph, made, ended = problem(seed)

    def onward(node: int, facts: frozenset[int]) -> Iterator[tuple[int, frozenset[int]]]:
        yield from ((target, behind(node, facts, made, ended)) for target in graph[node])

    nothing: frozenset[int] = frozenset()
    found = flow(reverse_postorder(graph, 0), {0: nothing}, onward, frozenset.union)
    for fact in FACTS:
        first = [target for node in graph if fact in made[node] for target in graph[node]]
        there = set(reachable(first, lambda node: graph[node] if fact not in ended[node] else []))  # noqa: B023
        assert {node for node in graph if fact in found[node]} == there


@pytest.mark.parametrize("seed", range(60))
def test_what_must_hold_has_no_path_on_which_it_does_not(seed: int) -> None:
    graph, made, ended = problem(seed)

    def onward(node: int, facts: frozenset[int]) -> Iterator[tuple[int, frozenset[int]]]:
        yield from ((target, behind(node, facts, made, ended)) for target in graph[node])

    nothing: frozenset[int] = frozenset()
    found = flow(reverse_postorder(graph, 0), {0: nothing}, onward, frozenset.intersection)
    for fact in FACTS:
        first = [0, *(to for node in graph if fact in ended[node] - made[node] for to in graph[node])]
        missing = set(reachable(first, lambda node: graph[node] if fact not in made[node] else []))  # noqa: B023
        assert {node for node in graph if fact not in found[node]} == missing


@pytest.mark.parametrize("seed", range(60))
def test_equations_have_the_least_solution(seed: int) -> None:
    graph, made, ended = problem(seed)
    needed: Sets = dict.fromkeys(graph, frozenset())

    def equation(node: int) -> frozenset[int]:
        later = frozenset[int]().union(*(needed[target] for target in graph[node]))
        return (later - ended[node]) | made[node]

    solution(list(graph), needed, equation, predecessors(graph))
    for fact in FACTS:
        users = [node for node in graph if fact in made[node]]
        back = predecessors(graph)
        there = set(reachable(users, lambda node: [b for b in back[node] if fact not in ended[b]]))  # noqa: B023
        assert {node for node in graph if fact in needed[node]} == there


def test_nodes_that_no_facts_come_to_are_not_listed() -> None:
    graph = {0: [1], 1: [], 2: [1]}
    found = flow(
        [0, 1, 2], {0: frozenset((7,))}, lambda node, facts: [(to, facts) for to in graph[node]], frozenset.union
    )
    assert found == {0: {7}, 1: {7}}


def test_a_graph_without_cycles_takes_one_visit_a_node() -> None:
    graph = {0: [1, 2], 1: [3], 2: [3], 3: [4], 4: []}
    visited: list[int] = []

    def onward(node: int, facts: frozenset[int]) -> list[tuple[int, frozenset[int]]]:
        visited.append(node)
        return [(target, facts | {node}) for target in graph[node]]

    flow(reverse_postorder(graph, 0), {0: frozenset[int]()}, onward, frozenset.union)
    assert sorted(visited) == list(graph)
