"""Contents of memory and streams for which conditions over aggregates hold."""

from __future__ import annotations

import random

import pytest

from loopless import terms as t
from loopless.logic.contents import Content, Fulfilled, Run, fulfilled, with_facts
from loopless.logic.smt import satisfiable
from loopless.logic.solver import SmtAnswer

BYTE = t.IntType(8, signed=True)
N = t.Var("n", t.IntType(8, signed=False))
M = t.Var("m", BYTE)
AT = t.position("k")


def element(shift: int = 0, stride: int = 1) -> t.Term:
    return t.read("a", t.scale(AT, stride) + shift, BYTE)


def random_condition(rng: random.Random, stride: int) -> t.Condition:
    """What may be said of an element."""
    read, other = element(0, stride), element(rng.randrange(stride), stride)
    limit = t.Const(rng.randint(-3, 3))
    return rng.choice(
        [
            t.equal(read, limit),
            t.less(read, limit),
            t.greater(other, M),
            t.not_equal(read, limit) & t.less(other, t.Const(3)),
            t.equal(t.mod(read, t.Const(2)), t.ZERO) | t.greater(read, t.Const(2)),
            t.less(read, AT),
        ]
    )


def random_aggregate(rng: random.Random, stride: int) -> t.Term:
    length = rng.choice([N, N, t.Const(6), t.first(AT, N, random_condition(rng, stride))])
    condition = random_condition(rng, stride)
    return rng.choice(
        [
            t.first(AT, length, condition),
            t.last(AT, length, condition),
            t.count(AT, length, condition),
            t.total(AT, length, element(0, stride)),
            t.total(AT, length, t.ite(condition, element(0, stride), t.Const(2))),
            t.least(AT, length, t.Const(4), element(0, stride)),
            t.greatest(AT, length, M, element(0, stride)),
        ]
    )


@pytest.mark.parametrize("seed", range(60))
def test_what_is_known_of_aggregates_excludes_no_content(seed):
    """Whatever memory holds: aggregates that come to just that can be fulfilled."""
    rng = random.Random(seed)
    stride = rng.choice((1, 1, 2))
    memory = [rng.randint(-4, 4) for _ in range(60)]
    values = {N: rng.randrange(8), M: rng.randint(-3, 3)}
    parts = []
    for _ in range(rng.randint(1, 3)):
        aggregate = random_aggregate(rng, stride)
        value = t.evaluate(aggregate, values, lambda _, offset, __: memory[offset])
        parts.append(t.equal(aggregate, t.Const(value)))
    wanted = t.conjunction((*parts, *(t.equal(var, t.Const(value)) for var, value in values.items())))
    assert satisfiable(with_facts(wanted), 5000).answer is not SmtAnswer.NO


def holds_in(found: Fulfilled, condition: t.Condition) -> bool:
    """Whether a condition holds of what was found, by the evaluation of terms."""
    values = {var: found.values.get(var, 0) for var in condition.variables}
    content = found.contents.get("a", Content(BYTE, 1, 1, ()))
    return content.size == 1 and t.holds(condition, values, lambda _, offset, __: content.element(offset))


def is_fulfilled(condition: t.Condition) -> bool:
    found = fulfilled(condition)
    return found is not None and holds_in(found, condition)


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("seed", range(40))
def test_contents_are_found_for_what_one_sequence_comes_to(seed, number):
    """One count, sum or first position of some content is had by a content that is found. Of two none may be found: what
    is found has both.
    """
    rng = random.Random(1000 + seed)
    memory = [rng.randint(-4, 4) for _ in range(60)]
    values = {N: rng.randint(1, 40), M: 0}
    condition = rng.choice([t.less(element(), t.Const(0)), t.equal(element(), t.Const(2))])
    asked = [t.count(AT, N, condition), t.total(AT, N, element()), t.first(AT, N, t.equal(element(), t.Const(4)))]
    rng.shuffle(asked)
    parts = [
        t.equal(one, t.Const(t.evaluate(one, values, lambda _, offset, __: memory[offset]))) for one in asked[:number]
    ]
    wanted = t.conjunction((*parts, t.equal(N, t.Const(values[N]))))
    found = fulfilled(wanted)
    assert holds_in(found, wanted) if found is not None else number > 1


@pytest.mark.parametrize(
    "condition",
    [
        t.equal(t.count(AT, N, t.equal(element(), t.Const(97))), t.Const(37)),
        t.equal(t.count(AT, N, t.equal(element(), t.Const(97))), t.Const(37))
        & t.equal(t.count(AT, N, t.greater(element(), t.Const(99))), t.Const(12)),
        t.equal(t.first(AT, N, t.equal(element(), t.ZERO)), t.Const(200)) & t.greater(N, t.Const(210)),
        t.equal(t.total(AT, N, element()), t.Const(-321)) & t.less(N, t.Const(20)),
        t.equal(t.least(AT, N, t.Const(5), element()), t.Const(-7)) & t.greater(N, t.ZERO),
        t.equal(t.last(AT, N, t.equal(element(), t.Const(3))), t.Const(4)) & t.equal(N, t.Const(9)),
        t.equal(t.count(AT, N, t.less(element(0, 2), element(1, 2))), t.Const(11)) & t.equal(N, t.Const(20)),
    ],
    ids=["count", "two counts", "first", "sum", "least", "last", "pairs"],
)
def test_contents_fulfil_conditions(condition):
    assert is_fulfilled(condition)


@pytest.mark.parametrize(
    "condition",
    [
        t.greater(t.count(AT, N, t.equal(element(), t.Const(97))), N),
        t.greater(
            t.count(AT, N, t.equal(element(), t.Const(97))) + t.count(AT, N, t.greater(element(), t.Const(99))), N
        ),
        t.equal(t.total(AT, t.Const(3), element()), t.Const(400)),
        t.greater(t.first(AT, N, t.equal(element(), t.ZERO)), N),
        t.greater(t.count(AT, t.first(AT, N, t.equal(element(), t.ZERO)), t.equal(element(), t.ZERO)), t.ZERO),
    ],
    ids=["count", "two counts", "sum", "first", "none before the first"],
)
def test_what_aggregates_never_come_to_is_refuted(condition):
    assert satisfiable(with_facts(condition), 5000).answer is SmtAnswer.NO
    assert fulfilled(condition) is None


def test_runs_of_rows_are_elements():
    content = Content(BYTE, 1, 2, (Run(1, 3, (5, 0)), Run(3, 4, (7, 8))))
    listed = [0, 0, 5, 0, 5, 0, 7, 8, 0, 0]
    assert content.elements(10) == listed
    assert [content.element(at) for at in range(10)] == listed
    assert content.elements(3) == listed[:3]


def test_where_a_content_is_alike_to_its_end():
    content = Content(BYTE, 1, 1, (Run(0, 2, (5,)), Run(2, 4, (7,)), Run(4, 9, (7,))))
    assert content.until_steady(9) == 2
    assert content.until_steady(2) == 0
    assert content.until_steady(12) == 12  # zeros stand behind the runs
