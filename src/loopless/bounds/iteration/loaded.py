"""What one iteration has read from memory that it writes elsewhere: a place holds the same value until it is written.

A place is an object, an offset in it, and a type, over the values at the beginning of the iteration and symbols, which
stay what they are. So the value of a place can stand among those of variables, as that of a cell, and where ways meet
it is known if all of them brought the same one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field

from loopless import terms as t
from loopless.flowgraph.memory.statement_effects import Written
from loopless.flowgraph.model import Load
from loopless.records import dataclass


@dataclass(slots=True)
class LoadedCells:
    """The places of memory that an iteration has read, each with a variable of its own that no program has."""

    cells: dict[tuple[t.Term, t.Term, int | None, int | None, bool], t.Var] = field(default_factory=dict)
    owners: dict[t.Var, t.Term] = field(default_factory=dict)

    def of(self, load: Load, owner: t.Term, offset: t.Term) -> dict[t.Var, t.Var]:
        """By what a load sets, the cells for it: of a number, whatever its sign, or of both parts of a pointer."""
        targets = (load.target,) if load.target_object is None else (load.target, load.target_object)
        found = {}
        for target in targets:
            place = owner, offset, load.type.width, target.type.width, target is not load.target
            cell = self.cells.get(place)
            if cell is None:
                cell = self.cells[place] = t.Var(f"'cell {len(self.cells)}", target.type)
                self.owners[cell] = owner
            found[target] = cell
        return found

    def written(self, written: Written, values: dict[t.Var, t.Term]) -> None:
        """Forget what is written, and what is read where that may be."""
        if not written.some:
            return
        for cell in [var for var in values if var in self.owners]:
            owner = self.owners[cell]
            if not isinstance(owner, t.Const) or written.hits(owner.value):
                del values[cell]

    def common(self, points: Iterable[Mapping[t.Var, t.Term]]) -> dict[t.Var, t.Term]:
        """What is known of cells where ways meet."""
        first, *others = points
        known = {var: value for var, value in first.items() if var in self.owners}
        return {var: value for var, value in known.items() if all(other.get(var) is value for other in others)}
