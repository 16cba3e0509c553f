"""Where bounds hold: none is given that holds nowhere."""

from __future__ import annotations

import pytest

from loopless.bounds import TermBound, function_bounds
from loopless.bounds.claims.of_summaries import _claimed, _piecewise, claim
from loopless.summary import LoopSummary, paths_of, summarize
from loopless.terms import (
    FALSE,
    TRUE,
    ZERO,
    IntType,
    Var,
    add,
    conjunction,
    const,
    evaluate,
    holds,
    less,
    maximum,
    text,
)
from loops_in_c import graph

READ_ANEW = {
    "from memory that is given": "void f(int *p, int n) { int *e = p + n; for (; p < e; p++) { int k = *p; REST } }",
    "from memory that is written":
        "void f(int n) { int t[10]; for (int i = 0; i < n; i++) { t[i % 10] = i; for (int j = 0; j < t[3]; j++) REST } }",
}  # fmt: skip
LEFT = {"int *e": "while (k > 0 && nondet()) k--;", "int t": "if (nondet()) break;"}


@pytest.mark.parametrize("text", READ_ANEW.values(), ids=READ_ANEW)
def test_no_bound_that_holds_nowhere_is_given(text):
    """The inner loop is not said to make 0 iterations in a call under a condition that is never true."""
    rest = next(rest for begin, rest in LEFT.items() if begin in text)
    g = graph("int nondet(void); " + text.replace("REST", rest))
    found = function_bounds(g)
    outer, inner = (found.loops[loop.name] for loop in sorted(g.loops, key=lambda loop: loop.depth))
    assert outer.total
    assert inner.per_entry
    for loop in (outer, inner):
        for bounds in (loop.per_entry, loop.any_entry, loop.total, *loop.blocks.values()):
            assert all(bound.when is not FALSE for bound in bounds)


def test_where_a_bound_holds_there_is_no_gap():
    """Nothing is counted, the loop never ends for x < 0, and of the rest only a bound for d > 0 is known."""
    x, d = Var("x", IntType(32)), Var("d", IntType(32))
    found = _claimed([], less(x, ZERO), [TRUE], FALSE, (TermBound(d, less(ZERO, d)),))
    for values in ({x: 5, d: 5}, {x: 5, d: -5}):
        assert holds(found.when, values) != holds(found.gap, values)


def test_pieces_are_not_told_where_they_are_longer_than_a_bound_and_leave_gaps_too():
    """Of the greatest common divisor by subtraction little is summarized; a + b - 2 says more in fewer words."""
    g = graph("int f(int a, int b) { while (a != b) { if (a > b) a -= b; else b -= a; } return a; }")
    summary = summarize(paths_of(g, g.loops[0]))
    assert isinstance(summary, LoopSummary)
    assert not summary.complete
    a, b = (parameter.var for parameter in g.parameters)
    bound = TermBound(maximum(ZERO, add(a, b, const(-2))), conjunction((less(ZERO, a), less(ZERO, b))))
    found = claim(summary, (bound,))
    assert found.upper is bound.term
    for x in range(-4, 9):
        for y in range(-4, 9):
            values = {a: x, b: y}
            assert holds(found.when, values) == (x > 0 and y > 0)
            never = min(x, y) == 0 < max(x, y)
            assert holds(found.never, values) == never
            assert holds(found.gap, values) == (not never and min(x, y) <= 0)


def test_pieces_are_told_in_turn():
    """What the pieces before leave open is not told again, and the values are those of the pieces."""
    x, y = Var("x", IntType(32)), Var("y", IntType(32))
    positive, negative = less(ZERO, x), less(y, ZERO)
    pieces = [
        (less(x, const(1)), ZERO),
        (conjunction((positive, negative)), const(1)),
        (conjunction((positive, less(const(-1), y))), add(maximum(ZERO, x), y)),
    ]
    told = _piecewise(pieces, None)
    assert text(told) == "x <= 0 ? 0 : y < 0 ? 1 : x + y"
    for values in ({x: a, y: b} for a in range(-3, 4) for b in range(-3, 4)):
        (expected,) = (times for when, times in pieces if holds(when, values))
        assert evaluate(told, values) == evaluate(expected, values)
