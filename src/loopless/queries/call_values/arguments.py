"""Arguments of a call as values: what JSON and Python say, as the interpreter takes it."""

from __future__ import annotations

import contextlib
import operator
import re
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, Final

from loopless.errors import UsageError
from loopless.patterns import pattern

if TYPE_CHECKING:
    from loopless import terms as t
    from loopless.check.interpreter.run import Argument


_NUMBER: Final = pattern(r"[+-]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)")
_POWER: Final = pattern(r"(-?)2\^(\d{1,3})(?:\s*([+-])\s*(\d+))?")
_NAMED: Final = {
    f"{prefix}{end}": value
    for signed, bits in (("SCHAR", 8), ("SHRT", 16), ("INT", 32), ("LLONG", 64))
    for prefix, end, value in (
        (signed, "_MIN", -(1 << (bits - 1))),
        (signed, "_MAX", (1 << (bits - 1)) - 1),
        (f"U{signed.removeprefix('S') if bits == 8 else signed}", "_MAX", (1 << bits) - 1),
    )
}
"""The limits of types that are the same in every data model."""


def number_of(word: str) -> int | None:
    """A number as answers and C write it: decimal, hexadecimal, ``2^31 - 1``, ``INT_MAX``; None for what is none."""
    plain = word.strip()
    if _NUMBER.fullmatch(plain):
        return int(plain, 16 if "x" in plain.lower() else 2 if "b" in plain.lower() else 10)
    if plain in _NAMED:
        return _NAMED[plain]
    power = _POWER.fullmatch(plain)
    if power is None:
        return None
    value = 1 << int(power[2])
    return (-value if power[1] else value) + (int(power[3] + power[4]) if power[3] else 0)


class Characters(tuple[int, ...]):
    """The bytes of a C string, its terminator included, as values of a signed char: of another type of characters
    they are the values with the same bits.
    """

    __slots__ = ()

    def of(self, type: t.IntType | None) -> list[int]:
        """The characters as values of a type of as many bits; of any other as they are."""
        return [type.wrap(code) for code in self] if type is not None and type.width == 8 else list(self)


def characters(text: str) -> Characters:
    """A C string; what :func:`unquoted` gives, too."""
    return Characters(byte - 256 if byte > 127 else byte for byte in (*text.encode(errors="surrogateescape"), 0))


_QUOTED: Final = pattern(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_ESCAPED: Final = pattern(r"\\(?:x([0-9a-fA-F]{1,2})|([0-7]{1,3})|u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "a": "\a", "v": "\v", "e": "\x1b"}


def unquoted(word: str) -> str:
    r"""What a string in quotes means, with the escapes of C and those of JSON. A byte that is written as a number,
    ``\xff``, stands for itself. Raises ValueError for what is no such string.
    """
    if not _QUOTED.fullmatch(word):
        raise ValueError(word)

    def meant(found: re.Match[str]) -> str:
        if found[4] is not None:
            if found[4] not in _ESCAPES and found[4] not in "\\\"'/?":
                raise ValueError(found[0])
            return _ESCAPES.get(found[4], found[4])
        if found[3] is not None:
            return chr(int(found[3], 16))
        code = int(found[1], 16) if found[1] else int(found[2], 8)
        if code > 255:
            raise ValueError(found[0])
        return bytes([code]).decode(errors="surrogateescape")

    return _paired(_ESCAPED.sub(meant, word[1:-1]))


def _paired(text: str) -> str:
    """The text where two escapes make one character."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def argument_of(value: Any, name: str) -> Argument:
    """An argument from a Python value: an integer, for a pointer what it points to as a string, integers, or the bytes
    of the memory, and None for the null pointer. Integers of other libraries will do.

    ``name`` is for the error. Raises ``UsageError``.
    """
    if value is None or isinstance(value, bytes | bytearray):
        return None if value is None else bytes(value)
    if isinstance(value, str):
        return characters(value)
    with contextlib.suppress(TypeError):  # an array has the method, too
        return int(operator.index(value))
    if isinstance(value, Iterable) and not isinstance(value, Mapping | AbstractSet):
        return [integer_of(part, f"what {name} points to") for part in value]
    raise UsageError(
        f"{value!r} is no value for {name}: give an integer, and for a pointer a list of integers, "
        "a string, bytes or None"
    )


def integer_of(value: Any, name: str) -> int:
    """An integer from a Python value. Raises ``UsageError``."""
    try:
        return int(operator.index(value))
    except TypeError:
        raise UsageError(f"{name} must be an integer, not {value!r}") from None
