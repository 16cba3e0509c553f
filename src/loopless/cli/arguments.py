"""Arguments of a call, from the command line and from JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Final

from loopless.errors import UsageError
from loopless.queries.arguments import characters

Argument = int | Sequence[int] | None
_INTEGER: Final = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F]+|\d+)")


def parse_argument(word: str) -> Argument:
    """An integer (``-3``, ``0x1F``), what a pointer points to (``[1, 2, 3]``, ``"text"``), or ``null``.

    Raises ``UsageError``.
    """
    plain = word.strip()
    if _INTEGER.fullmatch(plain):
        return integer(plain)
    if plain.lower() == "null":
        return None
    if plain.startswith("[") and plain.endswith("]"):
        inside = plain[1:-1].strip()
        return [integer(part.strip()) for part in inside.split(",")] if inside else []
    if len(plain) >= 2 and plain[0] == plain[-1] == '"':
        try:
            return characters(json.loads(plain))
        except ValueError:
            raise UsageError(f"cannot read the string {plain}") from None
    if plain.startswith("-"):
        raise UsageError(f"there is no option {plain}")
    raise UsageError(f'{plain!r} is no argument: give an integer, [1, 2, 3] or "text" for a pointer, or null')


def integer(word: str) -> int:
    """A decimal or hexadecimal integer. Raises ``UsageError``."""
    if not _INTEGER.fullmatch(word):
        raise UsageError(f"{word!r} is no integer")
    return int(word, 16 if "x" in word.lower() else 10)


def parse_line(line: str) -> tuple[list[Argument], list[int]]:
    """The arguments and the inputs of ``{"args": [...], "nondet": [...]}``. Raises ``UsageError``."""
    try:
        found = json.loads(line)
    except ValueError as error:
        raise UsageError(f"the line is not JSON: {error}") from None
    if not isinstance(found, dict) or not isinstance(found.get("args", []), list):
        raise UsageError('a line is an object {"args": [...], "nondet": [...]}')
    unknown = sorted(set(found) - {"args", "nondet"})
    if unknown:
        raise UsageError(f"there is no field {unknown[0]}; a line has args and nondet")
    return [_value(value) for value in found.get("args", [])], _integers(found.get("nondet", []), "nondet")


def _value(value: Any) -> Argument:
    if value is None or _is_integer(value):
        return value  # type: ignore[no-any-return]
    if isinstance(value, str):
        return characters(value)
    if isinstance(value, list):
        return _integers(value, "an argument")
    raise UsageError(f"{json.dumps(value)} is no argument: give an integer, a list of integers, a string or null")


def _integers(value: Any, what: str) -> list[int]:
    if not isinstance(value, list) or not all(map(_is_integer, value)):
        raise UsageError(f"{what} must be a list of integers, not {json.dumps(value)}")
    return value


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
