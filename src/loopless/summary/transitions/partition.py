"""The values of invariants, divided into sets in which the loop is simpler.

Where nothing can wrap around or be undefined the summary is the one over ℤ; the rest is the margin. Paths that exclude
each other by invariants never take turns, and an accumulator to which an invariant is added moves one way for each of
its signs.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from loopless.limits.summary import MARGIN_VALUES, MAX_CELLS, RARE_SHARE
from loopless.logic import Region
from loopless.summary.transitions.system import ControlSystem


def cells(system: ControlSystem) -> list[ControlSystem]:
    """The system for sets of invariants that exclude each other. Raises :class:`loopless.logic.BudgetExceeded`."""
    invariants = [v for v in system.variables if v not in system.control]
    whole = system.universe.project_onto(invariants)
    shadows = [transition.where.project_onto(invariants).coalesce() for transition in system.transitions]
    margins = [region.project_onto(invariants).coalesce() for region in system.rare]
    apart = [shadow for shadow in shadows if any(shadow.disjoint(other) for other in shadows)]
    signs = [Region.of(sign, invariants) for sign in system.signs]
    plain = whole
    for margin in margins:
        plain = (plain - margin).coalesce()
    if plain.is_empty():
        # What may happen for most values divides nothing.
        margins = [margin for margin in margins if _extent(margin) * RARE_SHARE <= _extent(whole)]
        plain = whole
        for margin in margins:
            plain = (plain - margin).coalesce()
    if not margins:
        found = _divided([whole], (*apart, *signs))
    else:
        margin = (whole - plain).coalesce()
        found = _divided([plain], (*apart, *signs)) + _singled_out(margin, (*margins, *shadows, *signs))
    return [system.within(cell) for cell in found]


def _extent(region: Region) -> int:
    """The size of the box around a region."""
    if region.is_empty():
        return 0
    ranges = [region.range_of(v) for v in region.variables]
    return prod(high - low + 1 if low is not None and high is not None else 1 << 64 for low, high in ranges)


def _singled_out(margin: Region, cuts: Iterable[Region]) -> list[Region]:
    """The margin divided; where few values are left of one invariant, into these values: limits become constants."""
    found: list[Region] = []
    for part in _divided([margin], cuts):
        narrow = [(v, *part.range_of(v)) for v in part.variables]
        few = [
            (v, low, high)
            for v, low, high in narrow
            if low is not None and high is not None and high - low < MARGIN_VALUES
        ]
        values = [(v, low, high) for v, low, high in few if low != high]
        if len(values) != 1:
            found.append(part)
            continue
        v, low, high = values[0]
        found += [part & Region.of(v.eq(number), part.variables) for number in range(low, high + 1)]
    return [part for part in found if not part.is_empty()]


def _divided(parts: list[Region], cuts: Iterable[Region]) -> list[Region]:
    for accelerated in cuts:
        halves = [half for part in parts for half in ((part - accelerated).coalesce(), (part & accelerated).coalesce())]
        halves = [half for half in halves if not half.is_empty()]
        if len(halves) > MAX_CELLS:
            break
        parts = halves
    return parts
