"""Reads instructions of the most frequent shapes straight from their text; all others are left to the full reader.

Nine in ten instructions of clang's output are loads, stores, address computations, branches, comparisons and arithmetic
on plain operands. For these one regular expression takes the place of a list of tokens and a cursor. What a shape does
not match in full is not read here, so that there is one grammar, that of :mod:`loopless.source.instructions`; this
module reads a part of it in the same way (`tests/source/test_quick.py` compares).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from loopless.patterns import pattern
from loopless.source.constants import Constants
from loopless.source.ir import Access, Gep, GlobalRef, Instruction, IntConst, IntT, Local, PtrT, Type, Value, VoidT
from loopless.source.lexer import Cursor, Unread, tokenize
from loopless.source.metadata import Metadata

_VOID: Final = VoidT()
_I1: Final = IntT(1)
_NONE: Final[frozenset[str]] = frozenset()
_NAME: Final = r"%[-\w.$]+"
_POINTER: Final = r"[%@][-\w.$]+"
_TYPE: Final = r"ptr|i\d+"
_VALUE: Final = r"[%@][-\w.$]+|-?\d+|null"
_INT: Final = r"%[-\w.$]+|-?\d+"
_PLACE: Final = r"(?:, !dbg !(\d+))?"
_BINARY: Final = ("add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "shl", "lshr", "ashr", "and", "or", "xor")
_CASTS: Final = ("trunc", "zext", "sext")

_LOAD: Final = pattern(rf"({_NAME}) = load ({_TYPE}), ptr ({_POINTER}), align (\d+){_PLACE}")
_STORE: Final = pattern(rf"store ({_TYPE}) ({_VALUE}), ptr ({_POINTER}), align (\d+){_PLACE}")
_GEP: Final = pattern(
    rf"({_NAME}) = getelementptr((?: inbounds| nuw| nusw)*) (%[-\w.$]+|i\d+|ptr|\[\d+ x (?:i\d+|ptr|%[-\w.$]+)\]), "
    rf"ptr ({_POINTER}), (i\d+ (?:{_INT})(?:, i\d+ (?:{_INT}))*){_PLACE}"
)
_JUMP: Final = pattern(rf"br label ({_NAME}){_PLACE}")
_BRANCH: Final = pattern(rf"br i1 ({_NAME}), label ({_NAME}), label ({_NAME}){_PLACE}")
_COMPARE: Final = pattern(rf"({_NAME}) = icmp (\w+) ({_TYPE}) ({_VALUE}), ({_VALUE}){_PLACE}")
_ARITHMETIC: Final = pattern(rf"({_NAME}) = (\w+)((?: nuw| nsw| exact| disjoint)*) (i\d+) ({_INT}), ({_INT}){_PLACE}")
_CAST: Final = pattern(rf"({_NAME}) = (\w+)((?: nneg| nuw| nsw)*) (i\d+) ({_INT}) to (i\d+){_PLACE}")

Locals = dict[str, Local]


class QuickReader:
    """Reads instructions of one module."""

    def __init__(self, constants: Constants, metadata: Metadata) -> None:
        self._constants = constants
        self._metadata = metadata
        self._types: dict[str, Type] = {}
        self._accesses: dict[tuple[str, str], Access] = {}
        self._flags: dict[str, frozenset[str]] = {"": _NONE}
        self._steps: dict[tuple[str, str], tuple[tuple[Value, ...], int] | None] = {}
        """By source type and indices what they are, and the offset in bytes that they come to; None where it varies."""
        self._readers: Final[Mapping[str, Callable[[str, Locals], Instruction | None]]] = {
            "load": self._load,
            "store": self._store,
            "getelementptr": self._gep,
            "br": self._branch,
            "icmp": self._compare,
            **dict.fromkeys(_BINARY, self._binary),
            **dict.fromkeys(_CASTS, self._cast),
        }

    def instruction(self, text: str, names: Locals) -> Instruction | None:
        """The instruction with this text; None where the full reader is to be asked, which then finds nothing changed
        that it would not have changed itself.
        """
        start = text.find(" = ") + 3 if text[0] == "%" else 0
        read = self._readers.get(text[start : text.find(" ", start)])
        if read is None:
            return None
        try:
            return read(text, names)
        except (Unread, KeyError, IndexError, ValueError):
            return None  # nor will the full reader read it; what to make of it is said there

    # -- parts --------------------------------------------------------------------------------------------------------

    def _type(self, text: str) -> Type:
        found = self._types.get(text)
        if found is None:
            found = self._types[text] = self._constants.type(Cursor(tokenize(text)))
        return found

    def _value(self, token: str, t: Type, names: Locals) -> Value:
        first = token[0]
        if first == "%":
            return names.get(token) or names.setdefault(token, Local(token[1:], t))
        if first == "@":
            meant = self._constants.same_object.get(token[1:])
            return meant or GlobalRef(token[1:], t.address_space if isinstance(t, PtrT) else 0)
        return self._constants.value(Cursor([token]), t, names)

    def _words(self, text: str) -> frozenset[str]:
        found = self._flags.get(text)
        if found is None:
            found = self._flags[text] = frozenset(text.split())
        return found

    def _access(self, t: str, align: str) -> Access:
        found = self._accesses.get((t, align))
        if found is None:
            found = self._accesses[t, align] = Access(self._type(t), int(align))
        return found

    # -- shapes -------------------------------------------------------------------------------------------------------

    def _load(self, text: str, names: Locals) -> Instruction | None:
        m = _LOAD.fullmatch(text)
        if m is None:
            return None
        result, kind, address, align, place = m.groups()
        access = self._access(kind, align)
        operands = (self._value(address, self._type("ptr"), names),)
        loc = None if place is None else self._metadata.location(int(place))
        return Instruction("load", result[1:], access.type, operands, access=access, loc=loc)

    def _store(self, text: str, names: Locals) -> Instruction | None:
        m = _STORE.fullmatch(text)
        if m is None:
            return None
        kind, value, address, align, place = m.groups()
        access = self._access(kind, align)
        operands = (self._value(value, access.type, names), self._value(address, self._type("ptr"), names))
        loc = None if place is None else self._metadata.location(int(place))
        return Instruction("store", None, _VOID, operands, access=access, loc=loc)

    def _gep(self, text: str, names: Locals) -> Instruction | None:
        m = _GEP.fullmatch(text)
        if m is None:
            return None
        result, flags, source, address, indices, place = m.groups()
        t, pointer = self._type(source), self._type("ptr")
        base = self._value(address, pointer, names)
        known = self._steps.get((source, indices))
        if known is not None:
            operands: tuple[Value, ...] = (base, *known[0])
            gep: Gep | None = Gep(base, known[1], (), t)
        else:
            parts = [part.split(" ") for part in indices.split(", ")]
            operands = (base, *(self._value(index, self._type(kind), names) for kind, index in parts))
            gep = self._constants.decompose(t, list(operands))
            if gep is not None and all(isinstance(index, IntConst) for index in operands[1:]):
                self._steps[source, indices] = operands[1:], gep.offset
        loc = None if place is None else self._metadata.location(int(place))
        return Instruction("getelementptr", result[1:], pointer, operands, self._words(flags), gep=gep, loc=loc)

    def _branch(self, text: str, names: Locals) -> Instruction | None:
        m = _JUMP.fullmatch(text)
        if m is not None:
            target, place = m.groups()
            loc = None if place is None else self._metadata.location(int(place))
            return Instruction("br", None, _VOID, targets=(target[1:],), loc=loc)
        m = _BRANCH.fullmatch(text)
        if m is None:
            return None
        condition, then, otherwise, place = m.groups()
        operands = (self._value(condition, _I1, names),)
        loc = None if place is None else self._metadata.location(int(place))
        return Instruction("br", None, _VOID, operands, targets=(then[1:], otherwise[1:]), loc=loc)

    def _compare(self, text: str, names: Locals) -> Instruction | None:
        m = _COMPARE.fullmatch(text)
        if m is None:
            return None
        result, predicate, kind, left, right, place = m.groups()
        t = self._type(kind)
        operands = (self._value(left, t, names), self._value(right, t, names))
        loc = None if place is None else self._metadata.location(int(place))
        return Instruction("icmp", result[1:], _I1, operands, predicate=predicate, loc=loc)

    def _binary(self, text: str, names: Locals) -> Instruction | None:
        m = _ARITHMETIC.fullmatch(text)
        if m is None:
            return None
        result, op, flags, kind, left, right, place = m.groups()
        t = self._type(kind)
        operands = (self._value(left, t, names), self._value(right, t, names))
        loc = None if place is None else self._metadata.location(int(place))
        return Instruction(op, result[1:], t, operands, self._words(flags), loc=loc)

    def _cast(self, text: str, names: Locals) -> Instruction | None:
        m = _CAST.fullmatch(text)
        if m is None:
            return None
        result, op, flags, kind, value, to, place = m.groups()
        operands = (self._value(value, self._type(kind), names),)
        loc = None if place is None else self._metadata.location(int(place))
        return Instruction(op, result[1:], self._type(to), operands, self._words(flags), loc=loc)
