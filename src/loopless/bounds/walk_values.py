"""What a walk over one iteration needs of values and conditions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

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
