"""First visits and sums of quotients, against search and addition."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopless.terms.modular import first_in_range, floor_sum, sum_of_residues

ANY = st.integers(-(2**70), 2**70)


def test_first_in_range_exhaustively_for_small_moduli():
    for m in range(1, 10):
        for a in range(-m, m + 1):
            for u in range(m):
                orbit = [(u + a * t) % m for t in range(m)]
                for low in range(m):
                    for high in range(low, m):
                        hits = [t for t, value in enumerate(orbit) if low <= value <= high]
                        assert first_in_range(u, a, m, low, high) == (hits[0] if hits else None)


@given(st.integers(-300, 300), st.integers(-300, 300), st.integers(0, 255), st.integers(0, 255))
def test_first_in_range_at_8_bits(u, a, one, other):
    low, high = sorted((one, other))
    hits = (t for t in range(256) if low <= (u + a * t) % 256 <= high)
    assert first_in_range(u, a, 256, low, high) == next(hits, None)


@given(ANY, ANY, st.integers(1, 128), ANY, st.integers(0, 2**40))
def test_first_in_range_lands_inside_at_any_width(u, a, width, one, size):
    m = 1 << width
    low = one % m
    high = min(m - 1, low + size)
    found = first_in_range(u, a, m, low, high)
    if found is not None:
        assert low <= (u + a * found) % m <= high
        early = min(50, found)
        assert not any(low <= (u + a * t) % m <= high for t in range(early))
        if found:
            # least: no earlier visit in the part of the interval below or above where it lands
            landed = (u + a * found) % m
            for part in ((low, landed - 1), (landed + 1, high)):
                if part[0] <= part[1]:
                    visit = first_in_range(u, a, m, *part)
                    assert visit is None or visit > found
    else:
        divisor = gcd_with_power(a, width)
        assert (u - low) % divisor > high - low


def gcd_with_power(a: int, width: int) -> int:
    divisor = 1
    while divisor < 1 << width and a % (2 * divisor) == 0:
        divisor *= 2
    return divisor


def test_first_in_range_of_the_prototype():
    # while (u >= 10) u += 1000003, from 12345 at 32 bits: t and the value, found by native execution
    assert first_in_range(12345, 1000003, 2**32, 0, 9) == 448723952
    assert (12345 + 1000003 * 448723952) % 2**32 == 9


@given(st.integers(0, 40), st.integers(1, 300), st.integers(-500, 500), st.integers(-500, 500))
def test_floor_sum(n, m, a, b):
    assert floor_sum(n, m, a, b) == sum((a * i + b) // m for i in range(n))
    assert sum_of_residues(n, m, a, b) == sum((b + a * i) % m for i in range(n))


@given(st.integers(0, 10**18), st.integers(1, 2**64), ANY, ANY, st.integers(0, 10**18))
def test_floor_sum_splits(n, m, a, b, more):
    """The sum over n + more is that over n and, with b moved by a·n, that over more."""
    assert floor_sum(n + more, m, a, b) == floor_sum(n, m, a, b) + floor_sum(more, m, a, b + a * n)


def test_bad_arguments_are_errors():
    for arguments in ((0, 1, 8, 3, 2), (0, 1, 8, 0, 8), (0, 1, 0, 0, 0), (0, 1, 8, -1, 2)):
        with pytest.raises(ValueError, match="not an interval"):
            first_in_range(*arguments)
    for n, m in ((-1, 3), (3, 0)):
        with pytest.raises(ValueError, match="floor_sum"):
            floor_sum(n, m, 1, 1)
