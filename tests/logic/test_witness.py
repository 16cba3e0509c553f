"""Points and intervals: what they say is so at every point of small types, and asking takes no more than a few looks."""

from __future__ import annotations

import random
from itertools import pairwise, product

import pytest

from loopless.logic import witness
from loopless.logic.intervals import Intervals
from loopless.terms import (
    Condition,
    IntType,
    Term,
    Var,
    add,
    at_most_zero,
    bit_and,
    bit_xor,
    conjunction,
    const,
    disjunction,
    equals_zero,
    evaluate,
    floor_div,
    holds,
    ite,
    mod,
    not_zero,
    scale,
    sub,
    wrap,
)
from loopless.terms import (
    product as multiplied,
)

SMALL = IntType(3, signed=True)
NATURAL = IntType(3, signed=False)
X, Y, Z = Var("x", SMALL), Var("y", NATURAL), Var("z", SMALL)
POINTS = [{X: x, Y: y, Z: z} for x, y, z in product(range(-4, 4), range(8), range(-4, 4))]


def _term(rng: random.Random, depth: int = 2) -> Term:
    if depth == 0 or rng.random() < 0.3:
        return rng.choice([X, Y, Z, const(rng.randrange(-5, 6))])
    a, b = _term(rng, depth - 1), _term(rng, depth - 1)
    match rng.randrange(9):
        case 0:
            return sub(a, b)
        case 1:
            return scale(a, rng.choice((-3, 2, 5)))
        case 2:
            return multiplied([a, b])
        case 3:
            return mod(a, const(rng.choice((2, 3, 8))))
        case 4:
            return floor_div(a, const(rng.choice((2, 3))))
        case 5:
            return wrap(add(a, b), rng.choice((SMALL, NATURAL)))
        case 6:
            return bit_and(a, const(rng.choice((1, 5, 6))))
        case 7:
            return ite(_comparison(rng, 0), a, b)
        case _:
            return add(a, b) if rng.random() < 0.8 else bit_xor(a, const(3))


def _comparison(rng: random.Random, depth: int = 2) -> Condition:
    return rng.choice((at_most_zero, at_most_zero, equals_zero, not_zero))(_term(rng, depth))


def _condition(rng: random.Random) -> Condition:
    parts = [_comparison(rng) for _ in range(rng.randrange(1, 5))]
    if rng.random() < 0.4:
        parts.append(disjunction((_comparison(rng), conjunction((_comparison(rng), _comparison(rng))))))
    return conjunction(parts)


@pytest.mark.parametrize("seed", range(40))
def test_what_is_said_is_so_at_every_point(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(25):
        condition = _condition(rng)
        inside = [point for point in POINTS if holds(condition, point)]
        known = Intervals((condition,))
        if not known.possible:
            assert not inside, condition
        if witness.has_point(condition):
            assert inside, condition
        for var in (X, Y, Z):
            low, high = known.range_of(var)
            assert all((low is None or low <= p[var]) and (high is None or p[var] <= high) for p in inside), condition
        term = _term(rng)
        low, high = known.range_of(term)
        values = [evaluate(term, point) for point in inside]
        assert all((low is None or low <= value) and (high is None or value <= high) for value in values), condition
        decided = known.decides(probe := _comparison(rng))
        assert decided is None or all(holds(probe, point) is decided for point in inside), (condition, probe)


def test_most_questions_are_answered() -> None:
    rng = random.Random(7)
    answered = total = 0
    for _ in range(400):
        condition = _condition(rng)
        there = any(holds(condition, point) for point in POINTS)
        total += 1
        answered += witness.has_point(condition) if there else not Intervals((condition,)).possible
    assert answered > 0.8 * total


def test_a_search_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Products of twenty variables, of which no sum is what is asked for: each part is looked at a few times only."""
    looks = 0

    def counting(*args: object, **kwargs: object) -> bool:
        nonlocal looks
        looks += 1
        return holds(*args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(witness.t, "holds", counting)
    variables = [Var(f"v{number}", IntType(64)) for number in range(20)]
    pairs = pairwise(variables)
    parts = [equals_zero(add(multiplied([a, b, a]), scale(b, -3), const(7 + n))) for n, (a, b) in enumerate(pairs)]
    witness.has_point(conjunction(parts))
    assert 0 < looks < 100 * len(parts)
