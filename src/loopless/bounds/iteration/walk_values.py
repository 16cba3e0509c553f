"""What a walk over one iteration needs of values and conditions."""

from __future__ import annotations

from collections.abc import Mapping

from loopless import terms as t
from loopless.limits.bounds import MAX_VALUE_NODES


def substituted(condition: t.Condition, values: Mapping[t.Var, t.Term]) -> t.Condition:
    """The condition over other values; true where it grows too large."""
    try:
        return t.substitute(condition, values)
    except t.TermTooLarge:
        return t.TRUE


def is_short(term: t.Term) -> bool:
    """Whether a value is kept as it is."""
    return all(number < MAX_VALUE_NODES for number, _ in enumerate(t.walk(term)))


def is_truth(term: t.Term) -> bool:
    """Whether a value is 0 or 1 by its type."""
    low, high = t.range_of(term)
    return low is not None and high is not None and 0 <= low <= high <= 1
