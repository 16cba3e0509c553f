import os
import random
import subprocess
import sys
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pytest

from loopless.graphs import (
    bottom_up,
    components,
    cycles,
    dominators,
    least_fixed_point,
    predecessors,
    reachable,
    reverse_postorder,
)

Graph = dict[str, list[str]]

EMPTY: Graph = {}
LONG = 20_000


def random_graphs(count: int = 300) -> list[Graph]:
    """Small graphs with self loops, parallel edges, nodes that nothing leads to, and targets that are no keys."""
    found = []
    for seed in range(count):
        choose = random.Random(seed)
        nodes = [f"n{number}" for number in range(choose.randint(1, 8))]
        choose.shuffle(nodes)
        keys = nodes if choose.random() < 0.7 else nodes[: choose.randint(1, len(nodes))]
        most = choose.choice([1, 2, 4])
        found.append({node: [choose.choice(nodes) for _ in range(choose.randint(0, most))] for node in keys})
    return found


GRAPHS = random_graphs()


def all_nodes(graph: Graph) -> list[str]:
    """In the order given."""
    return list(dict.fromkeys([*graph, *(target for targets in graph.values() for target in targets)]))


def pairs_led_to(graph: Graph) -> set[tuple[str, str]]:
    """(a, b) where one or more edges lead from a to b: the transitive closure by Warshall."""
    nodes = all_nodes(graph)
    pairs = {(a, b) for a, targets in graph.items() for b in targets}
    for middle in nodes:
        pairs |= {(a, b) for a in nodes for b in nodes if (a, middle) in pairs and (middle, b) in pairs}
    return pairs


def depth_first(graph: Graph, node: str, seen: set[str]) -> list[str]:
    """Postorder by the definition."""
    seen.add(node)
    order = []
    for target in graph.get(node, ()):
        if target not in seen:
            order += depth_first(graph, target, seen)
    return [*order, node]


def in_shuffled_order(graph: Graph, seed: int) -> Graph:
    """The same nodes in the same order, but their targets in another."""
    choose = random.Random(seed)
    return {node: choose.sample(targets, len(targets)) for node, targets in graph.items()}


def test_reachable_is_the_closure_of_the_edges():
    for graph in GRAPHS:
        pairs = pairs_led_to(graph)
        for node in all_nodes(graph):
            found = reachable([node], lambda n, graph=graph: graph.get(n, ()))
            assert len(found) == len(set(found))
            assert found[0] == node
            assert set(found) == {node} | {b for a, b in pairs if a == node}


def test_reachable_has_nearer_nodes_first_and_asks_once_for_each():
    graph = {"a": ["b", "c"], "b": ["d"], "c": ["e", "a"], "d": ["e"], "e": [], "unreached": ["a"]}
    asked: list[str] = []

    def following(node: str) -> list[str]:
        asked.append(node)
        return graph[node]

    assert reachable(["a", "a"], following) == ["a", "b", "c", "d", "e"]
    assert asked == ["a", "b", "c", "d", "e"]
    assert reachable([], following) == []


def test_predecessors_have_each_edge_once_the_other_way():
    for graph in GRAPHS:
        turned = predecessors(graph)
        assert {(a, b) for b, sources in turned.items() for a in sources} == {
            (a, b) for a, targets in graph.items() for b in targets
        }
        assert sum(map(len, turned.values())) == sum(len(set(targets)) for targets in graph.values())
        assert list(turned) == all_nodes(graph)


def test_components_lead_to_one_another_and_come_after_what_they_lead_to():
    for graph in GRAPHS:
        nodes, pairs = all_nodes(graph), pairs_led_to(graph)
        found = components(graph)
        assert sorted(node for component in found for node in component) == sorted(nodes)
        at = {node: index for index, component in enumerate(found) for node in component}
        for a in nodes:
            for b in nodes:
                assert (at[a] == at[b]) == (a == b or {(a, b), (b, a)} <= pairs)
                if (a, b) in pairs:
                    assert at[b] <= at[a]


def test_components_keep_the_order_given_where_edges_leave_a_choice():
    for graph in GRAPHS:
        nodes, pairs = all_nodes(graph), pairs_led_to(graph)
        # The definition: of the components whose targets are all there, always the one with the earliest node.
        left = {frozenset({a, *(b for b in nodes if {(a, b), (b, a)} <= pairs)}) for a in nodes}
        expected: list[tuple[str, ...]] = []
        placed: set[str] = set()
        while left:
            ready = [c for c in left if all(b in placed | c for a in c for b in graph.get(a, ()))]
            first = min(ready, key=lambda c: min(map(nodes.index, c)))
            expected.append(tuple(sorted(first, key=nodes.index)))
            placed |= first
            left.remove(first)
        assert components(graph) == expected


def test_components_do_not_depend_on_the_order_of_targets():
    for seed, graph in enumerate(GRAPHS):
        if all_nodes(graph) == list(graph):
            assert components(in_shuffled_order(graph, seed)) == components(graph)


def test_cycles_are_the_nodes_that_come_after_themselves():
    for graph in GRAPHS:
        pairs = pairs_led_to(graph)
        found = cycles(graph)
        assert {n for cycle in found for n in cycle} == {n for n in all_nodes(graph) if (n, n) in pairs}
        assert [cycle for cycle in components(graph) if cycle in found] == found


def naive_fixed_point(
    graph: Graph, own: dict[str, frozenset[int]], unknown: frozenset[int]
) -> dict[str, frozenset[int]]:
    """By rounds over all functions until nothing changes."""
    found = {node: frozenset[int]() if node in graph else unknown for node in all_nodes(graph)}
    while True:
        again = {node: shifted(own[node], [found[one] for one in graph[node]]) for node in graph}
        if all(found[node] == again[node] for node in graph):
            return found
        found |= again


def shifted(own: frozenset[int], others: Iterable[frozenset[int]]) -> frozenset[int]:
    """A transfer that is more than a union: what a callee has, its caller has twice as large, modulo a number."""
    return own | {2 * one % 31 for other in others for one in other}


def test_values_of_callees_are_the_least_fixed_point():
    unknown = frozenset({5})
    for seed, graph in enumerate(GRAPHS):
        choose = random.Random(seed)
        own = {node: frozenset(choose.sample(range(31), choose.randint(0, 2))) for node in graph}

        def transfer(node: str, known: Mapping[str, frozenset[int]]) -> frozenset[int]:
            return shifted(own[node], [known[one] for one in graph[node]])  # noqa: B023

        repeated = least_fixed_point(graph, transfer, start=frozenset(), join=frozenset.union)
        found = bottom_up(graph, transfer, recursive=repeated, unknown=unknown)
        assert found == naive_fixed_point(graph, own, unknown)


def test_callees_come_before_callers_each_once_and_recursions_as_a_whole():
    for graph in GRAPHS:
        pairs, asked = pairs_led_to(graph), list[str]()

        def transfer(node: str, known: Mapping[str, bool]) -> bool:
            assert all(one in known for one in graph[node])  # noqa: B023
            asked.append(node)  # noqa: B023
            return False

        def recursive(nodes: Sequence[str], known: Mapping[str, bool]) -> dict[str, bool]:
            assert all(one in known or one in nodes for node in nodes for one in graph[node])  # noqa: B023
            return dict.fromkeys(nodes, True)

        found = bottom_up(graph, transfer, recursive=recursive, unknown=False)
        assert found == {node: (node, node) in pairs for node in all_nodes(graph)}
        assert sorted(asked) == sorted(node for node in graph if (node, node) not in pairs)


def test_reverse_postorder_is_that_of_a_depth_first_walk():
    for graph in GRAPHS:
        for entry in all_nodes(graph):
            assert reverse_postorder(graph, entry) == depth_first(graph, entry, set())[::-1]


def test_reverse_postorder_without_cycles_is_topological():
    for graph in GRAPHS:
        if cycles(graph):
            continue
        order = reverse_postorder(graph, next(iter(graph)))
        at = {node: index for index, node in enumerate(order)}
        assert all(at[a] < at[b] for a in order for b in graph.get(a, ()))


def test_dominators_are_the_nearest_nodes_that_every_way_passes():
    for graph in GRAPHS:
        for entry in all_nodes(graph):
            reached = reachable([entry], lambda n, graph=graph: graph.get(n, ()))
            avoiding = {
                barred: set(
                    reachable(
                        [entry] if entry != barred else [],
                        lambda n, graph=graph, barred=barred: [t for t in graph.get(n, ()) if t != barred],
                    )
                )
                for barred in reached
            }
            above = {n: {d for d in reached if d != n and n not in avoiding[d]} for n in reached}
            found = dominators(graph, entry)
            assert set(found) == set(reached) - {entry}
            for node, nearest in found.items():
                assert nearest in above[node]
                assert above[node] == {nearest} | above[nearest]


def test_graphs_of_nothing_and_of_one_node():
    assert components(EMPTY) == cycles(EMPTY) == []
    assert predecessors(EMPTY) == {}
    assert reverse_postorder(EMPTY, "a") == ["a"]
    assert dominators(EMPTY, "a") == {}
    assert components({"a": []}) == [("a",)]
    assert cycles({"a": []}) == []
    assert cycles({"a": ["a"]}) == [("a",)]
    assert reverse_postorder({"a": ["a"]}, "a") == ["a"]
    assert dominators({"a": ["a"]}, "a") == {}


def test_nodes_need_not_be_comparable():
    a, b, c = object(), (1, "x"), frozenset({3})
    graph = {a: [b], b: [a, c], c: []}
    assert components(graph) == [(c,), (a, b)]
    assert dominators(graph, a) == {b: a, c: b}


@pytest.mark.parametrize("ring", [False, True])
def test_long_graphs_do_not_overflow_the_stack(ring: bool):
    graph = {n: [n + 1] for n in range(LONG - 1)} | {LONG - 1: [0] if ring else []}
    done: list[bool] = []

    def walk() -> None:
        assert len(components(graph)) == (1 if ring else LONG)
        assert reverse_postorder(graph, 0) == list(range(LONG))
        assert dominators(graph, 0)[LONG - 1] == LONG - 2
        done.append(True)

    before = threading.stack_size(256 * 1024)
    try:
        thread = threading.Thread(target=walk)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert done


PRINTED = """
from loopless import graphs
from test_graphs import GRAPHS
for graph in GRAPHS:
    shown = {node: set(targets) for node, targets in graph.items()}
    if set().union(*shown.values()) <= shown.keys():
        print(graphs.components(shown), graphs.cycles(shown), graphs.dominators(shown, next(iter(shown))))
    print(graphs.components(graph), graphs.reverse_postorder(graph, next(iter(graph))), graphs.predecessors(graph))
"""


def test_results_are_the_same_whatever_the_hash_seed():
    shown = []
    for seed in ("1", "2", "3"):
        paths = [str(Path(__file__).parent), *filter(None, sys.path)]
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(paths)}
        done = subprocess.run(
            [sys.executable, "-c", PRINTED], capture_output=True, text=True, check=True, env=environment
        )
        shown.append(done.stdout)
    assert shown[0] == shown[1] == shown[2]
    assert len(shown[0].splitlines()) > len(GRAPHS)
