"""What inner loops do as a whole: the loops around them, from all states of small values, against the loop alone."""

from __future__ import annotations

from itertools import product

import pytest

from loopless.bounds.iteration.facts import NO_FACTS, SymbolIntervals
from loopless.bounds.iteration.loop_effects import LoopEffect
from loopless.terms import INTEGERS, TRUE, Var, add, const, evaluate, maximum, minimum, sub
from three_numbers import judge, outer

BOUNDED = {
    # By name: a loop around others, which has a bound under no condition.
    "as often as an exact count": "while (i < n) { for (u8 j = 0; j < 3; j++) i++; }",
    "a count of at least one": "while (i < n) { u8 c = 1 + (m & 3); while (c--) i++; }",
    "a count among several": "while (i < n) { u8 c; if (i & 1) c = (m & 3) + 2; else if (n & 1) c = 1; else c = 9;"
    " for (u8 j = 0; j < c; j++) i++; }",
    "in steps of 2, downwards": "while (i > n) { u8 c = 2 + (m & 1); while (c > 0) { i -= 2; c--; } }",
    "no further than the limit": "while (i < n) { for (u8 j = 0; j < m; j++) { if (i >= n) return 1; i++; } i++; }",
    "what holds behind each iteration": "u8 k = i; while (k < n) { for (u8 j = 0; j < m; j++) { if (k >= n) break; k++; }"
    " if (k == n) break; k++; }",
    "what holds behind an iteration that there is": "while (i < n) { u8 k = m; do { if (k > 250) break; k++; } while (k & 3);"
    " while (k < 200) { if (k > 198) break; k++; } i++; }",
    "a loop in a loop in a loop": "while (i < n) { for (u8 j = 0; j < 2; j++) for (u8 k = 0; k < 2; k++) i++; }",
}
UNDER_CONDITIONS = {
    "in the limit's type": ("u8", "while (i < n) { for (u8 j = 0; j < 3; j++) i++; }"),
    "one of the loop's own": ("u8", "for (; i < n; i++) { for (u8 j = 0; j < 5; j++) { if (i == m) break; i++; } }"),
    "through a cast": ("i8", "while ((u8)i < n) { u8 c = 1 + (m & 3); while (c--) i++; }"),
}
OTHERS = {
    # That need not have a bound; none may be below the truth.
    "no iteration": ("int", "while (i < n) { u8 c = m; while (c--) i++; }"),
    "an iteration that is left": ("int", "while (i < n) { for (u8 j = 0; j < 4; j++) { if (j == m) break; i++; } }"),
    "left in the middle": ("int", "while (i < n) { for (u8 j = 0; j < 4; j++) { i++; if (j == m) break; } }"),
    "set back": ("u8", "while (i < n) { for (u8 j = 0; j < 4; j++) i++; if (i > m) i = 0; }"),
    "up and down": ("int", "while (i < n) { for (u8 j = 0; j < 4; j++) i++; for (u8 j = 0; j < m; j++) i--; }"),
    "a count that wraps around": ("int", "while (i < n) { u8 c = m - 1; while (c != 0) { i++; c--; } }"),
    "a limit that moves": ("int", "while (i < n) { for (u8 j = 0; j < 2; j++) { i++; n += m; } }"),
    "continued": ("int", "while (i < n) { for (u8 j = 0; j < 4; j++) { if (i == m) continue; i++; } }"),
    "the limit reached behind": ("u8", "while (i != n) { for (u8 j = 0; j < 3; j++) { if (i == n) break; i++; } }"),
    "what holds behind an iteration only": (
        "u8",
        "while (i <= n) { for (u8 j = 0; j < m; j++) { if (i >= n) break; i++; } i++; }",
    ),
    "saved and put back": (
        "int",
        "while (i < n) { u8 k = i; for (u8 j = 0; j < 4; j++) i++; if (m == 3) i = k; i++; }",
    ),
    "an inner loop that lowers its own limit": (
        "int",
        "while (i < n) { for (u8 j = 0; j < m; j++) { m--; i++; } i++; }",
    ),
}


@pytest.mark.parametrize("name", BOUNDED)
def test_a_loop_around_that_inner_ones_bring_on(name: str) -> None:
    g, loop, found = outer(BOUNDED[name])
    assert any(bound.when is TRUE for bound in found.bounds)
    assert judge(g, loop, found) > 1000


@pytest.mark.parametrize("name", UNDER_CONDITIONS)
def test_a_loop_around_that_may_wrap_around(name: str) -> None:
    kind, text = UNDER_CONDITIONS[name]
    g, loop, found = outer(text, kind)
    assert found.bounds
    assert judge(g, loop, found, kind) > 1000


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.slow
def test_no_bound_is_below_the_truth(name: str) -> None:
    kind, text = OTHERS[name]
    judge(*outer(text, kind), kind)


@pytest.mark.parametrize(("step", "per"), [(1, 3), (2, 4), (5, 1)])
def test_the_count_around_is_exact_where_inner_ones_are(step: int, per: int) -> None:
    g, _, found = outer(f"while (i < n) {{ for (u8 j = 0; j < {per}; j++) i += {step}; }}")
    (i, n) = (next(v for v in g.variables if v.name == name) for name in "in")
    assert found.exact is not None
    for first, limit in product((-7, 0, 3), (0, 3, 4, 200, 255)):
        truth, k = 0, first
        while k < limit:
            k, truth = k + step * per, truth + 1
        assert evaluate(found.exact, {i: first, n: limit}) == truth


def test_what_a_count_comes_to_where_the_loop_is_entered() -> None:
    n, j = Var("n", INTEGERS), Var("j", INTEGERS)
    intervals = SymbolIntervals()
    facts = NO_FACTS.at_most(sub(n, const(9)), intervals)
    assert facts is not None
    both = facts.at_most(sub(const(4), n), intervals)
    assert both is not None
    count = maximum(const(0), sub(n, j))
    assert LoopEffect(count=count).times({j: const(2)}, both, intervals) == (2, 7)
    assert LoopEffect(most=(count,)).times({j: const(2)}, both, intervals) == (0, 7)
    assert LoopEffect(count=minimum(n, const(6))).times({}, both, intervals) == (4, 6)
    assert LoopEffect(count=minimum(j, const(6))).times({}, both, intervals) == (0, 6)
    assert LoopEffect(count=maximum(j, const(6))).times({}, both, intervals) == (6, None)
    assert LoopEffect().times({}, both, intervals) == (0, None)


@pytest.mark.parametrize(
    ("drift", "times", "moved"),
    [
        ((1, 3), (2, 5), (2, 15)),
        ((-3, 1), (2, 5), (-15, 5)),
        ((-3, -1), (2, None), (None, -2)),
        ((0, 2), (0, None), (0, None)),
        ((None, 2), (1, 4), (None, 8)),
    ],
)
def test_by_how_much_iterations_move_a_variable(drift, times, moved) -> None:
    x, intervals = Var("x", INTEGERS), SymbolIntervals()
    found = LoopEffect({x: drift}).moved(x, add(x, const(7)), times, intervals)
    assert found is not None
    assert intervals.range_of(sub(sub(found, x), const(7))) == moved
