"""Standard input as bytes: laid out from what a run drew, in the order in which it drew it.

The bodies of :mod:`loopless.source.standard_input` draw bytes and numbers. A number is written in the base that its
conversion reads; white space goes between two numbers, and before a byte that is read behind white space. A run with
these bytes need not be the same: it is judged by itself.
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
_SIGNED_OR_SPACE: Final = b"+- \t\n\v\f\r"


@dataclass(frozen=True, slots=True)
class LaidOut:
    """The bytes of standard input, and the inputs of a run that come from elsewhere. ``same``: a run with these bytes
    from a file is sure to draw the same again.
    """

    stdin: bytes
    nondet: tuple[int, ...]
    same: bool = True


def laid_out(draws: Sequence[int]) -> LaidOut | None:
    """What a run drew (by turns the kind, as the runtime numbers them, and the value) as bytes; None where something
    was drawn behind the end.
    """
    text = bytearray()
    others: list[int] = []
    after_number = ended = False
    same = True
    for kind, value in zip(draws[::2], draws[1::2], strict=True):
        if kind == _OTHER:
            others.append(value)
            continue
        if ended:
            return None
        same = same and _is_read_again(kind, value, after_number=after_number)
        if after_number and kind in (_SKIPPED, _REST, _DECIMAL, _HEXADECIMAL):
            text += b" "
        if kind == _OUTCOME:
            ended = value < 0
            continue  # the number, or what is in its way, comes next
        if kind == _MORE:
            continue  # whether a call gets fewer bytes: a file never does so
        if kind in (_DECIMAL, _HEXADECIMAL):
            text += (str(value) if kind == _DECIMAL else f"{value:x}").encode()
        else:
            if kind == _REST and (value < 0 or value in _SIGNED_OR_SPACE):
                text += b"-"  # a sign without a number, behind which any byte is in the way
            ended = value < 0
            text += b"" if ended else bytes([value])
        after_number = kind in (_DECIMAL, _HEXADECIMAL)
    return LaidOut(bytes(text), tuple(others), same)


def _is_read_again(kind: int, value: int, *, after_number: bool) -> bool:
    """Whether a value is sure to be drawn again from the bytes: no part of a number before it, no byte behind a sign
    without a number, and not that fewer bytes come.
    """
    if kind == _REST:
        return value >= 0 and value not in _SIGNED_OR_SPACE
    if kind == _BYTE and after_number and value >= 0:
        return not chr(value).isalnum()
    return kind != _HEXADECIMAL and not (kind == _MORE and value == -1)
