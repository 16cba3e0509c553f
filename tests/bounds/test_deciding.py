"""Why there is no bound, or none smaller than a type: what a call may change, what is not followed, and nothing false."""

from __future__ import annotations

import pytest

from loopless.bounds.reads.deciding import causes
from loops_in_c import graph

HEAD = "struct s { unsigned long n; unsigned char most; int *v; }; extern int look(unsigned); extern void drop(int *); int top;"


@pytest.mark.parametrize(
    ("function", "said"),
    [
        ("void f(struct s *p) { for (unsigned long i = 0; i < p->n; i++) drop(p->v); }", "p->n may be changed by drop at "),
        ("int f(struct s *p) { for (unsigned char c = 0; c <= p->most; ++c) if (look(c)) return c; return 0; }", "p->most may be changed by look at "),
        ("void f(void) { for (int i = 0; i != top; i++) look(i); }", "top may be changed by look at "),
        ("int f(void) { int n = 0; for (double x = .1; x != 1.0; x += .1) n++; return n; }", "floating-point values at "),
        # The limit is put into a local on the way.
        ("void f(struct s *p) { unsigned long i = 0; for (;;) { unsigned long m = p->n; if (i >= m) break; drop(p->v); i++; } }", "p->n may be changed by drop at "),
    ],
)  # fmt: skip
def test_what_may_change_is_named(function: str, said: str) -> None:
    g = graph(HEAD + function)
    (loop,) = g.loops
    (cause,) = causes(g, loop)
    assert said in cause


@pytest.mark.parametrize(
    "function",
    [
        "void f(unsigned long n, int *v) { for (unsigned long i = 0; i < n; i++) drop(v); }",
        "void f(struct s *p) { unsigned long n = p->n; for (unsigned long i = 0; i < n; i++) drop(p->v); }",
        "int f(int n) { while (n > 1) n = n % 2 ? 3 * n + 1 : n / 2; return n; }",
        "int f(int n) { int c = 0; double x = 0; while (n-- > 0) { x += .5; c += look(c); } return c + (x > 3); }",
        "int f(int n) { while (look(n)) n++; return n; }",
    ],
)
def test_what_does_not_decide_is_not_named(function: str) -> None:
    g = graph(HEAD + function)
    (loop,) = g.loops
    assert causes(g, loop) == ()
