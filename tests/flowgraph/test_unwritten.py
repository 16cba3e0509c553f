"""Arrays that nobody writes hold what their definitions say."""

from __future__ import annotations

import pytest

from loopless.bounds.induction.counts import Counted, induction_counts
from loopless.terms import Const
from runs_of_text import flowgraph

LOOP = "int f(int i) { int n = 0; while (n < T[1]) n++; return n; }"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("static int T[3] = {4, 5, 6};", 5),
        ("static int T[3];", 0),
        ("int T[3] = {4, 5, 6};", None),  # another file may write it
        ("static int T[3] = {4, 5, 6}; void w(int i) { T[i] = 7; }", None),
        ("static int T[3] = {4, 5, 6}; void w(int *); void g(void) { w(T); }", None),
        ("static int T[3] = {4, 5, 6}; int *kept = T + 1;", None),
        ("static int T[3] = {4, 5, 6}; int g(const int *p) { return p[1]; } int h(void) { return g(T); }", 5),
    ],
)
def test_a_limit_in_an_array(text: str, count: int | None) -> None:
    (one,) = induction_counts(flowgraph(text + LOOP)).values()
    assert isinstance(one, Counted)
    (bound,) = one.total
    assert (bound.term.value if isinstance(bound.term, Const) else None) == count
