"""Bounds by closed forms of a measure, against plain loops."""

from __future__ import annotations

from loopless.bounds.looperman.path_counters import ITERATIONS, PathCounters
from loopless.bounds.looperman.scopes import scopes_of
from loopless.flowgraph.model import Flowgraph
from loopless.queries import program as session
from loopless.terms import evaluate, holds

FALLING = """void f(int x, int y, int n, int p, int q, int r, int s, int t, int u, int v, int w) {
    while (x + 2 * y + n < 3 * u && p < q && r < s && t < u && v < w) { x += y; p--; r -= 2; t -= 3; v -= 4; } }"""


def test_measures_that_never_fall_take_no_place_of_a_bound(tmp_path) -> None:
    """All of p < q, r < s, ... stay true; that the loop has no iteration where one fails at first is no bound."""
    file = tmp_path / "falling.c"
    file.write_text(FALLING, encoding="utf-8")
    graph = session.load(file, mathematical=True)["f"].graph()
    assert isinstance(graph, Flowgraph)
    header = graph.loops[0].header
    (bound,) = PathCounters(scopes_of(graph)).count(header, header, ITERATIONS)
    start = dict(zip("xynpqrstuvw", (0, 7, 1, 0, 1, 0, 1, 0, 90, 0, 1), strict=True))
    iterations, x = 0, start["x"]
    while x + 2 * start["y"] + start["n"] < 3 * start["u"]:
        x, iterations = x + start["y"], iterations + 1
    values = {var: start[var.name] for var in bound.term.variables}
    assert holds(bound.when, values)
    assert evaluate(bound.term, values) == iterations
