"""The memory of one function: which objects there are, which scalars are variables, and what everything is called."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Collection, Mapping
from dataclasses import field

from loopless import terms as t
from loopless.flowgraph.memory.cells import OUTSIDE, Cells
from loopless.flowgraph.memory.exposure import Exposure, around
from loopless.flowgraph.memory.initial_bytes import Relocations, initial_content
from loopless.flowgraph.memory.initial_memory import never_written
from loopless.flowgraph.memory.mod_ref import Caller, Touched, facts_of, is_internal, touched
from loopless.flowgraph.memory.nullable import compared_with_null
from loopless.flowgraph.memory.own_heap import is_allocated
from loopless.flowgraph.memory.places import HEAP, NULL, Base, MemoryAccess, PointerTargets, PointsTo
from loopless.flowgraph.memory.pointees import STANDING_IN
from loopless.flowgraph.memory.points_to import analyse
from loopless.flowgraph.memory.promotion import is_whole, promotable
from loopless.flowgraph.model import (
    NULL_OBJECT,
    NULL_PART,
    OBJECT_PART,
    Kind,
    MemoryObject,
    VariableInfo,
    offset_type,
)
from loopless.flowgraph.source_names import GlobalNames, literal, numbered, qualified
from loopless.flowgraph.source_types import is_declared_signed, leaf_type, name_through_variable, type_in
from loopless.flowgraph.words import REGISTER, place_in_words, value_in_words
from loopless.records import dataclass
from loopless.source import ir
from loopless.source.debug import DebugType
from loopless.source.debug import TypeKind as DebugKind


@dataclass(frozen=True, slots=True)
class Options:
    """How numbers are read: ``mathematical`` makes signed types ℤ; ``wrapv`` makes signed overflow wrap around.

    ``apart``: what pointers in memory point to is taken not to overlap with other objects, and that is listed
    (:mod:`loopless.flowgraph.memory.pointees`); else they may point anywhere.
    """

    mathematical: bool = False
    wrapv: bool = False
    apart: bool = True


@dataclass(frozen=True, slots=True)
class Slot:
    """A scalar in memory that is a variable; ``object_var`` where it is a pointer whose object varies.

    A pointer that always has one object, or one place, has ``fixed_object`` and ``fixed_offset``.
    """

    var: t.Var
    object_var: t.Var | None = None
    fixed_object: int | None = None
    fixed_offset: int | None = None


@dataclass
class FunctionMemory:
    """Objects, slots and names of one function."""

    function: ir.SourceFunction
    module: ir.Module
    options: Options
    points: PointsTo
    pointees: dict[Base, tuple[Base, int | None]] = field(default_factory=dict)
    """The places of the pointers that formal pointees are named after, those of which only calls speak included."""
    numbers: dict[Base, int] = field(default_factory=dict)
    objects: dict[int, MemoryObject] = field(default_factory=dict)
    slots: dict[tuple[Base, int], Slot] = field(default_factory=dict)
    variables: dict[t.Var, VariableInfo] = field(default_factory=dict)
    nullable: dict[Base, t.Var] = field(default_factory=dict)
    promoted: frozenset[Base] = frozenset()
    """The objects all accesses to which are those of variables."""
    around: Exposure | None = None
    """What is known around the function; None where it calls nothing that matters."""
    unwritten: frozenset[str] = frozenset()
    """The arrays that hold what their definitions say for ever, since nobody who could write them does."""
    granted: dict[str, None] = field(default_factory=dict)
    """What is taken for granted of calls."""
    known: ir.Module | None = None
    """The module by which it is known what functions do, if not ``module``."""
    extents: dict[Base, t.Var] = field(default_factory=dict)
    """The sizes in bytes of objects whose sizes vary, by what was translated so far."""
    unnumbered: dict[int, str] = field(default_factory=dict)
    """See :class:`loopless.flowgraph.model.Flowgraph`."""
    holders: dict[int, int] = field(default_factory=dict)
    _unnumbered: dict[Base, int] = field(default_factory=dict)
    _made: dict[str, ir.Instruction] | None = None
    _names: set[str] = field(default_factory=set)
    _latest: dict[str, str] = field(default_factory=dict)
    """By what variables are shown as, the name of the last one of them."""

    @property
    def offset_type(self) -> t.IntType:
        """The range of byte offsets: no object is larger than a quarter of the address space."""
        return offset_type(self.module.pointer_bits)

    def number_type(self, bits: int, *, signed: bool) -> t.IntType:
        """The type of an integer variable under the options."""
        signed = signed and bits > 1  # a truth value is 0 or 1
        return t.INTEGERS if self.options.mathematical and signed else t.IntType(bits, signed)

    def fresh(self, shown: str, kind: Kind, type: t.IntType, **details: object) -> t.Var:
        """A new variable; its name is ``shown``, where that is taken with the line of its declaration behind it, or a
        number. A value of the module is
        told in words, but where its names are all that people know, for want of debug records.
        """
        shown = self._in_words(shown)
        stem = shown.removesuffix(OBJECT_PART)
        half = shown[len(stem) :]
        # Both halves of a pointer have one number.
        wanted = (f"{self._latest.get(stem, stem)}{half}",) if half else ()
        names = itertools.chain(wanted, (f"{one}{half}" for one in numbered(stem, details.get("declared"))))
        name = next(name for name in names if name not in self._names)
        self._names.add(name)
        self._latest[stem] = name.removesuffix(half)
        var = t.Var(name, type)
        self.variables[var] = VariableInfo(var, shown, kind, **details)  # type: ignore[arg-type]
        return var

    @property
    def made(self) -> Mapping[str, ir.Instruction]:
        """The instructions by the values that they make."""
        if self._made is None:
            self._made = {i.result: i for block in self.function.blocks for i in block.instructions if i.result}
        return self._made

    def _in_words(self, shown: str) -> str:
        if self.function.loc is None or not shown.startswith(REGISTER):
            return shown
        stem = shown.removesuffix(OBJECT_PART)
        return value_in_words(self.made.get(stem.removeprefix(REGISTER))) + shown[len(stem) :]

    def number(self, base: Base) -> int:
        """The number of an object; a new one is described on the way."""
        if base == NULL:
            return NULL_OBJECT
        if base.kind == "global" and base.name in self.module.functions:
            base = Base("function", base.name)  # where pointers lead, functions are globals
        found = self.numbers.get(base)
        if found is None:
            found = self.numbers[base] = len(self.numbers) + 1
            self.objects[found] = self._describe(base, found)
        return found

    def objects_of(self, target: PointerTargets) -> frozenset[int] | None:
        """The objects that a pointer may point into, those that are the same ones perhaps included; None for any."""
        return None if target.unknown or not target.places else self._numbers({base for base, _ in target.living})

    def objects_in(self, cells: Cells) -> frozenset[int] | None:
        """The objects that have some of the places, those that are the same ones perhaps included; None for any. What
        nothing here accesses is left out.
        """
        bases = {cell.base for cell in cells}
        named = {base for base in bases if base in self.numbers or base in self._unnumbered}
        return None if OUTSIDE in bases else self._numbers(named | {b for b in bases if b.kind in STANDING_IN})

    def _numbers(self, bases: set[Base]) -> frozenset[int]:
        alike = self.points.alike
        some = bases | {other for base in bases for other in alike.get(base, ())}
        some |= {other for other, same in alike.items() if not some.isdisjoint(same)}
        return frozenset(self._known_as(base) for base in some)

    def _known_as(self, base: Base) -> int:
        """The number of an object; of one without a number a negative one."""
        if base in self.numbers or base.kind not in (*STANDING_IN, HEAP):
            return self.number(base)
        found = self._unnumbered.get(base)
        if found is None:
            found = self._unnumbered[base] = -1 - len(self._unnumbered)
            self.unnumbered[found] = "" if base.kind == HEAP else self.in_words(base)
            if base in self.pointees:
                self.holders[found] = self._known_as(self.pointees[base][0])
        return found

    def place_name(self, address: ir.Value, size: int) -> tuple[str, bool | None]:
        """How C names the one scalar that a pointer points to, and whether it is signed there; empty where there are
        several, or none is known.
        """
        target = self.points.of(address)
        named = name_through_variable(address, size, self.function, self.module, self.made)
        if named[0] or len(target.living) != 1 or target.unknown:
            return named
        base, offset = next(iter(target.living))
        if offset is None or base.kind == HEAP:
            return "", None
        debug = self.debug_type(base)
        leaf = None if debug is None else leaf_type(self.module.debug_types, debug, 8 * offset, 8 * size)
        return self.slot_name(base, offset, size), None if leaf is None else leaf.signed

    def is_signed(self, address: ir.Value, bits: int) -> bool:
        """Whether an integer that is read in no particular way is read with a sign: as it is declared."""
        declared = is_declared_signed(address, bits, self.function, self.module, self.made)
        return True if declared is None else declared

    def object_term(self, base: Base) -> t.Term:
        """The object's number as a term: for a parameter that may be null it depends on that."""
        number = t.const(self.number(base))
        null = self.nullable.get(base)
        return number if null is None else t.ite(null.eq(1), t.ZERO, number)

    def fixed(self, target: PointerTargets) -> int | None:
        """The number of the one object that a pointer surely points into, if there is one."""
        base = target.base
        unsure = base is None or base == NULL or base in self.nullable or base.kind in (*STANDING_IN, HEAP)
        return None if base is None or unsure else self.number(base)

    def size(self, base: Base) -> int | None:
        """The object's size in bytes, None where it is not known."""
        match base.kind:
            case "local":
                alloca = self._alloca(base.name)
                return None if alloca is None else self._alloca_size(alloca)
            case "global":
                found = self.module.globals.get(base.name)
                external = found is None or (found.initializer is None and isinstance(found.type, ir.ArrayT))
                return None if found is None or external else self._sized(found.type)
            case "parameter":
                param = next(p for p in self.function.params if p.name == base.name)
                pointed = param.byval
                return None if pointed is None else self._sized(pointed)
            case _:
                return None

    def extent(self, base: Base) -> int | t.Term | None:
        """The object's size in bytes, a variable where it varies, None where it is not known."""
        size = self.size(base)
        return self.extents.get(base) if size is None else size

    def touched(self, instruction: ir.Instruction) -> Touched:
        """What a call may read and write."""
        assert self.around is not None
        caller = Caller(self.function, self.points, self.module, self.pointees)
        return touched(instruction, caller, self.around.facts)

    def is_given(self, base: Base) -> bool:
        """Whether the address of a global may be an argument, or be known to others."""
        return self.around is None or base.name in self.around.facts.given

    def held(self, cells: Cells) -> list[tuple[tuple[Base, int], Slot]]:
        """The variables that stand for some of the places."""
        known = self.around
        assert known is not None
        sizes = ((key, slot, self.variables[slot.var].size) for key, slot in self.slots.items())
        return [(key, slot) for key, slot, size in sizes if known.hits(cells, *key, size)]

    def _sized(self, type: ir.Type) -> int | None:
        size = self.module.layout.size_of(type)
        return size if size > 0 else None

    def _alloca(self, name: str) -> ir.Instruction | None:
        for block in self.function.blocks:
            for instruction in block.instructions:
                if instruction.result == name:
                    return instruction
        return None

    def _alloca_size(self, alloca: ir.Instruction) -> int | None:
        assert alloca.access is not None
        size = self.module.layout.size_of(alloca.access.type)
        if alloca.operands:
            count = alloca.operands[0]
            return size * count.value if isinstance(count, ir.IntConst) else None
        return size

    def _describe(self, base: Base, number: int) -> MemoryObject:
        debug = self.debug_type(base)
        types = self.module.debug_types
        element = None
        if debug is not None:
            inner = types.element(debug) if debug.kind is DebugKind.ARRAY else debug
            if inner is not None and inner.signed is not None and inner.bits in (8, 16, 32, 64):
                element = t.IntType(inner.bits, inner.signed)
        content: bytes | None = None
        relocations: Relocations = ()
        constant = own = False
        if base.kind == "global" and (found := self.module.globals.get(base.name)) is not None:
            constant = found.constant or base.name in self.unwritten
            own = is_internal(found) and base.name not in facts_of(self.known or self.module).exposed
            if found.initializer is not None:
                content, relocations = initial_content(self.module, found)
        index = next((i for i, p in enumerate(self.function.params) if p.name == base.name), None)
        shown = self.shown(base)
        taken = {self.objects[n].name for b, n in self.numbers.items() if b not in self.promoted and n in self.objects}
        variable = self.function.variables.get(base.name) if base.kind == "local" else None
        name = next(n for n in numbered(shown, None if variable is None else variable.declared) if n not in taken)
        return MemoryObject(
            number,
            name,
            base.kind,
            self.size(base),
            element,
            constant,
            content,
            index if base.kind == "parameter" else None,
            base.name if base.kind in ("global", "function") else "",
            relocations,
            self._holder(base),
            own,
            private=base.kind == "local" and base not in self._kept,
        )

    @property
    def _kept(self) -> Collection[Base]:
        """The objects whose address somebody may still know."""
        return self.points.escaped | self.points.lent if self.around is None else self.around.kept

    def _holder(self, base: Base) -> tuple[int, int] | None:
        holder, offset = self.pointees.get(base, (None, None))
        return None if holder is None or offset is None else (self.number(holder), offset)

    def debug_type(self, base: Base) -> DebugType | None:
        """The source type of what is in the object, None where debug records do not tell."""
        return type_in(base, self.function, self.module, self.pointees)

    def shown(self, base: Base) -> str:
        """The object's name in the source."""
        match base.kind:
            case "local":
                variable = self.function.variables.get(base.name)
                if variable is not None:
                    return qualified(variable.name, variable.declared)
                unnamed = self.function.loc is None or is_allocated(base.name)
                return base.name if unnamed else place_in_words(self.made.get(base.name), self.function.source_name)
            case "global":
                found = self.module.globals.get(base.name)
                if found is not None and found.debug is not None:
                    return self._global_names.name(found.debug)
                return base.name if found is None else literal(found) or base.name
            case "parameter":
                param = next(p for p in self.function.params if p.name == base.name)
                return base.name if param.debug is None else param.debug.name
            case "pointee":
                holder, offset = self.pointees[base]
                return self.slot_name(holder, offset or 0, self.module.pointer_bits // 8)
            case "reached":
                return self.shown(self.pointees[base][0])
            case _:
                return base.name

    @functools.cached_property
    def _global_names(self) -> GlobalNames:
        return GlobalNames(self.function, self.module)

    def is_indirect(self, base: Base) -> bool:
        """Whether the object is named by a pointer to it."""
        if base.kind == "local":
            return is_allocated(base.name)
        return base.kind in STANDING_IN or (base.kind == "parameter" and base.name not in self.function.variables)

    def in_words(self, base: Base) -> str:
        """The object in a sentence."""
        match base.kind:
            case "pointee":
                return f"what {self.shown(base)} points to"
            case "reached":
                return f"what else is reached from {self.shown(base)}"
            case _:
                return self.shown(base)

    def slot_name(self, base: Base, offset: int, size: int) -> str:
        """How C names the scalar at ``offset``: ``x``, ``s.len``, ``p->len``, ``*p``, ``a[3]``."""
        name, debug = self.shown(base), self.debug_type(base)
        indirect = self.is_indirect(base)
        if debug is not None and indirect and debug.bits and offset >= debug.bits // 8 > 0:
            index, inner = divmod(offset, debug.bits // 8)
            path = self.module.debug_types.member_path(debug, inner, size)
            if path is not None:
                return f"{name}[{index}]{path}"
        path = None if debug is None else self.module.debug_types.member_path(debug, offset, size)
        if path is None:
            return f"{name}+{offset}" if offset or indirect else name
        if not indirect:
            return name + path
        if path == "":
            return f"*{name}"
        refers = base.kind == "parameter" and self._is_reference(base)  # in C++ it has the name of what it refers to
        if refers:
            return name + path
        return f"{name}->{path[1:]}" if path.startswith(".") else f"(*{name}){path}"

    def _is_reference(self, base: Base) -> bool:
        found = next((p.debug for p in self.function.params if p.name == base.name), None)
        return found is not None and found.type.description.rstrip().endswith("&")


def describe_memory(
    function: ir.SourceFunction,
    module: ir.Module,
    options: Options,
    points: PointsTo | None = None,
    known: ir.Module | None = None,
) -> FunctionMemory:
    """The memory of ``function``: objects are numbered and slots named on the way.

    ``points``: where its pointers point; ``known``: the module by which it is known what calls do, if not ``module``.
    """
    points = points or analyse(function, module, apart=options.apart)
    memory = FunctionMemory(function, module, options, points, dict(points.pointees), known=known)
    memory.unwritten = _unwritten(known or module)
    if points.defined_calls or points.unknown_calls or _may_hide(points, module):
        memory.around = around(function, points, module, known or module)
    hidden = memory.around
    _find_nullable(memory)
    bases = sorted({a.place[0] for a in memory.points.accesses if a.place is not None})
    sizes = {base: memory.size(base) for base in bases if base.kind in ("local", "global", "parameter")}
    chosen = promotable(memory.points, sizes, lambda base: hidden is not None and not hidden.reaches(base))
    memory.promoted = frozenset(
        base
        for base in chosen
        if is_whole((a for a in points.accesses if a.place is not None and a.place[0] == base), chosen[base])
    )
    order = {i.result: n for n, i in enumerate(i for b in function.blocks for i in b.instructions) if i.result}
    for base in sorted(chosen, key=lambda b: (b.kind != "local", order.get(b.name, 0), b.name)):
        for offset, access in sorted(chosen[base].items()):
            memory.slots[base, offset] = _slot(memory, base, offset, access)
    return memory


@functools.lru_cache(maxsize=4)
def _unwritten(module: ir.Module) -> frozenset[str]:
    arrays = {name for name, found in module.globals.items() if isinstance(found.type, ir.ArrayT)}
    if not any(is_internal(module.globals[name]) and not module.globals[name].constant for name in arrays):
        return frozenset()
    return never_written(module, whole=False) & arrays


def _may_hide(points: PointsTo, module: ir.Module) -> bool:
    """Whether there are globals here that pointers of unknown origin perhaps do not point to."""
    named = {a.place[0].name for a in points.accesses if a.place is not None and a.place[0].kind == "global"}
    strange = points.unknown_access or points.formal_access
    return strange and any(n in module.globals and is_internal(module.globals[n]) for n in named)


def _slot(memory: FunctionMemory, base: Base, offset: int, access: MemoryAccess) -> Slot:
    kind = {"local": Kind.LOCAL, "global": Kind.GLOBAL}.get(base.kind, Kind.POINTEE)
    declared = None
    if base.kind == "local":
        variable = memory.function.variables.get(base.name)
        if variable is None:
            kind = Kind.TEMPORARY
        else:
            declared = variable.declared
    shown = memory.slot_name(base, offset, access.size)
    number = memory.number(base)
    if access.pointer:
        content = memory.points.cells.get((base, offset), PointerTargets())
        own = base.kind == "local" and base not in memory.points.lent  # a call may store another pointer there
        fixed = memory.fixed(content) if own else None
        var = memory.fresh(
            shown,
            kind,
            memory.offset_type,
            object=number,
            offset=offset,
            size=access.size,
            pointer_part="offset",
            declared=declared,
        )
        if fixed is not None:
            offsets = {place for _, place in content.places}
            return Slot(var, None, fixed, next(iter(offsets)) if len(offsets) == 1 else None)
        other = memory.fresh(
            f"{shown}.object",
            kind,
            t.INTEGERS,
            object=number,
            offset=offset,
            size=access.size,
            pointer_part="object",
            declared=declared,
        )
        # A null pointer that is moved is undefined, so one that leads to the start of something or is null stays at 0.
        # Where in its object a pointer leads that is named after a place in memory, is not known.
        meant = {(base, at) for base, at in content.places if base != NULL}
        named = any(base.kind in STANDING_IN for base, _ in meant)
        starts = own and not content.unknown and not named and {at for _, at in meant} == {0}
        return Slot(var, other, None, 0 if starts and not memory.options.wrapv else None)
    type = memory.number_type(access.bits, signed=True)
    debug = memory.debug_type(base)
    if debug is not None:
        indirect = memory.is_indirect(base)
        at = 8 * offset % debug.bits if indirect and debug.bits else 8 * offset  # p[1] is of the type of *p
        leaf = leaf_type(memory.module.debug_types, debug, at, access.bits)
        if leaf is not None and leaf.signed is not None:
            boolean = leaf.kind is DebugKind.BOOL and _only_truth_values(memory, base, offset)
            type = t.IntType(1, signed=False) if boolean else memory.number_type(access.bits, signed=leaf.signed)
    return Slot(memory.fresh(shown, kind, type, object=number, offset=offset, size=access.size, declared=declared))


def _only_truth_values(memory: FunctionMemory, base: Base, offset: int) -> bool:
    """Whether every store to a ``_Bool`` in this function stores 0 or 1, as all that C does to one directly."""
    widened = {
        i.result
        for block in memory.function.blocks
        for i in block.instructions
        if i.op == "zext" and i.operands[0].type == ir.IntT(1)
    }
    widened |= {p.name for p in memory.function.params if p.debug is not None and p.debug.kind is DebugKind.BOOL}
    for block in memory.function.blocks:
        for instruction in block.instructions:
            if instruction.op != "store" or (base, offset) not in memory.points.of(instruction.operands[1]).places:
                continue
            value = instruction.operands[0]
            constant = isinstance(value, ir.IntConst) and value.unsigned in (0, 1)
            if not constant and not (isinstance(value, ir.Local) and value.name in widened):
                return False
    return True


def _find_nullable(memory: FunctionMemory) -> None:
    """Pointer parameters that the function compares with null: only these may be null for us."""
    for base in compared_with_null(memory.function, memory.points, memory.module):
        shown = f"{memory.shown(base)}{NULL_PART}"
        memory.nullable[base] = memory.fresh(shown, Kind.PARAMETER, t.IntType(1, signed=False))
