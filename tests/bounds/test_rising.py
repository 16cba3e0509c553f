"""Loops inside others that raise their limit: the largest entry, and all of them, against counts by thought."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest

from loopless.bounds.induction.counts import Counted, induction_counts
from loopless.terms import Term, evaluate
from loops_in_c import graph


def inner_of(text: str) -> Counted:
    """What induction variables say of the loop inside."""
    g = graph("typedef unsigned char u8;\n" + text)
    found = induction_counts(g)[max(g.loops, key=lambda loop: loop.depth).name]
    assert isinstance(found, Counted)
    return found


def value(term: Term, given: dict[str, int]) -> int:
    return evaluate(term, {var: given[var.name] for var in term.variables})


INNER = "for (int j = 0; j < k; j++);"
RISING: dict[str, tuple[str, Callable[[int, int], list[int]], bool]] = {
    # By name: a loop around, what each entry of the inner one takes, and whether the most of it is known exactly.
    "behind it": (f"while (i < n) {{ {INNER} k += 3; i++; }}", lambda n, m: [m + 3 * x for x in range(n)], True),
    "before it": (f"while (i < n) {{ k += 3; {INNER} i++; }}", lambda n, m: [m + 3 + 3 * x for x in range(n)], True),
    "in steps of 2": (
        f"while (i < n) {{ {INNER} k += 5; i += 2; }}",
        lambda n, m: [m + 5 * x for x in range((n + 1) // 2)],
        True,
    ),
    "by what is known of it": (
        f"while (i < n) {{ {INNER} k += i & 3; i++; }}",
        lambda n, m: [m + sum(y & 3 for y in range(x)) for x in range(n)],
        False,
    ),
    "at times": (
        f"while (i < n) {{ {INNER} if (i & 1) k += 4; i++; }}",
        lambda n, m: [m + 4 * (x // 2) for x in range(n)],
        False,
    ),
    "entered at times": (
        f"while (i < n) {{ if (i > 4) {{ {INNER} }} k += 2; i++; }}",
        lambda n, m: [m + 2 * x for x in range(5, n)],
        False,
    ),
    "entered at first": (
        f"while (i < n) {{ if (i < 4) {{ {INNER} }} k += 2; i++; }}",
        lambda n, m: [m + 2 * x for x in range(min(n, 4))],
        False,
    ),
    "entered once more": (
        f"while (1) {{ {INNER} if (i >= n) break; k += 2; i++; }}",
        lambda n, m: [m + 2 * x for x in range(n + 1)],
        True,
    ),
}


@pytest.mark.parametrize("name", RISING)
def test_a_limit_that_rises_around(name: str) -> None:
    """No entry takes more than the last one, for which the iterations before it have raised the limit."""
    text, truth, tight = RISING[name]
    inner = inner_of(f"int f(u8 n, u8 m) {{ int k = m, i = 0; n &= 127; {text} return 0; }}")
    assert inner.any_entry
    assert inner.total
    for n, m in product((0, 1, 2, 7, 100), (0, 1, 30, 255)):
        entries, given = truth(n, m), {"n": n, "m": m}
        most, total = (min(value(bound.term, given) for bound in bounds) for bounds in (inner.any_entry, inner.total))
        assert max(entries, default=0) <= most
        assert sum(entries) <= total
        assert not tight or not n or max(entries) == most
