"""Linear relations between columns of numbers, exactly: the nullspace of a matrix of samples."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

from flint import fmpz_mat


def relations(rows: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """A basis of the integer vectors v with row · v = 0 for all ``rows``, each reduced, in echelon form: each has a
    last column that the others do not use.
    """
    if not rows:
        return []
    width = len(rows[0])
    reduced, divisor, rank = fmpz_mat([list(row) for row in rows]).rref()
    pivots: list[int] = []
    for row in range(rank):
        start = pivots[-1] + 1 if pivots else 0
        pivots.append(next(column for column in range(start, width) if reduced[row, column] != 0))
    found: list[tuple[int, ...]] = []
    for free in range(width):
        if free in pivots:
            continue
        vector = [0] * width
        vector[free] = int(divisor)
        for row, pivot in enumerate(pivots):
            vector[pivot] = -int(reduced[row, free])
        common = gcd(*vector)
        found.append(tuple(value // common for value in vector))
    return found
