"""C's arithmetic on terms: types, conversions, and where an expression is undefined.

A value is of a :class:`IntegerKind`, which after the integer promotions is one of a rank; that ``int`` and ``long`` of
one width are different types makes no difference to values, so a type is a width and a sign here. What unsigned types
compute wraps around. Where a signed sum, difference, product, quotient or shift to the left has no value in its type, a
divisor is 0, a shift is by less than 0 or by the width and more, or one to the left is of less than 0, the value is not
``defined``. Types that are ``exact`` stand for all integers: signed ones under mathematical integers, and offsets of
pointers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Final

from loopless import terms as t
from loopless.records import dataclass


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
    def plain(self) -> IntegerKind:
        """``int``."""
        return self.sized(self.int_bits, signed=True)

    def sized(self, bits: int, *, signed: bool) -> IntegerKind:
        """The type of a width and a sign."""
        return IntegerKind(bits, signed, exact=signed and self.mathematical)


@dataclass(frozen=True, slots=True)
class IntegerKind:
    """Integers of so many bits, ``signed`` or not; ``exact``: beyond their width, too."""

    bits: int
    signed: bool
    exact: bool = False

    @property
    def range(self) -> t.IntType:
        """The values."""
        return t.IntType(None if self.exact else self.bits, self.signed)

    @property
    def words(self) -> str:
        """For people."""
        return f"{'a signed' if self.signed else 'an unsigned'} type of {self.bits} bits"


@dataclass(frozen=True)
class CValue:
    """A value of C: ``number`` for an arithmetic one, ``holds`` for a truth value, which is 1 or 0 as a number.

    ``defined``: where it has a value at all.
    """

    type: IntegerKind
    number: t.Term | None = None
    holds: t.Condition = t.FALSE
    defined: t.Condition = t.TRUE

    @cached_property
    def term(self) -> t.Term:
        """The value as a number."""
        return self.number if self.number is not None else t.ite(self.holds, t.ONE, t.ZERO)

    @cached_property
    def truth(self) -> t.Condition:
        """Whether it is not 0."""
        return self.holds if self.number is None else t.not_zero(self.number)


class UndefinedValue(Exception):
    """A value is undefined whatever the variables are; says why."""


_RING: Final[Mapping[str, Callable[[t.Term, t.Term], t.Term]]] = {"+": t.add, "-": t.sub, "*": t.mul}
_BITS: Final[Mapping[str, Callable[[t.Term, t.Term], t.Term]]] = {"&": t.bit_and, "|": t.bit_or, "^": t.bit_xor}
_COMPARISONS: Final[Mapping[str, Callable[[t.Term, t.Term], t.Condition]]] = {
    "<": t.less,
    "<=": t.less_equal,
    ">": t.greater,
    ">=": t.greater_equal,
    "==": t.equal,
    "!=": t.not_equal,
}
_WORDS: Final = {"+": "sum", "-": "difference", "*": "product", "/": "quotient", "%": "quotient"}


class Arithmetic:
    """The operators of C under a reading of numbers. They raise :class:`UndefinedValue`."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading

    # -- types --------------------------------------------------------------------------------------------------------

    def converted(self, value: CValue, type: IntegerKind) -> CValue:
        """The value as an assignment to a variable of the type makes it; one of 1 bit is ``_Bool``."""
        if value.type == type:
            return value
        if type.bits == 1:
            return CValue(type, holds=value.truth, defined=value.defined)
        source, term = value.type, value.term
        kept = type.exact and (source.exact or source.bits < type.bits)
        narrow = type.range if not type.exact else t.IntType(type.bits)  # C's conversion of what is not of ℤ
        return CValue(type, term if kept else t.wrap(term, narrow), defined=value.defined)

    def promoted(self, value: CValue) -> CValue:
        """The value after the integer promotions."""
        narrow = value.type.bits < self.reading.int_bits
        return self.converted(value, self.reading.plain) if narrow else value

    def together(self, a: CValue, b: CValue) -> tuple[CValue, CValue, IntegerKind]:
        """Both after the usual arithmetic conversions, and the type that they then have."""
        a, b = self.promoted(a), self.promoted(b)
        bits = max(a.type.bits, b.type.bits)
        signed = all(v.type.signed for v in (a, b) if v.type.bits == bits)
        exact = signed and (a.type.exact or b.type.exact)
        type = IntegerKind(bits, signed, exact)
        return self.converted(a, type), self.converted(b, type), type

    # -- operators ----------------------------------------------------------------------------------------------------

    def unary(self, sign: str, value: CValue) -> CValue:
        """``- + ~ !``."""
        if sign == "!":
            return CValue(self.reading.plain, holds=~value.truth, defined=value.defined)
        value = self.promoted(value)
        if sign == "-":
            return self._within(-value.term, value.type, value.defined, "negation")
        if sign == "~":
            self._has_bits(value.type)
            flipped = -1 - value.term
            return replace(value, number=t.wrap(flipped, value.type.range), holds=t.FALSE)
        return value

    def binary(self, sign: str, a: CValue, b: CValue) -> CValue:
        """All operators of two operands."""
        if sign in ("&&", "||"):
            return self._joined(sign, a, b)
        if sign in ("<<", ">>"):
            return self._shifted(sign, a, b)
        a, b, type = self.together(a, b)
        defined = a.defined & b.defined
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
            holds, asked = a.truth & b.truth, a.truth
        else:
            holds, asked = a.truth | b.truth, ~a.truth
        defined = a.defined & (~asked | b.defined)
        return CValue(self.reading.plain, holds=holds, defined=defined)

    def _within(self, term: t.Term, type: IntegerKind, defined: t.Condition, word: str) -> CValue:
        """What is computed over ℤ, in its type."""
        if type.exact:
            return CValue(type, term, defined=defined)
        if not type.signed or self.reading.wrapv:
            return CValue(type, t.wrap(term, type.range), defined=defined)
        fits = t.between(type.range.min, term, type.range.max)
        self._sometimes(fits, f"the {word} has no value in {type.words}")
        return CValue(type, term, defined=defined & fits)

    def _divided(self, sign: str, a: CValue, b: CValue, type: IntegerKind) -> CValue:
        divides = b.term.ne(0)
        self._sometimes(divides, "the divisor is 0")
        defined = a.defined & b.defined & divides
        if type.signed and not type.exact:
            assert type.range.min is not None
            beyond = a.term.eq(type.range.min) & b.term.eq(-1)
            self._sometimes(~beyond, f"the quotient has no value in {type.words}")
            defined = defined & ~beyond
        return CValue(type, (t.trunc_div if sign == "/" else t.trunc_rem)(a.term, b.term), defined=defined)

    def _shifted(self, sign: str, a: CValue, b: CValue) -> CValue:
        a, b = self.promoted(a), self.promoted(b)
        self._has_bits(a.type)
        fits = t.between(0, b.term, a.type.bits - 1)
        self._sometimes(fits, f"a shift of {a.type.words} is by 0 to {a.type.bits - 1}")
        amount = b.term if isinstance(b.term, t.Const) else t.ite(fits, b.term, t.ZERO)
        defined = a.defined & b.defined & fits
        if sign == ">>":
            return CValue(a.type, t.shift_right(a.term, amount), defined=defined)
        moved = t.shift_left(a.term, amount)
        if a.type.signed and not self.reading.wrapv:
            kept = a.term.ge(0) & moved.le(a.type.range.max or 0)
            self._sometimes(kept, f"what is shifted to the left has no value in {a.type.words}")
            return CValue(a.type, moved, defined=defined & kept)
        return CValue(a.type, t.wrap(moved, a.type.range), defined=defined)

    @staticmethod
    def _sometimes(condition: t.Condition, otherwise: str) -> None:
        if condition is t.FALSE:
            raise UndefinedValue(otherwise)

    @staticmethod
    def _has_bits(type: IntegerKind) -> None:
        if type.exact:
            raise UndefinedValue("operations on bits have no meaning where a number stands for all integers")
