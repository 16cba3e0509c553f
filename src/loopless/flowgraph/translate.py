"""Instructions to statements: what each LLVM instruction does to integer variables.

Results that are used only within their block stay terms; a term is given a variable of its own where a later
instruction needs it after one of its variables has changed, where another block needs it, or where it grows large.
"""

from __future__ import annotations

from loopless import terms as t
from loopless.flowgraph.def_use import defined_by
from loopless.flowgraph.memory.mod_ref import Touched
from loopless.flowgraph.memory.objects import FunctionMemory, Slot
from loopless.flowgraph.memory.places import Base
from loopless.flowgraph.memory.same_objects import Order
from loopless.flowgraph.memory.truths import Truths, truths_of
from loopless.flowgraph.model import (
    Assign,
    Block,
    Call,
    Check,
    Copy,
    Edge,
    End,
    Fill,
    Havoc,
    Kind,
    Load,
    Origin,
    Pointer,
    Statement,
    Store,
)
from loopless.flowgraph.uses import Uses
from loopless.flowgraph.values import FLAG_TYPE, Address, Flag, Number, UnfollowedValue, Value, flag_of, number_of_flag
from loopless.limits.flowgraph import MAX_INLINE_NODES
from loopless.refusals import Reason, Refused
from loopless.source import ir


class Translator:
    """The state of translating one function, block by block."""

    def __init__(self, memory: FunctionMemory, uses: Uses) -> None:
        self.memory = memory
        self.uses = uses
        self.values: dict[str, Value] = {}
        self.statements: list[Statement] = []
        self.pending: dict[str, Value] = {}
        self._mentioning: dict[t.Var, list[str]] = {}
        """By variable the names in ``pending`` whose values mention it, and such as were there before."""
        self.position = 0
        self.next: ir.Instruction | None = None
        self.label = ""
        self.shown_label = ""
        self.end: End | None = None
        self.blocked: dict[str, Refused] = {}
        self.orders: dict[t.Var, Order] = {}
        """By their variables: orders of pointers that are known where they point into the same object."""
        self.callees: set[str] = set()
        self.called: list[tuple[Call, Touched]] = []
        """The calls, with what they touch."""
        self.accesses: list[tuple[Load | Store | Fill | Copy, ir.Value]] = []
        """Accesses to memory, and the pointers that they go through."""
        self.edges: list[Edge] = []
        self.overflowing: dict[str, tuple[Value, Value]] = {}
        """By result: what operations that tell whether they overflow come to, and whether they did."""
        self.addresses: dict[int, t.Var] = {}
        self._finished: dict[str, Block] = {}
        self._parts = 0
        self._truths: Truths | None = None

    @property
    def truths(self) -> Truths:
        """What is known of truth values in memory."""
        if self._truths is None:
            self._truths = truths_of(self.memory)
        return self._truths

    # -- blocks ---------------------------------------------------------------------------------------------------

    def start(self, label: str) -> None:
        """Begin a block."""
        self.statements = []
        self.pending, self._mentioning = {}, {}
        self.label = label
        self.shown_label = label
        self.end = None
        self.edges = []

    def split_unless(self, condition: t.Condition, otherwise: End, loc: ir.Loc | None) -> None:
        """A branch to ``otherwise`` unless ``condition``; the rest of the block becomes a block of its own."""
        if condition is t.TRUE:
            return
        self._parts += 1
        rest, other = f"{self.label}.after{self._parts}", f"{self.label}.{otherwise.kind}{self._parts}"
        self._save_all()
        edges = (Edge(condition, rest, (), loc), Edge(~condition, other, (), loc))
        self._finished[self.shown_label] = Block(self.shown_label, tuple(self.statements), edges, None)
        self._finished[other] = Block(other, (), (), otherwise)
        self.statements = []
        self.shown_label = rest

    def promised(self, condition: t.Condition, kind: str, loc: ir.Loc | None) -> None:
        """A promise of an instruction's flags (no overflow, no lost bits). In code as written breaking it is undefined
        where it stands; in optimized code it makes a value that must not be used, perhaps never used: not answered.
        """
        if not self.uses.speculates:
            self.check(condition, kind, loc)
            return
        refused = self.refused(
            f"optimized code may compute a value early that breaks a promise ({kind}) and is then not used; give the "
            "C file, or IR without optimization",
            loc,
            Reason.UNDEF_VALUE,
        )
        self.split_unless(condition, End("unsupported", None, None, loc, refused), loc)

    def _save_all(self) -> None:
        for name, value in list(self.pending.items()):
            if self.uses.last_in_block.get((self.label, name), -1) > self.position:
                self.values[name] = self.saved(name, value)
        self.pending, self._mentioning = {}, {}

    def finish(self, into: dict[str, Block]) -> None:
        """Close the block and put it, and those split off from it, into ``into``."""
        end = self.end
        edges = () if end is not None else tuple(self.edges)
        if end is None and not edges:
            end = End("undefined", None, None, None)
        self._finished[self.shown_label] = Block(self.shown_label, tuple(self.statements), edges, end)
        into.update(self._finished)
        self._finished = {}

    def object_address(self, number: int) -> t.Var:
        """The unknown address of an object, one variable for all uses."""
        found = self.addresses.get(number)
        if found is None:
            shown = f"&{self.memory.objects[number].name}" if number in self.memory.objects else "&null"
            type = t.IntType(self.memory.module.pointer_bits, signed=False)
            found = self.addresses[number] = self.memory.fresh(shown, Kind.TEMPORARY, type)
        return found

    def emit_access(self, statement: Load | Store | Fill | Copy, address: ir.Value) -> None:
        """Append a statement that reads or writes where ``address`` points."""
        self.emit(statement)
        self.accesses.append((statement, address))

    def emit(self, statement: Statement) -> None:
        """Append a statement; terms that mention a variable it changes are saved first."""
        for changed in defined_by(statement):
            self.save_mentions(changed)
        self.statements.append(statement)

    def check(
        self,
        condition: t.Condition,
        kind: str,
        loc: ir.Loc | None,
        *,
        of_access: bool = False,
        place: Pointer | None = None,
    ) -> None:
        """Undefined behaviour unless ``condition``; ``of_access`` and ``place`` as in :class:`Check`."""
        if condition is not t.TRUE:
            self.statements.append(Check(condition, kind, loc, of_access, place))

    def save_mentions(self, changed: t.Var) -> None:
        """Save the terms that mention a variable that is about to change."""
        for name in self._mentioning.pop(changed, ()):
            value = self.pending.pop(name, None)
            if value is not None and self.uses.last_in_block.get((self.label, name), -1) > self.position:
                self.values[name] = self.saved(name, value)

    def define(self, instruction: ir.Instruction, value: Value) -> None:
        """Bind the instruction's result."""
        name = instruction.result
        if name is None:
            return
        terms = _terms(value)
        if name in self.uses.elsewhere or _is_large(terms):
            value = self.saved(name, value)
        elif terms:
            self.pending[name] = value
            for term in terms:
                for mentioned in term.variables:
                    self._mentioning.setdefault(mentioned, []).append(name)
        self.values[name] = value

    def saved(self, name: str, value: Value) -> Value:
        """``value`` held by new variables."""
        match value:
            case Number(term=t.Const()) | UnfollowedValue():
                return value
            case Number():
                # Without debug records the values of the IR are the variables that people know.
                known = self.memory.function.loc is None and name in self.uses.elsewhere
                var = self.memory.fresh(f"%{name}", Kind.LOCAL if known else Kind.TEMPORARY, value.type)
                self.emit(Assign(var, value.term))
                return Number(var, value.type)
            case Flag(condition=condition):
                if condition in (t.TRUE, t.FALSE):
                    return value
                var = self.memory.fresh(f"%{name}", Kind.FLAG, FLAG_TYPE)
                self.emit(Assign(var, value.term))
                return flag_of(var)
            case Address():
                offset, owner = value.offset, value.object
                if not isinstance(offset, t.Const):
                    saved = self.memory.fresh(
                        f"%{name}", Kind.TEMPORARY, self.memory.offset_type, pointer_part="offset"
                    )
                    self.emit(Assign(saved, offset))
                    offset = saved
                if not isinstance(owner, t.Const):
                    kept = self.memory.fresh(f"%{name}.object", Kind.TEMPORARY, t.INTEGERS, pointer_part="object")
                    self.emit(Assign(kept, owner))
                    owner = kept
                return Address(owner, offset)

    # -- operands -------------------------------------------------------------------------------------------------

    def value(self, operand: ir.Value) -> Value:
        """The value of an operand."""
        match operand:
            case ir.IntConst():
                if operand.bits == 1:
                    return Flag(t.TRUE if operand.value else t.FALSE)
                return Number(t.const(operand.value), t.IntType(operand.bits))
            case ir.Local():
                found = self.values.get(operand.name)
                return found if found is not None else UnfollowedValue(self.refused("the value is not followed", None))
            case ir.NullPtr():
                return Address(t.ZERO, t.ZERO)
            case ir.GlobalRef():
                if self.memory.module.is_weak(operand.name):
                    detail = f"`{operand.name}` is weak and not defined here: its address may be null"
                    refused = self.refused(detail, None, Reason.POINTER)
                    return self.unknown(operand.type, Origin.UNSUPPORTED, operand.name, None, refused)
                return Address(t.const(self.memory.number(Base("global", operand.name))), t.ZERO)
            case ir.AddressOf():
                return Address(t.const(self.memory.number(Base("global", operand.name))), t.const(operand.offset))
            case ir.Undef() | ir.Poison():
                return self.unknown(
                    operand.type,
                    Origin.UNSUPPORTED,
                    "undef",
                    None,
                    Refused(Reason.UNDEF_VALUE, self.where(None), "the code uses an undefined value"),
                )
            case ir.OtherConst(op="ptrtoint", operands=(ir.GlobalRef() | ir.AddressOf() as named,), type=ir.IntT(bits)):
                place = self.value(named)
                if not isinstance(place, Address) or not isinstance(place.object, t.Const):
                    return UnfollowedValue(self.refused("an address is used", None))
                type = t.IntType(bits, signed=False)
                return Number(t.wrap(self.object_address(place.object.value) + place.offset, type), type)
            case ir.FloatConst():
                return UnfollowedValue(
                    Refused(Reason.FLOAT, self.where(None), "floating-point values are not followed")
                )
            case _:
                return UnfollowedValue(self.refused("a constant of this kind is not followed", None))

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
        if isinstance(value, UnfollowedValue):
            return value.refused
        return self.refused("a pointer comes from something that is not a pointer", None)

    def slot(self, operand: ir.Value) -> Slot | None:
        """The variable that a load or store through ``operand`` means, if it is one."""
        target = self.memory.points.of(operand)
        if target.unknown or len(target.living) != 1:
            return None
        base, offset = next(iter(target.living))
        return None if offset is None else self.memory.slots.get((base, offset))

    def accessed_next(self, pointer: ir.Value) -> bool:
        """Whether the next instruction reads or writes through ``pointer``, which is then checked there."""
        following = self.next
        if following is None or following.op not in ("load", "store"):
            return False
        volatile = following.access is not None and (following.access.volatile or following.access.atomic)
        return following.operands[-1] == pointer and not volatile

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
        *,
        signed: bool = True,
    ) -> Value:
        """A value that the flowgraph does not determine, in new variables."""
        match type:
            case ir.IntT(bits=1):
                var = self.memory.fresh(f"%{name}", Kind.FLAG, FLAG_TYPE)
                self.emit(Havoc(var, origin, name, loc, refused))
                return flag_of(var)
            case ir.IntT(bits=bits):
                held = self.memory.number_type(bits, signed=signed)
                var = self.memory.fresh(f"%{name}", Kind.TEMPORARY, held)
                self.emit(Havoc(var, origin, name, loc, refused))
                return Number(var, held)
            case ir.PtrT():
                offset = self.memory.fresh(f"%{name}", Kind.TEMPORARY, self.memory.offset_type, pointer_part="offset")
                owner = self.memory.fresh(f"%{name}.object", Kind.TEMPORARY, t.INTEGERS, pointer_part="object")
                self.emit(Havoc(offset, origin, name, loc, refused))
                self.emit(Havoc(owner, origin, name, loc, refused))
                return Address(owner, offset)
            case ir.FloatT():
                return UnfollowedValue(self.refused("floating-point values are not followed", loc, Reason.FLOAT))
            case _:
                return UnfollowedValue(refused or self.refused("a value of this type is not followed", loc))

    def havoc_slot(self, slot: Slot, origin: Origin, name: str, loc: ir.Loc | None, refused: Refused | None) -> None:
        """The variable of ``slot`` takes an unknown value."""
        self.emit(Havoc(slot.var, origin, name, loc, refused))
        if slot.object_var is not None:
            self.emit(Havoc(slot.object_var, origin, name, loc, refused))


def _is_large(terms: tuple[t.Term, ...]) -> bool:
    """Whether the terms have more than :data:`MAX_INLINE_NODES` nodes."""
    count = 0
    for term in terms:
        below = term.children
        if not below or (isinstance(term, t.Sum) and all(isinstance(atom, t.Var) for atom in below)):
            count += 1 + len(below)
            continue
        for _ in t.walk(term):
            count += 1
            if count > MAX_INLINE_NODES:
                return True
    return count > MAX_INLINE_NODES


def _terms(value: Value) -> tuple[t.Term, ...]:
    match value:
        case Number():
            return (value.term,)
        case Flag():
            return (value.term,)
        case Address():
            return (value.object, value.offset)
        case UnfollowedValue():
            return ()
