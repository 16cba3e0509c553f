"""Memory of interpreted runs: the objects that there are, and what activations call them.

Functions number objects each in their own way (see :class:`loopless.flowgraph.model.MemoryObject`). A
:class:`ActivationMemory` translates between the numbers of one activation and the storages, which all activations of a
run share.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from loopless.check.interpreter.naming import symbol_of
from loopless.check.interpreter.storage import (
    Content,
    Storage,
    blank,
    copy_bytes,
    fill_bytes,
    initialise,
    known,
    load_pointer_from,
    put_cell,
    read_slowly,
    store_cell,
    store_slowly,
)
from loopless.check.interpreter.values import MissingValue, Stop, Value
from loopless.flowgraph.model import NULL_OBJECT, MemoryObject
from loopless.limits.check import MAX_COMPARED_BYTES, MAX_OBJECT_BYTES
from loopless.records import dataclass


@dataclass(slots=True)
class Mark:
    """The state of memory at one moment, to compare with later."""

    version: int
    contents: list[tuple[Storage, Content]] | None


class World:
    """The memory of one run: globals by symbol, and everything that is alive."""

    def __init__(
        self,
        describe: Callable[[str], MemoryObject | None] | None = None,
        overrides: Mapping[str, int] | None = None,
    ) -> None:
        """``describe`` gives the description of any global by its symbol; ``overrides`` other initial values of
        scalar globals, by symbol.
        """
        self.globals: dict[str, Storage] = {}
        self.describe = describe or (lambda _: None)
        self.overrides = dict(overrides or {})
        self.alive: dict[int, Storage] = {}
        self.version = 0
        self.bytes = 0

    def named(self, symbol: str, pointer_size: int) -> Storage:
        """The storage of a global; without a description its content comes with the first function that has one."""
        described = None if symbol in self.globals else self.describe(symbol)
        if described is not None:
            return self.filled(described, pointer_size)
        return self._named(symbol)

    def _named(self, symbol: str) -> Storage:
        found = self.globals.get(symbol)
        if found is None:
            found = self.globals[symbol] = Storage(symbol, bytearray(), bytearray(), 0, -1, symbol=symbol)
            self.add(found)
        return found

    def filled(self, described: MemoryObject, pointer_size: int) -> Storage:
        """The storage of a global, with the content that it has at the start of the program."""
        symbol = symbol_of(described)
        found = self._named(symbol)
        if found.size < 0 and described.size is not None and described.content is not None:
            initialise(found, described)
            self.bytes += found.size
            self.version += 1
            for at, target, offset in described.relocations:
                put_cell(found, at, (self.named(target, pointer_size), offset, pointer_size))
            if symbol in self.overrides:
                store_slowly(found, 0, found.size, self.overrides[symbol])
        return found

    def add(self, storage: Storage) -> Storage:
        """Count a new storage among those alive."""
        self.alive[id(storage)] = storage
        self.bytes += max(0, storage.size)
        self.version += 1
        if self.bytes > 4 * MAX_OBJECT_BYTES:
            raise Stop("unknown", "the run takes more memory than the interpreter holds")
        return storage

    def end(self, storage: Storage, how: str) -> None:
        """The storage's life is over; ``how`` says by what."""
        storage.dead = how
        if self.alive.pop(id(storage), None) is not None:
            self.bytes -= max(0, storage.size)
            self.version += 1

    def mark(self) -> Mark:
        """The present state."""
        if self.bytes > MAX_COMPARED_BYTES:
            return Mark(self.version, None)
        return Mark(self.version, [(storage, storage.content()) for storage in self.alive.values()])

    def same(self, mark: Mark) -> bool:
        """Whether memory surely holds what it held at the mark."""
        if mark.version == self.version:
            return True
        if mark.contents is None or len(mark.contents) != len(self.alive):
            return False
        return all(
            storage is held and storage.content() == content
            for storage, (held, content) in zip(self.alive.values(), mark.contents, strict=True)
        )


class ActivationMemory:
    """The memory as one activation of a function sees it: by the numbers of its flowgraph."""

    def __init__(
        self, world: World, objects: Mapping[int, MemoryObject], pointer_size: int, *, mathematical: bool = False
    ) -> None:
        self.world = world
        self.objects = objects
        self.pointer_size = pointer_size
        self.mathematical = mathematical
        self.places: dict[int, tuple[Storage, int]] = {}
        self.numbers: dict[int, int] = {}
        self.owned: list[Storage] = []
        self.null: set[int] = set()
        self.watching = True
        """Whether the function's own statements access memory, not library functions that it calls."""
        self.unbound = {number for number, described in objects.items() if described.kind == "pointee"}
        self._fresh = max(objects, default=0) + 1

    # ------------------------------------------------------------------------------------------- objects and numbers

    def place(self, number: int) -> tuple[Storage, int]:
        """The storage of an object and where in it the object's offset 0 lies."""
        found = self.places.get(number)
        return found if found is not None else self._bind(number)

    def bind(self, number: int, storage: Storage, base: int) -> None:
        """From now on ``number`` stands for ``storage`` from byte ``base`` on."""
        self.places[number] = (storage, base)
        self.numbers[id(storage)] = number
        self.unbound.discard(number)

    def _bind(self, number: int) -> tuple[Storage, int]:
        if number == NULL_OBJECT:
            raise Stop("undefined", "access through a null pointer")
        described = self.objects.get(number)
        if described is None:
            raise Stop("unknown", f"access to memory object {number}, which the flowgraph does not describe")
        match described.kind:
            case "global":
                storage = self.world.filled(described, self.pointer_size)
            case "local":
                if described.size is None:
                    raise Stop("unknown", f"the size of {described.name} is not known")
                storage = self.world.add(blank(described.name, described.size))
                self.owned.append(storage)
            case "null":
                raise Stop("undefined", "access through a null pointer")
            case "dead":
                raise Stop("undefined", "access to an object whose lifetime is over")
            case "parameter" if number in self.null:
                raise Stop("undefined", f"access through {described.name}, which is null")
            case "parameter":
                raise Stop("unknown", f"what the parameter {described.name} points to is not given")
            case "pointee" if number in self.null:
                raise Stop("undefined", f"access through {described.name}, which is null")
            case "pointee":
                raise Stop("unknown", f"what {described.name} points to when the function begins is not given")
            case _:
                raise Stop("unknown", f"access to {described.name}, which is a {described.kind}")
        self.bind(number, storage, 0)
        return storage, 0

    def number_of(self, storage: Storage | None, offset: int) -> tuple[int, int]:
        """A pointer in this activation's numbers; an object without one gets one."""
        if storage is None:
            return NULL_OBJECT, offset
        number = self.numbers.get(id(storage))
        if number is None and storage.symbol:
            for static, described in self.objects.items():
                if described.kind == "global" and symbol_of(described) == storage.symbol:
                    number = static
                    self.place(static)
        if number is None:
            number = self._fresh
            self._fresh += 1
            self.bind(number, storage, 0)
        return number, offset - self.places[number][1]

    def pointer(self, number: int, offset: int) -> tuple[Storage | None, int]:
        """The storage and the offset in it that a pointer of this activation means."""
        if number == NULL_OBJECT or number in self.null:
            return None, offset
        storage, base = self.place(number)
        return storage, offset + base

    def allocate(self, size: int, zeroed: bool) -> int:  # noqa: FBT001
        """The number of a fresh object."""
        if size < 0:
            raise Stop("undefined", f"an object of {size} bytes")
        storage = self.world.add(blank("allocated memory", size, zeroed=zeroed))
        return self.number_of(storage, 0)[0]

    def begin(self, number: int, size: int) -> None:
        """The life of a local object begins that has this size."""
        self.expire(number)
        storage = self.world.add(blank(self.objects[number].name, max(0, size)))
        self.owned.append(storage)
        self.bind(number, storage, 0)

    def expire(self, number: int) -> None:
        """The life of a local object is over; its number stands for a new one from now on."""
        found = self.places.pop(number, None)
        if found is not None:
            storage, _ = found
            del self.numbers[id(storage)]
            self.owned = [held for held in self.owned if held is not storage]
            self.world.end(storage, "whose lifetime is over")

    def leave(self) -> None:
        """The activation ends, and with it its local objects."""
        for storage in self.owned:
            self.world.end(storage, "whose function has returned")

    # ------------------------------------------------------------------------------------------------------- accesses

    def load(self, number: int, offset: int, size: int, signed: bool) -> int:  # noqa: FBT001
        """The integer of ``size`` bytes there, which is known, else the run ends."""
        return known(self.read(number, offset, size, signed))

    def read(self, number: int, offset: int, size: int, signed: bool) -> Value:  # noqa: FBT001
        """The integer of ``size`` bytes there, unknown where it is not initialised: copying it is no use of it."""
        place = self.places.get(number)
        storage, base = place if place is not None else self._bind(number)
        at = offset + base
        if not storage.holes and size and at >= 0 and at + size <= storage.size and not storage.dead:
            return int.from_bytes(storage.data[at : at + size], "little", signed=signed)
        return read_slowly(storage, at, size, signed)

    def store(self, number: int, offset: int, size: int, value: Value, signed: bool) -> None:  # noqa: FBT001
        """The integer goes there; ``signed`` is the reading of its type, by which it fits or (in ℤ) not."""
        place = self.places.get(number)
        storage, base = place if place is not None else self._bind(number)
        at = offset + base
        self.world.version += 1
        if (
            type(value) is int
            and not storage.holes
            and size
            and 0 <= at <= storage.size - size
            and not (storage.constant or storage.dead)
        ):
            try:
                as_signed = signed if self.mathematical else value < 0
                storage.data[at : at + size] = value.to_bytes(size, "little", signed=as_signed)
            except OverflowError:
                pass  # an integer of ℤ outside the type
            else:
                return
        store_slowly(storage, at, size, value, signed if self.mathematical else None)

    def pointer_at(self, number: int, offset: int) -> tuple[Storage | None, int]:
        """What the pointer that is stored there points to. Raises :class:`Stop` where there is none."""
        storage, at = self.pointer(number, offset)
        return load_pointer_from(self._exists(storage), at, self.pointer_size)

    def load_pointer(self, number: int, offset: int, size: int) -> tuple[int, int]:
        """The pointer stored there, as object and offset."""
        storage, at = self.pointer(number, offset)
        return self.number_of(*load_pointer_from(self._exists(storage), at, size))

    def load_early(self, place: Callable[[], tuple[int, int]], size: int) -> tuple[Value, Value]:
        """The pointer at a place (object, offset), or unknown values that say why there is none, or no such place."""
        try:
            return self.load_pointer(*place(), size)
        except Stop as stop:
            missing = MissingValue(stop.reason, stop.where, absent=stop.status == "undefined")
            return missing, missing

    def store_pointer(self, number: int, offset: int, size: int, object: Value, value: Value) -> None:
        """The pointer goes there."""
        storage, at = self.pointer(number, offset)
        self.world.version += 1
        if isinstance(object, MissingValue) or isinstance(value, MissingValue):
            store_slowly(self._exists(storage), at, size, object if isinstance(object, MissingValue) else value)
        elif object == NULL_OBJECT:
            store_slowly(self._exists(storage), at, size, value)
        else:
            store_cell(self._exists(storage), at, (*self.pointer(object, value), size))

    def fill(self, number: int, offset: int, byte: int, length: int) -> None:
        """``length`` bytes become ``byte``."""
        if length == 0:
            return
        storage, at = self.pointer(number, offset)
        self.world.version += 1
        fill_bytes(self._exists(storage), at, byte, length)

    def copy(self, to: tuple[int, int], source: tuple[int, int], length: int, apart: bool = False) -> None:  # noqa: FBT001, FBT002
        """``length`` bytes go from ``source`` to ``to``; with ``apart`` the two may be the same but not overlap."""
        if length == 0:
            return
        held, at = self.pointer(*source)
        target, start = self.pointer(*to)
        if apart and held is target and 0 < abs(at - start) < length:
            raise Stop("undefined", "overlap")
        self.world.version += 1
        copy_bytes(self._exists(target), start, self._exists(held), at, length)

    # ------------------------------------------------------------------------- scalars that functions hold in variables

    def fetch(self, number: int, offset: int, size: int, signed: bool, width: int | None) -> Value:  # noqa: FBT001
        """The scalar there, or an unknown value that says why there is none."""
        try:
            value = ActivationMemory.read(self, number, offset, size, signed)
        except Stop as stop:
            return MissingValue(stop.reason, stop.where, absent=stop.status == "undefined")
        if width == 1 and not isinstance(value, MissingValue) and value not in (0, 1):
            return MissingValue(f"a truth value holds {value}")
        return value

    def fetch_pointer(self, number: int, offset: int, size: int) -> tuple[Value, Value]:
        """The pointer there (object, offset), or unknown values that say why there is none."""
        try:
            return ActivationMemory.load_pointer(self, number, offset, size)
        except Stop as stop:
            missing = MissingValue(stop.reason, stop.where, absent=stop.status == "undefined")
            return missing, missing

    def sync(self, number: int, offset: int, size: int, value: Value, signed: bool) -> None:  # noqa: FBT001
        """The variable's value goes back to memory, unless there was no memory for it, or none that can be written."""
        if (number in self.unbound and isinstance(value, MissingValue)) or self._too_short(number, offset + size):
            return  # there is none, and the run has not written it
        if not (isinstance(value, MissingValue) and value.absent) and not self._constant(number):
            ActivationMemory.store(self, number, offset, size, value, signed)

    def sync_pointer(self, number: int, offset: int, size: int, object: Value, value: Value) -> None:
        """The same for a pointer."""
        if (number in self.unbound and isinstance(value, MissingValue)) or self._too_short(number, offset + size):
            return
        if not (isinstance(value, MissingValue) and value.absent) and not self._constant(number):
            ActivationMemory.store_pointer(self, number, offset, size, object, value)

    def writable(self, number: int) -> None:
        """End the run where a variable is written that stands for a part of a constant object."""
        if self._constant(number):
            raise Stop("undefined", f"writes to {self.places[number][0].name}, which is constant")

    def _too_short(self, number: int, size: int) -> bool:
        """Whether an object whose size varies is not there, or not of this size."""
        described = self.objects.get(number)
        if described is None or described.extent is None:
            return False
        found = self.places.get(number)
        return found is None or found[0].size < size

    def _constant(self, number: int) -> bool:
        found = self.places.get(number)
        return found is not None and found[0].constant

    def _exists(self, storage: Storage | None) -> Storage:
        if storage is None:
            raise Stop("undefined", "access through a null pointer")
        return storage
