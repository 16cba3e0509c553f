"""How much of an answer is printed where not all of it is asked for: so much as is read."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Final

from loopless.limits.report import CUT_LINE, MAX_ANSWER_LINES, MAX_LINE, MIN_LOOP_LINES
from loopless.records import dataclass

ALL: Final = "--all-cases"
"""The option by which all is printed."""


@dataclass(frozen=True, slots=True)
class Extent:
    """How many cases, alternatives of one condition, and regions of undefined behaviour are printed at most."""

    cases: int
    arms: int
    regions: int


WHOLE: Final = Extent(sys.maxsize, sys.maxsize, sys.maxsize)
EXTENTS: Final = tuple(Extent(*most) for most in ((12, 6, 12), (8, 4, 6), (5, 3, 4), (4, 2, 3), (3, 1, 2), (2, 1, 1)))
"""As much as is read, then less and less, for answers of many lines. Guesses."""


def lines_for(functions: Sequence[str]) -> dict[str, int]:
    """How many lines there are for each loop of a function; ``functions``: that of each loop that is told."""
    return {
        name: max(MIN_LOOP_LINES, (MAX_ANSWER_LINES + 1) // loops - 1) for name, loops in Counter(functions).items()
    }


def chosen(lengths: Sequence[int], most: int, said: Sequence[Hashable] = ()) -> list[int]:
    """Which of parts of these lengths are printed, in their order: short conditions are those of many states, and what
    is long is not read. ``said``: what each part says; what others say comes before what says the same again.
    """
    if len(lengths) <= most:
        return list(range(len(lengths)))
    by_length = sorted(range(len(lengths)), key=lambda at: (lengths[at], at))
    if said:
        before: Counter[Hashable] = Counter()
        again = [0] * len(lengths)
        for at in by_length:
            again[at] = before[said[at]]
            before[said[at]] += 1
        by_length.sort(key=lambda at: again[at])
    return sorted(by_length[: max(1, most - max(1, most // 6))])


def more(sentence: str, left: int, word: str = "", option: str = ALL) -> list[str]:
    """That so many ``word`` are left out, and how to have them; nothing where none is."""
    return [f"{sentence.format(left, word + 's' * (left > 1))}: {option}"] if left > 0 else []


def cut(line: str) -> str:
    """The line, a very long one without its end; reasons stay, whose ends say where and which."""
    if len(line) <= MAX_LINE or line.lstrip().startswith("why: "):
        return line
    at = max(line.rfind(sign, 0, CUT_LINE) for sign in (" && ", " || ", ", ", " + ", " ? "))
    shown = line[: at if at > CUT_LINE // 2 else CUT_LINE]
    return f"{shown} … ({len(line) - len(shown)} characters more: {ALL})"
