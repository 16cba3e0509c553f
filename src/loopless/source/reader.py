"""Reads the printed text of a whole LLVM module, once, line by line."""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from loopless.graphs import cycles
from loopless.patterns import pattern
from loopless.source import folding, scopes
from loopless.source.aggregates import in_parts
from loopless.source.constants import Constants, starts_type
from loopless.source.debug import DebugVariable
from loopless.source.instructions import Reader
from loopless.source.ir import (
    REPEATED,
    FunctionT,
    GlobalVar,
    Instruction,
    IntT,
    Local,
    Module,
    OpaqueT,
    Param,
    SourceBlock,
    SourceFunction,
    Type,
    Value,
    VoidT,
)
from loopless.source.layout import DataLayout
from loopless.source.lexer import Cursor, Unread, name_of, tokenize, unescape
from loopless.source.metadata import Metadata
from loopless.source.records import read_record
from loopless.source.string_copies import with_string_copies

_LINKAGES: Final = frozenset(
    {
        "private",
        "internal",
        "available_externally",
        "linkonce",
        "weak",
        "common",
        "appending",
        "extern_weak",
        "linkonce_odr",
        "weak_odr",
        "external",
    }
)
_LABEL: Final = pattern(r'("[^"]*"|[-\w.$]+):')
_METADATA_LINE: Final = pattern(r"!(\d+) = (.*)")
_GROUP_LINE: Final = pattern(r"attributes (#\d+) = \{ (.*) \}")
_GROUP_WORD: Final = pattern(r'"[^"]*"(?:="[^"]*")?|[\w.]+(?:\([^)]*\)|=\d+)?')
_TYPE_LINE: Final = pattern(r'(%"[^"]*"|%[-\w.$]+) = type (.*)')
_DBG: Final = pattern(r"!dbg !(\d+)")


def read_module(text: str, names: Mapping[str, str] | None = None) -> Module:
    """The module that ``text``, as clang or LLVM prints it, describes.

    ``names`` maps absolute paths of source files to the spelling to show. What we cannot read becomes an instruction
    ``unsupported`` (a whole function, if its head is at fault), never an error.
    """
    collecting = gc.isenabled()
    gc.disable()  # millions of small objects, all of which stay: collecting in between took half of the time
    try:
        return _ModuleReader(text, names or {}).module()
    finally:
        if collecting:
            gc.enable()


class _ModuleReader:
    """The lines of a module sorted by what they define, then read in the order in which they need each other."""

    def __init__(self, text: str, names: Mapping[str, str]) -> None:
        self.text = text
        self.name = self.triple = self.layout_text = ""
        self.global_lines: list[str] = []
        self.functions: list[tuple[str, list[str]]] = []
        self._group_texts: dict[str, str] = {}
        self._groups: dict[str, frozenset[str]] = {}
        types: dict[str, str] = {}
        metadata: dict[int, str] = {}
        self._sort(types, metadata)
        self.layout = DataLayout.parse(self.layout_text)
        self.metadata = Metadata(
            metadata, names, scopes.marked(text, scopes.SCOPED), scopes.marked(text, scopes.UNOPTIMIZED)
        )
        self.constants = Constants(types, self.layout)
        self.reader = Reader(self.constants, self.metadata, self.group)

    def _sort(self, types: dict[str, str], metadata: dict[int, str]) -> None:
        lines = iter(self.text.split("\n"))
        for line in lines:
            match line[:1]:
                case "!":
                    if m := _METADATA_LINE.match(line):
                        metadata[int(m.group(1))] = m.group(2)
                case "@":
                    self.global_lines.append(line)
                case "%":
                    if m := _TYPE_LINE.match(line):
                        types[m.group(1)] = m.group(2)
                case "d":
                    self.functions.append((line, _body(lines) if line.startswith("define") else []))
                case "a":
                    if m := _GROUP_LINE.match(line):
                        self._group_texts[m.group(1)] = m.group(2)
                case "s" | "t":
                    self._directive(line)
                case _:
                    pass

    def _directive(self, line: str) -> None:
        if m := re.match(r'(source_filename|target datalayout|target triple) = "(.*)"', line):
            value = unescape(m.group(2))
            match m.group(1):
                case "source_filename":
                    self.name = value
                case "target datalayout":
                    self.layout_text = value
                case _:
                    self.triple = value

    def group(self, token: str) -> frozenset[str]:
        """The attributes of group ``#n``."""
        found = self._groups.get(token)
        if found is None:
            found = self._groups[token] = frozenset(_GROUP_WORD.findall(self._group_texts.get(token, "")))
        return found

    def module(self) -> Module:
        globals_: dict[str, GlobalVar] = {}
        aliases: dict[str, Value] = {}
        resolved: set[str] = set()
        other_names = [line for line in self.global_lines if " alias " in line or " ifunc " in line]
        before: dict[str, Value] | None = None
        while aliases != before:
            # An alias may be one of another that stands anywhere, and variables may hold the address of one.
            before = dict(aliases)
            for line in other_names:
                self._alias(line, aliases, resolved)
        for line in self.global_lines:
            self._global(line, globals_)
        read = {f.name: f for f in (self._function(head, body) for head, body in self.functions)}
        functions = with_string_copies(read, self.layout.pointer_bits())
        types = self.metadata.types
        overflows = folding.marked(self.text)
        return Module(
            self.name,
            self.triple,
            self.layout,
            functions,
            globals_,
            aliases,
            types,
            self.text,
            overflows,
            frozenset(resolved),
        )

    # ----------------------------------------------------------------------------------------------------- globals

    def _alias(self, line: str, aliases: dict[str, Value], resolved: set[str]) -> None:
        c = Cursor(tokenize(line))
        name = name_of(c.next())
        while (word := c.next()) not in ("global", "constant", "alias", "ifunc", ""):
            pass
        if word not in ("alias", "ifunc"):
            return
        try:
            t = self.constants.type(c)
            c.expect(",")
            aliases[name] = self.constants.typed(c, {})
        except (Unread, KeyError, IndexError, ValueError):
            return
        if word == "ifunc":
            resolved.add(name)
        elif not isinstance(t, FunctionT):
            self.constants.same_object[name] = aliases[name]

    def _global(self, line: str, globals_: dict[str, GlobalVar]) -> None:
        c = Cursor(tokenize(line))
        name = name_of(c.next())
        c.expect("=")
        linkage, words = "external", set()
        while (word := c.next()) not in ("global", "constant", "alias", "ifunc", ""):
            if word in _LINKAGES:
                linkage = word
            words.add(word)
        if word in ("alias", "ifunc"):
            return
        try:
            t = self.constants.type(c)
            declared = linkage in ("external", "extern_weak") and (c.done() or c.peek() == ",")
            initial = None if declared else self.constants.value(c, t, {})
        except (Unread, KeyError, IndexError, ValueError):
            t, initial = OpaqueT("unknown"), None
        globals_[name] = GlobalVar(
            name,
            t,
            initial,
            word == "constant",
            linkage,
            self._global_variable(line),
            _trailing_align(c),
            "thread_local" in words,
            "externally_initialized" in words,
        )

    def _global_variable(self, line: str) -> DebugVariable | None:
        for m in _DBG.finditer(line[line.rfind('"') + 1 :]):
            if found := self.metadata.global_variable(int(m.group(1))):
                return found
        return None

    # --------------------------------------------------------------------------------------------------- functions

    def _function(self, head: str, body: list[str]) -> SourceFunction:
        locals_: dict[str, Local] = {}
        try:
            function = self._head(head, locals_)
        except (Unread, KeyError, IndexError, ValueError):
            m = re.search(r'@("[^"]*"|[-\w.$]+)\(', head)
            name = name_of("@" + m.group(1)) if m else head
            block = SourceBlock("0", (Instruction("unsupported", None, VoidT(), text=head),))
            blocks: tuple[SourceBlock, ...] = (block,) if body else ()
            return SourceFunction(name, "external", VoidT(), (), False, blocks, frozenset(), {}, None, name)
        if not body:
            return function
        blocks = tuple(self._blocks(body, locals_, str(sum(p.name.isdigit() for p in function.params))))
        blocks = in_parts(_with_repeated(blocks), function.params, self.layout)
        variables = _variables(blocks)
        params = tuple(_with_debug(function.params, blocks, variables))
        return replace(function, blocks=blocks, variables=variables, params=params)

    def _head(self, head: str, locals_: dict[str, Local]) -> SourceFunction:
        tokens = tokenize(head)
        dbg = None
        if tokens[0] == "define":
            found = [m.group(1) for m in _DBG.finditer(head)]
            dbg = self.metadata.subprogram(int(found[-1])) if found else None
        c = Cursor(tokens)
        c.next()
        linkage = "external"
        while c.peek()[:1] == "!":  # a declaration carries its attachments in front
            c.next()
            c.next()
        words: set[str] = set()
        while not starts_type(c.peek()):
            word = c.next()
            if word == "":
                raise Unread("no type")
            if word in _LINKAGES:
                linkage = word
            elif word == "cc":
                c.next()
            elif c.peek() == "(":
                word += c.balanced()
            elif word == "align":
                word += f" {c.next()}"
            words.add(word)
        result = self.constants.type(c)
        name = name_of(c.next())
        params, variadic = self._params(c, locals_)
        return SourceFunction(
            name,
            linkage,
            result,
            params,
            variadic,
            (),
            self._attributes(c),
            {},
            dbg[1] if dbg else None,
            dbg[0] if dbg else name,
            dbg[2] if dbg else None,
            frozenset(words) - _LINKAGES,
        )

    def _params(self, c: Cursor, locals_: dict[str, Local]) -> tuple[tuple[Param, ...], bool]:
        c.expect("(")
        params: list[Param] = []
        while not c.accept(")"):
            if params:
                c.expect(",")
            if c.accept("..."):
                c.expect(")")
                return tuple(params), True
            t = self.constants.type(c)
            words, types = self.constants.attributes(c)
            name = ""
            if c.peek()[:1] == "%":
                token = c.next()
                name = name_of(token)
                locals_[token] = Local(name, t)
            params.append(Param(name, t, words, types.get("byval"), types.get("sret")))
        return tuple(params), False

    def _attributes(self, c: Cursor) -> frozenset[str]:
        words: set[str] = set()
        while not c.done() and c.peek() != "{":
            token = c.next()
            if token[:1] == "#":
                words |= self.group(token)
            elif token in ("section", "partition", "gc", "comdat", "prefix", "prologue", "personality", "align"):
                if token == "personality":
                    words.add(token)
                    self.constants.typed(c, {})
                elif token in ("prefix", "prologue"):
                    self.constants.typed(c, {})
                elif token == "comdat":
                    if c.peek() == "(":
                        c.balanced()
                else:
                    c.next()
            elif token[:1] == "!":
                c.next()
            elif token[:1].isalpha() or token[:1] == '"':
                words.add(token + (c.balanced() if c.peek() == "(" else ""))
            else:
                raise Unread(token)
        return frozenset(words)

    def _blocks(self, body: list[str], locals_: dict[str, Local], first: str) -> Iterator[SourceBlock]:
        """The blocks of a function; an unnamed first one has no label in the text but the number ``first``."""
        label, instructions = first, list[Instruction]()
        read = self.reader.instruction
        for line in body:
            if line[0] != " ":
                if instructions:
                    yield SourceBlock(label, tuple(instructions))
                    instructions = []
                m = _LABEL.match(line)
                label = _label(m.group(1)) if m else line
                continue
            text = line.strip()
            if text[0] == "#" or "@llvm.dbg." in text:
                found = read_record(self.constants, self.metadata, text, locals_)
                if found is not None:
                    instructions.append(found)
                    continue
            instructions.append(read(text, locals_))
        yield SourceBlock(label, tuple(instructions))


def _body(lines: Iterator[str]) -> list[str]:
    """The statements and labels up to the closing brace; continuation lines are joined to their statement."""
    body: list[str] = []
    for line in lines:
        if line == "}":
            break
        if line == "" or line[0] == ";" or line.startswith("  uselistorder"):
            continue
        if (line[:4] == "    " and line[4:5] != "#") or line[:3] == "  ]":
            body[-1] += " " + line.strip()
        else:
            body.append(line)
    return body


def _label(token: str) -> str:
    return unescape(token[1:-1]) if token[0] == '"' else token


def _trailing_align(c: Cursor) -> int:
    tokens = c.tokens
    for i in range(c.at, len(tokens) - 2):
        if tokens[i] == "," and tokens[i + 1] == "align":
            return int(tokens[i + 2])
    return 0


def _with_repeated(blocks: tuple[SourceBlock, ...]) -> tuple[SourceBlock, ...]:
    """The blocks with a flag at each ``alloca`` that control may reach several times (``alloca()`` in a loop, say)."""
    inside = {block.label for block in blocks[1:] if any(i.op == "alloca" for i in block.instructions)}
    if not inside:
        return blocks
    inside &= {label for cycle in cycles({block.label: block.successors for block in blocks}) for label in cycle}

    def flagged(i: Instruction) -> Instruction:
        return replace(i, flags=i.flags | {REPEATED}) if i.op == "alloca" else i

    return tuple(
        replace(block, instructions=tuple(map(flagged, block.instructions))) if block.label in inside else block
        for block in blocks
    )


def _variables(blocks: tuple[SourceBlock, ...]) -> dict[str, DebugVariable]:
    """The variable behind each address that a record declares as a whole; the first record counts."""
    variables: dict[str, DebugVariable] = {}
    for block in blocks:
        for i in block.instructions:
            if i.op == "dbg_declare" and not i.expression and i.variable is not None and i.operands:
                address = i.operands[0]
                if isinstance(address, Local):
                    variables.setdefault(address.name, i.variable)
    return variables


def _with_debug(
    params: tuple[Param, ...], blocks: tuple[SourceBlock, ...], variables: Mapping[str, DebugVariable]
) -> Iterator[Param]:
    """The parameters with the source parameters that they carry.

    A structure by reference is declared itself; a scalar is stored whole into the parameter's own memory (``_Bool``
    widened first), or a record says that it is the variable's value. A structure that comes as an integer is neither.
    """
    found: dict[str, DebugVariable] = {p.name: variables[p.name] for p in params if p.name in variables}
    source = {p.name: p.name for p in params}
    memory: dict[str | None, Type] = {}
    for i in blocks[0].instructions:
        if i.op == "alloca" and i.access is not None:
            memory[i.result] = i.access.type
        value = i.operands[0] if i.operands else None
        if not isinstance(value, Local) or value.name not in source:
            continue
        if i.op == "zext" and i.result is not None and value.type == IntT(1):
            source[i.result] = source[value.name]
            continue
        variable = None
        if i.op == "store" and isinstance(address := i.operands[1], Local) and memory.get(address.name) == value.type:
            variable = variables.get(address.name)
        elif i.op == "dbg_value" and not i.expression and len(i.operands) == 1:
            variable = i.variable
        if variable is not None and variable.arg and (variable.declared is None or not variable.declared.inlined_at):
            found.setdefault(source[value.name], variable)
    return (replace(p, debug=found.get(p.name)) for p in params)
