"""Conditions of ≠ on what moves by more than 1: bounds and where they hold, against the loop alone."""

from __future__ import annotations

import pytest

from loopless.terms import evaluate, holds
from three_numbers import judge, outer

STRIDES = {
    # By name: the type of i, a loop, and with values of i, n, m the number of iterations.
    "up by 3": ("u8", "while (i != n) i += 3;", (10, 100, 0), 30),
    "down by 7": ("u8", "while (i != n) i -= 7;", (100, 2, 0), 14),
    "up by what does not change": ("u8", "while (i != n) i += m;", (1, 251, 50), 5),
    "down by what does not change": ("u8", "while (i != n) i -= m;", (250, 0, 25), 10),
    "down to 0, at the end": ("u8", "do i -= m; while (i != 0);", (200, 0, 40), 4),
    "up, at the end": ("u8", "do { i += 5; m++; } while (i != n);", (0, 100, 3), 19),
    "signed": ("i8", "while (i != -60) i -= 12;", (120, 0, 0), 15),
    "of int": ("int", "while (i != n) i += m;", (-300, 20, 20), 16),
    "in two steps": ("u8", "while (i != n) { i += 4; if (m == 200) return 1; i += m; }", (0, 60, 2), 10),
}
OTHERS = {
    "the limit moves": ("u8", "while (i != n) { i += 4; n += 2; }"),
    "the step grows": ("u8", "while (i != n) { i += m; m++; }"),
    "beyond the type": ("u8", "while (i != n + m) i += 3;"),
    "below the type": ("u8", "while (i != n - m) i -= 3;"),
    "a cast": ("int", "while ((u8)i != n) i += 3;"),
    "at times": ("u8", "while (i != n) { if (i & 1) i += 3; else i += m; }"),
    "two differences": ("u8", "while (i != n && i != m) i += 6;"),
    "a difference of what is narrower": ("i8", "while (i != (i8)n) i += 100;"),
}


@pytest.mark.parametrize("name", STRIDES)
@pytest.mark.slow
def test_what_moves_in_strides_is_met(name: str) -> None:
    kind, text, values, times = STRIDES[name]
    g, loop, found = outer(text, kind)
    given = {var: dict(zip("inm", values, strict=True)).get(var.name, 0) for var in g.variables}
    fitting = [bound for bound in found.bounds if holds(bound.when, {v: given[v] for v in bound.when.variables})]
    assert times in {evaluate(bound.term, {v: given[v] for v in bound.term.variables}) for bound in fitting}
    assert judge(g, loop, found, kind) > 50


@pytest.mark.parametrize("name", OTHERS)
def test_no_bound_is_below_the_truth(name: str) -> None:
    kind, text = OTHERS[name]
    judge(*outer(text, kind), kind)
