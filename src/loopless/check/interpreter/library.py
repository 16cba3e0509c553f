"""What the common functions of the C library do in interpreted runs.

A result of which the standard fixes the sign only (``strcmp``) or the truth only (``isdigit``) is one permitted choice:
the difference of the bytes, and 1. The locale is "C".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from loopless import terms as t
from loopless.check.interpreter.memory import ActivationMemory
from loopless.check.interpreter.values import MissingValue, Stop
from loopless.limits.check import MAX_STRING_LENGTH

Pointer = tuple[int, int]


def _text(frame: ActivationMemory, at: Pointer, limit: int = MAX_STRING_LENGTH) -> bytes:
    """The bytes of a string up to its end, or ``limit`` of them."""
    number, offset = at
    found = bytearray()
    while len(found) < limit:
        byte = frame.load(number, offset + len(found), 1, False)
        if byte == 0:
            return bytes(found)
        found.append(byte)
    if limit == MAX_STRING_LENGTH:
        raise Stop("unknown", "a string is longer than the interpreter reads")
    return bytes(found)


def _difference(frame: ActivationMemory, a: Pointer, b: Pointer, limit: int, *, text: bool) -> int:
    """The difference of the first two bytes that differ; only the bytes up to there are read."""
    for at in range(limit):
        left = frame.load(a[0], a[1] + at, 1, False)
        right = frame.load(b[0], b[1] + at, 1, False)
        if left != right:
            return left - right
        if text and left == 0:
            return 0
    if text and limit == MAX_STRING_LENGTH:
        raise Stop("unknown", "a string is longer than the interpreter reads")
    return 0


def _find(frame: ActivationMemory, at: Pointer, byte: int, limit: int, *, text: bool) -> Pointer:
    for position in range(limit):
        found = frame.load(at[0], at[1] + position, 1, False)
        if found == byte & 255:
            return at[0], at[1] + position
        if text and found == 0:
            return 0, 0
    if text:
        raise Stop("unknown", "a string is longer than the interpreter reads")
    return 0, 0


def _find_last(frame: ActivationMemory, at: Pointer, byte: int) -> Pointer:
    """strrchr: the end counts as a byte of the string."""
    position = (_text(frame, at) + b"\0").rfind(byte & 255)
    return (at[0], at[1] + position) if position >= 0 else (0, 0)


def _span(frame: ActivationMemory, at: Pointer, among: Pointer, *, inside: bool) -> int:
    """How many bytes at the beginning of a string are ``inside`` of those of another, or outside."""
    members = frozenset(_text(frame, among))
    for position in range(MAX_STRING_LENGTH):
        byte = frame.load(at[0], at[1] + position, 1, False)
        if byte == 0 or (byte in members) != inside:
            return position
    raise Stop("unknown", "a string is longer than the interpreter reads")


def _find_among(frame: ActivationMemory, at: Pointer, among: Pointer) -> Pointer:
    position = _span(frame, at, among, inside=False)
    return (at[0], at[1] + position) if frame.load(at[0], at[1] + position, 1, False) else (0, 0)


def _absolute(width: int) -> Callable[[ActivationMemory, int], int]:
    def absolute(frame: ActivationMemory, value: int) -> int:
        if value == -1 << (width - 1) and not frame.mathematical:
            raise Stop("undefined", "signed overflow")
        return abs(value)

    return absolute


def _class(test: Callable[[str], bool]) -> Callable[[ActivationMemory, int], int]:
    members = frozenset(code for code in range(128) if test(chr(code)))

    def member(_: ActivationMemory, code: int) -> int:
        if not -1 <= code <= 255:
            raise Stop("undefined", f"a character function is given {code}")
        return int(code in members)

    return member


def _free(frame: ActivationMemory, at: Pointer) -> None:
    storage, offset = frame.pointer(*at)
    if storage is None:
        return
    if storage.dead or offset != 0 or storage.name != "allocated memory":
        raise Stop("undefined", f"frees {storage.name}, which was not allocated, or not any more")
    frame.world.end(storage, "which was freed")


def _copy_text(
    frame: ActivationMemory, to: Pointer, source: Pointer, *, limit: int = MAX_STRING_LENGTH, behind: int = 0
) -> Pointer:
    """Like ``strcpy``: the text and its end go ``behind`` bytes after ``to``."""
    text = _text(frame, source, limit) + b"\0"
    _apart(frame, (to[0], to[1] + behind), len(text), source, len(text))
    for at, byte in enumerate(text):
        frame.store(to[0], to[1] + behind + at, 1, byte, False)
    return to


def _copy_padded(frame: ActivationMemory, to: Pointer, source: Pointer, limit: int) -> Pointer:
    """strncpy: at most ``limit`` bytes, filled up with zeros."""
    text = _text(frame, source, min(limit, MAX_STRING_LENGTH - 1))
    read = min(len(text) + 1, limit)
    _apart(frame, to, read, source, read)
    for at in range(limit):
        frame.store(to[0], to[1] + at, 1, text[at] if at < len(text) else 0, False)
    return to


def _copied(frame: ActivationMemory, to: Pointer, source: Pointer, length: int) -> Pointer:
    frame.copy(to, source, length, True)
    return to


def _moved(frame: ActivationMemory, to: Pointer, source: Pointer, length: int) -> Pointer:
    frame.copy(to, source, length)
    return to


def _apart(frame: ActivationMemory, to: Pointer, written: int, source: Pointer, read: int) -> None:
    """End the run where the bytes written and those read overlap, which only ``memmove`` allows."""
    target, start = frame.pointer(*to)
    held, at = frame.pointer(*source)
    if held is target and written and read and start < at + read and at < start + written:
        raise Stop("undefined", "overlap")


def _behind(at: Pointer, length: int) -> Pointer:
    return at[0], at[1] + length


def _filled(frame: ActivationMemory, to: Pointer, byte: int, length: int) -> Pointer:
    frame.fill(*to, byte, length)
    return to


_LETTERS = "abcdefghijklmnopqrstuvwxyz"

_FUNCTIONS: Mapping[str, tuple[str, Callable[..., Any]]] = {
    "abs": ("i", _absolute(32)),
    "labs": ("l", lambda frame, value: _absolute(8 * frame.pointer_size)(frame, value)),
    "llabs": ("q", _absolute(64)),
    "strlen": ("p", lambda frame, at: len(_text(frame, at))),
    "strnlen": ("pn", lambda frame, at, limit: len(_text(frame, at, min(limit, MAX_STRING_LENGTH - 1)))),
    "strcmp": ("pp", lambda frame, a, b: _difference(frame, a, b, MAX_STRING_LENGTH, text=True)),
    "strncmp": ("ppn", lambda frame, a, b, limit: _difference(frame, a, b, limit, text=True)),
    "memcmp": ("ppn", lambda frame, a, b, limit: _difference(frame, a, b, limit, text=False)),
    "bcmp": ("ppn", lambda frame, a, b, limit: _difference(frame, a, b, limit, text=False)),
    "strchr": ("pi", lambda frame, at, byte: _find(frame, at, byte, MAX_STRING_LENGTH, text=True)),
    "strrchr": ("pi", _find_last),
    "memchr": ("pin", lambda frame, at, byte, limit: _find(frame, at, byte, limit, text=False)),
    "strspn": ("pp", lambda frame, at, among: _span(frame, at, among, inside=True)),
    "strcspn": ("pp", lambda frame, at, among: _span(frame, at, among, inside=False)),
    "strpbrk": ("pp", _find_among),
    "isdigit": ("i", _class(lambda c: c in "0123456789")),
    "isxdigit": ("i", _class(lambda c: c in "0123456789abcdefABCDEF")),
    "isalpha": ("i", _class(lambda c: c.lower() in _LETTERS)),
    "isalnum": ("i", _class(lambda c: c.lower() in _LETTERS or c in "0123456789")),
    "isupper": ("i", _class(lambda c: c in _LETTERS.upper())),
    "islower": ("i", _class(lambda c: c in _LETTERS)),
    "isspace": ("i", _class(lambda c: c in " \t\n\v\f\r")),
    "isblank": ("i", _class(lambda c: c in " \t")),
    "iscntrl": ("i", _class(lambda c: ord(c) < 32 or ord(c) == 127)),
    "isprint": ("i", _class(lambda c: 32 <= ord(c) < 127)),
    "isgraph": ("i", _class(lambda c: 32 < ord(c) < 127)),
    "ispunct": ("i", _class(lambda c: 32 < ord(c) < 127 and c.lower() not in _LETTERS and c not in "0123456789")),
    "toupper": ("i", lambda _, code: code - 32 if 97 <= code <= 122 else code),
    "tolower": ("i", lambda _, code: code + 32 if 65 <= code <= 90 else code),
    "free": ("p", _free),
    "strcpy": ("pp", _copy_text),
    "stpcpy": ("pp", lambda frame, to, source: _behind(_copy_text(frame, to, source), len(_text(frame, to)))),
    "strcat": ("pp", lambda frame, to, source: _copy_text(frame, to, source, behind=len(_text(frame, to)))),
    "strncpy": ("ppn", _copy_padded),
    "memcpy": ("ppn", _copied),
    "mempcpy": ("ppn", lambda frame, to, source, length: _behind(_copied(frame, to, source, length), length)),
    "memmove": ("ppn", _moved),
    "memset": ("pin", _filled),
}
"""By name: the kinds of the arguments (``i`` int, ``l`` long, ``q`` long long, ``n`` size_t, ``p`` pointer) and what
the function does with the caller's frame and the arguments, pointers in the caller's numbers.
"""


def library_call(name: str, frame: ActivationMemory, arguments: tuple[Any, ...]) -> Any:
    """The result of a library function; None for one without result. Use :func:`is_library` first."""
    kinds, function = _FUNCTIONS[name]
    if len(arguments) != len(kinds):
        raise Stop("unknown", f"{name} is called with {len(arguments)} arguments")
    widths = {"i": 32, "q": 64, "l": 8 * frame.pointer_size, "n": 8 * frame.pointer_size}
    read: list[Any] = []
    for kind, argument in zip(kinds, arguments, strict=True):
        if isinstance(argument, MissingValue):
            argument.refuse()
        if (kind == "p") != isinstance(argument, tuple):
            raise Stop("unknown", f"{name} is called with an argument of another type")
        if kind == "p":
            read.append(argument)
            continue
        # The caller may read the bits as signed or not; the function has its own reading.
        type = t.IntType(widths[kind], kind != "n")
        if frame.mathematical and not type.holds(argument):
            raise Stop("unknown", f"{name} is called with {argument}, which is outside of its type")
        read.append(type.wrap(argument))
    return function(frame, *read)


def is_library(name: str) -> bool:
    """Whether :func:`library_call` knows the function."""
    return name in _FUNCTIONS
