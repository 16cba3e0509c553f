"""What is declared in the memory that a function reads, as debug records have it: for names as C has them, and for the
types of what is given.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from itertools import islice
from typing import Final

from loopless import terms as t
from loopless.flowgraph.memory.places import Base
from loopless.flowgraph.model import OBJECT_PART, Flowgraph, Load, MemoryObject, VariableInfo
from loopless.flowgraph.source_types import leaf_type, type_in
from loopless.limits.queries import MAX_MEMBERS
from loopless.queries.program import AnalyzedFunction
from loopless.refusals import Refused
from loopless.source.debug import DebugType, DebugTypes, TypeKind
from loopless.source.ir import Module, SourceFunction

_POINTED: Final = ("parameter", "pointee")
"""The kinds of objects that are named after a pointer to them."""
_NONE: Final = t.Layout()


def layouts_in(function: AnalyzedFunction) -> dict[str, t.Layout]:
    """What is declared in the objects that the function touches, by their names, and in what pointers point to, by
    those of the pointers. Names that mean several layouts are left out.
    """
    graph = function.graph()
    if isinstance(graph, Refused):
        return {}
    source = _Source(graph, function.program.source.inlined, function.code.name)
    found: dict[str, t.Layout | None] = {}
    for name, layout in (*source.of_objects(), *source.of_pointers()):
        found[name] = layout if found.get(name, layout) == layout else None
    return {name: layout for name, layout in found.items() if layout is not None}


class _Source:
    """One function with its debug records."""

    def __init__(self, graph: Flowgraph, module: Module, name: str) -> None:
        self._graph = graph
        self._module = module
        self._code: SourceFunction = module.functions[name]
        self._types: DebugTypes = module.debug_types

    def of_objects(self) -> Iterator[tuple[str, t.Layout]]:
        """Of objects; a pointer is none here, since what it points to has its name."""
        for one in self._graph.objects.values():
            if one.name and one.kind not in ("null", "function", "dead"):
                own, pointed = self._type(one), one.kind in _POINTED
                if own is None:
                    literal = one.name.startswith('"')
                    yield one.name.removeprefix("*"), replace(self._text, content=_content(one)) if literal else _NONE
                elif pointed or own.kind is not TypeKind.POINTER:
                    behind = pointed and not (own.kind is TypeKind.ARRAY and self._is_reference(one.name))
                    layout = _layout(self._types, own, behind_pointer=behind)
                    yield one.name.removeprefix("*"), replace(layout, content=_content(one))

    def _is_reference(self, name: str) -> bool:
        """Whether a parameter is a reference of C++, which is what it refers to."""
        debug = next((param.debug for param in self._code.params if param.name == name), None)
        return debug is not None and "&" in debug.type.description

    @cached_property
    def _text(self) -> t.Layout:
        """The layout of a string literal."""
        types = [variable.type for variable in self._code.variables.values()]
        types += [inner for type in types if (inner := self._types.element(type)) is not None]
        signed = next((type.signed for type in types if type.kind is TypeKind.CHAR), True)
        return t.Layout((t.Rows(0, None, 1, "", {(0, 1): t.Scalar("", t.IntType(8, bool(signed)))}),))

    def of_pointers(self) -> Iterator[tuple[str, t.Layout]]:
        """Of pointers that are variables, by what they are declared to point to."""
        for var, info in self._graph.variables.items():
            name = self._graph.pointee_name(var)
            if name is not None and info.object is not None:
                pointee = self._pointee(info)
                yield name.removeprefix("*"), self._behind(pointee)
        for load in self._early:
            name = None if load.target_object is None else self._graph.pointee_name(load.target_object)
            if name is not None:
                yield name.removeprefix("*"), self._behind(self._loaded(load))

    def _behind(self, pointee: DebugType | None) -> t.Layout:
        return _NONE if pointee is None else _layout(self._types, pointee, behind_pointer=True)

    @cached_property
    def _early(self) -> list[Load]:
        """The loads of pointers in front of loops; those of pointers that others are loaded through come first."""
        statements = (statement for block in self._graph.blocks.values() for statement in block.statements)
        loads = [statement for statement in statements if isinstance(statement, Load) and statement.early]
        return sorted(loads, key=lambda load: (load.shown.count("->"), load.target.key))

    def _loaded(self, load: Load) -> DebugType | None:
        """What a pointer that is loaded in front of a loop is declared to point to."""
        owner, offset = load.address.object, load.address.offset
        if isinstance(owner, t.Const):
            return self._pointed_to(owner.value, offset.value) if isinstance(offset, t.Const) else None
        info = self._graph.variables.get(owner) if isinstance(owner, t.Var) else None
        inside = next((var for var in offset.variables if info and f"{var.name}{OBJECT_PART}" == info.var.name), None)
        distance = None if inside is None else offset - inside
        if info is None or not isinstance(distance, t.Const):
            return None
        above = next((other for other in self._early if other.target_object is owner), None)
        around = self._loaded(above) if above is not None else self._pointee(info) if info.object is not None else None
        return None if around is None else self._pointer_in(around, 8 * distance.value)

    def _pointee(self, info: VariableInfo) -> DebugType | None:
        assert info.object is not None
        return self._pointed_to(info.object, info.offset)

    def _pointed_to(self, number: int, offset: int) -> DebugType | None:
        """What the pointer at a byte of an object is declared to point to."""
        holder = self._graph.objects.get(number)
        around = self._type(holder) if holder is not None else None
        if holder is None or around is None:
            return None
        at = 8 * offset
        return self._pointer_in(around, at, repeated=holder.kind in ("parameter", "pointee"))

    def _pointer_in(self, around: DebugType, at: int, *, repeated: bool = True) -> DebugType | None:
        """What the pointer at a bit of an object is declared to point to; ``repeated``: of one of several objects."""
        if repeated and around.bits:
            at %= around.bits  # p[1].q is of the type of p->q
        pointer = leaf_type(self._types, around, at, self._module.pointer_bits)
        return self._types.element(pointer) if pointer is not None and pointer.kind is TypeKind.POINTER else None

    def _type(self, one: MemoryObject) -> DebugType | None:
        """The declared type of an object; of what a pointer points to, that of the pointee."""
        match one.kind:
            case "local":
                named = {v.type.key: v.type for v in self._code.variables.values() if v.name == one.name}
                return next(iter(named.values())) if len(named) == 1 else None
            case "parameter" if all(param.name != one.name for param in self._code.params):
                return None
            case "parameter" | "global":
                return type_in(Base(one.kind, one.symbol or one.name), self._code, self._module, {})
            case "pointee" if one.holder is not None:
                return self._pointed_to(*one.holder)
            case _:
                return None


def _content(one: MemoryObject) -> bytes | None:
    """The bytes of an object that nothing changes and that has no pointers in it."""
    known = one.constant and one.content is not None and one.size is not None and not one.relocations
    return one.content.ljust(one.size, b"\0") if known and one.content is not None and one.size is not None else None


def _layout(types: DebugTypes, type: DebugType, *, behind_pointer: bool) -> t.Layout:
    return t.Layout(tuple(_rows(types, type, behind_pointer)), not behind_pointer and type.kind is not TypeKind.ARRAY)


def _rows(types: DebugTypes, type: DebugType, behind_pointer: bool) -> Iterator[t.Rows]:  # noqa: FBT001
    """The arrays in an object of a type; a pointer points to as many of its type as there are."""
    element = types.element(type) if type.kind is TypeKind.ARRAY else type
    if element is None or not element.bits or element.bits % 8:
        return
    if element.kind is TypeKind.STRUCT and type.kind is not TypeKind.ARRAY:
        for member in types.members(element)[:MAX_MEMBERS]:
            inner = types.element(member.type) if member.type.kind is TypeKind.ARRAY else None
            if member.name and inner is not None and inner.bits and _counted(member.type.counts[1:]):
                head = f"{'->' if behind_pointer else '.'}{member.name}"
                start, end = member.offset // 8, (member.offset + member.bits) // 8
                counts = _inner(member.type.counts[1:])
                yield t.Rows(start, end, inner.bits // 8, head, _members(types, inner), counts)
    inner_counts = type.counts if behind_pointer else type.counts[1:]
    if (type.kind is TypeKind.ARRAY or behind_pointer) and _counted(inner_counts):
        yield t.Rows(0, None, element.bits // 8, "", _members(types, element), _inner(inner_counts))


def _counted(counts: tuple[int | None, ...]) -> bool:
    return all(counts)


def _inner(counts: tuple[int | None, ...]) -> tuple[int, ...]:
    return tuple(count for count in counts if count)


def _members(types: DebugTypes, element: DebugType) -> dict[tuple[int, int], t.Scalar]:
    """The scalars in an element, by their places: all of it, or the members of a structure, of which the first ones
    are told where there are many.
    """
    found: dict[tuple[int, int], t.Scalar] = {}
    for offset, bits, name, type in islice(_scalars(types, element, 0, ""), MAX_MEMBERS):
        found.setdefault((offset // 8, bits // 8), t.Scalar(name, integer_type(type)))
    return found


def _scalars(types: DebugTypes, type: DebugType, start: int, name: str) -> Iterator[tuple[int, int, str, DebugType]]:
    """The scalars in an object at bit ``start``, with their bits, their names behind that of the object and types."""
    match type.kind:
        case TypeKind.STRUCT:
            for member in types.members(type):
                if not member.bitfield:
                    inside = f"{name}.{member.name}" if member.name else name
                    yield from _scalars(types, member.type, start + member.offset, inside)
        case TypeKind.ARRAY:
            element = types.element(type)
            if element is not None and element.bits and len(type.counts) == 1:
                for at in range(type.counts[0] or 0):
                    yield from _scalars(types, element, start + at * element.bits, f"{name}[{at}]")
        case _:
            yield start, type.bits, name, type


def integer_type(type: DebugType) -> t.IntType | None:
    """The integer type that a source type is; None for others."""
    if not type.is_integer or type.bits % 8 or not type.bits:
        return None
    return t.IntType(1, signed=False) if type.kind is TypeKind.BOOL else t.IntType(type.bits, bool(type.signed))
