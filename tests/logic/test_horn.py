"""Spacer on systems whose answer is known: what it proposes is checked by the engine of inductive subsets."""

from __future__ import annotations

import pytest

from loopless import clock
from loopless.logic.horn import solved
from loopless.logic.induction import entailed, inductive_subset
from loopless.terms import (
    FALSE,
    INTEGERS,
    TRUE,
    IntType,
    Var,
    add,
    conjunction,
    conjuncts,
    const,
    equal,
    greater_equal,
    less,
    mod,
    not_equal,
    sub,
)
from steps_by_hand import Step

X, Y = (Var(name, INTEGERS) for name in "xy")
BYTE = Var("b", IntType(8, signed=False))
GOALS = frozenset(("bad",))
STATE = {"loop": (X, Y)}
PHASES = (
    Step("", "loop", TRUE, {X: const(0), Y: const(50)}),
    Step("loop", "loop", less(X, const(50)), {X: add(X, const(1))}),
    Step("loop", "loop", greater_equal(X, const(50)), {X: add(X, const(1)), Y: add(Y, const(1))}),
)
"""x goes up to 50 alone, then y goes up with it: from there on they are equal."""


def asked(*steps, state=STATE, milliseconds=20_000):
    return solved(steps, state, "", GOALS, milliseconds)


def test_what_is_out_of_reach_is_safe_and_what_is_proposed_proves_it():
    bad = Step("loop", "bad", conjunction((greater_equal(X, const(50)), not_equal(X, Y))))
    found = asked(*PHASES, bad)
    assert found.safe is True
    proposed = conjuncts(found.invariants["loop"])
    kept = inductive_subset(PHASES, {"loop": tuple(proposed)}, clock.counted() + 60)["loop"]
    assert entailed(bad, kept, FALSE, 5000)
    assert not entailed(bad, (), FALSE, 5000)


def test_what_is_in_reach_is_not_safe():
    found = asked(*PHASES, Step("loop", "bad", conjunction((equal(X, const(60)), equal(Y, const(60))))))
    assert found.safe is False
    assert found.invariants == {}


@pytest.mark.parametrize(("start", "safe"), [(0, True), (1, False)])
def test_remainders(start, safe):
    steps = (Step("", "loop", TRUE, {X: const(start), Y: const(0)}), Step("loop", "loop", TRUE, {X: add(X, const(2))}))
    assert asked(*steps, Step("loop", "bad", equal(mod(X, const(2)), const(1)))).safe is safe


def test_the_ranges_of_types_are_known():
    state = {"loop": (BYTE,)}
    steps = (Step("", "loop"), Step("loop", "bad", less(add(BYTE, const(1)), const(1))))
    assert asked(*steps, state=state).safe is True
    assert asked(steps[0], Step("loop", "bad", less(add(BYTE, const(1)), const(2))), state=state).safe is False


def test_no_time_is_no_answer():
    bad = Step(
        "loop", "bad", conjunction((greater_equal(X, const(50)), not_equal(X, Y), less(sub(X, Y), const(10_000))))
    )
    assert asked(*PHASES, bad, milliseconds=1).safe is None
