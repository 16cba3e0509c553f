"""Random quasi-affine terms and conditions over few small variables, and all their points."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from itertools import product
from typing import Any

from hypothesis import given, reject, settings
from hypothesis import strategies as st

from loopless import logic
from loopless import terms as t
from loopless.terms import Condition, IntType, Term, Var

I4, U4, I8, U8 = IntType(4), IntType(4, signed=False), IntType(8), IntType(8, signed=False)
X, U, Z, W = Var("x", I4), Var("u", U4), Var("z", t.INTEGERS), Var("w", t.INTEGERS)
SMALL = 6
"""Variables of ℤ are looked at from -SMALL to SMALL."""

AFFORDABLE = 200_000
"""Operations for one random example; dearer ones are not counted as examples."""


def check(examples: int, *strategies: st.SearchStrategy[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test on random examples that the logic answers within :data:`AFFORDABLE` operations.

    Hypothesis fails a test most of whose examples are given up.
    """

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def limited(*args: Any, **kwargs: Any) -> None:
            try:
                with logic.budget(AFFORDABLE):
                    test(*args, **kwargs)
            except logic.BudgetExceeded:
                reject()

        return settings(deadline=None, max_examples=examples)(given(*strategies)(limited))

    return decorate


def values(variable: Var) -> range:
    """All values of a small type, or the window on ℤ."""
    low, high = variable.type.min, variable.type.max
    if low is None or high is None:
        return range(-SMALL, SMALL + 1)
    return range(low, high + 1)


def points(variables: Sequence[Var]) -> Iterator[dict[Var, int]]:
    """All points over the variables."""
    for numbers in product(*(values(v) for v in variables)):
        yield dict(zip(variables, numbers, strict=True))


def window(variables: Sequence[Var]) -> Condition:
    """The points of :func:`points` as a condition."""
    return t.conjunction(t.between(values(v).start, v, values(v).stop - 1) for v in variables)


@st.composite
def linear(draw: st.DrawFn, variables: Sequence[Var]) -> Term:
    """A linear term."""
    parts = [t.scale(v, draw(st.integers(-4, 4))) for v in variables]
    return t.add(t.const(draw(st.integers(-9, 9))), *parts)


@st.composite
def term(draw: st.DrawFn, variables: Sequence[Var], depth: int = 2) -> Term:
    """A quasi-affine term with every operator that has a translation."""
    if depth == 0:
        return draw(linear(variables))
    inner = term(variables, depth - 1)
    divisor = t.const(draw(st.sampled_from([-5, -3, -2, 2, 3, 4, 7])))
    match draw(st.integers(0, 11)):
        case 0:
            return t.floor_div(draw(inner), divisor)
        case 1:
            return t.mod(draw(inner), divisor)
        case 2:
            return t.trunc_div(draw(inner), divisor)
        case 3:
            return t.trunc_rem(draw(inner), divisor)
        case 4:
            return t.minimum(draw(inner), draw(inner))
        case 5:
            return t.maximum(draw(inner), draw(inner))
        case 6:
            return t.wrap(draw(inner), draw(st.sampled_from([I4, U4, I8, U8])))
        case 7:
            return t.ite(draw(comparison(variables, depth - 1)), draw(inner), draw(inner))
        case 8:
            bits = draw(st.sampled_from([t.bit_and, t.bit_or, t.bit_xor]))
            return bits(draw(inner), t.const(draw(st.sampled_from([-7, -4, 1, 3, 5, 6, 12]))))
        case 9:
            shift = draw(st.sampled_from([t.shift_left, t.shift_right]))
            return shift(draw(inner), t.const(draw(st.integers(0, 3))))
        case 10:
            flag = t.ite(draw(comparison(variables, depth - 1)), t.const(1), t.const(draw(st.integers(-1, 3))))
            return t.mul(flag, draw(inner))
        case _:
            return t.add(t.scale(draw(inner), draw(st.integers(-3, 3))), draw(inner))


@st.composite
def comparison(draw: st.DrawFn, variables: Sequence[Var], depth: int = 2) -> Condition:
    """A comparison of two quasi-affine terms."""
    relation = draw(st.sampled_from([t.less, t.less_equal, t.equal, t.not_equal, t.greater]))
    return relation(draw(term(variables, depth)), draw(linear(variables)))


@st.composite
def condition(draw: st.DrawFn, variables: Sequence[Var], depth: int = 2) -> Condition:
    """Comparisons joined by and, or, not."""
    if depth == 0:
        return draw(comparison(variables, draw(st.integers(0, 2))))
    inner = condition(variables, depth - 1)
    match draw(st.integers(0, 3)):
        case 0:
            return t.conjunction((draw(inner), draw(inner)))
        case 1:
            return t.disjunction((draw(inner), draw(inner)))
        case 2:
            return t.negate(draw(inner))
        case _:
            return draw(comparison(variables))
