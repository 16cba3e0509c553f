"""The operators of terms in the engines: over Z3's integers and bit vectors, and as quasi-affine functions of isl.

:data:`TRANSLATIONS` has one row for each operator of :data:`loopless.terms.OPERATORS`. The test
``tests/logic/test_operators.py`` fails where one is lacking, and where a row differs from the operator's fold.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any, Final, Protocol

import islpy as isl

from loopless import terms as t
from loopless.limits.logic import MAX_TABLE_OPERANDS
from loopless.logic.engine import value
from loopless.records import dataclass


class SolverTerms(Protocol):
    """Z3, and how it has constants of the sort of terms."""

    z3: Any

    def constant(self, value: int) -> Any:
        """A number."""


class IslFrame(Protocol):
    """The space over which isl's functions are."""

    @property
    def whole(self) -> isl.Set:
        """All integer points."""

    def constant(self, number: int) -> isl.PwAff:
        """A function that is constant."""


SolverWords = Callable[[SolverTerms, t.Op, Sequence[Any]], Any]
"""What Z3 has for a term by what it has for the operands; None where these are beyond its words."""


@dataclass(frozen=True, slots=True)
class AffineFunction:
    """An operator as a quasi-affine function."""

    pieces: Callable[[t.Op], int | None]
    """In how many pieces the operands are taken apart, 0 for none; None where the term is not quasi-affine."""
    function: Callable[[IslFrame, t.Op, Sequence[isl.PwAff]], isl.PwAff]
    """The function, of the functions of the operands."""


@dataclass(frozen=True, slots=True)
class TranslatedOperator:
    """An operator in the engines; None where an engine has no words for it."""

    integers: SolverWords | None
    """Over the integers; a quotient and a remainder by 0 are 0."""
    bits: SolverWords | None
    """Over signed bit vectors in which nothing overflows; a quotient by 0 is 0."""
    affine: AffineFunction | None
    works_on_bits: bool = False
    """Whether a question with this operator is for bit vectors."""


# -- over Z3's integers -----------------------------------------------------------------------------------------------


def _least(made: SolverTerms, term: t.Op, args: Sequence[Any]) -> Any:  # noqa: ARG001
    return reduce(lambda a, b: made.z3.If(a <= b, a, b), args)


def _greatest(made: SolverTerms, term: t.Op, args: Sequence[Any]) -> Any:  # noqa: ARG001
    return reduce(lambda a, b: made.z3.If(a >= b, a, b), args)


def _floor_div(made: SolverTerms, term: t.Op, args: Sequence[Any]) -> Any:
    """Z3's ``div`` leaves a remainder ≥ 0: for divisors > 0 it is the floor."""
    a, b = args
    if _is_positive(term.args[1]):
        return a / b
    return made.z3.If(b > 0, a / b, made.z3.If(b < 0, (-a) / (-b), 0))


def _mod(made: SolverTerms, term: t.Op, args: Sequence[Any]) -> Any:
    return _remainder(made, term, args, _floor_div(made, term, args))


def _trunc_div(made: SolverTerms, term: t.Op, args: Sequence[Any]) -> Any:
    z3 = made.z3
    a, b = args
    if _is_positive(term.args[1]):
        return z3.If(a >= 0, a / b, -((-a) / b))
    size = z3.If(b > 0, b, -b)
    quotient = z3.If(a >= 0, a / size, -((-a) / size))
    return z3.If(b > 0, quotient, z3.If(b < 0, -quotient, 0))


def _trunc_rem(made: SolverTerms, term: t.Op, args: Sequence[Any]) -> Any:
    return _remainder(made, term, args, _trunc_div(made, term, args))


def _remainder(made: SolverTerms, term: t.Op, args: Sequence[Any], quotient: Any) -> Any:
    """What a quotient leaves; 0 where that is by 0, as evaluation has it."""
    a, b = args
    left = a - b * quotient
    return left if _is_positive(term.args[1]) else made.z3.If(b == 0, 0, left)


def _entry(made: SolverTerms, term: t.Op, args: Sequence[Any]) -> Any:
    """An entry of a table, chosen by halves; the first one below 0, the last one beyond the end."""
    index, entries = args[0], args[1:]
    least, most = t.range_of(term.args[0])
    if len(args) > MAX_TABLE_OPERANDS:
        return None

    def chosen(low: int, high: int) -> Any:
        if len(set(term.args[1 + low : 1 + high])) == 1:
            return entries[low]
        middle = (low + high) // 2
        if most is not None and most < middle:
            return chosen(low, middle)
        if least is not None and least >= middle:
            return chosen(middle, high)
        return made.z3.If(index < middle, chosen(low, middle), chosen(middle, high))

    return chosen(0, len(entries))


def _is_positive(divisor: t.Term) -> bool:
    least = t.range_of(divisor)[0]
    return least is not None and least > 0


# -- over bit vectors -------------------------------------------------------------------------------------------------


def _mod_of_bits(made: SolverTerms, term: t.Op, args: Sequence[Any]) -> Any:  # noqa: ARG001
    a, b = args
    return _unless_zero(made, b, a % b)  # the sign of the divisor


def _floor_div_of_bits(made: SolverTerms, term: t.Op, args: Sequence[Any]) -> Any:  # noqa: ARG001
    z3 = made.z3
    a, b = args
    exact = z3.Or(z3.SRem(a, b) == 0, (a < 0) == (b < 0))
    return _unless_zero(made, b, z3.If(exact, a / b, a / b - 1))


def _trunc_div_of_bits(made: SolverTerms, term: t.Op, args: Sequence[Any]) -> Any:  # noqa: ARG001
    a, b = args
    return _unless_zero(made, b, a / b)


def _trunc_rem_of_bits(made: SolverTerms, term: t.Op, args: Sequence[Any]) -> Any:  # noqa: ARG001
    a, b = args
    return _unless_zero(made, b, made.z3.SRem(a, b))


def _unless_zero(made: SolverTerms, divisor: Any, quotient: Any) -> Any:
    zero = made.constant(0)
    return made.z3.If(divisor == zero, zero, quotient)


def _of_both(word: Callable[[Any, Any], Any]) -> SolverWords:
    """Python's operator, which Z3 has for bit vectors."""

    def words(made: SolverTerms, term: t.Op, args: Sequence[Any]) -> Any:  # noqa: ARG001
        return word(args[0], args[1])

    return words


def _power_of_two(made: SolverTerms, term: t.Op, args: Sequence[Any]) -> Any:
    base = term.args[0]
    return made.constant(1) << args[1] if isinstance(base, t.Const) and base.value == 2 else None


# -- as isl's functions -----------------------------------------------------------------------------------------------


def _no_pieces(term: t.Op) -> int | None:  # noqa: ARG001
    return 0


def _by_a_number(term: t.Op) -> int | None:
    divisor = term.args[-1]
    return 0 if isinstance(divisor, t.Const) and divisor.value != 0 else None


def _by_an_amount(term: t.Op) -> int | None:
    amount = term.args[-1]
    return 0 if isinstance(amount, t.Const) and amount.value >= 0 else None


def _by_a_mask(term: t.Op) -> int | None:
    """The runs of ones of a mask; what is one bit is not taken apart."""
    left, right = term.args
    for mask in (right, left):
        if isinstance(mask, t.Const):
            return len(_runs_of_ones(max(mask.value, ~mask.value)))
    return 0 if _is_bit(left) and _is_bit(right) else None


def _entries(term: t.Op) -> int | None:
    return len(term.args)


def _least_function(frame: IslFrame, term: t.Op, args: Sequence[isl.PwAff]) -> isl.PwAff:  # noqa: ARG001
    return reduce(lambda a, b: a.min(b), args).coalesce()


def _greatest_function(frame: IslFrame, term: t.Op, args: Sequence[isl.PwAff]) -> isl.PwAff:  # noqa: ARG001
    return reduce(lambda a, b: a.max(b), args).coalesce()


def _floored(dividend: isl.PwAff, divisor: int) -> isl.PwAff:
    if divisor < 0:
        dividend, divisor = dividend.neg(), -divisor
    return dividend.scale_down_val(value(divisor)).floor()


def _truncated(frame: IslFrame, dividend: isl.PwAff, divisor: int) -> isl.PwAff:
    """Rounded towards 0: the floor of the dividend, or minus that of its opposite."""
    if divisor < 0:
        dividend, divisor = dividend.neg(), -divisor
    floor = dividend.scale_down_val(value(divisor)).floor()
    opposite = dividend.neg().scale_down_val(value(divisor)).floor().neg()
    negative = dividend.lt_set(frame.constant(0))
    return floor.intersect_domain(negative.complement()).union_add(opposite.intersect_domain(negative))


def _rest(dividend: isl.PwAff, quotient: isl.PwAff, divisor: int) -> isl.PwAff:
    return dividend.sub(quotient.scale_val(value(divisor)))


def _floor_div_function(frame: IslFrame, term: t.Op, args: Sequence[isl.PwAff]) -> isl.PwAff:  # noqa: ARG001
    return _floored(args[0], _last(term))


def _mod_function(frame: IslFrame, term: t.Op, args: Sequence[isl.PwAff]) -> isl.PwAff:  # noqa: ARG001
    return _rest(args[0], _floored(args[0], _last(term)), _last(term))


def _trunc_div_function(frame: IslFrame, term: t.Op, args: Sequence[isl.PwAff]) -> isl.PwAff:
    return _truncated(frame, args[0], _last(term))


def _trunc_rem_function(frame: IslFrame, term: t.Op, args: Sequence[isl.PwAff]) -> isl.PwAff:
    return _rest(args[0], _truncated(frame, args[0], _last(term)), _last(term))


def _shl_function(frame: IslFrame, term: t.Op, args: Sequence[isl.PwAff]) -> isl.PwAff:  # noqa: ARG001
    return args[0].scale_val(value(1 << _last(term)))


def _shr_function(frame: IslFrame, term: t.Op, args: Sequence[isl.PwAff]) -> isl.PwAff:  # noqa: ARG001
    return _floored(args[0], 1 << _last(term))


def _last(term: t.Op) -> int:
    """The last operand, which is constant in quasi-affine terms."""
    number = term.args[-1]
    assert isinstance(number, t.Const)
    return number.value


def _and_function(frame: IslFrame, term: t.Op, args: Sequence[isl.PwAff]) -> isl.PwAff:
    _, _, both = _taken_apart(frame, term, args)
    return both


def _or_function(frame: IslFrame, term: t.Op, args: Sequence[isl.PwAff]) -> isl.PwAff:
    a, b, both = _taken_apart(frame, term, args)
    return a.add(b).sub(both)


def _xor_function(frame: IslFrame, term: t.Op, args: Sequence[isl.PwAff]) -> isl.PwAff:
    a, b, both = _taken_apart(frame, term, args)
    return a.add(b).sub(both.scale_val(value(2)))


def _taken_apart(frame: IslFrame, term: t.Op, args: Sequence[isl.PwAff]) -> tuple[isl.PwAff, isl.PwAff, isl.PwAff]:
    """A number, a mask, and the bits that both have: with a constant mask, or the lesser one of two bits."""
    left, right = term.args
    a, b = args
    if isinstance(left, t.Const):
        a, left, right = b, right, left
    if isinstance(right, t.Const):
        both = _masked(frame, a, right.value)
        return a, frame.constant(right.value), both
    assert _is_bit(left)
    assert _is_bit(right)
    return a, b, a.min(b)


def _masked(frame: IslFrame, function: isl.PwAff, mask: int) -> isl.PwAff:
    """``function & mask``: for each run of ones from bit i to below j, (f mod 2^j) - (f mod 2^i)."""
    if mask < 0:
        return function.sub(_masked(frame, function, ~mask))
    total = frame.constant(0)
    for start, end in _runs_of_ones(mask):
        high, low = (function.mod_val(value(1 << bit)) for bit in (end, start))
        total = total.add(high.sub(low))
    return total


def _runs_of_ones(mask: int) -> list[tuple[int, int]]:
    """The runs of ones in a nonnegative number: from which bit, to below which."""
    runs = []
    bit = 0
    while mask >> bit:
        if not mask >> bit & 1:
            bit += 1
            continue
        start = bit
        while mask >> bit & 1:
            bit += 1
        runs.append((start, bit))
    return runs


def _is_bit(term: t.Term) -> bool:
    low, high = t.range_of(term)
    return low is not None and high is not None and low >= 0 and high <= 1


def _table_function(frame: IslFrame, term: t.Op, args: Sequence[isl.PwAff]) -> isl.PwAff:
    """One piece for each run of equal entries; the first and the last reach beyond the table."""
    index = args[0]
    entries = [arg.value for arg in term.args[1:] if isinstance(arg, t.Const)]
    total: isl.PwAff | None = None
    start = 0
    for end in range(1, len(entries) + 1):
        if end < len(entries) and entries[end] == entries[start]:
            continue
        where = frame.whole
        if start > 0:
            where = where.intersect(index.ge_set(frame.constant(start)))
        if end < len(entries):
            where = where.intersect(index.lt_set(frame.constant(end)))
        part = frame.constant(entries[start]).intersect_domain(where)
        total = part if total is None else total.union_add(part)
        start = end
    assert total is not None
    return total.coalesce()


_UNKNOWN: Final = TranslatedOperator(integers=None, bits=None, affine=None)

TRANSLATIONS: Final[Mapping[str, TranslatedOperator]] = {
    "floor_div": TranslatedOperator(_floor_div, _floor_div_of_bits, AffineFunction(_by_a_number, _floor_div_function)),
    "mod": TranslatedOperator(_mod, _mod_of_bits, AffineFunction(_by_a_number, _mod_function)),
    "trunc_div": TranslatedOperator(_trunc_div, _trunc_div_of_bits, AffineFunction(_by_a_number, _trunc_div_function)),
    "trunc_rem": TranslatedOperator(_trunc_rem, _trunc_rem_of_bits, AffineFunction(_by_a_number, _trunc_rem_function)),
    "min": TranslatedOperator(_least, _least, AffineFunction(_no_pieces, _least_function)),
    "max": TranslatedOperator(_greatest, _greatest, AffineFunction(_no_pieces, _greatest_function)),
    "bit_and": TranslatedOperator(
        None, _of_both(operator.and_), AffineFunction(_by_a_mask, _and_function), works_on_bits=True
    ),
    "bit_or": TranslatedOperator(
        None, _of_both(operator.or_), AffineFunction(_by_a_mask, _or_function), works_on_bits=True
    ),
    "bit_xor": TranslatedOperator(
        None, _of_both(operator.xor), AffineFunction(_by_a_mask, _xor_function), works_on_bits=True
    ),
    "shl": TranslatedOperator(
        None, _of_both(operator.lshift), AffineFunction(_by_an_amount, _shl_function), works_on_bits=True
    ),
    "shr": TranslatedOperator(
        None, _of_both(operator.rshift), AffineFunction(_by_an_amount, _shr_function), works_on_bits=True
    ),
    "pow": TranslatedOperator(None, _power_of_two, None),
    "table": TranslatedOperator(_entry, _entry, AffineFunction(_entries, _table_function)),
    "first_in_range": _UNKNOWN,
    "first_scaled": _UNKNOWN,
    "floor_sum": _UNKNOWN,
    "first_positive": _UNKNOWN,
    "first_zero": _UNKNOWN,
    "linear_power": _UNKNOWN,
    "digits": _UNKNOWN,
    "divided": _UNKNOWN,
}
"""All operators of terms by name."""

BIT_OPERATORS: Final = frozenset(name for name, each in TRANSLATIONS.items() if each.works_on_bits)
"""The operators that work on bits."""
