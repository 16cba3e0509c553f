"""The places of a callee in the objects of its caller.

What a callee does to what its parameters point to, and to what the pointers lie behind that these point to, it does to
what the arguments point to at the call, and so on: formal places become actual ones (Wilson and Lam, PLDI 1995).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field

from loopless.flowgraph.memory.cells import ANYTHING_OUTSIDE, OUTSIDE, Cell, Cells, cells_of
from loopless.flowgraph.memory.places import Base, PointsTo, is_pointer
from loopless.flowgraph.memory.pointees import POINTEE, content_at_call
from loopless.graphs import reachable
from loopless.records import dataclass
from loopless.source import ir

Holders = Mapping[Base, tuple[Base, int | None]]
"""Of formal pointees the places of the pointers that they are named after."""


@dataclass(slots=True)
class CallPlaces:
    """A call of ``callee`` with ``operands`` in ``caller``, to which ``points`` belongs.

    ``holders``: of the formal pointees of the callee; ``named``: of those of the caller, which grows by what only
    calls speak of.
    """

    callee: ir.SourceFunction
    operands: tuple[ir.Value, ...]
    caller: ir.SourceFunction
    points: PointsTo
    module: ir.Module
    holders: Holders
    named: dict[Base, tuple[Base, int | None]]
    _known: dict[Base, frozenset[tuple[Base, int | None]] | None] = field(default_factory=dict)

    def of(self, cells: Cells) -> Iterator[Cell]:
        """The callee's places in the objects of the caller."""
        for cell in cells:
            if cell.base == OUTSIDE or cell.base.kind not in ("parameter", POINTEE):
                yield cell
                continue
            places = self._places(cell.base)
            if places is None:
                yield ANYTHING_OUTSIDE
                continue
            for base, offset in places:
                if offset is None or cell.low is None:
                    yield Cell(base)
                else:
                    yield Cell(base, offset + cell.low, cell.size)

    def _places(self, base: Base) -> frozenset[tuple[Base, int | None]] | None:
        """Where an object of the callee begins in those of the caller; None where that is not known."""
        if base not in self._known:
            self._known[base] = self._found(base)
        return self._known[base]

    def _found(self, base: Base) -> frozenset[tuple[Base, int | None]] | None:
        if base.kind == "parameter":
            at = next((n for n, param in enumerate(self.callee.params) if param.name == base.name), None)
            operand = self.operands[at] if at is not None and at < len(self.operands) else None
            if operand is None or not is_pointer(operand):
                return None
            target = self.points.of(operand)
            return None if target.unknown or not target.places else frozenset(target.living)
        if base.kind != POINTEE:
            return frozenset({(base, 0)})
        holder, offset = self.holders.get(base, (base, None))
        holding = self._places(holder) if offset is not None else None
        if holding is None or offset is None:
            return None
        found: set[tuple[Base, int | None]] = set()
        for around, start in holding:
            place = None if start is None else start + offset
            target = content_at_call(self.points, around, place, self.caller, self.module, self.named)
            if target.unknown:
                return None
            found |= target.living
        return frozenset(found)


def copied(
    function: ir.SourceFunction, operands: tuple[ir.Value, ...], points: PointsTo, known: ir.Module
) -> Iterator[Cell]:
    """What is read to make the callee's own copies of structures."""
    for param, operand in zip(function.params, operands, strict=False):
        if param.byval is not None and is_pointer(operand):
            yield from cells_of(points.of(operand), known.layout.size_of(param.byval))


def seen_by_callers(
    cells: Iterable[Cell], function: ir.SourceFunction, points: PointsTo, named: Holders
) -> Iterator[Cell]:
    """The places that callers see: not those of locals, nor of the copies that structures are passed as."""
    parameters: dict[Base, list[Base]] = {}
    for param in function.params:
        if param.name in points.parameters and param.byval is None:
            parameters.setdefault(points.parameters[param.name], []).append(Base("parameter", param.name))
    for cell in cells:
        match cell.base.kind:
            case "local" | "heap":  # a caller knows nothing yet of what is allocated here
                continue
            case "parameter":
                yield from (Cell(base, cell.low, cell.size) for base in parameters.get(cell.base, ()))
            case "global":
                yield cell
            case "pointee" if _is_told(cell.base, function, points, named):
                yield cell
            case _:
                yield ANYTHING_OUTSIDE


def holders_of(cells: Iterable[Cells], named: Holders) -> Holders:
    """The places of the pointers that the formal pointees among these places are named after."""
    found: dict[Base, tuple[Base, int | None]] = {}
    bases = (cell.base for some in cells for cell in some)
    for base in reachable(bases, lambda base: (named[base][0],) if base.kind == POINTEE else ()):
        if base.kind == POINTEE:
            found[base] = named[base]
    return found


def _is_told(base: Base, function: ir.SourceFunction, points: PointsTo, named: Holders) -> bool:
    """Whether callers can find out which object a formal pointee is: by one parameter, or a global, and by pointers at
    constant places.
    """
    while base.kind == POINTEE:
        if base in points.merged or points.alike.get(base) or base not in named:
            return False
        base, offset = named[base]
        if offset is None:
            return False
    if base.kind == "global":
        return True
    own = [param for param in function.params if points.parameters.get(param.name) == base]
    return base.kind == "parameter" and len(own) == 1 and own[0].byval is None and own[0].name == base.name
