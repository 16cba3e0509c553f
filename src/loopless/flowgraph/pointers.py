"""Where pointers point: a flow-insensitive points-to analysis of one function, with constant byte offsets.

Every pointer value gets a set of places (object, offset), the offset None where it varies; or it is *unknown* (it may
point to any object that the outside can reach). From this follow which scalars can be treated as variables.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from loopless.flowgraph.members import Member, members
from loopless.graphs import reachable
from loopless.source import ir
from loopless.source.vocabulary import Effect, effect_of

_MAX_OFFSETS = 6
_OF_POINTERS = frozenset({
    "load", "store", "outlive", "ptrtoint", "ret", "insertvalue", "cmpxchg", "atomicrmw", "insertelement", "call",
    "invoke", "va_arg",
})  # fmt: skip
"""Instructions of which :func:`_transfer` learns something; of others where their result is a pointer."""


@dataclass(frozen=True, slots=True, order=True)
class Base:
    """An object before it is numbered: ``kind`` is "local", "global", "parameter", "function", "null" or "dead"."""

    kind: str
    name: str


NULL = Base("null", "")
DEAD = Base("dead", "an object whose lifetime is over")
"""Stands for all of them: a pointer to one must not be used any more (see :mod:`loopless.flowgraph.lifetimes`)."""
Places = frozenset[tuple[Base, int | None]]


@dataclass(slots=True)
class Target:
    """What a pointer may point to: ``places``, and anything at all where ``unknown``."""

    places: set[tuple[Base, int | None]] = field(default_factory=set)
    unknown: bool = False

    def include(self, other: Target) -> bool:
        """Add ``other``; True where that changed something. Too many offsets of one object become None."""
        if (self.unknown or not other.unknown) and other.places <= self.places:
            return False  # nothing new: so it is most often
        before = (len(self.places), self.unknown)
        snapshot = set(self.places)
        self.places |= other.places
        self.unknown |= other.unknown
        for base in {base for base, _ in self.places}:
            offsets = {offset for found, offset in self.places if found == base}
            if None in offsets or len(offsets) > _MAX_OFFSETS:
                self.places -= {(base, offset) for offset in offsets}
                self.places.add((base, None))
        return (len(self.places), self.unknown) != before or self.places != snapshot

    def moved(self, offset: int | None) -> Target:
        """The target after a step of ``offset`` bytes (None: not constant)."""
        moved = {
            (base, None if old is None or offset is None else old + offset)
            for base, old in self.places
            if base.kind != "null"
        }
        return Target(
            moved | ({(NULL, None)} if any(b.kind == "null" for b, _ in self.places) else set()), self.unknown
        )

    @property
    def base(self) -> Base | None:
        """The one object that is meant, None where that is not known."""
        bases = {base for base, _ in self.places}
        return next(iter(bases)) if len(bases) == 1 and not self.unknown else None

    @property
    def living(self) -> set[tuple[Base, int | None]]:
        """The places in objects that live: nothing else is read or written in a run that is defined."""
        return {place for place in self.places if place[0] not in (DEAD, NULL)}


@dataclass(frozen=True, slots=True)
class Access:
    """A load or store of ``size`` bytes (of integers or pointers; ``plain`` False for anything else). ``span``: the
    bytes that it lies in, from the first to before the second, where its offset varies within a member.
    """

    place: tuple[Base, int | None] | None
    size: int
    pointer: bool
    plain: bool
    writes: bool
    bits: int
    span: tuple[int, int] | None = None


@dataclass(slots=True)
class PointsTo:
    """The result: targets per local name, accesses, and objects by what reaches them."""

    targets: dict[str, Target] = field(default_factory=dict)
    cells: dict[tuple[Base, int], Target] = field(default_factory=dict)
    accesses: list[Access] = field(default_factory=list)
    escaped: set[Base] = field(default_factory=set)
    """Objects whose address lies in memory, was returned or became a number: anything unknown may reach them."""
    lent: set[Base] = field(default_factory=set)
    """Objects whose address was an argument of a call of unknown effect."""
    mixed: set[Base] = field(default_factory=set)
    """Local objects whose pointers are not followed place by place: read or written at a varying offset, in other
    units, or as a block. What they hold has escaped."""
    touched: set[Base] = field(default_factory=set)
    """Objects that library calls or block operations read or write as a whole."""
    parameters: dict[str, Base] = field(default_factory=dict)
    """The object of each pointer parameter; parameters that are compared or subtracted share one."""
    shared: set[str] = field(default_factory=set)
    """Parameters that share their object with another one: their offset is not known."""
    members: Mapping[str, Member] = field(default_factory=dict)
    """By the names of addresses of unknown offset, the member arrays that they lie in."""
    differences: set[str] = field(default_factory=set)
    """Pointers turned into numbers that are only subtracted or compared: these cannot become pointers again."""
    unknown_access: bool = False
    defined_calls: bool = False
    unknown_calls: bool = False
    _held: dict[Base, list[int]] = field(default_factory=dict, compare=False, repr=False)
    _indexed: int = field(default=0, compare=False, repr=False)

    def held(self, base: Base) -> Sequence[int]:
        """The offsets in an object at which pointers lie; no cell is ever taken out."""
        if self._indexed != len(self.cells):
            for holder, offset in itertools.islice(self.cells, self._indexed, None):
                self._held.setdefault(holder, []).append(offset)
            self._indexed = len(self.cells)
        return self._held.get(base, ())

    def span(self, value: ir.Value, base: Base) -> tuple[int, int] | None:
        """The bytes of ``base`` that an address of unknown offset there lies in, where that is known."""
        member = self.members.get(value.name) if isinstance(value, ir.Local) else None
        if member is None:
            return None
        offsets = [offset for found, offset in self.of(member.root).places if found == base]
        known = [offset for offset in offsets if offset is not None]
        if not known or len(known) < len(offsets):
            return None
        return min(known) + member.low, max(known) + member.high

    def of(self, value: ir.Value) -> Target:
        """The target of a pointer-typed operand."""
        match value:
            case ir.Local():
                return self.targets.setdefault(value.name, Target())
            case ir.GlobalRef():
                return Target({(Base("global", value.name), 0)})
            case ir.AddressOf():
                return Target({(Base("global", value.name), value.offset)})
            case ir.NullPtr() | ir.ZeroInit():
                return Target({(NULL, None)})
            case _:
                return Target(unknown=True)


def analyse(function: ir.Function, module: ir.Module) -> PointsTo:
    """Where the pointers of ``function`` point."""
    names = [param.name for param in function.params if isinstance(param.type, ir.PtrT)]
    leader = {name: name for name in names}
    while True:
        result = _solve(function, module, leader)
        joined = _joined_parameters(result, function, leader)
        if joined == leader:
            return result
        leader = joined


def _solve(function: ir.Function, module: ir.Module, leader: Mapping[str, str]) -> PointsTo:
    result = PointsTo()
    for name, first in leader.items():
        base = Base("parameter", first)
        result.parameters[name] = base
        together = sum(1 for other in leader.values() if other == first) > 1
        if together:
            result.shared.add(name)
        result.targets[name] = Target({(base, None if together else 0)})
    result.members = members(function, module)
    instructions = [i for block in function.blocks for i in block.instructions if not i.is_debug]
    result.differences = _only_subtracted(instructions)
    _fix(result, instructions, module)
    while _unheard_of(result, instructions):
        _fix(result, instructions, module)
    for instruction in instructions:
        _record(instruction, result, module)
    return result


def _fix(state: PointsTo, instructions: list[ir.Instruction], module: ir.Module) -> None:
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
            target = state.targets.setdefault(instruction.result, Target())
            if not target.places and not target.unknown:
                target.unknown = found = True
    return found


def _joined_parameters(state: PointsTo, function: ir.Function, leader: Mapping[str, str]) -> dict[str, str]:
    """Pointers that are ordered, compared or subtracted mean the same object: so do their parameters."""
    joined = dict(leader)
    numbers: dict[str, ir.Value] = {}
    for block in function.blocks:
        for instruction in block.instructions:
            if instruction.op == "ptrtoint" and instruction.result is not None:
                numbers[instruction.result] = instruction.operands[0]
            if instruction.op not in ("icmp", "sub"):
                continue
            sides = [numbers.get(o.name, o) if isinstance(o, ir.Local) else o for o in instruction.operands]
            if not all(_is_pointer(side) for side in sides):
                continue
            bases = {b.name for side in sides for b, _ in state.of(side).places if b.kind == "parameter"}
            if len(bases) > 1:
                first = min(bases, key=list(leader).index)
                joined = {name: first if old in bases else old for name, old in joined.items()}
    return joined


def _only_subtracted(instructions: list[ir.Instruction]) -> set[str]:
    numbers = {i.result for i in instructions if i.op == "ptrtoint" and i.result is not None}
    if not numbers:
        return numbers
    for instruction in instructions:
        if instruction.op not in ("sub", "icmp"):
            values = (*instruction.operands, *(value for value, _ in instruction.incoming))
            numbers -= {value.name for value in values if isinstance(value, ir.Local)}
    return numbers


def _transfer(instruction: ir.Instruction, state: PointsTo, module: ir.Module) -> bool:
    mixed = _mix(instruction, state, module)
    return _moved(instruction, state, module) or mixed


def _mix(instruction: ir.Instruction, state: PointsTo, module: ir.Module) -> bool:
    """Note local objects whose pointers this instruction touches other than one by one."""
    before = len(state.mixed)
    match instruction.op:
        case "load":
            _mix_access(instruction.operands[0], instruction.type, state, module)
        case "store":
            _mix_access(instruction.operands[1], instruction.operands[0].type, state, module)
        case "call" | "invoke" if call_kind(instruction, module) == "block":
            for operand in instruction.operands:
                if _is_pointer(operand):
                    state.mixed |= {base for base, _ in state.of(operand).places if base.kind == "local"}
        case "cmpxchg" | "atomicrmw" | "va_arg":
            for operand in instruction.operands:
                if _is_pointer(operand):
                    state.mixed |= {base for base, _ in state.of(operand).places if base.kind == "local"}
        case _:
            pass
    return len(state.mixed) != before


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


def _moved(instruction: ir.Instruction, state: PointsTo, module: ir.Module) -> bool:
    match instruction.op:
        case "store":
            return _store(instruction, state)
        case "outlive":
            holder = instruction.operands[0]
            assert isinstance(holder, ir.Local)
            cell = (Base("local", holder.name), instruction.indices[0])
            return state.cells.setdefault(cell, Target()).include(Target({(DEAD, None)}))
        case "ptrtoint" if instruction.result in state.differences:
            return False
        case "ret" | "insertvalue" | "cmpxchg" | "atomicrmw" | "insertelement" | "ptrtoint":
            return _escape(state, (op for op in instruction.operands if _is_pointer(op)))
        case "call" | "invoke":
            changed = _call(instruction, state, module)
        case _:
            changed = False
    if instruction.result is None or not isinstance(instruction.type, ir.PtrT):
        return changed
    return state.targets.setdefault(instruction.result, Target()).include(_value(instruction, state)) or changed


def _value(instruction: ir.Instruction, state: PointsTo) -> Target:
    match instruction.op:
        case "alloca":
            if instruction.operands and not isinstance(instruction.operands[0], ir.IntConst):
                return Target(unknown=True)
            return Target({(Base("local", instruction.result or ""), 0)})
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
            return _loaded(instruction, state)
        case "outlived":
            pointer, *gone = (operand for operand in instruction.operands if isinstance(operand, ir.Local))
            names, old = {local.name for local in gone}, state.of(pointer)
            kept = {place for place in old.places if place[0].kind != "local" or place[0].name not in names}
            return Target(kept | {(DEAD, None)} if kept != old.places else kept, old.unknown)
        case _:
            return Target(unknown=True)


def _joined(state: PointsTo, values: Iterable[ir.Value]) -> Target:
    joined = Target()
    for value in values:
        joined.include(state.of(value))
    return joined


def _loaded(instruction: ir.Instruction, state: PointsTo) -> Target:
    address = state.of(instruction.operands[0])
    if address.unknown or _seen_by_others(instruction.access):
        return Target(unknown=True)
    found = Target()
    for base, offset in address.living:
        if base.kind != "local" or offset is None or base in state.escaped | state.lent | state.mixed:
            found.unknown = True
        else:
            found.include(state.cells.setdefault((base, offset), Target()))
    return found


def _seen_by_others(access: ir.Access | None) -> bool:
    """Whether a load or store is volatile or atomic: what is read need not be what was written here."""
    return access is not None and (access.volatile or bool(access.atomic))


def _store(instruction: ir.Instruction, state: PointsTo) -> bool:
    value, address = instruction.operands
    if not _is_pointer(value):
        return False
    target, stored = state.of(address), state.of(value)
    changed = False
    others = target.unknown or _seen_by_others(instruction.access)
    if others or any(base.kind != "local" or offset is None for base, offset in target.living):
        changed = _escape(state, (value,))
        for base, offset in target.places:
            if base.kind == "local" and offset is None and base not in state.escaped:
                state.escaped.add(base)
                changed = True
        return changed
    for base, offset in target.living:
        assert offset is not None
        changed |= state.cells.setdefault((base, offset), Target()).include(stored)
    return changed


def _escape(state: PointsTo, values: Iterable[ir.Value]) -> bool:
    before = len(state.escaped)
    for value in values:
        state.escaped |= _reachable(state, state.of(value))
    return len(state.escaped) != before


def _reachable(state: PointsTo, target: Target) -> set[Base]:
    """The objects that ``target`` may point to, and those that pointers held in them may point to."""

    def objects(pointed: Target) -> list[Base]:
        return [base for base, _ in pointed.places if base.kind in ("local", "global", "parameter")]

    def held(base: Base) -> list[Base]:
        return [b for offset in state.held(base) for b in objects(state.cells[base, offset])]

    return set(reachable(objects(target), held))


def reachable_objects(state: PointsTo, target: Target) -> set[Base]:
    """The objects that ``target`` may point to, and those that pointers held in them may point to, and so on."""
    return _reachable(state, target)


def _call(instruction: ir.Instruction, state: PointsTo, module: ir.Module) -> bool:
    pointers = [op for op in instruction.operands if _is_pointer(op)]
    if call_kind(instruction, module) in ("ignored", "reads", "block"):
        # A function that changes nothing may still hand its argument back.
        width = instruction.type.bits if isinstance(instruction.type, ir.IntT) else 0
        hands_back = isinstance(instruction.type, ir.PtrT | ir.StructT) or width >= module.pointer_bits
        return _escape(state, pointers) if hands_back else False
    before = len(state.lent)
    for pointer in pointers:
        state.lent |= _reachable(state, state.of(pointer))
    return len(state.lent) != before


def call_kind(instruction: ir.Instruction, module: ir.Module) -> str:
    """How a call touches memory: "ignored" (not ours), "reads", "block" (memset, memcpy), "defined", "unknown"."""
    name = instruction.callee_name
    if name is None:
        return "unknown"
    if name.startswith(("llvm.memset", "llvm.memcpy", "llvm.memmove")):
        return "block"
    if name.startswith("llvm."):
        return "ignored"
    declared = module.functions.get(name)
    effect = effect_of(name) if declared is None or declared.is_declaration else None
    if effect is not None:
        return {
            Effect.NONE: "ignored",
            Effect.READS: "reads",
            Effect.ALLOCATES: "ignored",
            Effect.FREES: "ignored",
        }.get(effect, "unknown")
    if declared is not None:
        if "memory(none)" in declared.attributes:
            return "ignored"
        if not declared.is_declaration:
            return "defined"
        if "memory(read)" in declared.attributes or "readonly" in declared.attributes:
            return "reads"
    return "unknown"


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
            if kind in ("reads", "block"):
                _touch(state, instruction.operands)
        case "cmpxchg" | "atomicrmw" | "va_arg":
            _touch(state, instruction.operands)
        case _:
            pass


def _touch(state: PointsTo, operands: Iterable[ir.Value]) -> None:
    for operand in operands:
        if _is_pointer(operand):
            target = state.of(operand)
            state.unknown_access |= target.unknown
            state.touched |= {base for base, _ in target.places}


def _access(
    state: PointsTo, module: ir.Module, address: ir.Value, type: ir.Type, *, writes: bool, access: ir.Access | None
) -> None:
    target = state.of(address)
    state.unknown_access |= target.unknown
    size = module.layout.store_size(type)
    pointer = isinstance(type, ir.PtrT)
    plain = (pointer or isinstance(type, ir.IntT)) and not _seen_by_others(access)
    bits = type.bits if isinstance(type, ir.IntT) else module.pointer_bits
    several = len(target.living) > 1
    for place in sorted(target.living, key=lambda p: (p[0], p[1] is None, p[1] or 0)):
        # An address with several possible places cannot be one variable.
        span = state.span(address, place[0]) if place[1] is None else None
        state.accesses.append(Access(place, size, pointer, plain and not several, writes, bits, span))


def _is_pointer(value: ir.Value) -> bool:
    return isinstance(value.type, ir.PtrT) if not isinstance(value, ir.OtherConst) else True
