"""What memory holds where elements of arrays are given: each read is put together from their bytes.

Elements are of the type that is declared. They need not all be given; what reads others has no value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from loopless import terms as t
from loopless.errors import UsageError
from loopless.patterns import pattern
from loopless.queries.call_values.arguments import Characters, characters, integer_of
from loopless.queries.call_values.number_arrays import GivenArray, NumberArray
from loopless.records import dataclass

Value = int | tuple[int, ...]
"""What the user gives an input: a number, or what a pointer points to, or an array holds, from the first element on."""

Entry = int | str | bytes | Sequence[int] | NumberArray
"""What is given: a number, or the elements of an array, a string or bytes for one of characters."""


def given_value(value: Entry, name: str) -> Value:
    """A number, or elements, of several dimensions in the order of C. Raises ``UsageError`` for what is neither."""
    array = GivenArray.of(value)
    if array is not None:
        return array.elements(name)
    if isinstance(value, bytes | bytearray):
        return Characters(t.IntType(8).wrap(code) for code in value)
    if isinstance(value, str):
        return characters(value)
    if isinstance(value, list | tuple):
        return tuple(integer_of(part, name) for part in value)
    return integer_of(value, name)


def alike(values: Sequence[int], given: Entry) -> Any:
    """Elements as what was ``given``: a list, a tuple, a string, bytes, or an array of NumPy of that shape."""
    array = GivenArray.of(given)
    if array is not None:
        return array.filled(values)
    match given:
        case bytes() | bytearray():
            return type(given)(value & 0xFF for value in values)
        case str():
            return bytes(value & 0xFF for value in values).partition(b"\0")[0].decode(errors="surrogateescape")
        case tuple():
            return tuple(values)
        case _:
            return list(values)


_INDEX: Final = pattern(r"\[(\d+)\]")
BYTE: Final = t.IntType(8, signed=False)
"""The type of what has none."""


def array_of(layouts: Mapping[str, t.Layout], name: str) -> tuple[str, int, t.IntType | None] | None:
    """The object, the byte and the declared type of the elements of an array, as answers call it: ``a``, ``p->items``;
    bytes where it has no type of its own; no type where the elements are no integers. None where there is no array.
    """
    if name in layouts:
        layout, row = layouts[name], layouts[name].array
        if row is None and layout.whole:  # one number, or a structure
            return None
        return name, 0, BYTE if row is None else row.element
    for object, layout in layouts.items():
        for row in layout.rows if name.startswith(object) else ():
            if row.head and name == object + row.head:
                return object, row.start, row.element
    return None


def place_of(layouts: Mapping[str, t.Layout], name: str) -> tuple[str, int, t.IntType] | None:
    """The array, the byte and the declared type of one element or member, as answers call it: ``a[2]``, ``a[2][1]``,
    ``p->items[1].count``; None where no integer is declared there.
    """
    for array, layout in layouts.items():
        if not name.startswith(array):
            continue
        if layout.array is None and not layout.whole and (found := _INDEX.fullmatch(name, len(array))):
            return array, int(found[1]), BYTE
        for row in layout.rows:
            head = f"{array}{row.head}"
            place = _place_in(row, name.removeprefix(head)) if name.startswith(head) else None
            if place is not None:
                return array, *place
    return None


def _place_in(row: t.Rows, rest: str) -> tuple[int, t.IntType] | None:
    """The byte and the type of an element of an array, by what stands behind the array."""
    at, index = 0, 0
    for count in (None, *row.inner):
        found = _INDEX.match(rest, at)
        if found is None:
            return None
        index, at = (index if count is None else index * count) + int(found[1]), found.end()
    for (offset, _), scalar in row.members.items():
        if scalar.name == rest[at:] and scalar.type is not None:
            return row.start + index * row.size + offset, scalar.type
    return None


def check_range(values: Iterable[int], type: t.IntType, about: str) -> None:
    """Raises ``UsageError`` for a value that the type does not have."""
    for number in values:
        if type != t.INTEGERS and not type.holds(number):
            raise UsageError(f"{number} is not in the range of {t.read_as(type)} {about}: {type.min} to {type.max}")


def check_elements(layouts: Mapping[str, t.Layout], name: str, value: Value, about: str, *, any_size: bool) -> None:
    """Raises ``UsageError`` for elements that are not of the type that is declared; ``any_size``: they may be of ℤ."""
    if isinstance(value, int):
        place = place_of(layouts, name)
        if place is not None and not any_size:
            check_range((value,), place[2], about)
        return
    array = array_of(layouts, name)
    if array is None:
        return
    type = array[2]
    if type is None:
        raise UsageError(f"the elements of {about} are no integers: give numbers one by one, as answers call them")
    numbers = value.of(type) if isinstance(value, Characters) else value
    untyped = name in layouts and layouts[name].array is None
    if untyped and not all(type.holds(number) for number in numbers):
        raise UsageError(f"the elements of {about} have no type that is known: give their bytes, 0 to 255")
    if not any_size:
        check_range(numbers, type, about)


@dataclass(frozen=True, slots=True)
class GivenPlace:
    """Where elements are that are given: their object, the bytes at which they begin, their type; ``single``: whether
    that is one element by its own name.
    """

    array: str
    offsets: range
    type: t.IntType
    single: bool = False


class GivenMemory:
    """The elements of arrays that are given; ``places``: where they are, by the names of arrays and elements."""

    def __init__(self, layouts: Mapping[str, t.Layout], given: Mapping[str, Value]) -> None:
        self._bytes: dict[str, dict[int, int]] = {}
        self._numbers: dict[str, dict[int, int]] = {}
        """By the bytes at which they begin, elements of any size."""
        self._widths: dict[str, int | None] = {}
        """The width of the elements of objects of which one array is given and nothing else: they do not overlap."""
        self.places: dict[str, GivenPlace] = {}
        for name, layout in layouts.items():
            if layout.content is not None:
                self._bytes[name] = dict(enumerate(layout.content))
        for name, value in given.items():
            if isinstance(value, tuple):
                array, start, type = array_of(layouts, name) or (name, 0, BYTE)
                if type is not None:
                    held = value.of(type) if isinstance(value, Characters) else value
                    self.places[name] = GivenPlace(array, self._put(array, start, held, type), type)
            elif (place := place_of(layouts, name)) is not None:
                array, offset, type = place
                self.places[name] = GivenPlace(array, self._put(array, offset, (value,), type), type, single=True)

    def _put(self, array: str, offset: int, values: Sequence[int], type: t.IntType) -> range:
        """Hold elements from a byte on, and say at which bytes they begin."""
        assert type.width is not None
        size = (type.width + 7) // 8
        self._widths[array] = type.width if array not in self._bytes and type.width % 8 == 0 else None
        held, numbers = self._bytes.setdefault(array, {}), self._numbers.setdefault(array, {})
        for at, value in enumerate(values):
            start = offset + at * size
            numbers[start] = value
            held.update(enumerate((value % (1 << 8 * size)).to_bytes(size, "little"), start))
        return range(offset, offset + len(values) * size, size)

    def __contains__(self, name: str) -> bool:
        return name in self._bytes

    def __len__(self) -> int:
        return sum(map(len, self._numbers.values()))

    def names(self) -> Iterator[str]:
        """What elements are given of."""
        return iter(self._bytes)

    def read(self, array: str, offset: int, type: t.IntType) -> int:
        """The value of ``type`` at a byte offset. Raises :class:`EvaluationError` where it is not given."""
        name = array.removeprefix("*")
        if type.width is None:
            found = self._numbers.get(name, {}).get(offset)
            if found is None:
                raise t.EvaluationError(f"no value for the element at byte {offset} of {name}")
            return found
        if self._widths.get(name) == type.width and (found := self._numbers[name].get(offset)) is not None:
            return type.wrap(found)
        held, size = self._bytes.get(name, {}), (type.width + 7) // 8
        try:
            content = bytes(held[at] for at in range(offset, offset + size))
        except KeyError:
            raise t.EvaluationError(f"no value for byte {offset} of {name}") from None
        value = int.from_bytes(content, "little", signed=type.signed)
        if not type.holds(value):
            raise t.EvaluationError(f"byte {offset} of {name} is no {type}")
        return value
