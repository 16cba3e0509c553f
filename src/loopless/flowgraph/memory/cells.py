"""Places of memory that an instruction, a call or a function touches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from loopless.flowgraph.memory.places import Base, PointerTargets, PointsTo
from loopless.limits.flowgraph import MAX_CELLS
from loopless.records import dataclass
from loopless.source import ir

OUTSIDE: Final = Base("outside", "")
"""All that pointers of unknown origin may point to."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A place: ``size`` bytes from the byte ``low`` of an object on; with ``size`` None all from there on, with ``low``
    None some bytes of the object.
    """

    base: Base
    low: int | None = None
    size: int | None = None

    def meets(self, offset: int, size: int) -> bool:
        """Whether a scalar of ``size`` bytes at ``offset`` of the same object is hit."""
        if self.low is None:
            return True
        return offset + size > self.low and (self.size is None or self.low + self.size > offset)


Cells = frozenset[Cell]
ANYTHING_OUTSIDE: Final = Cell(OUTSIDE)


def cells_of(target: PointerTargets, size: int | None) -> set[Cell]:
    """What an access through a pointer touches."""
    found = {Cell(base, offset, size) if isinstance(offset, int) else Cell(base) for base, offset in target.living}
    return found | {ANYTHING_OUTSIDE} if target.unknown or not target.places else found


def cells_accessed(points: PointsTo, address: ir.Value, size: int) -> set[Cell]:
    """What a load or store touches: of an element of a member, that member."""
    found = cells_of(points.of(address), size)
    spans = {base: points.span(address, base) for base, offset in points.of(address).living if offset is None}
    known = {Cell(base): _between(base, *span) for base, span in spans.items() if span is not None}
    return {known.get(cell, cell) for cell in found}


def _between(base: Base, low: int, high: int | None) -> Cell:
    return Cell(base, low, None if high is None else high - low)


def whole_objects(target: PointerTargets) -> set[Cell]:
    """What an access touches that may go anywhere in the objects that are pointed to."""
    return {Cell(cell.base) for cell in cells_of(target, None)}


def cells_from(target: PointerTargets) -> set[Cell]:
    """What an access of unknown length from a pointer on touches."""
    return cells_of(target, None)


def collapsed(cells: Iterable[Cell]) -> Cells:
    """With the whole object for many places of it."""
    by_base: dict[Base, set[Cell]] = {}
    for cell in cells:
        by_base.setdefault(cell.base, set()).add(cell)
    return frozenset(
        cell
        for base, found in by_base.items()
        for cell in ((Cell(base),) if len(found) > MAX_CELLS or Cell(base) in found else found)
    )
