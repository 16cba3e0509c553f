"""Counts of loops that were unrolled by hand."""

from __future__ import annotations

from itertools import product

from loopless.bounds.induction.counts import Counted, induction_counts
from loopless.terms import evaluate
from loops_in_c import graph


def test_a_comparison_unrolled_by_eight() -> None:
    """Nine ways lead behind the conditions, of which one completes the iteration; the pointers come of one."""
    steps = " && ".join(["*++p == *++q"] * 8)
    text = (
        "struct s { char *w; }; int f(struct s *s, char *q, int n) { char *p = s->w, *end = s->w + n;"
        f" do {{}} while ({steps} && p < end); return *p; }}"
    )
    (found,) = induction_counts(graph(text)).values()
    assert isinstance(found, Counted)
    assert found.exact is None
    bounds = [bound.term for bound in found.bounds if {v.name for v in bound.term.variables} == {"p", "end"}]
    # Completed are those behind which p + 8k is below the end.
    for first, last in product([0, 5, 1000], repeat=2):
        true = sum(first + 8 * k < last for k in range(1, 200))
        assert (
            min(evaluate(term, {var: {"p": first, "end": last}[var.name] for var in term.variables}) for term in bounds)
            == true
        )
