"""Where bounds hold: none is given that holds nowhere."""

from __future__ import annotations

import pytest

from loopless.bounds import Bound, function_bounds
from loopless.bounds.exact import _claimed
from loopless.terms import FALSE, TRUE, ZERO, IntType, Var, holds, less
from loops_in_c import graph

READ_ANEW = {
    "from memory that is given": "void f(int *p, int n) { int *e = p + n; for (; p < e; p++) { int k = *p; REST } }",
    "from memory that is written":
        "void f(int n) { int t[10]; for (int i = 0; i < n; i++) { t[i % 10] = i; for (int j = 0; j < t[3]; j++) REST } }",
}  # fmt: skip
LEFT = {"int *e": "while (k > 0 && nondet()) k--;", "int t": "if (nondet()) break;"}


@pytest.mark.parametrize("text", READ_ANEW.values(), ids=READ_ANEW)
def test_no_bound_that_holds_nowhere_is_given(text):
    """The inner loop is not said to make 0 laps in a call under a condition that is never true."""
    rest = next(rest for begin, rest in LEFT.items() if begin in text)
    g = graph("int nondet(void); " + text.replace("REST", rest))
    for loop in function_bounds(g).loops.values():
        for bounds in (loop.per_entry, loop.any_entry, loop.total, *loop.blocks.values()):
            assert all(bound.when is not FALSE for bound in bounds)


def test_where_a_bound_holds_there_is_no_gap():
    """Nothing is counted, the loop never ends for x < 0, and of the rest only a bound for d > 0 is known."""
    x, d = Var("x", IntType(32)), Var("d", IntType(32))
    found = _claimed([], less(x, ZERO), [TRUE], FALSE, (Bound(d, less(ZERO, d)),))
    for values in ({x: 5, d: 5}, {x: 5, d: -5}):
        assert holds(found.when, values) != holds(found.gap, values)
