"""Signatures of C functions and types of globals, read from the debug information of an LLVM module's text.

Only what a native call needs: integers with their width and signedness, and pointers to them. Everything else is an
:class:`Opaque` type, which cannot be passed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from loopless.patterns import pattern
from loopless.records import dataclass


@dataclass(frozen=True, slots=True)
class CType:
    """A C integer type: its name, its width in bits, and whether it is signed."""

    name: str
    bits: int
    signed: bool

    @property
    def low(self) -> int:
        """The least value."""
        return -(1 << (self.bits - 1)) if self.signed else 0

    @property
    def high(self) -> int:
        """The greatest value."""
        return (1 << (self.bits - 1)) - 1 if self.signed else (1 << self.bits) - 1

    @property
    def size(self) -> int:
        """The size in bytes."""
        return max(1, self.bits // 8)

    def wrap(self, value: int) -> int:
        """The value of this type congruent to ``value`` modulo 2^bits; for ``_Bool``, whether it is not zero."""
        if self.name == "_Bool":
            return int(value != 0)
        value &= (1 << self.bits) - 1
        return value - (1 << self.bits) if self.signed and value >> (self.bits - 1) else value


@dataclass(frozen=True, slots=True)
class PointerType:
    """A pointer (or an array parameter) whose elements are integers."""

    element: CType


@dataclass(frozen=True, slots=True)
class Opaque:
    """A type that a native call cannot pass: a struct, a floating-point number, a pointer to a pointer."""

    name: str


Parameter = CType | PointerType | Opaque


@dataclass(frozen=True, slots=True)
class Leaf:
    """A number or a pointer in a structure: its name in C, its first byte, and its type, or "float" or "double"."""

    name: str
    offset: int
    type: CType | Opaque


@dataclass(frozen=True, slots=True)
class Declared:
    """A parameter as the source has it, where the compiled function takes it as ``parts`` parameters (of a structure:
    its eightbytes in their order, or ``in_memory`` the address of a copy; System V ABI for x86-64, 3.2.3).

    ``type``: as C spells it; ``size`` in bytes, 0 of what is no structure; ``leaves``: the numbers in it, and
    ``pointers``.
    """

    name: str
    type: str
    parts: int
    size: int = 0
    leaves: tuple[Leaf, ...] = ()
    pointers: tuple[Leaf, ...] = ()
    in_memory: bool = False


@dataclass(frozen=True, slots=True)
class Signature:
    """Parameters in order, and the result (``None`` for ``void``). ``declared``: those of the source, where others are
    meant by ``params``.
    """

    params: tuple[Parameter, ...]
    result: CType | Opaque | None
    declared: tuple[Declared, ...] = ()


_NODE = pattern(r"^!(\d+) = (?:distinct )?!(?:(DI\w+)\((.*)\)|\{(.*)\})$")
_FIELD = pattern(r'(\w+): ("(?:[^"]*)"|[^,()]+(?:\([^()]*\))?)')
_FUNCTION = pattern(r'^define\s.*?@("[^"]+"|[\w$.\-]+)\(.*!dbg !(\d+)')
_TRANSPARENT = {
    "DW_TAG_typedef",
    "DW_TAG_const_type",
    "DW_TAG_volatile_type",
    "DW_TAG_restrict_type",
    "DW_TAG_atomic_type",
}
_SIGNED = {"DW_ATE_signed": True, "DW_ATE_signed_char": True, "DW_ATE_unsigned": False, "DW_ATE_unsigned_char": False}


class DebugInfo:
    """The metadata nodes of a module's text that describe types, functions and global variables."""

    def __init__(self, ir_text: str) -> None:
        self._kinds: dict[int, str] = {}
        self._raw: dict[int, str] = {}
        self._functions: dict[str, int] = {}
        for line in ir_text.splitlines():
            if line.startswith("!"):
                node = _NODE.match(line)
                if node:
                    number = int(node[1])
                    self._kinds[number] = node[2] or "list"
                    self._raw[number] = node[3] if node[2] else node[4]
            elif line.startswith("define"):
                function = _FUNCTION.match(line)
                if function:
                    self._functions[function[1].strip('"')] = int(function[2])

    def _fields(self, number: int) -> dict[str, str]:
        return {name: value.strip().strip('"') for name, value in _FIELD.findall(self._raw.get(number, ""))}

    def _reference(self, fields: Mapping[str, str], name: str) -> int | None:
        value = fields.get(name, "null")
        return int(value[1:]) if value.startswith("!") and value[1:].isdigit() else None

    def _items(self, number: int | None) -> list[int | None]:
        if number is None or self._kinds.get(number) != "list":
            return []
        text = self._raw[number]
        return [int(item[1:]) if item.startswith("!") else None for item in (part.strip() for part in text.split(","))]

    def type(self, number: int | None) -> Parameter | None:
        """The type that node ``number`` describes; ``None`` is ``void``."""
        if number is None:
            return None
        fields = self._fields(number)
        tag = fields.get("tag", "")
        kind = self._kinds.get(number)
        if kind == "DIBasicType":
            name, encoding = fields.get("name", "?"), fields.get("encoding", "")
            bits = int(fields.get("size", "0"))
            if encoding == "DW_ATE_boolean":
                return CType("_Bool", 8, False)
            if encoding in _SIGNED and bits <= 64:
                return CType(name, bits, _SIGNED[encoding])
            return Opaque(name)
        base = self._reference(fields, "baseType")
        if tag in _TRANSPARENT:
            return self.type(base)
        if tag in ("DW_TAG_pointer_type", "DW_TAG_array_type"):
            element = self.type(base)
            return PointerType(element) if isinstance(element, CType) else Opaque("pointer")
        if tag == "DW_TAG_enumeration_type":
            element = self.type(base)
            bits = int(fields.get("size", "32"))
            return element if isinstance(element, CType) else CType("unsigned int", bits, False)
        return Opaque(fields.get("name", tag or "unknown type"))

    def spelled(self, number: int | None) -> str:
        """How C spells a type that has a name; else nothing."""
        if number is None:
            return ""
        fields = self._fields(number)
        tag = fields.get("tag", "")
        word = {"DW_TAG_structure_type": "struct ", "DW_TAG_union_type": "union "}.get(tag, "")
        if fields.get("name"):
            return f"{word}{fields['name']}"
        return self.spelled(self._reference(fields, "baseType")) if tag in _TRANSPARENT else ""

    def size(self, number: int | None) -> int:
        """The bytes of a type; 0 where that is not known."""
        if number is None:
            return 0
        fields = self._fields(number)
        if fields.get("tag", "") in _TRANSPARENT:
            return self.size(self._reference(fields, "baseType"))
        return int(fields.get("size", "0")) // 8

    def leaves(self, number: int | None, name: str, at: int = 0) -> Iterator[Leaf]:
        """The numbers and pointers in a structure that C calls ``name``, but for bit-fields and elements of arrays."""
        fields = self._fields(number) if number is not None else {}
        tag = fields.get("tag", "")
        if tag in _TRANSPARENT:
            yield from self.leaves(self._reference(fields, "baseType"), name, at)
        elif tag == "DW_TAG_structure_type":
            for member in self._items(self._reference(fields, "elements")):
                inner = self._fields(member) if member is not None else {}
                base, start = self._reference(inner, "baseType"), int(inner.get("offset", "0"))
                if "DIFlagBitField" in inner.get("flags", "") or start % 8:
                    continue
                shown = f"{name}.{inner['name']}" if inner.get("name") else name
                found = self.type(base)
                if isinstance(found, PointerType):
                    yield Leaf(shown, at + start // 8, Opaque("pointer"))
                elif isinstance(found, CType) or (found is not None and found.name in ("float", "double", "pointer")):
                    yield Leaf(shown, at + start // 8, found)
                else:
                    yield from self.leaves(base, shown, at + start // 8)

    def parameter_types(self, function: str) -> list[int | None] | None:
        """The nodes of the types of a function's parameters; None where there are none."""
        routine = self._reference(self._fields(self._functions.get(function, -1)), "type")
        types = self._items(self._reference(self._fields(routine), "types")) if routine is not None else []
        return types[1:] if types else None

    def signatures(self) -> dict[str, Signature]:
        """The signature of every defined function that has debug information, by its symbol name."""
        found: dict[str, Signature] = {}
        for name, subprogram in self._functions.items():
            routine = self._reference(self._fields(subprogram), "type")
            if routine is None:
                continue
            types = self._items(self._reference(self._fields(routine), "types"))
            if not types:
                continue
            result = self.type(types[0])
            params = tuple(self.type(number) or Opaque("...") for number in types[1:])
            found[name] = Signature(params, Opaque("pointer") if isinstance(result, PointerType) else result)
        return found

    def global_types(self, attachments: Mapping[str, int]) -> dict[str, tuple[str, Parameter]]:
        """For symbols with the number of their ``!dbg`` attachment: the source name and the type.

        A variable that is local to a function is called ``function.variable``.
        """
        found: dict[str, tuple[str, Parameter]] = {}
        for symbol, number in attachments.items():
            variable = self._reference(self._fields(number), "var") if self._is_expression(number) else number
            if variable is None:
                continue
            fields = self._fields(variable)
            ctype = self.type(self._reference(fields, "type"))
            if "name" not in fields or ctype is None:
                continue
            scope = self._reference(fields, "scope")
            owner = self._function_of(scope)
            found[symbol] = (f"{owner}.{fields['name']}" if owner else fields["name"], ctype)
        return found

    def _is_expression(self, number: int) -> bool:
        return self._kinds.get(number) == "DIGlobalVariableExpression"

    def _function_of(self, scope: int | None) -> str | None:
        while scope is not None:
            fields = self._fields(scope)
            if self._kinds.get(scope) == "DISubprogram":
                return fields.get("name")
            scope = self._reference(fields, "scope")
        return None

    def local(self, variable: int) -> str | None:
        """The name of a local variable that is no parameter; ``None`` for everything else."""
        fields = self._fields(variable)
        is_local = self._kinds.get(variable) == "DILocalVariable" and "arg" not in fields
        return fields.get("name") if is_local else None

    def is_truth(self, variable: int) -> bool:
        """Whether a variable is a ``_Bool``."""
        ctype = self.type(self._reference(self._fields(variable), "type"))
        return isinstance(ctype, CType) and ctype.name == "_Bool"

    def line(self, location: int) -> int:
        """The source line of a location; an artificial one (line 0) counts as the place that it was inlined at."""
        seen: set[int] = set()
        at: int | None = location
        while at is not None and at not in seen:
            seen.add(at)
            fields = self._fields(at)
            if fields.get("line", "0") != "0":
                return int(fields["line"])
            at = self._reference(fields, "inlinedAt")
        return 0
