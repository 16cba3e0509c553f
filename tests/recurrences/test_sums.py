"""Sums in closed form and differences of forms, against adding up and stepping."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopless import terms as t
from loopless.recurrences import NoClosedForm, sign_over, sum_over
from loopless.terms import INTEGERS, Var
from stepping import K, floored, number, plus, polynomials, residue, times, values_of, variable

X, Y, A, B = (Var(name, INTEGERS) for name in "xyab")
SMALL = st.integers(-6, 6)


@st.composite
def summands(draw):
    term, meaning = draw(polynomials((K, X), degree=3))
    shape = draw(st.integers(0, 3))
    if shape == 1:
        base = draw(st.sampled_from((-3, -1, 2, 3)))
        offset = draw(st.integers(0, 2))
        power = (t.power(t.const(base), t.add(K, t.const(offset))), lambda v: base ** (v[K] + offset))
        return plus(times((term, meaning), power), number(draw(SMALL)))
    if shape == 2:
        return plus((term, meaning), floored(plus(variable(K), variable(X)), draw(st.integers(2, 4))))
    if shape == 3:
        return plus((term, meaning), residue((term, meaning), draw(st.integers(2, 4))))
    return term, meaning


@given(summands(), st.integers(0, 6), st.integers(0, 8), SMALL)
def test_sums_between_symbolic_limits(summand, low, count, x):
    term, meaning = summand
    closed = sum_over(term, K, A, B)
    values = {X: x, A: low, B: low + count}
    assert K not in closed.variables
    assert t.evaluate(closed, values) == sum(meaning({**values, K: k}) for k in range(low, low + count))


@given(polynomials((K, X, Y), degree=3), values_of((X, Y)), SMALL, st.integers(0, 12))
def test_sums_from_negative_limits(summand, values, low, count):
    term, meaning = summand
    closed = sum_over(term, K, t.add(A, X), t.add(A, X, t.const(count)))
    start = low + values[X]
    expected = sum(meaning({**values, K: k}) for k in range(start, start + count))
    assert t.evaluate(closed, {**values, A: low}) == expected


def test_gauss():
    values = [t.evaluate(sum_over(K, K, t.ZERO, A), {A: n}) for n in (0, 1, 2, 10, 10**30)]
    assert values == [0, 0, 1, 45, 10**30 * (10**30 - 1) // 2]


@pytest.mark.parametrize(
    "term",
    [t.minimum(K, X), t.read("a", K, INTEGERS), t.floor_div(X, K), t.power(K, K), t.wrap(K, t.IntType(8))],
    ids=str,
)
def test_no_closed_form_is_said(term):
    with pytest.raises(NoClosedForm, match=r"k"):
        sum_over(term, K, t.ZERO, A)


@given(st.data(), SMALL, SMALL, SMALL)
def test_turning_points_of_quadratics(data, a, b, c):
    """e(k) = a·k(k-1)/2 + b·k + c + y·k, with y symbolic."""
    form = t.add(t.floor_div(t.scale(t.sub(t.mul(K, K), K), a), t.const(2)), t.scale(K, b), t.const(c), t.mul(Y, K))
    moved = sign_over(form, K)
    y = data.draw(st.integers(-10, 10))

    def delta(k):
        return a * k + b + y

    assert t.evaluate(moved.offset, {Y: y}) == delta(0)
    assert t.evaluate(moved.slope, {Y: y}) == a
    for k in range(12):
        expected = t.evaluate(form, {K: k + 1, Y: y}) - t.evaluate(form, {K: k, Y: y})
        assert t.evaluate(moved.delta, {K: k, Y: y}) == expected == delta(k)
    assert moved.kind == ("affine" if a else "constant")
    assert moved.sign == (a > 0) - (a < 0)
    if a > 0:
        turn = t.evaluate(moved.first_nonnegative, {Y: y})
        assert turn == next(k for k in range(100) if delta(k) >= 0) and moved.first_nonpositive is None
    if a < 0:
        turn = t.evaluate(moved.first_nonpositive, {Y: y})
        assert turn == next(k for k in range(100) if delta(k) <= 0) and moved.first_nonnegative is None


def test_a_slope_of_unknown_sign_has_both_turning_points():
    moved = sign_over(t.add(t.mul(X, sum_over(K, K, t.ZERO, K)), t.mul(Y, K)), K)
    assert (moved.kind, moved.sign) == ("affine", None)
    for x in (-3, -1, 1, 4):
        for y in range(-9, 10):
            turn = moved.first_nonnegative if x > 0 else moved.first_nonpositive
            expected = next(k for k in range(100) if (x * k + y) * x >= 0)
            assert t.evaluate(turn, {X: x, Y: y}) == expected


def test_other_shapes():
    assert sign_over(t.power(t.const(2), K), K).kind == "other"
    assert sign_over(t.mul(K, t.mul(K, K)), K).kind == "other"
    assert sign_over(t.minimum(K, X), K).delta is None
    assert sign_over(X, K).kind == "constant"
