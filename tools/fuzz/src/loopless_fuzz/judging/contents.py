"""What memory holds where one loop is run alone: the contents of the objects that it reads or writes.

They are given as bytes, by the names of the objects (those of :class:`loopless.terms.Read`). An object whose size the
flowgraph does not know, as what a parameter points to, ends where its bytes end: a run that reads elsewhere is
"outside", and nothing is known of it. Of such an object a claim may use no byte that the run did not access, since the
program may have none there. Claims speak of what was there before the run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Final

from loopless import terms as t
from loopless.check.interpreter.expressions import byte_size
from loopless.check.interpreter.memory import ActivationMemory, World
from loopless.check.interpreter.storage import blank, known
from loopless.check.interpreter.values import Stop, Value, reduced
from loopless.errors import UsageError
from loopless.flowgraph.callees.streams import INPUTS
from loopless.flowgraph.model import (
    OBJECT_PART,
    Block,
    Copy,
    Fill,
    Flowgraph,
    Havoc,
    Load,
    LoopInfo,
    MemoryObject,
    Pointer,
    Statement,
    Store,
)
from loopless.terms.operators import NoValue

Contents = Mapping[str, bytes]
"""The bytes of objects, by their names."""

MOST_UNREAD: Final = 300
"""An evaluation that asks for more elements that the loop did not read is given up: it may ask for ever."""
_MOST_STRIDE: Final = 256
_INPUTS: Final = -1
"""The number that the inputs have among objects."""
_PEEK: Final = 1 << 40
"""Added to an object's number where only a condition of a path looks at it, not the loop."""
KNOWN: Final = (t.Const, t.Var, t.Sum, t.Wrap, t.Ite, t.Op, t.Read, t.Compare, t.And, t.Or, t.Truth)
"""The nodes that the interpreter knows."""


def _nothing() -> Contents:
    return {}


@dataclass(frozen=True, slots=True)
class Entry:
    """A state at a loop's header, with what the objects hold that the loop reads or writes, by their names."""

    values: Mapping[t.Var, int]
    contents: Contents = field(default_factory=_nothing)

    @classmethod
    def of(cls, shown: Mapping[str, int | list[int]], variables: Iterable[t.Var]) -> Entry:
        """The entry that :meth:`shown` tells, as far as it is about ``variables``."""
        values = {var: value for var in variables if isinstance(value := shown.get(var.name), int)}
        return cls(values, {name[:-2]: bytes(held) for name, held in shown.items() if isinstance(held, list)})

    def shown(self) -> dict[str, int | list[int]]:
        """As plain data: variables by name, and the bytes of an object ``a`` as ``a[]``."""
        held = {f"{name}[]": list(content) for name, content in self.contents.items()}
        return {**{var.name: value for var, value in self.values.items()}, **held}


INPUT_SIZE: Final = 8
"""The bytes that an input of the program has as content of :data:`loopless.flowgraph.callees.streams.INPUTS`."""


def inputs_of(contents: Contents) -> list[int]:
    """The inputs of the program, in order."""
    held = contents.get(INPUTS, b"")
    whole = len(held) - len(held) % INPUT_SIZE
    return [int.from_bytes(held[at : at + INPUT_SIZE], "little", signed=True) for at in range(0, whole, INPUT_SIZE)]


class Outside(Stop):
    """The run reads or writes where no content is given."""


class Unread(NoValue):
    """A claim asks for an element that the loop did not read."""


@dataclass(frozen=True, slots=True)
class Content:
    """An object that a loop accesses: its number and name, the ``types`` of what is read or written there.

    ``fixed``: the bytes of a constant table, None where they may be any. ``size``: in bytes, None where that is not
    known. ``stride``: how many bytes an index moves an access, at most, and at least those of an element.
    ``written``: whether the loop may write it.
    """

    number: int
    name: str
    types: tuple[t.IntType, ...]
    fixed: bytes | None = None
    size: int | None = None
    stride: int = 1
    written: bool = False

    def held(self, given: Contents) -> bytes:
        """Its bytes."""
        return self.fixed if self.fixed is not None else given.get(self.name, b"")


_BYTE: Final = t.IntType(8, signed=False)


def accessed_by(flowgraph: Flowgraph, loop: LoopInfo, blocks: Iterable[Block]) -> tuple[Content, ...]:
    """The objects that blocks of a loop read or write, by their numbers, and the inputs of the program.

    Raises:
        UsageError: if it reads or writes pointers, integers of ℤ, or objects that the flowgraph does not number, or if
            two of the objects have one name.
    """
    blocks = tuple(blocks)
    types: dict[int, set[t.IntType]] = {}
    strides: dict[int, int] = {}
    written: set[int] = set()
    for access in (
        access for block in blocks for one in block.statements for access in _accesses(flowgraph, loop, one)
    ):
        for number in access.numbers:
            types.setdefault(number, set()).add(access.type)
            strides[number] = max(strides.get(number, 1), access.stride)
        written |= access.numbers if access.writes else frozenset()
    for part in (part for block in blocks for node in _terms(block) for part in t.walk(node)):
        if isinstance(part, t.Read):
            types.setdefault(_table(flowgraph, loop, part), set()).add(part.type)
    found = tuple(
        replace(_content(flowgraph.objects[number], types[number], strides.get(number, 1)), written=number in written)
        for number in sorted(types)
    )
    if any(isinstance(statement, Havoc) for block in blocks for statement in block.statements):
        found = (*found, Content(_INPUTS, INPUTS, (t.IntType(8 * INPUT_SIZE),), stride=INPUT_SIZE))
    names = [content.name for content in found]
    if len(set(names)) < len(names):
        raise UsageError(f"{loop.name} depends on more than its variables: it accesses two objects of one name")
    return found


@dataclass(frozen=True, slots=True)
class _Access:
    """What a statement may read or write: the objects, elements of which type, and how far an index moves it."""

    numbers: frozenset[int]
    type: t.IntType
    stride: int
    writes: bool


def _accesses(flowgraph: Flowgraph, loop: LoopInfo, statement: Statement) -> Iterable[_Access]:
    """Where a statement reads and writes. Raises UsageError."""
    match statement:
        case Load(address=address, type=type, target=target):
            if statement.target_object is not None or type.width is None or target.type.width is None:
                what = "pointers" if statement.target_object is not None else "integers without a size"
                raise UsageError(f"{loop.name} depends on more than its variables: it reads {what}")
            numbers = _objects(flowgraph, loop, address, statement.objects)
            yield _Access(numbers, type, _stride(address, type), writes=False)
        case Store(address=address, type=type):
            if statement.value_object is not None or type.width is None:
                what = "pointers" if statement.value_object is not None else "integers without a size"
                raise UsageError(f"{loop.name} depends on more than its variables: it writes {what}")
            numbers = _objects(flowgraph, loop, address, statement.objects)
            yield _Access(numbers, type, _stride(address, type), writes=True)
        case Fill(address=address):
            numbers = _objects(flowgraph, loop, address, statement.objects)
            yield _Access(numbers, _BYTE, _stride(address, _BYTE), writes=True)
        case Copy(target=to, source=source):
            yield _Access(_objects(flowgraph, loop, source, None), _BYTE, _stride(source, _BYTE), writes=False)
            yield _Access(_objects(flowgraph, loop, to, statement.objects), _BYTE, _stride(to, _BYTE), writes=True)
        case _:
            pass


def _objects(flowgraph: Flowgraph, loop: LoopInfo, address: Pointer, objects: frozenset[int] | None) -> frozenset[int]:
    """The objects in which ``address`` may lie, of which ``objects`` are known to be all."""
    numbers = frozenset((address.object.value,)) if isinstance(address.object, t.Const) else objects
    given = numbers is not None and all(_may_be_given(flowgraph.objects.get(number)) for number in numbers)
    if numbers is None or not given:
        raise UsageError(f"{loop.name} depends on more than its variables: it accesses memory that is not known")
    return numbers


def _may_be_given(described: MemoryObject | None) -> bool:
    return described is not None and described.kind in ("local", "global", "parameter", "pointee")


def _table(flowgraph: Flowgraph, loop: LoopInfo, read: t.Read) -> int:
    """The constant object that a term of the flowgraph reads."""
    for number, described in flowgraph.objects.items():
        if described.name == read.array and described.constant and described.content is not None:
            return number
    raise UsageError(f"{loop.name} depends on more than its variables: a term reads {read.array}")


def _stride(address: Pointer, type: t.IntType) -> int:
    offset = address.offset
    moved = [abs(by) for monomial, by in offset.items if monomial] if isinstance(offset, t.Sum) else []
    return max(byte_size(type), *(by for by in moved if by <= _MOST_STRIDE), 1)


def _content(described: MemoryObject, types: set[t.IntType], stride: int) -> Content:
    fixed = None
    if described.constant and described.content is not None and described.size is not None:
        fixed = described.content.ljust(described.size, b"\0")
    ordered = tuple(sorted(types, key=lambda held: (byte_size(held), held.signed)))
    return Content(described.number, described.name, ordered, fixed, described.size, stride)


def _terms(block: Block) -> Iterable[t.Node]:
    for part in (*block.statements, *block.edges):
        for name in part.__slots__:
            value = getattr(part, name)
            if isinstance(value, t.Node):
                yield value
            elif name == "assigns":
                yield from (term for _, term in value)


def countable(condition: t.Condition, read: frozenset[str]) -> bool:
    """Whether iterations that begin where ``condition`` holds can be counted while the loop is run, which reads the
    objects of the names ``read`` in their present state.
    """
    return all(_is_countable(node, read) for node in t.walk(condition))


def _is_countable(node: t.Node, read: frozenset[str]) -> bool:
    if isinstance(node, t.Read):
        return node.array in read and node.array != INPUTS
    return isinstance(node, KNOWN) and not (isinstance(node, t.Op) and node.op in t.NAMED_FUNCTIONS)


def looked_at(flowgraph: Flowgraph, contents: Iterable[Content]) -> dict[int, MemoryObject]:
    """The objects as the conditions of paths look at them: in other numbers than those that the loop has."""
    numbers = {content.number: _PEEK + content.number for content in contents if content.name != INPUTS}
    return {at: replace(flowgraph.objects[own], number=at, symbol="") for own, at in numbers.items()}


class Given(ActivationMemory):
    """Memory of which only contents are given; the loop may change them."""

    def __init__(self, world: World, objects: Iterable[Content], contents: Contents) -> None:
        super().__init__(world, {}, 8)
        objects = tuple(objects)
        self._names = {content.number: content.name for content in objects}
        self._open = {content.number: set[int]() for content in objects if content.size is None}
        self._written = [content for content in objects if content.written]
        self._held: dict[int, bytes | bytearray] = {}
        for content in objects:
            held = content.held(contents)
            self._held[content.number] = held
            if content.written:
                # A state is one in which the loop was before only where memory is the same: the world compares it.
                storage = self.world.add(blank(content.name, len(held), zeroed=True))
                storage.data[:] = held
                self._held[content.number] = storage.data

    def read(self, number: int, offset: int, size: int, signed: bool) -> int:  # noqa: FBT001
        """The integer of ``size`` bytes there; conditions of paths find 0 where there is none: their other parts decide
        then, since the loop takes no path on account of what it does not read.
        """
        if number >= _PEEK:
            held = self._held.get(number - _PEEK, b"")
            inside = 0 <= offset <= len(held) - size
            return int.from_bytes(held[offset : offset + size], "little", signed=signed) if inside else 0
        held = self._inside(number, offset, size, "reads")
        return int.from_bytes(held[offset : offset + size], "little", signed=signed)

    def store(self, number: int, offset: int, size: int, value: Value, signed: bool) -> None:  # noqa: ARG002, FBT001
        """The integer goes there."""
        self._put(number, offset, (known(value) & (1 << 8 * size) - 1).to_bytes(size, "little"))

    def fill(self, number: int, offset: int, byte: int, length: int) -> None:
        """``length`` bytes become ``byte``."""
        if length:
            self._put(number, offset, bytes((byte & 255,)) * length)

    def copy(self, to: tuple[int, int], source: tuple[int, int], length: int, apart: bool = False) -> None:  # noqa: FBT001, FBT002
        """``length`` bytes go from ``source`` to ``to``; with ``apart`` the two may be the same but not overlap."""
        if not length:
            return
        if apart and to[0] == source[0] and 0 < abs(to[1] - source[1]) < length:
            raise Stop("undefined", "overlap")
        held = self._inside(*source, length, "reads")
        self._put(*to, bytes(held[source[1] : source[1] + length]))

    def expire(self, number: int) -> None:
        """The life of a local object is over; what the next one holds is not known, and may be the same."""

    def _put(self, number: int, offset: int, data: bytes) -> None:
        held = self._inside(number, offset, len(data), "writes")
        if not isinstance(held, bytearray):
            raise Stop("unknown", f"writes {self._names[number]}, which is not known to be written")
        self.world.version += 1
        held[offset : offset + len(data)] = data

    def _inside(self, number: int, offset: int, size: int, does: str) -> bytes | bytearray:
        """The bytes of an object, if it has those that are accessed. Raises :class:`Stop`."""
        held = self._held.get(number)
        if held is None or not 0 <= offset <= len(held) - size:
            if not number:
                raise Stop("undefined", "access through a null pointer")
            raise Outside("unknown", f"{does} byte {offset} of {self._names.get(number, number)}, which is not given")
        seen = self._open.get(number)
        if seen is not None:
            seen.update(range(offset, offset + size))
        return held

    def bytes_accessed(self) -> Mapping[str, frozenset[int]]:
        """By the names of objects whose size is not known, the bytes that were read or written."""
        return {self._names[number]: frozenset(seen) for number, seen in self._open.items()}

    def after(self) -> Contents:
        """What the objects hold now that the loop may write."""
        return {content.name: bytes(self._held[content.number]) for content in self._written}


def standing_in(type: t.IntType, value: int) -> int:
    """The value of a type that is nearest to a number."""
    low, high = type.min, type.max
    assert low is not None
    assert high is not None
    return min(max(value, low), high)


class ClaimReader:
    """What claims may read, as it was before the run: constant tables, objects whose size is known, and of others the
    bytes that the loop accessed.

    An element that is not there has no value (:class:`Unread`), or is ``stand_in`` where that is a number; ``missed``
    says that one was asked for.
    """

    def __init__(
        self,
        objects: Iterable[Content],
        contents: Contents,
        reads: Mapping[str, frozenset[int]],
        state: Mapping[t.Var, int],
    ) -> None:
        """``state``: the values at the loop's header, where pointers that reads are named after point into objects."""
        objects = tuple(objects)
        self._pointers = {v.name.removesuffix(OBJECT_PART): n for v, n in state.items() if v.name.endswith(OBJECT_PART)}
        self._held = {content.name: content.held(contents) for content in objects}
        self._names = {content.number: content.name for content in objects}
        self._reads = reads
        self._asked = 0
        self.missed = False
        self.stand_in: int | None = None
        self._known: tuple[str, range] | None = None

    def begin(self) -> None:
        """Another term or condition is evaluated now."""
        self._asked = 0

    def __call__(self, array: str, offset: int, type: t.IntType) -> int:
        """The element of ``type`` at a byte offset.

        Raises:
            Unread: if the loop did not access it.
            EvaluationError: if the loop accesses no such object, or too many elements are asked for that it did not
                access.
        """
        array = self.named(array)
        if array not in self._held:
            raise t.EvaluationError(f"the loop accesses no {array}")
        if array == INPUTS:
            return reduced(self._element(array, INPUT_SIZE * offset, INPUT_SIZE, signed=True), type)
        return self._element(array, offset, byte_size(type), type.signed)

    def named(self, array: str) -> str:
        """The name of the object that claims call so, by a pointer perhaps that points to it at the header."""
        if array in self._held:
            return array
        return self._names.get(self._pointers.get(array.removeprefix("*"), 0), array)

    @contextmanager
    def knowing(self, array: str, place: range) -> Iterator[None]:
        """Inside, these bytes are known, too."""
        self._known = (array, place)
        try:
            yield
        finally:
            self._known = None

    def _may_use(self, array: str, place: range) -> bool:
        read = self._reads.get(array)
        if read is None or read.issuperset(place):
            return True
        if self._known is None or self._known[0] != array:
            return False
        return all(byte in read or byte in self._known[1] for byte in place)

    def load(self, number: int, offset: int, size: int, signed: bool) -> int:  # noqa: FBT001
        """The same by the object's number, as compiled claims ask."""
        return self._element(self._names[number], offset, size, signed)

    def _element(self, array: str, offset: int, size: int, signed: bool) -> int:  # noqa: FBT001
        held, place = self._held[array], range(offset, offset + size)
        if not 0 <= offset <= len(held) - size or not self._may_use(array, place):
            self.missed = True
            self._asked += 1
            if self._asked > MOST_UNREAD:
                raise t.EvaluationError(f"more than {MOST_UNREAD} elements are asked for that the loop does not access")
            if self.stand_in is not None:
                return standing_in(t.IntType(8 * size, signed=signed), self.stand_in)
            raise Unread(f"{array} at byte {offset}, which the loop does not access")
        return int.from_bytes(held[offset : offset + size], "little", signed=signed)
