"""Z3's answers against brute force over small types, and the limits on its work."""

from __future__ import annotations

import time
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopless import logic
from loopless import terms as t
from loopless.logic import SmtAnswer
from loopless.terms import Condition, EvaluationError, Term, Var
from quasi_affine import I4, I8, U8, U, X, condition, points

Y = Var("y", I4)
TRIPLE = (U, X, Y)
BINARY = [
    t.add,
    t.mul,
    t.floor_div,
    t.mod,
    t.trunc_div,
    t.trunc_rem,
    t.minimum,
    t.maximum,
    t.bit_and,
    t.bit_or,
    t.bit_xor,
    t.shift_right,
]


@st.composite
def anything(draw: st.DrawFn, depth: int = 2) -> Term:
    if depth == 0:
        return draw(st.sampled_from([*TRIPLE, t.const(draw(st.integers(-5, 9)))]))
    a, b = draw(anything(depth - 1)), draw(anything(depth - 1))
    match draw(st.integers(0, 3)):
        case 0:
            return t.wrap(a, draw(st.sampled_from([I4, I8, U8])))
        case 1:
            return t.ite(t.less(a, b), b, X)
        case _:
            return draw(st.sampled_from(BINARY))(a, b)


def solutions(c: Condition) -> int:
    """How many points satisfy ``c``, of those at which each of its terms has a value."""
    terms = [node for node in t.walk(c) if isinstance(node, Term)]
    count = 0
    for p in points(TRIPLE):
        with suppress(EvaluationError):
            for part in terms:
                t.evaluate(part, p)
            count += t.holds(c, p)
    return count


@given(anything(), anything(depth=1), st.sampled_from([t.less, t.equal, t.greater]), condition((X, U), depth=0))
@settings(deadline=None, max_examples=80)
@pytest.mark.slow
def test_answers_are_right(a: Term, b: Term, relation, c: Condition) -> None:
    whole = t.conjunction((relation(a, b), c))
    outcome = logic.satisfiable(whole, 400)
    match outcome.answer:
        case SmtAnswer.YES:
            assert outcome.model is not None
            assert t.holds(whole, outcome.model.values)
        case SmtAnswer.NO:
            assert solutions(whole) == 0


def test_answers_over_small_types_are_found() -> None:
    yes = t.conjunction((t.equal(t.mul(X, Y), t.const(35)), t.less(X, Y)))
    assert logic.satisfiable(yes).answer is SmtAnswer.YES
    assert logic.satisfiable(t.conjunction((yes, t.equal(t.bit_and(X, Y), t.const(2))))).answer is SmtAnswer.NO
    assert logic.satisfiable(t.TRUE).answer is SmtAnswer.YES
    assert logic.satisfiable(t.FALSE).answer is SmtAnswer.NO


def test_validity_over_all_integers() -> None:
    a, b = Var("a", t.INTEGERS), Var("b", t.INTEGERS)
    square = t.greater_equal(t.add(t.mul(a, a), t.mul(b, b)), t.scale(t.mul(a, b), 2))
    assert logic.valid(square).answer is SmtAnswer.YES
    outcome = logic.valid(t.greater(t.mul(a, b), t.const(0)), t.greater(a, t.const(0)))
    assert outcome.answer is SmtAnswer.NO
    assert outcome.model is not None
    assert outcome.model.values[a] > 0 >= outcome.model.values[a] * outcome.model.values[b]


def test_machine_arithmetic_of_full_width() -> None:
    v = Var("v", t.IntType(64, signed=False))
    square = t.wrap(t.mul(v, v), v.type)
    outcome = logic.satisfiable(t.conjunction((t.equal(square, t.const(17)), t.greater(v, t.const(1)))), 20_000)
    assert outcome.answer is SmtAnswer.YES
    assert outcome.model is not None
    assert outcome.model.values[v] ** 2 % 2**64 == 17
    even = t.equal(t.bit_and(t.bit_xor(v, t.wrap(t.add(v, t.const(1)), v.type)), t.const(1)), t.const(0))
    assert logic.satisfiable(even).answer is SmtAnswer.NO


def test_memory_is_a_function_of_the_offset() -> None:
    at_x, at_y = t.read("a", t.scale(X, 4), t.IntType(32)), t.read("a", t.scale(Y, 4), t.IntType(32))
    differ = t.less(at_x, at_y)
    outcome = logic.satisfiable(t.conjunction((differ, t.greater(at_x, t.const(100)))))
    assert outcome.answer is SmtAnswer.YES
    assert outcome.model is not None
    model = outcome.model
    assert t.holds(differ, model.values, model.read)
    assert model.values[X] != model.values[Y]
    assert logic.satisfiable(t.conjunction((differ, t.equal(X, Y)))).answer is SmtAnswer.NO
    byte = t.read("a", t.const(1), U8)
    overlapping = t.conjunction((t.equal(X, t.const(0)), t.equal(at_x, t.const(0)), t.equal(byte, t.const(1))))
    assert logic.satisfiable(overlapping).answer is SmtAnswer.UNKNOWN


def test_division_by_zero_is_no_solution() -> None:
    zero = t.conjunction((t.equal(Y, t.const(0)), t.equal(t.floor_div(X, Y), t.const(3))))
    assert logic.satisfiable(zero).answer is not SmtAnswer.YES


@pytest.mark.parametrize("milliseconds", [200, 800])
def test_the_limit_holds(milliseconds: int) -> None:
    a, b, c = (Var(name, t.INTEGERS) for name in "abc")
    cubes = t.equal(t.add(t.mul(a, t.mul(a, a)), t.mul(b, t.mul(b, b))), t.mul(c, t.mul(c, c)))
    positive = [t.greater(v, t.const(0)) for v in (a, b, c)]
    logic.satisfiable(t.equal(X, Y))  # loads the solver
    start = time.monotonic()
    outcome = logic.satisfiable(t.conjunction((cubes, *positive)), milliseconds)
    assert outcome.answer is SmtAnswer.UNKNOWN
    assert time.monotonic() - start < 5 * milliseconds / 1000 + 1
