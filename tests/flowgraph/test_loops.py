"""The loop forest of random graphs, against the definitions by enumeration of ways."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

from loopless.flowgraph.loops import loop_forest
from loopless.flowgraph.model import Block, Edge, End
from loopless.refusals import Reason
from loopless.source import load
from loopless.terms import TRUE

LABELS = tuple("abcdefg")
Graph = dict[str, tuple[str, ...]]


def drawn(seed: int) -> Graph:
    """A graph all of whose blocks are reached from the first, which no edge leads to."""
    chosen = random.Random(seed)
    following = {label: set(chosen.sample(LABELS[1:], chosen.choice((0, 1, 1, 2)))) for label in LABELS}
    for at, label in enumerate(LABELS[1:], 1):
        following[chosen.choice(LABELS[:at])].add(label)
    return {label: tuple(sorted(targets)) for label, targets in following.items()}


def reached(edges: Graph, start: str, without: frozenset[str] = frozenset()) -> set[str]:
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        label = waiting.pop()
        if label not in seen and label not in without:
            seen.add(label)
            waiting += edges[label]
    return seen


def loops(edges: Graph) -> tuple[dict[str, set[str]], bool]:
    """By header the blocks of each natural loop; whether some cycle has several entries.

    A header is on every way from the first block to the source of an edge that leads back to it; its loop is what
    comes to that source without passing it.
    """
    found: dict[str, set[str]] = {}
    back = set()
    for source, targets in edges.items():
        for header in targets:
            if source not in reached(edges, LABELS[0], frozenset((header,))):
                back.add((source, header))
                inside = {label for label in LABELS if source in reached(edges, label, frozenset((header,)))}
                found.setdefault(header, {header}).update(inside)
    rest = {label: tuple(t for t in targets if (label, t) not in back) for label, targets in edges.items()}
    cyclic = any(label in reached(rest, target) for label, targets in rest.items() for target in targets)
    return found, cyclic


@cache
def any_function(folder: str):
    file = Path(folder) / "a.c"
    file.write_text("int f(int x) { return x; }")
    return load([file]).inlined.functions["f"]


def test_headers_bodies_and_nesting_are_by_definition(tmp_path) -> None:
    function = any_function(str(tmp_path))
    with_loops = nested = irreducible = 0
    for seed in range(400):
        edges = drawn(seed)
        blocks = {
            label: Block(label, (), tuple(Edge(TRUE, t) for t in targets), None if targets else End("return"))
            for label, targets in edges.items()
        }
        forest, refused = loop_forest(blocks, LABELS[0], function, dict.fromkeys(LABELS))
        truth, cyclic = loops(edges)
        assert {loop.header: set(loop.blocks) for loop in forest} == truth, (seed, edges)
        assert bool(refused) == cyclic, (seed, edges)
        assert {r.reason for r in refused} <= {Reason.IRREDUCIBLE}
        for loop in forest:
            around = {h for h, body in truth.items() if h != loop.header and loop.header in body}
            assert loop.depth == 1 + len(around)
            assert loop.parent == min(around, key=lambda h: len(truth[h]), default=None)
            assert set(loop.latches) == {label for label in truth[loop.header] if loop.header in edges[label]}
            out = {(b, at) for b in loop.blocks for at, t in enumerate(edges[b]) if t not in loop.blocks}
            assert set(loop.exits) == out
            nested += loop.depth > 1
        with_loops += bool(forest)
        irreducible += cyclic
        assert len({loop.name for loop in forest}) == len(forest)
    assert with_loops > 200
    assert nested > 30
    assert irreducible > 20


def test_jumps_that_no_edge_tells_close_loops_too(tmp_path) -> None:
    function = any_function(str(tmp_path))
    blocks = {
        "a": Block("a", (), (Edge(TRUE, "b"),)),
        "b": Block("b", (), (Edge(TRUE, "c"),)),
        "c": Block("c", (), (), End("unsupported")),
    }
    places = dict.fromkeys(blocks)
    assert loop_forest(blocks, "a", function, places) == ((), ())
    (loop,), _ = loop_forest(blocks, "a", function, places, {"c": ("b",)})
    assert (loop.header, loop.blocks) == ("b", {"b", "c"})
