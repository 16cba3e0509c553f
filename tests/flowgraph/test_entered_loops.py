"""Loops of a program with ways into the functions that it calls: blocks with calls have become several."""

from __future__ import annotations

import pytest

from loopless.graphs import predecessors, reachable
from programs_in_c import graph

CALLED = """void g(int n) { if (n > 5) g(n - 1); if (n == 3) reach_error(); }
int h(int n) { int s = 0; while (n > 0) { g(n); s++; n--; if (s > 9) break; } if (n > 20) return h(n - 3); return s; }
int main(void) {
    int s = 0;
    for (int i = 0; i < 9; i++) {
        g(i);
        s += h(i);
        g(s);
        for (int j = 0; j < i; j++) { s++; g(j); }
    }
    return s;
}"""


def test_each_loop_has_all_blocks_of_its_iterations():
    """The natural loop: what comes to a latch without passing the header; its exits are the edges that leave that."""
    found = graph(CALLED)
    sources = predecessors({label: list(block.successors) for label, block in found.blocks.items()})
    assert len(found.loops) == 3
    for loop in found.loops:
        inside = set(reachable((loop.header, *loop.latches), lambda at: sources[at] if at != loop.header else ()))  # noqa: B023
        assert loop.blocks == inside
        assert {
            (label, index)
            for label in inside
            for index, edge in enumerate(found.blocks[label].edges)
            if edge.target not in inside
        } == {*loop.exits}
        assert all(loop.header in found.blocks[latch].successors for latch in loop.latches)


@pytest.mark.parametrize("part", ["#behind1", "#behind2"])
def test_what_is_behind_a_call_is_in_the_loop(part):
    (outer,) = (loop for loop in graph(CALLED).loops if loop.parent is None and len(loop.blocks) > 6)
    assert any(label.endswith(part) for label in outer.blocks)
