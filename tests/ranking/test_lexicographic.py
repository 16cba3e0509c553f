"""Lexicographic ranks: what is found falls with each step, at all points of a box that the proofs look at."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace

import pytest

from loopless.ranking.lexicographic import Division, Fall, Falls, LexicographicSearch, alike, cut, padded
from loopless.terms import FALSE, INTEGERS, ONE, TRUE, ZERO, Const, Var, evaluate, holds
from loopless.terms.relation import behind

X, Y, B = (Var(name, INTEGERS) for name in "xyb")
BOX = [dict(zip((X, Y, B), values, strict=True)) for values in itertools.product(range(-3, 5), range(-3, 5), (0, 1))]


@dataclass(frozen=True)
class Step:
    source: str
    target: str
    condition: object
    update: dict = field(default_factory=dict)


def shown(step, wanted):
    return all(holds(wanted, state) for state in BOX if holds(step.condition, state))


def search_over(*terms, tried=None, **options):
    """The search whose components are these terms, in turn; ``tried`` hears of each choice."""

    def falls(places, steps):
        found = Falls(shown, lambda: False, 3).first([alike(terms, places)], steps)
        if tried is not None:
            tried.append((len(steps), len(found)))
        return found

    def possible(steps):
        return [step for step in steps if not shown(step, FALSE)]

    return LexicographicSearch(ends=lambda step: (step.source, step.target), falls=falls, possible=possible, **options)


def falls_everywhere(ranks, steps):
    """Whether the ranks fall with each step, from each state of the box; some step has to be taken."""
    seen = 0
    for step in steps:
        for state in BOX:
            if holds(step.condition, state):
                before = [evaluate(term, state) for term in ranks[step.source]]
                after = [evaluate(behind(step, term), state) for term in ranks[step.target]]
                assert min(before) >= 0
                assert after < before, (step, state)
                seen += 1
    assert seen
    assert len({len(terms) for terms in ranks.values()}) == 1


OUTER = Step("a", "a", X.gt(0) & Y.le(0), {X: X - 1, Y: Y + 3})
INNER = Step("a", "a", Y.gt(0), {Y: Y - 1})


@pytest.mark.parametrize("apart", [True, False])
def test_what_the_first_component_leaves_falls_with_the_second(apart):
    ranks = search_over(Y, X, apart=apart).ranks(["a"], [OUTER, INNER])
    assert ranks is not None
    falls_everywhere(ranks, [OUTER, INNER])
    assert ranks["a"] == (cut(X), cut(Y))  # x is not raised by what lowers y, the other way round it is


def test_there_is_no_rank_where_a_step_changes_nothing():
    assert search_over(X, Y).ranks(["a"], [INNER, Step("a", "a", X.gt(0))]) is None


def test_loops_one_behind_the_other_have_components_of_their_own():
    """The second loop raises what falls in the first."""
    steps = [
        Step("a", "a", X.gt(0), {X: X - 1}),
        Step("a", "b", X.le(0)),
        Step("b", "b", Y.gt(0), {Y: Y - 1, X: X + 1}),
    ]
    ranks = search_over(X, Y).ranks(["a", "b"], steps)
    assert ranks is not None
    falls_everywhere(ranks, steps)
    assert search_over(X, Y, apart=False).ranks(["a", "b"], steps) is None
    assert list(ranks) == ["a", "b"]


def test_the_part_of_a_step_that_a_component_does_not_lower_is_left():
    """x falls where it is not below 0; where it is, y falls."""
    step = Step("a", "a", X.gt(0) | Y.gt(0), {X: X - 1, Y: Y - 1})
    ranks = search_over(X, Y).ranks(["a"], [step])
    assert ranks is not None
    falls_everywhere(ranks, [step])


def test_no_more_components_than_allowed_stand_behind_one_another():
    assert search_over(Y, X, most=2).ranks(["a"], [OUTER, INNER]) is not None
    assert search_over(Y, X, most=1).ranks(["a"], [OUTER, INNER]) is None


@pytest.mark.parametrize("patient", [False, True])
def test_a_patient_search_tries_another_component_where_one_leads_nowhere(patient):
    """The first component claims to lower one step and leaves the other to nothing."""
    first, second = Step("a", "a", X.gt(0), {X: X - 1}), Step("a", "a", Y.gt(0), {Y: Y - 1, X: X - 1})

    def falls(places, steps):
        if len(steps) == 1:
            return []
        return [Fall(dict.fromkeys(places, cut(Y)), (first,)), Fall(dict.fromkeys(places, cut(X)), ())]

    found = LexicographicSearch(ends=lambda one: (one.source, one.target), falls=falls, patient=patient)
    ranks = found.ranks(["a"], [first, second])
    assert ranks == ({"a": (cut(X),)} if patient else None)


def test_a_condition_that_stays_false_divides_what_has_no_component():
    """Where b is 1 x falls, else y does, and either raises the other."""
    steps = [
        Step("a", "a", B.eq(1) & X.gt(0), {X: X - 1, Y: Y + 1}),
        Step("a", "a", B.eq(0) & Y.gt(0), {Y: Y - 1, X: X + 1}),
    ]

    def divisions(_, some, open_):
        condition = B.eq(1)
        if condition not in open_:
            holding = tuple(replace(one, condition=one.condition & condition) for one in some)
            yield Division(
                condition, holding, tuple(replace(one, condition=one.condition & ~condition) for one in some)
            )

    assert search_over(X, Y).ranks(["a"], steps) is None
    ranks = search_over(X, Y, divisions=divisions).ranks(["a"], steps)
    assert ranks is not None
    falls_everywhere(ranks, steps)


def test_components_come_from_the_first_source_that_lowers_a_step_for_good():
    step = Step("a", "a", X.gt(0), {X: X - 1})
    part = Step("a", "a", X.gt(0) | Y.gt(0), {X: X - 1})
    falls = Falls(shown, lambda: False, 2)
    (found,) = falls.first([alike([Y], ["a"]), alike([X, Y], ["a"])], [step])
    assert (found.component["a"], found.left) == (cut(X), ())
    some = falls.first([alike([X, X + 1, X - 1], ["a"])], [part])
    assert len(some) == 2
    assert all(len(fall.left) == 1 and fall.left[0] is not part for fall in some)
    assert Falls(shown, lambda: True, 2).first([alike([X], ["a"])], [step]) == []


def test_a_component_is_never_below_0():
    assert [evaluate(cut(X), {X: value}) for value in (-5, -1, 0, 3)] == [0, 0, 1, 4]


def test_ranks_are_padded_with_0():
    assert padded({"a": (ONE,), "b": (ONE, X)}) == {"a": (ONE, ZERO), "b": (ONE, X)}
    assert padded({}) == {}
    assert all(isinstance(term, Const) for term in padded({"a": ()}, 2)["a"])


def test_no_steps_need_no_rank():
    assert search_over().ranks(["a", "b"], []) == {"a": (ZERO,), "b": (ONE,)}
    assert search_over().ranks(["a"], []) == {"a": ()}
    assert search_over(X).ranks(["a"], [Step("a", "a", TRUE)]) is None
