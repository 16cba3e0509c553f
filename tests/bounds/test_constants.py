"""Variables that hold one constant wherever they are read."""

from __future__ import annotations

import pytest

from loopless.bounds.induction.counts import Counted, induction_counts
from loopless.bounds.iteration.constants import constants
from loopless.flowgraph.liveness import live_at_entry
from loops_in_c import graph

FIXED = {
    # By name: a function, and of its variables m those that are one constant.
    "set once": ("int f(int n) { int m = 7; while (n < m) n++; return n; }", {7}),
    "set twice to the same": ("int f(int n) { int m; if (n) m = 3; else m = 3; while (n < m) n++; return n; }", {3}),
    "set to others": ("int f(int n) { int m = 7; if (n) m = 3; while (n < m) n++; return n; }", set()),
    "not set on one way": ("int f(int n) { int m; if (n) m = 7; while (n < m) n++; return n; }", set()),
    "raised": ("int f(int n) { int m = 7; while (n < m) { n++; m++; } return n; }", set()),
    "a parameter": ("int f(int n, int m) { m = 7; while (n < m) n++; return n; }", set()),
    "a global": ("int m; int f(int n) { m = 7; while (n < m) n++; return n; }", set()),
    "written by a call": ("void g(int *); int f(int n) { int m = 7; g(&m); while (n < m) n++; return n; }", set()),
}


@pytest.mark.parametrize("name", FIXED)
def test_constants(name: str) -> None:
    text, expected = FIXED[name]
    g = graph(text)
    found = constants(g, live_at_entry(g.blocks, frozenset())[g.entry])
    assert {value.value for var, value in found.items() if g.variables[var].shown == "m"} == expected


def test_a_limit_that_is_set_once_is_a_number() -> None:
    """Without it, nothing says that what is added does not wrap around."""
    text = "unsigned f(unsigned n, unsigned k) { unsigned most = 1u << 20, s; while (n < most) {"
    g = graph(text + " s = k > most ? most : k; if (!s) break; n += s; } return n; }")
    (one,) = induction_counts(g).values()
    assert isinstance(one, Counted)
    assert any(str(bound.term) == "max(0, 1048576 - n)" for bound in one.bounds)
