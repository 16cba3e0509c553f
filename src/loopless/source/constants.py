"""Reads types, attributes and values from tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from loopless.source.ir import (
    AddressOf,
    ArrayT,
    BytesConst,
    ConstantAggregate,
    FloatConst,
    FloatT,
    FunctionT,
    Gep,
    GlobalRef,
    IntConst,
    IntT,
    Local,
    NullPtr,
    OpaqueT,
    OtherConst,
    Poison,
    PtrT,
    StructT,
    Type,
    Undef,
    Value,
    VectorT,
    VoidT,
    ZeroInit,
)
from loopless.source.layout import DataLayout
from loopless.source.lexer import Cursor, Unread, join, name_of, tokenize, unescape_bytes

METADATA: Final = OpaqueT("metadata")
_PTR: Final = PtrT()
_SIMPLE: Final[dict[str, Type]] = {
    "void": VoidT(),
    "label": OpaqueT("label"),
    "token": OpaqueT("token"),
    "metadata": METADATA,
    "x86_amx": OpaqueT("x86_amx"),
    "opaque": OpaqueT("opaque"),
    "byte": OpaqueT("byte"),
    **{k: FloatT(k) for k in ("half", "bfloat", "float", "double", "x86_fp80", "fp128", "ppc_fp128")},
    **{f"i{n}": IntT(n) for n in (1, 8, 16, 32, 64, 128)},
}
_TYPE_STARTS: Final = frozenset({*_SIMPLE, "ptr", "target", "[", "{", "<"})
_CASTS: Final = frozenset({"ptrtoint", "ptrtoaddr", "inttoptr", "bitcast", "addrspacecast", "trunc", "zext", "sext"})
_BINARY: Final = frozenset({"add", "sub", "mul", "shl", "lshr", "ashr", "and", "or", "xor"})
GEP_FLAGS: Final = frozenset({"inbounds", "nuw", "nusw"})


def starts_type(token: str) -> bool:
    """Whether ``token`` can be the first of a type."""
    return token in _TYPE_STARTS or (token[:1] == "i" and token[1:].isdigit()) or (token[:1] == "%" and token[1:] != "")


class Constants:
    """Reads types and values of one module: knows its named types and its data layout."""

    def __init__(self, named: Mapping[str, str], layout: DataLayout) -> None:
        """``named`` maps a type token (``%struct.S``) to the text of its definition."""
        self.layout = layout
        self._named_text = named
        self._types: dict[str, Type] = dict(_SIMPLE)
        self._ints: dict[tuple[str, int], IntConst] = {}
        self._sizes: dict[int, tuple[Type, int]] = {}
        self._offsets: dict[tuple[int, int], tuple[Type, int]] = {}
        self.same_object: dict[str, Value] = {}
        """Other names of variables, to the address that each is."""

    # ------------------------------------------------------------------------------------------------------ types

    def type(self, c: Cursor) -> Type:
        """The type at the cursor, a function type if parentheses follow."""
        token = c.tokens[c.at]
        c.at += 1
        t = self._types.get(token)
        if t is None:
            t = _PTR if token == "ptr" else self._other_type(token, c)
            if token == "ptr" and c.peek() == "addrspace":
                c.next()
                t = PtrT(int(c.balanced()[1:-1]))
        if c.tokens[c.at] == "(":
            return self._function_type(t, c)
        return t

    def _other_type(self, token: str, c: Cursor) -> Type:
        if token[0] == "i" and token[1:].isdigit():
            t: Type = IntT(int(token[1:]))
        elif token[0] == "%":
            t = self._named(token)
        elif token == "[":
            count = int(c.next())
            c.expect("x")
            element = self.type(c)
            c.expect("]")
            return ArrayT(count, element)
        elif token == "{":
            return StructT(self._fields(c, "}"))
        elif token == "<" and c.peek() == "{":
            c.next()
            fields = self._fields(c, "}")
            c.expect(">")
            return StructT(fields, packed=True)
        elif token == "<":
            scalable = c.accept("vscale")
            if scalable:
                c.expect("x")
            count = int(c.next())
            c.expect("x")
            element = self.type(c)
            c.expect(">")
            return VectorT(count, element, scalable)
        elif token == "target":
            return OpaqueT("target" + c.balanced())
        else:
            raise Unread(f"not a type: {token!r}")
        self._types[token] = t
        return t

    def _fields(self, c: Cursor, close: str) -> tuple[Type, ...]:
        fields: list[Type] = []
        while not c.accept(close):
            if fields:
                c.expect(",")
            fields.append(self.type(c))
        return tuple(fields)

    def _named(self, token: str) -> Type:
        name, text = name_of(token), self._named_text.get(token)
        if text is None or text == "opaque":
            return OpaqueT(name)
        t = self.type(Cursor(tokenize(text)))
        return StructT(t.fields, t.packed, name) if isinstance(t, StructT) else t

    def _function_type(self, result: Type, c: Cursor) -> FunctionT:
        c.expect("(")
        params: list[Type] = []
        variadic = False
        while not c.accept(")"):
            if params or variadic:
                c.expect(",")
            if c.accept("..."):
                variadic = True
            else:
                params.append(self.type(c))
        return FunctionT(result, tuple(params), variadic)

    # ------------------------------------------------------------------------------------------------- attributes

    def attributes(self, c: Cursor) -> tuple[frozenset[str], dict[str, Type]]:
        """Attributes of a parameter or result up to the next type or value, and the types that some carry.

        ``align 8`` and ``byval(%struct.S)`` become strings; the second part maps ``byval``, ``sret`` … to the type.
        """
        words: list[str] = []
        types: dict[str, Type] = {}
        while True:
            token = c.tokens[c.at]
            if not token or not (token[0].isalpha() or token[0] == '"') or token[:2] == 'c"':
                break
            if starts_type(token) or token in _VALUE_WORDS:
                break
            c.at += 1
            if token == "align" and c.peek() != "(":
                token = f"align {c.next()}"
            elif c.peek() == "=":
                c.next()
                token = f"{token}={c.next()}"
            elif c.peek() == "(":
                start = c.at
                token += c.balanced()
                if token.startswith(("byval(", "sret(", "byref(", "inalloca(", "preallocated(", "elementtype(")):
                    types[token[: token.index("(")]] = self.type(Cursor(c.tokens[start + 1 : c.at - 1]))
            words.append(token)
        return frozenset(words), types

    # ----------------------------------------------------------------------------------------------------- values

    def typed(self, c: Cursor, locals_: dict[str, Local]) -> Value:
        """A type and the value behind it."""
        return self.value(c, self.type(c), locals_)

    def value(self, c: Cursor, t: Type, locals_: dict[str, Local]) -> Value:
        """The value at the cursor, which has type ``t``; ``locals_`` keeps one object per local of the function."""
        token = c.tokens[c.at]
        first = token[:1]
        if first == "%":
            c.at += 1
            local = locals_.get(token)
            if local is None:
                local = locals_[token] = Local(name_of(token), t)
            return local
        if isinstance(t, IntT) and (first == "-" or first.isdigit()):
            c.at += 1
            return self._int(token, t.bits)
        if first == "@":
            c.at += 1
            name = name_of(token)
            meant = self.same_object.get(name)
            return meant or GlobalRef(name, t.address_space if isinstance(t, PtrT) else 0)
        if t is METADATA:
            return self._metadata(c, locals_)
        return self._constant(c, t, locals_)

    def _int(self, token: str, bits: int) -> IntConst:
        key = (token, bits)
        found = self._ints.get(key)
        if found is None:
            n = int(token) & ((1 << bits) - 1)
            found = self._ints[key] = IntConst(bits, n - (1 << bits) if n >> (bits - 1) else n)
        return found

    def _metadata(self, c: Cursor, locals_: dict[str, Local]) -> Value:
        """The operand of an intrinsic that takes metadata: a wrapped value, or a node (as text)."""
        token = c.peek()
        if starts_type(token):
            return self.typed(c, locals_)
        c.next()
        if c.peek() == "(" and token.startswith("!"):
            token += c.balanced()
        elif token == "!" and c.peek() == "{":
            while c.peek() not in ("}", ""):
                token += c.next()
            token += c.next()
        return OtherConst(METADATA, token)

    def _constant(self, c: Cursor, t: Type, locals_: dict[str, Local]) -> Value:
        token = c.next()
        simple = _WORDS.get(token)
        if simple is not None:
            return simple(t)
        if isinstance(t, FloatT) and (token[0] in "-+0123456789" or token.lstrip("+-") in ("inf", "nan", "qnan")):
            return FloatConst(t, token + (c.balanced() if c.peek() == "(" else ""))
        if token[:2] == 'c"':
            return BytesConst(unescape_bytes(token[2:-1]))
        if token in _CLOSERS:
            return self._aggregate(c, t, token, locals_)
        if token == "asm":
            return self._asm(c, t)
        if token == "splat":
            c.expect("(")
            element = self.typed(c, locals_)
            c.expect(")")
            return ConstantAggregate(t, (element,) * t.count) if isinstance(t, VectorT) else OtherConst(t, "splat")
        return self._expression(c, t, token, locals_)

    def _aggregate(self, c: Cursor, t: Type, opening: str, locals_: dict[str, Local]) -> Value:
        packed = opening == "<" and c.accept("{")
        close = "}" if packed else _CLOSERS[opening]
        elements: list[Value] = []
        while not c.accept(close):
            if elements:
                c.expect(",")
            elements.append(self.typed(c, locals_))
        if packed:
            c.expect(">")
        return ConstantAggregate(t, tuple(elements))

    def _asm(self, c: Cursor, t: Type) -> Value:
        start = c.at - 1
        while c.peek()[:1] != '"':
            if c.done():
                raise Unread("asm without text")
            c.next()
        c.next()
        c.expect(",")
        c.next()
        return OtherConst(t, join(c.tokens[start : c.at]), "asm")

    # -------------------------------------------------------------------------------------- constant expressions

    def _expression(self, c: Cursor, t: Type, op: str, locals_: dict[str, Local]) -> Value:
        start = c.at - 1
        if op in ("dso_local_equivalent", "no_cfi"):
            return GlobalRef(name_of(c.next()))
        if op == "getelementptr":
            flags: set[str] = set()
            while c.peek() in GEP_FLAGS or c.peek() == "inrange":
                flags.add(word := c.next())
                if word == "inrange":
                    c.balanced()
            c.expect("(")
            source = self.type(c)
            operands = []
            while c.accept(","):
                operands.append(self.typed(c, locals_))
            c.expect(")")
            found = self._constant_address(source, operands, "inbounds" in flags)
            return found or OtherConst(t, join(c.tokens[start : c.at]), op, tuple(operands))
        if op in _CASTS:
            while c.peek() != "(":
                c.next()
            c.expect("(")
            operand = self.typed(c, locals_)
            c.expect("to")
            target = self.type(c)
            c.expect(")")
            if op == "bitcast" and isinstance(target, PtrT):
                return operand
            return OtherConst(t, join(c.tokens[start : c.at]), op, (operand,))
        if op in _BINARY:
            while c.peek() != "(":
                c.next()
            c.expect("(")
            left = self.typed(c, locals_)
            c.expect(",")
            right = self.typed(c, locals_)
            c.expect(")")
            return OtherConst(t, join(c.tokens[start : c.at]), op, (left, right))
        if c.peek() == "(":
            c.balanced()
            return OtherConst(t, join(c.tokens[start : c.at]), op)
        raise Unread(f"not a value: {op!r}")

    def _constant_address(self, source: Type, operands: list[Value], inbounds: bool) -> Value | None:  # noqa: FBT001
        """A constant address computation as global and offset, where it is one."""
        gep = self.decompose(source, operands)
        if gep is None or gep.steps:
            return None
        match gep.base:
            case GlobalRef(name, space):
                total = gep.offset
            case AddressOf(name, offset, space):
                total = offset + gep.offset
            case _:
                return None
        return AddressOf(name, total, space, inbounds) if total else GlobalRef(name, space)

    def decompose(self, source: Type, operands: list[Value]) -> Gep | None:
        """``getelementptr`` in bytes; None where a type has no size or vectors of pointers are computed."""
        offset = 0
        steps: list[tuple[Value, int]] = []
        t: Type = source
        size_of = self._size_of
        try:
            for n, index in enumerate(operands[1:]):
                if not isinstance(index.type, IntT):
                    return None
                if n:
                    if isinstance(t, StructT):
                        if not isinstance(index, IntConst):
                            return None
                        offset += self._offset_of(t, index.value)
                        t = t.fields[index.value]
                        continue
                    if not isinstance(t, ArrayT | VectorT):
                        return None
                    t = t.element
                if isinstance(index, IntConst):
                    offset += index.value and index.value * size_of(t)
                else:
                    steps.append((index, size_of(t)))
        except ValueError:
            return None
        return Gep(operands[0], offset, tuple(steps), source)

    def _size_of(self, t: Type) -> int:
        """As that of the layout, which takes a type apart to know it again."""
        found = self._sizes.get(id(t))
        if found is None:
            found = self._sizes[id(t)] = t, self.layout.size_of(t)  # kept, so that the number stays its own
        return found[1]

    def _offset_of(self, t: StructT, index: int) -> int:
        found = self._offsets.get((id(t), index))
        if found is None:
            found = self._offsets[id(t), index] = t, self.layout.offset_of(t, index)
        return found[1]


def _null(t: Type) -> Value:
    return NullPtr(t.address_space if isinstance(t, PtrT) else 0)


def _zero(t: Type) -> Value:
    return ZeroInit(t)


_WORDS: Final[dict[str, Callable[[Type], Value]]] = {
    "true": lambda _: IntConst(1, -1),
    "false": lambda _: IntConst(1, 0),
    "null": _null,
    "undef": Undef,
    "poison": Poison,
    "zeroinitializer": _zero,
    "none": lambda t: OtherConst(t, "none"),
}
_CLOSERS: Final = {"[": "]", "{": "}", "<": ">"}
_NAMED: Final = ("blockaddress", "dso_local_equivalent", "no_cfi", "ptrauth")
_VALUE_WORDS: Final = frozenset({*_WORDS, "asm", "splat", "to", *_CASTS, *_BINARY, "getelementptr", *_NAMED})
