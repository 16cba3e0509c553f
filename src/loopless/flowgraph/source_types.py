"""The source types of what lies in memory, by debug records."""

from __future__ import annotations

from collections.abc import Mapping

from loopless.flowgraph.memory.places import Base
from loopless.source import ir
from loopless.source.debug import DebugType, DebugTypes
from loopless.source.debug import TypeKind as DebugKind


def type_in(
    base: Base, function: ir.SourceFunction, module: ir.Module, pointees: Mapping[Base, tuple[Base, int | None]]
) -> DebugType | None:
    """The source type of what is in an object of ``function``, None where debug records do not tell.

    ``pointees``: the places of the pointers that formal pointees are named after.
    """
    types = module.debug_types
    match base.kind:
        case "local":
            variable = function.variables.get(base.name)
            return None if variable is None else variable.type
        case "global":
            found = module.globals.get(base.name)
            return None if found is None or found.debug is None else found.debug.type
        case "parameter":
            own = function.variables.get(base.name)
            if own is not None:
                return own.type
            param = next(p for p in function.params if p.name == base.name)
            if param.debug is None or param.debug.kind is not DebugKind.POINTER:
                return None
            return types.element(param.debug.type)
        case "pointee":
            holder, offset = pointees[base]
            around = type_in(holder, function, module, pointees)
            if around is None or offset is None:
                return None
            at = 8 * offset
            if holder.kind in ("parameter", "pointee") and around.bits:
                at %= around.bits  # p[1].q is of the type of p->q
            pointer = leaf_type(types, around, at, module.pointer_bits)
            return types.element(pointer) if pointer is not None and pointer.kind is DebugKind.POINTER else None
        case _:
            return None


def name_through_variable(
    address: ir.Value, size: int, function: ir.SourceFunction, module: ir.Module, made: Mapping[str, ir.Instruction]
) -> tuple[str, bool | None]:
    """How C names the scalar at an address that is computed from a pointer variable, ``p->len``, and whether it is
    signed; empty where it does not. ``made``: the instructions of ``function`` by their results.
    """
    offset = 0
    while isinstance(address, ir.Local) and address.name in made:
        instruction = made[address.name]
        if instruction.op == "getelementptr" and instruction.gep is not None and not instruction.gep.steps:
            offset += instruction.gep.offset
            address = instruction.gep.base
            continue
        holder = instruction.operands[0] if instruction.op == "load" else None
        variable = function.variables.get(holder.name) if isinstance(holder, ir.Local) else None
        if variable is None or variable.type.kind is not DebugKind.POINTER:
            return "", None
        pointed = module.debug_types.element(variable.type)
        path = None if pointed is None else module.debug_types.member_path(pointed, offset, size)
        if pointed is None or path is None:
            return "", None
        leaf = leaf_type(module.debug_types, pointed, 8 * offset, 8 * size)
        signed = None if leaf is None else leaf.signed
        if not path:
            return f"*{variable.name}", signed
        name = f"{variable.name}->{path[1:]}" if path.startswith(".") else f"(*{variable.name}){path}"
        return name, signed
    return "", None


def is_declared_signed(
    address: ir.Value, bits: int, function: ir.SourceFunction, module: ir.Module, made: Mapping[str, ir.Instruction]
) -> bool | None:
    """Whether the integer at an address is declared with a sign, by the variable that the address is computed from;
    None where that is not known. ``made`` as of :func:`name_through_variable`.
    """
    offset = 0
    types = module.debug_types
    declared: DebugType | None = None
    while declared is None:
        match address:
            case ir.Local(name=name) if name in function.variables:
                declared = function.variables[name].type
            case ir.Local(name=name) if name in made and made[name].gep is not None:
                gep = made[name].gep
                assert gep is not None
                offset, address = offset + gep.offset, gep.base
            case ir.Local(name=name) if name in made and made[name].op == "load":
                holder = made[name].operands[0]
                variable = function.variables.get(holder.name) if isinstance(holder, ir.Local) else None
                declared = None if variable is None else types.element(variable.type)
                if declared is None:
                    return None
            case ir.GlobalRef(name=name) if name in module.globals and module.globals[name].debug is not None:
                debug = module.globals[name].debug
                declared = debug.type if debug is not None else None
            case _:
                return None
    if not declared.bits:
        element = types.element(declared) if declared.kind is DebugKind.ARRAY else None
        if element is None or not element.bits:
            return None
        declared = element
    found = leaf_type(types, declared, 8 * offset % declared.bits, bits)
    return None if found is None else found.signed


def same_structure(types: DebugTypes, one: DebugType | None, other: DebugType | None) -> bool:
    """Whether two types are structures with the same members; modules that are linked have several of one."""
    if one is None or other is None or one.kind is not DebugKind.STRUCT or one.bits != other.bits:
        return False
    names = [[(m.name, m.offset, m.bits) for m in types.members(t)] for t in (one, other)]
    return bool(names[0]) and names[0] == names[1]


def leaf_type(types: DebugTypes, t: DebugType, offset: int, bits: int) -> DebugType | None:
    """The integer or pointer type of the ``bits`` bits at bit ``offset`` of an object of type ``t``."""
    if t.kind is DebugKind.ARRAY:
        element = types.element(t)
        return None if element is None or not element.bits else leaf_type(types, element, offset % element.bits, bits)
    if t.kind is DebugKind.STRUCT:
        if t.union and any(m.type.kind is DebugKind.BOOL for m in types.members(t)):
            return None  # what else is stored there need not be 0 or 1
        for member in types.members(t):
            if not member.bitfield and member.offset <= offset and offset + bits <= member.offset + member.bits:
                found = leaf_type(types, member.type, offset - member.offset, bits)
                if found is not None:
                    return found
        return None
    return t if offset == 0 and t.bits in (bits, 8 * ((bits + 7) // 8)) else None
