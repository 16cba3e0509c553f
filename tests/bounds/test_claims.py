"""Claims put together, and how they grow: by hand, and by counting at values."""

from __future__ import annotations

from itertools import product

import pytest

from loopless.bounds import Claim, TermBound, function_bounds
from loopless.bounds.asymptotics.lower import lower_class, lower_class_of, reached
from loopless.bounds.claims.joint import (
    added,
    apart,
    at_least,
    at_most,
    bounded_by_inputs,
    in_all,
    lacks_lower,
    of_all,
    somewhere,
    together,
)
from loopless.bounds.claims.lines import line_bounds
from loopless.check.interpreter.run import Interpreter
from loopless.terms import (
    FALSE,
    INTEGERS,
    TRUE,
    ZERO,
    IntType,
    Var,
    add,
    const,
    evaluate,
    greater,
    holds,
    less,
    maximum,
    minimum,
    mul,
)
from loops_in_c import graph

I32 = IntType(32)
N, M = Var("n", I32), Var("m", I32)
UP_N, UP_M = maximum(ZERO, N), maximum(ZERO, M)
EXACT_N, EXACT_M = Claim(UP_N, UP_N, exact=True), Claim(UP_M, UP_M, exact=True)
VALUES = [{N: n, M: m} for n, m in product((-4, -1, 0, 1, 7), repeat=2)]


def test_all_loops_take_what_they_take_each() -> None:
    found = of_all([EXACT_N, EXACT_M])
    assert (found.exact, found.has_gap, found.when) == (True, False, TRUE)
    for values in VALUES:
        both = max(0, values[N]) + max(0, values[M])
        assert evaluate(found.upper, values) == evaluate(found.lower, values) == both


def test_of_loops_in_different_branches_a_run_takes_one() -> None:
    """Then two that follow each other: max(n, m) + 2."""
    g = graph("""int f(int n, int m, int c) { int s = 0;
        if (c) { for (int i = 0; i < n; i++) s++; }
        else { for (int i = 0; i < m; i++) s++; }
        for (int i = 0; i < 2; i++) s++;
        return s; }""")
    alternatives = apart(g, [loop.name for loop in g.loops])
    assert set(alternatives) == {(0, 1), (1, 0)}
    found = of_all([EXACT_N, EXACT_M, Claim(const(2), const(2), exact=True)], alternatives)
    for values in VALUES:
        assert evaluate(found.upper, values) == max(0, values[N], values[M]) + 2


def test_loops_are_apart_only_where_no_way_leads_from_one_to_the_other() -> None:
    """Inside a loop each branch may be taken in turn; a jump leads from one branch into the other."""
    inside = graph("""int f(int n, int c) { int s = 0;
        for (int k = 0; k < 3; k++)
            if ((c >> k) & 1) { for (int i = 0; i < n; i++) s++; } else { for (int i = 0; i < n; i++) s += 2; }
        return s; }""")
    assert not apart(inside, [loop.name for loop in inside.loops])
    jump = graph("""int f(int n, int c) { int s = 0;
        if (c) { for (int i = 0; i < n; i++) s++; if (s > 5) goto other; }
        else { other: for (int i = 0; i < n; i++) s++; }
        return s; }""")
    assert not apart(jump, [loop.name for loop in jump.loops])


def test_what_is_neither_a_sequence_nor_a_choice_is_a_sum() -> None:
    """Of 0 - 1 - 2 - 3 neighbours are apart: no way to write it by sums and largest ones of parts."""
    neighbours = {(i, j) for i in range(4) for j in range(4) if abs(i - j) == 1}
    terms = [const(value) for value in (1, 10, 100, 1000)]
    assert in_all(terms, neighbours) is const(1111)
    assert in_all(terms, neighbours - {(1, 2), (2, 1)}) is const(1010)


def test_one_loop_without_a_bound_leaves_all_without_one_but_not_without_a_lower_bound() -> None:
    found = of_all([EXACT_N, Claim(None, lower=const(2), when=greater(M, ZERO), gap=TRUE)])
    assert (found.upper, found.exact, found.gap) == (None, False, TRUE)
    for values in VALUES:  # the 2 are said of m > 0 only
        assert evaluate(found.lower, values) == max(0, values[N]) + (2 if values[M] > 0 else 0)


def test_where_one_loop_never_ends_all_do_not_and_where_one_is_silent_all_are() -> None:
    found = of_all([Claim(UP_N, never=less(N, ZERO)), Claim(UP_M, when=greater(M, ZERO), gap=less(M, ZERO))])
    for values in VALUES:
        assert holds(found.never, values) == (values[N] < 0)
        assert holds(found.gap, values) == (values[M] < 0)
        assert holds(found.when, values) == (values[M] > 0)


def test_what_some_run_reaches_is_added_up_too() -> None:
    found = of_all([EXACT_N, Claim(UP_M, lower=const(1), reached=UP_M)])
    assert found.reached is not None
    for values in VALUES:
        assert evaluate(reached(found), values) == max(0, values[N]) + max(0, values[M])
        assert evaluate(found.lower, values) == max(0, values[N]) + 1


def test_a_bound_on_all_together_takes_the_place_of_none_and_not_of_what_is_exact() -> None:
    whole = TermBound(minimum(add(UP_N, UP_M), const(9)))
    assert together(EXACT_N, whole) is EXACT_N
    assert together(EXACT_N, None) is EXACT_N
    never = Claim(None, never=less(N, ZERO), gap=TRUE)
    assert together(never, whole) is never
    partly = together(Claim(UP_N, lower=const(3), when=greater(M, ZERO), gap=less(M, ZERO)), whole)
    assert (partly.upper, partly.when, partly.gap) == (whole.term, TRUE, FALSE)
    for values in VALUES:
        assert evaluate(partly.lower, values) == (3 if values[M] > 0 else 0)
    both = together(Claim(add(UP_N, UP_M, const(2))), whole)
    for values in VALUES:
        assert evaluate(both.upper, values) == min(9, max(0, values[N]) + max(0, values[M]))


def test_a_claim_of_runs_that_may_end_before_is_an_upper_bound_only() -> None:
    found = at_most(Claim(UP_N, UP_N, exact=True, never=less(M, ZERO)))
    assert (found.upper, found.lower, found.exact, found.never) == (UP_N, ZERO, False, FALSE)
    assert found.gap is less(M, ZERO)
    assert at_most(Claim(None, never=less(M, ZERO))).gap is TRUE


def test_a_bound_that_holds_nowhere_is_none() -> None:
    assert somewhere(Claim(UP_N, when=FALSE)).upper is None
    assert somewhere(EXACT_N) is EXACT_N


def test_a_lower_bound_makes_exact_what_it_meets() -> None:
    plain = Claim(UP_N)
    assert lacks_lower(plain)
    assert not lacks_lower(EXACT_N)
    assert at_least(plain, ZERO, defined=True, sure=True) is plain
    met = at_least(plain, UP_N, defined=True, sure=True)
    assert (met.exact, met.lower, met.undefined, met.reached) == (True, UP_N, FALSE, None)
    below = at_least(plain, const(1), defined=False, sure=False)
    assert (below.exact, below.lower, below.undefined, below.reached) == (False, const(1), TRUE, ZERO)
    assert not at_least(Claim(UP_N, gap=less(M, ZERO)), UP_N, defined=True, sure=True).exact


def test_a_summary_adds_a_bound_only_where_there_is_none() -> None:
    assert added(EXACT_N, ()) == (TermBound(UP_N),)
    assert added(EXACT_N, (TermBound(UP_M),)) == ()
    assert added(Claim(UP_N, when=greater(M, ZERO)), (TermBound(UP_M, less(N, ZERO)),)) == (
        TermBound(UP_N, greater(M, ZERO)),
    )
    assert added(Claim(None), ()) == ()


Z = Var("z", INTEGERS)
GROWS = [
    (Claim(UP_N, UP_N, exact=True), 1, "Omega(n)"),
    (Claim(mul(UP_N, UP_M), mul(UP_N, UP_M), exact=True), 2, "Omega(m*n)"),
    (Claim(mul(UP_N, UP_M), UP_N), 1, "Omega(size)"),
    (Claim(UP_N, const(5)), 0, "Omega(1)"),
    (Claim(mul(UP_N, UP_N), mul(UP_N, UP_N), exact=True, when=greater(N, ZERO)), 2, "Omega(n^2)"),
    (Claim(maximum(ZERO, Z), maximum(ZERO, Z), exact=True), 1, "Omega(z)"),
    # 7·10^9 is beyond an int's size for a constant, and no growth.
    (Claim(add(UP_N, const(7 * 10**9)), const(7 * 10**9)), 0, "Omega(1)"),
]


@pytest.mark.parametrize(("claim", "degree", "text"), GROWS)
def test_counts_grow_along_some_ray_as_worked_out_by_hand(claim: Claim, degree: int, text: str) -> None:
    shown = {N: "n", M: "m", Z: "z"}
    found = lower_class_of(claim, shown)
    assert found is not None
    assert (found.degree, found.text, found.until) == (degree, text, None)
    assert lower_class(claim, shown) == text
    for size in (1 << 14, 1 << 20):
        at = {var: sign * size for var, sign in found.ray.items()} | {var: 0 for var in shown if var not in found.ray}
        assert evaluate(reached(claim), at) >= size**degree


def test_a_count_that_stops_growing_or_is_never_told_has_no_class() -> None:
    assert lower_class_of(Claim(UP_N, ZERO), {N: "n"}) is None
    assert lower_class_of(Claim(UP_N, UP_N, exact=True, when=less(N, ZERO)), {N: "n"}) is None
    assert lower_class_of(Claim(UP_N, UP_N, exact=True, never=TRUE), {N: "n"}) is None
    limited = Claim(UP_N, UP_N, exact=True, undefined=greater(N, const(10**6)))
    assert lower_class_of(limited, {N: "n"}) is None
    found = lower_class_of(limited, {N: "n"}, limited=True)
    assert found is not None
    assert found.degree == 1
    assert found.until is not None
    assert found.until <= 10**6


LINES = """int f(int n, int m) {
    int s = 0;
    for (int i = 0; i < n; i++) {
        s++;
        if (i < 5)
            m++;
        if (m > 7)
            s += 2;
        else
            s += 3;
    }
    return WHAT;
}
"""
COUNTS = {
    4: lambda n: max(0, n),
    6: lambda n: min(max(0, n), 5),
}


@pytest.mark.parametrize("line", COUNTS)
def test_so_many_laps_come_to_a_line(line: int) -> None:
    g = graph(LINES.replace("WHAT", "s"))
    (loop,) = g.loops
    lines = {found.line: found.upper for found in line_bounds(g, function_bounds(g).loops[loop.name])}
    n = next(p.var for p in g.parameters if p.name == "n")
    for value in (-3, 0, 1, 4, 5, 6, 40):
        assert evaluate(lines[line], {n: value, M: 0}) == COUNTS[line](value)


def test_the_two_sides_of_a_choice_on_one_line_are_added_up() -> None:
    """Each of n laps comes to line 5, at most five of them on its right side."""
    g = graph(
        "int f(int n, int m) {\n int s = 0;\n for (int i = 0; i < n; i++) {\n if (i >= 5)\n m++; else s++;\n }\n return s; }"
    )
    (loop,) = g.loops
    lines = {found.line: found.upper for found in line_bounds(g, function_bounds(g).loops[loop.name])}
    n = next(p.var for p in g.parameters if p.name == "n")
    for value in (-3, 0, 4, 5, 6, 40):
        assert max(0, value) <= evaluate(lines[5], {n: value}) <= max(0, value) + 1


def test_no_line_is_come_to_more_often_than_is_said() -> None:
    """Each line counted by itself: all else that the sum counts is taken out."""
    parts = {4: "s++", 6: "m++", 8: "s += 2", 10: "s += 3"}
    plain = LINES.replace("return WHAT", "return count").replace("int s = 0;", "int s = 0, count = 0;")
    compared = 0
    bounded = graph(LINES.replace("WHAT", "s"))
    lines = {
        found.line: found.upper for found in line_bounds(bounded, function_bounds(bounded).loops[bounded.loops[0].name])
    }
    n = next(p.var for p in bounded.parameters if p.name == "n")
    for line, part in parts.items():
        text = plain.splitlines()
        text[line - 1] = text[line - 1].replace(part, f"{part}, count++")
        g = graph("\n".join(text))
        for value, m in product((-3, 0, 1, 4, 9, 40), (0, 5, 9)):
            run = Interpreter(None, g).run((value, m))
            assert run.outcome.return_value <= evaluate(lines[line], {n: value}), (line, value, m)
            compared += 1
    assert compared == 4 * 18


def test_a_bound_over_inputs_takes_the_place_of_one_over_what_is_read_unless_it_only_knows_the_type() -> None:
    read, inputs = Claim(UP_M, method="by what is read"), frozenset({N})
    assert bounded_by_inputs(read, (TermBound(UP_N),), inputs).upper is UP_N
    assert bounded_by_inputs(read, (TermBound(const(1000)),), inputs).upper == const(1000)
    # 2^31 - 1 is all that an int tells: what is read may be less.
    assert bounded_by_inputs(read, (TermBound(const(I32.max)),), inputs) is read
    assert bounded_by_inputs(read, (TermBound(add(UP_N, const(I32.max))),), inputs) is read
    # Neither a count, nor what speaks of inputs alone, nor what no bound is known for is given up.
    for kept in (EXACT_M, Claim(UP_N), Claim(None, gap=TRUE)):
        assert bounded_by_inputs(kept, (TermBound(const(1000)),), inputs) is kept
    assert bounded_by_inputs(read, (), inputs) is read
