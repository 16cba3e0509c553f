"""How much of an answer is printed where not all of it is asked for: so much as is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

ALL: Final = "--all-cases"
"""The option by which all is printed."""
_MOST_CASES: Final = 12
_MOST_ARMS: Final = 6
"""Of more alternatives of one condition the first ones are printed. A guess, as are these numbers all."""
_LONGEST: Final = 360
_CUT_AT: Final = 280


def some_cases(number: int) -> int:
    """How many of so many cases are printed."""
    return number if number <= _MOST_CASES else _MOST_CASES - 2


def some_arms(arms: Sequence[str]) -> list[str]:
    """The alternatives of a condition that are printed, and how many more there are."""
    if len(arms) <= _MOST_ARMS:
        return list(arms)
    return [*arms[: _MOST_ARMS - 1], f"{len(arms) - _MOST_ARMS + 1} more: {ALL}"]


def cut(line: str) -> str:
    """The line, a very long one without its end; reasons stay, whose ends say where and which."""
    if len(line) <= _LONGEST or line.lstrip().startswith("why: "):
        return line
    at = max(line.rfind(sign, 0, _CUT_AT) for sign in (" && ", " || ", ", ", " + ", " ? "))
    shown = line[: at if at > _CUT_AT // 2 else _CUT_AT]
    return f"{shown} … ({len(line) - len(shown)} characters more: {ALL})"
