"""C's arithmetic on terms: types, conversions, and where an expression is undefined.

A value is of a :class:`CType`, which after the integer promotions is one of a rank; that ``int`` and ``long`` of one
width are different types makes no difference to values, so a type is a width and a sign here. What unsigned types
compute wraps around. Where a signed sum, difference, product, quotient or shift to the left has no value in its type, a
divisor is 0, a shift is by less than 0 or by the width and more, or one to the left is of less than 0, the value is not
``defined``. Types that are ``exact`` stand for all integers: signed ones under mathematical integers, and offsets of
pointers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from loopless.terms import (
    FALSE,
    ONE,
    TRUE,
    ZERO,
    Condition,
    Const,
    IntType,
    Term,
    add,
    between,
    bit_and,
    bit_or,
    bit_xor,
    conjunction,
    const,
    disjunction,
    equal,
    greater,
    greater_equal,
    ite,
    less,
    less_equal,
    mul,
    negate,
    not_equal,
    not_zero,
    shift_left,
    shift_right,
    sub,
    trunc_div,
    trunc_rem,
    wrap,
)


@dataclass(frozen=True, slots=True)
class Reading:
    """What C leaves to the machine, and how numbers are read: signed types as all integers (``mathematical``), signed
    overflow as wrapping around (``wrapv``).
    """

    int_bits: int = 32
    long_bits: int = 64
    pointer_bits: int = 64
    mathematical: bool = False
    wrapv: bool = False

    @property
    def plain(self) -> CType:
        """``int``."""
        return self.sized(self.int_bits, signed=True)

    def sized(self, bits: int, *, signed: bool) -> CType:
        """The type of a width and a sign."""
        return CType(bits, signed, exact=signed and self.mathematical)


@dataclass(frozen=True, slots=True)
class CType:
    """Integers of so many bits, ``signed`` or not; ``exact``: beyond their width, too."""

    bits: int
    signed: bool
    exact: bool = False

    @property
    def range(self) -> IntType:
        """The values."""
        return IntType(None if self.exact else self.bits, self.signed)

    @property
    def words(self) -> str:
        """For people."""
        return f"{'a signed' if self.signed else 'an unsigned'} type of {self.bits} bits"


@dataclass(frozen=True)
class CValue:
    """A value of C: ``number`` for an arithmetic one, ``holds`` for a truth value, which is 1 or 0 as a number.

    ``defined``: where it has a value at all.
    """

    type: CType
    number: Term | None = None
    holds: Condition = FALSE
    defined: Condition = TRUE

    @cached_property
    def term(self) -> Term:
        """The value as a number."""
        return self.number if self.number is not None else ite(self.holds, ONE, ZERO)

    @cached_property
    def truth(self) -> Condition:
        """Whether it is not 0."""
        return self.holds if self.number is None else not_zero(self.number)


class Undefined(Exception):
    """A value is undefined whatever the variables are; says why."""


_RING: Final[Mapping[str, Callable[[Term, Term], Term]]] = {"+": add, "-": sub, "*": mul}
_BITS: Final[Mapping[str, Callable[[Term, Term], Term]]] = {"&": bit_and, "|": bit_or, "^": bit_xor}
_COMPARISONS: Final[Mapping[str, Callable[[Term, Term], Condition]]] = {
    "<": less,
    "<=": less_equal,
    ">": greater,
    ">=": greater_equal,
    "==": equal,
    "!=": not_equal,
}
_WORDS: Final = {"+": "sum", "-": "difference", "*": "product", "/": "quotient", "%": "quotient"}


class Arithmetic:
    """The operators of C under a reading of numbers. They raise :class:`Undefined`."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading

    # -- types --------------------------------------------------------------------------------------------------------

    def converted(self, value: CValue, type: CType) -> CValue:
        """The value as an assignment to a variable of the type makes it; one of 1 bit is ``_Bool``."""
        if value.type == type:
            return value
        if type.bits == 1:
            return CValue(type, holds=value.truth, defined=value.defined)
        source, term = value.type, value.term
        kept = type.exact and (source.exact or source.bits < type.bits)
        narrow = type.range if not type.exact else IntType(type.bits)  # C's conversion of what is not of ℤ
        return CValue(type, term if kept else wrap(term, narrow), defined=value.defined)

    def promoted(self, value: CValue) -> CValue:
        """The value after the integer promotions."""
        narrow = value.type.bits < self.reading.int_bits
        return self.converted(value, self.reading.plain) if narrow else value

    def together(self, a: CValue, b: CValue) -> tuple[CValue, CValue, CType]:
        """Both after the usual arithmetic conversions, and the type that they then have."""
        a, b = self.promoted(a), self.promoted(b)
        bits = max(a.type.bits, b.type.bits)
        signed = all(v.type.signed for v in (a, b) if v.type.bits == bits)
        exact = signed and (a.type.exact or b.type.exact)
        type = CType(bits, signed, exact)
        return self.converted(a, type), self.converted(b, type), type

    # -- operators ----------------------------------------------------------------------------------------------------

    def unary(self, sign: str, value: CValue) -> CValue:
        """``- + ~ !``."""
        if sign == "!":
            return CValue(self.reading.plain, holds=negate(value.truth), defined=value.defined)
        value = self.promoted(value)
        if sign == "-":
            return self._within(sub(ZERO, value.term), value.type, value.defined, "negation")
        if sign == "~":
            self._has_bits(value.type)
            flipped = sub(const(-1), value.term)
            return replace(value, number=wrap(flipped, value.type.range), holds=FALSE)
        return value

    def binary(self, sign: str, a: CValue, b: CValue) -> CValue:
        """All operators of two operands."""
        if sign in ("&&", "||"):
            return self._joined(sign, a, b)
        if sign in ("<<", ">>"):
            return self._shifted(sign, a, b)
        a, b, type = self.together(a, b)
        defined = conjunction((a.defined, b.defined))
        if sign in _COMPARISONS:
            return CValue(self.reading.plain, holds=_COMPARISONS[sign](a.term, b.term), defined=defined)
        if sign in _RING:
            return self._within(_RING[sign](a.term, b.term), type, defined, _WORDS[sign])
        if sign in _BITS:
            self._has_bits(type)
            return CValue(type, _BITS[sign](a.term, b.term), defined=defined)
        return self._divided(sign, a, b, type)

    def _joined(self, sign: str, a: CValue, b: CValue) -> CValue:
        """What stands on the right counts only where the left does not decide."""
        if sign == "&&":
            holds, asked = conjunction((a.truth, b.truth)), a.truth
        else:
            holds, asked = disjunction((a.truth, b.truth)), negate(a.truth)
        defined = conjunction((a.defined, disjunction((negate(asked), b.defined))))
        return CValue(self.reading.plain, holds=holds, defined=defined)

    def _within(self, term: Term, type: CType, defined: Condition, word: str) -> CValue:
        """What is computed over ℤ, in its type."""
        if type.exact:
            return CValue(type, term, defined=defined)
        if not type.signed or self.reading.wrapv:
            return CValue(type, wrap(term, type.range), defined=defined)
        fits = between(type.range.min, term, type.range.max)
        self._sometimes(fits, f"the {word} has no value in {type.words}")
        return CValue(type, term, defined=conjunction((defined, fits)))

    def _divided(self, sign: str, a: CValue, b: CValue, type: CType) -> CValue:
        divides = not_equal(b.term, ZERO)
        self._sometimes(divides, "the divisor is 0")
        defined = conjunction((a.defined, b.defined, divides))
        if type.signed and not type.exact:
            assert type.range.min is not None
            beyond = conjunction((equal(a.term, const(type.range.min)), equal(b.term, const(-1))))
            self._sometimes(negate(beyond), f"the quotient has no value in {type.words}")
            defined = conjunction((defined, negate(beyond)))
        return CValue(type, (trunc_div if sign == "/" else trunc_rem)(a.term, b.term), defined=defined)

    def _shifted(self, sign: str, a: CValue, b: CValue) -> CValue:
        a, b = self.promoted(a), self.promoted(b)
        self._has_bits(a.type)
        fits = between(0, b.term, a.type.bits - 1)
        self._sometimes(fits, f"a shift of {a.type.words} is by 0 to {a.type.bits - 1}")
        amount = b.term if isinstance(b.term, Const) else ite(fits, b.term, ZERO)
        defined = conjunction((a.defined, b.defined, fits))
        if sign == ">>":
            return CValue(a.type, shift_right(a.term, amount), defined=defined)
        moved = shift_left(a.term, amount)
        if a.type.signed and not self.reading.wrapv:
            kept = conjunction((less_equal(ZERO, a.term), less_equal(moved, const(a.type.range.max or 0))))
            self._sometimes(kept, f"what is shifted to the left has no value in {a.type.words}")
            return CValue(a.type, moved, defined=conjunction((defined, kept)))
        return CValue(a.type, wrap(moved, a.type.range), defined=defined)

    @staticmethod
    def _sometimes(condition: Condition, otherwise: str) -> None:
        if condition is FALSE:
            raise Undefined(otherwise)

    @staticmethod
    def _has_bits(type: CType) -> None:
        if type.exact:
            raise Undefined("operations on bits have no meaning where a number stands for all integers")
