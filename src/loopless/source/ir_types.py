"""LLVM's types, as the text of a module has them; they compare by content."""

from __future__ import annotations

from loopless.records import dataclass


@dataclass(frozen=True, slots=True)
class VoidT:
    """No value."""


@dataclass(frozen=True, slots=True)
class IntT:
    """An integer of ``bits`` bits; LLVM's integers have no sign, the instruction or the debug type has."""

    bits: int


@dataclass(frozen=True, slots=True)
class PtrT:
    """A pointer (opaque: it does not say to what)."""

    address_space: int = 0


@dataclass(frozen=True, slots=True)
class FloatT:
    """A floating-point type; ``kind`` is LLVM's word (``float``, ``double``, ``x86_fp80`` …)."""

    kind: str


@dataclass(frozen=True, slots=True)
class ArrayT:
    """``count`` elements one after the other (``count`` 0: a flexible array member)."""

    count: int
    element: Type


@dataclass(frozen=True, slots=True)
class StructT:
    """A structure; ``name`` is None for a literal one. Unions are structures too (clang picks their largest member)."""

    fields: tuple[Type, ...]
    packed: bool = False
    name: str | None = None


@dataclass(frozen=True, slots=True)
class VectorT:
    """A SIMD vector."""

    count: int
    element: Type
    scalable: bool = False


@dataclass(frozen=True, slots=True)
class FunctionT:
    """The type of a function; stands only where a call spells it out."""

    result: Type
    params: tuple[Type, ...]
    variadic: bool = False


@dataclass(frozen=True, slots=True)
class OpaqueT:
    """A type without a size: a structure that is only declared, ``label``, ``token``, ``metadata``, ``target(…)``."""

    name: str


Type = VoidT | IntT | PtrT | FloatT | ArrayT | StructT | VectorT | FunctionT | OpaqueT
