"""What objects hold along a path: writes, byte by byte, over what they held first.

What an object held first are symbols of the :class:`PathDemands`, and so are pointers that lie in memory that is given:
each leads to an object of its own, or is null (lazy initialization: Khurshid, Păsăreanu and Visser, Generalized
symbolic execution for model checking and testing, TACAS 2003). That it may be one of the other objects is tried only
where the path demands it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from loopless import terms as t
from loopless.flowgraph.def_use import assigned_in
from loopless.flowgraph.memory.pointees import STANDING_IN
from loopless.flowgraph.model import NULL_OBJECT, Flowgraph, Kind, Load, MemoryObject
from loopless.flowgraph.model import Store as StoreTo
from loopless.limits.navigation import MAX_FILLED_BYTES
from loopless.navigation.store import NotFollowed, PathDemands, size_of
from loopless.records import dataclass


class NoWay(Exception):
    """A path ends here: what it does is undefined."""


@dataclass(frozen=True, slots=True)
class WrittenValue:
    """A value that was written, of a pointer with its object; ``size`` in bytes."""

    value: t.Term
    owner: t.Term | None
    size: int


@dataclass(frozen=True, slots=True)
class InitialByte:
    """The byte that lay in an object first; of objects whose lives begin anew, in the life of that number."""

    array: str
    offset: int


Byte = tuple[WrittenValue, int] | InitialByte
"""A byte of what was written, by its place in it, or of what was there first."""


@dataclass(frozen=True, slots=True)
class Led:
    """Where a pointer leads that lies in memory that is given: ``owner`` stands for the number of the object, which is
    ``number`` if it is one of its own; reads call that ``array``. ``shown``: how C names the place of the pointer.
    """

    owner: t.Var
    number: int
    array: str
    shown: str = ""


def pointer_size(graph: Flowgraph) -> int:
    """The bytes of a pointer, as far as the function tells by its accesses; else 8."""
    for block in graph.blocks.values():
        for statement in block.statements:
            match statement:
                case Load(target_object=t.Var(), type=type_) if type_.width is not None:
                    return size_of(type_)
                case StoreTo(value_object=owner, type=type_) if owner is not None and type_.width is not None:
                    return size_of(type_)
                case _:
                    pass
    return 8


class PathMemory:
    """The memory of one search. ``begun``: the globals that hold what the program gives them when the run begins;
    ``words``: how many argv has, and its object, where the run begins with ``main``. ``fixed``: what variables hold
    first, by choice.
    """

    def __init__(
        self,
        graph: Flowgraph,
        store: PathDemands,
        begun: frozenset[str] = frozenset(),
        words: tuple[t.Term, int] | None = None,
        fixed: Mapping[t.Var, int] = MappingProxyType({}),
    ) -> None:
        self.graph, self.store, self.words, self._fixed = graph, store, words, fixed
        self._pointer = pointer_size(graph)
        self._bytes: dict[tuple[str, int], Byte] = {}
        self._lives: dict[int, int] = {}
        self._allocated: dict[int, tuple[str, bool]] = {}
        self._allocating: dict[t.Var, int] = {}
        self._led: dict[int, Led] = {}
        self.pointers: dict[tuple[str, int], Led] = {}
        self._owners: dict[t.Var, Led] = {}
        self._tainted: dict[int, frozenset[int] | None] = {}
        self._undo: list[tuple[dict[Any, Any], Any, Any]] = []
        self.guessed = False
        """Whether one of several values that memory may hold was chosen."""
        self._next = max(graph.objects, default=0) + 1
        self._numbers = {found.symbol: number for number, found in graph.objects.items() if found.symbol}
        self._begun = {
            number: found
            for number, found in graph.objects.items()
            if found.content is not None and (found.constant or found.symbol in begun)
        }
        self._holding = {
            (info.object, info.offset): (var, info.pointer_part)
            for var, info in graph.variables.items()
            if info.object is not None and info.kind in (Kind.POINTEE, Kind.GLOBAL) and info.pointer_part != "offset"
        }
        self._moved = assigned_in(graph.blocks.values())
        self._names: dict[int, str] = {}
        self._by_name: dict[str, int] = {}
        for number, found in graph.objects.items():
            name = self._named(number, found)
            name = f"{name}~{number}" if name in self._by_name else name
            self._names[number], self._by_name[name] = name, number

    def _named(self, number: int, found: MemoryObject) -> str:
        if found.kind == "local":
            return f"{found.name}#{number}"
        if found.holder is not None and found.holder in self._holding:  # as reads call it
            name = self.graph.pointee_name(self._holding[found.holder][0])
            return name if name is not None else found.name
        return found.name

    # -- going back ---------------------------------------------------------------------------------------------------

    def mark(self) -> int:
        """Where the memory is."""
        return len(self._undo)

    def back(self, mark: int) -> None:
        """Forget what came after."""
        while len(self._undo) > mark:
            where, key, before = self._undo.pop()
            if before is None:
                del where[key]
            else:
                where[key] = before

    def _set(self, where: dict[Any, Any], key: Any, value: Any) -> None:
        self._undo.append((where, key, where.get(key)))
        where[key] = value

    # -- objects ------------------------------------------------------------------------------------------------------

    def array(self, owner: t.Term) -> str:
        """How reads call the object. Raises :class:`NotFollowed`, and :class:`NoWay` where there is none."""
        if isinstance(owner, t.Const):
            return self._array_of(owner.value)
        if not isinstance(owner, t.Var):
            raise NotFollowed
        forced = self.store.forced(owner)
        if forced is not None and forced in (self._names.keys() | self._led.keys() | self._allocated.keys() | {0}):
            return self._array_of(forced)
        led = self._owners.get(owner)
        if led is not None:
            self.guessed = True  # it may be one of the others
            if not self.store.demand([owner.eq(led.number)]):
                raise NoWay
            return led.array
        name = self.graph.pointee_name(owner)
        if name is None:
            raise NotFollowed
        if not self.store.demand([owner.ne(NULL_OBJECT)]):
            raise NotFollowed  # an address that is a number
        return name

    def _array_of(self, number: int) -> str:
        if number in self._led:
            return self._led[number].array
        if number in self._allocated:
            return self._allocated[number][0]
        if number not in self._names:
            raise NotFollowed
        life = self._lives.get(number, 0)
        return f"{self._names[number]}.{life}" if life else self._names[number]

    def _number(self, array: str) -> int | None:
        return self._by_name.get(array)

    def _is_own(self, array: str) -> bool:
        """Whether the run itself makes the object, so that nothing gives what it holds first."""
        return "#" in array

    def allocate(self, *, zeroed: bool) -> t.Term:
        """The number of a fresh object, or null: C lets allocations fail (ISO/IEC 9899:2018, 7.22.3)."""
        self._next += 1
        name = f"heap#{self._next}"
        self._set(self._allocated, self._next, (name, zeroed))
        owner = t.Var(f"&{name}", t.INTEGERS)
        self._set(self._allocating, owner, self._next)
        self.store.demand([owner.eq(self._next) | owner.eq(NULL_OBJECT)])
        return owner

    def succeeded(self, owner: t.Term) -> t.Term:
        """The object that is accessed, in which allocations have not failed where null would be accessed then. Raises
        :class:`NoWay`.
        """
        for var in sorted(owner.variables & self._allocating.keys(), key=lambda one: one.key):
            if t.substitute(owner, {var: t.ZERO}) == t.ZERO:
                there = t.const(self._allocating[var])
                if not self.store.demand([var.eq(there)]):
                    raise NoWay
                owner = t.substitute(owner, {var: there})
        return owner

    def expire(self, number: int) -> None:
        """Let an object be a new one from here on."""
        self._set(self._lives, number, self._lives.get(number, 0) + 1)

    def taint(self, objects: frozenset[int] | None) -> None:
        """Something that is not followed may have written these objects; None: any."""
        self._set(self._tainted, len(self._tainted), objects)

    def _check_taint(self, array: str) -> None:
        for objects in self._tainted.values():
            number = self._number(array)
            formal = number is None or self.graph.objects[number].kind in STANDING_IN
            if objects is None or formal or number in objects:
                self.guessed = True  # it is taken to hold what it held before

    # -- writes -------------------------------------------------------------------------------------------------------

    def write(self, array: str, offset: int, size: int, value: t.Term, owner: t.Term | None) -> None:
        """Let an integer, or a pointer, lie there."""
        written = WrittenValue(value, owner, size)
        for index in range(size):
            self._set(self._bytes, (array, offset + index), (written, index))

    def write_somewhere(
        self, array: str, offset: t.Term, places: Sequence[int], type: t.IntType, value: t.Term
    ) -> None:
        """Let an integer lie at one of some places that do not overlap. Raises :class:`NotFollowed`."""
        held = [self.read(array, place, type) for place in places]
        for place, before in zip(places, held, strict=True):
            found = t.ite(offset.eq(place), value, before)
            if found is not before:
                self.write(array, place, size_of(type), found, None)

    def choice(self, array: str, offset: t.Term, places: Sequence[int], type: t.IntType) -> t.Term:
        """The integer that lies at one of some places. Raises :class:`NotFollowed`."""
        found = self.read(array, places[-1], type)
        for place in reversed(places[:-1]):
            found = t.ite(offset.eq(place), self.read(array, place, type), found)
        return found

    def fill(self, array: str, offset: int, length: int, byte: t.Term) -> None:
        """Let bytes be all the same."""
        if length > MAX_FILLED_BYTES:
            raise NotFollowed
        written = WrittenValue(byte, None, 1)
        for index in range(length):
            self._set(self._bytes, (array, offset + index), (written, 0))

    def copy(self, target: tuple[str, int], source: tuple[str, int], length: int) -> None:
        """Let bytes be those of another place."""
        if length > MAX_FILLED_BYTES:
            raise NotFollowed
        self._check_taint(source[0])
        held = [self._byte(source[0], source[1] + index) for index in range(length)]
        for index, byte in enumerate(held):
            self._set(self._bytes, (target[0], target[1] + index), byte)

    def _byte(self, array: str, offset: int) -> Byte:
        return self._bytes.get((array, offset)) or InitialByte(array, offset)

    # -- reads --------------------------------------------------------------------------------------------------------

    def read(self, array: str, offset: int, type: t.IntType) -> t.Term:
        """The integer that lies there. Raises :class:`NotFollowed`."""
        if type.width == 1:  # a truth value in a byte of its own
            type = t.IntType(8, signed=False)
        if type.width is not None and type.width % 8:
            raise NotFollowed
        size = size_of(type)
        whole = self._whole(array, offset, size)
        if isinstance(whole, InitialByte):
            return self._first(whole, type)
        if whole is not None:
            if whole.owner is not None and whole.owner != t.ZERO:
                raise NotFollowed
            return whole.value if type.width is None else t.wrap(whole.value, type)
        value: t.Term = t.ZERO
        for at, piece in self._pieces(array, offset, size):
            value = value + piece * (1 << (8 * at))
        if type.width is None and not isinstance(value, t.Const):
            raise NotFollowed
        return t.wrap(value, type)

    def _pieces(self, array: str, offset: int, size: int) -> Iterator[tuple[int, t.Term]]:
        """What lies there, as few unsigned integers side by side, each behind its first byte. Raises
        :class:`NotFollowed`.
        """
        at = 0
        while at < size:
            held = self._byte(array, offset + at)
            end = at + 1
            if isinstance(held, InitialByte):
                known = self._known_byte(array, offset + at)
                yield at, t.const(known) if known is not None else self._first(held, t.IntType(8, signed=False))
            else:
                written, index = held
                if written.owner is not None and written.owner != t.ZERO:
                    raise NotFollowed
                while end < size and self._byte(array, offset + end) == (written, index + end - at):
                    end += 1
                above = written.value // (1 << (8 * index))
                yield at, above % (1 << (8 * (end - at)))
            at = end

    def _known_byte(self, array: str, offset: int) -> int | None:
        held = self._byte(array, offset)
        if isinstance(held, InitialByte):
            first = self._first(held, t.IntType(8, signed=False))
            return first.value if isinstance(first, t.Const) else None
        written, index = held
        if not isinstance(written.value, t.Const) or (written.owner is not None and written.owner != t.ZERO):
            return None
        return (written.value.value >> (8 * index)) & 255

    def _whole(self, array: str, offset: int, size: int) -> WrittenValue | InitialByte | None:
        """What lies there, if it was written, or was first, as one."""
        self._check_taint(array)
        held = self._byte(array, offset)
        for index in range(1, size):
            other = self._byte(array, offset + index)
            match held, other:
                case InitialByte(array=name, offset=at), InitialByte() if other == InitialByte(name, at + index):
                    continue
                case (written, 0), (same, number) if written is same and number == index:
                    continue
                case _:
                    return None
        if isinstance(held, InitialByte):
            return held
        written, index = held
        return written if index == 0 and written.size == size else None

    def _first(self, place: InitialByte, type: t.IntType) -> t.Term:
        """The integer that lay somewhere first: a number where that is known."""
        number = self._number(place.array)
        size = size_of(type)
        known = self._begun.get(number) if number is not None else None
        if known is not None and known.content is not None and 0 <= place.offset <= len(known.content) - size:
            if any(at < place.offset + size and place.offset < at + self._pointer for at, _, _ in known.relocations):
                raise NotFollowed
            held = known.content[place.offset : place.offset + size]
            return t.const(type.wrap(int.from_bytes(held, "little")))
        if any(name == place.array and zeroed for name, zeroed in self._allocated.values()):
            return t.ZERO
        holding = self._holding.get((number, place.offset)) if number is not None else None
        if holding is not None:
            if holding[1] or self.graph.variables[holding[0]].size != size or holding[0] in self._moved:
                raise NotFollowed
            begins = self._fixed.get(holding[0])
            first = holding[0] if begins is None else t.const(begins)
            return first if type.width is None else t.wrap(first, type)
        return self.store.cell(place.array, place.offset, type)

    def pointer(self, array: str, offset: int, shown: str = "") -> tuple[t.Term, t.Term]:
        """The object and the offset of the pointer that lies there, which C calls ``shown``.

        Raises:
            NotFollowed: it is not known.
        """
        whole = self._whole(array, offset, self._pointer)
        if isinstance(whole, WrittenValue):
            if whole.owner is None and whole.value != t.ZERO:
                raise NotFollowed
            return whole.owner or t.ZERO, whole.value
        if whole is None:
            if any(self._known_byte(array, offset + index) != 0 for index in range(self._pointer)):
                raise NotFollowed
            return t.ZERO, t.ZERO
        return self._first_pointer(whole, shown)

    def _first_pointer(self, place: InitialByte, shown: str) -> tuple[t.Term, t.Term]:
        number = self._number(place.array)
        known = self._begun.get(number) if number is not None else None
        if known is not None and known.content is not None and 0 <= place.offset <= len(known.content) - self._pointer:
            for at, symbol, behind in known.relocations:
                if at == place.offset and symbol in self._numbers:
                    return t.const(self._numbers[symbol]), t.const(behind)
            if any(abs(at - place.offset) < self._pointer for at, _, _ in known.relocations):
                raise NotFollowed
            if any(known.content[place.offset : place.offset + self._pointer]):
                raise NotFollowed
            return t.ZERO, t.ZERO
        if any(name == place.array and zeroed for name, zeroed in self._allocated.values()):
            return t.ZERO, t.ZERO
        if self._is_own(place.array) or (number is not None and (number, place.offset) in self._holding):
            raise NotFollowed
        led = self.pointers.get((place.array, place.offset)) or self._lead(place, number, shown)
        return led.owner, t.ZERO

    def _lead(self, place: InitialByte, number: int | None, shown: str) -> Led:
        """A pointer that is seen for the first time."""
        self._next += 1
        name = f"{place.array}[{place.offset}]"
        led = Led(t.Var(f"&{name}", t.INTEGERS), self._next, name, shown or f"byte {place.offset} of {place.array}")
        self._set(self.pointers, (place.array, place.offset), led)
        self._set(self._owners, led.owner, led)
        self._set(self._led, led.number, led)
        if self.words is not None and number == self.words[1] and not self.store.demand(self._word(led.owner, place)):
            raise NoWay
        return led

    def _word(self, owner: t.Var, place: InitialByte) -> list[t.Condition]:
        """Argv has argc words, and a null pointer behind them (C, 5.1.2.2.1)."""
        assert self.words is not None
        count = self.words[0]
        index, rest = divmod(place.offset, self._pointer)
        if rest or index < 0:
            raise NoWay
        there = count.ge(index + 1) & owner.ne(0)
        behind = count.eq(index) & owner.eq(0)
        return [there | behind]

    def given(self) -> Iterator[tuple[t.Condition, t.Condition]]:
        """Of each pointer that is a variable and of which something is demanded, that it is null or leads to an object,
        and that it leads to the beginning of that; of each allocation, that it does not fail, as in native runs.
        """
        for owner, number in self._allocating.items():
            if self.store.is_used(owner):
                yield owner.eq(number), t.TRUE
        for var, info in self.graph.variables.items():
            if info.pointer_part == "offset" and info.object is not None:
                owner, part = self._holding.get((info.object, info.offset), (var, ""))
                if part == "object" and (self.store.is_used(owner) or self.store.is_used(var)):
                    begins = var.eq(0)
                    yield owner.ne(NULL_OBJECT) | begins, begins

    def aliases(self) -> Mapping[t.Var, int]:
        """The pointers in memory that is given that must lead where a parameter or another pointer leads."""
        named = {n for n, found in self.graph.objects.items() if found.kind in ("parameter", *STANDING_IN)}
        halves = [owner for owner, part in self._holding.values() if part == "object"]
        forced = {owner: self.store.forced(owner) for owner in (*halves, *self._owners)}
        return {owner: number for owner, number in forced.items() if number is not None and number in named}

    def led(self) -> Mapping[tuple[str, int], Led]:
        """The pointers that the path found in memory that is given, by the name of the object and their places."""
        return dict(self.pointers)
