"""Arrays that are members: an element of one with an unknown index lies in that member, and touches no other.

C leaves it undefined to step out of an array that is a part of a larger object (C11 6.5.6p8, J.2). Without
optimization clang writes ``s->a[i]`` as two address computations, of the member and of the element, with the type of
the array in the second; what is accessed behind such a step lies in the array, as a check at the step makes sure.
An array that is the last member of its structure may stand for a flexible one, as compilers have it where nothing else
is asked for (``-fstrict-flex-arrays=0``); so may arrays with fewer than two elements, and those in unions. These are
*open*: an element may lie anywhere from the start of the array on, and only steps to before it are undefined.
Nothing is said of elements whose address is used for anything but accesses right behind.
"""

from __future__ import annotations

from collections.abc import Mapping

from loopless.graphs import reachable
from loopless.limits.flowgraph import MAX_MEMBER_DEPTH
from loopless.records import dataclass
from loopless.source import ir

_UNION = "union."
"""Clang's names of the types of unions begin so; such a type has one field, of the largest member."""


@dataclass(frozen=True, slots=True)
class MemberPlace:
    """Where an address lies: in the bytes from ``low`` to before ``high`` behind ``root`` (None: to the end of the
    object). ``type`` is that of what is there; ``open``: it is an array that may be longer than that says.
    ``stepped``: the address is a step to an element with an unknown index, one of ``count`` (None: of any number).
    """

    root: ir.Value
    low: int
    high: int | None
    type: ir.Type
    open: bool = False
    stepped: bool = False
    count: int | None = None


def members(function: ir.SourceFunction, module: ir.Module) -> Mapping[str, MemberPlace]:
    """By the names of addresses, the member arrays that they lie in."""
    steps = {i.result: i for i in function.instructions() if i.op == "getelementptr" and i.gep is not None and i.result}
    if not any(i.gep is not None and i.gep.steps and isinstance(i.gep.source, ir.ArrayT) for i in steps.values()):
        return {}
    found: dict[str, MemberPlace] = {}
    for name in steps:
        member = _member(name, steps, module, MAX_MEMBER_DEPTH)
        if member is not None:
            found[name] = member
    other = _used_otherwise(function, found, module)
    return {name: member for name, member in found.items() if name not in other}


def _member(name: str, steps: Mapping[str, ir.Instruction], module: ir.Module, depth: int) -> MemberPlace | None:
    step = steps[name]
    gep, layout = step.gep, module.layout
    assert gep is not None
    trusted = "inbounds" in step.flags and step.loc is not None and step.loc.unoptimized
    if not trusted or depth == 0:
        return None
    inner = isinstance(gep.base, ir.Local) and gep.base.name in steps
    around = _member(gep.base.name, steps, module, depth - 1) if inner and isinstance(gep.base, ir.Local) else None
    match gep.source:
        case ir.ArrayT(element=element) as array if len(gep.steps) == 1:
            if gep.offset or gep.steps[0][1] != layout.size_of(element):
                return None
            held = _held(gep, around, steps, module)
            if held is None:
                return None
            count, high = (None, None) if held.open or array.count < 2 else (array.count, held.high)
            return MemberPlace(held.root, held.low, high, element, stepped=True, count=count)
        case ir.ArrayT(element=element) as array if not gep.steps:
            size, held = layout.size_of(element), _held(gep, around, steps, module)
            if held is None or size == 0 or gep.offset < 0 or gep.offset % size:
                return None
            if not held.open and gep.offset >= layout.size_of(array):
                return None
            if around is not None:
                return MemberPlace(held.root, held.low, held.high, element)
            return MemberPlace(held.root, low := held.low + gep.offset, low + size, element)
        case ir.StructT(fields=fields) as struct if not gep.steps and around is not None and around.type == struct:
            at = [i for i, offset in enumerate(layout.offsets_of(struct)) if offset == gep.offset]
            if len(at) != 1:
                return None
            last = at[0] == len(fields) - 1 and isinstance(fields[at[0]], ir.ArrayT)
            return MemberPlace(around.root, around.low, None if last else around.high, fields[at[0]], open=last)
        case _:
            return None


def _held(
    step: ir.Gep, around: MemberPlace | None, steps: Mapping[str, ir.Instruction], module: ir.Module
) -> MemberPlace | None:
    """The array that a step goes through: what is ``around`` its base, or else a member of a structure there."""
    if around is not None:
        return around if around.type == step.source else None
    match step.base:
        case ir.Local(name=name) if name in steps:
            holder = steps[name].gep
            assert holder is not None
            if holder.steps or not isinstance(holder.source, ir.StructT):
                return None
            root, offset, open = holder.base, holder.offset, _is_open(holder.source, holder.offset, step.source, module)
        case ir.GlobalRef(name=name) | ir.AddressOf(name=name) if name in module.globals:
            offset = step.base.offset if isinstance(step.base, ir.AddressOf) else 0
            root, open = ir.GlobalRef(name), _is_open_in(module.globals[name].type, offset, step.source, module)
        case _:
            return None
    if open is None:
        return None
    return MemberPlace(root, offset, None if open else offset + module.layout.size_of(step.source), step.source, open)


def _is_open(struct: ir.StructT, offset: int, array: ir.Type, module: ir.Module) -> bool | None:
    """Whether the array at ``offset`` of a structure may be longer than it says; None where there is none."""
    found, offsets = None, module.layout.offsets_of(struct)
    for index, (at, field) in enumerate(zip(offsets, struct.fields, strict=True)):
        last = index == len(offsets) - 1
        if at != offset:
            continue
        if field == array and not last:
            return False
        if isinstance(field, ir.StructT) and (field.name or "").startswith(_UNION):
            found = True
        elif last and isinstance(field, ir.ArrayT) and isinstance(array, ir.ArrayT):
            found = True if field.element == array.element else found
    return found


def _is_open_in(type: ir.Type, offset: int, array: ir.Type, module: ir.Module) -> bool | None:
    """Whether an array at the byte ``offset`` of an object of this type, a member of a structure or an element of an
    array there, may be longer than it says; None where there is none.
    """
    layout = module.layout
    match type:
        case ir.ArrayT(count=count, element=element) if count and layout.size_of(element):
            size = layout.size_of(element)
            if element == array and offset % size == 0:
                return False
            return _is_open_in(element, offset % size, array, module)
        case ir.StructT(fields=fields) as struct:
            found = _is_open(struct, offset, array, module)
            if found is not None:
                return found
            for at, field in zip(layout.offsets_of(struct), fields, strict=True):
                if at <= offset < at + layout.size_of(field):
                    inner = _is_open_in(field, offset - at, array, module)
                    if inner is not None:
                        return inner
            return None
        case _:
            return None


def _used_otherwise(function: ir.SourceFunction, found: Mapping[str, MemberPlace], module: ir.Module) -> set[str]:
    """The addresses that are used for more than accesses to what is there in the same block, or behind a call."""
    other: set[str] = set()
    below: dict[str, str] = {}
    for block in function.blocks:
        here: set[str] = set()
        for instruction in block.instructions:
            if instruction.is_debug:
                continue
            if instruction.op in ("call", "invoke", "callbr"):
                here = set()
            address = _address(instruction, found, module)
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


def _with_all_above(other: set[str], below: Mapping[str, str], found: Mapping[str, MemberPlace]) -> set[str]:
    """With what the addresses were computed from, and what was computed from those."""
    above: dict[str, list[str]] = {}
    for name in found:
        if name in below:
            above.setdefault(below[name], []).append(name)
    return set(reachable(other, lambda name: (*((below[name],) if name in below else ()), *above.get(name, ()))))


def _address(instruction: ir.Instruction, found: Mapping[str, MemberPlace], module: ir.Module) -> ir.Value | None:
    """The operand that a load or store goes through, if what is accessed is not longer than what lies there."""
    if instruction.op not in ("load", "store"):
        return None
    address = instruction.operands[-1]
    type = instruction.operands[0].type if instruction.op == "store" else instruction.type
    member = found.get(address.name) if isinstance(address, ir.Local) else None
    if member is not None and module.layout.store_size(type) > module.layout.size_of(member.type):
        return None
    return None if instruction.op == "store" and instruction.operands[0] == address else address
