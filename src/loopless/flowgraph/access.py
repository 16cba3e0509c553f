"""Memory: loads, stores, local objects and address computations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from loopless.flowgraph.model import (
    NULL_OBJECT,
    Allocate,
    Assign,
    Expire,
    Havoc,
    Kind,
    Load,
    Origin,
    Pointer,
    Statement,
    Store,
)
from loopless.flowgraph.objects import Slot
from loopless.flowgraph.places import DEAD, HEAP, NULL, Base
from loopless.flowgraph.pointees import STANDING_IN
from loopless.flowgraph.translate import Translator
from loopless.flowgraph.values import FLAG_TYPE, Address, Flag, Nothing, Number, Value, flag_of, number_of_flag
from loopless.source import ir, marks
from loopless.terms import (
    FALSE,
    INTEGERS,
    ONE,
    ZERO,
    Condition,
    Const,
    IntType,
    Term,
    Var,
    add,
    between,
    const,
    disjunction,
    equal,
    equals_zero,
    ite,
    less,
    less_equal,
    not_equal,
    not_zero,
    scale,
    wrap,
)


def load(t: Translator, instruction: ir.Instruction) -> None:
    """A load: from a variable, from memory, or of something not followed."""
    loc, type, access = instruction.loc, instruction.type, instruction.access
    pointer_operand = instruction.operands[0]
    truth = instruction.result in t.uses.truths
    if access is not None and (access.volatile or access.atomic):
        value = t.unknown(ir.IntT(1) if truth else type, Origin.VOLATILE, "volatile", loc)
        t.define(instruction, number_of_flag(value, 8, signed_extension=False) if isinstance(value, Flag) else value)
        return
    known = _constant(t, pointer_operand, type)
    if known is not None:
        t.define(instruction, known)
        return
    slot = t.slot(pointer_operand)
    if slot is not None:
        null_check(t, pointer_operand, loc)
        alive(t, pointer_operand, loc)
        value = _slot_value(slot, type)
        _promised_truth(t, instruction, value)
        t.define(instruction, value)
        return
    address = t.address(pointer_operand, loc)
    pointer = Pointer(address.object, address.offset)
    _bounds(t, pointer_operand, address, t.memory.module.layout.store_size(type), loc)
    if nowhere(t, pointer_operand):
        t.define(instruction, t.value(ir.NullPtr()) if isinstance(type, ir.PtrT) else _nothing_read(type))
        return
    name = instruction.result or "load"
    match type:
        case ir.IntT(bits=bits):
            signed = t.uses.signed[name] if name in t.uses.signed else t.memory.is_signed(pointer_operand, bits)
            held = t.memory.number_type(bits, signed=signed) if bits > 1 else FLAG_TYPE
            if truth and t.truths.surely(pointer_operand):
                held, signed = FLAG_TYPE, False
            var = t.memory.fresh(f"%{name}", Kind.TEMPORARY, held)
            found = Load(var, pointer, FLAG_TYPE if held == FLAG_TYPE else IntType(bits, signed), None, loc)
            t.emit_access(found, pointer_operand)
            value = flag_of(var) if bits == 1 else Number(var, IntType(bits, signed))
            _promised_truth(t, instruction, value)
            t.define(instruction, value)
        case ir.PtrT():
            offset = t.memory.fresh(f"%{name}", Kind.TEMPORARY, t.memory.offset_type, pointer_part="offset")
            owner = t.memory.fresh(f"%{name}.object", Kind.TEMPORARY, INTEGERS, pointer_part="object")
            width = t.memory.module.pointer_bits
            t.emit_access(Load(offset, pointer, IntType(width), owner, loc), pointer_operand)
            t.define(instruction, Address(owner, offset))
        case _:
            t.define(instruction, t.unknown(type, Origin.UNSUPPORTED, name, loc))


def _promised_truth(t: Translator, instruction: ir.Instruction, value: Value) -> None:
    """What the range of a load in optimized code says; in code as it is written the ``trunc`` behind it says it."""
    if marks.TRUTH in instruction.flags and isinstance(value, Number):
        t.promised(less_equal(value.converted(8, signed=False), ONE), "invalid-bool", instruction.loc)


def _constant(t: Translator, operand: ir.Value, type: ir.Type) -> Number | None:
    """The value of an integer at a constant place of a constant global."""
    target = t.memory.points.of(operand)
    if target.unknown or len(target.places) != 1 or not isinstance(type, ir.IntT):
        return None
    base, offset = next(iter(target.places))
    if base.kind != "global" or offset is None:
        return None
    found = t.memory.objects[t.memory.number(base)]
    size = t.memory.module.layout.store_size(type)
    if not found.constant or found.content is None or not 0 <= offset <= len(found.content) - size:
        return None
    if any(at < offset + size and offset < at + t.memory.module.pointer_bits // 8 for at, _, _ in found.relocations):
        return None
    value = int.from_bytes(found.content[offset : offset + size], "little")
    return Number(const(IntType(type.bits).wrap(value)), IntType(type.bits))


def with_objects(t: Translator) -> Iterator[tuple[Statement, Statement]]:
    """All accesses to memory, and what becomes of them: with the objects that they may be in, now that all have
    numbers, and how C names what is read.
    """
    for access, address in t.accesses:
        objects = t.memory.objects_of(t.memory.points.of(address))
        match access:
            case Load(type=type):
                shown, signed = t.memory.place_name(address, (type.width or 0) // 8)
                yield access, replace(access, objects=objects, shown=shown, signed=signed)
            case _:
                yield access, replace(access, objects=objects)


def _slot_value(slot: Slot, type: ir.Type) -> Value:
    if isinstance(type, ir.PtrT):
        owner: Term = const(slot.fixed_object) if slot.fixed_object is not None else slot.object_var or ZERO
        return Address(owner, slot.var if slot.fixed_offset is None else const(slot.fixed_offset))
    assert isinstance(type, ir.IntT)
    if type.bits == 1:
        return flag_of(slot.var)
    signed = slot.var.type.signed
    return Number(slot.var, slot.var.type if slot.var.type.width is None else IntType(type.bits, signed))


def store(t: Translator, instruction: ir.Instruction) -> None:
    """A store to a variable or to memory."""
    loc = instruction.loc
    source, target = instruction.operands
    slot = t.slot(target)
    volatile = instruction.access is not None and (instruction.access.volatile or instruction.access.atomic)
    writable(t, target, loc)
    if slot is not None and not volatile:
        null_check(t, target, loc)
        alive(t, target, loc)
        if nowhere(t, target, write=True):
            return
        assign_slot(t, slot, t.value(source), loc)
        return
    address = t.address(target, loc)
    pointer = Pointer(address.object, address.offset)
    size = t.memory.module.layout.store_size(source.type)
    _bounds(t, target, address, size, loc)
    if nowhere(t, target, write=True):
        return
    value = t.value(source)
    match value:
        case Address():
            width = IntType(t.memory.module.pointer_bits)
            t.emit_access(Store(pointer, value.offset, width, value.object, loc), target)
        case Number():
            held = value.type if value.type.width is not None else IntType(8 * size)
            t.emit_access(Store(pointer, value.term, held, None, loc), target)
        case Flag():
            t.emit_access(Store(pointer, value.term, IntType(8, signed=False), None, loc), target)
        case Nothing():
            filler = t.unknown(ir.IntT(8 * size), Origin.UNSUPPORTED, "stored", loc, value.refused)
            assert isinstance(filler, Number)
            t.emit_access(Store(pointer, filler.term, IntType(8 * size), None, loc), target)


def assign_slot(t: Translator, slot: Slot, value: Value, loc: ir.Loc | None) -> None:
    """``slot := value``."""
    var = slot.var
    match value:
        case Address():
            if slot.object_var is not None:
                owner, offset = value.object, value.offset
                if var in owner.variables:
                    kept = t.saved("object", Address(owner, ZERO))
                    assert isinstance(kept, Address)
                    owner = kept.object
                t.emit(Assign(var, offset, loc))
                t.emit(Assign(slot.object_var, owner, loc))
            else:
                t.emit(Assign(var, value.offset, loc))
        case Number():
            t.emit(Assign(var, _fitting(value, var), loc))
        case Flag():
            t.emit(Assign(var, value.term, loc))
        case Nothing():
            t.havoc_slot(slot, Origin.UNSUPPORTED, "stored", loc, value.refused)


def _fitting(value: Number, var: Var) -> Term:
    if var.type.width is None:
        return value.read(signed=True)
    term = value.read(signed=var.type.signed)
    if var.type == FLAG_TYPE and value.type.width != 1:
        return ite(not_zero(term), ONE, ZERO)
    if value.type.width is None:
        return wrap(term, var.type)
    return term


def null_check(t: Translator, operand: ir.Value, loc: ir.Loc | None, unless: Condition = FALSE) -> None:
    """A check that a pointer that is used is not null, where it may be; ``unless``: it is not used."""
    places = t.memory.points.of(operand).places
    for base, _ in places:
        null = t.memory.nullable.get(base)
        if null is not None:
            t.check(disjunction((equals_zero(null), unless)), "null-pointer", loc)
    if any(base == NULL for base, _ in places):
        free = elsewhere(t, t.address(operand, loc), NULL)
        t.check(disjunction((free, unless)), "null-pointer", loc)


def only_object(t: Translator, operand: ir.Value) -> int | None:
    """The number of the one object that a pointer points into where it is not null, None where it may be several."""
    target = t.memory.points.of(operand)
    bases = {base for base, _ in target.living}
    if target.unknown or len(bases) != 1:
        return None
    (base,) = bases
    return None if base.kind in (*STANDING_IN, HEAP) else t.memory.number(base)


def surely_there(t: Translator, operand: ir.Value, loc: ir.Loc | None) -> Address:
    """A pointer that is ordered or subtracted: it points into an object, else that is undefined (C, 6.5.6, 6.5.8)."""
    address, number = t.address(operand, loc), only_object(t, operand)
    if number is None or isinstance(address.object, Const) or t.uses.speculates:
        return address
    t.check(not_equal(address.object, const(NULL_OBJECT)), "null-pointer", loc)
    return Address(const(number), address.offset)


def _may_be_null(t: Translator, operand: ir.Value) -> bool:
    """Whether a pointer may be null, as far as pointers are known."""
    return any(base == NULL or base in t.memory.nullable for base, _ in t.memory.points.of(operand).places)


def _bounds(t: Translator, operand: ir.Value, address: Address, size: int, loc: ir.Loc | None) -> None:
    """Accesses outside an object of known size are undefined; other objects are checked as they run."""
    null_check(t, operand, loc)
    alive(t, operand, loc)
    _within(t, operand, address, -size, "bounds", loc)


def _within(t: Translator, operand: ir.Value, address: Address, last: int, kind: str, loc: ir.Loc | None) -> None:
    """A check that the address lies in its object, from its start to ``last`` bytes behind its end, where it is in one
    of known size.
    """
    for base in sorted({base for base, _ in t.memory.points.of(operand).living}):
        whole = t.memory.size(base)
        if whole is not None:
            inside = between(0, address.offset, whole + last)
            t.check(disjunction((elsewhere(t, address, base), inside)), kind, loc)


def elsewhere(t: Translator, address: Address, base: Base) -> Condition:
    """Whether the address is in another object than ``base``."""
    return not_equal(address.object, const(t.memory.number(base)))


def alive(t: Translator, operand: ir.Value, loc: ir.Loc | None, unless: Condition = FALSE) -> None:
    """A check that a pointer that is used points to an object that lives, where it may not; ``unless``: it is not
    used.
    """
    if any(base == DEAD for base, _ in t.memory.points.of(operand).places):
        free = elsewhere(t, t.address(operand, loc), DEAD)
        t.check(disjunction((free, unless)), "dangling-pointer", loc)


def writable(t: Translator, operand: ir.Value, loc: ir.Loc | None, unless: Condition = FALSE) -> None:
    """A check that what is written to is no ``const`` object and no string literal; ``unless``: nothing is written."""
    for base in sorted({base for base, _ in t.memory.points.of(operand).places}):
        if is_constant(t, base):
            free = elsewhere(t, t.address(operand, loc), base)
            t.check(disjunction((free, unless)), "const-write", loc)


def nowhere(t: Translator, operand: ir.Value, *, write: bool = False) -> bool:
    """Whether no run that is defined reads or writes through the pointer."""
    target = t.memory.points.of(operand)
    reads = not target.unknown and bool(target.places) and not target.living
    return reads or (write and target.base is not None and is_constant(t, target.base))


def _nothing_read(type: ir.Type) -> Value:
    """Some value for what no run reads."""
    bits = type.bits if isinstance(type, ir.IntT) else 8
    return Flag(FALSE) if bits == 1 else Number(ZERO, IntType(bits))


def is_constant(t: Translator, base: Base) -> bool:
    """Whether writing to the object is undefined."""
    found = t.memory.module.globals.get(base.name) if base.kind == "global" else None
    return found is not None and found.constant


def constant_address(t: Translator, operand: ir.Value, loc: ir.Loc | None) -> None:
    """A check of an address that the compiler has computed."""
    if isinstance(operand, ir.AddressOf) and operand.inbounds:
        whole = t.memory.size(Base("global", operand.name))
        if whole is not None:
            t.check(between(0, const(operand.offset), whole), "pointer-overflow", loc)


def lifetime(t: Translator, instruction: ir.Instruction) -> None:
    """An instruction of :mod:`loopless.flowgraph.lifetimes`."""
    operands = [operand for operand in instruction.operands if isinstance(operand, ir.Local)]
    base = Base("local", operands[0].name)
    match instruction.op:
        case "begin" | "expire":
            for (held, _), slot in t.memory.slots.items():
                if held == base:
                    t.havoc_slot(slot, Origin.UNINITIALISED, t.memory.variables[slot.var].shown, instruction.loc, None)
            kept = base in t.memory.promoted and base not in t.memory.points.lent
            if instruction.op == "expire" and not kept:
                t.emit(Expire(t.memory.number(base), instruction.loc))
        case "outlive":
            slot_behind = t.memory.slots.get((base, instruction.indices[0]))
            if slot_behind is not None and slot_behind.object_var is not None:
                owner = slot_behind.object_var
                t.emit(Assign(owner, _without(t, owner, operands[1:]), instruction.loc))
        case _:
            address = t.address(operands[0], instruction.loc)
            t.define(instruction, Address(_without(t, address.object, operands[1:]), address.offset))


def _without(t: Translator, owner: Term, gone: Sequence[ir.Local]) -> Term:
    """The object of a pointer where the objects ``gone`` do not live any more."""
    over = disjunction(equal(owner, const(t.memory.number(Base("local", local.name)))) for local in gone)
    return ite(over, const(t.memory.number(DEAD)), owner)


def alloca(t: Translator, instruction: ir.Instruction) -> None:
    """A local object; one of variable size, or of several, is allocated as the run goes."""
    name = instruction.result or ""
    if not instruction.is_single:
        count = t.number(instruction.operands[0] if instruction.operands else ir.IntConst(32, 1))
        assert instruction.access is not None
        element = t.memory.module.layout.size_of(instruction.access.type)
        var = t.memory.fresh(f"%{name}.object", Kind.TEMPORARY, INTEGERS, pointer_part="object")
        if count is None:
            t.emit(Havoc(var, Origin.UNSUPPORTED, name, instruction.loc))
        else:
            t.check(less(ZERO, count.read(signed=True)), "array-length", instruction.loc)
            t.emit(Allocate(var, scale(count.read(signed=True), element), False, instruction.loc))
        t.define(instruction, Address(var, ZERO))
        return
    t.values[name] = Address(const(t.memory.number(Base("local", name))), ZERO)


def gep(t: Translator, instruction: ir.Instruction) -> None:
    """An address computation; leaving the object, but for the place right behind it, is undefined, and where its size
    is not known, leaving the largest possible one.
    """
    gep = instruction.gep
    if gep is None or not isinstance(instruction.type, ir.PtrT):
        t.define(instruction, Nothing(t.refused("vectors of pointers are not followed", instruction.loc)))
        return
    base = t.address(gep.base, instruction.loc)
    parts: list[Term] = [base.offset, const(gep.offset)]
    member = t.memory.points.members.get(instruction.value.name)
    # of an unsigned index the compiler promises that the address does not wrap around: it counts upwards
    signed = "nuw" not in instruction.flags or t.memory.options.wrapv
    for index, stride in gep.steps:
        number = t.number(index)
        if number is None:
            unknown = t.unknown(ir.IntT(64), Origin.UNSUPPORTED, "index", instruction.loc)
            assert isinstance(unknown, Number)
            number = unknown
        if member is not None and member.count is not None:
            t.check(between(0, number.read(signed=True), member.count - 1), "bounds", instruction.loc)
        elif member is not None and member.stepped:
            t.check(less_equal(ZERO, number.read(signed=signed)), "bounds", instruction.loc)
        parts.append(scale(number.read(signed=signed), stride))
    offset = add(*parts)
    made = Address(base.object, offset)
    target = t.memory.points.of(instruction.value)
    if not t.uses.speculates:
        alive(t, gep.base, instruction.loc)
    known = "inbounds" in instruction.flags and not t.memory.options.wrapv
    if known and not t.accessed_next(instruction.value):
        _within(t, instruction.value, made, 0, "pointer-overflow", instruction.loc)
        if _may_be_null(t, gep.base):
            stays = disjunction((not_equal(base.object, const(NULL_OBJECT)), equal(offset, base.offset)))
            t.check(stays, "pointer-overflow", instruction.loc)
    only = target.base
    sized = known and only is not None and isinstance(made.object, Const) and t.memory.size(only) is not None
    if not sized and (target.unknown or any(place is None for _, place in target.places)):
        type = t.memory.offset_type
        unsized = target.unknown or any(t.memory.size(base) is None for base, _ in target.places)
        accessed = known and unsized and t.accessed_next(instruction.value)
        place = Pointer(made.object, offset) if known and unsized else None
        inside = between(type.min, offset, type.max)
        t.check(inside, "pointer-overflow", instruction.loc, of_access=accessed, place=place)
    t.define(instruction, made)
