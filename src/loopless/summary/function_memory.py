"""What memory holds on a way through a function: what it held at the entry, under layers for what was written since.

Where nothing is known of what is written, a layer says so, and only reads of it are without an answer. Objects of the
function itself hold nothing that the entry decides: such a layer is below all others of theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from types import MappingProxyType
from typing import Final

from loopless import terms as t
from loopless.flowgraph.memory.statement_effects import Written, apart, changed_by
from loopless.flowgraph.model import (
    OBJECT_PART,
    Call,
    Copy,
    Expire,
    Fill,
    Flowgraph,
    Load,
    MemoryObject,
    Store,
)
from loopless.limits.flowgraph import MAX_LOOKUP_ENTRIES
from loopless.limits.summary import MAX_LAYERS
from loopless.logic import Intervals, feasible
from loopless.paths.build import without_wraps
from loopless.paths.readings import not_null
from loopless.records import dataclass
from loopless.terms.contents import (
    INDEX,
    Contents,
    Decide,
    Layer,
    Layers,
    Overlapping,
    element,
    residue,
    single,
    unknown,
)
from loopless.terms.knowing import Known
from loopless.terms.memory_names import bytes_of

_BYTE: Final = t.IntType(8, signed=False)
_NO_POINTEES: Final[Mapping[t.Var, int]] = MappingProxyType({})

Inside = Callable[[t.Term], t.Term]
"""A term over the values at the entry."""


@dataclass(frozen=True, slots=True)
class Memory:
    """``contents``: what memory holds, over what it held at the entry. ``written``: the numbers of the objects that are
    surely all that was written since, negative ones as in :attr:`.Flowgraph.unnumbered`; None where that may be any,
    and then ``contents`` tell nothing. ``nodes``: where only members of nodes of lists were written, which may be any
    objects, what those hold, by the names that reads have of lists; empty where that is not so.
    """

    contents: Contents = field(default_factory=dict)
    written: frozenset[int] | None = frozenset()
    nodes: Contents = field(default_factory=dict)

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for equal memories."""
        told = (tuple(sorted(one.items(), key=lambda pair: pair[0])) for one in (self.contents, self.nodes))
        return *told, self.written

    def hits(self, number: int) -> bool:
        """Whether the object of this number may have been written."""
        return self.written is None or number in self.written

    def spares(self, graph: Flowgraph, objects: frozenset[int] | None) -> bool:
        """Whether nothing was written where an access is, which may be in these objects."""
        written = Written(self.written or ())
        written.anything, written.some = self.written is None, self.written != frozenset()
        return written.spares(graph, objects)


class Deciding:
    """Decides conditions where ``given`` ones hold: by their forms, by intervals, by regions; no solver is asked."""

    def __init__(self, given: Iterable[t.Condition]) -> None:
        self._given = tuple(given)
        self._whole = t.conjunction(self._given)
        self._by_form = Known(self._given)
        self._intervals: Intervals | None = None
        self._found: dict[t.Condition, t.Condition] = {}

    def __call__(self, condition: t.Condition) -> t.Condition:
        found = self._found.get(condition)
        if found is None:
            found = self._found[condition] = self._decided(self._by_form.decide(condition))
        return found

    def fitting(self, term: t.Term) -> t.Term:
        """``term`` without reductions that change nothing."""
        return without_wraps(term, self._whole)

    def without_decided(self, node: t.Node, values: Mapping[t.Var, t.Term]) -> t.Node:
        """``node`` without comparisons that are decided where variables have these ``values``: what is not asked need
        not be known. Comparisons of elements stay, as they may be read of other contents.
        """

        def decided(compared: t.Condition) -> t.Condition:
            if any(isinstance(part, t.Read) for part in t.walk_inside(compared)):
                return compared
            found = self(t.substitute(compared, values))
            return found if isinstance(found, t.Truth) else compared

        reads = isinstance(node, t.Condition) and any(isinstance(part, t.Read) for part in t.walk_inside(node))
        return t.with_comparisons(node, decided) if reads and isinstance(node, t.Condition) else node

    def under(self, condition: t.Condition) -> Deciding:
        """The same where ``condition`` holds, too."""
        return Deciding((*self._given, *t.conjuncts(condition)))

    def _decided(self, condition: t.Condition) -> t.Condition:
        if isinstance(condition, t.Truth):
            return condition
        if self._intervals is None:
            self._intervals = Intervals(self._given)
        known = self._intervals.decides(condition)
        if known is not None:
            return t.TRUE if known else t.FALSE
        if not feasible(self._whole & condition, solver=False):
            return t.FALSE
        if not feasible(self._whole & ~condition, solver=False):
            return t.TRUE
        return condition


class FunctionMemory:
    """How the statements of a function change what memory holds, and what is read of that."""

    def __init__(self, graph: Flowgraph) -> None:
        self._graph = graph
        self.objects: dict[int, MemoryObject] = dict(graph.objects)
        self.numbers = _numbers(graph)
        """The numbers of objects by the names that reads have."""
        self.pointees, self.granted = _pointees(graph)
        """By the object of a pointer the negative number of the object that it points to where the function begins, and
        what is taken for granted for all of these.
        """
        for owner, number in self.pointees.items():
            name = graph.pointee_name(owner)
            assert name is not None
            self.objects[number] = MemoryObject(number, name, "pointee", None)
            self.numbers.setdefault(name, number)

    def at_entry(self, written: Written) -> Memory:
        """What memory holds where the function begins, which changes the objects ``written``: its own objects hold what
        nobody has told; those that it never changes are like variables of its own, and reads of them stand for what
        they hold.
        """
        objects = [self.objects[number] for number in self.numbers.values() if written.hits(number)]
        return Memory({found.name: (unknown(found.size),) for found in objects if found.kind == "local"})

    def adopted(self, described: MemoryObject) -> int:
        """The number of a global, which the function itself may not name."""
        for number, found in self.objects.items():
            if found.kind == described.kind and found.symbol == described.symbol:
                return number
        number = max(self.objects, default=0) + 1
        name = described.name if described.name not in self.numbers else described.symbol
        self.objects[number] = replace(described, number=number, name=name)
        self.numbers.setdefault(name, number)
        return number

    def name_of(self, number: int) -> str:
        """What reads call the object."""
        return self.objects[number].name

    def is_own(self, array: str) -> bool:
        """Whether an object is of the function itself, so that callers see nothing of it: a structure that it is given
        is a copy.
        """
        found = self.objects.get(self.numbers.get(array, -1))
        return found is not None and (found.kind == "local" or (found.kind == "parameter" and found.size is not None))

    def owners(self, owner: t.Term) -> list[tuple[t.Condition, int]] | None:
        """As :func:`owners`, also for pointers that lead where they did when the function began."""
        return owners(self._graph, owner, self.pointees)

    # -- writing ------------------------------------------------------------------------------------------------------

    def after(
        self, memory: Memory, statement: Store | Fill | Copy | Expire | Call, inside: Inside, decide: Deciding
    ) -> Memory:
        """The memory behind a statement that changes nothing else."""
        match statement:
            case Expire(object=number):
                return memory if memory.written is None else self._begun_anew(memory, number)
            case Store() | Fill() | Copy():
                return self._after_write(memory, statement, inside, decide)
            case Call():
                return self.lost(memory, changed_by(self._graph, statement))

    def lost(self, memory: Memory, written: Written) -> Memory:
        """The memory in which objects hold anything, that may have been ``written``."""
        if not written.some:
            return memory
        if written.anything or memory.written is None:
            return Memory({}, None)
        known = memory.written | written
        for number in sorted(written):
            memory = self._begun_anew(memory, number)
        return replace(memory, written=known)

    def _begun_anew(self, memory: Memory, number: int) -> Memory:
        held = self.objects.get(number)
        if held is None or self.numbers[held.name] != number:
            return memory
        layer = unknown(held.size if held.kind == "local" else None)
        return replace(memory, contents=put(memory.contents, held.name, layer))

    def _after_write(self, memory: Memory, statement: Store | Fill | Copy, inside: Inside, decide: Deciding) -> Memory:
        address = statement.target if isinstance(statement, Copy) else statement.address
        places = self.owners(inside(address.object))
        if memory.written is None or places is None:
            return self.lost(memory, changed_by(self._graph, statement))
        contents = memory.contents
        for there, number in places:
            layer = self._layer(memory, statement, number, inside, decide)
            where = decide(t.conjunction((there, layer.where)))
            contents = put(contents, self.objects[number].name, replace(layer, where=where))
        return Memory(contents, memory.written | {number for _, number in places})

    def _layer(
        self, memory: Memory, statement: Store | Fill | Copy, number: int, inside: Inside, decide: Deciding
    ) -> Layer:
        """What a statement writes to an object of this number."""
        match statement:
            case Store():
                return _stored(statement, inside)
            case Fill():
                return self._filled(statement, number, inside, decide)
            case Copy():
                return self._copied(memory, statement, number, inside, decide)

    def _filled(self, fill: Fill, number: int, inside: Inside, decide: Deciding) -> Layer:
        start, length = inside(fill.address.offset), decide.fitting(inside(fill.length))
        type = self._element_type((number,), (start, length))
        size = bytes_of(type) or 1
        byte = t.wrap(inside(fill.byte), _BYTE)
        value = t.wrap(byte * int.from_bytes(b"\1" * size, "little"), type)
        return Layer(type, start, size, _below(length, size), value)

    def _copied(self, memory: Memory, copy: Copy, number: int, inside: Inside, decide: Deciding) -> Layer:
        start, length = inside(copy.target.offset), decide.fitting(inside(copy.length))
        begin = inside(copy.source.offset)
        sources = self.owners(inside(copy.source.object))
        numbers = [number, *(source for _, source in sources or ())]
        type = self._element_type(numbers, (start, length, begin))
        size = bytes_of(type) or 1
        where = _below(length, size)
        value: t.Term | None = None
        if sources is not None:
            value = self._first_values(sources, begin, type)
        if sources is not None and value is None:
            value = self.held(memory, sources, begin + INDEX * size, type, decide.under(where))
        return Layer(type, start, size, where, value)

    def _first_values(
        self, sources: Sequence[tuple[t.Condition, int]], begin: t.Term, type: t.IntType
    ) -> t.Term | None:
        """Element :data:`INDEX` of what a variable is initialized with; None where that is no short table."""
        source = self.objects[sources[0][1]]
        content, size = source.content, bytes_of(type)
        if len(sources) > 1 or not source.constant or content is None or source.relocations or not size:
            return None
        if not isinstance(begin, t.Const) or begin.value < 0 or len(content) - begin.value > size * MAX_LOOKUP_ENTRIES:
            return None
        parts = (content[at : at + size] for at in range(begin.value, len(content) - size + 1, size))
        return t.table(INDEX, [type.wrap(int.from_bytes(part, "little")) for part in parts])

    def _element_type(self, numbers: Iterable[int], offsets: Sequence[t.Term]) -> t.IntType:
        """As what the bytes of a row are told: as elements of one of the objects where the row goes from element to
        element, else as bytes.
        """
        for number in numbers:
            type = self.objects[number].element
            size = None if type is None or type.width is None or type.width % 8 else type.width // 8
            if type is not None and size is not None and all(residue(offset, size) == 0 for offset in offsets):
                return type
        return _BYTE

    # -- reading ------------------------------------------------------------------------------------------------------

    def held(
        self,
        memory: Memory,
        places: Sequence[tuple[t.Condition, int]],
        offset: t.Term,
        type: t.IntType,
        decide: Decide,
    ) -> t.Term | None:
        """The element of ``type`` at this byte of one of the objects; None where it is not known."""
        value: t.Term | None = None
        for there, number in reversed(places):
            found = self._held_in(memory, number, offset, type, decide)
            if found is None:
                return None
            value = found if value is None else t.ite(there, found, value)
        return value

    def _held_in(self, memory: Memory, number: int, offset: t.Term, type: t.IntType, decide: Decide) -> t.Term | None:
        return self.element(memory, number, self.objects[number].name, offset, type, decide)

    def element(
        self, memory: Memory, number: int, array: str, offset: t.Term, type: t.IntType, decide: Decide
    ) -> t.Term | None:
        """As :meth:`held`, of an object whose content is called ``array``."""
        if memory.written is None and not self.objects[number].constant:
            return None
        try:
            return element(_of_whole_bytes(memory.contents, type), array, offset, type, decide)
        except Overlapping:
            return None


def _numbers(graph: Flowgraph) -> dict[str, int]:
    """The numbers of objects by their names. One that is variables altogether may have the name of another."""
    variables = {info.object for info in graph.variables.values()}
    objects = sorted(graph.objects.items(), key=lambda pair: pair[1].kind == "local" and pair[0] in variables)
    found: dict[str, int] = {}
    for number, held in objects:
        found.setdefault(held.name, number)
    return found


# -- layers -----------------------------------------------------------------------------------------------------------


def put(contents: Contents, array: str, layer: Layer) -> Contents:
    """The contents with ``layer`` on top of what the object holds. Layers that it hides altogether are left out."""
    if layer.where is t.FALSE:
        return contents
    below = () if _is_whole(layer) else tuple(old for old in contents.get(array, ()) if not _hides(layer, old))
    return {**contents, array: (layer, *below)}


def _is_whole(layer: Layer) -> bool:
    return layer.where is t.TRUE and layer.size == layer.stride


def _hides(new: Layer, old: Layer) -> bool:
    return _place(new) == _place(old)


def _place(layer: Layer) -> tuple[object, ...]:
    """What two layers have in common that are about the same elements."""
    return layer.size, layer.start, layer.stride, layer.where


def owners(
    graph: Flowgraph, owner: t.Term, pointees: Mapping[t.Var, int] = _NO_POINTEES
) -> list[tuple[t.Condition, int]] | None:
    """The numbered objects that a pointer which is not null may be in, with the condition of each; None where it may be
    in others. ``pointees``: numbers for what variables point to.
    """
    owner = not_null(owner)
    match owner:
        case t.Const(value=number):
            return [(t.TRUE, number)] if number in graph.objects else None
        case t.Ite(condition=condition, then=then, otherwise=otherwise):
            first, second = owners(graph, then, pointees), owners(graph, otherwise, pointees)
            if first is None or second is None:
                return None
            found: dict[int, t.Condition] = {}
            for side, pairs in ((condition, first), (~condition, second)):
                for there, number in pairs:
                    found[number] = found.get(number, t.FALSE) | (side & there)
            return [(there, number) for number, there in found.items()]
        case t.Var() if owner in pointees:
            return [(t.TRUE, pointees[owner])]
        case _:
            return None


def _pointees(graph: Flowgraph) -> tuple[dict[t.Var, int], tuple[str, ...]]:
    """What pointers in memory lead to where the function begins: the negative number of the object, by the variable
    that is the object of the pointer. The second part lists what is granted: that no other access meets these objects.
    """
    words = {said: number for number, said in graph.unnumbered.items() if said}
    accessed = _accessed(graph)
    found: dict[t.Var, int] = {}
    granted: dict[str, None] = {}
    for var, info in sorted(graph.variables.items(), key=lambda pair: pair[0].key):
        number = words.get(f"what {var.name.removesuffix(OBJECT_PART)} points to")
        if number is None or info.pointer_part != "object" or not info.is_source or accessed is None:
            continue
        needed = apart(graph, frozenset((number,)), accessed - {number})
        if needed is not None and graph.pointee_name(var) is not None:
            found[var] = number
            granted |= dict.fromkeys(needed)
    return found, tuple(granted)


def _accessed(graph: Flowgraph) -> frozenset[int] | None:
    """The objects that the function accesses, but for calls that may change any; None where these may be any."""
    found: set[int] = set()
    for block in graph.blocks.values():
        for statement in block.statements:
            match statement:
                case Load(address=at) | Store(address=at) | Fill(address=at):
                    places = [(at, statement.objects)]
                case Copy(target=to, source=source):
                    places = [(to, statement.objects), (source, None)]
                case Call():
                    found |= (statement.objects or frozenset()) | (statement.looks or frozenset())
                    continue
                case _:
                    continue
            for address, objects in places:
                if isinstance(address.object, t.Const):
                    found |= {address.object.value} & graph.objects.keys()
                elif objects is None:
                    return None
                else:
                    found |= objects
    return frozenset(found)


def _stored(store: Store, inside: Inside) -> Layer:
    offset = inside(store.address.offset)
    if bytes_of(store.type) is None:
        return unknown()
    if store.type.width is None or store.type.width % 8 or store.value_object is not None or _is_unbounded(store.value):
        return single(store.type, offset, None)
    return single(store.type, offset, inside(store.value))


def _is_unbounded(value: t.Term) -> bool:
    """Whether a value is of integers without a width, of which memory holds what fits there."""
    return any(var.type.width is None for var in value.variables)


def _below(length: t.Term, size: int) -> t.Condition:
    """The indices of the elements of a row of so many bytes."""
    return t.at_most_zero(-INDEX) & (INDEX * size).lt(length)


def _of_whole_bytes(contents: Contents, type: t.IntType) -> Contents:
    """The contents as they tell elements of ``type``: not of truth values, which another byte than 0 and 1 is none of,
    nor of what else is no row of bytes.
    """
    if type.width is None or type.width % 8 == 0:
        return contents
    return {array: tuple(replace(layer, value=None) for layer in layers) for array, layers in contents.items()}


# -- ways that meet ---------------------------------------------------------------------------------------------------


def met(memories: Sequence[Memory], conditions: Sequence[Sequence[t.Condition]]) -> Memory | None:
    """One memory for those of ways that meet, on each of which ``conditions`` hold that exclude those of the others;
    None where that would have too many layers, or one of them is not told.
    """
    written = frozenset[int]()
    for memory in memories:
        if memory.written is None:
            return None
        written |= memory.written
    guards = _guards(conditions)
    if t.TRUE in guards:
        return None
    arrays = dict.fromkeys(array for memory in memories for array in memory.contents)
    contents = {array: _joined([memory.contents.get(array, ()) for memory in memories], guards) for array in arrays}
    if sum(len(layers) for layers in contents.values()) > MAX_LAYERS:
        return None
    return Memory(contents, written)


def _guards(conditions: Sequence[Sequence[t.Condition]]) -> list[t.Condition]:
    """What tells each of several ways from the others, where a run goes one of them."""
    common = frozenset(conditions[0]).intersection(*conditions[1:])
    rests = [[part for part in parts if part not in common] for parts in conditions]
    guards = [t.conjunction(rest) for rest in rests]
    if len(guards) == 2:
        short = min((0, 1), key=lambda at: len(rests[at]))
        guards[1 - short] = ~guards[short]
    return guards


def _joined(sides: Sequence[Layers], guards: Sequence[t.Condition]) -> Layers:
    """What one object holds by the way that was gone."""
    shared = _shared(sides)
    heads = [list(layers[: len(layers) - shared]) for layers in sides]
    made: list[Layer] = []  # the oldest first
    while all(heads) and len({_place(head[-1]) for head in heads}) == 1:
        value = _choice([head[-1].value for head in heads], guards)
        if value is None:
            break
        made.append(replace(heads[0][-1], value=value))
        for head in heads:
            head.pop()
    alike: dict[Layers, t.Condition] = {}
    for head, guard in zip(heads, guards, strict=True):
        alike[tuple(head)] = alike.get(tuple(head), t.FALSE) | guard
    for group, guard in alike.items():
        made += [replace(layer, where=layer.where & guard) for layer in reversed(group)]
    return (*reversed(made), *sides[0][len(sides[0]) - shared :])


def _shared(sides: Sequence[Layers]) -> int:
    """How many of the oldest layers are the same everywhere."""
    count = 0
    for layers in zip(*(reversed(side) for side in sides), strict=False):
        if any(layer != layers[0] for layer in layers):
            break
        count += 1
    return count


def _choice(values: Sequence[t.Term | None], guards: Sequence[t.Condition]) -> t.Term | None:
    """The value by the way that was gone; None where some way has none."""
    found = values[-1]
    for value, guard in zip(reversed(values[:-1]), reversed(guards[:-1]), strict=True):
        if value is None or found is None:
            return None
        found = t.ite(guard, value, found)
    return found
