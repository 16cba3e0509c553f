"""Exponential polynomials Σ c·base^k·k^degree in k ≥ 0 with integers c and base ≥ 1: their signs, exactly.

Rolle's argument on integers: f(k)/b^k rises where g(k) = f(k+1) - b·f(k) is positive and falls where g is negative,
and g is simpler than f if b is a base of f. So the signs of g, found the same way, divide the k into stretches in which
the sign of f changes in one direction only. Each change is found by bisection, in the last stretch by doubling first.
The time is logarithmic in where the signs change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import comb

from loopless.limits.terms import MAX_CURVE_BITS

Curve = Mapping[tuple[int, int], int]
"""The coefficients by (base, degree)."""

Stretch = tuple[int, int | None, int]
"""First k, the k behind the last (None: no end), and the sign -1, 0 or 1 of all values between."""


def value(curve: Curve, k: int) -> int:
    """The value at ``k`` ≥ 0. Raises ValueError for a value of more than :data:`MAX_CURVE_BITS` bits."""
    total = 0
    for (base, degree), coefficient in curve.items():
        if base > 1 and k * base.bit_length() > MAX_CURVE_BITS:
            raise ValueError(f"a power of {base} has more than {MAX_CURVE_BITS} bits")
        total += coefficient * base**k * k**degree
    return total


def eventual_sign(curve: Curve) -> int:
    """The sign of all values from some k on: that of the coefficient that grows fastest."""
    moving = {key: c for key, c in curve.items() if c}
    return _sign(moving[max(moving)]) if moving else 0


def stretches(curve: Curve) -> Iterator[Stretch]:
    """The longest stretches of k with values of one sign, in order; the last one has no end. Raises ValueError."""
    pending: Stretch | None = None
    for start, end, sign in _pieces({key: c for key, c in curve.items() if c}):
        if pending is not None and pending[2] == sign:
            pending = (pending[0], end, sign)
            continue
        if pending is not None:
            yield pending
        pending = (start, end, sign)
    assert pending is not None
    yield pending


def first_of_sign(curve: Curve, sign: int) -> int:
    """The least k ≥ 0 at which the value has the sign -1, 0 or 1; -1 if there is none. Raises ValueError."""
    return next((start for start, _, found in stretches(curve) if found == sign), -1)


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)


def _pieces(curve: dict[tuple[int, int], int]) -> Iterator[Stretch]:
    if not curve:
        yield 0, None, 0
        return
    if len(curve) == 1:
        ((_, degree), coefficient) = next(iter(curve.items()))
        if degree:
            yield 0, 1, 0
        yield (1 if degree else 0), None, _sign(coefficient)
        return
    base = min(base for base, _ in curve)
    position = 0  # what is before it has been told
    for start, end, direction in stretches(_change(curve, base)):
        # f(k)/base^k moves in one direction for start ≤ k ≤ end
        for piece in _monotone(curve, max(position, start), end, direction):
            yield piece
            position = -1 if piece[1] is None else piece[1]


def _change(curve: dict[tuple[int, int], int], base: int) -> dict[tuple[int, int], int]:
    """f(k+1) - base·f(k)."""
    total: dict[tuple[int, int], int] = {}
    for (own, degree), coefficient in curve.items():
        for lower in range(degree + 1):
            factor = own * comb(degree, lower) - (base if lower == degree else 0)
            total[own, lower] = total.get((own, lower), 0) + coefficient * factor
    return total


def _monotone(curve: Curve, start: int, end: int | None, direction: int) -> Iterator[Stretch]:
    """The signs for start ≤ k ≤ end, where they change in one ``direction`` only (0: not at all)."""
    last = None if end is None else end + 1
    if last is not None and start >= last:
        return
    begin = _sign(value(curve, start))
    if direction == 0:
        yield start, last, begin
        return
    here, sign = start, begin
    while True:
        upper = end if end is not None else _beyond(curve, here, sign)
        if upper is None or _sign(value(curve, upper)) == sign:
            yield here, last, sign
            return
        changed = _leaving(curve, sign, here, upper)
        yield here, changed, sign
        here, sign = changed, _sign(value(curve, changed))


def _beyond(curve: Curve, start: int, sign: int) -> int | None:
    """Some k > start of another sign, by doubling; None if the sign stays."""
    if eventual_sign(curve) == sign:
        return None
    step = 1
    while _sign(value(curve, start + step)) == sign:
        step *= 2
    return start + step


def _leaving(curve: Curve, sign: int, low: int, high: int) -> int:
    """The least k of another sign: ``low`` has the ``sign``, ``high`` has not, and once it is lost it stays lost."""
    while high - low > 1:
        middle = (low + high) // 2
        if _sign(value(curve, middle)) != sign:
            high = middle
        else:
            low = middle
    return high
