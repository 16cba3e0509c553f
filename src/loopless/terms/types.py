"""The types of program variables: machine integers of a width and signedness, or all of ℤ."""

from __future__ import annotations

from loopless.records import dataclass


@dataclass(frozen=True, slots=True)
class IntType:
    """Integers of ``width`` bits, ``signed`` in two's complement or not; ``width`` None means all of ℤ.

    A variable of this type always holds a value in ``[min, max]``.
    """

    width: int | None
    signed: bool = True

    @property
    def min(self) -> int | None:
        """The least value, None for ℤ."""
        if self.width is None:
            return None
        return -(1 << (self.width - 1)) if self.signed else 0

    @property
    def max(self) -> int | None:
        """The greatest value, None for ℤ."""
        if self.width is None:
            return None
        return (1 << (self.width - 1)) - 1 if self.signed else (1 << self.width) - 1

    def wrap(self, value: int) -> int:
        """The value of this type that is congruent to ``value`` modulo 2^width (``value`` itself for ℤ)."""
        if self.width is None:
            return value
        value &= (1 << self.width) - 1
        if self.signed and value >> (self.width - 1):
            value -= 1 << self.width
        return value

    def holds(self, value: int) -> bool:
        """Whether ``value`` lies in the type's range."""
        return self.wrap(value) == value

    def __str__(self) -> str:
        if self.width is None:
            return "Z"
        return f"{'i' if self.signed else 'u'}{self.width}"


INTEGERS = IntType(None)
"""ℤ, the type of counters and of signed variables under mathematical integers."""


def type_name(type: IntType) -> str:
    """The C name of a type, as <stdint.h> has it; ``int_N_t`` for widths that C does not have."""
    if type.width is None:
        return "integer"
    return f"{'' if type.signed else 'u'}int{type.width}_t"
