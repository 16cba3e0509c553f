"""Each operator means in Z3 and isl what its fold is, and every operator has a row."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import islpy as isl
import pytest
import z3

from loopless import terms as t
from loopless.logic.engine import integer, unlimited_for_tests, value
from loopless.logic.operators import BIT_OPERATORS, TRANSLATIONS
from loopless.logic.smt_bits import BitTranslation
from loopless.logic.smt_integers import IntegerTranslation
from loopless.logic.translate import frame_of, is_quasi_affine
from loopless.terms.nodes import Op

X, Y = t.Var("x", t.IntType(4)), t.Var("y", t.INTEGERS)
NUMBERS = (-7, -4, -1, 0, 1, 2, 3, 5, 6)
BINARY = [op for op, each in t.OPERATORS.items() if not each.named]


def pairs(op: str) -> Iterator[tuple[int, int, int]]:
    """Operands, and what the engines make of them: 0 for a quotient by 0, and nothing for negative amounts."""
    for a, b in itertools.product(NUMBERS, NUMBERS):
        domain = t.OPERATORS[op].domain
        if domain == "natural" and b < 0:
            continue
        if op == "mod" and b == 0:
            continue  # any value will do; over the integers it is the dividend
        if op == "trunc_rem" and b == 0:
            continue
        yield a, b, 0 if domain == "nonzero" and b == 0 else t.OPERATORS[op].fold(a, b)


def test_every_operator_has_a_row() -> None:
    assert TRANSLATIONS.keys() == t.OPERATORS.keys()
    assert {"bit_and", "bit_or", "bit_xor", "shl", "shr"} == BIT_OPERATORS


@pytest.mark.parametrize("op", [op for op in BINARY if TRANSLATIONS[op].integers is not None])
@pytest.mark.parametrize("constant", [False, True])
def test_z3s_integers_are_the_fold(op: str, constant: bool) -> None:
    words, context = TRANSLATIONS[op].integers, z3.Context()
    assert words is not None
    made = IntegerTranslation(z3, context)
    for a, b, expected in pairs(op):
        term = Op(op, (X, t.const(b) if constant else Y))
        found = words(made, term, [z3.IntVal(a, context), z3.IntVal(b, context)])
        assert z3.simplify(found).as_long() == expected, (a, b)


@pytest.mark.parametrize("op", [op for op in BINARY if TRANSLATIONS[op].bits is not None])
def test_z3s_bit_vectors_are_the_fold(op: str) -> None:
    words, context = TRANSLATIONS[op].bits, z3.Context()
    assert words is not None
    made = BitTranslation(z3, context)
    made.width = 20
    for a, b, expected in pairs(op):
        found = words(made, Op(op, (t.const(a), Y)), [made.constant(a), made.constant(b)])
        if op == "pow" and a != 2:
            assert found is None
        else:
            assert z3.simplify(found).as_signed_long() == expected, (a, b)


ENTRIES = (3, 0, 1, 1, 1, -2, 0, 3, 1, 2, 2)


@pytest.mark.parametrize("index", [X, Y, t.Var("i", t.IntType(2, signed=False)), t.Var("i", t.IntType(3)) + 4])
@pytest.mark.parametrize("of_bits", [False, True])
def test_z3s_tables_are_the_fold(index: t.Term, of_bits: bool) -> None:
    """Also in vectors that hold no more than values and indices, where the table is longer."""
    context = z3.Context()
    made = BitTranslation(z3, context) if of_bits else IntegerTranslation(z3, context)
    term = Op("table", (index, *map(t.const, ENTRIES)))
    words = TRANSLATIONS["table"].bits if of_bits else TRANSLATIONS["table"].integers
    assert words is not None
    least, most = t.range_of(index)
    least, most = -20 if least is None else least, 20 if most is None else most
    if isinstance(made, BitTranslation):
        made.width = max(3, least.bit_length() + 1, most.bit_length() + 1)
    for at in range(least, most + 1):
        found = z3.simplify(words(made, term, [made.constant(at), *map(made.constant, ENTRIES)]))
        number = found.as_signed_long() if of_bits else found.as_long()
        assert number == t.OPERATORS["table"].fold(at, *ENTRIES), at


@pytest.mark.parametrize("op", [op for op in TRANSLATIONS if TRANSLATIONS[op].affine is not None])
@pytest.mark.parametrize("swapped", [False, True])
def test_isls_functions_are_the_fold(op: str, swapped: bool) -> None:
    checked = 0
    for b in (*NUMBERS, -8, 11):
        term = Op(op, (t.const(b), X) if swapped else (X, t.const(b)))
        if op == "table":
            term = Op(op, (X, t.const(b), t.const(4), t.const(4), t.const(-2)))
        if is_quasi_affine(term):
            checked += 1
            assert values_by_isl(term) == {a: folded(term, a) for a in range(-8, 8)}, term
    assert checked > 5 or (swapped and t.OPERATORS[op].domain != "all")


def folded(term: Op, x: int) -> int:
    """The fold of a term of constants and X."""
    return t.OPERATORS[term.op].fold(*(arg.value if isinstance(arg, t.Const) else x for arg in term.args))


def values_by_isl(term: Op) -> dict[int, int]:
    """The values of the function that isl has for a term of X alone."""
    found: dict[int, int] = {}
    frame = frame_of((X,))
    with unlimited_for_tests():
        function = frame.function(term)
        for a in range(-8, 8):
            place = isl.Point.zero(frame.space).set_coordinate_val(isl.dim_type.set, 0, value(a))
            found[a] = integer(function.eval(place))
    return found


def test_isl_has_no_function_of_unknown_divisors() -> None:
    for op in t.DIVISIONS | t.PARTIAL:
        assert not is_quasi_affine(Op(op, (X, Y)))
    for op in t.DIVISIONS:
        assert not is_quasi_affine(Op(op, (X, t.ZERO)))
    assert not is_quasi_affine(Op("shl", (X, t.const(-1))))
    assert not is_quasi_affine(Op("pow", (X, t.const(9))))
