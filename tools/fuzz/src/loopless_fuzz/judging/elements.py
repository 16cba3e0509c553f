"""What a summary says that memory holds behind the loop, put beside what it holds there.

The judge does not read layers as :mod:`loopless.terms.contents` does. It writes them down, the oldest first, element by
element, into the bytes that the objects held at the header, and compares byte by byte.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from loopless import terms as t
from loopless.check.interpreter.expressions import byte_size
from loopless.check.interpreter.values import Stop
from loopless_fuzz.judging.contents import ClaimReader, Content, Contents, Unread, standing_in

MARGIN: Final = 3
"""So many elements before and behind an object of an unknown size are looked at, where a claim may say nothing."""
_STAND_INS: Final = (0, 1, -1, 0x5555555555555555, -0x5555555555555556)
"""Values of what is not known, of each type."""

_Value = TypeVar("_Value")
Values = Sequence[int]
Term = Callable[[Values, ClaimReader], int]
Test = Callable[[Values, ClaimReader, int], bool]
"""Whether a condition holds, what has no value standing for a number."""


@dataclass(frozen=True, slots=True)
class Row:
    """A layer, compiled: where it starts, where it says something, and what. The values are those at the header, and in
    ``where`` and ``value`` the number of the element behind them.
    """

    type: t.IntType
    stride: int
    start: Term
    where: Test
    value: Term | None


class Wrong(Exception):
    """A claim says what is not so."""


@dataclass(slots=True)
class Told:
    """How many bytes of written objects were compared, how many of them had changed, of how many nothing is told, and
    how many elements have a value that speaks of what the loop does not access, though it is the same whatever is
    there.
    """

    compared: int = 0
    changed: int = 0
    untold: int = 0
    beyond: int = 0


def compare(
    claims: Mapping[str, Sequence[Row]],
    objects: Sequence[Content],
    held: tuple[Contents, Contents],
    values: Values,
    reader: ClaimReader,
) -> Told:
    """Put claims beside what the ``objects`` held before and behind the loop. Raises :class:`Wrong` where they say
    something else, :class:`loopless.terms.EvaluationError` where they cannot be evaluated.
    """
    before, after = held
    told = Told()
    written: dict[str, list[int | None]] = {content.name: list(content.held(before)) for content in objects}
    sizes = {content.name: content.size for content in objects}
    for array, rows in claims.items():
        name = reader.named(array)
        if name not in written:
            if any(row.value is not None for row in rows):
                raise Wrong(f"elements of {array}, which the loop does not access")
            continue
        for row in reversed(rows):
            told.beyond += _write(written[name], row, (name, sizes[name] is None), values, reader)
    for content in objects:
        now = after.get(content.name, content.held(before))
        for at, (said, then, really) in enumerate(zip(written[content.name], content.held(before), now, strict=True)):
            if said is None:
                told.untold += 1
            elif said != really:
                how = "which is unchanged" if then == really else f"which was {then}"
                raise Wrong(f"byte {at} of {content.name} = {said}; it is {really}, {how}")
            else:
                told.compared += content.written
                told.changed += then != really
    return told


def _write(held: list[int | None], row: Row, of: tuple[str, bool], values: Values, reader: ClaimReader) -> int:
    """Write the elements of one layer into an object, which has a name, and a size that is known or is not; how many
    have a value that speaks of what the loop does not access.
    """
    name, is_open = of
    beyond = 0
    size = byte_size(row.type)
    start = row.start(values, reader)
    first, last = -((start + size - 1) // row.stride), (len(held) - 1 - start) // row.stride
    margin = MARGIN if is_open and row.value is not None else 0
    for index in range(first - margin, last + 1 + margin):
        there = (*values, index)
        at = start + row.stride * index
        if not 0 <= at <= len(held) - size and row.value is not None:
            if not _unchanged(row, row.value, there, reader):
                raise Wrong(f"an element at byte {at} of {name}, which the loop does not access")
            continue
        with reader.knowing(name, range(at, at + size)):  # what it does not access the loop leaves as it is
            if not _holds(row, there, reader, f"element {index} of a layer of {name}"):
                continue
            value = None
            if row.value is not None:
                value, spoken = _value(row.value, there, reader)
                beyond += spoken
                if not row.type.holds(value):
                    raise Wrong(f"the element at byte {at} of {name} = {value}, which its type does not hold")
        for place in range(size):
            if 0 <= at + place < len(held):
                held[at + place] = None if value is None else value >> (8 * place) & 255
    return beyond


def _unchanged(row: Row, value: Term, there: Values, reader: ClaimReader) -> bool:
    """Whether the layer says nothing of an element that is not there, or not all of it, or that it stays what it is."""
    try:
        for reader.stand_in in _STAND_INS:
            if row.where(there, reader, 0) and value(there, reader) != standing_in(row.type, reader.stand_in):
                return False
    finally:
        reader.stand_in = None
    return True


def _value(value: Term, there: Values, reader: ClaimReader) -> tuple[int, bool]:
    """The value of an element, and whether it speaks of what the loop does not access. Raises :class:`Wrong` where it
    depends on that.
    """
    try:
        return value(there, reader), False
    except Unread as unread:
        try:
            return whatever_is_there(lambda: value(there, reader), reader), True
        except Unread:
            raise Wrong(f"a value that depends on {unread}") from None


def whatever_is_there(value: Callable[[], _Value], reader: ClaimReader) -> _Value:
    """The value, if it is the same whatever those elements are that the loop does not access.

    Raises:
        Unread: if it depends on them.
    """
    try:
        found = set[_Value]()
        for reader.stand_in in _STAND_INS:
            found.add(value())
    finally:
        reader.stand_in = None
    if len(found) > 1:
        raise Unread("a value depends on what the loop does not access")
    return found.pop()


def _holds(row: Row, there: Values, reader: ClaimReader, what: str) -> bool:
    """Whether the layer says something of an element: the same whatever the loop did not access."""
    reader.missed = False
    try:
        found = row.where(there, reader, 0)
    except (t.EvaluationError, ArithmeticError, Stop):
        if not reader.missed:
            raise
        raise Wrong(f"{what}: where it is depends on what the loop does not access") from None
    if reader.missed and any(row.where(there, reader, missing) != found for missing in _STAND_INS):
        raise Wrong(f"{what}: where it is depends on what the loop does not access")
    return found
