"""What a walk over one iteration needs of values and conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from loopless.terms import (
    TRUE,
    Compare,
    Condition,
    Op,
    Term,
    TermTooLarge,
    Var,
    not_zero,
    range_of,
    substitute,
    walk,
)

MAX_NODES: Final = 60
"""A value that is longer than this becomes a symbol of which nothing is known. A guess."""
FAR: Final = 1 << 20
"""Values that differ by more than this have nothing to do with each other. A guess."""


def substituted(condition: Condition, values: Mapping[Var, Term]) -> Condition:
    """The condition over other values; true where it grows too large."""
    try:
        return substitute(condition, values)
    except TermTooLarge:
        return TRUE


def factors(condition: Compare) -> list[Compare]:
    """What cannot be 0 either where some bits, or a quotient, are not."""
    atom = condition.term
    if condition.relation != "ne" or not isinstance(atom, Op):
        return []
    parts = {"bit_and": atom.args, "shr": atom.args[:1], "floor_div": atom.args[:1], "trunc_div": atom.args[:1]}
    return [claim for part in parts.get(atom.op, ()) if isinstance(claim := not_zero(part), Compare)]


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
