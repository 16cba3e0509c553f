"""Memory that a function allocates and keeps to itself is as a local object.

``p = malloc(sizeof *p)`` outside of loops, where ``p`` is only read and written through, compared, freed, and kept in
local pointers, gives one object in a call of the function, which nothing else reaches: an object as locals are, or
null. So the function is read as if ``p = <malloc succeeds> ? &object : 0`` stood there. Its size may vary, as that of
arrays of variable length does: ``malloc(n * sizeof *p)`` and ``calloc(n, sizeof *p)`` make one. Where the pointer is
used behind a ``free`` it stays what it is: that use is undefined, which a local object would hide.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from typing import Final

from loopless.flowgraph.memory.points_to import only_subtracted
from loopless.graphs import cycles, reachable
from loopless.limits.flowgraph import MAX_HEAP_BYTES
from loopless.records import dataclass
from loopless.source import ir
from loopless.source.debug import DebugType, DebugVariable, TypeKind
from loopless.source.vocabulary import LibraryEffect, effect_of

_MARK: Final = ":"
"""No name of LLVM has it without quotes."""
_OBJECT: Final = f"{_MARK}object"
_ADDRESS: Final = f"{_MARK}address"


def is_allocated(name: str) -> bool:
    """Whether a local object is one that stands for allocated memory, and is named by its pointer."""
    return name.endswith(_OBJECT)


def is_address(name: str) -> bool:
    """Whether a value is the address of memory for which a local object stands."""
    return name.endswith(_ADDRESS)


def is_ours(name: str) -> bool:
    """Whether a value is one that stands here for what an allocation does."""
    return _MARK in name


def with_own_heap(function: ir.SourceFunction, module: ir.Module) -> ir.SourceFunction:
    """The function with local objects for the memory that it allocates and keeps to itself."""
    called = {i.callee_name for i in function.instructions() if i.op == "call"} & {"malloc", "calloc"}
    if not any(name is not None and not _is_defined(name, module) for name in called):
        return function
    following = {b.label: list(b.successors) for b in function.blocks}
    repeated = {label for cycle in cycles(following) for label in cycle}
    made: dict[str, _Room] = {}
    behind: dict[str, frozenset[str]] = {}
    freed: dict[ir.Instruction, list[str]] = {}
    variables = dict(function.variables)
    for block in function.blocks:
        for i in block.instructions if block.label not in repeated else ():
            room = _room(i, function, module) if i.op == "call" and i.callee_name in called else None
            spread = _kept(function, i.result, module) if room is not None and i.result is not None else None
            if room is None or spread is None or i.result is None:
                continue
            made[i.result] = room
            behind[i.result] = frozenset(reachable(following[block.label], following.__getitem__))
            for call in spread.freed:
                freed.setdefault(call, []).append(i.result)
            named = (function.variables[name] for name in sorted(spread.holders) if name in function.variables)
            pointer = next(named, None)
            element = None if pointer is None else _element(pointer.type, module)
            if pointer is not None and element is not None:
                variables[i.result + _OBJECT] = DebugVariable(pointer.name, element, pointer.declared)
    if not made:
        return function
    blocks, calls = [], list(freed)
    for index, block in enumerate(function.blocks):
        constant = (room.alloca for room in made.values() if not room.alloca.operands)
        instructions = list(constant) if index == 0 else []
        allocated = {name for name, labels in behind.items() if block.label in labels}
        for i in block.instructions:
            if i.result in made:
                allocated.add(i.result)
            if i in freed:  # what is allocated later has no address yet
                instructions += _freed(i, [name for name in freed[i] if name in allocated], calls.index(i))
            else:
                instructions += _chosen(i, made[i.result]) if i.result in made else (i,)
        blocks.append(replace(block, instructions=tuple(instructions)))
    return replace(function, blocks=tuple(blocks), variables=variables)


def _is_defined(name: str, module: ir.Module) -> bool:
    found = module.functions.get(name)
    return found is not None and not found.is_declaration


def _element(type: DebugType, module: ir.Module) -> DebugType | None:
    return module.debug_types.element(type) if type.kind is TypeKind.POINTER else None


@dataclass(frozen=True, slots=True)
class _Room:
    """What a call allocates: a local object of ``count`` elements of ``element`` bytes each, which is there where the
    count lies between 0 and ``most``. ``zeroed``: it holds zeros.
    """

    alloca: ir.Instruction
    count: ir.Value
    element: int
    most: int
    zeroed: bool


def _room(call: ir.Instruction, function: ir.SourceFunction, module: ir.Module) -> _Room | None:
    """What a call of ``malloc`` or ``calloc`` allocates, None where that is no object of its own."""
    zeroed = call.callee_name == "calloc"
    if len(call.operands) != 1 + zeroed or call.result is None or _is_defined(call.callee_name or "", module):
        return None
    count, element = _factors(call, function)
    if isinstance(count, ir.IntConst):
        size = element * count.unsigned
        return _Room(_alloca(call, size), count, element, size, zeroed) if 0 < size <= MAX_HEAP_BYTES else None
    if element == 0 or not isinstance(count, ir.Local) or not isinstance(count.type, ir.IntT):
        return None
    largest = (1 << (module.pointer_bits - (3 if module.pointer_bits == 64 else 2))) - 1  # a quarter of all addresses
    most = min(largest // element, (1 << (count.type.bits - 1)) - 1)
    return _Room(replace(_alloca(call, element), operands=(count,)), count, element, most, zeroed)


def _factors(call: ir.Instruction, function: ir.SourceFunction) -> tuple[ir.Value, int]:
    """How many elements a call allocates, and the bytes of one. A product that may wrap around is one number, but for
    ``calloc``, which fails there.
    """
    *first, last = call.operands
    if first:  # calloc
        one, other = first[0], last
        if isinstance(one, ir.IntConst):
            one, other = other, one
        return (one, other.unsigned) if isinstance(other, ir.IntConst) else (one, 0)
    made = {i.result: i for i in function.instructions() if i.result is not None}
    product = made.get(last.name) if isinstance(last, ir.Local) else None
    if product is not None and product.op == "mul":
        one, other = product.operands
        if isinstance(one, ir.IntConst):
            one, other = other, one
        widened = made.get(one.name) if isinstance(one, ir.Local) else None
        narrow = widened is not None and widened.op in ("sext", "zext") and _is_narrow(widened.operands[0].type)
        if narrow and isinstance(other, ir.IntConst) and 0 < other.unsigned <= MAX_HEAP_BYTES:
            return one, other.unsigned
    return last, 1


def _is_narrow(type: ir.Type) -> bool:
    return isinstance(type, ir.IntT) and type.bits <= 32


def _alloca(call: ir.Instruction, size: int) -> ir.Instruction:
    room = ir.Access(ir.ArrayT(size, ir.IntT(8)), 16)
    return ir.Instruction("alloca", f"{call.result}{_OBJECT}", ir.PtrT(), access=room, loc=call.loc)


def _chosen(call: ir.Instruction, room: _Room) -> Iterator[ir.Instruction]:
    """The call, whether it succeeds, and by that the object or null. It fails where no object is that large."""
    address, succeeds = f"{call.result}{_ADDRESS}", f"{call.result}{_MARK}succeeds"
    null, pointer, loc = ir.NullPtr(), ir.PtrT(), call.loc
    own: ir.Value = ir.Local(f"{call.result}{_OBJECT}", pointer)
    fits: list[ir.Value] = []
    if room.alloca.operands:
        yield room.alloca
        assert isinstance(room.count.type, ir.IntT)
        bits = room.count.type.bits
        for word, predicate, end in (("counts", "sge", 0), ("fits", "sle", room.most)):
            name = f"{call.result}{_MARK}{word}"
            operands = (room.count, ir.IntConst(bits, end))
            yield ir.Instruction("icmp", name, ir.IntT(1), operands, predicate=predicate, loc=loc)
            fits.append(ir.Local(name, ir.IntT(1)))
    if room.zeroed:
        yield from _zeroed(call, room, fits)
    yield replace(call, result=address)
    yield ir.Instruction("icmp", succeeds, ir.IntT(1), (ir.Local(address, pointer), null), predicate="ne", loc=loc)
    for number, fit in enumerate(fits):
        name = f"{call.result}{_MARK}if.{number}"
        yield ir.Instruction("select", name, pointer, (fit, own, null), loc=loc)
        own = ir.Local(name, pointer)
    yield ir.Instruction("select", call.result, pointer, (ir.Local(succeeds, ir.IntT(1)), own, null), loc=loc)


def _zeroed(call: ir.Instruction, room: _Room, fits: Sequence[ir.Value]) -> Iterator[ir.Instruction]:
    """The object is filled with zeros, as far as it is there."""
    bits = room.count.type.bits if isinstance(room.count.type, ir.IntT) else 64
    type = ir.IntT(bits)
    count = room.count
    for number, fit in enumerate(fits):
        name = f"{call.result}{_MARK}count.{number}"
        yield ir.Instruction("select", name, type, (fit, count, ir.IntConst(bits, 0)), loc=call.loc)
        count = ir.Local(name, type)
    length = ir.Local(f"{call.result}{_MARK}length", type)
    yield ir.Instruction("mul", length.name, type, (count, ir.IntConst(bits, room.element)), loc=call.loc)
    filled = (ir.Local(f"{call.result}{_OBJECT}", ir.PtrT()), ir.IntConst(8, 0), length, ir.IntConst(1, 0))
    callee = ir.GlobalRef(f"llvm.memset.p0.i{bits}")
    yield ir.Instruction("call", None, ir.VoidT(), filled, callee=callee, loc=call.loc)


def _freed(call: ir.Instruction, results: Sequence[str], number: int) -> Iterator[ir.Instruction]:
    """The call, the ``number``-th, which is given the address that was allocated where its argument is the object's."""
    for name in results:
        given, pointer = call.operands[0], ir.PtrT()
        own, allocated = ir.Local(f"{name}{_OBJECT}", pointer), ir.Local(f"{name}{_ADDRESS}", pointer)
        is_own, chosen = (f"{name}{_MARK}{word}.{number}" for word in ("is", "freed"))
        yield ir.Instruction("icmp", is_own, ir.IntT(1), (given, own), predicate="eq", loc=call.loc)
        values = (ir.Local(is_own, ir.IntT(1)), allocated, given)
        yield ir.Instruction("select", chosen, pointer, values, loc=call.loc)
        call = replace(call, operands=(ir.Local(chosen, pointer),))
    yield call


@dataclass(slots=True)
class _Spread:
    """What holds a pointer: values of the function, and local pointers that are read and written by name alone; and the
    calls that free it.
    """

    values: set[str]
    holders: set[str] = field(default_factory=set)
    freed: list[ir.Instruction] = field(default_factory=list)


def _kept(function: ir.SourceFunction, result: str, module: ir.Module) -> _Spread | None:
    """What holds the result of a call, None where it may come to somewhere else."""
    spread = _Spread({result})
    known = None
    while known != (len(spread.values), len(spread.holders)):
        known = (len(spread.values), len(spread.holders))
        spread.freed.clear()
        for i in function.instructions():
            if not i.is_debug and not _follow(i, spread, function, module):
                return None
    return None if _outlived(function, spread) else spread


def _outlived(function: ir.SourceFunction, spread: _Spread) -> bool:
    """Whether a run may use a pointer behind a call that frees it."""
    blocks = {block.label: block for block in function.blocks}
    for call in spread.freed:
        label = next(block.label for block in function.blocks if call in block.instructions)
        later = reachable(blocks[label].successors, lambda at: blocks[at].successors)
        own = blocks[label].instructions
        rest = [*own[own.index(call) + 1 :], *(i for at in later for i in blocks[at].instructions)]
        if any(isinstance(o, ir.Local) and o.name in spread.values for i in rest if not i.is_debug for o in i.operands):
            return True
    return False


def _follow(i: ir.Instruction, spread: _Spread, function: ir.SourceFunction, module: ir.Module) -> bool:
    held = [value for value in i.operands if isinstance(value, ir.Local) and value.name in spread.values]
    if i.op == "load" and isinstance(i.operands[0], ir.Local) and i.operands[0].name in spread.holders:
        spread.values.add(i.result or "")
        return True
    if any(isinstance(value, ir.Local) and value.name in spread.values for value, _ in i.incoming):
        return False
    if not held:
        return True
    plain = i.access is None or not (i.access.volatile or i.access.atomic)
    match i.op:
        case "load":
            return plain
        case "store" if i.operands[0] in held:
            address = i.operands[1]
            if not isinstance(address, ir.Local) or not _by_name_alone(address.name, function):
                return False
            spread.holders.add(address.name)
            return plain and len(held) == 1
        case "store":
            return plain
        case "icmp":
            return True
        case "getelementptr" if i.gep is not None:
            spread.values.add(i.result or "")
            return True
        case "ptrtoint":
            return i.result in only_subtracted([i for i in function.instructions() if not i.is_debug])
        case "call" if (i.callee_name or "").startswith(("llvm.memset.", "llvm.memcpy.", "llvm.memmove.")):
            return True
        case "call" if i.callee_name is not None and not _is_defined(i.callee_name, module):
            spread.freed.append(i)
            return effect_of(i.callee_name, module.stubs) is LibraryEffect.FREES
        case _:
            return False


def _by_name_alone(name: str, function: ir.SourceFunction) -> bool:
    """Whether a local is there, and its address is used for nothing but to read and write it."""
    there = False
    for i in function.instructions():
        if i.is_debug:
            continue
        there |= i.op == "alloca" and i.result == name and not i.operands
        if any(isinstance(value, ir.Local) and value.name == name for value, _ in i.incoming):
            return False
        for at, value in enumerate(i.operands):
            if not isinstance(value, ir.Local) or value.name != name:
                continue
            plain = i.access is not None and not (i.access.volatile or i.access.atomic)
            marker = i.op == "call" and (i.callee_name or "").startswith("llvm.lifetime.")
            if not marker and not (plain and (i.op, at) in (("load", 0), ("store", 1))):
                return False
    return there
