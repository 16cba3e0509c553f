"""Structures that one instruction reads from memory as a whole, part by part.

A structure that fits into two registers is returned, and passed, as ``i64`` or ``{ i64, i64 }`` (System V ABI for
x86-64, 3.2.3): clang reads the callee's object in one ``load``, takes values of several parts apart by ``extractvalue``
and stores them into an object of the caller. Where the callee is inlined, all of that stands in one function, and is a
copy of the object. An assignment of a structure is a ``memcpy``. What is followed are numbers and pointers, so each
member is copied by itself.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from loopless.source.ir import (
    Access,
    ArrayT,
    Gep,
    GlobalRef,
    Instruction,
    IntConst,
    IntT,
    Local,
    Param,
    PtrT,
    SourceBlock,
    StructT,
    Type,
    Value,
    VoidT,
)
from loopless.source.layout import DataLayout

Path = tuple[int, ...]
"""The indices of a part, from the outermost."""
Piece = tuple[int, Type]
"""Where a member begins, in bytes from the first one, and its type."""
MOST_PIECES: Final = 16
"""Members of a register at most: as many as two registers have bytes."""


def in_parts(blocks: tuple[SourceBlock, ...], params: Sequence[Param], layout: DataLayout) -> tuple[SourceBlock, ...]:
    """The blocks, in which each part of a structure that is read as a whole is read by itself.

    ``params``: those of the function, which may point to structures.
    """
    return _with_members(_with_pieces(_with_parts(blocks, layout), params, layout), params, layout)


def _is_plain(access: Instruction) -> bool:
    return access.access is not None and not access.access.volatile and not access.access.atomic


def _at(i: Instruction, address: Value, offset: int, name: str) -> Iterator[Instruction]:
    """The address so many bytes behind another one, as an instruction; none for 0."""
    if offset:
        assert i.access is not None
        gep = Gep(address, offset, (), i.access.type)
        flags = frozenset({"inbounds"})
        yield Instruction("getelementptr", name, address.type, (address,), flags, gep=gep, loc=i.loc)


# ------------------------------------------------------------------------------------------- values of several parts


def _with_parts(blocks: tuple[SourceBlock, ...], layout: DataLayout) -> tuple[SourceBlock, ...]:
    """The blocks, in which what ``extractvalue`` takes of a structure just read is read by itself."""
    read = {
        i.result
        for block in blocks
        for i in block.instructions
        if i.op == "load" and i.result is not None and isinstance(i.type, StructT | ArrayT) and _is_plain(i)
    }
    wanted: dict[str, dict[Path, Local]] = {}
    for block in blocks if read else ():
        for i in block.instructions:
            whole, stored = _whole(i), _stored(i)
            if whole in read and not isinstance(i.type, StructT | ArrayT):
                wanted.setdefault(whole, {}).setdefault(i.indices, i.value)
            elif stored in read:
                for path, part in _leaves(i.operands[0].type):
                    name = f"{stored}.part.{'.'.join(map(str, path))}"
                    wanted.setdefault(stored, {}).setdefault(path, Local(name, part))
    if not wanted:
        return blocks
    needed = set(_used_whole(blocks, wanted))
    stores = itertools.count(1)

    def lowered(i: Instruction) -> Iterator[Instruction]:
        whole = _whole(i)
        if i.op == "load" and i.result in wanted:
            for path, part in wanted[i.result].items():
                yield from _part(i, path, part, layout)
            if i.result in needed:
                yield i
        elif (stored := _stored(i)) in wanted:
            for path, _ in _leaves(i.operands[0].type):
                yield from _part(i, path, wanted[stored][path], layout, f".to.{next(stores)}")
        elif whole in wanted and i.indices in wanted[whole]:
            part = wanted[whole][i.indices]
            if part.name != i.result:
                yield replace(i, op="bitcast", operands=(part,), indices=())
        else:
            yield i

    return tuple(replace(b, instructions=tuple(n for i in b.instructions for n in lowered(i))) for b in blocks)


def _used_whole(blocks: tuple[SourceBlock, ...], wanted: Mapping[str, Mapping[Path, Local]]) -> Iterator[str]:
    """The values that are used in another way than by their parts."""
    for block in blocks:
        for i in block.instructions:
            if i.indices not in wanted.get(_whole(i), {}) and _stored(i) not in wanted:
                yield from (value.name for value in _used(i))


def _used(i: Instruction) -> Iterator[Local]:
    used = (*i.operands, *(value for value, _ in i.incoming), i.callee)
    return (value for value in used if isinstance(value, Local))


def _whole(i: Instruction) -> str:
    """Of what value an instruction takes a part; nothing where it takes none."""
    whole = i.operands[0] if i.op == "extractvalue" else None
    return whole.name if isinstance(whole, Local) else ""


def _part(i: Instruction, path: Path, part: Local, layout: DataLayout, there: str = ".at") -> Iterator[Instruction]:
    """The instructions that read, or write, as ``part`` one part of what a load reads, or a store writes."""
    assert i.access is not None
    address = i.operands[-1]
    for at in _at(i, address, _offset(i.access.type, path, layout), f"{part.name}{there}"):
        yield at
        address = at.value
    access = replace(i.access, type=part.type, align=1)
    if i.op == "load":
        yield replace(i, result=part.name, type=part.type, operands=(address,), access=access)
    else:
        yield replace(i, operands=(part, address), access=access)


def _leaves(whole: Type, path: Path = ()) -> Iterator[tuple[Path, Type]]:
    """The parts of a type that have none themselves."""
    if isinstance(whole, StructT):
        for index, field in enumerate(whole.fields):
            yield from _leaves(field, (*path, index))
    elif isinstance(whole, ArrayT):
        for index in range(whole.count):
            yield from _leaves(whole.element, (*path, index))
    else:
        yield path, whole


def _offset(whole: Type, path: Path, layout: DataLayout) -> int:
    at = 0
    for index in path:
        if isinstance(whole, StructT):
            at, whole = at + layout.offset_of(whole, index), whole.fields[index]
        else:
            assert isinstance(whole, ArrayT)
            at, whole = at + index * layout.size_of(whole.element), whole.element
    return at


# ------------------------------------------------------------------------------------- numbers that are several members


def _with_pieces(
    blocks: tuple[SourceBlock, ...], params: Sequence[Param], layout: DataLayout
) -> tuple[SourceBlock, ...]:
    """The blocks, in which a number that is a copy of several members of a structure is copied member by member.

    Such a number is read from one object and goes into others, whose members begin at the same bytes and have the same
    types; nothing else uses it.
    """
    found = _copies(blocks, _Objects(blocks, params, layout))
    if not found:
        return blocks
    stores = itertools.count(1)

    def lowered(i: Instruction) -> Iterator[Instruction]:
        value = i.result if i.op == "load" else _stored(i)
        if value is None or value not in found:
            yield i
            return
        there = "from" if i.op == "load" else f"to.{next(stores)}"
        for number, (offset, piece) in enumerate(found[value]):
            name, address = f"{value}.member.{number}", i.operands[-1]
            for at in _at(i, address, offset, f"{name}.{there}"):
                yield at
                address = at.value
            assert i.access is not None
            access = replace(i.access, type=piece, align=1)
            if i.op == "load":
                yield replace(i, result=name, type=piece, operands=(address,), access=access)
            else:
                yield replace(i, operands=(Local(name, piece), address), access=access)

    return tuple(replace(b, instructions=tuple(n for i in b.instructions for n in lowered(i))) for b in blocks)


def _copies(blocks: tuple[SourceBlock, ...], objects: _Objects) -> dict[str, list[Piece]]:
    """The numbers that are copied from structures to structures, each with the members that it consists of."""
    found: dict[str, list[Piece]] = {}
    for block in blocks:
        for i in block.instructions:
            if i.op == "load" and i.result is not None and isinstance(i.type, IntT) and _is_plain(i):
                pieces = objects.members(i.operands[0], i.type)
                if len(pieces) > 1:
                    found[i.result] = pieces
    for block in blocks if found else ():
        for i in block.instructions:
            stored = _stored(i)
            for value in _used(i):
                here = objects.members(i.operands[1], value.type) if value.name == stored else None
                if value.name in found and here != found[value.name]:
                    del found[value.name]
    return found


# ------------------------------------------------------------------------------------- structures that are assigned


def _with_members(
    blocks: tuple[SourceBlock, ...], params: Sequence[Param], layout: DataLayout
) -> tuple[SourceBlock, ...]:
    """The blocks, in which a copy into a structure of the function's own, or out of one, is one member by member."""
    if not any(_copied_bytes(i) for block in blocks for i in block.instructions):
        return blocks
    objects = _Objects(blocks, params, layout)
    copies = itertools.count(1)

    def lowered(i: Instruction) -> Iterator[Instruction]:
        runs = objects.runs(i.operands[0], i.operands[1], _copied_bytes(i)) if _copied_bytes(i) else []
        if not any(piece is not None for _, _, piece in runs):
            yield i
            return
        name = f"{_base_name(i.operands[0])}.copy.{next(copies)}"
        stores = list[Instruction]()  # behind all loads, as a copy reads all of it first
        for number, (offset, length, piece) in enumerate(runs):
            to, source = i.operands[:2]
            for at in _there(i, to, offset, f"{name}.{number}.to"):
                yield at
                to = at.value
            for at in _there(i, source, offset, f"{name}.{number}.from"):
                yield at
                source = at.value
            if piece is None:
                stores.append(replace(i, operands=(to, source, IntConst(64, length), i.operands[3])))
                continue
            member, access = Local(f"{name}.{number}", piece), Access(piece, align=1)
            yield Instruction("load", member.name, piece, (source,), access=access, loc=i.loc)
            stores.append(Instruction("store", None, VoidT(), (member, to), access=access, loc=i.loc))
        yield from stores

    return tuple(replace(b, instructions=tuple(n for i in b.instructions for n in lowered(i))) for b in blocks)


def _copied_bytes(i: Instruction) -> int:
    """How many bytes a ``memcpy`` copies, where it is one of constant length that is not volatile; else 0."""
    if i.op != "call" or not (i.callee_name or "").startswith("llvm.memcpy.") or len(i.operands) != 4:
        return 0
    _, _, length, volatile = i.operands
    plain = isinstance(length, IntConst) and isinstance(volatile, IntConst) and not volatile.value
    return length.value if plain and isinstance(length, IntConst) else 0


def _base_name(value: Value) -> str:
    return value.name if isinstance(value, Local | GlobalRef) else "address"


def _there(i: Instruction, address: Value, offset: int, name: str) -> Iterator[Instruction]:
    """The address so many bytes behind an operand, as an instruction; none for 0."""
    if offset:
        gep = Gep(address, offset, (), IntT(8))
        yield Instruction("getelementptr", name, address.type, (address,), frozenset({"inbounds"}), gep=gep, loc=i.loc)


def _stored(i: Instruction) -> str | None:
    """The number that a plain ``store`` writes."""
    value = i.operands[0] if i.op == "store" and _is_plain(i) else None
    return value.name if isinstance(value, Local) else None


class _Objects:
    """The objects that a function allocates, or is given by value, and what addresses point into them."""

    def __init__(self, blocks: tuple[SourceBlock, ...], params: Sequence[Param], layout: DataLayout) -> None:
        self.layout = layout
        self._into: dict[str, Type] = {}
        for param in params:
            there = param.byval or param.sret
            if there is not None:
                self._into[param.name] = there
        self._behind: dict[str, tuple[str, int]] = {}
        for block in blocks:
            for i in block.instructions:
                if i.result is None:
                    continue
                if i.op == "alloca" and i.access is not None and not i.operands:
                    self._into[i.result] = i.access.type
                elif i.gep is not None and not i.gep.steps and isinstance(i.gep.base, Local):
                    first, at = self._behind.get(i.gep.base.name, (i.gep.base.name, 0))
                    self._behind[i.result] = first, at + i.gep.offset
        self._as = dict(self._copied(blocks))

    def _copied(self, blocks: tuple[SourceBlock, ...]) -> Iterator[tuple[str, Type]]:
        """The objects of types without a name, which are clang's own, with the type of what is copied there, or from
        there.
        """
        found: dict[str, set[Type]] = {}
        for block in blocks:
            for i in block.instructions:
                if i.op == "call" and (i.callee_name or "").startswith("llvm.memcpy."):
                    to, source = (
                        a.name if isinstance(a, Local) and a.name in self._into else "" for a in i.operands[:2]
                    )
                    if to in self._into and source in self._into:
                        found.setdefault(to, set()).add(self._into[source])
                        found.setdefault(source, set()).add(self._into[to])
        for name, others in found.items():
            if _is_made(self._into[name]):
                named = {other for other in others if not _is_made(other)}
                if len(named) == 1:
                    yield name, named.pop()

    def _object(self, address: Value) -> tuple[Type | None, int]:
        """The type of the object that an address points into, and how far."""
        if not isinstance(address, Local):
            return None, 0
        first, at = self._behind.get(address.name, (address.name, 0))
        return self._as.get(first, self._into.get(first)), at

    def runs(self, to: Value, source: Value, length: int) -> list[tuple[int, int, Type | None]]:
        """The members of a structure that is copied, and what lies between them: where each begins, how many bytes it
        has, and its type, None for bytes that are no number and no pointer. Nothing where the copy is of no structure.
        """
        first, second = self._root(to), self._root(source)
        whole, at = self._object(to)
        if not isinstance(whole, StructT):
            whole, at = self._object(source)
        if first == second or not isinstance(whole, StructT) or at < 0 or at + length > self.layout.size_of(whole):
            return []
        found: list[tuple[int, int, Type | None]] = []
        next_ = at
        for start, piece in _scalars(whole, 0, self.layout):
            end = start + self.layout.store_size(piece)
            if end <= at or start >= at + length:
                continue
            if start < at or end > at + length:
                return []
            if next_ < start:
                found.append((next_ - at, start - next_, None))
            found.append((start - at, end - start, piece))
            next_ = end
        if next_ < at + length:
            found.append((next_ - at, at + length - next_, None))
        return found if len(found) <= MOST_PIECES else []

    def _root(self, address: Value) -> str:
        """The name of the object, or the pointer, that an address is reckoned from."""
        name = address.name if isinstance(address, Local | GlobalRef) else ""
        return self._behind.get(name, (name, 0))[0]

    def members(self, address: Value, read: Type) -> list[Piece]:
        """The members, and the bytes between them, that a number of type ``read`` at ``address`` consists of; nothing
        where that is not known.
        """
        whole, at = self._object(address)
        if whole is None or not isinstance(whole, StructT | ArrayT) or not isinstance(read, IntT) or read.bits % 8:
            return []
        size = read.bits // 8
        try:
            inside = list(_inside(whole, 0, at, at + size, self.layout))
        except ValueError:
            return []
        found, next_ = list[Piece](), at
        for start, piece in inside:
            end = start + self.layout.store_size(piece)
            if start < next_ or end > at + size:
                return []
            found += [(byte - at, IntT(8)) for byte in range(next_, start)]
            found.append((start - at, piece))
            next_ = end
        found += [(byte - at, IntT(8)) for byte in range(next_, at + size)]
        return found if len(found) <= MOST_PIECES else []


def _scalars(whole: Type, base: int, layout: DataLayout) -> Iterator[Piece]:
    """The numbers and pointers in a type at ``base``, but for those in arrays and unions, and others than of 8, 16, 32
    and 64 bits.
    """
    if isinstance(whole, StructT) and not (whole.name or "").startswith("union."):
        for offset, field in zip(layout.offsets_of(whole), whole.fields, strict=True):
            yield from _scalars(field, base + offset, layout)
    elif isinstance(whole, PtrT) or (isinstance(whole, IntT) and whole.bits in (8, 16, 32, 64)):
        yield base, whole


def _is_made(there: Type) -> bool:
    """Whether clang made a type, for what registers hold."""
    return isinstance(there, IntT) or (isinstance(there, StructT) and there.name is None)


def _inside(whole: Type, base: int, low: int, high: int, layout: DataLayout) -> Iterator[Piece]:
    """The members of a type at ``base`` that have bytes from ``low`` on, below ``high``."""
    if base >= high or base + layout.size_of(whole) <= low:
        return
    if isinstance(whole, StructT):
        for offset, field in zip(layout.offsets_of(whole), whole.fields, strict=True):
            yield from _inside(field, base + offset, low, high, layout)
    elif isinstance(whole, ArrayT):
        step = layout.size_of(whole.element)
        first = max(0, (low - base) // step) if step else 0
        for number in range(first, min(whole.count, (high - base + step - 1) // step) if step else 0):
            yield from _inside(whole.element, base + number * step, low, high, layout)
    else:
        yield base, whole
