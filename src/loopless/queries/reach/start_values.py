"""Small values for what a run begins with, and short runs, with which the counters of paths have a solution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from loopless import clock
from loopless import terms as t
from loopless.flowgraph.model import Kind
from loopless.limits.queries import SHORT_MS, SMALL_S
from loopless.logic.solver import SmtAnswer
from loopless.navigation.counters import CounterSystem, Plan
from loopless.queries.reach.question import ReachQuestion

SHORT: Final = (8, 16, 32, 64, 128, 256, 512, 1024)
"""Lengths of runs that are tried first, in their order: most steps of a long run are steps of a search."""
LADDER: Final = (1, 2, 4, 8, 16, 32, 64, 256, 1024, 1 << 14, 1 << 20, 1 << 31, 1 << 63)
"""How large what a run begins with may be, tried in this order: small values make short runs."""
ANY_SIZE: Final = ((0, 1 << 10), (0, 1 << 16), (-(1 << 63), 1 << 63))
"""The same where the time for small values is over."""


def some_length(general: CounterSystem) -> int | None:
    """A length, not much more than the least one, with which the constraints have a solution; None where that is
    not found at once.
    """
    for length in SHORT:
        found = general.solve([general.length.le(length)], SHORT_MS)
        if isinstance(found, Plan):
            return length
        if found is SmtAnswer.UNKNOWN:
            return None
    return None


def smallest(question: ReachQuestion, general: CounterSystem, also: Sequence[t.Condition]) -> dict[t.Var, int] | None:
    """Small values to begin with for which the constraints have a solution; no negative ones where it can be."""
    infos = general.system.graph.variables
    scalars = [var for var in general.scalars if not (var in infos and infos[var].pointer_part == "object")]
    led = [v for v in scalars if v in infos and infos[v].kind in (Kind.POINTEE, Kind.GLOBAL)]
    starts = [v for v in led if infos[v].pointer_part == "offset"]
    natural = [(0, high) for high in LADDER[:8]]
    rungs = [*natural, *((low, high) for high in LADDER for low in (0, -high))]
    until = min(question.deadline, clock.counted() + SMALL_S)
    while rungs:
        if clock.counted() > until and rungs[0] not in ANY_SIZE:
            rungs = list(ANY_SIZE)
        least, most = rungs.pop(0)
        small = [v.le(most) & v.ge(least) for v in scalars]
        if rungs:
            small += [v.eq(0) for v in starts]
        found = general.solve([*small, *also], SHORT_MS)
        if isinstance(found, Plan):
            if question.minimize == "inputs":
                found = _smaller(general, scalars, found, [*small, *also])
            return {general.scalars[symbol]: found.values[symbol] for symbol in scalars if symbol in found.values}
        if clock.counted() > question.deadline:
            return None
    return None


def _smaller(general: CounterSystem, scalars: Sequence[t.Var], plan: Plan, also: list[t.Condition]) -> Plan:
    """The same with one value after the other as near to 0 as the constraints let it be."""
    for var in scalars:
        low, high = -1, abs(plan.values.get(var, 0))  # not as small as low, but as high
        while high - low > 1:
            middle = (low + high) // 2
            near = var.le(middle) & var.ge(-middle)
            found = general.solve([*also, near], SHORT_MS)
            if isinstance(found, Plan):
                high, plan = abs(found.values.get(var, 0)), found
            else:
                low = middle
        also = [*also, var.le(high), var.ge(-high)]
    return plan


def least_length(general: CounterSystem) -> int | None:
    """The fewest transitions with which the constraints have a solution."""

    def can(length: int) -> bool:
        return isinstance(general.solve([general.length.le(length)], SHORT_MS), Plan)

    most = next((1 << k for k in range(1, 40) if can(1 << k)), None)
    if most is None:
        return None
    low, high = most // 2, most  # not with low, but with high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if can(middle) else (middle, high)
    return high
