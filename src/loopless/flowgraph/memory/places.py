"""The vocabulary of points-to: objects, the places in them that pointers may point to, accesses, and the result."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Final

from loopless.flowgraph.memory.members import MemberPlace
from loopless.limits.flowgraph import MAX_OFFSETS
from loopless.records import dataclass
from loopless.source import ir


@dataclass(frozen=True, slots=True, order=True)
class Base:
    """An object before it is numbered: ``kind`` is "local", "global", "parameter", "function", "null" or "dead",
    "pointee" or "reached" (:mod:`loopless.flowgraph.memory.pointees`), or "heap": all objects that one call of an
    allocating function makes in one activation of the function.
    """

    kind: str
    name: str


NULL = Base("null", "")
DEAD = Base("dead", "an object whose lifetime is over")
"""Stands for all of them: a pointer to one must not be used any more (see :mod:`loopless.flowgraph.memory.lifetimes`).
"""
HEAP: Final = "heap"
"""The kind of objects that a call allocates. Nothing in them is a variable, and they are no object of another kind."""


@dataclass(slots=True)
class PointerTargets:
    """What a pointer may point to: ``places``, and anything at all where ``unknown``."""

    places: set[tuple[Base, int | None]] = field(default_factory=set)
    unknown: bool = False

    def include(self, other: PointerTargets) -> bool:
        """Add ``other``; True where that changed something. Too many offsets of one object become None."""
        more = other.unknown and not self.unknown
        if not more and other.places <= self.places:
            return False  # nothing new: so it is most often
        new = [place for place in other.places - self.places if (place[0], None) not in self.places]
        self.unknown |= other.unknown
        self.places.update(new)
        offsets_of: dict[Base, set[int | None]] = {base: set() for base, _ in new}
        for base, offset in self.places if new else ():
            if base in offsets_of:
                offsets_of[base].add(offset)
        for base, offsets in offsets_of.items():
            if len(offsets) > 1 and (None in offsets or len(offsets) > MAX_OFFSETS):
                self.places -= {(base, offset) for offset in offsets}
                self.places.add((base, None))
        return more or bool(new)

    def moved(self, offset: int | None) -> PointerTargets:
        """The target after a step of ``offset`` bytes (None: not constant)."""
        moved = {
            (base, None if old is None or offset is None else old + offset)
            for base, old in self.places
            if base.kind != "null"
        }
        return PointerTargets(
            moved | ({(NULL, None)} if any(b.kind == "null" for b, _ in self.places) else set()), self.unknown
        )

    @property
    def base(self) -> Base | None:
        """The one object that is meant, None where that is not known."""
        bases = {base for base, _ in self.places}
        return next(iter(bases)) if len(bases) == 1 and not self.unknown else None

    @property
    def is_formal(self) -> bool:
        """Whether it may be what a pointer in memory points to, by its formal pointee."""
        return any(base.kind in ("pointee", "reached") for base, _ in self.places)

    @property
    def living(self) -> set[tuple[Base, int | None]]:
        """The places in objects that live: nothing else is read or written in a run that is defined."""
        return {place for place in self.places if place[0] not in (DEAD, NULL)}


@dataclass(frozen=True, slots=True)
class MemoryAccess:
    """A load or store of ``size`` bytes (of integers or pointers; ``plain`` False for anything else). ``span``: the
    bytes that it lies in, from the first to before the second (None: to the end of the object), where its offset varies
    within a member.
    """

    place: tuple[Base, int | None] | None
    size: int
    pointer: bool
    plain: bool
    writes: bool
    bits: int
    span: tuple[int, int | None] | None = None


@dataclass(slots=True)
class PointsTo:
    """The result: targets per local name, accesses, and objects by what reaches them."""

    targets: dict[str, PointerTargets] = field(default_factory=dict)
    cells: dict[tuple[Base, int], PointerTargets] = field(default_factory=dict)
    accesses: list[MemoryAccess] = field(default_factory=list)
    escaped: set[Base] = field(default_factory=set)
    """Objects whose address lies in memory, was returned or became a number: anything unknown may reach them."""
    lent: set[Base] = field(default_factory=set)
    """Objects whose address was an argument of a call of unknown effect."""
    mixed: set[Base] = field(default_factory=set)
    """Local objects whose pointers are not followed place by place: read or written at a varying offset, in other
    units, or as a block. What they hold has escaped."""
    touched: set[Base] = field(default_factory=set)
    """Objects that library calls or block operations read or write as a whole."""
    zeroed: dict[Base, set[tuple[int, int]]] = field(default_factory=dict)
    """The bytes of objects that ``memset`` makes 0, each from the first to before the second."""
    parameters: dict[str, Base] = field(default_factory=dict)
    """The object of each pointer parameter; parameters that are compared or subtracted share one."""
    shared: set[str] = field(default_factory=set)
    """Parameters that share their object with another one: their offset is not known."""
    members: Mapping[str, MemberPlace] = field(default_factory=dict)
    """By the names of addresses of unknown offset, the member arrays that they lie in."""
    pointees: dict[Base, tuple[Base, int | None]] = field(default_factory=dict)
    """The place of the pointer that a formal pointee is named after (:mod:`loopless.flowgraph.memory.pointees`)."""
    roots: dict[Base, Base] = field(default_factory=dict)
    """The object of another kind that a formal pointee is behind."""
    apart: bool = True
    """Whether formal pointees are told apart from other objects: else such a pointer is unknown."""
    merged: frozenset[Base] = frozenset()
    """Formal pointees that pointers are compared with, so that they may be one with others; and objects whose pointers
    are not told apart."""
    alike: dict[Base, list[Base]] = field(default_factory=dict)
    """Of a formal pointee the objects on the way to it, and those of parameters, that it may well be, by its type."""
    several: set[Base] = field(default_factory=set)
    """Formal pointees that stand for several objects, or for one that does not begin where the pointer points."""
    stored: dict[tuple[Base, int | None], PointerTargets] = field(default_factory=dict)
    """What pointers point to that this function stores in objects that are not its own."""
    anywhere: PointerTargets = field(default_factory=PointerTargets)
    """What pointers point to that are stored through pointers of unknown origin."""
    abroad: PointerTargets = field(default_factory=PointerTargets)
    """What pointers point to that are stored in objects that are not this function's own."""
    overwritten: dict[Base, set[tuple[int, int | None]]] = field(default_factory=dict)
    """The bytes of objects that are written otherwise than by stores of pointers, from the first to before the second
    (None: to the end)."""
    varying: set[Base] = field(default_factory=set)
    """Objects from which pointers are loaded at a varying offset."""
    formal_access: bool = False
    """Whether something is accessed through a pointer that was loaded from memory: locals whose address is known
    elsewhere may be meant."""
    unknown_stores: bool = False
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

    def span(self, value: ir.Value, base: Base) -> tuple[int, int | None] | None:
        """The bytes of ``base`` that an address of unknown offset there lies in, where that is known; as in
        :class:`MemoryAccess`.
        """
        member = self.members.get(value.name) if isinstance(value, ir.Local) else None
        if member is None:
            return None
        offsets = [offset for found, offset in self.of(member.root).places if found == base]
        known = [offset for offset in offsets if offset is not None]
        if not known or len(known) < len(offsets):
            return None
        return min(known) + member.low, None if member.high is None else max(known) + member.high

    def of(self, value: ir.Value) -> PointerTargets:
        """The target of a pointer-typed operand."""
        match value:
            case ir.Local():
                found = self.targets.get(value.name)
                if found is None:
                    found = self.targets[value.name] = PointerTargets()
                return found
            case ir.GlobalRef():
                return PointerTargets({(Base("global", value.name), 0)})
            case ir.AddressOf():
                return PointerTargets({(Base("global", value.name), value.offset)})
            case ir.NullPtr() | ir.ZeroInit():
                return PointerTargets({(NULL, None)})
            case _:
                return PointerTargets(unknown=True)


def is_pointer(value: ir.Value) -> bool:
    """Whether a value is an address, or may be."""
    return isinstance(value, ir.OtherConst) or isinstance(value.type, ir.PtrT)
