"""Instructions to statements: what each LLVM instruction does to integer variables.

Results that are used only within their block stay terms; a term is given a variable of its own where a later
instruction needs it after one of its variables has changed, where another block needs it, or where it grows large.
"""

from __future__ import annotations

from loopless.flowgraph.model import (
    Allocate,
    Assign,
    Block,
    Call,
    Check,
    Edge,
    End,
    Havoc,
    Kind,
    Load,
    Origin,
    Pointer,
    Statement,
    Store,
)
from loopless.flowgraph.objects import Memory, Slot
from loopless.flowgraph.pointers import Base
from loopless.flowgraph.uses import Uses
from loopless.flowgraph.values import FLAG_TYPE, Address, Flag, Nothing, Number, Value, flag_of, number_of_flag
from loopless.refusals import Reason, Refused
from loopless.source import ir
from loopless.terms import (
    FALSE,
    INTEGERS,
    ONE,
    TRUE,
    ZERO,
    Condition,
    Const,
    IntType,
    Term,
    Var,
    add,
    between,
    const,
    equals_zero,
    ite,
    less,
    negate,
    not_zero,
    scale,
    walk,
    wrap,
)

_LARGE_TERM = 24


class Translator:
    """The state of translating one function, block by block."""

    def __init__(self, memory: Memory, uses: Uses) -> None:
        self.memory = memory
        self.uses = uses
        self.values: dict[str, Value] = {}
        self.statements: list[Statement] = []
        self.pending: dict[str, Value] = {}
        self.position = 0
        self.label = ""
        self.shown_label = ""
        self.end: End | None = None
        self.blocked: dict[str, Refused] = {}
        self.callees: set[str] = set()
        self.edges: list[Edge] = []
        self.addresses: dict[int, Var] = {}
        self._finished: dict[str, Block] = {}
        self._parts = 0

    # -- blocks ---------------------------------------------------------------------------------------------------

    def start(self, label: str) -> None:
        """Begin a block."""
        self.statements = []
        self.pending = {}
        self.label = label
        self.shown_label = label
        self.end = None
        self.edges = []

    def assert_(self, condition: Condition, loc: ir.Loc | None) -> None:
        """A branch to the error unless ``condition``; the rest of the block becomes a block of its own."""
        if condition is TRUE:
            return
        self._parts += 1
        rest, error = f"{self.label}.after{self._parts}", f"{self.label}.error{self._parts}"
        self._save_all()
        edges = (Edge(condition, rest, (), loc), Edge(negate(condition), error, (), loc))
        self._finished[self.shown_label] = Block(self.shown_label, tuple(self.statements), edges, None)
        self._finished[error] = Block(error, (), (), End("error", None, None, loc))
        self.statements = []
        self.shown_label = rest

    def _save_all(self) -> None:
        for name, value in list(self.pending.items()):
            if self.uses.last_in_block.get((self.label, name), -1) > self.position:
                self.values[name] = self._saved(name, value)
        self.pending = {}

    def finish(self, into: dict[str, Block]) -> None:
        """Close the block and put it, and those split off from it, into ``into``."""
        end = self.end
        edges = () if end is not None else tuple(self.edges)
        if end is None and not edges:
            end = End("undefined", None, None, None)
        self._finished[self.shown_label] = Block(self.shown_label, tuple(self.statements), edges, end)
        into.update(self._finished)
        self._finished = {}

    def object_address(self, number: int) -> Var:
        """The unknown address of an object, one variable for all uses."""
        found = self.addresses.get(number)
        if found is None:
            shown = f"&{self.memory.objects[number].name}" if number in self.memory.objects else "&null"
            type = IntType(self.memory.module.pointer_bits, signed=False)
            found = self.addresses[number] = self.memory.fresh(shown, Kind.TEMPORARY, type)
        return found

    def emit(self, statement: Statement) -> None:
        """Append a statement; terms that mention a variable it changes are saved first."""
        match statement:
            case Assign(target=target) | Havoc(target=target) | Allocate(target=target):
                self._save_mentions(target)
            case Load(target=target, target_object=other) | Call(target=target, target_object=other):
                if target is not None:
                    self._save_mentions(target)
                if other is not None:
                    self._save_mentions(other)
            case _:
                pass
        self.statements.append(statement)

    def check(self, condition: Condition, kind: str, loc: ir.Loc | None) -> None:
        """Undefined behaviour unless ``condition``."""
        if condition is not TRUE:
            self.statements.append(Check(condition, kind, loc))

    def _save_mentions(self, changed: Var) -> None:
        for name, value in list(self.pending.items()):
            if any(changed in term.variables for term in _terms(value)):
                del self.pending[name]
                if self.uses.last_in_block.get((self.label, name), -1) > self.position:
                    self.values[name] = self._saved(name, value)

    def define(self, instruction: ir.Instruction, value: Value) -> None:
        """Bind the instruction's result."""
        name = instruction.result
        if name is None:
            return
        if name in self.uses.elsewhere or sum(1 for t in _terms(value) for _ in walk(t)) > _LARGE_TERM:
            value = self._saved(name, value)
        elif _terms(value):
            self.pending[name] = value
        self.values[name] = value

    def _saved(self, name: str, value: Value) -> Value:
        """``value`` held by new variables."""
        match value:
            case Number(term=Const()) | Nothing():
                return value
            case Number():
                var = self.memory.fresh(f"%{name}", Kind.TEMPORARY, value.type)
                self.emit(Assign(var, value.term))
                return Number(var, value.type)
            case Flag(condition=condition):
                if condition in (TRUE, FALSE):
                    return value
                var = self.memory.fresh(f"%{name}", Kind.FLAG, FLAG_TYPE)
                self.emit(Assign(var, value.term))
                return flag_of(var)
            case Address():
                offset, owner = value.offset, value.object
                if not isinstance(offset, Const):
                    saved = self.memory.fresh(
                        f"%{name}", Kind.TEMPORARY, self.memory.offset_type, pointer_part="offset"
                    )
                    self.emit(Assign(saved, offset))
                    offset = saved
                if not isinstance(owner, Const):
                    kept = self.memory.fresh(f"%{name}.object", Kind.TEMPORARY, INTEGERS, pointer_part="object")
                    self.emit(Assign(kept, owner))
                    owner = kept
                return Address(owner, offset)

    # -- operands -------------------------------------------------------------------------------------------------

    def value(self, operand: ir.Value) -> Value:
        """The value of an operand."""
        match operand:
            case ir.IntConst():
                if operand.bits == 1:
                    return Flag(TRUE if operand.value else FALSE)
                return Number(const(operand.value), IntType(operand.bits))
            case ir.Local():
                found = self.values.get(operand.name)
                return found if found is not None else Nothing(self.refused("the value is not followed", None))
            case ir.NullPtr():
                return Address(ZERO, ZERO)
            case ir.GlobalRef():
                return Address(const(self.memory.number(self._global_base(operand.name))), ZERO)
            case ir.AddressOf():
                return Address(const(self.memory.number(Base("global", operand.name))), const(operand.offset))
            case ir.Undef() | ir.Poison():
                return self.unknown(
                    operand.type,
                    Origin.UNSUPPORTED,
                    "undef",
                    None,
                    Refused(Reason.UNDEF_VALUE, self.where(None), "the code uses an undefined value"),
                )
            case ir.FloatConst():
                return Nothing(Refused(Reason.FLOAT, self.where(None), "floating-point values are not followed"))
            case _:
                return Nothing(self.refused("a constant of this kind is not followed", None))

    def _global_base(self, name: str) -> Base:
        return Base("function" if name in self.memory.module.functions else "global", name)

    def number(self, operand: ir.Value) -> Number | None:
        """An integer operand, None where its value is not followed."""
        value = self.value(operand)
        match value:
            case Number():
                return value
            case Flag():
                return number_of_flag(value, 1, signed_extension=False)
            case _:
                return None

    def address(self, operand: ir.Value, loc: ir.Loc | None) -> Address:
        """A pointer operand; an unknown one gets unknown parts."""
        value = self.value(operand)
        if isinstance(value, Address):
            return value
        found = self.unknown(ir.PtrT(), Origin.UNSUPPORTED, "pointer", loc, self._why(value))
        assert isinstance(found, Address)
        return found

    def _why(self, value: Value) -> Refused:
        if isinstance(value, Nothing):
            return value.refused
        return self.refused("a pointer comes from something that is not a pointer", None)

    def slot(self, operand: ir.Value) -> Slot | None:
        """The variable that a load or store through ``operand`` means, if it is one."""
        target = self.memory.points.of(operand)
        if target.unknown or len(target.places) != 1:
            return None
        base, offset = next(iter(target.places))
        return None if offset is None else self.memory.slots.get((base, offset))

    def where(self, loc: ir.Loc | None) -> str:
        """A place for a refusal."""
        if loc is not None:
            return str(loc)
        own = self.memory.function.loc
        return str(own) if own is not None else self.memory.function.source_name

    def refused(self, detail: str, loc: ir.Loc | None, reason: Reason = Reason.UNSUPPORTED_INSTRUCTION) -> Refused:
        """A refusal at ``loc``."""
        return Refused(reason, self.where(loc), detail)

    # -- unknown values -------------------------------------------------------------------------------------------

    def unknown(
        self,
        type: ir.Type,
        origin: Origin,
        name: str,
        loc: ir.Loc | None,
        refused: Refused | None = None,
        signed: bool = True,
    ) -> Value:
        """A value that the flowgraph does not determine, in new variables."""
        match type:
            case ir.IntT(bits=1):
                var = self.memory.fresh(f"%{name}", Kind.FLAG, FLAG_TYPE)
                self.emit(Havoc(var, origin, name, loc, refused))
                return flag_of(var)
            case ir.IntT(bits=bits):
                var = self.memory.fresh(f"%{name}", Kind.TEMPORARY, IntType(bits, signed))
                self.emit(Havoc(var, origin, name, loc, refused))
                return Number(var, IntType(bits, signed))
            case ir.PtrT():
                offset = self.memory.fresh(f"%{name}", Kind.TEMPORARY, self.memory.offset_type, pointer_part="offset")
                owner = self.memory.fresh(f"%{name}.object", Kind.TEMPORARY, INTEGERS, pointer_part="object")
                self.emit(Havoc(offset, origin, name, loc, refused))
                self.emit(Havoc(owner, origin, name, loc, refused))
                return Address(owner, offset)
            case ir.FloatT():
                return Nothing(self.refused("floating-point values are not followed", loc, Reason.FLOAT))
            case _:
                return Nothing(refused or self.refused("a value of this type is not followed", loc))

    def havoc_slot(self, slot: Slot, origin: Origin, name: str, loc: ir.Loc | None, refused: Refused | None) -> None:
        """The variable of ``slot`` takes an unknown value."""
        self.emit(Havoc(slot.var, origin, name, loc, refused))
        if slot.object_var is not None:
            self.emit(Havoc(slot.object_var, origin, name, loc, refused))

    # -- memory ---------------------------------------------------------------------------------------------------

    def load(self, instruction: ir.Instruction) -> None:
        """A load: from a variable, from memory, or of something not followed."""
        loc, type, access = instruction.loc, instruction.type, instruction.access
        pointer_operand = instruction.operands[0]
        if access is not None and (access.volatile or access.atomic):
            self.define(instruction, self.unknown(type, Origin.VOLATILE, "volatile", loc))
            return
        known = self._constant(pointer_operand, type)
        if known is not None:
            self.define(instruction, known)
            return
        slot = self.slot(pointer_operand)
        if slot is not None:
            self._null_check(pointer_operand, loc)
            self.define(instruction, self._slot_value(slot, type))
            return
        address = self.address(pointer_operand, loc)
        pointer = Pointer(address.object, address.offset)
        self._bounds(pointer_operand, address, self.memory.module.layout.store_size(type), loc)
        name = instruction.result or "load"
        match type:
            case ir.IntT(bits=bits):
                signed = self.uses.signed.get(name, True)
                held = self.memory.number_type(bits, signed) if bits > 1 else FLAG_TYPE
                var = self.memory.fresh(f"%{name}", Kind.TEMPORARY, held)
                self.emit(Load(var, pointer, IntType(bits, signed), None, loc))
                self.define(instruction, flag_of(var) if bits == 1 else Number(var, IntType(bits, signed)))
            case ir.PtrT():
                offset = self.memory.fresh(f"%{name}", Kind.TEMPORARY, self.memory.offset_type, pointer_part="offset")
                owner = self.memory.fresh(f"%{name}.object", Kind.TEMPORARY, INTEGERS, pointer_part="object")
                width = self.memory.module.pointer_bits
                self.emit(Load(offset, pointer, IntType(width), owner, loc))
                self.define(instruction, Address(owner, offset))
            case _:
                self.define(instruction, self.unknown(type, Origin.UNSUPPORTED, name, loc))

    def _constant(self, operand: ir.Value, type: ir.Type) -> Number | None:
        """The value of an integer at a constant place of a constant global."""
        target = self.memory.points.of(operand)
        if target.unknown or len(target.places) != 1 or not isinstance(type, ir.IntT):
            return None
        base, offset = next(iter(target.places))
        if base.kind != "global" or offset is None:
            return None
        found = self.memory.objects[self.memory.number(base)]
        size = self.memory.module.layout.store_size(type)
        if not found.constant or found.content is None or not 0 <= offset <= len(found.content) - size:
            return None
        if any(at < offset + size and offset < at + self.memory.module.pointer_bits // 8 for at, _, _ in found.relocations):
            return None
        value = int.from_bytes(found.content[offset : offset + size], "little")
        return Number(const(IntType(type.bits).wrap(value)), IntType(type.bits))

    def _slot_value(self, slot: Slot, type: ir.Type) -> Value:
        if isinstance(type, ir.PtrT):
            owner: Term = const(slot.fixed_object) if slot.fixed_object is not None else slot.object_var or ZERO
            return Address(owner, slot.var if slot.fixed_offset is None else const(slot.fixed_offset))
        assert isinstance(type, ir.IntT)
        if type.bits == 1:
            return flag_of(slot.var)
        signed = slot.var.type.signed
        return Number(slot.var, slot.var.type if slot.var.type.width is None else IntType(type.bits, signed))

    def store(self, instruction: ir.Instruction) -> None:
        """A store to a variable or to memory."""
        loc = instruction.loc
        source, target = instruction.operands
        slot = self.slot(target)
        volatile = instruction.access is not None and (instruction.access.volatile or instruction.access.atomic)
        if slot is not None and not volatile:
            self._null_check(target, loc)
            self.assign_slot(slot, self.value(source), source.type, loc)
            return
        address = self.address(target, loc)
        pointer = Pointer(address.object, address.offset)
        size = self.memory.module.layout.store_size(source.type)
        self._bounds(target, address, size, loc)
        value = self.value(source)
        match value:
            case Address():
                width = IntType(self.memory.module.pointer_bits)
                self.emit(Store(pointer, value.offset, width, value.object, loc))
            case Number():
                held = value.type if value.type.width is not None else IntType(8 * size)
                self.emit(Store(pointer, value.term, held, None, loc))
            case Flag():
                self.emit(Store(pointer, value.term, IntType(8, signed=False), None, loc))
            case Nothing():
                filler = self.unknown(ir.IntT(8 * size), Origin.UNSUPPORTED, "stored", loc, value.refused)
                assert isinstance(filler, Number)
                self.emit(Store(pointer, filler.term, IntType(8 * size), None, loc))

    def assign_slot(self, slot: Slot, value: Value, type: ir.Type, loc: ir.Loc | None) -> None:
        """``slot := value``."""
        var = slot.var
        match value:
            case Address():
                if slot.object_var is not None:
                    owner, offset = value.object, value.offset
                    if var in owner.variables:
                        kept = self._saved("object", Address(owner, ZERO))
                        assert isinstance(kept, Address)
                        owner = kept.object
                    self.emit(Assign(var, offset, loc))
                    self.emit(Assign(slot.object_var, owner, loc))
                else:
                    self.emit(Assign(var, value.offset, loc))
            case Number():
                self.emit(Assign(var, self._fitting(value, var), loc))
            case Flag():
                self.emit(Assign(var, value.term, loc))
            case Nothing():
                self.havoc_slot(slot, Origin.UNSUPPORTED, "stored", loc, value.refused)

    def _fitting(self, value: Number, var: Var) -> Term:
        if var.type.width is None:
            return value.term
        term = value.read(var.type.signed)
        if var.type == FLAG_TYPE and value.type.width != 1:
            return ite(not_zero(term), ONE, ZERO)
        if value.type.width is None:
            return wrap(term, var.type)
        return term

    def _null_check(self, operand: ir.Value, loc: ir.Loc | None) -> None:
        for base, _ in self.memory.points.of(operand).places:
            null = self.memory.nullable.get(base)
            if null is not None:
                self.check(equals_zero(null), "null-pointer", loc)

    def _bounds(self, operand: ir.Value, address: Address, size: int, loc: ir.Loc | None) -> None:
        """Accesses outside an object of known size are undefined; other objects are checked as they run."""
        target = self.memory.points.of(operand)
        self._null_check(operand, loc)
        base = target.base
        if base is None or not isinstance(address.object, Const):
            return
        whole = self.memory.size(base)
        if whole is not None:
            self.check(between(0, address.offset, whole - size), "bounds", loc)

    def alloca(self, instruction: ir.Instruction) -> None:
        """A local object; one of variable size is allocated as the run goes."""
        name = instruction.result or ""
        if instruction.operands and not isinstance(instruction.operands[0], ir.IntConst):
            count = self.number(instruction.operands[0])
            assert instruction.access is not None
            element = self.memory.module.layout.size_of(instruction.access.type)
            var = self.memory.fresh(f"%{name}.object", Kind.TEMPORARY, INTEGERS, pointer_part="object")
            if count is None:
                self.emit(Havoc(var, Origin.UNSUPPORTED, name, instruction.loc))
            else:
                self.check(less(ZERO, count.read(True)), "array-length", instruction.loc)
                self.emit(Allocate(var, scale(count.read(True), element), False, instruction.loc))
            self.define(instruction, Address(var, ZERO))
            return
        self.values[name] = Address(const(self.memory.number(Base("local", name))), ZERO)

    def gep(self, instruction: ir.Instruction) -> None:
        """An address computation; leaving the largest possible object is undefined."""
        gep = instruction.gep
        if gep is None or not isinstance(instruction.type, ir.PtrT):
            self.define(instruction, Nothing(self.refused("vectors of pointers are not followed", instruction.loc)))
            return
        base = self.address(gep.base, instruction.loc)
        parts: list[Term] = [base.offset, const(gep.offset)]
        for index, stride in gep.steps:
            number = self.number(index)
            if number is None:
                unknown = self.unknown(ir.IntT(64), Origin.UNSUPPORTED, "index", instruction.loc)
                assert isinstance(unknown, Number)
                number = unknown
            parts.append(scale(number.read(True), stride))
        offset = add(*parts)
        target = self.memory.points.of(instruction.value)
        if target.unknown or any(place is None for _, place in target.places):
            type = self.memory.offset_type
            self.check(between(type.min, offset, type.max), "pointer-overflow", instruction.loc)
        self.define(instruction, Address(base.object, offset))


def _terms(value: Value) -> tuple[Term, ...]:
    match value:
        case Number():
            return (value.term,)
        case Flag():
            return (value.term,)
        case Address():
            return (value.object, value.offset)
        case Nothing():
            return ()
