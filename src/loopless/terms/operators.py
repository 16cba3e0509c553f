"""The table of operators: for each what it makes of numbers and of ranges, where it has a value, and how it is written.

A new operator is a value in :data:`OPERATORS`. What needs nodes or engines is keyed by the same names:
:data:`loopless.terms.functions.CONSTRUCTORS` and :data:`loopless.logic.operators.TRANSLATIONS`;
``tests/terms/test_operators.py`` fails where one of them lacks an operator. As Python text operators are written by the
judge alone (:mod:`loopless.check.interpreter.expressions`), which shares no meaning with the methods.

Sums, products, reductions into a type, choices, and aggregates are nodes of their own, not operators.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal

from loopless.limits.terms import MAX_BITS
from loopless.records import dataclass
from loopless.terms import curves, modular, powers, ranges
from loopless.terms.ranges import Range


class EvaluationError(ArithmeticError):
    """A value does not exist or is out of reach: division by zero, an unbound variable, a number too large."""


class NoValue(EvaluationError):
    """There is no value: a division by zero, a negative exponent or count."""


ATOM, UNARY, TIMES, PLUS, RELATION, AND, OR, CHOICE = range(8)
"""How strongly expressions bind in C's syntax, the strongest first."""


@dataclass(frozen=True, slots=True)
class Infix:
    """C's ``sign`` between two operands."""

    sign: str
    right: int
    """How strongly the right operand must bind; the left one must as a unary operator does."""
    level: int
    """How strongly the whole binds; where that is as an atom, parentheses stand around it."""
    of_naturals: bool = False
    """Whether C means the same only where nothing is negative."""


Domain = Literal["all", "nonzero", "natural", "some"]
"""Where an operator has a value: everywhere; by the last operand, where that is not 0, or not negative; or somewhere,
which the operands do not tell at once."""


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator by its meaning. None stands for words that a language lacks."""

    name: str
    arity: int | None
    """How many operands there are; None: any number from 1 on."""
    named: bool
    """Whether answers name it as a function."""
    domain: Domain
    fold: Callable[..., int]
    """The exact value of numbers. Raises :class:`NoValue` outside of the domain, :class:`EvaluationError` for values
    that are out of reach."""
    range: Callable[..., Range]
    """A range of the values of numbers in given ranges, where there are values."""
    infix: Infix | None
    """In C's syntax; None: as a call of a function of this name."""
    smt: str | None
    """In SMT-LIB's theory of integers for two operands ``{0}`` and ``{1}``, of which a divisor is positive. Operators
    of any number of operands are nested."""
    neutral: int | None = None
    """The operand that changes no other one."""
    absorbing: int | None = None
    """The operand that is the value, whatever the other one is."""
    idempotent: bool = False
    """Whether the value of equal operands is that operand."""


def _floor_div(a: int, b: int) -> int:
    if not b:
        raise NoValue("division by zero")
    return a // b


def _mod(a: int, b: int) -> int:
    if not b:
        raise NoValue("division by zero")
    return a % b


def _trunc_div(a: int, b: int) -> int:
    if not b:
        raise NoValue("division by zero")
    quotient = abs(a) // abs(b)
    return quotient if (a >= 0) == (b > 0) else -quotient


def _trunc_rem(a: int, b: int) -> int:
    return a - b * _trunc_div(a, b)


def _minimum(*args: int) -> int:
    return min(args)


def _maximum(*args: int) -> int:
    return max(args)


def _shl(a: int, b: int) -> int:
    if b < 0:
        raise NoValue(f"shl by {b}")
    if b > MAX_BITS and a:
        raise EvaluationError(f"a shift by {b}")
    return a << b


def _shr(a: int, b: int) -> int:
    if b < 0:
        raise NoValue(f"shr by {b}")
    return a >> b


def _pow(a: int, b: int) -> int:
    if b < 0:
        raise NoValue(f"pow by {b}")
    if b * max(a.bit_length(), 1) > MAX_BITS and a not in (0, 1, -1):
        raise EvaluationError(f"a power with exponent {b}")
    return int(a**b)


def _table(index: int, *entries: int) -> int:
    return entries[min(max(index, 0), len(entries) - 1)]


def _curve(args: Sequence[int]) -> dict[tuple[int, int], int]:
    groups = zip(args[::3], args[1::3], args[2::3], strict=True)
    return {(base, degree): coefficient for base, degree, coefficient in groups}


def _first_positive(*args: int) -> int:
    return curves.first_of_sign(_curve(args), 1)


def _first_zero(*args: int) -> int:
    return curves.first_of_sign(_curve(args), 0)


def _linear_power(*args: int) -> int:
    return powers.first_component(args)


def _raising(kind: type[EvaluationError], function: Callable[..., int]) -> Callable[..., int]:
    """The function with its ``ValueError`` as an error of this kind."""

    def fold(*args: int) -> int:
        try:
            return function(*args)
        except ValueError as error:
            raise kind(str(error)) from None

    return fold


_ALL: Final = (
    Operator(
        "floor_div",
        arity=2,
        named=False,
        domain="nonzero",
        fold=_floor_div,
        range=ranges.floor_div,
        infix=Infix("/", ATOM, TIMES, of_naturals=True),
        smt="(div {0} {1})",
    ),
    Operator(
        "mod",
        arity=2,
        named=False,
        domain="nonzero",
        fold=_mod,
        range=ranges.mod,
        infix=Infix("%", ATOM, TIMES, of_naturals=True),
        smt="(mod {0} {1})",
    ),
    Operator(
        "trunc_div",
        arity=2,
        named=False,
        domain="nonzero",
        fold=_trunc_div,
        range=ranges.trunc_div,
        infix=Infix("/", ATOM, TIMES),
        smt="(ite (>= {0} 0) (div {0} {1}) (- (div (- {0}) {1})))",
    ),
    Operator(
        "trunc_rem",
        arity=2,
        named=False,
        domain="nonzero",
        fold=_trunc_rem,
        range=ranges.trunc_rem,
        infix=Infix("%", ATOM, TIMES),
        smt="(ite (>= {0} 0) (mod {0} {1}) (- (mod (- {0}) {1})))",
    ),
    Operator(
        "min",
        arity=None,
        named=False,
        domain="all",
        fold=_minimum,
        range=ranges.least,
        infix=None,
        smt="(ite (<= {0} {1}) {0} {1})",
    ),
    Operator(
        "max",
        arity=None,
        named=False,
        domain="all",
        fold=_maximum,
        range=ranges.greatest,
        infix=None,
        smt="(ite (>= {0} {1}) {0} {1})",
    ),
    Operator(
        "bit_and",
        arity=2,
        named=False,
        domain="all",
        fold=operator.and_,
        range=ranges.bit_and,
        infix=Infix("&", UNARY, ATOM),
        smt=None,
        neutral=-1,
        absorbing=0,
        idempotent=True,
    ),
    Operator(
        "bit_or",
        arity=2,
        named=False,
        domain="all",
        fold=operator.or_,
        range=ranges.bits,
        infix=Infix("|", UNARY, ATOM),
        smt=None,
        neutral=0,
        absorbing=-1,
        idempotent=True,
    ),
    Operator(
        "bit_xor",
        arity=2,
        named=False,
        domain="all",
        fold=operator.xor,
        range=ranges.bits,
        infix=Infix("^", UNARY, ATOM),
        smt=None,
        neutral=0,
    ),
    Operator(
        "shl",
        arity=2,
        named=False,
        domain="natural",
        fold=_shl,
        range=ranges.shl,
        infix=Infix("<<", UNARY, ATOM),
        smt=None,
    ),
    Operator(
        "shr",
        arity=2,
        named=False,
        domain="natural",
        fold=_shr,
        range=ranges.shr,
        infix=Infix(">>", UNARY, ATOM),
        smt=None,
    ),
    Operator(
        "pow",
        arity=2,
        named=False,
        domain="natural",
        fold=_pow,
        range=ranges.power,
        infix=None,
        smt=None,
    ),
    Operator(
        "first_in_range",
        arity=5,
        named=True,
        domain="some",
        fold=_raising(NoValue, modular.first_visit),
        range=ranges.first_in_range,
        infix=None,
        smt=None,
    ),
    Operator(
        "first_scaled",
        arity=6,
        named=True,
        domain="some",
        fold=_raising(EvaluationError, modular.first_scaled),
        range=ranges.first_scaled,
        infix=None,
        smt=None,
    ),
    Operator(
        "floor_sum",
        arity=4,
        named=True,
        domain="some",
        fold=_raising(NoValue, modular.floor_sum),
        range=ranges.floor_sum,
        infix=None,
        smt=None,
    ),
    Operator(
        "table",
        arity=None,
        named=True,
        domain="some",
        fold=_table,
        range=ranges.table,
        infix=None,
        smt=None,
    ),
    Operator(
        "first_positive",
        arity=None,
        named=True,
        domain="some",
        fold=_raising(EvaluationError, _first_positive),
        range=ranges.first_positive,
        infix=None,
        smt=None,
    ),
    Operator(
        "first_zero",
        arity=None,
        named=True,
        domain="some",
        fold=_raising(EvaluationError, _first_zero),
        range=ranges.first_zero,
        infix=None,
        smt=None,
    ),
    Operator(
        "linear_power",
        arity=None,
        named=True,
        domain="some",
        fold=_raising(EvaluationError, _linear_power),
        range=ranges.linear_power,
        infix=None,
        smt=None,
    ),
    Operator(
        "digits",
        arity=4,
        named=True,
        domain="some",
        fold=_raising(EvaluationError, powers.horner_of_digits),
        range=ranges.digits,
        infix=None,
        smt=None,
    ),
    Operator(
        "divided",
        arity=5,
        named=True,
        domain="some",
        fold=_raising(EvaluationError, powers.divided),
        range=ranges.divided,
        infix=None,
        smt=None,
    ),
)

OPERATORS: Final[Mapping[str, Operator]] = {each.name: each for each in _ALL}
"""All operators by name. ``floor_div``/``mod`` round down; ``trunc_div``/``trunc_rem`` are C's ``/`` and ``%``; bit
operations act on the two's complement of unbounded integers; ``shl``/``shr`` are a·2^b and floor(a/2^b); ``pow`` has
exponent ≥ 0. Those that are named are described at :data:`NAMED_FUNCTIONS`."""

NAMED_FUNCTIONS: Final = frozenset(each.name for each in _ALL if each.named)
"""Functions that answers name, see :mod:`loopless.terms.functions`: ``first_in_range(u, a, m, low, high)``,
``floor_sum(n, m, a, u)`` with constant m; ``table(index, c0, c1, ...)`` with constant entries, of which the first
stands for all indices below 0 and the last for all beyond the end; ``first_positive(b0, d0, c0, b1, d1, c1, ...)`` and
``first_zero`` with constant b and d, the least k ≥ 0 at which Σ c·b^k·k^d is > 0, or = 0, and -1 if there is none;
``first_scaled(u, b, c, m, low, high)`` with m = 2^w and b even or w ≤ 12, the least k ≥ 0 with
low ≤ (u·b^k + c) mod m ≤ high, and -1 if there is none; ``linear_power(k, size, row0..., row1..., start...)``, the
first component of matrix^max(k, 0)·start; ``digits(n, base, factor, k)`` with constant base, the sum of the digits
floor(n / base^i) mod base for i < k, in Horner form with ``factor``; and ``divided(k, x, a, c, b)`` with constant
c ≥ 2, what x comes to by doing x = (x + a) / c + b, with C's quotient, max(k, 0) times."""

DIVISIONS: Final = frozenset(each.name for each in _ALL if each.domain == "nonzero")
"""The operators that have no value where their last operand is 0."""

SHIFTS_AND_POWERS: Final = frozenset(each.name for each in _ALL if each.domain == "natural")
"""The operators that have no value where their last operand is negative."""

PARTIAL: Final = DIVISIONS | SHIFTS_AND_POWERS
"""The operators whose last operand tells whether there is a value."""


def named(op: str, args: Sequence[int]) -> int:
    """The value of a function of :data:`NAMED_FUNCTIONS`. Raises :class:`EvaluationError`."""
    return OPERATORS[op].fold(*args)


@dataclass(frozen=True, slots=True)
class Relation:
    """How a comparison relates two terms."""

    name: str
    fold: Callable[[Any, Any], Any]
    """Whether numbers are related so; of a solver's terms the formula."""
    sign: str
    """In C."""
    smt: str
    """In SMT-LIB."""


RELATIONS: Final[Mapping[str, Relation]] = {
    each.name: each
    for each in (
        Relation("le", operator.le, "<=", "<="),
        Relation("eq", operator.eq, "==", "="),
        Relation("ne", operator.ne, "!=", "distinct"),
    )
}
"""The relations by name."""
