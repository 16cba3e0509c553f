"""How often a loop is repeated whose counter is a floating-point number: by the arithmetic of the machine.

Between two powers of two all numbers of a type stand in equal distances, so adding a constant moves by the same amount
again and again (from the second step on, where the first is a tie between two numbers): such steps are taken together.
Other steps are taken one after the other, up to a limit.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from loopless.bounds.induction.floating.arithmetic import same
from loopless.limits.bounds import MAX_FLOATING_EXPONENT, MAX_FLOATING_STEPS
from loopless.records import dataclass


@dataclass(frozen=True, slots=True)
class FloatingExit:
    """What decides about one way out of a loop.

    ``update``: the counter behind an iteration, from that before. ``stays``: whether an iteration is completed, by
    both. ``order``: where ``update`` adds one constant, or subtracts it, and rounds, no more, and all that ``stays``
    depends on is how the counter, however rounded, stands to one number: below (-1), at (0) or above it (1).
    ``digits``: of the significands of the types in ``update``, the shortest one's length in bits.
    """

    update: Callable[[float], float]
    stays: Callable[[float, float], bool]
    order: Callable[[float, float], int] | None
    digits: int


def completed(run: FloatingExit, start: float) -> int | None:
    """How many iterations are completed from the value ``start`` on; None where they never come to an end, or that is
    not known within the limit.
    """
    count, value = 0, start
    mark, next_mark = start, 1
    for step in range(1, MAX_FLOATING_STEPS + 1):
        after = run.update(value)
        if not run.stays(value, after):
            return count
        if same(after, mark):  # what was, comes again; found as Brent does (An improved Monte Carlo …, BIT 1980)
            return None
        count, value = count + 1, after
        if step == next_mark:
            mark, next_mark = value, 2 * next_mark
        jump = _together(run, value, run.order) if run.order is not None else 0
        if jump:
            by = run.update(value) - value
            count, value = count + jump, value + jump * by
    return None


def _together(run: FloatingExit, value: float, order: Callable[[float, float], int]) -> int:
    """How many iterations in a row, all completed, move ``value`` by the same amount; 0 where that is not known, or
    they are few. ``value`` must come of ``update``: so it lies on the grid of what is rounded next.
    """
    after = run.update(value)
    exponent = math.frexp(value)[1]
    if not (
        math.isfinite(after)
        and abs(exponent) < MAX_FLOATING_EXPONENT
        and math.frexp(after)[1] == exponent
        and value * after > 0
    ):
        return 0
    by = after - value  # exact, as all differences of numbers with one exponent
    if by == 0 or run.update(after) - after != by:
        return 0
    unit = math.ldexp(1.0, exponent - run.digits)
    # What is added differs from ``by`` by half a unit at most: two units in from the ends of the range nothing is
    # rounded otherwise.
    low, high = math.ldexp(0.5, exponent) + 2 * unit, math.ldexp(1.0, exponent) - 2 * unit
    room = high - abs(value) if by * value > 0 else abs(value) - low
    times = int(room / unit) // int(abs(by) / unit) - 1 if room > 0 else 0
    if times < 3:
        return 0

    def order_at(number: int) -> int:
        """How the counter stands behind so many steps. All is exact, in units below 2^digits."""
        return order(value + number * by, value + (number + 1) * by)

    side = order_at(0)  # from which the counter moves away at most once
    if not run.stays(value, after):
        return 0
    if order_at(times - 1) == side:
        return times
    known, beyond = 0, times - 1
    while beyond - known > 1:
        middle = (known + beyond) // 2
        known, beyond = (middle, beyond) if order_at(middle) == side else (known, middle)
    return known + 1
