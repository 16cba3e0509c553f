"""The isl context of this process and the budget of operations that every isl call runs under.

isl counts its own elementary operations (allocations, for the most part). The count depends on the question only, never
on the clock, so the same question runs out of budget at the same place on every machine. What an operation takes
depends on the size of the sets: measured were 9 million a second on sets with a few divisions, and 25 thousand a second
on a union of 80 parts with a division each. A budget bounds the work, not the seconds; the fence in time is a child
process.

There is one context per process. It must be used by one thread at a time: parallel work runs in worker processes, to
which regions travel by pickling.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Final, ParamSpec, TypeVar

import islpy as isl

from loopless.errors import LimitError
from loopless.limits.logic import CHEAP_DIVISIONS, DEFAULT_OPERATIONS
from loopless.records import dataclass

_UNREACHED: Final = 1 << 60
"""More operations than any process comes to."""

_P = ParamSpec("_P")
_R = TypeVar("_R")
_MESSAGE = "maximal number of operations exceeded"


class BudgetExceeded(LimitError):
    """A question to the logic needed more operations than its budget allows; smaller questions still work."""


@dataclass(slots=True)
class _Block:
    """A budget in force: what it was ``granted``, and what was ``left`` of that when isl's count last began anew.

    Below zero where :func:`explicit` went on past the limit.
    """

    granted: int
    left: int


class _Meter:
    """Divides isl's one counter among nested budgets.

    isl has no way to read its counter, but answers whether it has reached a limit: the count is found by trying
    limits, to within a quarter and never too low.
    """

    def __init__(self) -> None:
        self.context = isl.Context()
        self.blocks: list[_Block] = []
        self.context.set_max_operations(DEFAULT_OPERATIONS)

    def used(self, limit: int) -> int:
        """Operations since the last reset, rounded up by at most a quarter (no less than 16 are told), ``limit`` where
        it was reached.
        """
        if limit <= 0:
            return 0
        low, high = 0, 64
        while not self.below(min(high, limit)):
            if high >= limit:
                return limit
            low, high = high, high * 2
        high = min(high, limit)
        for _ in range(2):
            middle = (low + high) // 2
            if self.below(middle):
                high = middle
            else:
                low = middle
        return high

    def limit(self) -> int:
        """How many operations are allowed from the last reset on."""
        return max(self.blocks[-1].left, 1) if self.blocks else DEFAULT_OPERATIONS

    def below(self, limit: int) -> bool:
        """Whether fewer operations than ``limit`` have been spent since the last reset; ``limit`` is in force then."""
        self.context.set_max_operations(max(limit, 1))
        try:
            # A number too large for isl's cache of small ones: it has to be allocated.
            isl.Val("1000003", self.context)
        except isl.Error:
            return False
        return True

    def push(self, operations: int) -> int:
        """Begin a block; it is granted no more than the one around it has left."""
        if self.blocks:
            outer = self.blocks[-1]
            outer.left -= self.used(outer.left)
            operations = min(operations, max(outer.left, 0))
        self._start(operations)
        self.blocks.append(_Block(operations, operations))
        return operations

    def pop(self) -> None:
        """End a block: what it was granted and has not left is spent, also what blocks in it and charges took."""
        block = self.blocks.pop()
        left = min(block.left, 0)  # where an exception comes into the count
        try:
            left = block.left - self.used(block.left)
        finally:
            if self.blocks:
                self.blocks[-1].left -= block.granted - left
                self._start(self.blocks[-1].left)
            else:
                self._start(DEFAULT_OPERATIONS)

    def charge(self, operations: int) -> None:
        """Take ``operations`` from the block in force, all that is left where these are more."""
        if not self.blocks:
            return
        block = self.blocks[-1]
        if operations >= block.left or not self.below(block.left - operations):
            block.left = min(block.left, 0)
            self._start(block.left)
            raise BudgetExceeded("the logic's operation budget is used up")
        block.left -= operations

    def overdrawn(self) -> None:
        """Count what was spent past the limit: it is missing in the blocks around."""
        if self.blocks and not self.below(self.limit()):
            block = self.blocks[-1]
            block.left -= self.used(_UNREACHED)
            self._start(block.left)

    def _start(self, operations: int) -> None:
        self.context.reset_operations()
        self.context.set_max_operations(max(operations, 1))
        if operations <= 0:
            self.below(1)  # isl knows no limit of none: the one operation is spent here


_meter = _Meter()
context = _meter.context
"""The process's isl context."""


@contextmanager
def budget(operations: int) -> Iterator[int]:
    """Let the logic spend at most ``operations`` isl operations in the block, in all its calls together.

    Budgets nest: an inner one never gives more than the outer one has left, and what it spends, with all budgets in it,
    is charged to the outer one; the block is told what it was given, 0 where nothing was left. Inside, a call beyond
    the budget raises :class:`BudgetExceeded`, and so do further calls that are not free. After the block everything
    works as before. Where no budget is in force each call has :data:`DEFAULT_OPERATIONS` of its own. What a child
    process spends is charged to no budget of this one.
    """
    if operations < 1:
        raise ValueError("a budget has at least one operation")
    depth = len(_meter.blocks)
    try:
        yield _meter.push(operations)
    finally:
        # An exception from outside (a deadline) may come between any two steps: what it left behind goes as well.
        while len(_meter.blocks) > depth:
            _meter.pop()


@contextmanager
def unlimited_for_tests() -> Iterator[None]:
    """No limit at all in the block. Only for tests of the fences outside this process."""
    saved = _meter.blocks
    _meter.blocks = [_Block(_UNREACHED, _UNREACHED)]
    context.reset_operations()
    context.set_max_operations(0)
    try:
        yield
    finally:
        _meter.blocks = saved
        context.reset_operations()
        context.set_max_operations(_meter.limit())


def explicit(points: isl.Set) -> isl.Set:
    """The same points, all quotients in them by their definitions.

    isl crashes where its operations run out in the middle of that: they do here only before and after it. What it takes
    beyond the budget in force is charged to the budgets around it.
    """
    limit = _meter.limit()
    if not _meter.below(limit):
        raise BudgetExceeded("the logic's operation budget is used up")
    context.set_max_operations(0)
    try:
        return points.compute_divs()
    finally:
        context.set_max_operations(limit)
        _meter.overdrawn()


def charge(operations: int) -> None:
    """Take operations from the budget in force, for work that isl does not count. Raises :class:`BudgetExceeded`."""
    _meter.charge(operations)


def charge_for(points: isl.Set) -> None:
    """Charge the budget in force for what isl does not count: a part with many quotients is dealt with in time that
    doubles with each of them (0.4 s for an intersection with 15 of them, 3.5 s with 18).

    Raises :class:`BudgetExceeded`.
    """
    if not _meter.blocks:
        return
    cost = 0
    for part in points.get_basic_sets():
        quotients = part.dim(isl.dim_type.div)
        if quotients > CHEAP_DIVISIONS:
            cost += 14 << min(quotients, 40)
    if cost:
        _meter.charge(cost)


def value(number: int) -> isl.Val:
    """``number``, of any size, as isl has it."""
    found = _values.get(number)
    if found is None:
        found = isl.Val(str(number), context)
        if -1024 <= number <= 1024:
            _values[number] = found
    return found


_values: dict[int, isl.Val] = {}


def integer(val: isl.Val) -> int:
    """The value of ``val``. Where the budget runs out inside, isl gives no text back instead of raising its error."""
    shown = val.to_str()
    if shown is None:
        raise BudgetExceeded("the logic's operation budget is used up")
    return int(shown)


def is_out_of_operations(error: isl.Error) -> bool:
    """Whether isl stopped since its operations ran out."""
    # A number that we wrote down has no syntax error: isl stopped in the middle of reading it.
    return _MESSAGE in str(error) or "isl_val_read_from_str" in str(error)


def metered(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Run a function of this package under the budget in force; isl's refusal comes out as :class:`BudgetExceeded`."""

    @wraps(function)
    def run(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        if not _meter.blocks:
            context.reset_operations()
        try:
            return function(*args, **kwargs)
        except isl.Error as error:
            if not is_out_of_operations(error):
                raise
        # Raised outside the handler: isl's error would travel along as context, and refuses to be compared.
        raise BudgetExceeded("the logic's operation budget is used up")

    return run
