"""Feasibility never denies what some values fulfil, and is exact where the condition is Presburger."""

from __future__ import annotations

import sys
from itertools import pairwise, product

import pytest
from hypothesis import strategies as st

from loopless import logic
from loopless import terms as t
from loopless.logic import Intervals, smt
from loopless.logic.witness import is_found, is_near_ends
from loopless.terms import Condition, EvaluationError, Var
from quasi_affine import I4, I8, U, X, Z, check, condition, points, window

Y = Var("y", I4)
U32, I32 = t.IntType(32, signed=False), t.IntType(32)
A, B = Var("a", I32), Var("b", I32)
H = Var("h", t.IntType(16, signed=False))
TRIPLE = (U, X, Y)


def fulfilled(c: Condition, variables: tuple[Var, ...]) -> bool:
    def at(p: dict[Var, int]) -> bool:
        try:
            return t.holds(c, p)
        except EvaluationError:
            return False

    return any(at(p) for p in points(variables))


@check(150, condition((X, Z), depth=1))
def test_exact_for_presburger_conditions(c: Condition) -> None:
    assert logic.feasible(t.conjunction((c, window((X, Z))))) == fulfilled(c, (X, Z))


@st.composite
def bound(draw: st.DrawFn) -> Condition:
    v = draw(st.sampled_from((X, Y, Z)))
    relation = draw(st.sampled_from([t.less_equal, t.greater_equal, t.equal, t.not_equal]))
    return relation(v, t.const(draw(st.integers(-9, 9))))


@check(300, st.lists(bound(), max_size=8))
@pytest.mark.slow
def test_bounds_on_single_variables(parts: list[Condition]) -> None:
    c = t.conjunction((*parts, window((Z,))))
    assert logic.feasible(c) == fulfilled(c, (X, Y, Z))


def test_a_contradiction_without_variables_among_others() -> None:
    unfolded = t.Op("mod", (t.const(-1), t.const(-5)))
    assert not logic.feasible(t.conjunction((t.greater_equal(X, t.const(0)), t.Compare("eq", unfolded))))
    assert logic.feasible(t.conjunction((t.greater_equal(X, t.const(0)), t.Compare("le", unfolded))))


def test_a_variable_all_of_whose_values_are_excluded() -> None:
    parts = [t.not_equal(X, t.const(i)) for i in range(-8, 8)]
    assert not logic.feasible(t.conjunction(parts))
    assert logic.feasible(t.conjunction(parts[1:]))
    wide = [t.not_equal(Z, t.const(i)) for i in range(100)]
    assert logic.feasible(t.conjunction([*wide, t.between(0, Z, 100)]))
    assert not logic.feasible(t.conjunction([*wide, t.between(0, Z, 99)]))


@st.composite
def nonlinear(draw: st.DrawFn) -> Condition:
    terms = [t.mul(X, Y), t.mul(X, U), t.floor_div(U, X), t.trunc_rem(Y, U), t.bit_xor(X, Y), t.shift_left(X, U)]
    a, b = draw(st.sampled_from(terms)), draw(st.sampled_from([*terms, X, U, t.const(3), t.const(-40)]))
    relation = draw(st.sampled_from([t.less, t.equal, t.greater, t.not_equal]))
    return relation(t.add(a, t.const(draw(st.integers(-9, 9)))), b)


def test_a_remainder_by_zero_is_what_evaluation_takes_it_for() -> None:
    """Only u == 0 fulfils it, with 0 for the remainder."""
    c = t.equal(t.mul(X, Y), t.add(t.trunc_rem(Y, U), t.const(1)))
    both = t.conjunction((c, t.equal(t.trunc_div(U, t.const(5)), t.add(t.add(U, X), t.const(1)))))
    assert fulfilled(both, TRIPLE)
    assert logic.feasible(both)


@check(60, nonlinear(), st.one_of(nonlinear(), condition((X, U), depth=0)))
def test_never_denied_where_fulfilled_beyond_presburger(c: Condition, d: Condition) -> None:
    both = t.conjunction((c, d))
    if fulfilled(both, TRIPLE):
        assert logic.feasible(both, solver=False)
        assert logic.feasible(both)


def test_products_are_refuted_by_their_range_or_by_the_solver() -> None:
    square = t.mul(Z, Z)
    assert not logic.feasible(t.conjunction((t.less(square, t.const(-1)), t.greater(Z, t.const(3)))), solver=False)
    other = Var("n", t.INTEGERS)
    positive = t.greater(Z, t.const(0)), t.greater(other, t.const(0))
    signs = t.conjunction((*positive, t.less(t.add(t.mul(Z, other), t.const(1)), t.add(Z, other))))
    assert logic.feasible(signs, solver=False)
    assert not logic.feasible(signs)


def test_the_same_unknown_stands_for_the_same_term() -> None:
    other = Var("n", t.INTEGERS)
    twice = t.conjunction((t.less(t.mul(Z, other), t.const(3)), t.greater(t.scale(t.mul(Z, other), 2), t.const(8))))
    assert not logic.feasible(twice, solver=False)
    element = t.read("a", t.const(4), I8)
    assert not logic.feasible(t.conjunction((t.less(element, X), t.less(X, element))), solver=False)
    three = t.const(3)
    assert not logic.feasible(t.conjunction((t.less(element, three), t.greater(element, three))), solver=False)
    assert not logic.feasible(t.less(element, t.const(-128)), solver=False)


@check(40, nonlinear(), condition((U, X), depth=0))
def test_the_enclosing_region_contains_all_points(c: Condition, d: Condition) -> None:
    both = t.disjunction((t.conjunction((c, d)), t.conjunction((t.negate(c), t.negate(d)))))
    region = logic.enclosing_region(both, TRIPLE)
    assert set(region.variables) == set(TRIPLE)
    for values in product((-8, -3, -1, 1, 2, 7), (1, 2, 5, 15), (-8, -2, 1, 3)):
        p = dict(zip((X, U, Y), values, strict=True))
        if t.holds(both, p):
            assert region.contains(p)


def test_an_exhausted_budget_leaves_the_question_undecided_and_unremembered() -> None:
    hard = t.conjunction(
        t.equal(t.mod(t.add(t.scale(Z, i), Var("p", t.INTEGERS)), t.const(2 * i + 3)), t.const(i)) for i in range(1, 7)
    )
    twice = t.scale(t.add(Z, Var("p", t.INTEGERS)), 2)
    impossible = t.conjunction((hard, t.equal(t.mod(twice, t.const(5)), t.const(1))))
    with logic.budget(50):
        assert logic.feasible(impossible)
    assert not logic.feasible(impossible)


@pytest.mark.parametrize("guarded", [False, True])
def test_a_division_by_zero_behind_a_disjunct_is_no_contradiction(guarded: bool) -> None:
    quotient = t.greater(t.floor_div(X, Y), t.const(20))
    c = t.disjunction((t.equal(Y, t.const(0)), quotient)) if guarded else quotient
    assert logic.feasible(c) == guarded


U8 = t.IntType(8, signed=False)


def element(offset: t.Term) -> t.Term:
    return t.read("a", offset, U8)


AT_POINTS = [
    # one comparison after another is met by moving a variable, or what memory holds
    (t.conjunction((t.less(X, Y), t.less(Y, t.const(3)), t.greater(X, t.const(-5)))), True),
    (t.conjunction((t.equal(t.sub(X, t.scale(Y, 3)), t.const(4)), t.not_equal(Y, t.const(0)))), True),
    (t.conjunction((t.equal(element(t.const(0)), t.const(7)), t.not_equal(element(t.const(1)), t.const(7)))), True),
    (t.conjunction((t.equal(element(X), t.const(7)), t.equal(X, t.const(2)), t.less(element(Y), t.const(3)))), True),
    (t.disjunction((t.less(t.add(X, Y), t.const(-7)), t.greater(t.add(X, Y), t.const(13)))), True),
    # nothing fulfils these
    (t.conjunction((t.less(X, Y), t.less(Y, X))), False),
    (t.conjunction((t.equal(element(X), t.const(7)), t.equal(element(X), t.const(8)))), False),
    (t.conjunction((t.equal(t.scale(X, 2), t.add(t.scale(Y, 2), t.const(1))), t.less(X, Y))), False),
    (t.greater(element(X), t.const(255)), False),
]


@pytest.mark.parametrize(("asked", "expected"), AT_POINTS, ids=[str(number) for number in range(len(AT_POINTS))])
def test_points_that_are_moved_until_all_holds(
    asked: Condition, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a point is found no engine is asked; and none is found where there is none."""
    module = sys.modules[logic.feasible.__module__]
    monkeypatch.setattr(module, "_known", {})
    if expected:
        monkeypatch.setattr(module, "_by_isl", lambda *_, **__: pytest.fail("isl is asked"))
    assert logic.feasible(asked) is expected


@check(150, st.lists(condition((X, Y), depth=1), min_size=1, max_size=4))
def test_a_point_is_found_only_where_there_is_one(parts: list[Condition]) -> None:
    whole = t.conjunction(parts)
    if not isinstance(whole, t.Truth) and (is_near_ends(whole, {}) or is_found(whole, Intervals((whole,)))):
        assert fulfilled(whole, (X, Y))


SEARCHED: list[Condition] = [
    t.conjunction((t.greater_equal(t.wrap(A, U32), t.const(40)), t.less(t.wrap(t.sub(A, B), U32), t.const(9)),
                   t.less(B, t.const(-5)))),
    t.conjunction((t.not_equal(t.operation("bit_and", (A, t.sub(A, t.const(1)))), t.const(0)), t.less(A, t.const(100)))),
    t.conjunction((t.equal(t.operation("bit_and", (A, t.const(16))), t.const(0)),
                   t.not_equal(t.operation("bit_and", (A, t.const(64))), t.const(0)))),
    t.conjunction((t.less_equal(t.wrap(A, U32), t.const(31)), t.less_equal(A, t.const(16)),
                   t.greater_equal(t.operation("shl", (H, t.wrap(A, U32))), t.const(1 << 31)))),
]  # fmt: skip


@pytest.mark.parametrize("asked", SEARCHED, ids=[str(number) for number in range(len(SEARCHED))])
def test_points_that_a_search_finds(asked: Condition, monkeypatch: pytest.MonkeyPatch) -> None:
    module = sys.modules[logic.feasible.__module__]
    monkeypatch.setattr(module, "_known", {})
    monkeypatch.setattr(module, "_by_isl", lambda *_, **__: pytest.fail("isl is asked"))
    assert logic.feasible(asked)


@check(300, st.lists(condition((X, Y), depth=1), min_size=1, max_size=4), condition((X, Y), depth=1))
@pytest.mark.slow
def test_intervals_tell_what_follows(parts: list[Condition], claim: Condition) -> None:
    """What intervals say holds at all points at which the conditions do."""
    known = Intervals(parts)
    asked = [node for part in (*parts, claim) for node in t.walk(part) if isinstance(node, t.Term)]
    decided = known.decides(claim)
    for point in points((X, Y)):
        try:
            if not all(t.holds(part, point) for part in parts):
                continue
            assert known.possible
            assert decided is None or decided is t.holds(claim, point)
        except EvaluationError:
            continue
        for term in asked:
            try:
                value = t.evaluate(term, point)
            except EvaluationError:
                continue
            low, high = known.range_of(term)
            assert (low is None or low <= value) and (high is None or value <= high)


@pytest.mark.parametrize(
    "asked",
    [
        t.conjunction((t.less(A, B), t.equal(A, t.const((1 << 31) - 1)))),
        t.conjunction((t.less_equal(t.wrap(A, U32), t.const(31)), t.less(A, t.const(0)))),
        t.conjunction((t.less_equal(t.add(A, B), t.const(7)), t.greater_equal(t.add(A, B), t.const(9)))),
        t.conjunction((t.disjunction((t.less(A, B), t.less(B, t.const(3)))), t.equal(A, B), t.greater(A, t.const(2)))),
        t.conjunction((t.less_equal(t.operation("shl", (H, t.wrap(A, U32))), t.const(-1)), t.equal(A, t.const(3)))),
    ],
)  # fmt: skip
def test_what_intervals_refute(asked: Condition) -> None:
    assert not Intervals((asked,)).possible


def test_intervals_of_deep_terms() -> None:
    term: t.Term = A
    for number in range(3000):
        term = t.wrap(t.add(t.wrap(term, U32), t.const(number + 1)), I32)
    assert Intervals((t.greater(term, t.const(3)),)).possible


def _climb(top: int) -> Condition:
    """Whether so many steps of 1 or 2 lead from 0 to ``top``."""
    module = sys.modules["loopless.logic.feasible"]
    places = [Var(f"x{at}", U32) for at in range(module.MAX_ISL_VARIABLES + 4)]
    steps = [
        t.disjunction((t.equal(b, t.add(a, t.const(1))), t.equal(b, t.add(a, t.const(2))))) for a, b in pairwise(places)
    ]
    return t.conjunction((t.equal(places[0], t.const(0)), *steps, t.equal(places[-1], t.const(top))))


@pytest.mark.parametrize("asked", [True, False])
def test_conditions_on_many_variables_are_put_to_the_solver_first(asked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    module = sys.modules["loopless.logic.feasible"]
    monkeypatch.setattr(module, "_known", {})
    monkeypatch.setattr(module, "is_near_ends", lambda *_: False)
    monkeypatch.setattr(module, "is_found", lambda *_: False)
    if asked:
        monkeypatch.setattr(module, "_is_empty", lambda _: pytest.fail("sets were asked"))
    else:
        monkeypatch.setattr(module, "satisfiable", lambda *_, **__: smt.SmtOutcome(smt.SmtAnswer.UNKNOWN))
    steps = module.MAX_ISL_VARIABLES + 3
    for top, expected in ((steps - 1, False), (steps, True), (2 * steps, True), (2 * steps + 1, False)):
        found = logic.feasible(_climb(top))
        assert found == expected if asked else found or not expected  # so many cases are too much for sets


def test_over_all_integers_isl_answers_what_is_linear_and_points_are_sought_elsewhere(monkeypatch):
    searched = []
    module = sys.modules["loopless.logic.feasible"]

    def looked(group, known):
        searched.append(group)
        return is_found(group, known)

    monkeypatch.setattr(module, "is_near_ends", lambda *_: False)
    monkeypatch.setattr(module, "is_found", looked)
    p, q = Var("p of no type", t.INTEGERS), Var("q of no type", t.INTEGERS)

    def between(a, b):
        return t.conjunction(
            (t.less(t.add(a, t.ONE), t.add(b, b, b)), t.less(t.add(b, b), t.add(a, a, a)), t.not_equal(a, b))
        )

    assert logic.feasible(between(p, q))
    assert searched == []
    assert logic.feasible(between(A, B))
    assert searched == [between(A, B)]
    assert logic.feasible(between(t.mul(p, q), q))
    assert searched == [between(A, B), between(t.mul(p, q), q)]
