"""Arrays of NumPy as elements that are given, and elements as such arrays. NumPy is never imported for that."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, Protocol

from loopless.errors import UsageError
from loopless.records import dataclass


class NumberArray(Protocol):
    """An array of NumPy."""

    @property
    def shape(self) -> tuple[int, ...]:
        """How many elements it has in each dimension."""
        ...

    def tolist(self) -> Any:
        """The elements as numbers."""
        ...


@dataclass(frozen=True, slots=True)
class GivenArray:
    """An array that is given, and the module ``numpy`` that it is of."""

    numpy: Any
    array: Any

    @classmethod
    def of(cls, value: object) -> GivenArray | None:
        """The array that a value is; None for all others. Who has one has imported NumPy."""
        numpy = sys.modules.get("numpy")
        known = numpy is not None and isinstance(value, numpy.ndarray) and value.ndim > 0
        return cls(numpy, value) if known else None

    def elements(self, name: str) -> tuple[int, ...]:
        """The elements in the order of C. Raises ``UsageError`` where they are no integers."""
        if self.array.dtype.kind not in "iu":
            raise UsageError(f"the elements of {name} must be integers, not {self.array.dtype}")
        return tuple(self.array.ravel().tolist())

    def filled(self, values: Sequence[int]) -> Any:
        """An array of the same shape with these elements: of the same type, where that has them."""
        ends = self.numpy.iinfo(self.array.dtype)
        fits = all(ends.min <= value <= ends.max for value in values)
        found = self.numpy.array(values, dtype=self.array.dtype if fits else None)
        return found.reshape(self.array.shape)
