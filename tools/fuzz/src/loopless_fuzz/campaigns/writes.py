"""What calls write, judged by native runs: an object whose bytes a call changes lies in the effects of its function."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from loopless.flowgraph.memory.cells import OUTSIDE, Cell
from loopless.flowgraph.memory.mod_ref import Effects, ModuleFacts, facts_of
from loopless.flowgraph.memory.pointees import STANDING_IN
from loopless.source import ir
from loopless_fuzz.judging.counting import Activation

Region = tuple[int, int]
"""Address and size of an object."""


def written_by(modules: Iterable[ir.Module], activation: Activation) -> Iterator[tuple[str, bool]]:
    """The objects that a call changed, and whether the effects of its function have them, by each of these
    modules of the program. Globals and what parameters point to are looked at, where the call came back.
    """
    for module in modules:
        facts = facts_of(module)
        effects, function = facts.effects.get(activation.function), module.functions.get(activation.function)
        if effects is None or function is None:
            continue
        parameters = {param.name for param in function.params}
        for name in sorted(activation.changed):
            if name in parameters or _is_object(module.globals.get(name)):
                yield name, _has(effects, facts, activation, name)


def _is_object(variable: ir.GlobalVar | None) -> bool:
    """Whether a region with the name of a global is that global; of a pointer it is what that points to."""
    return variable is not None and not isinstance(variable.type, ir.PtrT)


def _has(effects: Effects, facts: ModuleFacts, activation: Activation, name: str) -> bool:
    """Whether the effects have some bytes of an object."""
    regions = activation.regions
    cells = set(effects.writes)
    if effects.strange:
        cells |= {*facts.strange.writes, Cell(OUTSIDE)}
    strange = any(cell.base.kind in (OUTSIDE.kind, *STANDING_IN) for cell in cells)  # which may overlap with anything
    if strange and (name not in facts.module.globals or name in facts.exposed):
        return True
    known = (cell for cell in cells if cell.base.name in regions and cell.base.kind in ("global", "parameter"))
    return any(_meet(cell, regions, regions[name]) for cell in known)


def _meet(cell: Cell, regions: Mapping[str, Region], target: Region) -> bool:
    """Whether a place may have bytes of an object."""
    start = regions[cell.base.name][0]
    if cell.low is None:  # anywhere in the object that the address lies in
        around = [found for found in regions.values() if found[0] <= start < found[0] + found[1]]
        return any(_overlap(found, target) for found in around)
    if cell.size is None:
        return start + cell.low < target[0] + target[1]
    return _overlap((start + cell.low, cell.size), target)


def _overlap(one: Region, other: Region) -> bool:
    return one[0] < other[0] + other[1] and other[0] < one[0] + one[1]
