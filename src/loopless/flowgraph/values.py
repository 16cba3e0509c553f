"""Values while a function is translated: integers with a reading (signed or unsigned), truth values, pointers."""

from __future__ import annotations

from dataclasses import dataclass

from loopless.refusals import Refused
from loopless.terms import (
    ONE,
    ZERO,
    Condition,
    IntType,
    Term,
    Var,
    conjunction,
    const,
    equal,
    ite,
    negate,
    not_equal,
    not_zero,
    wrap,
)


@dataclass(frozen=True, slots=True)
class Number:
    """An integer of ``type``: ``term`` always lies in its range, so the type says how the bits are read."""

    term: Term
    type: IntType
    mathematical: bool = False

    def read(self, *, signed: bool) -> Term:
        """The same bits read as signed or unsigned; an integer of ℤ as it is."""
        if self.type.signed == signed or self.type.width is None:
            return self.term
        return wrap(self.term, IntType(self.type.width, signed))

    def converted(self, bits: int, *, signed: bool) -> Term:
        """As :meth:`read`, but what is of ℤ is converted to unsigned, as C does it, where that is the reading."""
        if signed or self.type.width is not None:
            return self.read(signed=signed)
        return wrap(self.term, IntType(bits, signed=False))


@dataclass(frozen=True, slots=True)
class Flag:
    """An i1."""

    condition: Condition

    @property
    def term(self) -> Term:
        """1 where true, else 0."""
        return ite(self.condition, ONE, ZERO)


@dataclass(frozen=True, slots=True)
class Address:
    """A pointer."""

    object: Term
    offset: Term


@dataclass(frozen=True, slots=True)
class Nothing:
    """A value that is not followed: a float, a vector, an aggregate, or what comes from one."""

    refused: Refused


Value = Number | Flag | Address | Nothing

FLAG_TYPE = IntType(1, signed=False)


def flag_of(var: Var) -> Flag:
    """The truth value held by a 0/1 variable."""
    return Flag(not_zero(var))


def number_of_flag(flag: Flag, width: int, *, signed_extension: bool) -> Number:
    """An i1 widened: 0/1, or 0/-1 by sign extension."""
    if signed_extension:
        return Number(ite(flag.condition, const(-1), ZERO), IntType(width, signed=True))
    return Number(flag.term, IntType(width, signed=True)) if width > 1 else Number(flag.term, FLAG_TYPE)


def same_address(a: Address, b: Address) -> Condition:
    """Whether two pointers are equal."""
    return conjunction((equal(a.object, b.object), equal(a.offset, b.offset)))


def different_address(a: Address, b: Address) -> Condition:
    """Whether two pointers differ."""
    return negate(same_address(a, b)) if a.object is not b.object else not_equal(a.offset, b.offset)
