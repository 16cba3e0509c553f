"""Source types and variables, as the debug records of the module describe them."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from loopless.records import dataclass
from loopless.source.loc import Loc


class TypeKind(Enum):
    """What a source type is, typedefs, qualifiers and enumerations resolved."""

    SIGNED = "signed"
    UNSIGNED = "unsigned"
    BOOL = "bool"
    CHAR = "char"
    POINTER = "pointer"
    FLOAT = "float"
    ARRAY = "array"
    STRUCT = "struct"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class DebugType:
    """A source type.

    ``description`` is its C spelling as declared (``byte``, ``const char *``, ``struct S``); ``kind`` what it resolves
    to. ``signed`` is set for integers of any kind (a ``char`` may be either). ``bits`` is 0 where the size is not known
    (incomplete types, variable-length arrays). ``counts`` are an array's dimensions, outermost first (None: unknown).
    ``element`` (arrays, pointers) and ``key`` are keys of :class:`DebugTypes`; use its methods to follow them.
    """

    kind: TypeKind
    description: str
    bits: int
    key: int
    signed: bool | None = None
    element: int | None = None
    counts: tuple[int | None, ...] = ()
    volatile: bool = False
    enumeration: bool = False
    union: bool = False

    @property
    def is_integer(self) -> bool:
        """True for integers, characters, enumerations and ``_Bool``."""
        return self.signed is not None


@dataclass(frozen=True, slots=True)
class DeclaredMember:
    """A member of a structure or union; ``offset`` and ``bits`` in bits; ``name`` is empty for an anonymous one."""

    name: str
    type: DebugType
    offset: int
    bits: int
    bitfield: bool


@dataclass(frozen=True, slots=True)
class DebugVariable:
    """A source variable: its name and type, where it is declared.

    ``arg`` is its number among the function's parameters (from 1), 0 for others; ``artificial``: the compiler made it
    (``this``, the size of a variable-length array). ``declared.inlined_at`` is set for a variable of inlined code;
    ``declared.function`` is the source function it is local to (empty for globals).
    """

    name: str
    type: DebugType
    declared: Loc | None
    arg: int = 0
    artificial: bool = False

    @property
    def kind(self) -> TypeKind:
        return self.type.kind

    @property
    def bits(self) -> int:
        return self.type.bits


class DebugTypes:
    """The source types of one module; types refer to each other by key, so that recursive ones are no trouble."""

    def __init__(self, read: Callable[[int], DebugType], members: Callable[[int], tuple[DeclaredMember, ...]]) -> None:
        """``read`` and ``members`` look a key up in the module's metadata; each is asked once per key."""
        self._read = read
        self._read_members = members
        self._types: dict[int, DebugType] = {}
        self._members: dict[int, tuple[DeclaredMember, ...]] = {}

    def __getitem__(self, key: int) -> DebugType:
        found = self._types.get(key)
        if found is None:
            # While it is read it stands for itself: types of other languages than C may contain themselves unnamed.
            self._types[key] = DebugType(TypeKind.OTHER, "...", 0, key)
            found = self._types[key] = self._read(key)
        return found

    def element(self, t: DebugType) -> DebugType | None:
        """What a pointer points to (None: ``void``), or the innermost element of an array."""
        return None if t.element is None else self[t.element]

    def members(self, t: DebugType) -> tuple[DeclaredMember, ...]:
        """The members of a structure or union, in order; empty for other types and incomplete ones."""
        if t.kind is not TypeKind.STRUCT:
            return ()
        found = self._members.get(t.key)
        if found is None:
            found = self._members[t.key] = self._read_members(t.key)
        return found

    def member_path(self, t: DebugType, offset: int, size: int) -> str | None:
        """How C names the ``size`` bytes at byte ``offset`` of an object of type ``t``.

        The answer goes behind the object's name: ``""`` (the whole), ``".in.len"``, ``"[2]"``, ``"[1].x[3]"``; behind
        ``p->`` drop the dot. None where no single member covers exactly these bytes (bit-fields share theirs, see
        :meth:`bit_path`; of a union the first member that fits is taken).
        """
        return self.bit_path(t, 8 * offset, 8 * size)

    def bit_path(self, t: DebugType, offset: int, bits: int) -> str | None:
        """As :meth:`member_path`, with offset and size in bits; names bit-fields as well."""
        scalar = t.kind not in (TypeKind.STRUCT, TypeKind.ARRAY)
        if offset == 0 and bits == t.bits and (scalar or not self._has_lone_part(t)):
            return ""
        if t.kind is TypeKind.ARRAY:
            return self._element_path(t, offset, bits)
        for member in self.members(t):
            if member.offset <= offset and offset + bits <= member.offset + member.bits:
                if member.bitfield:
                    inner = "" if (offset, bits) == (member.offset, member.bits) else None
                else:
                    inner = self.bit_path(member.type, offset - member.offset, bits)
                if inner is not None:
                    return f".{member.name}{inner}" if member.name else inner
        return "" if offset == 0 and bits == t.bits else None

    def _has_lone_part(self, t: DebugType) -> bool:
        """Whether some first part is as large as the whole, as in ``struct { int x; }``: then the part is meant."""
        if t.kind is TypeKind.ARRAY:
            return t.counts != () and all(c == 1 for c in t.counts)
        return any(m.offset == 0 and m.bits == t.bits for m in self.members(t))

    def _element_path(self, t: DebugType, offset: int, bits: int) -> str | None:
        element = self.element(t)
        if element is None or element.bits == 0 or not t.counts:
            return None
        index, rest = divmod(offset, element.bits)
        inner = self.bit_path(element, rest, bits)
        if inner is None:
            return None
        indices: list[int] = []
        for count in reversed(t.counts[1:]):
            if not count:
                return None
            index, i = divmod(index, count)
            indices.append(i)
        first = t.counts[0]
        if first is not None and index >= max(first, 1) and first != 0:
            return None
        return "".join(f"[{i}]" for i in (index, *reversed(indices))) + inner
