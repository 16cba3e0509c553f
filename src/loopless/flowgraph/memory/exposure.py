"""What is known around one function: which of its objects pointers of unknown origin, and calls, may hit."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

from loopless.flowgraph.memory.cells import OUTSIDE, Cell, Cells
from loopless.flowgraph.memory.mod_ref import ModuleFacts, facts_of, kept_by
from loopless.flowgraph.memory.places import Base, PointsTo
from loopless.flowgraph.memory.pointees import STANDING_IN
from loopless.records import dataclass
from loopless.source import ir


@dataclass(frozen=True, slots=True, eq=False)
class Exposure:
    """What is known around one function: of its module, and ``kept``: the objects whose addresses others may know;
    ``alike``: what formal pointees may well be.
    """

    facts: ModuleFacts
    kept: frozenset[Base]
    alike: Mapping[Base, Sequence[Base]]

    def reaches(self, base: Base) -> bool:
        """Whether pointers of unknown origin may point into an object."""
        match base.kind:
            case "local":
                return base in self.kept
            case "global":
                return base.name in self.facts.exposed or base.name not in self.facts.module.globals
            case _:
                return True

    def hits(self, cells: Cells, base: Base, offset: int, size: int) -> bool:
        """Whether one of the places meets a scalar of an object."""
        found = _by_base(cells)
        same = [base, *self.alike.get(base, ()), *(other for other, alike in self.alike.items() if base in alike)]
        if any(cell.meets(offset, size) for one in same for cell in found.get(one, ())):
            return True
        if OUTSIDE in found:
            return base != OUTSIDE and self.reaches(base)
        # What pointers in memory point to is taken to be another object, unless it is known that one may point here.
        stored = base in self.kept if base.kind == "local" else base.kind == "global" and base.name in self.facts.kept
        return stored and any(other.kind in STANDING_IN for other in found)


@functools.lru_cache(maxsize=16)
def _by_base(cells: Cells) -> dict[Base, list[Cell]]:
    """The places of each object; the same set is asked about for one variable after another."""
    found: dict[Base, list[Cell]] = {}
    for cell in cells:
        found.setdefault(cell.base, []).append(cell)
    return found


def around(function: ir.SourceFunction, points: PointsTo, module: ir.Module, known: ir.Module) -> Exposure:
    """What is known around ``function`` of ``module``, by what is found of the functions of ``known``."""
    facts = facts_of(known)
    calls = [i for i in function.instructions() if i.op in ("call", "invoke", "callbr")]
    kept = points.escaped | kept_by(calls, points, module, known, facts.effects)
    return Exposure(facts, frozenset(kept), points.alike)
