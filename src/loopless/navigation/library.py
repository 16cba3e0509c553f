"""What searches and comparisons of the C library come to along a path: what they return, and what memory must hold for
that (ISO/IEC 9899:2018, 7.24).

A search goes on with one of the outcomes; that there are others is its affair.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Final

from loopless import terms as t
from loopless.limits.navigation import MAX_LIBRARY_BYTES
from loopless.records import dataclass
from loopless.source.vocabulary import COMPARISONS, STRING_LENGTHS

FOLLOWED: Final = STRING_LENGTHS | COMPARISONS | {"strchr", "memchr"}
"""The functions whose outcomes are told."""
CHAR: Final = t.IntType(8, signed=True)
BYTE: Final = t.IntType(8, signed=False)

Text = Callable[[int, t.IntType], t.Term]
"""The byte at a position of a text, in a type."""


@dataclass(frozen=True, slots=True)
class LibraryOutcome:
    """A call returns ``value``; of a search a pointer to the byte ``value`` of the text, or null where ``found`` is
    false. ``parts`` give, when they are asked for, the conditions under which it does.
    """

    value: int
    parts: Callable[[], Iterator[t.Condition]]
    found: bool = True


def outcomes(
    callee: str, texts: Sequence[Text], numbers: Sequence[t.Term], limit: int | None
) -> Iterator[LibraryOutcome]:
    """What a call may come to, the nearest first. ``numbers``: what is looked for; ``limit``: how many bytes are looked
    at, at most, where the call says so.
    """
    if callee in STRING_LENGTHS:
        yield from _lengths(texts[0], limit)
    elif callee in COMPARISONS:
        yield from _comparisons(texts[0], texts[1], limit, ends=callee.startswith("str"))
    else:
        yield from _searches(texts[0], t.wrap(numbers[0], CHAR), limit, ends=callee == "strchr")


def _positions(limit: int | None) -> Iterator[int]:
    for at in count():
        if at == limit or at > MAX_LIBRARY_BYTES:
            return
        yield at


def _lengths(text: Text, limit: int | None) -> Iterator[LibraryOutcome]:
    def before(at: int) -> Iterator[t.Condition]:
        for index in range(at):
            yield t.not_zero(text(index, CHAR))

    def ends(at: int) -> Iterator[t.Condition]:
        yield from before(at)
        yield t.equals_zero(text(at, CHAR))

    for at in _positions(limit):
        yield LibraryOutcome(at, lambda at=at: ends(at))  # type: ignore[misc]
    if limit is not None and limit <= MAX_LIBRARY_BYTES:
        yield LibraryOutcome(limit, lambda: before(limit))


def _searches(text: Text, sought: t.Term, limit: int | None, *, ends: bool) -> Iterator[LibraryOutcome]:
    def before(at: int) -> Iterator[t.Condition]:
        for index in range(at):
            byte = text(index, CHAR)
            yield t.conjunction((byte.ne(sought), *([t.not_zero(byte)] if ends else [])))

    def there(at: int) -> Iterator[t.Condition]:
        yield from before(at)
        yield text(at, CHAR).eq(sought)

    def ended(at: int) -> Iterator[t.Condition]:
        yield from before(at)
        byte = text(at, CHAR)
        yield t.equals_zero(byte) & byte.ne(sought)

    for at in _positions(limit):
        yield LibraryOutcome(at, lambda at=at: there(at))  # type: ignore[misc]
        if ends:
            yield LibraryOutcome(at, lambda at=at: ended(at), found=False)  # type: ignore[misc]
    if limit is not None and limit <= MAX_LIBRARY_BYTES:
        yield LibraryOutcome(limit, lambda: before(limit), found=False)


def _comparisons(a: Text, b: Text, limit: int | None, *, ends: bool) -> Iterator[LibraryOutcome]:
    def before(at: int) -> Iterator[t.Condition]:
        for index in range(at):
            byte = a(index, BYTE)
            yield t.conjunction((byte.eq(b(index, BYTE)), *([t.not_zero(byte)] if ends else [])))

    def alike(at: int) -> Iterator[t.Condition]:
        yield from before(at)
        yield a(at, BYTE).eq(0) & b(at, BYTE).eq(0)

    def differs(at: int, sign: int) -> Iterator[t.Condition]:
        yield from before(at)
        one, other = (a, b) if sign < 0 else (b, a)
        yield one(at, BYTE).lt(other(at, BYTE))

    if limit == 0:
        yield LibraryOutcome(0, lambda: before(0))
    for at in _positions(limit):
        if ends:
            yield LibraryOutcome(0, lambda at=at: alike(at))  # type: ignore[misc]
        for sign in (-1, 1):
            yield LibraryOutcome(sign, lambda at=at, sign=sign: differs(at, sign))  # type: ignore[misc]
    if limit is not None and 0 < limit <= MAX_LIBRARY_BYTES:
        yield LibraryOutcome(0, lambda: before(limit))
