"""Standard input as bytes: laid out from what a run drew, in the order in which it drew it.

The bodies of :mod:`loopless.source.standard_input` draw bytes and numbers. A number is written in the base that its
conversion reads; white space goes between two numbers, and before a byte that is read behind white space. Zeros fill
a number of some width up where a digit comes behind it. A run with these bytes need not be the same: it is judged by
itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from loopless.records import dataclass

_OTHER: Final = 0
_BYTE: Final = 1
_SKIPPED: Final = 2
_OUTCOME: Final = 3
_REST: Final = 4
_DECIMAL: Final = 5
_HEXADECIMAL: Final = 6
_MORE: Final = 7
_LOST: Final = 8
_EITHER: Final = 9
_STAYS: Final = 10
_NUMBERS: Final = (_DECIMAL, _HEXADECIMAL, _EITHER)
_WIDTH: Final = 16
"""The kind of a number has its width in units of this."""
_SPACES: Final = b" \t\n\v\f\r"
_SIGNED: Final = b"+-0123456789"
"""Bytes that, like white space, are in the way of a number only behind a sign (of a digit the width is the reason)."""
_UNSURE: Final = {_REST: _SIGNED + _SPACES, _STAYS: b"0"}
"""Bytes in the way of a number that may not be in the way again, or be followed by other ones."""


@dataclass(frozen=True, slots=True)
class LaidOut:
    """The bytes of standard input, and the inputs of a run that come from elsewhere. ``same``: a run with these bytes
    from a file is sure to draw the same again.
    """

    stdin: bytes
    nondet: tuple[int, ...]
    same: bool = True


class _Layout:
    """The bytes so far. ``number``: the kind of the number that they end with, 0 where they end with none; ``begin``
    and ``width``: where it begins, and how long it may be, 0 where that has no limit.
    """

    def __init__(self) -> None:
        self.text = bytearray()
        self.number = self.begin = self.width = 0
        self.same = True

    def add(self, kind: int, width: int, value: int) -> None:
        """Behind the bytes so far, what was drawn next."""
        self._judge(kind, value)
        if self.number and kind in (_SKIPPED, _REST, _STAYS, *_NUMBERS):
            self.text += b" "
        if kind in _NUMBERS:
            self.begin, self.width = len(self.text), width
            self.text += _number(kind, width, value).encode()
        elif value >= 0:
            self._add_byte(kind, value)
        elif kind in (_REST, _STAYS):
            self.text += b"-"  # behind a sign without a number
        self.number = kind if kind in _NUMBERS else 0

    def _add_byte(self, kind: int, value: int) -> None:
        if kind == _REST and value in _SIGNED:
            self.text += b"-"  # what comes behind the sign is drawn next
            return
        if kind in (_REST, _STAYS) and value in _SIGNED + _SPACES:
            self.text += b"-"  # a sign without a number, behind which any byte is in the way
        elif kind == _BYTE and self.number and _continues(self.number, value):
            self._fill()
        self.text.append(value)

    def _fill(self) -> None:
        """Make the number as long as it may be, by zeros behind its sign."""
        begin = self.begin + (self.text[self.begin : self.begin + 1] == b"-")
        zeros = self.width - (len(self.text) - self.begin)
        if self.width and zeros >= 0 and self.number != _EITHER:
            self.text[begin:begin] = b"0" * zeros
        else:
            self.same = False

    def _judge(self, kind: int, value: int) -> None:
        """Whether what was drawn is sure to be drawn again."""
        if kind in _UNSURE:
            self.same = self.same and (value < 0 or value not in _UNSURE[kind])
        if kind == _BYTE and self.number == _HEXADECIMAL and value in (88, 120):
            self.same = False  # "0x" begins a number


def _number(kind: int, width: int, value: int) -> str:
    """A number as its conversion reads it; one that is too long for its width is a sign that wraps it around."""
    for near in (value, *(value - (1 << bits) for bits in (8, 16, 32, 64))):
        text = f"{near:x}" if kind == _HEXADECIMAL else str(near)
        if not width or len(text) <= width:
            return text
    return str(value)


def _continues(number: int, value: int) -> bool:
    """Whether a number would go on with this byte."""
    letter = chr(value)
    return letter in "0123456789" or (number != _DECIMAL and letter in "abcdefxABCDEFX")


def laid_out(draws: Sequence[int]) -> LaidOut | None:
    """What a run drew (by turns the kind, as the runtime numbers them, and the value) as bytes; None where something
    was drawn behind the end.
    """
    layout = _Layout()
    others: list[int] = []
    ended = False
    same = True
    for mixed, value in zip(draws[::2], draws[1::2], strict=True):
        width, kind = divmod(mixed, _WIDTH)
        if kind == _OTHER:
            others.append(value)
        elif kind == _LOST or (kind == _MORE and value == -1):
            same = False  # a file never gives fewer bytes
        elif kind != _MORE:
            if ended:
                return None
            ended = value < 0 and kind not in _NUMBERS
            if kind != _OUTCOME:  # the number, or what is in its way, comes next
                layout.add(kind, width, value)
    return LaidOut(bytes(layout.text), tuple(others), same and layout.same)
