"""Which conditions are needed beside others: what is left out follows from what is left."""

from __future__ import annotations

import itertools

import pytest

from loopless.logic.strongest import Strongest
from loopless.terms import (
    INTEGERS,
    IntType,
    Var,
    add,
    const,
    disjunction,
    equal,
    holds,
    less_equal,
    mul,
    not_equal,
    scale,
    sub,
)

X, Y = (Var(name, INTEGERS) for name in "xy")
BYTE = Var("b", IntType(8, signed=False))


def at_most(term, number):
    return less_equal(term, const(number))


def at_least(term, number):
    return less_equal(const(number), term)


@pytest.mark.parametrize(
    ("conditions", "needless"),
    [
        ([at_most(X, 3), at_most(X, 5), at_most(X, 4)], {1, 2}),
        ([at_least(X, 3), at_most(X, 5)], set()),
        ([equal(X, const(2)), at_most(X, 2), at_least(X, 2), at_least(X, 0), at_least(X, 3)], {1, 2, 3}),
        ([equal(X, Y), less_equal(X, Y), less_equal(Y, X), less_equal(X, add(Y, const(-1)))], {1, 2}),
        ([at_least(X, 0), at_least(Y, 1), at_least(add(X, Y), 1), at_least(add(X, Y), 2), less_equal(sub(Y, X), const(5))], {2}),
        ([at_most(X, 4), at_most(scale(X, 2), 9), at_most(add(scale(X, 3), scale(Y, -2)), 10), at_least(Y, 1)], {1, 2}),
        ([at_most(add(BYTE, X), 300), at_most(X, 44), at_most(add(BYTE, X), 298)], {0}),
        ([at_most(X, 1), at_most(mul(X, Y), 7), at_most(Y, 1)], set()),
        ([not_equal(X, const(3)), disjunction((at_most(X, 1), at_least(X, 9))), at_most(X, 12)], set()),
    ],
)  # fmt: skip
def test_what_follows_from_others_is_left_out(conditions, needless):
    kept = Strongest().needed(conditions)
    assert kept == [c for index, c in enumerate(conditions) if index not in needless]
    for x, y, b in itertools.product(range(-3, 14), range(-3, 14), (0, 200, 255)):
        state = {X: x, Y: y, BYTE: b}
        if all(holds(c, state) for c in kept):
            assert all(holds(c, state) for c in conditions)
