"""From a path to the inputs of a run that takes it: integers, arrays, and memory with what its pointers lead to."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from loopless import terms as t
from loopless.check.oracle.adapters import RESULT
from loopless.check.oracle.signature import CType, Declared, Opaque, Parameter, PointerType, Signature
from loopless.flowgraph.model import NULL_OBJECT, Flowgraph, Kind, Origin, VariableInfo
from loopless.flowgraph.model import Parameter as Formal
from loopless.limits.queries import MAX_COMMAND_WORDS, MAX_ELEMENTS, MAX_POINTER_DEPTH
from loopless.navigation.memory import Led, pointer_size
from loopless.navigation.routes import Route
from loopless.navigation.store import size_of
from loopless.queries.call_values.reached import (
    Field,
    GivenValue,
    Inputs,
    MemoryContent,
    Number,
    PointerIn,
    RepeatedValue,
    joined,
    runs_of,
)
from loopless.transition.relation import TransitionSystem
from loopless.verification.runs import is_input

PROGRAM: Final = b"program"
"""The first word of argv, where the run does not depend on it."""
FORMATS: Final = {"float": "<f", "double": "<d"}
"""How :mod:`struct` calls floating-point numbers."""
ANY_WORD: Final = b"x"
"""A word of argv that the run does not read."""


class NotDriven(Exception):
    """The inputs of a path cannot be given to the function; carries why."""


def inputs_of(route: Route, system: TransitionSystem, function: str, signature: Any) -> Inputs:
    """The inputs by which a run takes the path. Raises :class:`NotDriven`."""
    graph = system.graph
    values = dict(route.values)

    def number(term: t.Term) -> int:
        unknown = {var: 0 for var in term.variables if var not in values}
        return t.evaluate(term, {**unknown, **values})

    def at_begin(var: t.Var | None) -> int:
        return 0 if var is None else number(route.begin.get(var, var))

    nondet: list[RepeatedValue] = []
    uninitialised: dict[str, int] = {**route.uninitialised}
    length = 0
    for step in route.steps:
        drawn: list[int] = []
        for one, term in step.inputs.items():
            value = one.var.type.wrap(number(term))
            if is_input(graph, one.block, one.index):
                drawn.append(value)
            elif one.origin is Origin.UNINITIALISED:
                shown = graph.blocks[one.block].statements[one.index]
                info = graph.variables.get(getattr(shown, "target", None))  # type: ignore[arg-type]
                if info is not None:
                    uninitialised[info.shown] = value
        length += len(drawn) * step.count
        if length > MAX_ELEMENTS:
            raise NotDriven(f"it takes more than {MAX_ELEMENTS:,} inputs")
        if len(drawn) == 1:
            nondet.append(RepeatedValue(step.count, drawn[0]))
        else:
            nondet.extend(runs_of(drawn * step.count))
    if length + sum(count for count, _ in route.drawn) > MAX_ELEMENTS:
        raise NotDriven(f"it takes more than {MAX_ELEMENTS:,} inputs")
    nondet.extend(RepeatedValue(count, value) for count, value in route.drawn)
    arguments = tuple(_arguments(route, graph, signature, at_begin))
    own = {
        info.shown: at_begin(var)
        for var, info in graph.variables.items()
        if info.kind is Kind.GLOBAL and function != "main" and (var in route.begin or var in values)
    }
    words = tuple(_words(route, graph, at_begin)) if function == "main" else ()
    return Inputs(function, arguments, joined(nondet), uninitialised=uninitialised, globals=own, words=words)


def _words(
    route: Route, graph: Flowgraph, at_begin: Callable[[t.Var | None], int]
) -> Iterator[tuple[RepeatedValue, ...]]:
    """The words of argv, the name of the program first; none where the path does not depend on them."""
    if not graph.parameters or (argc := graph.parameters[0].var) is None:
        return
    number = graph.parameters[1].object if len(graph.parameters) > 1 else None
    name = graph.objects[number].name if number is not None else ""
    read = {offset: led for (array, offset), led in route.pointers.items() if array == name}
    if argc not in route.begin and argc not in route.values and not read:
        return
    count = at_begin(argc)
    if not 1 <= count <= MAX_COMMAND_WORDS:
        raise NotDriven(f"it takes an argc of {count:,}, which is not given to a program")
    size = pointer_size(graph)
    for index in range(count):
        led = read.get(size * index)
        if led is None:
            yield runs_of(ANY_WORD if index else PROGRAM)
        else:
            yield _word(route, led.array, at_begin)


def _word(route: Route, array: str, at_begin: Callable[[t.Var | None], int]) -> tuple[RepeatedValue, ...]:
    """A string, up to its end where the path reads so far, else so far as it is read."""
    content: dict[int, int] = {}
    for run in route.runs:
        if run.array == array:
            content |= {run.start + run.stride * index: run.value for index in range(run.count)}
    for (name, offset, type_), var in route.cells.items():
        if name == array:
            value = at_begin(var) & ((1 << (8 * size_of(type_))) - 1)
            content |= {offset + index: byte for index, byte in enumerate(value.to_bytes(size_of(type_), "little"))}
    if content and (min(content) < 0 or max(content) > MAX_ELEMENTS):
        raise NotDriven("it reads outside of a word of argv")
    end = next((at for at in sorted(content) if content[at] & 255 == 0), max(content, default=-1) + 1)
    return runs_of(content.get(at, ord("a")) & 255 for at in range(end))


def _arguments(
    route: Route, graph: Flowgraph, signature: Signature, at_begin: Callable[[t.Var | None], int]
) -> Iterator[GivenValue]:
    if graph.source_name == "main":
        return
    image = _Image(route, graph, at_begin)
    both = list(zip(graph.parameters, signature.params, strict=True))
    if not signature.declared:
        for parameter, type_ in both:
            yield _argument(parameter, type_, image)
        return
    at = 0
    for one in signature.declared:
        group = both[at : at + one.parts]
        at += one.parts
        if group[0][1] == RESULT:
            continue
        yield _structure(one, group, image) if one.size else _argument(*group[0], image)


def _argument(parameter: Formal, type_: Parameter, image: _Image) -> GivenValue:
    name = parameter.name
    match type_:
        case CType(name="float" | "double" as kind):
            return GivenValue(name, kind, 0.0)
        case CType():
            return GivenValue(name, type_.name, type_.wrap(image.at_begin(parameter.var)))
        case PointerType() | Opaque(name="pointer"):
            if parameter.null is not None and image.at_begin(parameter.null):
                return GivenValue(name, type_.element.name if isinstance(type_, PointerType) else "void")
            if parameter.shared or parameter.object is None:
                raise NotDriven(f"{name} points into the same memory as another parameter")
            if isinstance(type_, PointerType):
                return GivenValue(name, type_.element.name, elements=image.elements(parameter.object, type_.element))
            return GivenValue(name, "void", memory=image.of(parameter.object))
        case _:
            raise NotDriven(f"{name} is {type_.name}, which cannot be given to it")


def _structure(declared: Declared, group: Sequence[tuple[Formal, Parameter]], image: _Image) -> GivenValue:
    """A structure that is passed itself, of what the path demands of its parts."""
    if declared.in_memory:
        number = group[0][0].object
        found = MemoryContent(b"") if number is None else image.of(number)
        if found.start or len(found.content) > declared.size:
            raise NotDriven(f"it reads outside of {declared.name}")
        return structure(declared, found.content, found.pointers)
    content = b""
    pointers: list[PointerIn] = []
    for index, (parameter, type_) in enumerate(group):
        content = content.ljust(8 * index, b"\0")
        if isinstance(type_, CType):
            value = type_.wrap(0 if parameter.var is None else image.at_begin(parameter.var))
            content += (value & ((1 << type_.bits) - 1)).to_bytes(type_.size, "little")
            continue
        shown = next(
            (one.name for one in declared.pointers if one.offset == 8 * index), f"{declared.name} at byte {8 * index}"
        )
        if parameter.shared or parameter.object is None:
            raise NotDriven(f"{shown} points into the same memory as another parameter")
        content += bytes(8)
        if parameter.null is None or not image.at_begin(parameter.null):
            led = image.of(parameter.object, shown)
            pointers.append(PointerIn(shown, 8 * index, led, led.start))
    return structure(declared, content, tuple(pointers))


def structure(declared: Declared, content: bytes, pointers: tuple[PointerIn, ...] = ()) -> GivenValue:
    """A structure that is passed itself, with these first bytes; the rest is 0."""
    content = content.ljust(declared.size, b"\0")[: declared.size]
    fields = []
    for leaf in declared.leaves:
        if isinstance(leaf.type, CType):
            raw = content[leaf.offset : leaf.offset + leaf.type.size]
            value: Number = int.from_bytes(raw, "little", signed=leaf.type.signed)
        else:
            form = FORMATS[leaf.type.name]
            raw = content[leaf.offset : leaf.offset + struct.calcsize(form)]
            (value,) = struct.unpack(form, raw)
        if any(raw):
            fields.append(Field(leaf.name, leaf.offset, len(raw), value))
    return GivenValue(
        declared.name, declared.type, memory=MemoryContent(content, pointers, tuple(fields)), by_value=True
    )


def _called_so(memory: MemoryContent, name: str, shown: str) -> MemoryContent:
    """The same with another name for the pointer that leads there."""

    def changed(text: str) -> str:
        return re.sub(rf"(?<![\w.]){re.escape(name)}(?!\w)", shown, text)

    pointers = tuple(
        replace(one, name=changed(one.name), memory=_called_so(one.memory, name, shown)) for one in memory.pointers
    )
    return replace(
        memory, pointers=pointers, fields=tuple(replace(one, name=changed(one.name)) for one in memory.fields)
    )


class _Image:
    """The bytes of objects at the beginning, as far as a path reads them."""

    def __init__(self, route: Route, graph: Flowgraph, at_begin: Callable[[t.Var | None], int]) -> None:
        self.route, self.graph, self.at_begin = route, graph, at_begin
        self.halves: dict[tuple[int, int], dict[str, t.Var]] = {}
        self.fields: dict[int, list[tuple[t.Var, VariableInfo]]] = {}
        for var, info in graph.variables.items():
            if info.object is not None and info.kind in (Kind.POINTEE, Kind.GLOBAL):
                if info.pointer_part:
                    self.halves.setdefault((info.object, info.offset), {})[info.pointer_part] = var
                else:
                    self.fields.setdefault(info.object, []).append((var, info))

    def of(self, number: int, shown: str = "") -> MemoryContent:
        """What lies in the object that a parameter leads to, which C calls ``shown``, if not by its own name."""
        name = self.graph.objects[number].name
        found = self.memory(number, [name])
        return found if shown in ("", name) else _called_so(found, name, shown)

    def memory(self, number: int | None, names: Sequence[str], depth: int = 0) -> MemoryContent:
        """What lies in an object of this number, which reads may call by any of the names."""
        if depth > MAX_POINTER_DEPTH:
            raise NotDriven("it follows too many pointers")
        image = _Bytes()
        fields: list[Field] = []
        for run in self.route.runs:
            if run.array in names:
                for index in range(run.count):
                    image.put(run.start + run.stride * index, size_of(run.type), run.value)
        for (array, offset, _), var in self.route.cells.items():
            if array in names:
                image.put(offset, size_of(var.type), self.at_begin(var))
        pointers = []
        if number is not None:
            for var, info in self.fields.get(number, ()):
                value = self.at_begin(var)
                image.put(info.offset, info.size, value)
                if value:
                    fields.append(Field(info.shown, info.offset, info.size, value))
            for (holder, offset), halves in self.halves.items():
                if holder == number and "object" in halves and not self._is_null(halves["object"]):
                    pointers.append(self._half(number, offset, halves, depth))
                    image.put(offset, 8, 0)
        for (array, offset), led in self.route.pointers.items():
            if array in names:
                image.put(offset, pointer_size(self.graph), 0)
                pointers += self._led(led, offset, depth)
        moved = tuple(replace(one, offset=one.offset + image.before) for one in pointers)
        named = tuple(replace(one, offset=one.offset + image.before) for one in fields)
        return MemoryContent(bytes(image.content), moved, named, image.before)

    def _half(self, number: int, offset: int, halves: Mapping[str, t.Var], depth: int) -> PointerIn:
        """What a pointer leads to that is a variable."""
        owner = halves["object"]
        behind = self._behind(number, offset)
        shown = self.graph.variables[owner].shown.removesuffix(".object")
        at = self.at_begin(halves.get("offset"))
        if abs(at) > MAX_ELEMENTS:
            raise NotDriven(f"{shown} leads to byte {at:,} of what it is given")
        alias = self.route.aliases.get(owner, behind)
        if alias is not None and alias != behind:
            return PointerIn(shown, offset, MemoryContent(b""), at, self._called(alias))
        name = self.graph.pointee_name(owner)
        inner = self.memory(behind, [n for n in (name, self._named(behind)) if n], depth + 1)
        return PointerIn(shown, offset, inner, inner.start + at)

    def _called(self, number: int) -> str:
        """The name of the pointer that leads to an object."""
        found = self.graph.objects[number]
        if found.parameter is not None:
            return self.graph.parameters[found.parameter].name
        owner = self.halves.get(found.holder, {}).get("object") if found.holder is not None else None
        if owner is None:
            raise NotDriven(f"a pointer leads to {found.name} that is told as another one")
        return self.graph.variables[owner].shown.removesuffix(".object")

    def _led(self, led: Led, offset: int, depth: int) -> Iterator[PointerIn]:
        """What a pointer that the path found at a byte leads to; nothing where it is null."""
        number = self.at_begin(led.owner) if led.owner in self.route.values else led.number
        if number == NULL_OBJECT:
            return
        if led.owner in self.route.aliases:
            yield PointerIn(led.shown, offset, MemoryContent(b""), 0, self._called(number))
            return
        if number != led.number and number in {one.number for one in self.route.pointers.values()}:
            raise NotDriven(f"{led.shown} points into the same memory as another pointer")
        yield PointerIn(led.shown, offset, self.memory(None, [led.array], depth + 1))

    def _is_null(self, owner: t.Var) -> bool:
        known = owner in self.route.values or owner in self.route.begin
        return known and self.at_begin(owner) == NULL_OBJECT

    def _behind(self, number: int, offset: int) -> int | None:
        return next((n for n, found in self.graph.objects.items() if found.holder == (number, offset)), None)

    def _named(self, number: int | None) -> str:
        return self.graph.objects[number].name if number is not None else ""

    def elements(self, number: int, element: CType) -> tuple[RepeatedValue, ...]:
        """What lies there as an array of integers."""
        name = self.graph.objects[number].name
        if not self.fields.get(number) and not any(array == name for array, _, _ in self.route.cells):
            found = self._alike(name, element)
            if found is not None:
                return found
        found_ = self.memory(number, [name])
        if found_.start:
            raise NotDriven(f"it reads in front of what {name} points to")
        content = found_.content
        size = element.size
        whole = content + bytes(-len(content) % size)
        return runs_of(
            [
                int.from_bytes(whole[at : at + size], "little", signed=element.signed)
                for at in range(0, len(whole), size)
            ]
        )

    def _alike(self, name: str, element: CType) -> tuple[RepeatedValue, ...] | None:
        """The same where a path reads nothing but runs of elements, one behind the other."""
        spans = sorted((run for run in self.route.runs if run.array == name), key=lambda run: run.span)
        found: list[RepeatedValue] = []
        at = 0
        for run in spans:
            low, high = run.span
            if low != at or abs(run.stride) != element.size or size_of(run.type) != element.size:
                return None
            found.append(RepeatedValue(run.count, element.wrap(run.value)))
            at = high
        return joined(found)


class _Bytes:
    """Bytes around a place; ``before`` of them lie in front of it."""

    def __init__(self) -> None:
        self.content = bytearray()
        self.before = 0

    def put(self, offset: int, size: int, value: int) -> None:
        """Let an integer lie at this byte."""
        if abs(offset) + size > MAX_ELEMENTS:
            raise NotDriven(f"it reads at byte {offset} of what it is given")
        if offset < -self.before:
            more = -(-(-offset - self.before) // 16) * 16
            self.content[:0] = bytes(more)
            self.before += more
        at = offset + self.before
        if len(self.content) < at + size:
            self.content.extend(bytes(at + size - len(self.content)))
        self.content[at : at + size] = (value & ((1 << (8 * size)) - 1)).to_bytes(size, "little")
