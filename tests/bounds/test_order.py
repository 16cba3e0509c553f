"""Which of two terms is surely the least, against values."""

from __future__ import annotations

import random

import pytest

from loopless.bounds.asymptotics.compare import lesser, surely_at_most
from loopless.terms import (
    ZERO,
    Const,
    IntType,
    Term,
    Var,
    add,
    const,
    evaluate,
    floor_div,
    maximum,
    minimum,
    mul,
    scale,
    sub,
)

INT = IntType(32, signed=True)
N, M = Var("n", INT), Var("m", INT)
up = lambda term: maximum(ZERO, term)  # noqa: E731


def drawn(chosen: random.Random, depth: int) -> Term:
    if depth == 0:
        return chosen.choice((N, M, const(chosen.randint(-3, 3)), sub(N, const(1)), up(N), up(M)))
    a, b = drawn(chosen, depth - 1), drawn(chosen, depth - 1)
    match chosen.randrange(6):
        case 0:
            return add(a, b)
        case 1:
            return mul(up(a), up(b))
        case 2:
            return maximum(a, b)
        case 3:
            return minimum(a, b)
        case 4:
            return floor_div(a, const(2))
        case _:
            return scale(a, chosen.choice((1, 2, -1)))


def test_no_answer_is_wrong():
    chosen, said = random.Random(7), 0
    for _ in range(2500):
        a = drawn(chosen, chosen.randint(0, 2))
        b = chosen.choice((add(a, drawn(chosen, 1)), maximum(a, drawn(chosen, 1)), drawn(chosen, 2)))
        if isinstance(a, Const) or a is b or not surely_at_most(a, b):
            continue
        said += 1
        least = lesser(b, a)
        for _ in range(25):
            values = {N: chosen.randint(-9, 9), M: chosen.randint(-9, 9)}
            assert evaluate(a, values) <= evaluate(b, values), (str(a), str(b), values)
            assert evaluate(least, values) == evaluate(a, values)
    assert said > 200


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (add(mul(up(minimum(sub(N, const(1)), M)), up(N)), up(N)), add(mul(up(M), up(N)), up(M), up(N))),
        (mul(up(sub(N, const(1))), up(N)), mul(up(N), up(N))),
        (floor_div(mul(up(sub(N, const(1))), up(M)), const(2)), floor_div(mul(up(N), up(M)), const(2))),
        (up(N), mul(up(N), maximum(ZERO, N, M))),
        (up(N), up(scale(N, 5))),
        (scale(up(N), 2), up(scale(N, 4))),
        (add(scale(up(sub(N, M)), 2), up(M)), add(up(sub(scale(N, 3), scale(M, 3))), up(M))),
        (up(floor_div(N, const(2))), up(N)),
    ],
)
def test_sums_and_products_of_smaller_parts_are_smaller(a, b):
    assert surely_at_most(a, b)
    assert not surely_at_most(b, a)
