"""Which bytes of memory that are read as a ``_Bool`` surely hold 0 or 1: nothing in the function writes another there.

What comes from outside (what parameters and other pointers point to, globals, what calls leave behind) is taken to hold
what its type says; of that the answers speak as an assumption.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import field, replace

from loopless.flowgraph.memory.called_memory import call_kind
from loopless.flowgraph.memory.objects import FunctionMemory
from loopless.flowgraph.memory.places import Base, PointerTargets
from loopless.graphs import reachable
from loopless.records import dataclass
from loopless.source import ir
from loopless.source.debug import DebugType
from loopless.source.debug import TypeKind as DebugKind
from loopless.source.vocabulary import LibraryEffect, effect_of

_Place = tuple[str, int, int]
"""A local or global that an address is computed from, the byte offset there, and what steps of unknown number are
multiples of (0: there are none).
"""


@dataclass(frozen=True, slots=True)
class _Write:
    """A write of what may be no truth value: through ``address``, of ``size`` bytes (None: it varies).

    ``typed``: a store of an integer or pointer of more than a byte, which by C's rule of effective types (6.5p7) does
    not change what is declared as a ``_Bool``.
    """

    target: PointerTargets
    address: ir.Value
    size: int | None
    typed: bool = False


@dataclass(slots=True)
class Truths:
    """What is known of the truth values in the memory of one function."""

    memory: FunctionMemory
    definitions: dict[str, ir.Instruction] = field(default_factory=dict)
    booleans: set[str] = field(default_factory=set)
    writes: list[_Write] = field(default_factory=list)

    def surely(self, address: ir.Value) -> bool:
        """Whether the byte at ``address`` holds 0 or 1 whenever it is read."""
        target = self.memory.points.of(address)
        if not all(self._declares_truths(base) for base, _ in target.places if self._is_seen(base)):
            return False
        place = self._place(address)
        return not any(self._may_hit(write, target, place) for write in self.writes)

    # -- what writes ------------------------------------------------------------------------------------------------

    def look(self) -> None:
        """Find the writes."""
        for block in self.memory.function.blocks:
            for i in block.instructions:
                if i.result is not None:
                    self.definitions[i.result] = i
                    if i.op == "zext" and i.operands[0].type == ir.IntT(1):
                        self.booleans.add(i.result)
        params = self.memory.function.params
        self.booleans |= {p.name for p in params if p.debug is not None and p.debug.kind is DebugKind.BOOL}
        copies: list[tuple[_Write, ir.Value]] = []
        for i in self.memory.function.instructions():
            for write, source in self._written_by(i):
                if source is None:
                    self.writes.append(write)
                else:
                    copies.append((write, source))
        # A copy writes what its source may hold: what is there at first, or what another write puts there.
        points = self.memory.points
        found = [(write, source) for write, source in copies if not self._is_constant(source)]

        def copied(write: _Write) -> list[int]:
            """The copies from what a write may hit."""
            return [n for n, (_, source) in enumerate(found) if self._may_hit(write, points.of(source), None)]

        first = [n for n, (_, source) in enumerate(found) if not self._begins_with_truths(source)]
        first += [number for write in self.writes for number in copied(write)] if found else []
        self.writes += [found[number][0] for number in reachable(first, lambda number: copied(found[number][0]))]

    def _written_by(self, i: ir.Instruction) -> Iterator[tuple[_Write, ir.Value | None]]:
        """The writes of one instruction that may be of no truth value; for a copy with what is copied."""
        points, layout = self.memory.points, self.memory.module.layout
        match i.op:
            case "store" if not self._is_truth(i.operands[0]):
                size = layout.store_size(i.operands[0].type)
                yield _Write(points.of(i.operands[1]), i.operands[1], size, size > 1), self._read_from(i.operands[0])
            case "cmpxchg" | "atomicrmw" if not all(self._is_truth(op) for op in i.operands[1:]):
                size = layout.store_size(i.operands[1].type)
                yield _Write(points.of(i.operands[0]), i.operands[0], size, size > 1), None
            case "call" | "invoke" if call_kind(i, self.memory.module) == "block":
                to, what, length = i.operands[:3]
                write = _Write(points.of(to), to, length.value if isinstance(length, ir.IntConst) else None)
                if not (i.callee_name or "").startswith("llvm.memset"):
                    yield write, what
                elif not self._is_truth(what):
                    yield write, None
            case "call" | "invoke" if i.callee_name is not None and self._is_library_write(i.callee_name):
                for operand in i.operands:
                    if isinstance(operand.type, ir.PtrT):
                        yield _Write(points.of(operand), operand, None), None
            case "unsupported" | "va_arg":
                yield _Write(PointerTargets(unknown=True), ir.NullPtr(), None), None
            case _:
                pass

    def _is_library_write(self, name: str) -> bool:
        declared = self.memory.module.functions.get(name)
        if declared is not None and not declared.is_declaration:
            return False
        return effect_of(name, self.memory.module.stubs) is LibraryEffect.WRITES

    def _is_truth(self, value: ir.Value) -> bool:
        if isinstance(value, ir.IntConst):
            return value.bits == 8 and value.unsigned in (0, 1)
        return isinstance(value, ir.Local) and value.name in self.booleans

    def _read_from(self, value: ir.Value) -> ir.Value | None:
        """Where a byte was read that goes elsewhere as it is; None for other values."""
        made = self.definitions.get(value.name) if isinstance(value, ir.Local) else None
        return made.operands[0] if made is not None and made.op == "load" and made.type == ir.IntT(8) else None

    def _begins_with_truths(self, source: ir.Value) -> bool:
        """Whether a copy from there leaves truth values where its target has such, if no write is in the way."""
        base = self.memory.points.of(source).base
        return base is not None and self._declares_truths(base)

    def _is_constant(self, source: ir.Value) -> bool:
        """Whether a copy is from what clang makes of an initializer, which is of the variable's type."""
        base = self.memory.points.of(source).base
        if base is None or base.kind != "global":
            return False
        variable = self.memory.module.globals.get(base.name)
        return variable is not None and variable.constant and variable.debug is None

    # -- what is hit ------------------------------------------------------------------------------------------------

    def _may_hit(self, write: _Write, target: PointerTargets, place: _Place | None) -> bool:
        bases = [base for base, _ in target.places]
        if target.is_formal or write.target.is_formal:  # which may overlap, as far as truth values are concerned
            target = PointerTargets(target.places, unknown=True)
            write = replace(write, target=PointerTargets(write.target.places, unknown=True))
        if target.unknown or not bases:
            return not write.typed and (write.target.unknown or any(map(self._is_seen, _bases(write.target))))
        common = [b for b in bases if b in _bases(write.target) or (write.target.unknown and self._is_seen(b))]
        if not common or (write.typed and all(map(self._declares_truths, common))):
            return False
        other = self._place(write.address)
        return place is None or other is None or write.size is None or _overlap(place, other, write.size)

    def _is_seen(self, base: Base) -> bool:
        """Whether pointers that are not followed may reach the object."""
        points = self.memory.points
        return base.kind != "local" or base in points.escaped or base in points.lent

    def _declares_truths(self, base: Base) -> bool:
        debug = self.memory.debug_type(base)
        return debug is not None and self._has_truths(debug, 0)

    def _has_truths(self, type: DebugType, depth: int) -> bool:
        types = self.memory.module.debug_types
        if type.kind is DebugKind.ARRAY and depth < 20:
            element = types.element(type)
            return element is not None and self._has_truths(element, depth + 1)
        if type.kind is DebugKind.STRUCT and depth < 20:
            return not type.union and any(self._has_truths(m.type, depth + 1) for m in types.members(type))
        return type.kind is DebugKind.BOOL

    def _place(self, address: ir.Value) -> _Place | None:
        offset, stride = 0, 0
        for _ in range(100):
            match address:
                case ir.GlobalRef():
                    return f"@{address.name}", offset, stride
                case ir.AddressOf():
                    return f"@{address.name}", offset + address.offset, stride
                case ir.Local(name=name):
                    made = self.definitions.get(name)
                    if made is None or made.op == "alloca":
                        return f"%{name}", offset, stride
                    if made.op != "getelementptr" or made.gep is None:
                        return None
                    offset += made.gep.offset
                    stride = math.gcd(stride, *(step for _, step in made.gep.steps))
                    address = made.gep.base
                case _:
                    return None
        return None


def _bases(target: PointerTargets) -> set[Base]:
    return {base for base, _ in target.places}


def _overlap(read: _Place, written: _Place, size: int) -> bool:
    """Whether the byte that is read may be one of ``size`` that are written; different objects do not overlap."""
    if read[0] != written[0]:
        return True
    stride = math.gcd(read[2], written[2])
    if stride == 0:
        return 0 <= read[1] - written[1] < size
    return (read[1] - written[1]) % stride < size


def truths_of(memory: FunctionMemory) -> Truths:
    """The truth values in the memory of a function."""
    found = Truths(memory)
    found.look()
    return found
