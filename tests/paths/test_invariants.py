"""The largest set of conditions that steps keep, against enumeration of all states."""

from __future__ import annotations

import random
from itertools import product

import pytest

from loopless import terms as t
from loopless.logic.steps import PlaceStep
from loopless.paths import LoopPaths
from loopless.paths.invariants import TooManyQuestions, inductive, inductive_subsets
from loops_in_c import paths

SMALL = t.IntType(3, signed=False)
X, Y = t.Var("x", SMALL), t.Var("y", SMALL)
STATES = [{X: x, Y: y} for x, y in product(range(8), repeat=2)]
PLACES = ("a", "b")


def drawn_term(chosen: random.Random) -> t.Term:
    return t.wrap(
        t.add(
            t.scale(X, chosen.choice((0, 1, 1, 2))), t.scale(Y, chosen.choice((0, 1, -1))), t.const(chosen.randrange(3))
        ),
        SMALL,
    )


def drawn_condition(chosen: random.Random) -> t.Condition:
    left = chosen.choice((X, Y, t.add(X, Y), t.sub(X, Y)))
    order = chosen.choice((t.less_equal, t.less, t.equal, t.not_equal, t.greater_equal))
    return order(left, chosen.choice((t.const(chosen.randrange(-2, 9)), X, Y)))


def enumerated(candidates: dict[str, list[t.Condition]], steps: list[PlaceStep]) -> dict[str, set[t.Condition]]:
    """The same by trying every state, until nothing is taken out."""
    found = {place: set(conditions) for place, conditions in candidates.items()}
    while True:
        broken = [
            (step.target, condition)
            for step in steps
            for state in STATES
            if t.holds(step.condition, state) and all(t.holds(c, state) for c in found[step.source])
            for condition in found[step.target]
            if not t.holds(condition, {var: t.evaluate(step.update.get(var, var), state) for var in state})
        ]
        if not broken:
            return found
        for place, condition in broken:
            found[place].discard(condition)


def test_what_is_kept_is_what_enumeration_keeps() -> None:
    kept = dropped = 0
    for seed in range(60):
        chosen = random.Random(seed)
        candidates = {place: [drawn_condition(chosen) for _ in range(5)] for place in PLACES}
        steps = []
        for _ in range(3):
            update = {var: drawn_term(chosen) for var in chosen.sample((X, Y), chosen.choice((1, 1, 2)))}
            steps.append(PlaceStep(chosen.choice(PLACES), chosen.choice(PLACES), drawn_condition(chosen), update))
        found = inductive_subsets(candidates, steps)
        assert {place: set(conditions) for place, conditions in found.items()} == enumerated(candidates, steps), seed
        kept += sum(map(len, found.values()))
        dropped += sum(len(set(conditions)) - len(found[place]) for place, conditions in candidates.items())
    assert kept > 50
    assert dropped > 50


def test_the_order_of_candidates_and_steps_does_not_matter() -> None:
    """x >= 1 needs y >= 1, which needs x >= 1; both fall with y >= 2, which the second step destroys."""
    one, other, more = t.greater_equal(X, t.ONE), t.greater_equal(Y, t.ONE), t.greater_equal(Y, t.const(2))
    steps = [PlaceStep("", "", t.TRUE, {X: Y, Y: X}), PlaceStep("", "", t.TRUE, {Y: X})]
    for candidates in ([one, other, more], [more, other, one]):
        for order in (steps, steps[::-1]):
            assert set(inductive_subsets({"": candidates}, order)[""]) == {one, other}


def test_more_questions_than_allowed_are_not_asked() -> None:
    candidates = {"": [t.greater_equal(X, t.ONE), t.greater_equal(Y, t.ONE)]}
    steps = [PlaceStep("", "", t.TRUE, {X: Y, Y: X})]
    assert len(inductive_subsets(candidates, steps, most=2)[""]) == 2
    with pytest.raises(TooManyQuestions):
        inductive_subsets(candidates, steps, most=1)


def test_what_is_given_holds_before_each_iteration_only() -> None:
    """With y > 0 the sum does not fall; nothing is asked of y after the iteration."""
    found = paths("int f(int x, int y) { while (x < 50) x += y; return x; }")
    assert isinstance(found, LoopPaths)
    x, y = (next(v for v in (*found.state, *found.invariants) if v.name == name) for name in "xy")
    positive, risen = t.greater_equal(y, t.ONE), t.greater_equal(x, t.const(7))
    assert inductive(found, [risen], given=[positive]) == (risen,)
    assert inductive(found, [risen]) == ()
    assert inductive(found, [risen, positive]) == (risen, positive)
