"""Which variables in memory are the parameters: clang copies each to one of its own before anything else."""

from __future__ import annotations

import functools

from loopless.flowgraph.memory.objects import FunctionMemory
from loopless.flowgraph.memory.places import Base
from loopless.source import ir


def stack_slot_of(param: ir.Param, function: ir.SourceFunction, memory: FunctionMemory) -> tuple[Base, int] | None:
    """The variable in memory that clang copies the parameter to at the very start, and that alone."""
    stack_slots = _uses_of_parameters(function).get(param.name, [])
    if len(stack_slots) != 1 or stack_slots[0][1].op != "store" or stack_slots[0][0] is not function.entry:
        return None
    value, address = stack_slots[0][1].operands
    if not (isinstance(value, ir.Local) and value.name == param.name and isinstance(address, ir.Local)):
        return None
    key = (Base("local", address.name), 0)
    if key not in memory.slots:
        return _part(param, address, stack_slots[0][1], function, memory)
    slot = memory.slots[key]
    if slot.object_var is not None or not _first_touch(address.name, stack_slots[0][1], function):
        return None
    if isinstance(param.type, ir.PtrT) and memory.points.parameters[param.name] in memory.nullable:
        return None
    return key


@functools.lru_cache(maxsize=1)
def _uses_of_parameters(function: ir.SourceFunction) -> dict[str, list[tuple[ir.SourceBlock, ir.Instruction]]]:
    """By parameter the instructions that use it, no more than two of each: who asks wants to know of a single one."""
    found: dict[str, list[tuple[ir.SourceBlock, ir.Instruction]]] = {param.name: [] for param in function.params}
    for block in function.blocks if found else ():
        for instruction in block.instructions:
            if instruction.is_debug:
                continue
            values = instruction.operands
            if instruction.incoming:
                values = (*values, *(value for value, _ in instruction.incoming))
            for name in {v.name for v in values if isinstance(v, ir.Local)} & found.keys() if values else ():
                if len(found[name]) < 2:
                    found[name].append((block, instruction))
    return found


def _part(
    param: ir.Param, address: ir.Local, store: ir.Instruction, function: ir.SourceFunction, memory: FunctionMemory
) -> tuple[Base, int] | None:
    """The scalar in a structure that an integer parameter is copied to: clang passes small structures in pieces."""
    places = memory.points.of(address).places
    if len(places) != 1 or not isinstance(param.type, ir.IntT) or param.debug is not None:
        return None
    base, offset = next(iter(places))
    if base.kind != "local" or offset is None:
        return None
    slot = memory.slots.get((base, offset))
    if slot is None or slot.var.type.width not in (param.type.bits, None):
        return None
    names = {other.name for other in function.params}
    for instruction in function.entry.instructions:
        if instruction is store:
            return base, offset
        if instruction.is_debug or instruction.op in ("alloca", "getelementptr"):
            continue
        if instruction.op != "store":
            return None
        value, to = instruction.operands
        other = isinstance(value, ir.Local) and value.name in names
        if not other or (base, offset) in memory.points.of(to).places:
            return None
    return None


def _first_touch(alloca: str, store: ir.Instruction, function: ir.SourceFunction) -> bool:
    """Whether ``store`` is the first instruction of the entry block that mentions the alloca."""
    for instruction in function.entry.instructions:
        if instruction is store:
            return True
        mentions = any(isinstance(op, ir.Local) and op.name == alloca for op in instruction.operands)
        if mentions and not instruction.is_debug:
            return False
    return False
