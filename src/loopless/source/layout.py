"""Sizes, alignments and offsets of types under a module's data layout (LLVM Language Reference, "Data Layout")."""

from __future__ import annotations

import re
from functools import cache
from typing import assert_never

from loopless.records import dataclass
from loopless.source.ir_types import (
    ArrayT,
    FloatT,
    FunctionT,
    IntT,
    OpaqueT,
    PtrT,
    StructT,
    Type,
    VectorT,
    VoidT,
)

_FLOAT_BITS = {
    "half": 16,
    "bfloat": 16,
    "float": 32,
    "double": 64,
    "x86_fp80": 80,
    "fp128": 128,
    "ppc_fp128": 128,
}
# LLVM's defaults, which the string of the module overrides: width in bits -> ABI alignment in bytes.
_INTS = {1: 1, 8: 1, 16: 2, 32: 4, 64: 4}
_FLOATS = {16: 2, 32: 4, 64: 8, 128: 16}
_VECTORS = {64: 8, 128: 16}


@dataclass(frozen=True, slots=True)
class DataLayout:
    """The parsed ``target datalayout``. Sizes and alignments are in bytes unless a name says bits."""

    text: str = ""
    big_endian: bool = False
    pointers: tuple[tuple[int, tuple[int, int, int]], ...] = ((0, (64, 8, 64)),)
    ints: tuple[tuple[int, int], ...] = tuple(_INTS.items())
    floats: tuple[tuple[int, int], ...] = tuple(_FLOATS.items())
    vectors: tuple[tuple[int, int], ...] = tuple(_VECTORS.items())
    aggregate: int = 1

    def __hash__(self) -> int:
        return hash(self.text)

    @staticmethod
    def parse(text: str) -> DataLayout:
        """Read a layout string such as ``e-m:e-p270:32:32-…``; parts that do not concern sizes are skipped."""
        ints, floats, vectors = dict(_INTS), dict(_FLOATS), dict(_VECTORS)
        pointers = {0: (64, 8, 64)}
        big, aggregate = False, 1
        for part in text.split("-"):
            head, *rest = part.split(":")
            if part == "E":
                big = True
            elif re.fullmatch(r"p[a-z]*\d*", head) and len(rest) >= 2:
                space = int(re.sub(r"\D", "", head) or "0")
                size = int(rest[0])
                pointers[space] = (size, int(rest[1]) // 8, int(rest[3]) if len(rest) > 3 else size)
            elif re.fullmatch(r"[ifv]\d+", head) and rest:
                table = {"i": ints, "f": floats, "v": vectors}[head[0]]
                table[int(head[1:])] = max(1, int(rest[0]) // 8)
            elif head in ("a", "a0") and rest:
                aggregate = max(1, int(rest[0]) // 8)
        return DataLayout(
            text,
            big,
            tuple(sorted(pointers.items())),
            tuple(sorted(ints.items())),
            tuple(sorted(floats.items())),
            tuple(sorted(vectors.items())),
            aggregate,
        )

    def pointer(self, space: int) -> tuple[int, int, int]:
        """Size in bits, ABI alignment in bytes and index width in bits of pointers of the address space."""
        usual, first = self.pointers[0]
        return first if space == usual else next((found for number, found in self.pointers if number == space), first)

    def pointer_bits(self, space: int = 0) -> int:
        """Width of a pointer of the address space in bits."""
        return self.pointer(space)[0]

    def index_bits(self, space: int = 0) -> int:
        """Width in bits of the integers that address computations are done in."""
        return self.pointer(space)[2]

    def size_of(self, t: Type) -> int:
        """Bytes from one array element of type ``t`` to the next (C's ``sizeof``).

        Raises:
            ValueError: the type has no size (void, functions, opaque structures, scalable vectors).
        """
        return _size_align(self, t)[0]

    def align_of(self, t: Type) -> int:
        """The ABI alignment in bytes. Raises ``ValueError`` as ``size_of`` does."""
        return _size_align(self, t)[1]

    def store_size(self, t: Type) -> int:
        """Bytes that a load or store of ``t`` touches (no tail padding for scalars: 10 for ``x86_fp80``)."""
        match t:
            case IntT() | FloatT() | VectorT() | PtrT():
                return (self.bits_of(t) + 7) // 8
            case _:
                return self.size_of(t)

    def bits_of(self, t: Type) -> int:
        """The bits that carry the value: 1 for ``i1``, 80 for ``x86_fp80``; 8 times the size for aggregates."""
        match t:
            case IntT(bits):
                return bits
            case FloatT(kind):
                return _FLOAT_BITS[kind]
            case PtrT(space):
                return self.pointer_bits(space)
            case VectorT(count, element, scalable):
                if scalable:
                    raise ValueError("a scalable vector has no fixed size")
                return count * self.bits_of(element)
            case _:
                return 8 * self.size_of(t)

    def offsets_of(self, t: StructT) -> tuple[int, ...]:
        """Byte offset of each field of a structure."""
        return _offsets(self, t)[:-1]

    def offset_of(self, t: StructT, index: int) -> int:
        """Byte offset of field ``index`` of a structure; of several fields, ask ``offsets_of`` once."""
        return _offsets(self, t)[index]


@cache
def _size_align(layout: DataLayout, t: Type) -> tuple[int, int]:
    match t:
        case IntT(bits):
            align = _int_align(layout, bits)
            return _up((bits + 7) // 8, align), align
        case PtrT(space):
            bits, align, _ = layout.pointer(space)
            return _up((bits + 7) // 8, align), align
        case FloatT(kind):
            width = _FLOAT_BITS[kind]
            align = dict(layout.floats).get(width) or _power_above((width + 7) // 8)
            return _up((width + 7) // 8, align), align
        case VectorT():
            width = layout.bits_of(t)
            align = dict(layout.vectors).get(width) or _power_above((width + 7) // 8)
            return _up((width + 7) // 8, align), align
        case ArrayT(count, element):
            size, align = _size_align(layout, element)
            return count * size, align
        case StructT(fields, packed, _):
            align = 1 if packed else max([layout.aggregate, *(_size_align(layout, f)[1] for f in fields)])
            return _offsets(layout, t)[-1], align
        case VoidT() | FunctionT() | OpaqueT():
            raise ValueError(f"{t} has no size")
        case _:
            assert_never(t)


@cache
def _offsets(layout: DataLayout, t: StructT) -> tuple[int, ...]:
    """The offset of each field, and last the size of the whole with its tail padding."""
    offsets, at, widest = [], 0, 1 if t.packed else layout.aggregate
    for f in t.fields:
        size, align = _size_align(layout, f)
        if not t.packed:
            at = _up(at, align)
            widest = max(widest, align)
        offsets.append(at)
        at += size
    return (*offsets, _up(at, widest))


def _int_align(layout: DataLayout, bits: int) -> int:
    """An unlisted width takes the alignment of the next wider listed one, else of the widest."""
    for width, align in layout.ints:
        if width >= bits:
            return align
    return layout.ints[-1][1]


def _up(n: int, align: int) -> int:
    return (n + align - 1) // align * align


def _power_above(n: int) -> int:
    return 1 << max(0, n - 1).bit_length()
