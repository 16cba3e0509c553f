"""Measures and their sums, against enumeration of small values."""

from __future__ import annotations

import random
from itertools import product

import pytest

from loopless.bounds.induction.measures import (
    Becomes,
    Grows,
    entails,
    growth,
    most_of,
    step,
    without_larger,
)
from loopless.bounds.looperman.nested import raised
from loopless.bounds.looperman.sums import sum_of_progression
from loopless.bounds.model import TermBound, by_types, ceiling, kept, least, plus, positive
from loopless.terms import (
    FALSE,
    TRUE,
    ZERO,
    Condition,
    IntType,
    Term,
    Var,
    add,
    between,
    conjunction,
    const,
    equal,
    evaluate,
    floor_div,
    greater,
    holds,
    less,
    less_equal,
    maximum,
    minimum,
    mul,
    neg,
    scale,
    sub,
)

I32 = IntType(32)
X, Y, N, M = (Var(name, I32) for name in "xynm")
BOX = conjunction((between(-5, X, 5), between(-5, Y, 5)))
POINTS = [{X: x, Y: y} for x, y in product(range(-5, 6), repeat=2)]

# -- sums --------------------------------------------------------------------------------------------------------------

PLACE = Var("place", I32)
SHAPES = {
    "the place": PLACE,
    "its square": mul(PLACE, PLACE),
    "times what is not negative": mul(PLACE, maximum(ZERO, M)),
    "and more": add(scale(PLACE, 3), positive(M), const(2)),
    "half of it": floor_div(add(PLACE, const(1)), const(2)),
}
SLOPES = (-3, -1, 0, 1, 2)
EXACT = {("the place", -1), ("the place", 1), ("its square", -1), ("and more", -1), ("times what is not negative", 1)}


@pytest.mark.parametrize("floor", [ZERO, const(2)], ids=["from 0", "from 2"])
@pytest.mark.parametrize("slope", SLOPES)
@pytest.mark.parametrize("name", SHAPES)
def test_a_sum_over_a_progression_is_at_least_what_is_added_up(name: str, slope: int, floor: Term) -> None:
    shape = SHAPES[name]
    found = sum_of_progression(shape, PLACE, floor, N, slope, positive(X))
    if name == "half of it" and floor is not ZERO:
        assert found is None  # (place + 3) / 2 is 1 + (place + 1) / 2, a sum with a quotient in it
        return
    assert found is not None
    low = evaluate(floor, {})
    exact = 0
    for n, times, m in product(range(-4, 9), range(8), (-2, 0, 3)):
        values = {N: n, X: times, M: m}
        terms = [evaluate(shape, {PLACE: max(low, n + slope * k), M: m}) for k in range(times)]
        assert sum(terms) <= evaluate(found, values), values
        exact += sum(terms) == evaluate(found, values)
    assert exact > 13 * 3  # of no summands at least
    if (name, slope) in EXACT and floor is ZERO:
        within = [(n, k) for n in range(9) for k in range(8) if slope > 0 or k <= n]
        for n, times in within:
            truth = sum(evaluate(shape, {PLACE: n + slope * k, M: 3}) for k in range(times))
            assert evaluate(found, {N: n, X: times, M: 3}) == truth, (n, times)


def test_what_may_fall_with_its_place_has_no_sum() -> None:
    assert sum_of_progression(neg(PLACE), PLACE, ZERO, N, -1, positive(X)) is None
    assert sum_of_progression(mul(PLACE, M), PLACE, ZERO, N, -1, positive(X)) is None


# -- what the logic says ----------------------------------------------------------------------------------------------


def drawn(chosen: random.Random) -> Term:
    return add(scale(X, chosen.randint(-2, 2)), scale(Y, chosen.randint(-2, 2)), const(chosen.randint(-4, 4)))


def claim(chosen: random.Random) -> Condition:
    return chosen.choice((less, less_equal, equal, greater))(drawn(chosen), drawn(chosen))


def test_what_is_entailed_holds_everywhere_and_what_holds_everywhere_is_entailed() -> None:
    seen = {True: 0, False: 0}
    for seed in range(300):
        chosen = random.Random(seed)
        known, asked = conjunction((BOX, claim(chosen))), claim(chosen)
        truth = all(holds(asked, point) for point in POINTS if holds(known, point))
        assert entails(known, asked) == truth, seed
        seen[truth] += 1
    assert min(seen.values()) > 20


def test_the_most_of_a_term_is_its_greatest_value() -> None:
    for seed in range(60):
        chosen = random.Random(seed)
        known, term = conjunction((BOX, claim(chosen))), drawn(chosen)
        values = [evaluate(term, point) for point in POINTS if holds(known, point)]
        found = most_of(term, known)
        assert found == max(values) if values else found is not None
    assert most_of(X, TRUE) == I32.max


def test_a_measure_grows_by_a_constant_or_by_what_does_not_change() -> None:
    variables, changed = frozenset((X, Y, N)), frozenset((X, Y))
    assert growth(const(-3), TRUE, variables, changed) == const(-3)
    assert growth(sub(Y, X), conjunction((less_equal(Y, add(X, const(4))), BOX)), variables, changed) == const(4)
    assert growth(N, TRUE, variables, changed) is N
    assert growth(Y, TRUE, variables, changed) is None


def test_a_step_raises_or_sets_a_measure() -> None:
    variables, changed = frozenset((X, Y, N)), frozenset((X, Y))
    assert step(sub(N, X), {X: add(X, const(2))}, (), TRUE, variables, changed) == Grows(const(-2))
    assert step(sub(N, X), {Y: ZERO}, (), TRUE, variables, changed) == Grows(ZERO)
    assert step(X, {X: N}, (), TRUE, variables, changed) == Becomes(N)
    assert step(sub(N, X), {X: ZERO}, (), TRUE, variables, changed) == Becomes(N)
    assert step(X, {X: Y}, (), TRUE, variables, changed) is None
    assert step(X, {X: Y}, (), less(Y, X), variables, changed) == Grows(const(-1))


def test_of_bounds_those_stay_that_are_less_somewhere() -> None:
    low, high, other = TermBound(positive(N)), TermBound(add(positive(N), const(1))), TermBound(positive(M))
    assert set(without_larger((low, high, other))) == {low, other}
    conditional = TermBound(high.term, M.gt(0))
    assert set(without_larger((low, conditional))) == {low}
    assert set(without_larger((TermBound(low.term, M.gt(0)), high))) == {
        TermBound(low.term, M.gt(0)),
        high,
    }


# -- bounds as values --------------------------------------------------------------------------------------------------


def test_ceilings_and_sums_mean_what_they_say() -> None:
    for n, d in product(range(-9, 10), (1, 2, 3, 7)):
        assert evaluate(ceiling(N, const(d)), {N: n}) == -(-n // d)
        assert evaluate(ceiling(N, M), {N: n, M: d}) == -(-n // d)
    for n, m in product(range(-3, 4), repeat=2):
        at = {N: n, M: m}
        assert evaluate(plus(maximum(N, M), N, const(2)), at) == max(n, m) + n + 2
        assert evaluate(plus(minimum(N, ZERO), positive(M)), at) == min(n, 0) + max(m, 0)


def test_bounds_worth_keeping_hold_somewhere_and_are_of_the_source() -> None:
    source, types = TermBound(positive(N)), TermBound(sub(const(I32.max), N))
    assert by_types(types.term)
    assert not by_types(source.term)
    assert not by_types(ceiling(N, const(I32.max)))
    assert by_types(add(ceiling(N, const(I32.max)), const(1 << 40)))
    assert kept([types, source]) == (source,)
    assert kept([types]) == (types,)
    assert kept([TermBound(positive(N), FALSE)]) == ()
    assert kept([TermBound(add(positive(N), const(3))), source]) == (source,)
    narrow, wide = TermBound(positive(N), less(M, ZERO)), TermBound(positive(N), less(M, const(1)))
    assert kept([narrow, wide]) == kept([wide, narrow]) == (wide,)
    assert len(kept([narrow, TermBound(positive(N), less(ZERO, M))])) == 2
    sometimes = TermBound(ZERO, less(M, ZERO))
    assert set(kept([sometimes, source])) == {sometimes, source}
    assert least((sometimes,)) is None
    both = least((source, TermBound(positive(M)), sometimes))
    for n, m in product(range(-2, 4), repeat=2):
        assert evaluate(both, {N: n, M: m}) == min(max(0, n), max(0, m))


# -- terms raised ------------------------------------------------------------------------------------------------------

SYMBOLS = frozenset((X, Y))


def under(term: Term) -> Term | None:
    """A bound on terms linear in x <= n and y <= 3, none on those that fall with them."""
    rest = sub(sub(term, scale(X, slope_of(term, X))), scale(Y, slope_of(term, Y)))
    if min(slope_of(term, X), slope_of(term, Y)) < 0:
        return None
    return add(rest, scale(N, slope_of(term, X)), const(3 * slope_of(term, Y)))


def slope_of(term: Term, var: Var) -> int:
    at = dict.fromkeys((X, Y, N, M), 0)
    return evaluate(term, at | {var: 1}) - evaluate(term, at)


RAISED = [
    add(X, scale(Y, 2), M),
    maximum(X, M),
    minimum(X, Y),
    floor_div(add(X, const(1)), const(2)),
    mul(positive(M), positive(X)),
    add(mul(positive(X), positive(Y)), neg(M)),
    mul(positive(M), positive(M)),
    maximum(add(X, M), mul(const(2), Y)),
]


@pytest.mark.parametrize("term", RAISED, ids=str)
def test_a_raised_term_is_nowhere_less(term: Term) -> None:
    found = raised(term, SYMBOLS, under)
    assert found is not None
    assert found.variables.isdisjoint(SYMBOLS)
    for n, m in product(range(-2, 6), range(-3, 4)):
        for x, y in product(range(-4, n + 1), range(-3, 4)):
            at = {X: x, Y: y, N: n, M: m}
            assert evaluate(term, at) <= evaluate(found, at), at


def test_what_falls_with_what_is_only_bounded_above_is_not_raised() -> None:
    assert raised(neg(X), SYMBOLS, under) is None
    assert raised(maximum(neg(X), M), SYMBOLS, under) is None
    assert raised(M, SYMBOLS, under) is M
