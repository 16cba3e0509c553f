"""What a walk over one iteration needs of values and conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from loopless.bounds.loop_effects import FAR
from loopless.terms import (
    TRUE,
    Condition,
    Term,
    TermTooLarge,
    Var,
    range_of,
    substitute,
    walk,
)

MAX_NODES: Final = 60
"""A value that is longer than this becomes a symbol of which nothing is known. A guess."""

def substituted(condition: Condition, values: Mapping[Var, Term]) -> Condition:
    """The condition over other values; true where it grows too large."""
    try:
        return substitute(condition, values)
    except TermTooLarge:
        return TRUE


def is_short(term: Term) -> bool:
    """Whether a value is kept as it is."""
    return all(number < MAX_NODES for number, _ in enumerate(walk(term)))


def is_truth(term: Term) -> bool:
    """Whether a value is 0 or 1 by its type."""
    low, high = range_of(term)
    return low is not None and high is not None and 0 <= low <= high <= 1


def least_end(ends: Sequence[int | None]) -> int | None:
    """The least of numbers that are all known and not large, else None."""
    known = [end for end in ends if end is not None]
    return min(known) if len(known) == len(ends) and abs(min(known)) <= FAR else None


def greatest_end(ends: Sequence[int | None]) -> int | None:
    """The greatest of numbers that are all known and not large, else None."""
    end = least_end([-end if end is not None else None for end in ends])
    return -end if end is not None else None
