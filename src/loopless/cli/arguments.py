"""Arguments of a call, from the command line and from JSON."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from loopless.errors import UsageError
from loopless.patterns import pattern
from loopless.queries.call_values.arguments import number_of, unquoted

if TYPE_CHECKING:
    from loopless.check.interpreter.run import Argument
    from loopless.queries.evaluation.calls import Calls


def arguments_of_words(words: Sequence[str], calls: Calls, function: str) -> list[Argument]:
    """The arguments that words on the command line are: in the order of the parameters, or by their names (``n=5``).

    Raises ``UsageError`` for words that are none, for those of another type, and if there are too many or too few.
    """
    takes = f"{function} takes {calls.takes}"
    by_name = {declared.formal.name: declared for declared in calls.declared}
    given: dict[str, list[Argument]] = {}
    places = iter(calls.declared)
    for word in words:
        if word.startswith("-") and number_of(word) is None and not re.match(r"-[\d.]", word):
            raise UsageError(f"there is no option {word}")
        name, sign, value = word.partition("=")
        if sign and name.strip() in by_name:
            declared, text = by_name[name.strip()], value
        else:
            free = next((other for other in places if other.formal.name not in given), None)
            if free is None:
                raise UsageError(f"{takes}, not {len(words)}")
            if sign and re.fullmatch(r"[A-Za-z_][\w.]*", name) and not free.formal.is_text:
                raise UsageError(f"{function} has no parameter {name}: {takes}")
            declared, text = free, word
        if declared.formal.name in given:
            raise UsageError(f"{declared.formal.name} is given twice: {takes}")
        given[declared.formal.name] = declared.arguments(parse(text))
    missing = [name for name in by_name if name not in given]
    if missing:
        raise UsageError(f"there is no value for {', '.join(missing)}: {takes}, not {len(words)}")
    return [part for name in by_name for part in given[name]]


_TOKEN: Final = pattern(r"""\s*([][{}:,]|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.[0-9a-fA-F]*)'|[^][{}:,"'\s][^][{}:,"]*)""")


def parse(word: str) -> Any:
    """A number (``-3``, ``0x1F``, ``INT_MAX``), a string or character of C, ``[1, 2]``, ``{x: 1, y: 2}``, or a plain
    word. Raises ``UsageError``.
    """
    from loopless.queries.call_values.argument_types import Plain

    plain = word.strip()
    if not plain or plain[0] not in "[{\"'":
        return _atom(plain) if plain else Plain(word)
    tokens, at = [], 0
    while at < len(plain):
        found = _TOKEN.match(plain, at)
        if found is None:
            break
        tokens.append(found[1])
        at = found.end()
    value, rest = None, -1
    with contextlib.suppress(IndexError, ValueError):
        value, rest = _value(tokens, 0)
    if at < len(plain) or rest != len(tokens):
        if plain[0] == '"':
            raise UsageError(f"cannot read the string {plain}")
        raise UsageError(f"cannot read {plain}: give [1, 2, 3], {{x: 1, y: 2}}, \"text\" or 'c'")
    return value


def _value(tokens: Sequence[str], at: int) -> tuple[Any, int]:
    """The value that begins at a token, and where it ends. Raises ``ValueError``, ``IndexError``."""
    first = tokens[at]
    if first == "[":
        return _listed(tokens, at + 1)
    if first == "{":
        return _members(tokens, at + 1)
    if first in "]}:,":
        raise ValueError(first)
    found = _atom(first)
    if isinstance(found, str) and not first.startswith('"') and " " in first.strip():
        raise ValueError(first)
    return found, at + 1


def _listed(tokens: Sequence[str], at: int) -> tuple[list[Any], int]:
    found: list[Any] = []
    while tokens[at] != "]":
        part, at = _value(tokens, at)
        found.append(part)
        if tokens[at] == ",":
            at += 1
        elif tokens[at] != "]":
            raise ValueError(tokens[at])
    return found, at + 1


def _members(tokens: Sequence[str], at: int) -> tuple[dict[str, Any], int]:
    found: dict[str, Any] = {}
    while tokens[at] != "}":
        name, colon = tokens[at].strip().strip('"').removeprefix("."), tokens[at + 1]
        if colon != ":" or name in found:
            raise ValueError(colon)
        found[name], at = _value(tokens, at + 2)
        if tokens[at] == ",":
            at += 1
        elif tokens[at] != "}":
            raise ValueError(tokens[at])
    return found, at + 1


_ESCAPES: Final = {"n": 10, "t": 9, "r": 13, "0": 0, "a": 7, "b": 8, "f": 12, "v": 11, "\\": 92, "'": 39, '"': 34}


def _atom(token: str) -> Any:
    """A number, a character, a string, null, or a plain word. Raises ``ValueError``."""
    from loopless.queries.call_values.argument_types import Plain

    token = token.strip()
    number = number_of(token)
    if number is not None:
        return number
    if token.startswith('"'):
        return unquoted(token)
    if len(token) > 2 and token[0] == token[-1] == "'":
        return _character(token[1:-1])
    try:
        return float(token) if re.match(r"[+-]?[\d.]", token) else Plain(token)
    except ValueError:
        return Plain(token)


def _character(inside: str) -> int:
    """The code of a character between quotes. Raises ``ValueError``."""
    if inside.startswith("\\x"):
        code = int(f"0{inside[1:]}", 0)
    elif inside.startswith("\\"):
        if inside[1:] not in _ESCAPES:
            raise ValueError(inside)
        code = _ESCAPES[inside[1:]]
    else:
        encoded = inside.encode()
        if len(encoded) != 1:
            raise ValueError(inside)
        code = encoded[0]
    return code - 256 if code > 127 else code


def integer(word: str) -> int:
    """An integer as answers and C write it. Raises ``UsageError``."""
    found = number_of(word)
    if found is None:
        raise UsageError(f"{word!r} is no integer")
    return found


def parse_line(line: str, calls: Calls) -> tuple[list[Argument], list[int]]:
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
    values, inputs = found.get("args", []), _integers(found.get("nondet", []), "nondet")
    calls.check_count(len(values))
    if calls.refused is not None:
        return [], inputs
    if len(values) != len(calls.declared):
        raise UsageError(f"the function takes {calls.takes}, not {len(values)}")
    pairs = zip(calls.declared, values, strict=True)
    return [part for declared, value in pairs for part in declared.arguments(_checked(value))], inputs


def _checked(value: Any) -> Any:
    """A value of JSON of which an argument can be made. Raises ``UsageError``."""
    if isinstance(value, bool):
        raise UsageError(f"{json.dumps(value)} is no argument: give an integer, a list, a string, an object or null")
    for part in value if isinstance(value, list) else value.values() if isinstance(value, dict) else ():
        _checked(part)
    return value


def _integers(value: Any, what: str) -> list[int]:
    if not isinstance(value, list) or not all(map(_is_integer, value)):
        raise UsageError(f"{what} must be a list of integers, not {json.dumps(value)}")
    return value


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
