"""Arrays that are members: an element of one with an unknown index lies in that member, and touches no other.

C leaves it undefined to step out of an array that is a part of a larger object (C11 6.5.6p8, J.2). Without
optimization clang writes ``s->a[i]`` as two address computations, of the member and of the element, with the type of
the array in the second; what is accessed behind such a step lies in the array, as a check at the step makes sure.
Nothing is said of the last member of a structure, which may stand for a flexible one, of arrays with fewer than two
elements, which do so too, and of elements whose address is used for anything but accesses right behind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from loopless.source import ir

_DEPTH = 8
"""Arrays in arrays in structures, and so on, are followed so far. A guess."""


@dataclass(frozen=True, slots=True)
class Member:
    """Where an address lies: in the bytes from ``low`` to before ``high`` behind ``root``. ``type`` is that of what is
    there; ``count`` the number of elements where the address is a step to one with an unknown index, else None.
    """

    root: ir.Value
    low: int
    high: int
    type: ir.Type
    count: int | None = None


def members(function: ir.Function, module: ir.Module) -> Mapping[str, Member]:
    """By the names of addresses, the member arrays that they lie in."""
    steps = {
        i.result: i for i in function.instructions() if i.op == "getelementptr" and i.gep is not None and i.result
    }
    if not any(i.gep is not None and i.gep.steps and isinstance(i.gep.source, ir.ArrayT) for i in steps.values()):
        return {}
    found: dict[str, Member] = {}
    for name in steps:
        member = _member(name, steps, module, _DEPTH)
        if member is not None:
            found[name] = member
    other = _used_otherwise(function, found)
    return {name: member for name, member in found.items() if name not in other}


def _member(name: str, steps: Mapping[str, ir.Instruction], module: ir.Module, depth: int) -> Member | None:
    step = steps[name]
    gep, layout = step.gep, module.layout
    assert gep is not None
    trusted = "inbounds" in step.flags and step.loc is not None and bool(step.loc.scopes)
    if not trusted or depth == 0:
        return None
    inner = isinstance(gep.base, ir.Local) and gep.base.name in steps
    around = _member(gep.base.name, steps, module, depth - 1) if inner and isinstance(gep.base, ir.Local) else None
    match gep.source:
        case ir.ArrayT(count=count, element=element) if len(gep.steps) == 1:
            if gep.offset or count < 2 or gep.steps[0][1] != layout.size_of(element):
                return None
            if around is not None:
                same = around.type == gep.source
                return Member(around.root, around.low, around.high, element, count) if same else None
            place = _inner(gep, steps, module)
            if place is None:
                return None
            return Member(place[0], place[1], place[1] + layout.size_of(gep.source), element, count)
        case ir.ArrayT(element=element) if not gep.steps:
            size = layout.size_of(element)
            if not 0 <= gep.offset < layout.size_of(gep.source) or gep.offset % size:
                return None
            if around is not None:
                return Member(around.root, around.low, around.high, element) if around.type == gep.source else None
            place = _inner(gep, steps, module)
            return None if place is None else Member(place[0], low := place[1] + gep.offset, low + size, element)
        case ir.StructT(fields=fields) as struct if not gep.steps and around is not None and around.type == struct:
            at = [i for i, offset in enumerate(layout.offsets_of(struct)) if offset == gep.offset]
            if len(at) != 1 or (at[0] == len(fields) - 1 and isinstance(fields[at[0]], ir.ArrayT)):
                return None
            return Member(around.root, around.low, around.high, fields[at[0]])
        case _:
            return None


def _inner(
    step: ir.Gep, steps: Mapping[str, ir.Instruction], module: ir.Module
) -> tuple[ir.Value, int] | None:
    """Where the array that a step goes through lies, as a root and bytes behind it, if it is a member of a structure
    and not the last one.
    """
    match step.base:
        case ir.Local(name=name) if name in steps:
            holder = steps[name].gep
            assert holder is not None
            inner = not holder.steps and _is_inner(holder.source, holder.offset, step.source, module)
            return (holder.base, holder.offset) if inner else None
        case ir.GlobalRef(name=name) | ir.AddressOf(name=name) if name in module.globals:
            offset = step.base.offset if isinstance(step.base, ir.AddressOf) else 0
            found = _contains(module.globals[name].type, offset, step.source, module)
            return (ir.GlobalRef(name), offset) if found else None
        case _:
            return None


def _is_inner(struct: ir.Type, offset: int, array: ir.Type, module: ir.Module) -> bool:
    """Whether a member of this type that is not the last one lies at ``offset``."""
    if not isinstance(struct, ir.StructT):
        return False
    inner = zip(module.layout.offsets_of(struct)[:-1], struct.fields[:-1], strict=True)
    return any(at == offset and type == array for at, type in inner)


def _contains(type: ir.Type, offset: int, array: ir.Type, module: ir.Module) -> bool:
    """Whether some structure in an object of this type has such a member at the object's byte ``offset``, or some array
    such an element.
    """
    layout = module.layout
    match type:
        case ir.ArrayT(count=count, element=element) if count and layout.size_of(element):
            size = layout.size_of(element)
            return (element == array and offset % size == 0) or _contains(element, offset % size, array, module)
        case ir.StructT(fields=fields) as struct:
            if _is_inner(struct, offset, array, module):
                return True
            for at, field in zip(layout.offsets_of(struct), fields, strict=True):
                if at <= offset < at + layout.size_of(field) and _contains(field, offset - at, array, module):
                    return True
            return False
        case _:
            return False


def _used_otherwise(function: ir.Function, found: Mapping[str, Member]) -> set[str]:
    """The addresses that are used for more than accesses in the same block, or with a call in between."""
    other: set[str] = set()
    below: dict[str, str] = {}
    for block in function.blocks:
        here: set[str] = set()
        for instruction in block.instructions:
            if instruction.is_debug:
                continue
            if instruction.op in ("call", "invoke", "callbr"):
                here = set()
            address = _address(instruction)
            for value in (*instruction.operands, *(value for value, _ in instruction.incoming)):
                if isinstance(value, ir.Local) and value.name in found:
                    follows = instruction.op == "getelementptr" and instruction.result in found
                    if value.name not in here or not (follows or value == address):
                        other.add(value.name)
                    elif follows and instruction.result is not None:
                        below[instruction.result] = value.name
            if instruction.result is not None and instruction.result in found:
                here.add(instruction.result)
    return _with_all_above(other, below, found)


def _with_all_above(other: set[str], below: Mapping[str, str], found: Mapping[str, Member]) -> set[str]:
    """With what the addresses were computed from, and what was computed from those."""
    changed = True
    while changed:
        before = len(other)
        other |= {below[name] for name in other if name in below}
        other |= {name for name in found if below.get(name) in other}
        changed = len(other) != before
    return other


def _address(instruction: ir.Instruction) -> ir.Value | None:
    """The operand that a load or store goes through."""
    if instruction.op not in ("load", "store"):
        return None
    address = instruction.operands[-1]
    return None if instruction.op == "store" and instruction.operands[0] == address else address
