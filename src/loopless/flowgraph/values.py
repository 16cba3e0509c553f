"""Values while a function is translated: integers with a reading (signed or unsigned), truth values, pointers."""

from __future__ import annotations

from loopless import terms as t
from loopless.records import dataclass
from loopless.refusals import Refused


@dataclass(frozen=True, slots=True)
class Number:
    """An integer of ``type``: ``term`` always lies in its range, so the type says how the bits are read."""

    term: t.Term
    type: t.IntType
    mathematical: bool = False

    def read(self, *, signed: bool) -> t.Term:
        """The same bits read as signed or unsigned; an integer of ℤ as it is."""
        if self.type.signed == signed or self.type.width is None:
            return self.term
        return t.wrap(self.term, t.IntType(self.type.width, signed))

    def converted(self, bits: int, *, signed: bool) -> t.Term:
        """As :meth:`read`, but what is of ℤ is converted to unsigned, as C does it, where that is the reading."""
        if signed or self.type.width is not None:
            return self.read(signed=signed)
        return t.wrap(self.term, t.IntType(bits, signed=False))


@dataclass(frozen=True, slots=True)
class Flag:
    """An i1."""

    condition: t.Condition

    @property
    def term(self) -> t.Term:
        """1 where true, else 0."""
        return t.ite(self.condition, t.ONE, t.ZERO)


@dataclass(frozen=True, slots=True)
class Address:
    """A pointer."""

    object: t.Term
    offset: t.Term


@dataclass(frozen=True, slots=True)
class UnfollowedValue:
    """A value that is not followed: a float, a vector, an aggregate, or what comes from one."""

    refused: Refused


Value = Number | Flag | Address | UnfollowedValue

FLAG_TYPE = t.IntType(1, signed=False)


def flag_of(var: t.Var) -> Flag:
    """The truth value held by a 0/1 variable."""
    return Flag(t.not_zero(var))


def number_of_flag(flag: Flag, width: int, *, signed_extension: bool) -> Number:
    """An i1 widened: 0/1, or 0/-1 by sign extension."""
    if signed_extension:
        return Number(t.ite(flag.condition, t.const(-1), t.ZERO), t.IntType(width, signed=True))
    return Number(flag.term, t.IntType(width, signed=True)) if width > 1 else Number(flag.term, FLAG_TYPE)


def same_address(a: Address, b: Address) -> t.Condition:
    """Whether two pointers are equal."""
    return a.object.eq(b.object) & a.offset.eq(b.offset)


def different_address(a: Address, b: Address) -> t.Condition:
    """Whether two pointers differ."""
    return ~same_address(a, b) if a.object is not b.object else a.offset.ne(b.offset)
