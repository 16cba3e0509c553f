"""Make a failing program small, one piece after the other: delta debugging by a list of smaller candidates.

It knows nothing of programs but their text; what a smaller one is, is for who asks to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

_P = TypeVar("_P")


def reduced(
    program: _P,
    candidates: Callable[[_P], Iterator[_P]],
    text_of: Callable[[_P], str],
    still_fails: Callable[[_P], bool],
    budget: int,
) -> _P:
    """The smallest program found that still fails. ``candidates``: smaller ones, the most promising first.

    ``still_fails`` is asked at most ``budget`` times, and never twice about one text. After a success the search goes
    on at the same place, and from the beginning once the end is reached.
    """
    tried = {text_of(program)}
    asked, start = 0, 0
    while True:
        size = len(text_of(program))
        for place, candidate in enumerate(candidates(program)):
            text = text_of(candidate) if place >= start else ""
            if place < start or len(text) >= size or text in tried:
                continue
            tried.add(text)
            asked += 1
            if asked > budget:
                return program
            if still_fails(candidate):
                program, start = candidate, place
                break
        else:
            if start == 0:
                return program
            start = 0
