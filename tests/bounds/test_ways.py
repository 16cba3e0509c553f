"""Ways of an iteration that contradict what holds whenever it is completed, against the loop alone."""

from __future__ import annotations

import pytest

from loopless.bounds.iteration.facts import NO_FACTS, Facts, SymbolIntervals
from loopless.bounds.iteration.meetings import Meeting, ways
from loopless.terms import INTEGERS, TRUE, IntType, Var, add, const, sub
from three_numbers import judge, outer

LAST_PART = {
    # The rest of a range is taken by the last iteration, which leaves the loop.
    "the rest, or so much": "while (1) { int last = n - i <= 9; int k = last ? n - i : 9; i += k; if (i >= n) break; }",
    "asked again": "for (;;) { int k = 7; if (n - i < k) k = n - i; if (i + k >= n) break; i += k; }",
    "at the end": "do { int k = n - i > 5 ? 5 : n - i; i += k; } while (i < n);",
    "downwards": "for (;;) { int k = i - n; if (k > 4) k = 4; i -= k; if (i <= n) break; }",
    "three ways": "do { int k = n - i; if (m & 1) k = 3; else if (k > 6) k = 6; i += k; if (m & 1) return 1; } while (i < n);",
}
OTHERS = {
    "unsigned": ("u8", "do { u8 last = (u8)(i + 9) >= n; u8 k = last ? n - i : 9; i += k; } while (i < n);"),
    "unsigned, by a short": (
        "u8",
        "for (;;) { u8 k = 50; if ((u8)(i + k) > n) k = n - i; u8 l = (u8)(i + k) >= n; if (l) break; i += k; }",
    ),
    "the rest is not all": ("int", "do { int k = n - i > 5 ? 5 : n - i - 1; i += k; } while (i < n);"),
    "two ways go on": ("int", "do { int k = n - i > 5 ? 5 : m; i += k; } while (i < n);"),
    "the other way is no step": ("int", "do { int k = n - i > 5 ? 0 : n - i; i += k; } while (i < n);"),
    "set back": ("int", "do { int k = n - i > 5 ? 5 : n - i; i = k == 5 ? k : i + k; } while (i < n);"),
    "unequal": ("u8", "do { u8 k = i == n ? 1 : n - i; i += k; } while (i != n);"),
}


@pytest.mark.parametrize("name", LAST_PART)
def test_the_way_that_takes_the_rest_leaves(name: str) -> None:
    g, loop, found = outer(LAST_PART[name])
    assert any(bound.when is TRUE for bound in found.bounds)
    assert judge(g, loop, found) > 1000


@pytest.mark.parametrize("name", OTHERS)
def test_no_bound_is_below_the_truth(name: str) -> None:
    kind, text = OTHERS[name]
    judge(*outer(text, kind), kind)


def test_what_holds_at_the_end_speaks_of_what_a_way_brought() -> None:
    """Where s is n or 3, s < n tells which; s ≠ 3 does, too."""
    n, s, intervals = Var("n", IntType(8, signed=False)), Var("'s", INTEGERS), SymbolIntervals()
    intervals.symbols.add(s)
    meeting = Meeting((NO_FACTS, NO_FACTS), {}, {s: (n, const(3))})
    below = NO_FACTS.at_most(add(sub(s, n), const(1)), intervals)
    assert below is not None
    (way,) = ways((s,), below, {s: meeting}, intervals)
    assert way.terms == (const(3),)
    assert way.facts.imply(sub(const(4), n), intervals)
    (other,) = ways((s,), Facts(unequal=(sub(s, const(3)),)), {s: meeting}, intervals)
    assert other.terms == (n,)
    assert len(ways((s,), NO_FACTS, {s: meeting}, intervals)) == 2
