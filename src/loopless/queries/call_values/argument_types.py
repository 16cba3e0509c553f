"""Arguments of a call by the types that the source declares: numbers, strings, arrays and structures as their bytes."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias

from loopless import terms as t
from loopless.check.interpreter.run import Argument, PointedContent, WholeObject
from loopless.errors import UsageError
from loopless.flowgraph.model import Parameter
from loopless.patterns import pattern
from loopless.queries.call_values.arguments import characters
from loopless.records import dataclass
from loopless.source.debug import DebugType, DebugTypes, DebugVariable, DeclaredMember, TypeKind

PlainValue: TypeAlias = "int | float | str | list[PlainValue] | dict[str, PlainValue] | None"
"""A value of C: lists are arrays, mappings structures, None a null pointer."""


class Plain(str):
    """A word without quotes: a string for a pointer to characters, or the name of a character."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Formal:
    """A parameter with what the source says of its type, None where it says nothing; ``pointee`` that of what a
    pointer points to.
    """

    parameter: Parameter
    type: DebugType | None
    pointee: DebugType | None
    types: DebugTypes

    @property
    def name(self) -> str:
        """Its name in the source."""
        return self.parameter.name

    @property
    def is_pointer(self) -> bool:
        """Whether it takes what it points to."""
        return self.parameter.object is not None or self.parameter.null is not None

    @property
    def is_reference(self) -> bool:
        """Whether it is a reference of C++, to one object."""
        return self.is_pointer and self.type is not None and self.type.description.rstrip().endswith("&")

    @property
    def is_text(self) -> bool:
        """Whether it points to characters."""
        return self.is_pointer and self.parameter.pointee is not None and self.parameter.pointee.width == 8


@dataclass(frozen=True, slots=True)
class SourceParameter:
    """A parameter as the source has it: a structure may be passed as several ``parts`` of the compiled function."""

    formal: Formal
    parts: tuple[Formal, ...]

    @property
    def is_structure(self) -> bool:
        """Whether it is a structure of which the compiled function has parts."""
        return self.parts[0] is not self.formal

    def arguments(self, value: Any) -> list[Argument]:
        """The arguments of the compiled function that a value written by a user makes. Raises ``UsageError``."""
        type = self.formal.type
        if not self.is_structure or type is None:
            return [argument(self.formal, value)]
        content = _bytes(value, type, self.formal.types, self.formal.name)
        found: list[Argument] = []
        for at, part in enumerate(self.parts):  # each is in a register of its own
            held = part.parameter.type
            size = 8 if held is None or held.width is None else (held.width + 7) // 8
            piece = int.from_bytes(content[8 * at : 8 * at + size], "little")
            found.append(None if held is None else held.wrap(piece))
        return found


_PART: Final = pattern(r"(.+)\.coerce\d*")


def as_declared(formals: Sequence[Formal], variables: Mapping[str, DebugVariable]) -> list[SourceParameter]:
    """The parameters as the source has them; ``variables``: those of the compiled function.

    A structure with a pointer among its parts stays in parts: what that leads to is no bytes of the structure.
    """
    found: list[SourceParameter] = []
    apart = {part[1] for formal in formals if formal.is_pointer and (part := _PART.fullmatch(formal.name))}
    for formal in formals:
        part = _PART.fullmatch(formal.name)
        variable = variables.get(part[1]) if part is not None and part[1] not in apart else None
        if variable is None or variable.kind is not TypeKind.STRUCT:
            found.append(SourceParameter(formal, (formal,)))
        elif found and found[-1].is_structure and found[-1].formal.name == variable.name:
            found[-1] = SourceParameter(found[-1].formal, (*found[-1].parts, formal))
        else:
            whole = Formal(Parameter(variable.name, None, None), variable.type, None, formal.types)
            found.append(SourceParameter(whole, (formal,)))
    return found


def argument(formal: Formal, value: Any) -> Argument:
    """The argument that a value written by a user is. Raises ``UsageError``."""
    if isinstance(value, Plain) and value.lower() in ("null", "nullptr") and formal.is_pointer:
        return None
    if not formal.is_pointer:
        return _scalar(formal, value)
    if formal.is_reference and isinstance(value, int | float) and formal.pointee is not None:
        value = [value]
    if value is None or isinstance(value, int):
        return value
    if isinstance(value, str):
        if isinstance(value, Plain) and not formal.is_text:
            raise UsageError(f"{value!r} is no value for {formal.name}: {_wanted(formal)}")
        return characters(value).of(formal.parameter.pointee)
    if formal.parameter.pointee is not None and isinstance(value, list):
        return [_integer(part, f"what {formal.name} points to") for part in value]
    if formal.pointee is None:  # void: its bytes
        if isinstance(value, list) and all(isinstance(part, int) and 0 <= part <= 255 for part in value):
            return bytes(value)
        raise UsageError(f"what {formal.name} points to has no type: give its bytes, [0, 255], or null")
    parts = value if isinstance(value, list) and formal.pointee is not formal.type else [value]  # or a copy of one
    return _object(parts, formal.pointee, formal.types, formal.name)


def _object(parts: Sequence[Any], type: DebugType, types: DebugTypes, name: str) -> bytes | PointedContent:
    """Objects of ``type`` one behind the other, with what pointers in them lead to."""
    size = type.bits // 8
    content: list[bytes] = []
    pointers: list[tuple[int, bytes | PointedContent]] = []
    for at, part in enumerate(parts):
        content.append(_bytes(part, type, types, f"{name}[{at}]"))
        pointers += _pointers(part, type, types, f"{name}[{at}]", at * size)
    return PointedContent(b"".join(content), tuple(pointers)) if pointers else b"".join(content)


def _pointers(
    value: Any, type: DebugType, types: DebugTypes, name: str, at: int
) -> Iterator[tuple[int, bytes | PointedContent]]:
    """The pointers in a value of ``type``, which lies at byte ``at``, that are not null, with what they lead to."""
    match type.kind:
        case TypeKind.POINTER if not _is_null(value):
            pointee = types.element(type)
            if isinstance(value, str) and pointee is not None and pointee.bits == 8:
                yield at, bytes(code % 256 for code in characters(value))
            elif pointee is not None and pointee.bits:
                yield at, _object(value if isinstance(value, list) else [value], pointee, types, name)
        case TypeKind.ARRAY if isinstance(value, list):
            element, inner = types.element(type), type.counts[1:]
            if element is not None:
                part = _row(type, inner, element) if inner else element
                for index, each in enumerate(value):
                    yield from _pointers(each, part, types, f"{name}[{index}]", at + index * part.bits // 8)
        case TypeKind.STRUCT:
            members = list(_named(type, types))
            if isinstance(value, list):
                value = {member.name: part for (member, _), part in zip(members, value, strict=False)}
            for member, place in members:
                if member.name in value and not member.bitfield:
                    inside = f"{name.removesuffix('[0]')}.{member.name}"
                    yield from _pointers(value[member.name], member.type, types, inside, at + place // 8)
        case _:
            pass


def _is_null(value: Any) -> bool:
    return value is None or (isinstance(value, Plain) and value.lower() in ("null", "nullptr"))


def _wanted(formal: Formal) -> str:
    if formal.pointee is not None and formal.pointee.kind is TypeKind.STRUCT:
        names = ", ".join(f'"{member.name}": 0' for member in formal.types.members(formal.pointee) if member.name)
        return f"give {{{names}}}, several of them in [], or null"
    return "give [1, 2, 3] or null"


def _scalar(formal: Formal, value: Any) -> Argument:
    if formal.parameter.type is None and formal.parameter.var is None:
        if isinstance(value, int | float) or value is None:
            return None  # it is no integer, and nothing is known of it where the call uses it
        raise UsageError(f"{_written(value)} is no number for {formal.name}")
    is_character = formal.type is not None and formal.type.kind is TypeKind.CHAR
    if isinstance(value, Plain) and is_character and len(value.encode()) == 1:
        return ord(value)
    if isinstance(value, Plain) and value in ("true", "false"):
        return int(value == "true")
    if not isinstance(value, int):
        what = "give one integer or a character" if is_character else "give one integer"
        raise UsageError(f"{formal.name} is no pointer: {what}, not {_written(value)}")
    return value


def _written(value: Any) -> str:
    return "null" if value is None else repr(str(value) if isinstance(value, str) else value)


def _integer(value: Any, name: str) -> int:
    if isinstance(value, Plain) and len(value.encode()) == 1:
        return ord(value)
    if not isinstance(value, int):
        raise UsageError(f"{_written(value)} is no integer for {name}")
    return value


# -- bytes ------------------------------------------------------------------------------------------------------------

_FLOATS: Final = {32: "<f", 64: "<d"}


def _bytes(value: Any, type: DebugType, types: DebugTypes, name: str) -> bytes:
    """A value as the bytes of an object of ``type``. Raises ``UsageError``."""
    size = type.bits // 8
    match type.kind:
        case TypeKind.ARRAY:
            return _array(value, type, types, name)
        case TypeKind.STRUCT if size:
            return _structure(value, type, types, name)
        case TypeKind.POINTER:
            element = types.element(type)
            is_text = isinstance(value, str) and element is not None and element.bits == 8
            known = element is not None and element.bits and isinstance(value, list | dict)
            if _is_null(value) or is_text or known:
                return bytes(size)
            wanted = _wanted_there(element)
            raise UsageError(f"{name} is a pointer, {type.description}: {wanted}, not {_written(value)}")
        case TypeKind.FLOAT if type.bits in _FLOATS:
            if not isinstance(value, int | float):
                raise UsageError(f"{_written(value)} is no number for {name}")
            try:
                return struct.pack(_FLOATS[type.bits], value)
            except (OverflowError, struct.error):
                raise UsageError(f"{value} is not in the range of {type.description} {name}") from None
        case _ if type.is_integer and size:
            return _number(value, type, name).to_bytes(size, "little", signed=bool(type.signed))
        case _:
            raise UsageError(f"{name} has the type {type.description}, of which no value can be given")


def _wanted_there(pointee: DebugType | None) -> str:
    if pointee is None or not pointee.bits:
        return "give null"
    return "give what it points to, [1, 2, 3], or null" if pointee.is_integer else "give what it points to, or null"


def _number(value: Any, type: DebugType, name: str) -> int:
    number = int(value == "true") if isinstance(value, Plain) and value in ("true", "false") else _integer(value, name)
    bits = 1 if type.kind is TypeKind.BOOL else type.bits
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if type.signed else (0, (1 << bits) - 1)
    if not low <= number <= high:
        raise UsageError(f"{number} is not in the range of {type.description} {name}: {low} to {high}")
    return number


def _array(value: Any, type: DebugType, types: DebugTypes, name: str) -> bytes:
    """An array; what is left out at its end is 0, as in an initializer of C."""
    element = types.element(type)
    if element is None or not type.counts:
        raise UsageError(f"{name} has the type {type.description}, of which no value can be given")
    if isinstance(value, str) and len(type.counts) == 1 and element.bits == 8:
        codes = characters(value)
        value = codes.of(t.IntType(8, bool(element.signed)))[: max(type.counts[0] or 0, len(codes) - 1)]
    if not isinstance(value, list):
        raise UsageError(f"{name} is an array, {type.description}: give its elements in [], not {_written(value)}")
    count, inner = type.counts[0], type.counts[1:]
    if count is not None and len(value) > count:
        raise UsageError(f"{name} has {count} elements, not {len(value)}")
    parts = []
    for at, part in enumerate(value):
        if inner:
            parts.append(_array(part, _row(type, inner, element), types, f"{name}[{at}]"))
        else:
            parts.append(_bytes(part, element, types, f"{name}[{at}]"))
    return b"".join(parts).ljust(type.bits // 8, b"\0")


def _row(type: DebugType, inner: tuple[int | None, ...], element: DebugType) -> DebugType:
    """The type of a row of an array of several dimensions."""
    bits = element.bits
    for count in inner:
        bits *= count or 0
    words = f"{element.description}{''.join(f'[{count}]' for count in inner)}"
    return DebugType(TypeKind.ARRAY, words, bits, type.key, element=type.element, counts=inner)


def _structure(value: Any, type: DebugType, types: DebugTypes, name: str) -> bytes:
    """A structure by the names of its members, or by their order; members that are left out are 0."""
    members = list(_named(type, types))
    if isinstance(value, list) and not type.union:
        if len(value) > len(members):
            raise UsageError(f"{name} has {len(members)} members, not {len(value)}")
        value = {member.name: part for (member, _), part in zip(members, value, strict=False)}
    if not isinstance(value, dict):
        listed = ", ".join(f'"{member.name}": …' for member, _ in members)
        raise UsageError(f"{name} is {type.description}: give {{{listed}}}, not {_written(value)}")
    by_name = {member.name: (member, at) for member, at in members}
    content = 0
    for key, part in value.items():
        if key not in by_name:
            raise UsageError(f"{name} has no member {key}: {type.description} has {', '.join(by_name) or 'none'}")
        member, at = by_name[key]
        inside = f"{name.removesuffix('[0]')}.{key}"
        if member.bitfield:
            low = _number(part, replace(member.type, bits=member.bits), inside)
            content |= (low & ((1 << member.bits) - 1)) << at
        else:
            content |= int.from_bytes(_bytes(part, member.type, types, inside), "little") << at
    return content.to_bytes(type.bits // 8, "little")


def _named(type: DebugType, types: DebugTypes, start: int = 0) -> Iterator[tuple[DeclaredMember, int]]:
    """The members that have names, those of unnamed parts too, with their offsets in bits."""
    for member in types.members(type):
        if member.name:
            yield member, start + member.offset
        else:
            yield from _named(member.type, types, start + member.offset)


# -- and back ---------------------------------------------------------------------------------------------------------


def pointed(formals: Sequence[Formal], memory: Sequence[WholeObject | None]) -> dict[str, PlainValue]:
    """What pointers point to, by the names of the parameters, as values of C."""
    found: dict[str, PlainValue] = {}
    told: set[int | None] = set()
    for formal, held in zip(formals, memory, strict=False):
        type, object = formal.pointee, formal.parameter.object
        if held is None or object in told or (type is formal.type and type is not None):
            continue  # what shares an object is told of the first pointer there; a copy of a structure is the callee's
        told.add(object)
        shown: PlainValue = [*held.content] if type is None else _objects(held, type, formal.types)
        if shown is not None:
            one = formal.is_reference and isinstance(shown, list) and len(shown) == 1
            found[formal.name] = shown[0] if one and isinstance(shown, list) else shown
    return found


def _objects(held: WholeObject, type: DebugType, types: DebugTypes) -> PlainValue:
    """The objects of ``type`` in memory, a structure that stands alone without a list around it; None: they have no
    values that are told.
    """
    size = type.bits // 8
    if not size or not (
        type.is_integer or type.kind in (TypeKind.STRUCT, TypeKind.ARRAY, TypeKind.FLOAT, TypeKind.POINTER)
    ):
        return None
    starts = range(0, len(held.content) - size + 1, size)
    parts = [_value(held, 8 * at, type, types) for at in starts]
    return parts[0] if len(parts) == 1 and type.kind is TypeKind.STRUCT else parts


def _value(held: WholeObject, at: int, type: DebugType, types: DebugTypes) -> PlainValue:
    """The value of ``type`` at a bit of memory."""
    match type.kind:
        case TypeKind.STRUCT:
            return {member.name: _member(held, place, member, types) for member, place in _named(type, types, at)}
        case TypeKind.ARRAY:
            element = types.element(type)
            if element is None or not type.counts or not element.bits:
                return "unknown"
            inner = type.counts[1:]
            part = _row(type, inner, element) if inner else element
            return [_value(held, at + index * part.bits, part, types) for index in range(type.counts[0] or 0)]
        case TypeKind.POINTER:
            if at // 8 not in held.pointers:
                return None
            below, pointee = held.pointers[at // 8], types.element(type)
            shown = None if below is None or pointee is None else _objects(below, pointee, types)
            return "pointer" if shown is None else shown
        case TypeKind.FLOAT if type.bits in _FLOATS:
            number: float = struct.unpack_from(_FLOATS[type.bits], held.content, at // 8)[0]
            return number if math.isfinite(number) else str(number)
        case _ if type.is_integer:
            return _bits(held, at, type.bits, signed=bool(type.signed))
        case _:
            return "unknown"


def _member(held: WholeObject, at: int, member: DeclaredMember, types: DebugTypes) -> PlainValue:
    if member.bitfield:
        return _bits(held, at, member.bits, signed=bool(member.type.signed))
    return _value(held, at, member.type, types)


def _bits(held: WholeObject, at: int, bits: int, *, signed: bool) -> int:
    first, last = at // 8, (at + bits + 7) // 8
    value = int.from_bytes(held.content[first:last], "little") >> (at % 8) & ((1 << bits) - 1)
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def text_of(value: PlainValue, *, text: bool = False) -> str:
    """A value as C writes it; ``text``: elements are characters."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {text_of(part)}" for name, part in value.items()) + "}"
    if isinstance(value, list):
        if text and value and value[-1] == 0 and all(isinstance(c, int) and (c == 0 or 32 <= c < 127) for c in value):
            return _quoted([c for c in value[:-1] if isinstance(c, int)])
        return "[" + ", ".join(map(text_of, value)) + "]"
    return "null" if value is None else str(value)


def _quoted(codes: Sequence[int]) -> str:
    escapes: Mapping[int, str] = {0: "\\0", 34: '\\"', 92: "\\\\"}
    return '"' + "".join(escapes.get(code, chr(code)) for code in codes) + '"'
