"""Conditions that are not Presburger in plainer words: they agree with the original, and read as people would write."""

from __future__ import annotations

import random

import pytest
from hypothesis import strategies as st

from judged import judge
from loopless import terms as t
from loopless.logic import is_quasi_affine
from loopless.summary import CallSummary, paths_of, summarize, summarize_function
from loopless.summary.presentation.nonlinear import decided, plainer
from loopless.summary.presentation.readable import readable
from loopless.terms import Condition, Term, Var
from loops_in_c import graph, summary
from quasi_affine import I4, X, check, condition, points, term

Y = Var("y", I4)
PAIR = (X, Y)
L, N, S = (Var(name, t.IntType(32)) for name in "lns")
INT_MIN, INT_MAX = t.const(-(2**31)), t.const(2**31 - 1)


@st.composite
def nonlinear(draw: st.DrawFn, depth: int = 1) -> Term:
    """Polynomials, quotients of them, powers, and choices within."""
    first, second = draw(term(PAIR, depth)), draw(term(PAIR, depth))
    match draw(st.integers(0, 4)):
        case 0:
            return t.mul(first, second)
        case 1:
            return t.floor_div(t.add(t.mul(first, second), second), t.const(draw(st.integers(2, 6))))
        case 2:
            return t.power(t.const(draw(st.integers(2, 3))), t.maximum(t.const(0), first))
        case 3:
            return t.mul(t.minimum(first, second), t.maximum(X, draw(st.sampled_from(PAIR))))
        case _:
            return t.add(t.product([X] * draw(st.integers(2, 3))), t.scale(X, draw(st.integers(-9, 9))), first)


@st.composite
def mixed(draw: st.DrawFn, depth: int = 2) -> Condition:
    """Comparisons of nonlinear and of quasi-affine terms, joined by and, or."""
    if depth == 0:
        if draw(st.integers(0, 2)) == 0:
            return draw(condition(PAIR, depth=0))
        relation = draw(st.sampled_from([t.less_equal, t.less, t.equal, t.not_equal]))
        return relation(t.add(draw(nonlinear()), draw(term(PAIR, 0))), t.const(draw(st.integers(-40, 40))))
    join = t.conjunction if draw(st.booleans()) else t.disjunction
    return join([draw(mixed(depth - 1)) for _ in range(draw(st.integers(1, 3)))])


@check(250, mixed(), condition(PAIR, depth=1))
@pytest.mark.slow
def test_it_agrees_where_the_context_holds(c: Condition, context: Condition) -> None:
    plain = plainer(c, context)
    for p in points(PAIR):
        if t.holds(context, p):
            assert t.holds(plain, p) == t.holds(c, p), (p, t.text(plain))


@st.composite
def of_one(draw: st.DrawFn) -> Condition:
    """A nonlinear comparison of one variable, and what is known of it."""
    value = t.substitute(draw(nonlinear(depth=2)), {Y: t.const(draw(st.integers(-8, 7)))})
    relation = draw(st.sampled_from([t.less_equal, t.less, t.equal, t.not_equal]))
    return relation(t.add(value, t.scale(X, draw(st.integers(-9, 9)))), t.const(draw(st.integers(-60, 60))))


@check(250, of_one(), of_one(), condition((X,), depth=1))
@pytest.mark.slow
def test_intervals_of_one_variable_are_where_it_holds(c: Condition, other: Condition, context: Condition) -> None:
    for whole in (c, t.conjunction((c, other)), t.disjunction((c, other))):
        plain = plainer(whole, context)
        for p in points((X,)):
            if t.holds(context, p):
                assert t.holds(plain, p) == t.holds(whole, p), (p, t.text(plain))


@check(120, nonlinear(depth=2), condition(PAIR, depth=1))
@pytest.mark.slow
def test_decided_values_are_the_same_where_the_context_holds(value: Term, context: Condition) -> None:
    plain = decided(value, context)
    for p in points(PAIR):
        if t.holds(context, p):
            assert t.evaluate(plain, p) == t.evaluate(value, p)


def half(term: Term) -> Term:
    return t.floor_div(term, t.const(2))


POSITIVE = t.greater(N, t.const(0))
LESSER = t.minimum(t.const(0), t.sub(N, t.const(1)))
PLAIN = {
    "a quotient of a polynomial": (t.less_equal(half(t.add(t.mul(N, N), N)), INT_MAX), POSITIVE, "n <= 65535"),
    "a negative quotient": (t.less_equal(t.neg(half(t.mul(N, N))), t.const(-8)), POSITIVE, "n >= 4"),
    "twice a quotient": (t.less_equal(t.scale(half(t.mul(N, N)), 2), t.const(9)), POSITIVE, "n <= 3"),
    "a choice that is decided": (
        t.greater_equal(t.add(t.mul(LESSER, LESSER), LESSER), INT_MIN), POSITIVE, "true"),
    "a power": (t.less_equal(t.power(t.const(2), N), INT_MAX), POSITIVE, "n <= 30"),
    "a power within a choice": (
        t.less_equal(t.power(t.const(2), t.minimum(t.const(33), N)), INT_MAX), POSITIVE, "n <= 30"),
    "the signs of a product": (
        t.disjunction((t.less_equal(N, t.const(0)), t.greater(L, t.const(0)),
                       t.conjunction((t.less_equal(L, t.const(0)), t.greater_equal(t.mul(L, N), INT_MIN))))),
        t.greater_equal(N, t.const(0)), "l*n >= -2147483648"),
    "an arm for what the other leaves": (
        t.disjunction((t.less(t.mul(L, N), S),
                       t.conjunction((t.greater_equal(t.mul(L, N), S), t.less(N, L))))),
        t.TRUE, "n < l || l*n < s"),
}  # fmt: skip


@pytest.mark.parametrize("name", PLAIN)
def test_what_people_read(name: str) -> None:
    given, context, expected = PLAIN[name]
    assert not is_quasi_affine(given)
    assert t.text(plainer(given, context)) == expected


def test_what_cannot_be_plainer_stays() -> None:
    c = t.less(t.mul(L, N), S)
    assert plainer(c) is c
    division = t.less(t.floor_div(L, N), S)
    assert plainer(division) is division
    assert plainer(t.disjunction((c, t.less(L, N))), operations=10).variables == {L, N, S}


FUNCTIONS = {
    "int f(int n) { int s = 0; for (int i = 1; i <= n; i++) s += i; return s; }": (
        ["n <= 0", "n > 0 && n <= 65535"], "n >= 65536"),
    "int f(int n) { int s = 0; for (int i = 1; i <= n; i++) s += i * i; return s; }": (
        ["n <= 0", "n > 0 && n <= 1860"], "n > 1860"),
    "int f(int n) { int r = 1; for (int i = 0; i < n; i++) r *= 2; return r; }": (
        ["n <= 0", "n > 0 && n <= 30"], "n > 30"),
}  # fmt: skip


@pytest.mark.parametrize("text", FUNCTIONS)
def test_where_a_function_overflows_is_a_range(text: str) -> None:
    """65535 * 65536 / 2 is the last sum below 2^31, 1860 * 1861 * 3721 / 6 the last one of squares, 2^30 the last power."""
    g = graph(text)
    found = summarize_function(g, {loop.name: summarize(paths_of(g, loop)) for loop in g.loops})
    assert isinstance(found, CallSummary)
    cases, undefined = FUNCTIONS[text]
    assert [t.text(case.when) for case in found.cases] == cases
    assert [t.text(region.when) for region in found.undefined] == [undefined]


def test_each_reason_for_an_overflow_is_told_once() -> None:
    """The sum falls below the type's range, rises above it, or the counter overflows; wherever the loop is entered."""
    found = readable(summary("int f(int i, int n, int s) { for (; i <= n; i++) s += i; return s; }"))
    (region,) = found.undefined
    assert len(t.disjuncts(region.when)) == 3
    assert t.equal(N, INT_MAX) in t.disjuncts(region.when)


JUDGED = {
    "a sum": "int f(int i, int n, int s) { for (; i <= n; i++) s += i; return s; }",
    "a sum of squares": "int f(int i, int n, int s) { for (; i < n; i++) s += i * i; return s; }",
    "a product": "int f(int i, int n, int s) { while (n > 0) { s += i; n--; } return s; }",
    "powers": "int f(int i, int n, int s) { while (n > 0 && s < i) { s *= 2; n--; } return s; }",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", JUDGED)
def test_what_is_read_is_what_the_loop_does(name: str) -> None:
    """Each state lies in one region of the summary as it is shown, and the run ends as that says; near overflows too."""
    chosen = random.Random(3)
    edges = (0, 1, -1, 46340, 65535, 65536, 2**31 - 1, -(2**31), 2**31 - 70, 70 - 2**31)
    entries = []
    for _ in range(400):
        i = chosen.choice((*edges, chosen.randint(-90_000, 90_000)))
        n = chosen.choice((*edges, i + chosen.randint(-3, 900), chosen.randint(-5, 90_000)))
        values = (i, n, chosen.choice((*edges, chosen.randint(-(2**31), 2**31 - 1))))
        entries.append(tuple(t.IntType(32).wrap(value) for value in values))
    counts = judge(graph(JUDGED[name]), lambda paths: readable(summarize(paths)), entries)
    assert counts["case"] > 50
    assert name == "powers" or counts["undefined"] > 20
