"""Where pointers point: a flow-insensitive points-to analysis of one function, with constant byte offsets.

Every pointer value gets a set of places (object, offset), the offset None where it varies; or it is *unknown* (it may
point to any object that the outside can reach). From this follow which scalars can be treated as variables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace

from loopless.flowgraph.memory.called_memory import allocates, call_kind, handed_back, may_hand_back
from loopless.flowgraph.memory.members import MemberPlace, members
from loopless.flowgraph.memory.places import DEAD, HEAP, Base, MemoryAccess, PointerTargets, PointsTo, is_pointer
from loopless.flowgraph.memory.pointees import (
    Joined,
    alike_by_type,
    formal_content,
    initial_pointers,
    joined_by,
    late_loads,
)
from loopless.graphs import reachable
from loopless.records import dataclass
from loopless.source import ir
from loopless.source.vocabulary import (
    Meaning,
    library_function,
    meaning_of,
)

_OF_POINTERS = frozenset(
    {
        "load",
        "store",
        "outlive",
        "ptrtoint",
        "ret",
        "insertvalue",
        "cmpxchg",
        "atomicrmw",
        "insertelement",
        "call",
        "invoke",
        "va_arg",
    }
)
"""Instructions of which :func:`_transfer` learns something; of others where their result is a pointer."""
_TOUCHING = frozenset(("load", "store", "call", "invoke", "cmpxchg", "atomicrmw", "va_arg"))
"""Instructions that read or write memory."""


def analyse(function: ir.SourceFunction, module: ir.Module, *, apart: bool = True) -> PointsTo:
    """Where the pointers of ``function`` point.

    ``apart``: what pointers in memory point to is an object of its own, taken not to overlap with others; else such a
    pointer is unknown.
    """
    names = [param.name for param in function.params if isinstance(param.type, ir.PtrT)]
    late = _late(function, module) if apart else frozenset()
    given = _Given({name: name for name in names}, Joined(), members(function, module), late, apart)
    while True:
        result = _solve(function, module, given)
        compared = list(_compared(result, function))
        leader = _joined_parameters(compared, given.leader)
        joined = joined_by(result, compared, given.joined)
        if (leader, joined) == (given.leader, given.joined):
            result.apart = apart
            result.merged = frozenset((*joined.together, *joined.together.values(), *joined.beside, *joined.collapsed))
            return result
        given = replace(given, leader=leader, joined=joined)


@dataclass(frozen=True, slots=True)
class _Given:
    """What the analysis goes by. ``leader``: the parameter whose object a parameter shares; ``late``: the loads behind
    something that may have stored pointers anywhere.
    """

    leader: Mapping[str, str]
    joined: Joined
    members: Mapping[str, MemberPlace]
    late: frozenset[str]
    apart: bool


@dataclass(slots=True, kw_only=True)
class _State(PointsTo):
    """A result on its way."""

    function: ir.SourceFunction = field(compare=False)
    given: _Given
    initial: dict[tuple[Base, int | None], tuple[PointerTargets, bool]] = field(default_factory=dict)


def _solve(function: ir.SourceFunction, module: ir.Module, given: _Given) -> PointsTo:
    result = _State(function=function, members=given.members, given=given)
    for name, first in given.leader.items():
        base = Base("parameter", first)
        result.parameters[name] = base
        together = sum(1 for other in given.leader.values() if other == first) > 1
        if together:
            result.shared.add(name)
        result.targets[name] = PointerTargets({(base, None if together else 0)})
    instructions = [i for block in function.blocks for i in block.instructions if not i.is_debug]
    result.differences = only_subtracted(instructions)
    _fix(result, instructions, module)
    while _unheard_of(result, instructions):
        _fix(result, instructions, module)
    for instruction in instructions:
        _record(instruction, result, module)
    return result


def _late(function: ir.SourceFunction, module: ir.Module) -> frozenset[str]:
    """The loads behind something that may have stored pointers where it cannot be seen."""
    found = []
    for block in function.blocks:
        for index, i in enumerate(block.instructions):
            if i.op in ("call", "invoke"):
                name = i.callee_name
                declared = None if name is None else module.functions.get(name)
                meaning = name and meaning_of(name, defined=declared is not None and not declared.is_declaration)
                told = meaning is not None and meaning not in ("", Meaning.ENTRY, Meaning.SYMBOLIC)
                if told or call_kind(i, module) in ("ignored", "reads", "block"):
                    continue
            elif i.op not in ("callbr", "cmpxchg", "atomicrmw", "va_arg", "unsupported"):
                continue
            found.append((block.label, index))
    return late_loads(function, found)


def _fix(state: _State, instructions: list[ir.Instruction], module: ir.Module) -> None:
    changed = True
    concerned = [i for i in instructions if i.op in _OF_POINTERS or isinstance(i.type, ir.PtrT)]
    while changed:
        changed = False
        for instruction in concerned:
            changed |= _transfer(instruction, state, module)
        for base in sorted(state.mixed):
            changed |= _escape_content(state, base)


def _unheard_of(state: PointsTo, instructions: list[ir.Instruction]) -> bool:
    """Make pointers that come from nowhere that we saw unknown; True where there were any."""
    found = False
    for instruction in instructions:
        if instruction.result is not None and isinstance(instruction.type, ir.PtrT):
            target = state.targets.setdefault(instruction.result, PointerTargets())
            if not target.places and not target.unknown:
                target.unknown = found = True
    return found


def _compared(state: PointsTo, function: ir.SourceFunction) -> Iterator[tuple[PointerTargets, PointerTargets]]:
    """What pointers point to that are ordered, compared or subtracted."""
    numbers: dict[str, ir.Value] = {}
    for instruction in function.instructions():
        if instruction.op == "ptrtoint" and instruction.result is not None:
            numbers[instruction.result] = instruction.operands[0]
        if instruction.op not in ("icmp", "sub"):
            continue
        left, right = (numbers.get(o.name, o) if isinstance(o, ir.Local) else o for o in instruction.operands)
        if is_pointer(left) and is_pointer(right):
            yield state.of(left), state.of(right)


def _joined_parameters(
    compared: Iterable[tuple[PointerTargets, PointerTargets]], leader: Mapping[str, str]
) -> dict[str, str]:
    """Pointers that are ordered, compared or subtracted mean the same object: so do their parameters."""
    joined = dict(leader)
    for sides in compared:
        bases = {b.name for side in sides for b, _ in side.places if b.kind == "parameter"}
        if len(bases) > 1:
            first = min(bases, key=list(leader).index)
            joined = {name: first if old in bases else old for name, old in joined.items()}
    return joined


def only_subtracted(instructions: Sequence[ir.Instruction]) -> set[str]:
    """The numbers of pointers that are only subtracted or compared."""
    numbers = {i.result for i in instructions if i.op == "ptrtoint" and i.result is not None}
    if not numbers:
        return numbers
    for instruction in instructions:
        if instruction.op not in ("sub", "icmp"):
            values = (*instruction.operands, *(value for value, _ in instruction.incoming))
            numbers -= {value.name for value in values if isinstance(value, ir.Local)}
    return numbers


def _transfer(instruction: ir.Instruction, state: _State, module: ir.Module) -> bool:
    mixed = _mix(instruction, state, module)
    return _moved(instruction, state, module) or mixed


def _mix(instruction: ir.Instruction, state: PointsTo, module: ir.Module) -> bool:
    """Note objects whose pointers this instruction touches other than one by one."""
    if instruction.op not in _TOUCHING:
        return False
    before = len(state.mixed) + sum(map(len, state.overwritten.values()))
    match instruction.op:
        case "load":
            _mix_access(instruction.operands[0], instruction.type, state, module)
        case "store":
            _mix_access(instruction.operands[1], instruction.operands[0].type, state, module)
            if not is_pointer(instruction.operands[0]):
                size = module.layout.store_size(instruction.operands[0].type)
                _overwrite(instruction.operands[1], size, state)
        case "call" | "invoke" if call_kind(instruction, module) == "block":
            for operand in instruction.operands:
                if is_pointer(operand):
                    state.mixed |= {base for base, _ in state.of(operand).places if base.kind == "local"}
            length = instruction.operands[2]
            _overwrite(instruction.operands[0], length.unsigned if isinstance(length, ir.IntConst) else None, state)
        case "call" | "invoke" if instruction.callee_name is not None:
            known = library_function(instruction.callee_name, module.stubs)
            for index, operand in enumerate(instruction.operands if known is not None else ()):
                assert known is not None
                if is_pointer(operand) and (index in known.writes or -1 in known.writes):
                    _overwrite(operand, None, state)
        case "cmpxchg" | "atomicrmw" | "va_arg":
            for operand in instruction.operands:
                if is_pointer(operand):
                    state.mixed |= {base for base, _ in state.of(operand).places if base.kind == "local"}
                    _overwrite(operand, None, state)
        case _:
            pass
    return len(state.mixed) + sum(map(len, state.overwritten.values())) != before


def _overwrite(address: ir.Value, size: int | None, state: PointsTo) -> None:
    """Note the bytes of objects that are not the function's own which a write of something else than pointers hits."""
    for base, offset in state.of(address).living:
        if base.kind != "local":
            span = state.span(address, base) if offset is None else (offset, None if size is None else offset + size)
            state.overwritten.setdefault(base, set()).add(span or (-(1 << 62), None))


def _mix_access(address: ir.Value, type: ir.Type, state: PointsTo, module: ir.Module) -> None:
    size = module.layout.store_size(type)
    width = module.pointer_bits // 8
    pointer = isinstance(type, ir.PtrT)
    for base, offset in state.of(address).places:
        if base.kind != "local" or base in state.mixed:
            continue
        if offset is None or any(
            not (pointer and at == offset) and at < offset + size and offset < at + width for at in state.held(base)
        ):
            state.mixed.add(base)


def _escape_content(state: PointsTo, base: Base) -> bool:
    before = len(state.escaped)
    for offset in state.held(base):
        state.escaped |= _reachable(state, state.cells[base, offset])
    return len(state.escaped) != before


def _moved(instruction: ir.Instruction, state: _State, module: ir.Module) -> bool:
    match instruction.op:
        case "store":
            state.unknown_stores |= state.of(instruction.operands[1]).unknown
            return _store(instruction, state)
        case "outlive":
            holder = instruction.operands[0]
            assert isinstance(holder, ir.Local)
            cell = (Base("local", holder.name), instruction.indices[0])
            return state.cells.setdefault(cell, PointerTargets()).include(PointerTargets({(DEAD, None)}))
        case "ptrtoint" if instruction.result in state.differences:
            return False
        case "ret" | "insertvalue" | "cmpxchg" | "atomicrmw" | "insertelement" | "ptrtoint":
            return _escape(state, (op for op in instruction.operands if is_pointer(op)))
        case "call" | "invoke":
            changed = _call(instruction, state, module)
        case _:
            changed = False
    if instruction.result is None or not isinstance(instruction.type, ir.PtrT):
        return changed
    return (
        state.targets.setdefault(instruction.result, PointerTargets()).include(_value(instruction, state, module))
        or changed
    )


def _value(instruction: ir.Instruction, state: _State, module: ir.Module) -> PointerTargets:
    match instruction.op:
        case "alloca":
            if not instruction.is_single:
                return PointerTargets(unknown=True)
            return PointerTargets({(Base("local", instruction.result or ""), 0)})
        case "getelementptr" if instruction.gep is not None:
            gep = instruction.gep
            return state.of(gep.base).moved(None if gep.steps else gep.offset)
        case "phi":
            return _joined(state, (value for value, _ in instruction.incoming))
        case "select":
            return _joined(state, instruction.operands[1:])
        case "bitcast" | "addrspacecast" | "freeze":
            return state.of(instruction.operands[0])
        case "load":
            return _loaded(instruction, state, module)
        case "outlived":
            pointer, *gone = (operand for operand in instruction.operands if isinstance(operand, ir.Local))
            names, old = {local.name for local in gone}, state.of(pointer)
            kept = {place for place in old.places if place[0].kind != "local" or place[0].name not in names}
            return PointerTargets(kept | {(DEAD, None)} if kept != old.places else kept, old.unknown)
        case "call" | "invoke" if instruction.result is not None and allocates(instruction, module):
            return PointerTargets({(Base(HEAP, instruction.result), 0)})
        case "call" | "invoke" if (known := handed_back(instruction, state, module)) is not None:
            return known
        case _:
            return PointerTargets(unknown=True)


def _joined(state: PointsTo, values: Iterable[ir.Value]) -> PointerTargets:
    joined = PointerTargets()
    for value in values:
        joined.include(state.of(value))
    return joined


def _loaded(instruction: ir.Instruction, state: _State, module: ir.Module) -> PointerTargets:
    address = state.of(instruction.operands[0])
    if address.unknown or _seen_by_others(instruction.access):
        return PointerTargets(unknown=True)
    found = PointerTargets()
    late = instruction.result in state.given.late or state.unknown_stores
    for base, offset in sorted(address.living, key=lambda place: (place[0], place[1] is None, place[1] or 0)):
        if base.kind == HEAP:
            found.unknown = True  # what calls leave there, and what moves with it, is not followed
        elif base.kind != "local":
            if (base, offset) not in state.initial:
                state.initial[base, offset] = initial_pointers(module, base, offset)
            initial, always = state.initial[base, offset]
            found.include(initial)
            if not always:
                found.include(_formal(state, base, offset, module, late=late))
        elif offset is None or base in state.mixed:
            found.unknown = True
        else:
            found.include(state.cells.setdefault((base, offset), PointerTargets()))
            if base in state.escaped or base in state.lent:
                found.include(state.abroad)
                found.include(_formal(state, base, offset, module, late=True))
    return found


def _formal(state: _State, base: Base, offset: int | None, module: ir.Module, *, late: bool) -> PointerTargets:
    if not state.given.apart:
        return PointerTargets(unknown=True)

    def alike(found: Base) -> list[Base]:
        if found not in state.alike:
            state.alike[found] = alike_by_type(state, found, state.function, module, state.pointees)
        return state.alike[found]

    return formal_content(
        state, state.given.joined, base, offset, late=late, width=module.pointer_bits // 8, alike=alike
    )


def _seen_by_others(access: ir.Access | None) -> bool:
    """Whether a load or store is volatile or atomic: what is read need not be what was written here."""
    return access is not None and (access.volatile or bool(access.atomic))


def _store(instruction: ir.Instruction, state: PointsTo) -> bool:
    value, address = instruction.operands
    if not is_pointer(value):
        return False
    target, stored = state.of(address), state.of(value)
    changed = False
    others = target.unknown or _seen_by_others(instruction.access)
    if others or any(base.kind != "local" or offset is None for base, offset in target.living):
        changed = _escape(state, (value,))
        changed |= state.abroad.include(stored)
        if others:
            changed |= state.anywhere.include(stored)
        for base, offset in target.places:
            if base.kind == "local" and offset is None and base not in state.escaped:
                state.escaped.add(base)
                changed = True
            elif base.kind == "local" and offset is not None:
                changed |= state.cells.setdefault((base, offset), PointerTargets()).include(stored)
            elif base.kind not in ("local", "null", "dead"):
                changed |= state.stored.setdefault((base, offset), PointerTargets()).include(stored)
        return changed
    for base, offset in target.living:
        assert offset is not None
        changed |= state.cells.setdefault((base, offset), PointerTargets()).include(stored)
    return changed


def _escape(state: PointsTo, values: Iterable[ir.Value]) -> bool:
    before = len(state.escaped)
    for value in values:
        state.escaped |= _reachable(state, state.of(value))
    return len(state.escaped) != before


def _reachable(state: PointsTo, target: PointerTargets) -> set[Base]:
    """The objects that ``target`` may point to, and those that pointers held in them may point to."""

    def objects(pointed: PointerTargets) -> list[Base]:
        return [base for base, _ in pointed.places if base.kind in ("local", "global", "parameter")]

    def held(base: Base) -> list[Base]:
        return [b for offset in state.held(base) for b in objects(state.cells[base, offset])]

    return set(reachable(objects(target), held))


def reachable_objects(state: PointsTo, target: PointerTargets) -> set[Base]:
    """The objects that ``target`` may point to, and those that pointers held in them may point to, and so on."""
    return _reachable(state, target)


def _call(instruction: ir.Instruction, state: PointsTo, module: ir.Module) -> bool:
    pointers = [op for op in instruction.operands if is_pointer(op)]
    if call_kind(instruction, module) in ("ignored", "reads", "block"):
        # A function that changes nothing may still hand its argument back.
        return _escape(state, pointers) if may_hand_back(instruction, module) else False
    before = len(state.lent)
    for pointer in pointers:
        state.lent |= _reachable(state, state.of(pointer))
    return len(state.lent) != before


def _record(instruction: ir.Instruction, state: PointsTo, module: ir.Module) -> None:
    """Note the accesses of one instruction, once all targets are known."""
    match instruction.op:
        case "load":
            _access(state, module, instruction.operands[0], instruction.type, writes=False, access=instruction.access)
        case "store":
            value, address = instruction.operands
            _access(state, module, address, value.type, writes=True, access=instruction.access)
        case "call" | "invoke":
            kind = call_kind(instruction, module)
            state.defined_calls |= kind == "defined"
            state.unknown_calls |= kind == "unknown"
            cleared = zeroed_by(instruction, state) if kind == "block" else None
            if cleared is not None:
                state.zeroed.setdefault(cleared[0], set()).add((cleared[1], cleared[1] + cleared[2]))
            elif kind == "block" and isinstance(instruction.operands[2], ir.IntConst):
                _block(state, instruction, instruction.operands[2].unsigned)
            elif kind == "block" or (kind == "reads" and _is_computed(instruction)):
                _touch(state, instruction.operands)
            elif kind == "reads":
                # What the call may read of variables is told by what is known around the function.
                state.unknown_calls |= any(_may_hold_variables(op, state, module) for op in instruction.operands)
        case "cmpxchg" | "atomicrmw" | "va_arg":
            _touch(state, instruction.operands)
        case _:
            pass


def _block(state: PointsTo, instruction: ir.Instruction, length: int) -> None:
    """Note that so many bytes are read or written as a block."""
    for number, operand in enumerate(instruction.operands[:2]):
        if is_pointer(operand):
            target = state.of(operand)
            state.unknown_access |= target.unknown
            state.formal_access |= target.is_formal
            for place in sorted(target.living, key=lambda p: (p[0], p[1] is None, p[1] or 0)):
                span = state.span(operand, place[0]) if place[1] is None else None
                writes = number == 0
                state.accesses.append(MemoryAccess(place, length, False, False, writes, 8 * length, span))


def zeroed_by(instruction: ir.Instruction, points: PointsTo) -> tuple[Base, int, int] | None:
    """The object of which a ``memset`` makes bytes 0, with the first of them and how many; None where that is not
    known, or another instruction.
    """
    if not (instruction.callee_name or "").startswith("llvm.memset"):
        return None
    address, byte, length, volatile = instruction.operands
    target = points.of(address)
    if target.unknown or len(target.places) != 1 or not isinstance(length, ir.IntConst):
        return None
    ((base, offset),) = target.places
    if not isinstance(byte, ir.IntConst) or not isinstance(volatile, ir.IntConst):
        return None
    if byte.unsigned or volatile.unsigned or offset is None or base.kind not in ("local", "global", "parameter"):
        return None
    return base, offset, length.unsigned


def _is_computed(instruction: ir.Instruction) -> bool:
    """Whether the result of a call that reads is worked out from memory where it is interpreted (``strlen``): that must
    have there what is read.
    """
    known = library_function(instruction.callee_name or "")
    return known is not None and known.pure


def _may_hold_variables(operand: ir.Value, state: PointsTo, module: ir.Module) -> bool:
    if not is_pointer(operand):
        return False
    bases = (base for base, _ in state.of(operand).places if base.kind != "null")
    return any(base.kind != "global" or not _is_constant(base.name, module) for base in bases)


def _is_constant(name: str, module: ir.Module) -> bool:
    found = module.globals.get(name)
    return found is not None and found.constant


def _touch(state: PointsTo, operands: Iterable[ir.Value]) -> None:
    for operand in operands:
        if is_pointer(operand):
            target = state.of(operand)
            state.unknown_access |= target.unknown
            state.formal_access |= target.is_formal
            state.touched |= {base for base, _ in target.places}


def _access(
    state: PointsTo, module: ir.Module, address: ir.Value, type: ir.Type, *, writes: bool, access: ir.Access | None
) -> None:
    target = state.of(address)
    state.unknown_access |= target.unknown
    state.formal_access |= target.is_formal
    size = module.layout.store_size(type)
    pointer = isinstance(type, ir.PtrT)
    plain = (pointer or isinstance(type, ir.IntT)) and not _seen_by_others(access)
    bits = type.bits if isinstance(type, ir.IntT) else module.pointer_bits
    several = len(target.living) > 1
    for place in sorted(target.living, key=lambda p: (p[0], p[1] is None, p[1] or 0)):
        # An address with several possible places cannot be one variable.
        span = state.span(address, place[0]) if place[1] is None else None
        state.accesses.append(MemoryAccess(place, size, pointer, plain and not several, writes, bits, span))
