"""Python's operators build the nodes that the functions build."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopless import terms as t

X, Y = t.Var("x", t.INTEGERS), t.Var("y", t.IntType(8))
SOME = st.sampled_from(
    [X, Y, t.ZERO, t.ONE, t.const(-7), X * 2 + Y, X * Y, t.minimum(X, Y), -X, t.wrap(X, t.IntType(8))]
)
NUMBERS = st.integers(-300, 300)


@given(SOME, SOME, NUMBERS)
def test_operators_are_the_functions(a: t.Term, b: t.Term, n: int) -> None:
    c = t.const(n)
    assert a + b is t.add(a, b)
    assert a + n is t.add(a, c)
    assert n + a is t.add(c, a)
    assert a - b is t.sub(a, b)
    assert a - n is t.sub(a, c)
    assert n - a is t.sub(c, a)
    assert a * b is t.mul(a, b)
    assert a * n is n * a is t.mul(a, c) is t.scale(a, n)
    assert -a is t.neg(a)
    if n:
        assert a // n is t.floor_div(a, c)
        assert a % n is t.mod(a, c)
    if b is not t.ZERO:
        assert a // b is t.floor_div(a, b)
        assert a % b is t.mod(a, b)
        assert n // b is t.floor_div(c, b)
        assert n % b is t.mod(c, b)


@given(SOME, SOME, NUMBERS)
def test_comparisons_are_the_functions(a: t.Term, b: t.Term, n: int) -> None:
    c = t.const(n)
    named = {
        "le": t.less_equal,
        "lt": t.less,
        "ge": t.greater_equal,
        "gt": t.greater,
        "eq": t.equal,
        "ne": t.not_equal,
    }
    for name, function in named.items():
        assert getattr(a, name)(b) is function(a, b)
        assert getattr(a, name)(n) is function(a, c)


def test_conditions_have_and_or_and_not() -> None:
    a, b, c = X.le(3), Y.eq(0), X.ne(Y)
    assert a & b is t.conjunction((a, b))
    assert a & b & c is t.conjunction((a, b, c))
    assert a | b | c is t.disjunction((a, b, c))
    assert ~(a & b) is t.negate(t.conjunction((a, b)))
    assert a & ~a is t.FALSE
    assert a | ~a is t.TRUE


def test_what_is_no_term_is_refused() -> None:
    for wrong in ("1", 1.5, None, X.le(1)):
        with pytest.raises(TypeError):
            X + wrong
        with pytest.raises(TypeError):
            wrong * X
    with pytest.raises(TypeError):
        X.le(1) & X


def test_equality_is_identity_and_order_is_that_of_keys() -> None:
    assert (X == Y) is False
    assert sorted([Y, X]) == [X, Y]
    assert len({X + 1, X + 1}) == 1


U4, U6, S6 = t.IntType(4, signed=False), t.IntType(6, signed=False), t.IntType(6, signed=True)
small, other = t.Var("small", t.IntType(6, signed=False)), t.Var("other", t.IntType(5, signed=False))
INNER = t.wrap(small * 3 + other, U4)


@pytest.mark.parametrize("kind", [U6, S6])
@pytest.mark.parametrize(
    ("term", "gone"),
    [
        (INNER * 4 + other * small, True),
        (INNER * INNER * 4 - 5, True),
        (INNER * other * 12 + small, True),
        (INNER * 2 + other * small, False),
        (INNER * INNER * 2 + small * 5, False),
    ],
)
def test_what_wraps_around_inside_is_left_out_where_its_factor_makes_up_for_the_bits(kind, term, gone):
    """Four bits times four are six bits; times two they are five, and the sixth bit is another."""
    wrapped = t.wrap(term, kind)
    assert any(isinstance(node, t.Wrap) and node.type == U4 for node in t.walk(wrapped)) is not gone
    for a in range(64):
        for b in range(32):
            at = {small: a, other: b}
            assert t.evaluate(wrapped, at) == kind.wrap(t.evaluate(term, at))
