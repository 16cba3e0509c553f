"""Inductive subsets, entailment and cores: of systems whose invariants are known by reasoning."""

from __future__ import annotations

import pytest

from loopless import clock
from loopless.logic.induction import (
    Cores,
    Entailing,
    _Incremental,
    entailed,
    inductive_subset,
    needed,
    solver_context,
)
from loopless.terms import (
    FALSE,
    INTEGERS,
    TRUE,
    IntType,
    Var,
    add,
    const,
    equal,
    greater,
    less,
    less_equal,
    mod,
    mul,
    scale,
    sub,
)
from steps_by_hand import Step

X, Y, N = (Var(name, INTEGERS) for name in "xyn")
BYTE = Var("b", IntType(8, signed=False))


COUNT = (
    Step("", "loop", TRUE, {X: const(0), Y: const(0)}),
    Step("loop", "loop", less(X, const(10)), {X: add(X, const(1)), Y: add(Y, const(2))}),
)
"""for (x = y = 0; x < 10; x++) y += 2"""


def later(seconds=60.0):
    return clock.counted() + seconds


def test_of_candidates_the_inductive_ones_are_kept():
    right = (less_equal(const(0), X), less_equal(X, const(10)), equal(Y, scale(X, 2)))
    wrong = (
        less_equal(X, const(9)),  # false behind the last iteration
        less_equal(Y, const(19)),  # needs what was dropped
        greater(X, const(0)),  # false at first
        equal(mod(X, const(2)), const(0)),  # every other time
    )
    kept = inductive_subset(COUNT, {"loop": (*right, *wrong)}, later())
    assert set(kept["loop"]) == set(right)


def test_a_candidate_that_needs_another_is_kept_with_it_only():
    """x stays below 100 only since it is even and jumps from 98 to 0: the bound alone is not inductive."""
    steps = (
        Step("", "loop", TRUE, {X: const(0)}),
        Step("loop", "loop", less(X, const(98)), {X: add(X, const(2))}),
        Step("loop", "loop", equal(X, const(98)), {X: const(0)}),
        Step("loop", "loop", equal(X, const(97)), {X: const(500)}),
    )
    even, bound = equal(mod(X, const(2)), const(0)), less(X, const(100))
    assert set(inductive_subset(steps, {"loop": (even, bound)}, later())["loop"]) == {even, bound}
    assert inductive_subset(steps, {"loop": (bound,)}, later())["loop"] == ()


def test_what_falls_at_one_location_falls_behind_it():
    steps = (
        Step("b", "c"),
        Step("a", "b"),
        Step("", "a", TRUE, {X: const(0)}),
        Step("a", "a", TRUE, {X: add(X, const(1))}),
    )
    small = less_equal(X, const(5))
    rising = less_equal(const(0), X)
    kept = inductive_subset(steps, dict.fromkeys("abc", (small, rising)), later())
    assert kept == dict.fromkeys("abc", (rising,))


def test_the_range_of_a_type_is_known():
    steps = (Step("", "loop", TRUE, {X: BYTE}), Step("loop", "loop", TRUE, {X: BYTE}))
    kept = inductive_subset(steps, {"loop": (less_equal(X, const(255)), less_equal(X, const(254)))}, later())
    assert kept["loop"] == (less_equal(X, const(255)),)


def test_a_deadline_in_the_past_proves_nothing():
    assert inductive_subset(COUNT, {"loop": (less_equal(X, const(10)),)}, later(-1)) == {"loop": ()}


@pytest.mark.parametrize(
    ("given", "wanted", "holds"),
    [
        ((less_equal(X, const(9)),), less_equal(X, const(10)), True),
        ((), less_equal(X, const(10)), True),  # by the condition of the step
        ((), less_equal(X, const(9)), False),
        ((equal(Y, scale(X, 2)),), equal(Y, scale(X, 2)), True),
        ((equal(Y, scale(X, 2)),), equal(Y, scale(X, 3)), False),
        ((), FALSE, False),
        ((greater(X, const(10)),), FALSE, True),  # no such step
        ((greater(X, const(1)), greater(Y, const(1))), greater(mul(X, Y), const(8)), True),  # 3 * 4 at least
        ((greater(X, const(1)), greater(Y, const(1))), greater(mul(X, Y), const(12)), False),
    ],
)
def test_what_holds_behind_a_step(given, wanted, holds):
    assert entailed(COUNT[1], given, wanted, 5000) is holds


def test_a_core_is_enough_and_leaves_out_what_is_needless():
    wanted, needless = equal(Y, scale(X, 2)), less_equal(N, const(7))
    assert Cores(COUNT[1], (needless, wanted)).of(equal(Y, scale(X, 2))) == (wanted,)
    assert Cores(COUNT[1], (needless,)).of(equal(Y, scale(X, 2))) is None
    cores = Cores(COUNT[1], (needless, wanted))
    assert cores.of(less_equal(X, const(10))) == ()
    assert cores.of(equal(Y, scale(X, 2))) == (wanted,)  # the same solver says it of another condition
    both = (less_equal(const(3), sub(X, N)), less_equal(const(3), N))
    assert set(Cores(COUNT[1], both).of(less_equal(const(7), X)) or ()) == set(both)


def test_what_goals_need_is_kept_with_what_that_needs():
    even, needless = equal(Y, scale(X, 2)), less_equal(const(-5), N)
    goal = (Step("loop", "end", less_equal(const(3), X), {}), less_equal(const(6), Y))
    assert needed({"loop": (needless, even)}, [COUNT[1]], [goal], solver_context()) == {"loop": (even,)}
    assert needed({"loop": (needless,)}, [COUNT[1]], [goal], solver_context()) is None
    assert needed({"loop": (needless, even)}, [COUNT[1]], [goal], solver_context(), until=0.0) is None


def test_what_is_given_is_put_to_the_solver_once(monkeypatch):
    made = []
    monkeypatch.setattr(
        "loopless.logic.induction._Incremental", lambda *given: made.append(_Incremental(*given)) or made[-1]
    )
    asked = Entailing((less(X, Y), less_equal(Y, const(9)), less(mod(N, const(4)), const(1))), solver_context())
    for _ in range(3):  # what is refuted leaves nothing behind
        assert asked.entails(less(X, const(9)))
        assert not asked.entails(less(X, const(8)))
        assert asked.entails(less(BYTE, const(256)))  # the range of a variable that comes later
        assert not asked.entails(less(BYTE, const(255)))
        assert asked.entails(equal(mod(N, const(2)), const(0)))
    assert len(made) == 1
