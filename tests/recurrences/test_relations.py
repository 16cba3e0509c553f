"""Linear relations between columns: each is one, there are as many as linear algebra says, and known ones are found."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise
from math import gcd

import pytest

from loopless.recurrences.relations import relations


def rank(rows):
    """By elimination over the rationals."""
    left = [[Fraction(value) for value in row] for row in rows]
    found = 0
    for column in range(len(left[0])):
        pivot = next((row for row in left[found:] if row[column]), None)
        if pivot is None:
            continue
        left.remove(pivot)
        left.insert(found, pivot)
        for row in left[found + 1 :]:
            factor = row[column] / pivot[column]
            row[:] = [a - factor * b for a, b in zip(row, pivot, strict=True)]
        found += 1
    return found


@pytest.mark.parametrize("seed", range(40))
def test_the_relations_are_a_basis_in_lowest_terms(seed):
    chosen = random.Random(seed)
    width, count, inner = chosen.randint(1, 7), chosen.randint(1, 9), chosen.randint(1, 5)
    left = [[chosen.randint(-4, 4) for _ in range(inner)] for _ in range(count)]
    right = [[chosen.choice((0, 1, -3, 10**20)) for _ in range(width)] for _ in range(inner)]
    rows = [[sum(row[k] * right[k][c] for k in range(inner)) for c in range(width)] for row in left]
    found = relations(rows)
    assert len(found) == width - rank(rows)
    assert all(sum(a * b for a, b in zip(row, vector, strict=True)) == 0 for row in rows for vector in found)
    assert all(gcd(*vector) == 1 for vector in found)
    last = [max(index for index, value in enumerate(vector) if value) for vector in found]
    assert all(a < b for a, b in pairwise(last))
    assert all(other[at] == 0 for at, vector in zip(last, found, strict=True) for other in found if other is not vector)


def test_the_equation_of_triangular_numbers():
    """2s = i * (i + 1): over the monomials s, i, i * i."""
    rows = [[i * (i + 1) // 2, i, i * i] for i in range(5)]
    (vector,) = relations(rows)
    assert vector in ((-2, 1, 1), (2, -1, -1))


def test_without_rows_nothing_is_said():
    assert relations([]) == []
    assert relations([[0, 0]]) == [(1, 0), (0, 1)]
