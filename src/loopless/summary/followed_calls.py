"""Calls of functions that have a summary, in terms of the caller: what the callee reads and writes of its memory.

The callee's objects are objects of the caller, each from some byte on; no two of them may be one where the callee
writes. The caller's variables that stand for parts of these objects lie in memory while the callee runs: their values
are layers before the call, and are read of what memory holds behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from loopless import terms as t
from loopless.flowgraph.memory.statement_effects import apart, changed_by, in_words, may_be_one
from loopless.flowgraph.model import Call, Flowgraph, Parameter, Pointer, VariableInfo
from loopless.records import dataclass
from loopless.summary.closed_aggregates import without_closed
from loopless.summary.function import CallSummary, FunctionCase
from loopless.summary.function_memory import Deciding, FunctionMemory, Inside, Memory, owners, put
from loopless.terms.contents import Layer, single
from loopless.terms.substitute import with_reads_where

_OWN: Final = ("parameter", "pointee", "global")
"""Kinds of inputs that the caller can give."""
_PLACED: Final = ("local", "parameter", "global")
"""Kinds of the caller's objects that a callee may be given."""

Given = Callable[[t.Condition], Deciding]
"""What decides conditions in the caller's state, where a condition holds, too."""


class NotFollowed(Exception):
    """A call does something that cannot be said in terms of the caller; why, in words."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an object of the callee begins: the caller's object, and the byte there."""

    number: int
    base: t.Term


@dataclass(frozen=True, slots=True)
class Caller:
    """The state of the caller at the call."""

    graph: Flowgraph
    held: FunctionMemory
    memory: Memory
    values: Mapping[t.Var, t.Term]
    inside: Inside
    deciding: Given


class FollowedCall:
    """One call, bound to the caller's state. Raises :class:`NotFollowed`."""

    def __init__(self, call: Call, summary: CallSummary, caller: Caller) -> None:
        self._summary, self._caller = summary, caller
        self._check(call)
        self._places: dict[int, _Place] = {}
        self._values: dict[t.Var, t.Term] = {}
        for parameter, argument in zip(summary.parameters, call.arguments, strict=True):
            self._bind(parameter, argument)
        for number, described in summary.objects.items():
            if described.kind == "global":
                self._places[number] = _Place(caller.held.adopted(described), t.ZERO)
        written = changed_by(caller.graph, call)
        self._changes = written.anything or bool(written) or bool(call.changes)
        self._check_apart()
        self._apart_from_pointees = tuple(dict.fromkeys(self._granted_apart()))
        self._memory = self._synced()
        for var, info in summary.places.items():
            self._values[var] = self._scalar(var, info)

    # -- the arguments ------------------------------------------------------------------------------------------------

    def _check(self, call: Call) -> None:
        """That all that the summary speaks of has a counterpart in the caller."""
        summary = self._summary
        if call.target_object is not None or len(call.arguments) != len(summary.parameters):
            raise NotFollowed("returns a pointer, or is called otherwise than it is declared")
        if any(input.kind not in _OWN for input in summary.inputs) or summary.reads_streams:
            raise NotFollowed("reads inputs, or what other functions return")
        returns = [case for case in summary.cases if case.kind == "return"]
        if any(call.target is not None and case.result is None for case in returns):
            raise NotFollowed("returns what is not told")
        told = {*summary.places, *(p.var for p in summary.parameters), *(p.null for p in summary.parameters)}
        spoken = {input.var for input in summary.inputs} | {var for case in returns for var in case.then}
        if not spoken <= told:
            raise NotFollowed("reads or changes what pointers in memory lead to")

    def _bind(self, parameter: Parameter, argument: t.Term | Pointer) -> None:
        if parameter.object is None:
            if parameter.var is None:
                return
            if isinstance(argument, Pointer):
                raise NotFollowed("takes a pointer for an integer")
            value = self._caller.inside(argument)
            if parameter.type is not None and parameter.type.width == 1:
                value = t.ite(t.not_zero(value), t.ONE, t.ZERO)
            self._values[parameter.var] = as_type(value, parameter.var.type)
            return
        if not isinstance(argument, Pointer):
            raise NotFollowed("takes an integer for a pointer")
        owner, offset = self._caller.inside(argument.object), self._caller.inside(argument.offset)
        if parameter.null is not None:
            self._values[parameter.null] = t.ite(t.equals_zero(owner), t.ONE, t.ZERO)
            if owner is t.ZERO:
                return  # what it points to is not asked for
        found = owners(self._caller.graph, owner)
        numbers = [number for _, number in found or ()]
        if len(numbers) != 1 or self._caller.graph.objects[numbers[0]].kind not in _PLACED:
            raise NotFollowed(f"is given a pointer for {parameter.name} that may lead to several objects")
        first = self._places.setdefault(parameter.object, _Place(numbers[0], offset))
        if first.number != numbers[0]:
            raise NotFollowed("compares pointers into different objects")
        if parameter.var is not None:
            self._values[parameter.var] = offset - first.base if parameter.shared else t.ZERO

    def _check_apart(self) -> None:
        """That no two objects of the callee are one of the caller, where it writes any."""
        seen: dict[int, str] = {}
        for number, place in self._places.items():
            name = self._summary.objects[number].name if number in self._summary.objects else ""
            if self._changes and place.number in seen:
                raise NotFollowed(f"writes memory, and is given one object as {seen[place.number]} and as {name}")
            seen[place.number] = name

    def _granted_apart(self) -> Iterator[str]:
        """The assumptions that no object of the callee overlaps memory which the caller has written through pointers in
        memory. Raises :class:`NotFollowed` where one may.
        """
        graph, held = self._caller.graph, self._caller.held
        for pointee in sorted(number for number in self._caller.memory.written or () if number < 0):
            for place in self._places.values():
                if place.number in graph.objects:
                    needed = apart(graph, frozenset((pointee,)), frozenset((place.number,)))
                    if needed is None:
                        raise NotFollowed(f"may read {held.name_of(place.number)} through another pointer")
                    yield from needed
                else:
                    left, right = sorted((in_words(graph, pointee), held.name_of(place.number)))
                    yield f"{left} and {right} do not overlap"

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the callee takes for granted, as far as it is not sure here."""
        graph, numbers = self._caller.graph, [place.number for place in self._places.values()]
        unsure = any(
            one != other and one in graph.objects and other in graph.objects and may_be_one(graph, one, other)
            for one in numbers
            for other in numbers
        )
        adopted = any(number not in graph.objects for number in numbers)
        return (*self._told(self._summary.assumptions, apart=unsure or adopted), *self._apart_from_pointees)

    def of_case(self, case: FunctionCase) -> tuple[str, ...]:
        """What a case takes for granted."""
        return tuple(self._told(case.assumptions, apart=True))

    def _told(self, assumptions: Iterable[str], *, apart: bool) -> Iterator[str]:
        for text in assumptions:
            if text.endswith(" do not overlap"):
                if apart:
                    yield f"in calls of {self._summary.name}, {text}"
            else:
                yield f"in calls of {self._summary.name}, {text}" if text.startswith("accesses ") else text

    # -- memory at the call -------------------------------------------------------------------------------------------

    def _synced(self) -> Memory:
        """Memory where the caller's variables for parts of the objects lie in it."""
        memory, caller = self._caller.memory, self._caller
        contents = memory.contents
        for place in self._places.values():
            for var, info in _parts(caller.graph, place.number):
                type = t.IntType(8 * info.size, signed=var.type.signed)
                plain = not info.pointer_part and var.type.width == 8 * info.size
                value = caller.values.get(var, var) if plain else None
                contents = put(contents, self._array(place.number), single(type, t.const(info.offset), value))
        return replace(memory, contents=contents)

    def _array(self, number: int) -> str:
        """What the content of an object is called: variables have it to themselves where it has no other."""
        name = self._caller.held.name_of(number)
        return name if self._caller.held.numbers.get(name) == number else f"{name}#{number}"

    def _scalar(self, var: t.Var, info: VariableInfo) -> t.Term:
        """The value at the call of what the callee holds in a variable."""
        assert info.object is not None
        place = self._places.get(info.object)
        if place is None:
            raise NotFollowed("reads or changes what pointers in memory lead to")
        if info.pointer_part or var.type.width != 8 * info.size:
            raise NotFollowed(f"reads {info.shown}, which is no plain integer")
        found = self._element(place, t.const(info.offset), var.type, t.TRUE)
        if found is None:
            found = _UNKNOWN if var not in self._read else None
        if found is None:
            raise NotFollowed(f"reads {info.shown}, which is not known where it is called")
        return found

    @property
    def _read(self) -> frozenset[t.Var]:
        """The variables of which the summary speaks."""
        return frozenset(input.var for input in self._summary.inputs)

    def _element(self, place: _Place, offset: t.Term, type: t.IntType, given: t.Condition) -> t.Term | None:
        return self._caller.held.element(
            self._memory,
            place.number,
            self._array(place.number),
            place.base + offset,
            type,
            self._caller.deciding(given),
        )

    # -- what the summary says, here ----------------------------------------------------------------------------------

    def seen(self, node: t.Node, given: t.Condition = t.TRUE) -> t.Node | None:
        """What the callee's ``node`` is over the caller's entry; None where it reads what is not known."""
        is_known = True

        def of(array: str, offset: t.Term, type: t.IntType, there: t.Condition) -> t.Term:
            nonlocal is_known
            place = self._named(array)
            found = None if place is None else self._element(place, offset, type, there)
            is_known = is_known and found is not None
            return t.read(array, offset, type) if found is None else found

        decided = self._caller.deciding(given).without_decided(node, self._values)
        result = with_reads_where(decided, of, self._values, given)
        return without_closed(result) if is_known and _UNKNOWN not in result.variables else None

    def _named(self, array: str) -> _Place | None:
        number = next((number for number, held in self._summary.objects.items() if held.name == array), None)
        return None if number is None else self._places.get(number)

    def after(self, case: FunctionCase) -> tuple[Memory, dict[t.Var, t.Term]]:
        """What memory holds behind the call, and the values of the caller's variables that stand for parts of it."""
        if case.contents is None:
            raise NotFollowed("changes memory in a way that is not told")
        layers = list(self._layers(case))
        caller, contents = self._caller, self._memory.contents
        for number, layer in layers:
            contents = put(contents, self._array(number), layer)
        values: dict[t.Var, t.Term] = {}
        stored = caller.memory.contents
        for number in dict.fromkeys(number for number, _ in layers):
            parts = list(_parts(caller.graph, number))
            written = [layer for at, layer in layers if at == number]
            for var, info in parts:
                if any(self._may_hit(layer, info) for layer in written):
                    values[var] = self._fetched(Memory(contents, caller.memory.written), number, var, info)
            if caller.held.numbers.get(caller.held.name_of(number)) == number:
                for layer in written:
                    stored = put(stored, self._array(number), self._without(layer, [info for _, info in parts]))
        changed = frozenset(number for number, _ in layers)
        known = caller.memory.written
        return Memory(stored, None if known is None else known | changed), values

    def _layers(self, case: FunctionCase) -> Iterator[tuple[int, Layer]]:
        """What the case writes to the caller's objects, the oldest first."""
        for array, layers in (case.contents or {}).items():
            place = self._named(array)
            if place is None:
                raise NotFollowed(f"writes {array}, which its caller does not know")
            for layer in reversed(layers):
                yield place.number, self._layer(layer, place)
        for var, term in case.then.items():
            info = self._summary.places[var]
            assert info.object is not None
            described = self._summary.objects[info.object]
            if described.kind == "parameter" and described.size is not None:
                continue  # a copy of the callee's own
            place = self._places[info.object]
            plain = not info.pointer_part and var.type.width == 8 * info.size
            value = self.seen(term) if plain else None
            type = t.IntType(8 * info.size, signed=var.type.signed)
            told = value if isinstance(value, t.Term) else None
            yield place.number, single(type, place.base + info.offset, told)

    def _layer(self, layer: Layer, place: _Place) -> Layer:
        start, where = self.seen(layer.start), self.seen(layer.where)
        if not isinstance(start, t.Term) or not isinstance(where, t.Condition):
            raise NotFollowed("writes where something says that is not known where it is called")
        value = None if layer.value is None or where is t.FALSE else self.seen(layer.value, where)
        told = value if isinstance(value, t.Term) else None
        return replace(layer, start=place.base + start, where=where, value=told, pointer=None)

    def _may_hit(self, layer: Layer, info: VariableInfo) -> bool:
        """Whether a layer may be about a byte of what a variable stands for."""
        overlap = t.between(1 - layer.size, layer.offset - info.offset, info.size - 1)
        return self._caller.deciding(t.TRUE)(layer.where & overlap) is not t.FALSE

    def _without(self, layer: Layer, parts: Iterable[VariableInfo]) -> Layer:
        """The layer without what variables stand for."""
        where = layer.where
        for info in parts:
            if self._may_hit(layer, info):
                where = where & ~t.between(1 - layer.size, layer.offset - info.offset, info.size - 1)
        return layer if where is layer.where else replace(layer, where=self._caller.deciding(t.TRUE)(where))

    def _fetched(self, memory: Memory, number: int, var: t.Var, info: VariableInfo) -> t.Term:
        decide = self._caller.deciding(t.TRUE)
        array = self._array(number)
        found = self._caller.held.element(memory, number, array, t.const(info.offset), var.type, decide)
        if found is None or info.pointer_part or var.type.width != 8 * info.size:
            raise NotFollowed(f"changes {info.shown} in a way that is not known")
        return found


_UNKNOWN: Final = t.Var("|not known", t.INTEGERS)
"""Stands for a value of which the summary does not speak."""


def _parts(graph: Flowgraph, number: int) -> Iterator[tuple[t.Var, VariableInfo]]:
    """The variables that stand for parts of an object."""
    for var, info in graph.variables.items():
        if info.object == number and info.size:
            yield var, info


def as_type(value: t.Term, type: t.IntType) -> t.Term:
    """``value``, which the caller may have read with another sign, as ``type`` reads its bits."""
    return t.wrap(value, type) if type.width is not None else value
