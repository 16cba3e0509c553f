"""What interpreted runs pass around besides integers: the end of a run, and values that are not known.

A value that nothing decides (an uninitialised variable, the result of a call without a body) does not end the run: it
may be copied and forgotten. Only its use does, so a run is ``unknown`` exactly when the unknown value mattered.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from loopless import terms as t
from loopless.check.outcome import Status
from loopless.records import dataclass
from loopless.source.ir import Loc


class Stop(Exception):
    """The run ends here, for ``reason``, one phrase for people."""

    def __init__(self, status: Status, reason: str, where: Loc | None = None) -> None:
        super().__init__(status, reason)
        self.status: Status = status
        self.reason = reason
        self.where = where


class UsedUp(Stop):
    """The run asks for more inputs than are given: the next one is of ``type``."""

    def __init__(self, reason: str, where: Loc | None, type: t.IntType) -> None:
        super().__init__("unknown", reason, where)
        self.type = type


@dataclass(frozen=True, slots=True)
class InputStream:
    """What the program reads: its inputs in order, the last one again and again where it ``repeats``, and what
    uninitialised variables hold (None: that is unknown).
    """

    nondet: Sequence[int] = ()
    uninitialised: Sequence[int] | None = None
    repeats: bool = False

    def place(self, number: int) -> int:
        """Where the input of this number stands: from the same place on the same inputs follow."""
        return min(number, len(self.nondet) - 1) if self.repeats and self.nondet else number


def reduced(value: int, type: t.IntType) -> int:
    """An input as one of ``type``, as a native run takes it."""
    return int(value != 0) if type.width == 1 else type.wrap(value)


class MissingValue:
    """A value that is not known. Arithmetic, comparison, indexing and hashing raise :class:`Stop` ``unknown``.

    ``absent``: there is no such value, since the memory that would hold it does not exist; then it is ``undefined``.
    """

    __slots__ = ("absent", "reason", "where")

    def __init__(self, reason: str, where: Loc | None = None, *, absent: bool = False) -> None:
        self.reason = reason
        self.where = where
        self.absent = absent

    def refuse(self) -> NoReturn:
        """End the run: the value matters."""
        raise Stop("undefined" if self.absent else "unknown", self.reason, self.where)

    def __repr__(self) -> str:
        return f"Missing({self.reason!r})"

    def _used(self, *_: Any) -> NoReturn:
        self.refuse()

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __pow__ = __rpow__ = _used
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = _used
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __neg__ = __abs__ = __invert__ = __pos__ = _used
    bit_length = _used
    __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __int__ = __index__ = _used
    __eq__ = _used
    __ne__ = _used
    __hash__ = _used


Value = int | MissingValue
"""What a variable holds."""
