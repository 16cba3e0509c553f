"""Metadata of a module, parsed on demand: places, scopes, source types and variables."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from loopless.limits.source import MAX_METADATA_DEPTH
from loopless.patterns import pattern
from loopless.source.debug import DebugType, DebugTypes, DebugVariable, DeclaredMember, TypeKind
from loopless.source.ir import Loc, LoopMark
from loopless.source.lexer import unescape

_NODE = pattern(r"(?:distinct )?!(?:(\w+)\((.*)\)|\{(.*)\})$")
_FIELD = pattern(r'(\w+): ((?:"[^"]*"|!?\w+\([^()]*\)|[^,"]+)+)')
_REF = pattern(r"^!(\d+)$")
_LOCATION = pattern(
    r"(?:distinct )?!DILocation\((?:line: (\d+))?(?:(?:, )?column: (\d+))?(?:, )?scope: !(\d+)(?:, inlinedAt: !(\d+))?"
)
_QUALIFIERS: Final = {
    "DW_TAG_const_type": "const",
    "DW_TAG_volatile_type": "volatile",
    "DW_TAG_restrict_type": "restrict",
    "DW_TAG_atomic_type": "_Atomic",
}
_STRUCTS: Final = {
    "DW_TAG_structure_type": "struct",
    "DW_TAG_union_type": "union",
    "DW_TAG_class_type": "class",
}
_POINTERS: Final = {"DW_TAG_pointer_type": "*", "DW_TAG_reference_type": "&", "DW_TAG_rvalue_reference_type": "&&"}


Node = tuple[str, dict[str, str]]
_NOWHERE: Node = ("", {})


def _from_here(full: str, name: str) -> str:
    """How a file is named that the compiler calls ``name``; as it does where there is no such file any more."""
    if not name or Path(name).is_absolute() or not Path(full).is_file():
        return name
    here = os.path.relpath(full)
    return full if here.startswith(os.pardir) else here


class Metadata:
    """The numbered metadata of one module; each node is parsed when it is first asked for.

    ``names`` maps absolute paths to the spelling that the user gave, which then stands in every place. ``scoped``: the
    compilation units whose places have scopes (:mod:`loopless.source.scopes`); ``unoptimized``: those as our clang
    writes them without optimization.
    """

    def __init__(
        self,
        lines: Mapping[int, str],
        names: Mapping[str, str],
        scoped: frozenset[int] = frozenset(),
        unoptimized: frozenset[int] = frozenset(),
    ) -> None:
        self._lines = lines
        self._overloads: dict[str, str] | None = None
        self._names = names
        self._scoped = scoped
        self._unoptimized = unoptimized
        self._units: dict[int, int | None] = {}
        self._around: dict[tuple[int, int], tuple[tuple[int, int], ...]] = {}
        self._nodes: dict[int, Node] = {}
        self._locations: dict[int, Loc | None] = {}
        self._scopes: dict[int, tuple[str, str]] = {}
        self._files: dict[int, str] = {}
        self._loops: dict[int, LoopMark] = {}
        self._variables: dict[tuple[int, int | None], DebugVariable | None] = {}
        self.types = DebugTypes(self._read_type, self._read_members)

    # ------------------------------------------------------------------------------------------------------ nodes

    def node(self, ident: int | None) -> Node:
        """The kind (``DIFile`` …; empty for a tuple or an unknown number) and the raw fields."""
        if ident is None:
            return _NOWHERE
        found = self._nodes.get(ident)
        if found is None:
            m = _NODE.match(self._lines.get(ident, ""))
            found = _NOWHERE
            if m is not None and m.group(1) is not None:
                found = (m.group(1), dict(_FIELD.findall(m.group(2))))
            self._nodes[ident] = found
        return found

    def text(self, ident: int) -> str:
        """The text of a node; empty for an unknown number."""
        return self._lines.get(ident, "")

    def elements(self, ident: int | None) -> tuple[int | None, ...]:
        """The numbers in a tuple node; None for an element that is not a reference (``null``, a string)."""
        m = _NODE.match(self._lines.get(ident, "")) if ident is not None else None
        if m is None or not m.group(3):
            return ()
        return tuple(_ref(part.strip()) for part in m.group(3).split(","))

    # ----------------------------------------------------------------------------------------------------- places

    def location(self, ident: int, depth: int = 0) -> Loc | None:
        """The place a ``!DILocation`` names; None if the number is something else."""
        known = self._locations.get(ident)
        if known is not None or ident in self._locations:
            return known
        m = _LOCATION.match(self._lines.get(ident, ""))
        loc = None
        if m is not None:
            line, column, scope, call = m.groups()
            file, function = self.scope(int(scope))
            at = self.location(int(call), depth + 1) if call and depth < MAX_METADATA_DEPTH else None
            around = self._scopes_around(int(scope), int(call or -1), at)
            plain = (at is None or at.unoptimized) and self._unit(int(scope)) in self._unoptimized
            loc = Loc(file, int(line or 0), int(column or 0), function, at, around, plain)
        self._locations[ident] = loc
        return loc

    def _unit(self, ident: int) -> int | None:
        """The compilation unit that a scope belongs to."""
        if ident not in self._units:
            kind, fields = self.node(ident)
            around = _ref(fields.get("scope", "")) if kind.startswith("DILexicalBlock") else None
            own = _ref(fields.get("unit", "")) if kind == "DISubprogram" else None
            self._units[ident] = own  # until its scope is known, for blocks around themselves
            self._units[ident] = own if around is None else self._unit(around)
        return self._units[ident]

    def _scopes_around(self, ident: int | None, call: int, at: Loc | None) -> tuple[tuple[int, int], ...]:
        """The blocks around a place in the scope ``ident``, copied for the ``call`` at ``at``, from the inside out."""
        if not self._scoped or ident is None or (at is not None and not at.scopes):
            return ()
        found = self._around.get((ident, call))
        if found is None:
            blocks: list[tuple[int, int]] = []
            scope: int | None = ident
            kind, fields = "", dict[str, str]()
            while scope is not None and len(blocks) < MAX_METADATA_DEPTH:
                kind, fields = self.node(scope)
                if kind in ("DILexicalBlock", "DISubprogram"):  # not DILexicalBlockFile: the same block in another file
                    blocks.append((scope, call))
                if kind == "DISubprogram":
                    break
                scope = _ref(fields.get("scope", "")) if kind.startswith("DILexicalBlock") else None
            inside = kind == "DISubprogram" and _ref(fields.get("unit", "")) in self._scoped
            found = (*blocks, *(at.scopes if at is not None else ())) if inside else ()
            self._around[ident, call] = found
        return found

    def scope(self, ident: int | None) -> tuple[str, str]:
        """The file and the source function of a scope."""
        if ident is None:
            return "", ""
        found = self._scopes.get(ident)
        if found is None:
            found = self._scopes[ident] = self._read_scope(ident)
        return found

    def _read_scope(self, ident: int) -> tuple[str, str]:
        kind, fields = self.node(ident)
        file = self.file(_ref(fields.get("file", "")))
        at: int | None = ident
        for _ in range(MAX_METADATA_DEPTH):
            kind, fields = self.node(at)
            if kind == "DISubprogram":
                return file, self._called(at, fields)
            if kind not in ("DILexicalBlock", "DILexicalBlockFile"):
                break
            at = _ref(fields.get("scope", ""))
        return file, ""

    def file(self, ident: int | None) -> str:
        """The name of a ``!DIFile``, in the user's spelling if it is one of the given files. One that is included is
        named from the working directory, whatever directory it was compiled in, or in full outside of that.
        """
        if ident is None:
            return ""
        found = self._files.get(ident)
        if found is None:
            _, fields = self.node(ident)
            name = _text(fields.get("filename", ""))
            full = os.path.normpath(Path(_text(fields.get("directory", ""))) / name)
            found = self._files[ident] = self._names.get(full) or _from_here(full, name)
        return found

    def loop(self, ident: int) -> LoopMark:
        """The loop a ``!llvm.loop`` attachment speaks of: its first two places are the source range."""
        found = self._loops.get(ident)
        if found is None:
            places = [loc for i in self.elements(ident) if i is not None and i != ident and (loc := self.location(i))]
            found = LoopMark(ident, places[0] if places else None, places[1] if len(places) > 1 else None)
            self._loops[ident] = found
        return found

    # -------------------------------------------------------------------------------------------------- variables

    def variable(self, ident: int, place: int | None) -> DebugVariable | None:
        """A ``!DILocalVariable``, declared at the location ``place`` (or at its own line, in the same inlined copy)."""
        key = (ident, place)
        if key not in self._variables:
            self._variables[key] = self._read_variable(ident, place)
        return self._variables[key]

    def _read_variable(self, ident: int, place: int | None) -> DebugVariable | None:
        at = self.location(place) if place is not None else None
        kind, fields = self.node(ident)
        if kind != "DILocalVariable":
            return None
        line = _number(fields.get("line", ""))
        own = _ref(fields.get("scope", ""))
        file, function = self.scope(own)
        m = _LOCATION.match(self._lines.get(place, "")) if place is not None else None
        call = at.inlined_at if at is not None else None
        around = self._scopes_around(own, int(m.group(4) or -1) if m is not None else -1, call)
        if at is None or at.line != line:
            at = Loc(file, line, 0, function, call, around)
        return DebugVariable(
            _text(fields.get("name", "")),
            self.type(_ref(fields.get("type", ""))),
            replace(at, scopes=around),
            _number(fields.get("arg", "")),
            "DIFlagArtificial" in fields.get("flags", ""),
        )

    def global_variable(self, ident: int) -> DebugVariable | None:
        """The variable of a ``!DIGlobalVariableExpression`` that describes the whole object; None for others."""
        kind, fields = self.node(ident)
        if kind == "DIGlobalVariableExpression":
            if fields.get("expr", "!DIExpression()") != "!DIExpression()":
                return None
            kind, fields = self.node(_ref(fields.get("var", "")))
        if kind != "DIGlobalVariable" or "name" not in fields:
            return None
        _, function = self.scope(_ref(fields.get("scope", "")))
        loc = Loc(self.file(_ref(fields.get("file", ""))), _number(fields.get("line", "")), 0, function)
        return DebugVariable(_text(fields["name"]), self.type(_ref(fields.get("type", ""))), loc)

    def subprogram(self, ident: int) -> tuple[str, Loc, DebugType | None] | None:
        """Name, place and result type (None: ``void``) of a ``!DISubprogram``."""
        kind, fields = self.node(ident)
        if kind != "DISubprogram":
            return None
        name = self._called(ident, fields)
        loc = Loc(self.file(_ref(fields.get("file", ""))), _number(fields.get("line", "")), 0, name)
        _, signature = self.node(_ref(fields.get("type", "")))
        types = self.elements(_ref(signature.get("types", "")))
        result = self.type(types[0]) if types and types[0] is not None else None
        return name, loc, result

    def _called(self, ident: int | None, fields: Mapping[str, str]) -> str:
        """What a function is called: of several of one name, with the types of its parameters (``f(int,char *)``), and
        where that is not enough with what it stands in.
        """
        if self._overloads is None:
            self._overloads = self._find_overloads()
        name = _text(fields.get("name", ""))
        return self._overloads.get(fields.get("linkageName", ""), name) if ident is not None else name

    def _find_overloads(self) -> dict[str, str]:
        """By linkage name the names of the functions that share their name with others."""
        lines = ((ident, line) for ident, line in self._lines.items() if "!DISubprogram(" in line)
        alike: dict[str, dict[str, dict[str, str]]] = {}
        for ident, _ in [(ident, line) for ident, line in lines if "linkageName: " in line and "Definition" in line]:
            _, fields = self.node(ident)
            alike.setdefault(fields.get("name", ""), {})[fields["linkageName"]] = fields
        found: dict[str, str] = {}
        for name, functions in alike.items():
            if len(functions) > 1:
                shown = {linkage: _text(name) + self._parameters(fields) for linkage, fields in functions.items()}
                for linkage, one in shown.items():
                    unique = list(shown.values()).count(one) == 1
                    found[linkage] = one if unique else self._around_it(functions[linkage]) + one
        return found

    def _parameters(self, fields: Mapping[str, str]) -> str:
        """The types of the parameters of a ``!DISubprogram``, without that of ``this``."""
        _, signature = self.node(_ref(fields.get("type", "")))
        given = self.elements(_ref(signature.get("types", "")))[1:]
        kinds = [self.node(one)[1].get("flags", "") if one is not None else "" for one in given]
        shown = (
            "..." if one is None else self._spelling(one)
            for one, flags in zip(given, kinds, strict=True)
            if "DIFlagArtificial" not in flags
        )
        return f"({','.join(shown)})"

    def _around_it(self, fields: Mapping[str, str]) -> str:
        """The namespaces and classes around a function: ``a::b::``."""
        names: list[str] = []
        scope = _ref(fields.get("scope", ""))
        for _ in range(MAX_METADATA_DEPTH):
            kind, around = self.node(scope)
            if kind not in ("DINamespace", "DICompositeType"):
                break
            names.insert(0, _text(around.get("name", "")) or "(anonymous)")
            scope = _ref(around.get("scope", ""))
        return "".join(f"{name}::" for name in names)

    # ------------------------------------------------------------------------------------------------------ types

    def type(self, ident: int | None) -> DebugType:
        """The source type of a type node (no node is ``void``)."""
        return self.types[-1 if ident is None else ident]

    def _read_type(self, ident: int) -> DebugType:
        kind, fields = self.node(ident)
        tag, name, bits = fields.get("tag", ""), _text(fields.get("name", "")), _number(fields.get("size", ""))
        base = _ref(fields.get("baseType", ""))
        if kind == "DIBasicType":
            return _basic(name, bits, fields.get("encoding", ""), ident)
        if kind == "DIDerivedType" and (tag == "DW_TAG_typedef" or tag in _QUALIFIERS):
            return self._wrapped(tag, name, self.type(base))
        if tag in _POINTERS:
            text = self._pointer_spelling(base, _POINTERS[tag])
            return DebugType(TypeKind.POINTER, text, bits, ident, None, base)
        if tag == "DW_TAG_array_type":
            counts = tuple(self._count(i) for i in self.elements(_ref(fields.get("elements", ""))))
            element = self.type(base)
            dimensions = "".join(f"[{'' if c is None else c}]" for c in counts)
            text = element.description
            text = text.replace("(*)", f"(*{dimensions})", 1) if "(*)" in text else text + dimensions
            return DebugType(TypeKind.ARRAY, text, bits, ident, None, base, counts)
        if tag == "DW_TAG_enumeration_type":
            under = self.type(base) if base is not None else None
            signed = under.signed is not False if under is not None else True
            kind_ = TypeKind.SIGNED if signed else TypeKind.UNSIGNED
            return DebugType(kind_, f"enum {name}".strip(), bits, ident, signed, enumeration=True)
        if tag in _STRUCTS:
            text = f"{_STRUCTS[tag]} {name}".strip()
            return DebugType(TypeKind.STRUCT, text, bits, ident, union=tag == "DW_TAG_union_type")
        if kind == "DISubroutineType":
            return DebugType(TypeKind.OTHER, self._signature(fields), 0, ident)
        return DebugType(TypeKind.OTHER, name or "void", bits, ident)

    def _wrapped(self, tag: str, name: str, under: DebugType) -> DebugType:
        """A typedef or a qualified type: all of the type under it but the spelling (and its key, to find members)."""
        if tag == "DW_TAG_typedef":
            text = name
        elif under.kind is TypeKind.POINTER:
            text = f"{under.description} {_QUALIFIERS[tag]}".replace("* ", "*")
        else:
            text = f"{_QUALIFIERS[tag]} {under.description}"
        return DebugType(
            under.kind,
            text,
            under.bits,
            under.key,
            under.signed,
            under.element,
            under.counts,
            under.volatile or tag == "DW_TAG_volatile_type",
            under.enumeration,
            under.union,
        )

    def _spelling(self, ident: int | None) -> str:
        """How a type is written without following pointers into structures (they may point back)."""
        return self.type(ident).description

    def _pointer_spelling(self, base: int | None, mark: str) -> str:
        """C's spelling of a pointer or reference: ``char **``, ``int (*)[3]``, ``int (**)(char *)``."""
        target = self._spelling(base)
        kind, fields = self.node(base)
        if kind == "DISubroutineType" or fields.get("tag") == "DW_TAG_array_type":
            head, bracket, rest = target.partition("(" if kind == "DISubroutineType" else "[")
            return f"{head.rstrip()} ({mark}){bracket}{rest}"
        if "(*" in target:
            return target.replace("(*", f"(*{mark}", 1)
        return target + mark if target.endswith("*") else f"{target} {mark}"

    def _signature(self, fields: dict[str, str]) -> str:
        result, *params = self.elements(_ref(fields.get("types", ""))) or (None,)
        texts = ["..." if i is None else self._spelling(i) for i in params]
        return f"{self._spelling(result)} ({', '.join(texts) or 'void'})"

    def _count(self, ident: int | None) -> int | None:
        _, fields = self.node(ident)
        count = fields.get("count", "")
        return int(count) if re.fullmatch(r"\d+", count) else None

    def _read_members(self, ident: int) -> tuple[DeclaredMember, ...]:
        _, fields = self.node(ident)
        members = []
        for i in self.elements(_ref(fields.get("elements", ""))):
            kind, f = self.node(i)
            tag = f.get("tag", "")
            flags = f.get("flags", "")
            if kind != "DIDerivedType" or tag not in ("DW_TAG_member", "DW_TAG_inheritance") or "Static" in flags:
                continue
            t = self.type(_ref(f.get("baseType", "")))
            bits = _number(f.get("size", "")) or t.bits
            name = "" if tag == "DW_TAG_inheritance" else _text(f.get("name", ""))
            members.append(DeclaredMember(name, t, _number(f.get("offset", "")), bits, "BitField" in flags))
        return tuple(members)


def _basic(name: str, bits: int, encoding: str, ident: int) -> DebugType:
    match encoding:
        case "DW_ATE_boolean":
            return DebugType(TypeKind.BOOL, name, bits, ident, False)
        case "DW_ATE_signed_char":
            return DebugType(TypeKind.CHAR, name, bits, ident, True)
        case "DW_ATE_unsigned_char" | "DW_ATE_UTF":
            return DebugType(TypeKind.CHAR, name, bits, ident, False)
        case "DW_ATE_signed":
            return DebugType(TypeKind.SIGNED, name, bits, ident, True)
        case "DW_ATE_unsigned":
            return DebugType(TypeKind.UNSIGNED, name, bits, ident, False)
        case "DW_ATE_float":
            return DebugType(TypeKind.FLOAT, name, bits, ident)
        case _:
            return DebugType(TypeKind.OTHER, name, bits, ident)


def _ref(text: str) -> int | None:
    m = _REF.match(text)
    return int(m.group(1)) if m else None


def _number(text: str) -> int:
    """A plain number; 0 for none, and for sizes that are computed at run time."""
    return int(text) if text.isdigit() else 0


def _text(raw: str) -> str:
    return unescape(raw[1:-1]) if raw[:1] == '"' else raw
