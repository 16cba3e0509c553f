"""What library functions return that only read memory, as functions of what it holds: how long a string is, where a
byte is, how far a string has only bytes of a set, which of two texts is less.

C (ISO/IEC 9899:2018, 7.24) says what they read: strings up to their end, blocks up to what decides the result. What
they read outside of an object whose size is known is undefined. Of comparisons C gives the sign only; the rest is a
value that the library chooses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from loopless.source.vocabulary import COMPARISONS, SETS, STRING_LENGTHS
from loopless.terms import (
    EVERYWHERE,
    FALSE,
    ONE,
    TRUE,
    ZERO,
    Condition,
    Const,
    IntType,
    Term,
    add,
    conjunction,
    const,
    disjunction,
    equal,
    equals_zero,
    first,
    greater_equal,
    ite,
    last,
    less,
    less_equal,
    maximum,
    minimum,
    negate,
    not_equal,
    not_zero,
    position,
    wrap,
)

_CHAR: Final = IntType(8, signed=True)
_BYTE: Final = IntType(8, signed=False)
_AT: Final = position("|at")
_IN: Final = position("|in")
_MOST_KNOWN: Final = 64
"""A search in a text that is known and has no more different bytes is told by these, not as a search. A guess."""


@dataclass(frozen=True, slots=True)
class Text:
    """The bytes from the place that a pointer leads to, at the ``offset`` in its ``object``.

    ``byte``: the byte at a position behind that place, by the type that reads it; ``room``: how many bytes there are up
    to the end of the object, None where that is not known; ``known``: these bytes, where nothing changes them.
    """

    object: Term
    offset: Term
    byte: Callable[[Term, IntType], Term]
    room: Term | None = None
    known: bytes | None = None

    @property
    def end(self) -> int | None:
        """The position of the first zero, where it is known."""
        at = self.known.find(0) if self.known is not None else -1
        return at if at >= 0 else None


@dataclass(frozen=True, slots=True)
class Way:
    """What a call returns where ``when`` holds: ``value``, of a pointer the offset in ``object``."""

    when: Condition
    value: Term
    object: Term | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """What a call comes to: it reads ``outside`` of an object, or returns in one of ``ways``, which exclude each other
    and are all that there are.
    """

    outside: Condition
    ways: tuple[Way, ...]


def result_of(callee: str, texts: Sequence[Text], numbers: Sequence[Term], chosen: Term | None) -> Result | None:
    """The result of one of :data:`loopless.source.vocabulary.WORKED_OUT`; None where the call is not as C has it.

    ``texts`` and ``numbers``: its arguments, sizes as they are without a sign; ``chosen``: what the library would
    return, of which a comparison takes no more than C leaves open.
    """
    limited = callee in ("strnlen", "memchr", "strncmp", "memcmp", "bcmp")
    searches = callee in ("strchr", "strrchr", "memchr")
    compares = callee in COMPARISONS
    if len(texts) != 1 + (compares or callee in SETS) or len(numbers) != limited + searches:
        return None
    if compares and chosen is None:
        return None
    limit = numbers[-1] if limited else None
    if callee in STRING_LENGTHS:
        return _length(texts[0], limit)
    if compares:
        assert chosen is not None
        return _comparison(callee, texts[0], texts[1], limit, chosen)
    if callee in SETS:
        return _span(callee, texts[0], texts[1])
    sought = wrap(numbers[0], _CHAR)
    match callee:
        case "memchr":
            assert limit is not None
            return _byte(texts[0], sought, limit)
        case "strchr":
            return _first_byte(texts[0], sought)
        case "strrchr":
            return _last_byte(texts[0], sought)
        case _:
            return None


def _search(texts: Sequence[Text], limit: Term | None, stop: Condition) -> tuple[Term, Condition]:
    """The first position at which ``stop`` holds of texts, below ``limit``, and where the search comes to the end of an
    object before it finds one.
    """
    whole = EVERYWHERE if limit is None else limit
    most = whole
    for text in texts:
        most = most if text.room is None else minimum(most, text.room)
    found = first(_AT, most, stop)
    if most is whole:
        return found, FALSE
    return found, conjunction((less_equal(most, found), less(most, whole)))


def _until(text: Text) -> tuple[Text, ...]:
    """``text``, whose end is looked for, unless it is known that there is one."""
    return () if text.end is not None else (text,)


def _length(text: Text, limit: Term | None) -> Result:
    if text.end is not None:
        known = const(text.end)
        return Result(FALSE, (Way(TRUE, known if limit is None else minimum(known, limit)),))
    found, outside = _search((text,), limit, equals_zero(text.byte(_AT, _CHAR)))
    return Result(outside, (Way(TRUE, found),))


# -- searches ---------------------------------------------------------------------------------------------------------


def _found(text: Text, there: Condition, at: Term, outside: Condition = FALSE) -> Result:
    ways = [Way(there, add(text.offset, at), text.object)] if there is not FALSE else []
    if there is not TRUE:
        ways.append(Way(negate(there), ZERO, ZERO))  # the null pointer
    return Result(outside, tuple(ways))


def _byte(text: Text, sought: Term, limit: Term) -> Result:
    if text.known is not None and isinstance(limit, Const) and 0 <= limit.value <= len(text.known):
        known = text.known[: limit.value]
        if len(set(known)) <= _MOST_KNOWN:
            return _among(text, known, sought, bytes.index)
    found, outside = _search((text,), limit, equal(text.byte(_AT, _CHAR), sought))
    return _found(text, less(found, limit), found, outside)


def _first_byte(text: Text, sought: Term) -> Result:
    known = text.known[: text.end + 1] if text.known is not None and text.end is not None else None
    if known is not None and len(set(known)) <= _MOST_KNOWN:
        return _among(text, known, sought, bytes.index)
    byte = text.byte(_AT, _CHAR)
    found, outside = _search(_until(text), None, disjunction((equal(byte, sought), equals_zero(byte))))
    there = TRUE if sought is ZERO else equal(text.byte(found, _CHAR), sought)
    return _found(text, there, found, outside)


def _last_byte(text: Text, sought: Term) -> Result:
    known = text.known[: text.end + 1] if text.known is not None and text.end is not None else None
    if known is not None and len(set(known)) <= _MOST_KNOWN:
        return _among(text, known, sought, bytes.rindex)
    byte = text.byte(_AT, _CHAR)
    end, outside = _search(_until(text), None, equals_zero(byte))
    if sought is ZERO:
        return _found(text, TRUE, end, outside)
    length = end if isinstance(sought, Const) else add(end, ONE)
    found = last(_AT, length, equal(byte, sought))
    return _found(text, greater_equal(found, ZERO), found, outside)


def _among(text: Text, known: bytes, sought: Term, place: Callable[[bytes, int], int]) -> Result:
    """A search in bytes that are known: by what is looked for."""
    places = {_CHAR.wrap(value): place(known, value) for value in dict.fromkeys(known)}
    at: Term = ZERO
    for value, where in places.items():
        at = ite(equal(sought, const(value)), const(where), at)
    return _found(text, disjunction(equal(sought, const(value)) for value in sorted(places)), at)


# -- sets of bytes ----------------------------------------------------------------------------------------------------


def _span(callee: str, text: Text, among: Text) -> Result:
    """``among`` is a string as a whole (C, 7.24.5), wherever the search in ``text`` ends."""
    byte = text.byte(_AT, _CHAR)
    member = _is_among(byte, among)
    stop = disjunction((equals_zero(byte), negate(member) if callee == "strspn" else member))
    found, outside = _search(_until(text), None, stop)
    _, no_end = _search(_until(among), None, equals_zero(among.byte(_AT, _CHAR)))
    outside = disjunction((no_end, outside))
    if callee == "strpbrk":
        return _found(text, not_zero(text.byte(found, _CHAR)), found, outside)
    return Result(outside, (Way(TRUE, found),))


def _is_among(byte: Term, among: Text) -> Condition:
    """Whether a byte, if it is not zero, is one of a string."""
    known = among.known[: among.end] if among.known is not None and among.end is not None else None
    if known is not None and len(set(known)) <= _MOST_KNOWN:
        return disjunction(equal(byte, const(value)) for value in sorted({_CHAR.wrap(value) for value in known}))
    other = among.byte(_IN, _CHAR)
    at = first(_IN, EVERYWHERE, disjunction((equal(other, byte), equals_zero(other))))
    return equal(among.byte(at, _CHAR), byte)


# -- comparisons ------------------------------------------------------------------------------------------------------


def _comparison(callee: str, a: Text, b: Text, limit: Term | None, chosen: Term) -> Result:
    left, right = a.byte(_AT, _BYTE), b.byte(_AT, _BYTE)
    stops = [not_equal(left, right)]
    ends: list[Term] = []
    if callee in ("strcmp", "strncmp"):
        # At the known end of one string the other differs, or ends as well.
        ends = [const(text.end + 1) for text in (a, b) if text.end is not None]
        for end in ends:
            limit = end if limit is None else minimum(limit, end)
        if not ends:
            stops.append(equals_zero(left))
    found, outside = _search((a, b), limit, disjunction(stops))
    first_of, second_of = a.byte(found, _BYTE), b.byte(found, _BYTE)
    alike = [less_equal(limit, found)] if limit is not None else []
    if len(stops) > 1:
        alike.append(equal(first_of, second_of))
    same = disjunction(alike)
    if callee == "bcmp":
        return Result(outside, (Way(TRUE, ite(same, ZERO, ite(equals_zero(chosen), ONE, chosen))),))
    differs = ite(less(first_of, second_of), minimum(chosen, const(-1)), maximum(chosen, ONE))
    return Result(outside, (Way(TRUE, ite(same, ZERO, differs)),))
