"""Memory: loads, stores, local objects and address computations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from loopless import terms as t
from loopless.flowgraph.memory.objects import Slot
from loopless.flowgraph.memory.own_heap import is_allocated
from loopless.flowgraph.memory.places import DEAD, HEAP, NULL, Base
from loopless.flowgraph.memory.pointees import STANDING_IN
from loopless.flowgraph.memory.varying_size import inside
from loopless.flowgraph.model import (
    NULL_OBJECT,
    Allocate,
    Assign,
    Begin,
    Check,
    Expire,
    Havoc,
    Kind,
    Load,
    Origin,
    Pointer,
    Statement,
    Store,
)
from loopless.flowgraph.translate import Translator
from loopless.flowgraph.values import FLAG_TYPE, Address, Flag, Number, UnfollowedValue, Value, flag_of, number_of_flag
from loopless.source import ir, marks
from loopless.source.string_copies import INSIDE


def load(translator: Translator, instruction: ir.Instruction) -> None:
    """A load: from a variable, from memory, or of something not followed."""
    loc, type, access = instruction.loc, instruction.type, instruction.access
    pointer_operand = instruction.operands[0]
    truth = instruction.result in translator.uses.truths
    if access is not None and (access.volatile or access.atomic):
        value = translator.unknown(ir.IntT(1) if truth else type, Origin.VOLATILE, "volatile", loc)
        translator.define(
            instruction, number_of_flag(value, 8, signed_extension=False) if isinstance(value, Flag) else value
        )
        return
    known = _constant(translator, pointer_operand, type)
    if known is not None:
        translator.define(instruction, known)
        return
    slot = translator.slot(pointer_operand)
    if slot is not None:
        null_check(translator, pointer_operand, loc)
        alive(translator, pointer_operand, loc)
        _long_enough(translator, pointer_operand, translator.memory.module.layout.store_size(type), loc)
        value = _slot_value(slot, type)
        _promised_truth(translator, instruction, value)
        translator.define(instruction, value)
        return
    address = _accessed(translator, pointer_operand, translator.memory.module.layout.store_size(type), loc)
    pointer = Pointer(address.object, address.offset)
    if nowhere(translator, pointer_operand):
        translator.define(
            instruction, translator.value(ir.NullPtr()) if isinstance(type, ir.PtrT) else _nothing_read(type)
        )
        return
    name = instruction.result or "load"
    match type:
        case ir.IntT(bits=bits):
            signed = (
                translator.uses.signed[name]
                if name in translator.uses.signed
                else translator.memory.is_signed(pointer_operand, bits)
            )
            held = translator.memory.number_type(bits, signed=signed) if bits > 1 else FLAG_TYPE
            if truth and translator.truths.surely(pointer_operand):
                held, signed = FLAG_TYPE, False
            var = translator.memory.fresh(f"%{name}", Kind.TEMPORARY, held)
            found = Load(var, pointer, FLAG_TYPE if held == FLAG_TYPE else t.IntType(bits, signed), None, loc)
            translator.emit_access(found, pointer_operand)
            value = flag_of(var) if bits == 1 else Number(var, t.IntType(bits, signed))
            _promised_truth(translator, instruction, value)
            translator.define(instruction, value)
        case ir.PtrT():
            offset = translator.memory.fresh(
                f"%{name}", Kind.TEMPORARY, translator.memory.offset_type, pointer_part="offset"
            )
            owner = translator.memory.fresh(f"%{name}.object", Kind.TEMPORARY, t.INTEGERS, pointer_part="object")
            width = translator.memory.module.pointer_bits
            translator.emit_access(Load(offset, pointer, t.IntType(width), owner, loc), pointer_operand)
            translator.define(instruction, Address(owner, offset))
        case _:
            translator.define(instruction, translator.unknown(type, Origin.UNSUPPORTED, name, loc))


def _promised_truth(translator: Translator, instruction: ir.Instruction, value: Value) -> None:
    """What the range of a load in optimized code says; in code as it is written the ``trunc`` behind it says it."""
    if marks.TRUTH in instruction.flags and isinstance(value, Number):
        translator.promised(value.converted(8, signed=False).le(1), "invalid-bool", instruction.loc)


def _constant(translator: Translator, operand: ir.Value, type: ir.Type) -> Number | None:
    """The value of an integer at a constant place of a constant global."""
    target = translator.memory.points.of(operand)
    if target.unknown or len(target.places) != 1 or not isinstance(type, ir.IntT):
        return None
    base, offset = next(iter(target.places))
    if base.kind != "global" or offset is None:
        return None
    found = translator.memory.objects[translator.memory.number(base)]
    size = translator.memory.module.layout.store_size(type)
    if not found.constant or found.content is None or not 0 <= offset <= len(found.content) - size:
        return None
    if any(
        at < offset + size and offset < at + translator.memory.module.pointer_bits // 8
        for at, _, _ in found.relocations
    ):
        return None
    value = int.from_bytes(found.content[offset : offset + size], "little")
    return Number(t.const(t.IntType(type.bits).wrap(value)), t.IntType(type.bits))


def with_objects(translator: Translator) -> Iterator[tuple[Statement, Statement]]:
    """All accesses to memory, and what becomes of them: with the objects that they may be in, now that all have
    numbers, and how C names what is read or written.
    """
    for access, address in translator.accesses:
        objects = translator.memory.objects_of(translator.memory.points.of(address))
        match access:
            case Load(type=type) | Store(type=type):
                shown, signed = translator.memory.place_name(address, (type.width or 0) // 8)
                yield access, replace(access, objects=objects, shown=shown, signed=signed)
            case _:
                yield access, replace(access, objects=objects)


def _slot_value(slot: Slot, type: ir.Type) -> Value:
    if isinstance(type, ir.PtrT):
        owner: t.Term = t.const(slot.fixed_object) if slot.fixed_object is not None else slot.object_var or t.ZERO
        return Address(owner, slot.var if slot.fixed_offset is None else t.const(slot.fixed_offset))
    assert isinstance(type, ir.IntT)
    if type.bits == 1:
        return flag_of(slot.var)
    signed = slot.var.type.signed
    return Number(slot.var, slot.var.type if slot.var.type.width is None else t.IntType(type.bits, signed))


def store(translator: Translator, instruction: ir.Instruction) -> None:
    """A store to a variable or to memory."""
    loc = instruction.loc
    source, target = instruction.operands
    slot = translator.slot(target)
    volatile = instruction.access is not None and (instruction.access.volatile or instruction.access.atomic)
    writable(translator, target, loc)
    if slot is not None and not volatile:
        null_check(translator, target, loc)
        alive(translator, target, loc)
        _long_enough(translator, target, translator.memory.module.layout.store_size(source.type), loc)
        if nowhere(translator, target, write=True):
            return
        assign_slot(translator, slot, translator.value(source), loc)
        return
    size = translator.memory.module.layout.store_size(source.type)
    address = _accessed(translator, target, size, loc)
    pointer = Pointer(address.object, address.offset)
    if nowhere(translator, target, write=True):
        return
    value = translator.value(source)
    match value:
        case Address():
            width = t.IntType(translator.memory.module.pointer_bits)
            translator.emit_access(Store(pointer, value.offset, width, value.object, loc), target)
        case Number():
            held = value.type if value.type.width is not None else t.IntType(8 * size)
            translator.emit_access(Store(pointer, value.term, held, None, loc), target)
        case Flag():
            translator.emit_access(Store(pointer, value.term, t.IntType(8, signed=False), None, loc), target)
        case UnfollowedValue():
            filler = translator.unknown(ir.IntT(8 * size), Origin.UNSUPPORTED, "stored", loc, value.refused)
            assert isinstance(filler, Number)
            translator.emit_access(Store(pointer, filler.term, t.IntType(8 * size), None, loc), target)


def assign_slot(translator: Translator, slot: Slot, value: Value, loc: ir.Loc | None) -> None:
    """``slot := value``."""
    var = slot.var
    match value:
        case Address():
            if slot.object_var is not None:
                owner, offset = value.object, value.offset
                if var in owner.variables:
                    kept = translator.saved("object", Address(owner, t.ZERO))
                    assert isinstance(kept, Address)
                    owner = kept.object
                translator.emit(Assign(var, offset, loc))
                translator.emit(Assign(slot.object_var, owner, loc))
            else:
                translator.emit(Assign(var, value.offset, loc))
        case Number():
            translator.emit(Assign(var, _fitting(value, var), loc))
        case Flag():
            translator.emit(Assign(var, value.term, loc))
        case UnfollowedValue():
            translator.havoc_slot(slot, Origin.UNSUPPORTED, "stored", loc, value.refused)


def _fitting(value: Number, var: t.Var) -> t.Term:
    if var.type.width is None:
        return value.read(signed=True)
    term = value.read(signed=var.type.signed)
    if var.type == FLAG_TYPE and value.type.width != 1:
        return t.ite(t.not_zero(term), t.ONE, t.ZERO)
    if value.type.width is None:
        return t.wrap(term, var.type)
    return term


def null_check(translator: Translator, operand: ir.Value, loc: ir.Loc | None, unless: t.Condition = t.FALSE) -> None:
    """A check that a pointer that is used is not null, where it may be; ``unless``: it is not used."""
    places = translator.memory.points.of(operand).places
    for base, _ in places:
        null = translator.memory.nullable.get(base)
        if null is not None:
            translator.check(t.equals_zero(null) | unless, "null-pointer", loc)
    if any(base == NULL for base, _ in places):
        free = elsewhere(translator, translator.address(operand, loc), NULL)
        translator.check(free | unless, "null-pointer", loc)


def only_object(translator: Translator, operand: ir.Value) -> int | None:
    """The number of the one object that a pointer points into where it is not null, None where it may be several."""
    target = translator.memory.points.of(operand)
    bases = {base for base, _ in target.living}
    if target.unknown or len(bases) != 1:
        return None
    (base,) = bases
    return None if base.kind in (*STANDING_IN, HEAP) else translator.memory.number(base)


def surely_there(translator: Translator, operand: ir.Value, loc: ir.Loc | None) -> Address:
    """A pointer that is ordered or subtracted: it points into an object, else that is undefined (C, 6.5.6, 6.5.8)."""
    address, number = translator.address(operand, loc), only_object(translator, operand)
    if number is None or isinstance(address.object, t.Const) or translator.uses.speculates:
        return address
    translator.check(address.object.ne(NULL_OBJECT), "null-pointer", loc)
    return Address(t.const(number), address.offset)


def _may_be_null(translator: Translator, operand: ir.Value) -> bool:
    """Whether a pointer may be null, as far as pointers are known."""
    return any(
        base == NULL or base in translator.memory.nullable for base, _ in translator.memory.points.of(operand).places
    )


def _accessed(translator: Translator, operand: ir.Value, size: int, loc: ir.Loc | None) -> Address:
    """Where a load or store is. Accesses outside an object of known size are undefined; other objects are checked as
    they run.
    """
    address = translator.address(operand, loc)
    null_check(translator, operand, loc)
    alive(translator, operand, loc)
    number = only_object(translator, operand)
    if number is not None and translator.memory.objects[number].kind == "local":
        address = Address(t.const(number), address.offset)  # it is not null, and it lives
    _within(translator, operand, address, -size, "bounds", loc)
    return address


def _within(
    translator: Translator, operand: ir.Value, address: Address, last: int, kind: str, loc: ir.Loc | None
) -> None:
    """A check that the address lies in its object, from its start to ``last`` bytes behind its end, where it is in one
    of known size.
    """
    for base in sorted({base for base, _ in translator.memory.points.of(operand).living}):
        whole = translator.memory.extent(base)
        if whole is not None:
            there = inside(address.offset, whole, last)
            translator.check(elsewhere(translator, address, base) | there, kind, loc)


def _long_enough(translator: Translator, operand: ir.Value, size: int, loc: ir.Loc | None) -> None:
    """A check that a scalar that is a variable lies in its object, where the size of that varies."""
    for base, offset in translator.memory.points.of(operand).living:
        whole = translator.memory.extents.get(base)
        if whole is not None and offset is not None:
            there = inside(t.const(offset), whole, -size)
            translator.check(elsewhere(translator, translator.address(operand, loc), base) | there, "bounds", loc)


def elsewhere(translator: Translator, address: Address, base: Base) -> t.Condition:
    """Whether the address is in another object than ``base``."""
    return address.object.ne(translator.memory.number(base))


def alive(translator: Translator, operand: ir.Value, loc: ir.Loc | None, unless: t.Condition = t.FALSE) -> None:
    """A check that a pointer that is used points to an object that lives, where it may not; ``unless``: it is not
    used.
    """
    if any(base == DEAD for base, _ in translator.memory.points.of(operand).places):
        free = elsewhere(translator, translator.address(operand, loc), DEAD)
        translator.check(free | unless, "dangling-pointer", loc)


def writable(translator: Translator, operand: ir.Value, loc: ir.Loc | None, unless: t.Condition = t.FALSE) -> None:
    """A check that what is written to is no ``const`` object and no string literal; ``unless``: nothing is written."""
    for base in sorted({base for base, _ in translator.memory.points.of(operand).places}):
        if is_constant(translator, base):
            free = elsewhere(translator, translator.address(operand, loc), base)
            translator.check(free | unless, "const-write", loc)


def nowhere(translator: Translator, operand: ir.Value, *, write: bool = False) -> bool:
    """Whether no run that is defined reads or writes through the pointer."""
    target = translator.memory.points.of(operand)
    reads = not target.unknown and bool(target.places) and not target.living
    return reads or (write and target.base is not None and is_constant(translator, target.base))


def _nothing_read(type: ir.Type) -> Value:
    """Some value for what no run reads."""
    bits = type.bits if isinstance(type, ir.IntT) else 8
    return Flag(t.FALSE) if bits == 1 else Number(t.ZERO, t.IntType(bits))


def is_constant(translator: Translator, base: Base) -> bool:
    """Whether writing to the object is undefined."""
    found = translator.memory.module.globals.get(base.name) if base.kind == "global" else None
    return found is not None and found.constant


def constant_address(translator: Translator, operand: ir.Value, loc: ir.Loc | None) -> None:
    """A check of an address that the compiler has computed."""
    if isinstance(operand, ir.AddressOf) and operand.inbounds:
        whole = translator.memory.size(Base("global", operand.name))
        if whole is not None:
            translator.check(t.between(0, t.const(operand.offset), whole), "pointer-overflow", loc)


def lifetime(translator: Translator, instruction: ir.Instruction) -> None:
    """An instruction of :mod:`loopless.flowgraph.memory.lifetimes`."""
    operands = [operand for operand in instruction.operands if isinstance(operand, ir.Local)]
    base = Base("local", operands[0].name)
    match instruction.op:
        case "begin" | "expire":
            for (held, _), slot in translator.memory.slots.items():
                if held == base:
                    translator.havoc_slot(
                        slot, Origin.UNINITIALISED, translator.memory.variables[slot.var].shown, instruction.loc, None
                    )
            kept = base in translator.memory.promoted and base not in translator.memory.points.lent
            if instruction.op == "expire" and not kept:
                translator.emit(Expire(translator.memory.number(base), instruction.loc))
        case "outlive":
            slot_behind = translator.memory.slots.get((base, instruction.indices[0]))
            if slot_behind is not None and slot_behind.object_var is not None:
                owner = slot_behind.object_var
                translator.emit(Assign(owner, _without(translator, owner, operands[1:]), instruction.loc))
        case _:
            address = translator.address(operands[0], instruction.loc)
            translator.define(instruction, Address(_without(translator, address.object, operands[1:]), address.offset))


def _without(translator: Translator, owner: t.Term, gone: Sequence[ir.Local]) -> t.Term:
    """The object of a pointer where the objects ``gone`` do not live any more."""
    over = t.disjunction(owner.eq(translator.memory.number(Base("local", local.name))) for local in gone)
    return t.ite(over, t.const(translator.memory.number(DEAD)), owner)


def alloca(translator: Translator, instruction: ir.Instruction) -> None:
    """A local object; one of several is allocated as the run goes."""
    name = instruction.result or ""
    count = translator.number(instruction.operands[0] if instruction.operands else ir.IntConst(32, 1))
    assert instruction.access is not None
    element = translator.memory.module.layout.size_of(instruction.access.type)
    if not instruction.is_single:
        var = translator.memory.fresh(f"%{name}.object", Kind.TEMPORARY, t.INTEGERS, pointer_part="object")
        if count is None:
            translator.emit(Havoc(var, Origin.UNSUPPORTED, name, instruction.loc))
        else:
            translator.check(count.read(signed=True).gt(0), "array-length", instruction.loc)
            translator.emit(Allocate(var, count.read(signed=True) * element, False, instruction.loc))
        translator.define(instruction, Address(var, t.ZERO))
        return
    base = Base("local", name)
    number = translator.memory.number(base)
    if translator.memory.size(base) is None:
        _begin(translator, base, count, element, instruction.loc)
    translator.values[name] = Address(t.const(number), t.ZERO)


def _begin(translator: Translator, base: Base, count: Number | None, element: int, loc: ir.Loc | None) -> None:
    """The life of a local object begins that has ``count`` elements of so many bytes: of an array at least one (C11,
    6.7.6.2p5), and none that is larger than any object.
    """
    memory = translator.memory
    length = None if count is None else count.read(signed=True)
    least, most = (None, None) if length is None else t.range_of(length * element)
    type = memory.offset_type
    fits = least is not None and most is not None and type.holds(least) and type.holds(most)
    held = type if fits or not is_allocated(base.name) else t.INTEGERS
    shown = f"bytes at {memory.shown(base)}" if is_allocated(base.name) else f"sizeof({memory.shown(base)})"
    size = memory.fresh(shown, Kind.TEMPORARY, held)
    if length is None:
        translator.emit(Havoc(size, Origin.UNSUPPORTED, base.name, loc))
    elif is_allocated(base.name):
        translator.emit(Assign(size, length * element, loc))  # there is no object where that is no size
    else:
        called = base.name not in memory.function.variables and memory.function.loc is not None  # alloca()
        assert memory.offset_type.max is not None
        allowed = t.between(0 if called else 1, length, memory.offset_type.max // max(1, element))
        if not any(isinstance(s, Check) and s.condition is allowed for s in translator.statements):
            translator.check(allowed, "array-length", loc)
        translator.emit(Assign(size, length * element, loc))
    memory.extents[base] = size
    translator.emit(Begin(memory.number(base), size, loc))


def _is_bounded(translator: Translator, base: Base) -> bool:
    """Whether an offset that lies in the object is surely one of its type."""
    size = translator.memory.extent(base)
    return isinstance(size, int) or (isinstance(size, t.Var) and size.type.width is not None)


def gep(translator: Translator, instruction: ir.Instruction) -> None:
    """An address computation; leaving the object, but for the place right behind it, is undefined, and where its size
    is not known, leaving the largest possible one.
    """
    gep = instruction.gep
    if gep is None or not isinstance(instruction.type, ir.PtrT):
        translator.define(
            instruction, UnfollowedValue(translator.refused("vectors of pointers are not followed", instruction.loc))
        )
        return
    base = translator.address(gep.base, instruction.loc)
    parts: list[t.Term] = [base.offset, t.const(gep.offset)]
    member = translator.memory.points.members.get(instruction.value.name)
    # of an unsigned index the compiler promises that the address does not wrap around: it counts upwards
    signed = "nuw" not in instruction.flags or translator.memory.options.wrapv
    for index, stride in gep.steps:
        number = translator.number(index)
        if number is None:
            unknown = translator.unknown(ir.IntT(64), Origin.UNSUPPORTED, "index", instruction.loc)
            assert isinstance(unknown, Number)
            number = unknown
        if member is not None and member.count is not None:
            translator.check(t.between(0, number.read(signed=True), member.count - 1), "bounds", instruction.loc)
        elif member is not None and member.stepped:
            translator.check(number.read(signed=signed).ge(0), "bounds", instruction.loc)
        parts.append(number.read(signed=signed) * stride)
    offset = t.add(*parts)
    made = Address(base.object, offset)
    target = translator.memory.points.of(instruction.value)
    if not translator.uses.speculates:
        alive(translator, gep.base, instruction.loc)
    known = "inbounds" in instruction.flags and not translator.memory.options.wrapv
    if known and not translator.accessed_next(instruction.value):
        _within(translator, instruction.value, made, 0, "pointer-overflow", instruction.loc)
        if _may_be_null(translator, gep.base):
            stays = base.object.ne(NULL_OBJECT) | offset.eq(base.offset)
            translator.check(stays, "pointer-overflow", instruction.loc)
    sized = known and not target.unknown and all(_is_bounded(translator, base) for base, _ in target.living)
    if not sized and (target.unknown or any(place is None for _, place in target.places)):
        type = translator.memory.offset_type
        unsized = target.unknown or any(translator.memory.extent(base) is None for base, _ in target.places)
        accessed = translator.accessed_next(instruction.value) or INSIDE in instruction.flags
        accessed = known and unsized and accessed
        place = Pointer(made.object, offset) if known and unsized else None
        inside = t.between(type.min, offset, type.max)
        translator.check(inside, "pointer-overflow", instruction.loc, of_access=accessed, place=place)
    translator.define(instruction, made)
