"""Ranges and their arithmetic, the one domain of intervals: bounds on what operators make of numbers in given ranges.
Sound, not tight.

Most functions here are the ``range`` of an operator in :mod:`loopless.terms.operators`, or a part of one; the others
compare ranges and put them together. :mod:`loopless.terms.term_ranges` has the ranges of terms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from operator import lshift, rshift
from typing import TypeVar

from loopless.limits.terms import MAX_BOUND_BITS, MAX_BOUNDED_EXPONENT, MAX_PRODUCT_BITS
from loopless.terms import curves, powers

_Part = TypeVar("_Part")

Range = tuple[int | None, int | None]
"""Least and greatest value, both included; None where there is no bound."""

EVERYTHING: Range = (None, None)


def writable(found: Range) -> Range:
    """``found`` without ends that are too large to be written as constants."""
    low, high = (None if end is not None and end.bit_length() > MAX_BOUND_BITS else end for end in found)
    return low, high


def table(index: Range, *entries: Range) -> Range:
    """One of the entries that the index may choose."""
    values = [low for low, _ in entries if low is not None]
    lowest, highest = index
    end = len(values) - 1
    begin = min(max(lowest or 0, 0), end)
    possible = values[begin : (end if highest is None else min(max(highest, begin), end)) + 1]
    return min(possible), max(possible)


def first_in_range(u: Range, a: Range, m: Range, low: Range, high: Range) -> Range:  # noqa: ARG001
    """The first visit, or the modulus where there is none."""
    return 0, m[1]


def first_scaled(u: Range, b: Range, c: Range, m: Range, low: Range, high: Range) -> Range:  # noqa: ARG001
    """Nothing new comes after as many steps as the modulus has bits, or after a quarter of a modulus up to 2^12."""
    return -1, None if m[1] is None else max(m[1].bit_length(), 1 << 10)


def first_zero(*args: Range) -> Range:  # noqa: ARG001
    """A count, or -1."""
    return -1, None


def linear_power(count: Range, size: Range, *numbers: Range) -> Range:  # noqa: ARG001
    """Of numbers that are not negative, a map without negative coefficients makes such numbers."""
    natural = all(low is not None and low >= 0 for low, _ in numbers)
    return 0 if natural else None, None


def digits(n: Range, base: Range, factor: Range, count: Range) -> Range:  # noqa: ARG001
    """Digits are not negative."""
    return 0 if factor[0] is not None and factor[0] >= 0 else None, None


def floor_sum(count: Range, modulus: Range, step: Range, start: Range) -> Range:
    """The count of summands times what bounds each of them."""
    if count[1] is None or modulus[0] is None:
        return EVERYTHING
    last = max(count[1] - 1, 0)
    low, high = added(union((0, 0), scaled(step, last)), start)
    summand = (None if low is None else low // modulus[0], None if high is None else high // modulus[0])
    return union((0, 0), scaled(summand, max(count[1], 0)))


def divided(count: Range, start: Range, inner: Range, divisor: Range, outer: Range) -> Range:  # noqa: ARG001
    """What is divided moves one way, to where it stays; all of it is the greater, the greater the operands are."""
    by = divisor[0] or 2
    low, high = (
        None if x is None or a is None or b is None else powers.divided(_AGAIN, x, a, by, b)
        for x, a, b in zip(start, inner, outer, strict=True)
    )
    return union(start, (low, high))


_AGAIN = 1 << 62
"""More steps than any repeated division changes anything in."""


def first_positive(*args: Range) -> Range:
    """A greater coefficient makes the value greater at every k ≥ 0, and so come the first positive one earlier."""
    keys = [(base[0] or 0, degree[0] or 0) for base, degree in zip(args[::3], args[1::3], strict=True)]
    lows = {key: low for key, (low, _) in zip(keys, args[2::3], strict=True) if low is not None}
    highs = {key: high for key, (_, high) in zip(keys, args[2::3], strict=True) if high is not None}
    try:
        earliest = curves.first_of_sign(highs, 1) if len(highs) == len(keys) else 0
        if earliest < 0:
            return -1, -1
        latest = curves.first_of_sign(lows, 1) if len(lows) == len(keys) else -1
    except ValueError:
        return -1, None
    if latest >= 0:
        return earliest, latest
    lead = lows.get(max(keys), 0)
    return (earliest if lead > 0 else -1), None


def added(a: Range, b: Range) -> Range:
    """Of a sum."""
    low = None if a[0] is None or b[0] is None else a[0] + b[0]
    high = None if a[1] is None or b[1] is None else a[1] + b[1]
    return low, high


def scaled(a: Range, factor: int) -> Range:
    """Of a multiple."""
    low = None if a[0] is None else a[0] * factor
    high = None if a[1] is None else a[1] * factor
    return (low, high) if factor >= 0 else (high, low)


def moved(a: Range, by: int) -> Range:
    """Of a sum with a constant."""
    return None if a[0] is None else a[0] + by, None if a[1] is None else a[1] + by


def shared_out(a: Range, factor: int) -> Range:
    """Where a number must lie whose multiple by a factor other than 0 lies in a range."""
    low, high = a if factor > 0 else scaled(a, -1)
    size = abs(factor)
    return None if low is None else -(-low // size), None if high is None else high // size


def total(items: Iterable[tuple[_Part, int]], known: Callable[[_Part], Range]) -> Range:
    """Of a sum of parts with their coefficients, by what is ``known`` of each part."""
    low: int | None = 0
    high: int | None = 0
    for part, factor in items:
        least, most = known(part)
        if factor < 0:
            least, most = most, least
        low = None if low is None or least is None else low + factor * least
        high = None if high is None or most is None else high + factor * most
    return low, high


def union(a: Range, b: Range) -> Range:
    """Around both."""
    low = None if a[0] is None or b[0] is None else min(a[0], b[0])
    high = None if a[1] is None or b[1] is None else max(a[1], b[1])
    return low, high


def both(a: Range, b: Range) -> Range:
    """Of a value that lies in both; the low end is above the high one where there is none."""
    low = a[0] if b[0] is None else b[0] if a[0] is None else max(a[0], b[0])
    high = a[1] if b[1] is None else b[1] if a[1] is None else min(a[1], b[1])
    return low, high


def is_empty(a: Range) -> bool:
    """Whether no number lies in it."""
    return a[0] is not None and a[1] is not None and a[0] > a[1]


def are_apart(a: Range, b: Range) -> bool:
    """Whether every number of one lies below every number of the other."""
    return is_empty((b[0], a[1])) or is_empty((a[0], b[1]))


def is_within(a: Range, b: Range) -> bool:
    """Whether every number of a range that is not empty lies in another one, too."""
    above = b[0] is None or (a[0] is not None and a[0] >= b[0])
    return above and (b[1] is None or (a[1] is not None and a[1] <= b[1]))


def hull(several: Iterable[Range]) -> Range:
    """Around all of some ranges, of which there is one at least; without ends where there is none."""
    ranges = list(several)
    return reduce(union, ranges) if ranges else EVERYTHING


def near(a: Range, distance: int) -> Range:
    """Without ends that are further from 0 than that."""
    low, high = (None if end is None or abs(end) > distance else end for end in a)
    return low, high


def multiplied(a: Range, b: Range) -> Range:
    """Of a product."""
    if None not in a and None not in b:
        corners = [x * y for x in a for y in b if x is not None and y is not None]
        if max(corner.bit_length() for corner in corners) <= MAX_PRODUCT_BITS:
            return min(corners), max(corners)
        return (0, None) if min(corners) >= 0 else EVERYTHING
    if a[0] is not None and a[0] >= 0 and b[0] is not None and b[0] >= 0:
        return a[0] * b[0], None
    return EVERYTHING


def raised(result: Range, base: Range, exponent: int) -> Range:
    """Of ``result`` times the power of a base with a constant exponent ≥ 0."""
    if exponent % 2 == 0:
        base = _even_power(base)
        exponent //= 2
    elif exponent > 1:
        result = multiplied(result, base)
        base = _even_power(base)
        exponent //= 2
    for _ in range(exponent):
        result = multiplied(result, base)
    return result


def _even_power(base: Range) -> Range:
    low, high = base
    if low is None or high is None:
        return 0, None
    floor = 0 if low <= 0 <= high else min(low * low, high * high)
    return floor, max(low * low, high * high)


def least(*args: Range) -> Range:
    """Of a minimum: one operand that has a high end is enough for that of the whole."""
    lows = [low for low, _ in args if low is not None]
    highs = [high for _, high in args if high is not None]
    return min(lows) if len(lows) == len(args) else None, min(highs, default=None)


def greatest(*args: Range) -> Range:
    """Of a maximum."""
    lows = [low for low, _ in args if low is not None]
    highs = [high for _, high in args if high is not None]
    return max(lows, default=None), max(highs) if len(highs) == len(args) else None


def floor_div(a: Range, b: Range) -> Range:
    """Of a quotient that is rounded down; anything where the divisor may be 0."""
    return _divide(a, b, truncate=False)


def trunc_div(a: Range, b: Range) -> Range:
    """Of a quotient that is rounded towards 0; anything where the divisor may be 0."""
    return _divide(a, b, truncate=True)


def _divide(a: Range, b: Range, *, truncate: bool) -> Range:
    low, high = a
    if b[0] is None or b[1] is None or (b[0] <= 0 <= b[1]):
        return EVERYTHING
    corners: list[int] = []
    for divisor in (b[0], b[1]):
        for end in (low, high):
            if end is not None:
                quotient = abs(end) // abs(divisor) * (1 if (end >= 0) == (divisor > 0) else -1)
                corners.append(quotient if truncate else end // divisor)
    nonnegative = low is not None and low >= 0 and b[0] > 0
    if low is None or high is None:
        if nonnegative:
            return min(corners), None
        return EVERYTHING
    return min(corners), max(corners)


def mod(a: Range, b: Range) -> Range:
    """Of a remainder with the sign of the divisor."""
    if b[0] is None or b[1] is None:
        return EVERYTHING
    if b[0] > 0:
        if a[0] is not None and a[1] is not None and a[0] >= 0 and a[1] < b[0]:
            return a
        top = b[1] - 1
        if a[0] is not None and a[0] >= 0 and a[1] is not None:
            top = min(top, a[1])
        return 0, top
    return (min(0, b[0] + 1), max(0, b[1] - 1))


def trunc_rem(a: Range, b: Range) -> Range:
    """Of a remainder with the sign of the dividend."""
    if b[0] is None or b[1] is None:
        return EVERYTHING
    largest = max(abs(b[0]), abs(b[1])) - 1
    low = -largest if a[0] is None or a[0] < 0 else 0
    high = largest if a[1] is None or a[1] > 0 else 0
    if a[0] is not None:
        low = max(low, min(a[0], 0))
    if a[1] is not None:
        high = min(high, max(a[1], 0))
    return low, high


def bit_and(a: Range, b: Range) -> Range:
    """Of an and of bits: no larger than an operand that is not negative."""
    bounded = [high for low, high in (a, b) if low is not None and low >= 0 and high is not None]
    return (0, min(bounded)) if bounded else bits(a, b)


def bits(a: Range, b: Range) -> Range:
    """Of bits that are set in no higher place than those of the operands."""
    if a[0] is None or a[1] is None or b[0] is None or b[1] is None:
        return EVERYTHING
    widest = max(-a[0], a[1] + 1, -b[0], b[1] + 1)
    power = 1 << max(widest - 1, 0).bit_length()
    return 0 if a[0] >= 0 and b[0] >= 0 else -power, power - 1


def shl(a: Range, amount: Range) -> Range:
    """Of a shift to the left; anything of the sign of what is shifted where the amount may be negative or large."""
    return _shifted(a, amount, lshift)


def shr(a: Range, amount: Range) -> Range:
    """Of a shift to the right."""
    return _shifted(a, amount, rshift)


def _shifted(a: Range, amount: Range, shift: Callable[[int, int], int]) -> Range:
    if amount[0] is None or amount[1] is None or _is_far(amount[0], amount[1]):
        return _of_sign(a)
    low, high = a
    if low is not None and high is not None:
        corners = [shift(end, by) for end in (low, high) for by in (amount[0], amount[1])]
        return min(corners), max(corners)
    if low is None or low < 0:
        return EVERYTHING
    return min(shift(low, amount[0]), shift(low, amount[1])), None


def power(a: Range, exponent: Range) -> Range:
    """Of a power; anything of the sign of the base where the exponent may be negative or large."""
    if exponent[0] is None or exponent[1] is None or _is_far(exponent[0], exponent[1]):
        return _of_sign(a)
    if a[0] is None or a[0] < 0 or a[1] is None:
        return EVERYTHING
    low = a[0] ** exponent[0] if a[0] else int(exponent[1] == 0)
    return low, a[1] ** exponent[1] if a[1] else 1


def _is_far(least: int, most: int) -> bool:
    """Whether an amount, or an exponent, may be one that is not worked out, by either end of what may be empty."""
    return least < 0 or max(least, most) > MAX_BOUNDED_EXPONENT


def _of_sign(a: Range) -> Range:
    return (0, None) if a[0] is not None and a[0] >= 0 else EVERYTHING
