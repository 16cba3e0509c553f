"""What library functions return that only read memory, as functions of what it holds: how long a string is, where a
byte is, how far a string has only bytes of a set, which of two texts is less.

C (ISO/IEC 9899:2018, 7.24) says what they read: strings up to their end, blocks up to what decides the result. What
they read outside of an object whose size is known is undefined. Of comparisons C gives the sign only; the rest is a
value that the library chooses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from loopless import terms as t
from loopless.limits.paths import MAX_SEARCHED_BYTES
from loopless.records import dataclass
from loopless.source.vocabulary import COMPARISONS, SEARCHES, SETS, SIZES, STRING_LENGTHS

_CHAR: Final = t.IntType(8, signed=True)
_BYTE: Final = t.IntType(8, signed=False)
_AT: Final = t.position("|at")
_IN: Final = t.position("|in")


@dataclass(frozen=True, slots=True)
class Text:
    """The bytes from the place that a pointer leads to, at the ``offset`` in its ``object``.

    ``byte``: the byte at a position behind that place, by the type that reads it; ``room``: how many bytes there are up
    to the end of the object, None where that is not known; ``known``: these bytes, where nothing changes them.
    """

    object: t.Term
    offset: t.Term
    byte: Callable[[t.Term, t.IntType], t.Term]
    room: t.Term | None = None
    known: bytes | None = None

    @property
    def end(self) -> int | None:
        """The position of the first zero, where it is known."""
        at = self.known.find(0) if self.known is not None else -1
        return at if at >= 0 else None


@dataclass(frozen=True, slots=True)
class ReturnedWay:
    """What a call returns where ``when`` holds: ``value``, of a pointer the offset in ``object``."""

    when: t.Condition
    value: t.Term
    object: t.Term | None = None


@dataclass(frozen=True, slots=True)
class CallResult:
    """What a call comes to: it reads ``outside`` of an object, or returns in one of ``ways``, which exclude each other
    and are all that there are.
    """

    outside: t.Condition
    ways: tuple[ReturnedWay, ...]


def result_of(
    callee: str, texts: Sequence[Text], numbers: Sequence[t.Term], chosen: t.Term | None
) -> CallResult | None:
    """The result of one of :data:`loopless.source.vocabulary.WORKED_OUT`; None where the call is not as C has it.

    ``texts`` and ``numbers``: its arguments, sizes as they are without a sign; ``chosen``: what the library would
    return, of which a comparison takes no more than C leaves open.
    """
    limited = callee in SIZES
    searches = callee in SEARCHES
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
    sought = t.wrap(numbers[0], _CHAR)
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


def _search(texts: Sequence[Text], limit: t.Term | None, stop: t.Condition) -> tuple[t.Term, t.Condition]:
    """The first position at which ``stop`` holds of texts, below ``limit``, and where the search comes to the end of an
    object before it finds one.
    """
    whole = t.EVERYWHERE if limit is None else limit
    most = whole
    for text in texts:
        most = most if text.room is None else t.minimum(most, text.room)
    found = t.first(_AT, most, stop)
    if most is whole:
        return found, t.FALSE
    return found, most.le(found) & most.lt(whole)


def _until(text: Text) -> tuple[Text, ...]:
    """``text``, whose end is looked for, unless it is known that there is one."""
    return () if text.end is not None else (text,)


def _length(text: Text, limit: t.Term | None) -> CallResult:
    if text.end is not None:
        known = t.const(text.end)
        return CallResult(t.FALSE, (ReturnedWay(t.TRUE, known if limit is None else t.minimum(known, limit)),))
    found, outside = _search((text,), limit, t.equals_zero(text.byte(_AT, _CHAR)))
    return CallResult(outside, (ReturnedWay(t.TRUE, found),))


# -- searches ---------------------------------------------------------------------------------------------------------


def _found(text: Text, there: t.Condition, at: t.Term, outside: t.Condition = t.FALSE) -> CallResult:
    ways = [ReturnedWay(there, text.offset + at, text.object)] if there is not t.FALSE else []
    if there is not t.TRUE:
        ways.append(ReturnedWay(~there, t.ZERO, t.ZERO))  # the null pointer
    return CallResult(outside, tuple(ways))


def _byte(text: Text, sought: t.Term, limit: t.Term) -> CallResult:
    if text.known is not None and isinstance(limit, t.Const) and 0 <= limit.value <= len(text.known):
        known = text.known[: limit.value]
        if len(set(known)) <= MAX_SEARCHED_BYTES:
            return _among(text, known, sought, bytes.index)
    found, outside = _search((text,), limit, text.byte(_AT, _CHAR).eq(sought))
    return _found(text, found.lt(limit), found, outside)


def _first_byte(text: Text, sought: t.Term) -> CallResult:
    known = text.known[: text.end + 1] if text.known is not None and text.end is not None else None
    if known is not None and len(set(known)) <= MAX_SEARCHED_BYTES:
        return _among(text, known, sought, bytes.index)
    byte = text.byte(_AT, _CHAR)
    found, outside = _search(_until(text), None, byte.eq(sought) | t.equals_zero(byte))
    there = t.TRUE if sought is t.ZERO else text.byte(found, _CHAR).eq(sought)
    return _found(text, there, found, outside)


def _last_byte(text: Text, sought: t.Term) -> CallResult:
    known = text.known[: text.end + 1] if text.known is not None and text.end is not None else None
    if known is not None and len(set(known)) <= MAX_SEARCHED_BYTES:
        return _among(text, known, sought, bytes.rindex)
    byte = text.byte(_AT, _CHAR)
    end, outside = _search(_until(text), None, t.equals_zero(byte))
    if sought is t.ZERO:
        return _found(text, t.TRUE, end, outside)
    length = end if isinstance(sought, t.Const) else end + 1
    found = t.last(_AT, length, byte.eq(sought))
    return _found(text, found.ge(0), found, outside)


def _among(text: Text, known: bytes, sought: t.Term, place: Callable[[bytes, int], int]) -> CallResult:
    """A search in bytes that are known: by what is looked for."""
    places = {_CHAR.wrap(value): place(known, value) for value in dict.fromkeys(known)}
    at: t.Term = t.ZERO
    for value, where in places.items():
        at = t.ite(sought.eq(value), t.const(where), at)
    return _found(text, t.disjunction(sought.eq(value) for value in sorted(places)), at)


# -- sets of bytes ----------------------------------------------------------------------------------------------------


def _span(callee: str, text: Text, among: Text) -> CallResult:
    """``among`` is a string as a whole (C, 7.24.5), wherever the search in ``text`` ends."""
    byte = text.byte(_AT, _CHAR)
    member = _is_among(byte, among)
    stop = t.equals_zero(byte) | (~member if callee == "strspn" else member)
    found, outside = _search(_until(text), None, stop)
    _, no_end = _search(_until(among), None, t.equals_zero(among.byte(_AT, _CHAR)))
    outside = no_end | outside
    if callee == "strpbrk":
        return _found(text, t.not_zero(text.byte(found, _CHAR)), found, outside)
    return CallResult(outside, (ReturnedWay(t.TRUE, found),))


def _is_among(byte: t.Term, among: Text) -> t.Condition:
    """Whether a byte, if it is not zero, is one of a string."""
    known = among.known[: among.end] if among.known is not None and among.end is not None else None
    if known is not None and len(set(known)) <= MAX_SEARCHED_BYTES:
        return t.disjunction(byte.eq(value) for value in sorted({_CHAR.wrap(value) for value in known}))
    other = among.byte(_IN, _CHAR)
    at = t.first(_IN, t.EVERYWHERE, other.eq(byte) | t.equals_zero(other))
    return among.byte(at, _CHAR).eq(byte)


# -- comparisons ------------------------------------------------------------------------------------------------------


def _comparison(callee: str, a: Text, b: Text, limit: t.Term | None, chosen: t.Term) -> CallResult:
    left, right = a.byte(_AT, _BYTE), b.byte(_AT, _BYTE)
    stops = [left.ne(right)]
    ends: list[t.Term] = []
    if callee in ("strcmp", "strncmp"):
        # At the known end of one string the other differs, or ends as well.
        ends = [t.const(text.end + 1) for text in (a, b) if text.end is not None]
        for end in ends:
            limit = end if limit is None else t.minimum(limit, end)
        if not ends:
            stops.append(t.equals_zero(left))
    found, outside = _search((a, b), limit, t.disjunction(stops))
    first_of, second_of = a.byte(found, _BYTE), b.byte(found, _BYTE)
    alike = [limit.le(found)] if limit is not None else []
    if len(stops) > 1:
        alike.append(first_of.eq(second_of))
    same = t.disjunction(alike)
    if callee == "bcmp":
        return CallResult(
            outside, (ReturnedWay(t.TRUE, t.ite(same, t.ZERO, t.ite(t.equals_zero(chosen), t.ONE, chosen))),)
        )
    differs = t.ite(first_of.lt(second_of), t.minimum(chosen, t.const(-1)), t.maximum(chosen, t.ONE))
    return CallResult(outside, (ReturnedWay(t.TRUE, t.ite(same, t.ZERO, differs)),))
