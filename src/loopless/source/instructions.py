"""Reads one instruction at a time from its text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from loopless.patterns import pattern
from loopless.source import marks
from loopless.source.constants import GEP_FLAGS, METADATA, Constants
from loopless.source.ir import (
    TERMINATORS,
    Access,
    ArrayT,
    FunctionT,
    Instruction,
    IntConst,
    IntT,
    Local,
    LoopMark,
    OpaqueT,
    OtherConst,
    PtrT,
    StructT,
    Type,
    Value,
    VectorT,
    VoidT,
)
from loopless.source.lexer import Cursor, Unread, name_of, tokenize
from loopless.source.metadata import Metadata
from loopless.source.quick import QuickReader

_FAST_MATH: Final = frozenset({"nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc", "fast"})
_FLAGS: Final = _FAST_MATH | GEP_FLAGS | {"nsw", "exact", "disjoint", "nneg", "samesign"}
_BINARY: Final = (
    "add",
    "sub",
    "mul",
    "udiv",
    "sdiv",
    "urem",
    "srem",
    "shl",
    "lshr",
    "ashr",
    "and",
    "or",
    "xor",
    "fadd",
    "fsub",
    "fmul",
    "fdiv",
    "frem",
)
_CASTS: Final = (
    "trunc",
    "zext",
    "sext",
    "fptrunc",
    "fpext",
    "fptoui",
    "fptosi",
    "uitofp",
    "sitofp",
    "ptrtoint",
    "ptrtoaddr",
    "inttoptr",
    "bitcast",
    "addrspacecast",
)
_CALL_WORDS: Final = frozenset({"tail", "musttail", "notail"})
_CONVENTION: Final = pattern(r"\w+cc|cc|\w+_(?:kernel|device|std|call|intr|vs|gs|ps|cs|hs|ls|es|gfx\w*)\w*")
_ORDERINGS: Final = frozenset({"unordered", "monotonic", "acquire", "release", "acq_rel", "seq_cst"})
_VOID: Final = VoidT()
_I1: Final = IntT(1)
_UNKNOWN: Final = OpaqueT("unknown")
_NONE: Final[frozenset[str]] = frozenset()
_LABELS: Final = pattern(r'label (%"[^"]*"|%[-\w.$]+)')

Attributes = Callable[[str], frozenset[str]]
Locals = dict[str, Local]


class Reader:
    """Reads the instructions of one module's functions; ``group`` resolves an attribute group (``#3``)."""

    def __init__(self, constants: Constants, metadata: Metadata, group: Attributes) -> None:
        self.constants = constants
        self.metadata = metadata
        self.group = group
        self._quick = QuickReader(constants, metadata)
        self._handlers: Final[Mapping[str, Callable[[Cursor, Locals, str], Instruction]]] = {
            **dict.fromkeys(_BINARY, self._binary),
            **dict.fromkeys(_CASTS, self._cast),
            **dict.fromkeys(("fneg", "freeze", "ret", "resume", "extractelement", "insertelement"), self._plain),
            **dict.fromkeys(("icmp", "fcmp"), self._compare),
            **dict.fromkeys(("call", "invoke", "callbr", *_CALL_WORDS), self._call),
            "load": self._load,
            "store": self._store,
            "alloca": self._alloca,
            "getelementptr": self._gep,
            "phi": self._phi,
            "select": self._select,
            "br": self._branch,
            "switch": self._switch,
            "indirectbr": self._indirect,
            "unreachable": self._unreachable,
            "extractvalue": self._extract_value,
            "insertvalue": self._insert_value,
            "shufflevector": self._shuffle,
            "cmpxchg": self._compare_exchange,
            "atomicrmw": self._atomic_update,
            "fence": self._fence,
            "va_arg": self._va_arg,
            "landingpad": self._landing_pad,
        }

    # ------------------------------------------------------------------------------------------------ entry points

    def instruction(self, text: str, locals_: Locals) -> Instruction:
        """The instruction with this text (continuation lines joined); ``unsupported`` where we cannot read it."""
        quick = self._quick.instruction(text, locals_)
        return quick if quick is not None else self.in_full(text, locals_)

    def in_full(self, text: str, locals_: Locals) -> Instruction:
        """The same by the whole grammar, whatever shape the instruction has."""
        tokens = tokenize(text)
        loc, loop = None, None
        marked: frozenset[str] = _NONE
        while len(tokens) > 3 and tokens[-3] == "," and tokens[-2][0] == "!" and tokens[-1][:1] == "!":
            number, kind = tokens.pop(), tokens.pop()
            tokens.pop()
            if kind == "!dbg":
                loc = self.metadata.location(int(number[1:]))
            elif kind == "!llvm.loop":
                loop = self.metadata.loop(int(number[1:]))
            elif kind in marks.ATTACHMENTS:
                marked |= {marks.ATTACHMENTS[kind]}
            elif kind == "!range" and self.metadata.text(int(number[1:])) == "!{i8 0, i8 2}":
                marked |= {marks.TRUTH}
        result = tokens[0] if len(tokens) > 1 and tokens[1] == "=" else None
        c = Cursor(tokens)
        c.at = 0 if result is None else 2
        try:
            op = c.next()
            found = self._handlers[op](c, locals_, op)
            c.expect("")
        except (Unread, KeyError, IndexError, ValueError):
            found = _unsupported(text)
        return _placed(found, None if result is None else name_of(result), loc, loop, marked)

    # ------------------------------------------------------------------------------------------------------ arithmetic

    def _flags(self, c: Cursor) -> frozenset[str]:
        if c.tokens[c.at] not in _FLAGS:
            return _NONE
        words = []
        while c.tokens[c.at] in _FLAGS:
            words.append(c.next())
        return frozenset(words)

    def _binary(self, c: Cursor, names: Locals, op: str) -> Instruction:
        flags = self._flags(c)
        t = self.constants.type(c)
        left = self.constants.value(c, t, names)
        c.expect(",")
        return Instruction(op, None, t, (left, self.constants.value(c, t, names)), flags)

    def _cast(self, c: Cursor, names: Locals, op: str) -> Instruction:
        flags = self._flags(c)
        value = self.constants.typed(c, names)
        c.expect("to")
        return Instruction(op, None, self.constants.type(c), (value,), flags)

    def _plain(self, c: Cursor, names: Locals, op: str) -> Instruction:
        """Operations on one or more typed operands whose result has the first one's type."""
        flags = self._flags(c)
        if op == "ret" and c.accept("void"):
            return Instruction(op, None, _VOID)
        operands = self._list(c, names)
        t = operands[0].type
        if op in ("ret", "resume"):
            t = _VOID
        elif op == "extractelement" and isinstance(t, VectorT):
            t = t.element
        return Instruction(op, None, t, operands, flags)

    def _list(self, c: Cursor, names: Locals) -> tuple[Value, ...]:
        operands = [self.constants.typed(c, names)]
        while c.accept(","):
            operands.append(self.constants.typed(c, names))
        return tuple(operands)

    def _compare(self, c: Cursor, names: Locals, op: str) -> Instruction:
        flags = self._flags(c)
        predicate = c.next()
        t = self.constants.type(c)
        left = self.constants.value(c, t, names)
        c.expect(",")
        right = self.constants.value(c, t, names)
        result: Type = VectorT(t.count, _I1, t.scalable) if isinstance(t, VectorT) else _I1
        return Instruction(op, None, result, (left, right), flags, predicate)

    def _select(self, c: Cursor, names: Locals, op: str) -> Instruction:
        flags = self._flags(c)
        operands = self._list(c, names)
        return Instruction(op, None, operands[1].type, operands, flags)

    def _phi(self, c: Cursor, names: Locals, op: str) -> Instruction:
        flags = self._flags(c)
        t = self.constants.type(c)
        incoming = []
        while True:
            c.expect("[")
            value = self.constants.value(c, t, names)
            c.expect(",")
            incoming.append((value, name_of(c.next())))
            c.expect("]")
            if not c.accept(","):
                return Instruction(op, None, t, flags=flags, incoming=tuple(incoming))

    # ---------------------------------------------------------------------------------------------------------- memory

    def _tail(self, c: Cursor) -> tuple[str, int]:
        """Scope, ordering and alignment behind the operands of a memory access."""
        atomic, align = "", 0
        if c.accept("syncscope"):
            c.balanced()
        while c.peek() in _ORDERINGS:
            atomic = f"{atomic} {c.next()}".strip()
        while c.accept(","):
            word = c.next()
            if word == "align":
                align = int(c.next())
            elif word == "addrspace":
                c.balanced()
            else:
                raise Unread(word)
        return atomic, align

    def _load(self, c: Cursor, names: Locals, op: str) -> Instruction:
        c.accept("atomic")
        volatile = c.accept("volatile")
        t = self.constants.type(c)
        c.expect(",")
        address = self.constants.typed(c, names)
        atomic, align = self._tail(c)
        flags = frozenset({"volatile"}) if volatile else _NONE
        return Instruction(op, None, t, (address,), flags, access=Access(t, align, volatile, atomic))

    def _store(self, c: Cursor, names: Locals, op: str) -> Instruction:
        c.accept("atomic")
        volatile = c.accept("volatile")
        value = self.constants.typed(c, names)
        c.expect(",")
        address = self.constants.typed(c, names)
        atomic, align = self._tail(c)
        flags = frozenset({"volatile"}) if volatile else _NONE
        return Instruction(op, None, _VOID, (value, address), flags, access=Access(value.type, align, volatile, atomic))

    def _alloca(self, c: Cursor, names: Locals, op: str) -> Instruction:
        while c.peek() in ("inalloca", "swifterror"):
            c.next()
        t = self.constants.type(c)
        operands: tuple[Value, ...] = ()
        space = 0
        if c.peek() == "," and c.tokens[c.at + 1] not in ("align", "addrspace"):
            c.next()
            count = self.constants.typed(c, names)
            operands = () if isinstance(count, IntConst) and count.value == 1 else (count,)
        for i in range(c.at, len(c.tokens) - 2):
            if c.tokens[i] == "addrspace":
                space = int(c.tokens[i + 2])
        _, align = self._tail(c)
        return Instruction(op, None, PtrT(space), operands, access=Access(t, align))

    def _gep(self, c: Cursor, names: Locals, op: str) -> Instruction:
        flags = set(self._flags(c))
        if c.accept("inrange"):
            c.balanced()
        source = self.constants.type(c)
        c.expect(",")
        operands = self._list(c, names)
        vectors = [v.type for v in operands if isinstance(v.type, VectorT)]
        if vectors and not isinstance(operands[0].type, VectorT):
            t: Type = VectorT(vectors[0].count, operands[0].type, vectors[0].scalable)
        else:
            t = operands[0].type
        gep = None if vectors else self.constants.decompose(source, list(operands))
        return Instruction(op, None, t, operands, frozenset(flags), gep=gep)

    def _compare_exchange(self, c: Cursor, names: Locals, op: str) -> Instruction:
        flags = {w for w in ("weak", "volatile") if c.accept(w)}
        operands = [self.constants.typed(c, names)]
        for _ in range(2):
            c.expect(",")
            operands.append(self.constants.typed(c, names))
        atomic, align = self._tail(c)
        t = operands[1].type
        access = Access(t, align, "volatile" in flags, atomic)
        return Instruction(op, None, StructT((t, _I1)), tuple(operands), frozenset(flags), access=access)

    def _atomic_update(self, c: Cursor, names: Locals, op: str) -> Instruction:
        volatile = c.accept("volatile")
        what = c.next()
        address = self.constants.typed(c, names)
        c.expect(",")
        value = self.constants.typed(c, names)
        atomic, align = self._tail(c)
        access = Access(value.type, align, volatile, atomic)
        flags = frozenset({"volatile"}) if volatile else _NONE
        return Instruction(op, None, value.type, (address, value), flags, predicate=what, access=access)

    def _fence(self, c: Cursor, _names: Locals, op: str) -> Instruction:
        atomic, _ = self._tail(c)
        return Instruction(op, None, _VOID, predicate=atomic)

    def _va_arg(self, c: Cursor, names: Locals, op: str) -> Instruction:
        address = self.constants.typed(c, names)
        c.expect(",")
        return Instruction(op, None, self.constants.type(c), (address,))

    # ------------------------------------------------------------------------------------------------------ aggregates

    def _indices(self, c: Cursor) -> tuple[int, ...]:
        indices = []
        while c.accept(","):
            indices.append(int(c.next()))
        return tuple(indices)

    def _extract_value(self, c: Cursor, names: Locals, op: str) -> Instruction:
        whole = self.constants.typed(c, names)
        indices = self._indices(c)
        t = whole.type
        for i in indices:
            if isinstance(t, StructT):
                t = t.fields[i]
            elif isinstance(t, ArrayT):
                t = t.element
            else:
                raise Unread("index into a scalar")
        return Instruction(op, None, t, (whole,), indices=indices)

    def _insert_value(self, c: Cursor, names: Locals, op: str) -> Instruction:
        whole = self.constants.typed(c, names)
        c.expect(",")
        part = self.constants.typed(c, names)
        return Instruction(op, None, whole.type, (whole, part), indices=self._indices(c))

    def _shuffle(self, c: Cursor, names: Locals, op: str) -> Instruction:
        left, right, mask = self._list(c, names)
        t, m = left.type, mask.type
        if not isinstance(t, VectorT) or not isinstance(m, VectorT):
            raise Unread("shuffle of no vectors")
        elements = getattr(mask, "elements", None)
        if elements is None:
            lanes = (0 if type(mask).__name__ == "ZeroInit" else -1,) * m.count
        else:
            lanes = tuple(e.value if isinstance(e, IntConst) else -1 for e in elements)
        return Instruction(op, None, VectorT(m.count, t.element, m.scalable), (left, right), indices=lanes)

    # ----------------------------------------------------------------------------------------------------- control

    def _unreachable(self, _c: Cursor, _names: Locals, op: str) -> Instruction:
        return Instruction(op, None, _VOID)

    def _label(self, c: Cursor) -> str:
        c.expect("label")
        return name_of(c.next())

    def _branch(self, c: Cursor, names: Locals, op: str) -> Instruction:
        if c.peek() == "label":
            return Instruction(op, None, _VOID, targets=(self._label(c),))
        condition = self.constants.typed(c, names)
        c.expect(",")
        then = self._label(c)
        c.expect(",")
        return Instruction(op, None, _VOID, (condition,), targets=(then, self._label(c)))

    def _switch(self, c: Cursor, names: Locals, op: str) -> Instruction:
        condition = self.constants.typed(c, names)
        c.expect(",")
        default = self._label(c)
        c.expect("[")
        cases = []
        while not c.accept("]"):
            value = self.constants.typed(c, names)
            if not isinstance(value, IntConst):
                raise Unread("case of no integer")
            c.expect(",")
            cases.append((value.value, self._label(c)))
        targets = (default, *(label for _, label in cases))
        return Instruction(op, None, _VOID, (condition,), cases=tuple(cases), targets=targets)

    def _indirect(self, c: Cursor, names: Locals, op: str) -> Instruction:
        address = self.constants.typed(c, names)
        c.expect(",")
        return Instruction(op, None, _VOID, (address,), targets=self._labels(c))

    def _labels(self, c: Cursor) -> tuple[str, ...]:
        c.expect("[")
        labels: list[str] = []
        while not c.accept("]"):
            if labels:
                c.expect(",")
            labels.append(self._label(c))
        return tuple(labels)

    def _landing_pad(self, c: Cursor, names: Locals, op: str) -> Instruction:
        t = self.constants.type(c)
        clauses: list[Value] = []
        cleanup = c.accept("cleanup")
        while c.peek() in ("catch", "filter"):
            word = c.next()
            clauses.append(OtherConst(METADATA, word, word, (self.constants.typed(c, names),)))
        return Instruction(op, None, t, tuple(clauses), frozenset({"cleanup"}) if cleanup else _NONE)

    # ------------------------------------------------------------------------------------------------------- calls

    def _call(self, c: Cursor, names: Locals, op: str) -> Instruction:
        flags = set()
        if op in _CALL_WORDS:
            flags.add(op)
            op = c.next()
        flags |= self._flags(c)
        self._convention(c)
        attributes, _ = self.constants.attributes(c)
        if c.accept("addrspace"):
            c.balanced()
        t = self.constants.type(c)
        callee = self.constants.value(c, PtrT(), names)
        operands, arguments = self._arguments(c, names)
        attributes |= self._function_attributes(c)
        if c.accept("["):
            while c.next() not in ("]", ""):
                pass
            flags.add("bundle")
        targets: tuple[str, ...] = ()
        if op != "call":
            c.expect("to")
            targets = (self._label(c),)
            if op == "invoke":
                c.expect("unwind")
                targets += (self._label(c),)
            else:
                targets += self._labels(c)
        return Instruction(
            op,
            None,
            t.result if isinstance(t, FunctionT) else t,
            operands,
            frozenset(flags),
            callee=callee,
            targets=targets,
            attributes=attributes,
            arguments=arguments,
        )

    def _convention(self, c: Cursor) -> None:
        token = c.peek()
        if _CONVENTION.fullmatch(token):
            c.next()
            if token == "cc":
                c.next()

    def _arguments(self, c: Cursor, names: Locals) -> tuple[tuple[Value, ...], tuple[frozenset[str], ...]]:
        c.expect("(")
        operands: list[Value] = []
        attributes = []
        constants = self.constants
        while not c.accept(")"):
            if operands:
                c.expect(",")
            t = constants.type(c)
            words = constants.attributes(c)[0] if t is not METADATA else _NONE
            operands.append(constants.value(c, t, names))
            attributes.append(words)
        return tuple(operands), tuple(attributes)

    def _function_attributes(self, c: Cursor) -> frozenset[str]:
        words: frozenset[str] = _NONE
        while True:
            token = c.peek()
            if token[:1] == "#":
                words |= self.group(c.next())
            elif token and token != "to" and (token[0].isalpha() or token[0] == '"'):
                found, _ = self.constants.attributes(c)
                if not found:
                    return words
                words |= found
            else:
                return words


def _unsupported(text: str) -> Instruction:
    """What stands for an instruction we cannot read: its successors, if it is a terminator, are all its labels."""
    words = text.split(" = ", 1)[-1].split(None, 1)
    op = words[0] if words else ""
    targets = tuple(name_of(t) for t in _LABELS.findall(text)) if op in TERMINATORS else ()
    result = _UNKNOWN if re.match(r'%("[^"]*"|\S+) = ', text) else _VOID
    return Instruction("unsupported", None, result, targets=targets, predicate=op, text=text)


def _placed(
    i: Instruction, result: str | None, loc: object, loop: LoopMark | None, marked: frozenset[str]
) -> Instruction:
    """Fill in what every instruction may have; only here, before anybody else has seen it."""
    if result is not None:
        object.__setattr__(i, "result", result)
    if loc is not None:
        object.__setattr__(i, "loc", loc)
    if loop is not None:
        object.__setattr__(i, "loop", loop)
    if marked:
        object.__setattr__(i, "flags", i.flags | marked)
    return i
