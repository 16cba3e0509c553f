"""Each operator of the table means one thing: as numbers, ranges, the judge's Python, C, and SMT-LIB.

``MEANING`` defines the operators anew, by fractions, digits and counting.
"""

from __future__ import annotations

import itertools
import math
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction

import pytest
import z3

from loopless import terms as t
from loopless.check.interpreter.expressions import HELPERS, Expressions, Lines
from loopless.terms.functions import CONSTRUCTORS
from loopless.terms.nodes import Op
from loopless.terms.operators import NoValue

BITS = 24
SMALL = range(-5, 6)
I4, U4 = t.IntType(4), t.IntType(4, signed=False)


def bitwise(word: Callable[[str, str], bool]) -> Callable[[int, int], int]:
    """An operator of the binary digits of numbers in two's complement."""

    def meaning(a: int, b: int) -> int:
        left, right = (f"{number % (1 << BITS):0{BITS}b}" for number in (a, b))
        found = sum(
            word(p, q) << place for place, (p, q) in enumerate(zip(reversed(left), reversed(right), strict=True))
        )
        return found - (1 << BITS) * (found >> (BITS - 1))

    return meaning


def power(a: int, b: int) -> int:
    return math.prod([a] * b)


def first(holds: Callable[[int], bool], limit: int, otherwise: int) -> int:
    return next((k for k in range(limit) if holds(k)), otherwise)


def curve(args: tuple[int, ...], k: int) -> int:
    groups = zip(args[::3], args[1::3], args[2::3], strict=True)
    return sum(c * power(base, k) * power(k, degree) for base, degree, c in groups)


def linear_power(count: int, size: int, *numbers: int) -> int:
    rows = [numbers[i * size : i * size + size] for i in range(size)]
    state = list(numbers[size * size :])
    for _ in range(count):
        state = [sum(c * x for c, x in zip(row, state, strict=True)) for row in rows]
    return state[0]


def digits(n: int, base: int, factor: int, count: int) -> int:
    found = 0
    for i in range(count):
        found = found * factor + math.floor(Fraction(n, base**i)) % base
    return found


def divided(count: int, x: int, a: int, c: int, b: int) -> int:
    for _ in range(count):
        x = math.trunc(Fraction(x + a, c)) + b
    return x


BINARY: dict[str, Callable[[int, int], int]] = {
    "floor_div": lambda a, b: math.floor(Fraction(a, b)),
    "mod": lambda a, b: a - b * math.floor(Fraction(a, b)),
    "trunc_div": lambda a, b: math.trunc(Fraction(a, b)),
    "trunc_rem": lambda a, b: a - b * math.trunc(Fraction(a, b)),
    "min": lambda a, b: (a + b - abs(a - b)) // 2,
    "max": lambda a, b: (a + b + abs(a - b)) // 2,
    "bit_and": bitwise(lambda p, q: (p, q) == ("1", "1")),
    "bit_or": bitwise(lambda p, q: "1" in {p, q}),
    "bit_xor": bitwise(lambda p, q: p != q),
    "shl": lambda a, b: a * power(2, b),
    "shr": lambda a, b: math.floor(Fraction(a, power(2, b))),
    "pow": power,
}
MEANING: dict[str, Callable[..., int]] = {
    **BINARY,
    "min": lambda *args: next(a for a in args if all(a <= b for b in args)),
    "max": lambda *args: next(a for a in args if all(a >= b for b in args)),
    "first_in_range": lambda u, a, m, low, high: first(lambda k: low <= (u + a * k) % m <= high, m, m),
    "first_scaled": lambda u, b, c, m, low, high: first(lambda k: low <= (u * power(b, k) + c) % m <= high, 40, -1),
    "floor_sum": lambda n, m, a, u: sum(math.floor(Fraction(a * i + u, m)) for i in range(n)),
    "table": lambda index, *entries: (
        entries[0] if index < 0 else entries[-1] if index >= len(entries) else entries[index]
    ),
    "first_positive": lambda *args: first(lambda k: curve(args, k) > 0, 60, -1),
    "first_zero": lambda *args: first(lambda k: curve(args, k) == 0, 60, -1),
    "linear_power": linear_power,
    "digits": digits,
    "divided": divided,
}
CURVE = ((1, 1), (0, 0), SMALL, (1, 1), (1, 1), SMALL, (2, 2), (0, 0), SMALL)
OPERANDS: dict[str, tuple[tuple[int, int] | range, ...]] = {
    "first_in_range": (SMALL, SMALL, range(1, 9), SMALL, SMALL),
    "first_scaled": (SMALL, SMALL, SMALL, (16, 16), SMALL, SMALL),
    "floor_sum": (range(7), range(1, 6), SMALL, SMALL),
    "table": (SMALL, SMALL, SMALL, SMALL),
    "first_positive": CURVE,
    "first_zero": CURVE,
    "linear_power": (range(5), (2, 2), *[SMALL] * 6),
    "digits": (range(-60, 60), range(2, 6), SMALL, range(6)),
    "divided": (range(6), range(-60, 60), SMALL, range(2, 5), SMALL),
}
"""Of named functions what operands they take; a pair is a constant."""
CONSTANTS = {
    "first_in_range": {2},
    "first_scaled": {1, 3},
    "floor_sum": {1},
    "table": {1, 2, 3},
    "digits": {1},
    "divided": {3},
}
"""The places of the operands that are constant by the meaning of the function, beside those of pairs."""


def has_value(op: str, b: int) -> bool:
    match t.OPERATORS[op].domain:
        case "nonzero":
            return b != 0
        case "natural":
            return b >= 0
        case _:
            return True


def drawn(op: str, times: int) -> Iterator[tuple[int, ...]]:
    """Operands of a named function."""
    chosen = random.Random(op)
    for _ in range(times):
        yield tuple(chosen.randint(min(place), max(place)) for place in OPERANDS[op])


def test_the_tables_have_the_same_operators() -> None:
    assert t.OPERATORS.keys() == CONSTRUCTORS.keys() == MEANING.keys()
    assert all(name == operator.name for name, operator in t.OPERATORS.items())
    assert {op for op, each in t.OPERATORS.items() if each.named} == t.NAMED_FUNCTIONS == OPERANDS.keys()
    assert {op for op, each in t.OPERATORS.items() if each.domain == "some"} == t.NAMED_FUNCTIONS
    assert all(t.OPERATORS[op].arity in (2, None) for op in BINARY)


@pytest.mark.parametrize("op", BINARY)
def test_a_fold_means_what_the_operator_does(op: str) -> None:
    for a, b in itertools.product((*SMALL, -100, 77), SMALL):
        if has_value(op, b):
            assert t.OPERATORS[op].fold(a, b) == BINARY[op](a, b), (a, b)
        else:
            with pytest.raises(NoValue):
                t.OPERATORS[op].fold(a, b)


@pytest.mark.parametrize("op", OPERANDS)
def test_a_named_fold_means_what_the_function_does(op: str) -> None:
    for args in drawn(op, 400):
        assert t.OPERATORS[op].fold(*args) == MEANING[op](*args), args
        assert t.named(op, args) == MEANING[op](*args), args


@pytest.mark.parametrize("op", BINARY)
def test_algebraic_facts_hold(op: str) -> None:
    operator = t.OPERATORS[op]
    for a in SMALL:
        if operator.neutral is not None:
            assert BINARY[op](a, operator.neutral) == a == BINARY[op](operator.neutral, a)
        if operator.absorbing is not None:
            assert BINARY[op](a, operator.absorbing) == operator.absorbing == BINARY[op](operator.absorbing, a)
        if operator.idempotent:
            assert BINARY[op](a, a) == a


@pytest.mark.parametrize("op", BINARY)
def test_constructed_and_plain_nodes_agree(op: str) -> None:
    """Constants are folded, and simplified terms have the values of the operator."""
    x, y = t.Var("x", I4), t.Var("y", U4)
    for a, b in itertools.product(range(-8, 8), range(16)):
        if has_value(op, b) and b < 8:
            expected, values = BINARY[op](a, b), {x: a, y: b}
            assert t.evaluate(t.operation(op, (t.const(a), t.const(b))), {}) == expected
            assert t.evaluate(t.operation(op, (x, y)), values) == expected
            assert t.evaluate(t.operation(op, (x, t.const(b))), values) == expected
            assert t.evaluate(Op(op, (x, y)), values) == expected


@pytest.mark.parametrize("op", OPERANDS)
def test_constructed_functions_have_the_values_of_the_fold(op: str) -> None:
    for args in drawn(op, 60):
        variables = [t.Var(f"x{place}", t.INTEGERS) for place in range(len(args))]
        fixed = CONSTANTS.get(op, set()) | {place for place, each in enumerate(OPERANDS[op]) if isinstance(each, tuple)}
        terms = [t.const(arg) if place in fixed else variables[place] for place, arg in enumerate(args)]
        values = dict(zip(variables, args, strict=True))
        assert t.evaluate(t.operation(op, tuple(terms)), values) == MEANING[op](*args), args
        assert t.evaluate(Op(op, tuple(terms)), values) == MEANING[op](*args), args
        assert t.evaluate(t.operation(op, tuple(map(t.const, args))), {}) == MEANING[op](*args), args


# -- ranges -----------------------------------------------------------------------------------------------------------


def spans(low: int, high: int) -> Iterator[tuple[int | None, int | None]]:
    """All ranges of numbers from ``low`` to ``high``, with those that are open at an end."""
    yield from itertools.combinations_with_replacement(range(low, high + 1), 2)
    for end in range(low, high + 1):
        yield None, end
        yield end, None
    yield None, None


def members(span: tuple[int | None, int | None], far: int) -> range:
    """The numbers in a range; of an open one those that are not far."""
    low, high = span
    return range(-far if low is None else low, (far if high is None else high) + 1)


def lies_in(value: int, span: tuple[int | None, int | None]) -> bool:
    low, high = span
    return (low is None or low <= value) and (high is None or value <= high)


@pytest.mark.parametrize("op", BINARY)
def test_a_range_has_the_fold_of_all_members(op: str) -> None:
    values = {(a, b): BINARY[op](a, b) for a, b in itertools.product(range(-7, 8), repeat=2) if has_value(op, b)}
    for left, right in itertools.product(spans(-3, 4), repeat=2):
        found = t.OPERATORS[op].range(left, right)
        inside = [values[a, b] for a in members(left, 7) for b in members(right, 7) if (a, b) in values]
        if inside:
            assert lies_in(min(inside), found) and lies_in(max(inside), found), (left, right, found)


@pytest.mark.parametrize("op", ["min", "max"])
def test_a_range_of_three_operands_has_all_folds(op: str) -> None:
    for operands in itertools.product(spans(-1, 1), repeat=3):
        found = t.OPERATORS[op].range(*operands)
        ends = [(members(span, 3)[0], members(span, 3)[-1]) for span in operands]
        assert all(lies_in(MEANING[op](*numbers), found) for numbers in itertools.product(*ends))


@pytest.mark.parametrize("op", OPERANDS)
def test_a_named_range_has_the_fold_of_all_members(op: str) -> None:
    chosen = random.Random(op)
    for args in drawn(op, 150):
        operands = []
        for place, arg in enumerate(args):
            constant = isinstance(OPERANDS[op][place], tuple) or place in CONSTANTS.get(op, ())
            most = arg if constant else min(arg + chosen.randint(0, 2), max(OPERANDS[op][place]))
            operands.append((arg, most))
        found = t.OPERATORS[op].range(*operands)
        for numbers in itertools.product(*(members(span, 0) for span in operands)):
            assert lies_in(MEANING[op](*numbers), found), (operands, numbers, found)


# -- texts ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("op", MEANING)
def test_the_judges_python_is_the_fold(op: str) -> None:
    samples = (
        list(drawn(op, 40)) if op in OPERANDS else [p for p in itertools.product(SMALL, SMALL) if has_value(op, p[1])]
    )
    variables = tuple(t.Var(f"x{place}", t.INTEGERS) for place in range(len(samples[0])))
    names = {variable: variable.name for variable in variables}
    writer = Expressions(Lines(), names, lambda _: -1)
    if op in ("linear_power", "digits"):  # the judge evaluates programs, where these do not occur
        with pytest.raises(AssertionError):
            writer.term(Op(op, variables))
        return
    shown = writer.term(Op(op, variables))
    for args in samples:
        values = dict(zip(names.values(), args, strict=True))
        assert eval(shown, {**HELPERS, **values}) == t.OPERATORS[op].fold(*args), (shown, args)


def smt_value(shown: str, **values: int) -> int:
    """The value of a text of SMT-LIB, by Z3."""
    context = z3.Context()
    declared = "".join(f"(declare-const {name} Int)" for name in (*values, "result"))
    (equation,) = z3.parse_smt2_string(f"{declared} (assert (= result {shown}))", ctx=context)
    given = [(z3.Int(name, context), z3.IntVal(value, context)) for name, value in values.items()]
    found = z3.simplify(z3.substitute(equation, *given)).children()
    return next(part for part in found if z3.is_int_value(part)).as_long()


@pytest.mark.parametrize("op", BINARY)
def test_smt_texts_are_the_fold(op: str) -> None:
    x, y = t.Var("x", I4), t.Var("y", U4)
    shown = t.smt(Op(op, (x, y)))
    assert (shown is None) == (t.OPERATORS[op].smt is None)
    if shown is not None:
        for a, b in itertools.product((-8, -5, -4, -1, 0, 1, 3, 7), (1, 2, 3, 7, 15)):
            assert smt_value(shown, x=a, y=b) == BINARY[op](a, b), (shown, a, b)


@pytest.mark.parametrize("op", ["min", "max"])
def test_smt_texts_of_three_operands_are_the_fold(op: str) -> None:
    variables = tuple(t.Var(name, I4) for name in "xyz")
    shown = t.smt(Op(op, variables))
    assert shown is not None
    for numbers in itertools.product((-2, 0, 1), repeat=3):
        assert smt_value(shown, **dict(zip("xyz", numbers, strict=True))) == MEANING[op](*numbers)


def test_smt_has_no_word_for_named_functions_but_tables() -> None:
    for op in t.NAMED_FUNCTIONS - {"table"}:
        assert t.smt(Op(op, tuple(map(t.const, next(drawn(op, 1)))))) is None
    index, entries = t.Var("i", I4), (4, -1, 9)
    shown = t.smt(Op("table", (index, *map(t.const, entries))))
    assert shown is not None
    assert [smt_value(shown, i=at) for at in range(-2, 5)] == [MEANING["table"](at, *entries) for at in range(-2, 5)]


PRELUDE = """
#include <stdio.h>
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
static long floor_div(long a, long b) { long q = a / b; return a % b && (a < 0) != (b < 0) ? q - 1 : q; }
static long ceil_div(long a, long b) { return -floor_div(-a, b); }
static long mod(long a, long b) { return a - b * floor_div(a, b); }
static long pow(long a, long b) { long p = 1; while (b--) p *= a; return p; }
"""
POINTS = ((7, 3, 2), (-7, 2, 3), (5, 1, 1), (-1, 4, 2), (6, 5, 4), (0, 3, 1), (-8, 1, 3), (12, 6, 5))


def expressions() -> Iterator[tuple[t.Term, Callable[[int, int, int], int]]]:
    """Operators, one inside of another one, with the functions that they were built to denote."""
    signed = tuple(t.Var(name, t.IntType(64)) for name in "xyz")
    natural = tuple(t.Var(name, t.IntType(8, signed=False)) for name in "xyz")
    three = t.const(3)
    for x, y, z in (signed, natural):
        for outer, inner in itertools.product(BINARY, BINARY):
            out, within = BINARY[outer], BINARY[inner]
            part = Op(inner, (x, y))
            yield Op(outer, (part, z)), lambda a, b, c, out=out, within=within: out(within(a, b), c)
            yield Op(outer, (z, part)), lambda a, b, c, out=out, within=within: out(c, within(a, b))
            yield Op(outer, (part, three)), lambda a, b, c, out=out, within=within: out(within(a, b), 3)
        for op, word in BINARY.items():
            yield Op(op, (x + y, z)), lambda a, b, c, word=word: word(a + b, c)
            yield Op(op, (x, y * z)), lambda a, b, c, word=word: word(a, b * c)
            yield Op(op, (x, y)) * z - 2, lambda a, b, c, word=word: word(a, b) * c - 2
            yield Op(op, (x, three)) + z, lambda a, b, c, word=word: word(a, 3) + c


def inside_of_c(term: t.Term, point: tuple[int, int, int]) -> bool:
    """Whether the term has a value there, and C's arithmetic comes to it without overflow."""
    values = {variable: point["xyz".index(variable.name)] for variable in term.variables}
    if not all(variable.type.holds(value) for variable, value in values.items()):
        return False
    for part in t.walk(term):
        assert isinstance(part, t.Term)
        if isinstance(part, Op) and part.op not in ("min", "max", "bit_and", "bit_or", "bit_xor"):
            amount = t.evaluate(part.args[1], values)
            if not has_value(part.op, amount) or (part.op in ("shl", "shr", "pow") and amount > 20):
                return False
        if abs(t.evaluate(part, values)) >= 1 << (BITS - 2):
            return False
    return True


def test_texts_in_c_compiled_natively_are_the_meaning(tmp_path) -> None:
    functions, calls, expected = [], [], []
    for number, (term, meaning) in enumerate(expressions()):
        points = [point for point in POINTS if inside_of_c(term, point)]
        shown = t.text(term)
        functions.append(f"static long f{number}(long x, long y, long z) {{ return {shown}; }}")
        calls += [f'printf("%ld\\n", f{number}({x}, {y}, {z}));' for x, y, z in points]
        expected += [(shown, point, meaning(*point)) for point in points]
    assert len(expected) > 4000
    lines = "\n".join(functions)
    source = f"{PRELUDE}{lines}\nint main(void) {{\n{chr(10).join(calls)}\nreturn 0; }}\n"
    (tmp_path / "p.c").write_text(source, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "ziglang",
        "cc",
        "-O0",
        "-w",
        "-fno-builtin",
        "-fno-sanitize=all",
        "p.c",
        "-o",
        "p",
    ]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    found = subprocess.run([tmp_path / "p"], capture_output=True, text=True, check=True).stdout.split()
    wrong = [(each, value) for each, value in zip(expected, map(int, found), strict=True) if each[2] != value]
    assert not wrong, wrong[:5]


def test_relations_are_those_of_numbers() -> None:
    meaning = {"le": lambda a, b: a - b in range(-50, 1), "eq": lambda a, b: a - b == 0, "ne": lambda a, b: a - b != 0}
    assert meaning.keys() == t.RELATIONS.keys()
    context = z3.Context()
    for (name, relation), a, b in itertools.product(t.RELATIONS.items(), range(3), range(3)):
        assert relation.name == name
        assert relation.fold(a, b) == meaning[name](a, b)
        assert eval(f"{a} {relation.sign} {b}") == meaning[name](a, b)
        (fact,) = z3.parse_smt2_string(f"(assert ({relation.smt} {a} {b}))", ctx=context)
        assert z3.is_true(z3.simplify(fact)) == meaning[name](a, b)
