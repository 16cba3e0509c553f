"""Quotients as people read them: the same value at every point, in the words of the difference that they count."""

from __future__ import annotations

import ast
import random
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopless import terms as t
from loopless.terms import Condition, IntType, Term, Var
from loopless.terms.presentation import presented, presented_comparison

I8 = IntType(8)
AT, X, Y = (Var(name, I8) for name in "ixy")
TWO, THREE, FIVE, SEVEN = map(t.const, (2, 3, 5, 7))
N, U = Var("n", IntType(32)), Var("u", IntType(32, signed=False))
COEFFICIENTS = st.sampled_from([-7, -3, -2, -1, 0, 1, 1, 2, 5])


@st.composite
def linear(draw: st.DrawFn) -> Term:
    return t.add(t.const(draw(st.integers(-60, 60))), *(t.scale(v, draw(COEFFICIENTS)) for v in (AT, X, Y)))


@st.composite
def quotients(draw: st.DrawFn, depth: int = 1) -> Term:
    parts = [draw(linear())]
    for _ in range(draw(st.integers(1, 3))):
        inner = draw(quotients(depth - 1)) if depth and draw(st.booleans()) else draw(linear())
        atom = draw(st.sampled_from([t.floor_div, t.mod]))(inner, t.const(draw(st.sampled_from([2, 3, 5, 7]))))
        parts.append(t.scale(atom, draw(st.sampled_from([-7, -6, -3, -2, -1, 1, 2, 3, 7]))))
    return t.add(*parts)


def points(seed: int) -> list[dict[Var, int]]:
    chance = random.Random(seed)
    edges = [-128, -127, -1, 0, 1, 126, 127]
    return [{v: chance.choice([*edges, chance.randint(-128, 127)]) for v in (AT, X, Y)} for _ in range(25)]


@settings(deadline=None, max_examples=400)
@given(quotients(), st.sampled_from(["le", "eq", "ne"]))
def test_what_is_shown_has_the_same_value(term: Term, relation: str) -> None:
    shown, compared = presented(term), presented_comparison(term, relation)
    for point in points(len(term.key)):
        value = t.evaluate(term, point)
        assert t.evaluate(shown, point) == value
        assert t.evaluate(compared, point) == value


def test_remainders_that_cancel() -> None:
    inner = t.floor_div(t.add(AT, X, Y), TWO)
    e = t.add(AT, Y, inner, t.ONE)
    for sign in (1, -1):
        rest = t.mod(e, TWO)
        for term in (
            t.add(t.scale(rest, sign), t.scale(t.floor_div(e, TWO), 2 * sign), X),
            t.add(t.scale(rest, 7 * sign), t.scale(t.floor_div(e, TWO), 14 * sign), t.scale(inner, -7), Y),
            t.add(t.scale(t.floor_div(t.neg(X), FIVE), sign), t.scale(t.floor_div(t.add(X, t.const(4)), FIVE), sign)),
        ):
            for point in points(3):
                assert t.evaluate(presented(term), point) == t.evaluate(term, point)


def test_quotients_that_become_one() -> None:
    up, down = (t.floor_div(t.add(t.scale(X, sign), t.const(constant)), FIVE) for sign, constant in ((1, 0), (-1, 4)))
    for left, right in ((up, down), (down, up), (t.scale(up, -2), down), (t.scale(up, -1), t.scale(down, -1))):
        for relation in ("le", "eq"):
            term = t.add(left, right, Y)
            for point in points(5):
                assert t.evaluate(presented_comparison(term, relation), point) == t.evaluate(term, point)
                assert t.evaluate(presented(term), point) == t.evaluate(term, point)


def in_c(dividend: int, divisor: int) -> int:
    """``/`` of C."""
    return abs(dividend) // abs(divisor) * (1 if (dividend < 0) == (divisor < 0) else -1)


FUNCTIONS = {
    "floor_div": lambda a, b: a // b,
    "ceil_div": lambda a, b: -(-a // b),
    "mod": lambda a, b: a % b,
    "in_c": in_c,
    "rest_in_c": lambda a, b: a - b * in_c(a, b),
}


class Division(ast.NodeTransformer):
    """The divisions of Python as those of C."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        names = {ast.Div: "in_c", ast.Mod: "rest_in_c"}
        if type(node.op) not in names:
            return node
        return ast.Call(ast.Name(names[type(node.op)], ast.Load()), [node.left, node.right], [])


def parsed(shown: str) -> object:
    """The value of a text at all points, read as Python with the functions of the language."""
    tree = Division().visit(ast.parse(shown.replace("&&", "and").replace("||", "or"), mode="eval"))
    return compile(ast.fix_missing_locations(tree), "text", "eval")


def _compares(drawn: tuple[Term, Callable[[Term], Condition]]) -> bool:
    term, compared = drawn
    return not isinstance(compared(term), t.Truth)


@settings(deadline=None, max_examples=400)
@given(st.tuples(quotients(), st.sampled_from([t.at_most_zero, t.equals_zero, t.not_zero])).filter(_compares))
def test_the_text_means_what_it_says(drawn: tuple[Term, Callable[[Term], Condition]]) -> None:
    term, compared = drawn
    condition = compared(term)
    shown, whole = parsed(t.text(term)), parsed(t.text(condition))
    for point in points(len(term.key)):
        names = {var.name: value for var, value in point.items()}
        assert eval(shown, dict(FUNCTIONS), names) == t.evaluate(term, point)  # type: ignore[arg-type]
        assert eval(whole, dict(FUNCTIONS), names) == t.holds(condition, point)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        (t.sub(t.scale(t.floor_div(t.add(AT, X, t.ONE), TWO), 2), AT), "i + 2*ceil_div(x - i, 2)"),
        (t.sub(t.floor_div(t.add(AT, X, t.ONE), TWO), AT), "ceil_div(x - i, 2)"),
        (t.add(t.floor_div(t.sub(t.ONE, AT), SEVEN), t.const(15)), "ceil_div(100 - i, 7)"),
        (t.sub(t.add(AT, X), t.floor_div(t.add(AT, X, t.ONE), TWO)), "floor_div(i + x, 2)"),
        (t.sub(X, t.scale(t.floor_div(X, SEVEN), 7)), "mod(x, 7)"),
        (t.sub(t.const(102), t.mod(t.add(X, t.ONE), THREE)), "mod(1 - x, 3) + 100"),
        (t.add(t.floor_div(X, SEVEN), t.ONE), "floor_div(x, 7) + 1"),
        (t.sub(t.const(8), AT), "8 - i"),
        (t.sub(t.sub(t.ZERO, AT), t.const(8)), "-i - 8"),
        (t.sub(X, t.floor_div(t.sub(t.const(102), AT), THREE)), "x - ceil_div(100 - i, 3)"),
        (t.floor_div(U, TWO), "u / 2"),
    ],
)
def test_what_people_read(term: Term, expected: str) -> None:
    assert t.text(term) == expected


def test_a_quotient_stands_on_the_side_of_its_variables() -> None:
    most = t.const(2**31 - 1)
    steps = t.scale(t.floor_div(t.sub(N, X), t.const(4)), 4)
    assert t.text(t.less_equal(N, t.add(steps, most))) == "n + 4*ceil_div(x - n, 4) <= 2147483647"
    even = t.mod(t.add(AT, N, t.ONE), TWO)
    assert t.text(t.less_equal(N, t.add(even, t.const(2**31 - 2)))) == "n + mod(i + n, 2) <= 2147483647"


def test_a_reduction_that_the_shown_term_does_not_need_is_left_out() -> None:
    half = t.scale(t.floor_div(t.add(U, t.ONE), TWO), 2)
    assert t.text(t.wrap(t.sub(half, U), U.type)) == "u % 2"
    assert t.text(t.wrap(t.add(U, t.ONE), U.type)) == "(uint32_t)(u + 1)"
