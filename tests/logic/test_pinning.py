"""Terms where a condition holds: rewriting keeps their values, and equality is never claimed falsely."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st

from loopless import logic
from loopless import terms as t
from loopless.logic import NotPresburger, Region
from loopless.terms import Condition, IntType, Term, Var
from quasi_affine import I4, X, Z, check, condition, points, term

PAIR = (X, Var("y", I4))
Y = PAIR[1]
N, M = Var("n", IntType(32)), Var("m", IntType(32))


@st.composite
def pinning(draw: st.DrawFn) -> Condition:
    """A condition with an equality, plain or of a remainder."""
    value = t.add(t.scale(Y, draw(st.integers(-2, 2))), t.const(draw(st.integers(-5, 5))))
    plain = t.equal(X, value)
    divisor = draw(st.integers(2, 5))
    remainder = t.equal(t.mod(t.add(X, t.scale(Y, draw(st.integers(0, 2)))), t.const(divisor)), t.const(divisor - 1))
    return t.conjunction((draw(st.sampled_from([plain, remainder])), draw(condition(PAIR, depth=0))))


@check(150, term(PAIR), pinning())
def test_the_value_stays_where_the_condition_holds(whole: Term, where: Condition) -> None:
    short = logic.shortest_where(whole, where)
    for p in points(PAIR):
        if t.holds(where, p):
            assert t.evaluate(short, p) == t.evaluate(whole, p)


@check(150, term(PAIR, depth=1), term(PAIR, depth=1), pinning())
def test_equal_means_equal(a: Term, b: Term, where: Condition) -> None:
    for left, right in ((a, b), (a, logic.shortest_where(a, where))):
        everywhere = all(t.evaluate(left, p) == t.evaluate(right, p) for p in points(PAIR) if t.holds(where, p))
        assert logic.equal_where(left, right, where, Region.of(where, PAIR)) == everywhere
        assert not logic.equal_where(left, right, where, None) or everywhere


def test_products_are_compared_where_equalities_decide() -> None:
    where = t.conjunction((t.equal(N, t.add(M, t.const(2))), t.less(M, t.const(9))))
    square, product = t.mul(N, M), t.add(t.mul(M, M), t.scale(M, 2))
    with pytest.raises(NotPresburger):
        Region.of(t.equal(square, product))
    assert logic.equal_where(square, product, where, Region.of(where))
    assert not logic.equal_where(square, t.add(product, t.ONE), where, Region.of(where))
    assert not logic.equal_where(square, product, t.less(M, t.const(9)), Region.of(t.less(M, t.const(9))))


@pytest.mark.parametrize(
    ("whole", "where", "expected"),
    [
        (t.add(M, t.ONE), t.equal(M, t.sub(N, t.ONE)), "n"),
        (t.add(t.scale(t.floor_div(N, t.const(3)), 3), t.ONE), t.equal(t.mod(N, t.const(3)), t.ONE), "n"),
        (t.mod(t.add(N, t.const(4)), t.const(3)), t.equal(t.mod(N, t.const(3)), t.ONE), "2"),
        (t.mod(t.sub(t.ZERO, N), t.const(3)), t.equal(t.mod(N, t.const(6)), t.ONE), "2"),
        (t.mul(N, M), t.equal(N, t.ONE), "m"),
        (t.add(N, M), t.less(N, M), "m + n"),
    ],
)
def test_what_people_read(whole: Term, where: Condition, expected: str) -> None:
    assert t.text(logic.shortest_where(whole, where)) == expected


@check(120, condition((X, Z)))
def test_pruning_keeps_the_meaning(whole: Condition) -> None:
    short = logic.pruned(whole)
    for p in points((X, Z)):
        assert t.holds(short, p) == t.holds(whole, p)


def test_pruning_drops_what_the_rest_says() -> None:
    parts = [t.less(N, M), t.not_equal(N, t.const(7)), t.less(N, t.const(2**31 - 1)), t.less_equal(N, M)]
    assert t.text(logic.pruned(t.conjunction(parts))) == "n < m && n != 7"
    either = t.disjunction((t.less(N, t.const(5)), t.conjunction((t.less(N, t.const(3)), t.less(M, N)))))
    assert t.text(logic.pruned(either)) == "n <= 4"


@check(60, condition((X, Z)))
def test_joining_keeps_the_points(whole: Condition) -> None:
    region = Region.of(whole, (X, Z))
    joined = region.joined()
    assert joined.is_equal(region)
    assert joined.parts <= max(region.parts, 1)
