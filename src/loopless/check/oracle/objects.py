"""Traps for undefined behaviour of objects, put into the text of a module that is prepared for native runs.

The runtime keeps a table of objects: all globals, and the locals whose addresses are used for more than reading and
writing them by their names. Each of these locals has memory that no other object of the run gets, new memory at every
``llvm.lifetime.start``, so that a pointer tells which object it was made for. What is checked against the table:

- reads and writes through pointers: that the object lives, that they lie inside of it, that what is written is not
  constant; those of ``memcpy``, ``memset`` and functions of the library that always write, too;
- address computations (``inbounds``) and comparisons: that the object lives and is not left, where the module is C as
  our clang compiles it (in optimized code such an address may be computed early and never be used); in C++ and
  C there also that no index of an array is negative, which clang itself checks only where it takes the length for
  certain.

Not seen: heap objects and what arguments point to (guard pages see some of that), single members and rows of arrays;
objects of more than 16 KiB, and those of runs that make very many, have one place for all their lives.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Final

from loopless.check.oracle.signature import DebugInfo
from loopless.patterns import pattern
from loopless.records import dataclass
from loopless.source.vocabulary import LibraryEffect, library_function

RUNTIME: Final = ("local", "end", "begin", "access", "step", "use", "index")
"""The functions of the runtime that the traps call."""

_NAME: Final = r"%[\w$.\-]+"
_LOCAL: Final = pattern(rf'(?<![\w"$.\-]){_NAME}(?![\w$.\-]*")')
_DEFINE: Final = pattern(r"^define\b.*\{$")
_ALLOCA: Final = pattern(rf"^  ({_NAME}) = alloca (.*)$")
_LOAD: Final = pattern(rf"^  {_NAME} = load (?:volatile )?(?!atomic)(.*), ptr ({_NAME})((?:,.*)?)$")
_STORE: Final = pattern(rf"^  store (?:volatile )?(?!atomic)(.*), ptr ({_NAME}|@[\w$.\-]+)((?:,.*)?)$")
_WITHIN: Final = r"getelementptr (?:inbounds |nuw |nusw )*\([^()]*\)"
"""A place in a global that is known before the program runs."""
_STEP: Final = pattern(rf"^  ({_NAME}) = getelementptr inbounds .*?, ptr ({_NAME}|@[\w$.\-]+|{_WITHIN})(?:,.*)?$")
_INDEX: Final = pattern(
    rf"^  {_NAME} = getelementptr inbounds (?:nuw )?\[.*\], ptr .*, (i32|i64) 0, \1 ({_NAME})(?:,.*)?$"
)
_POINTER: Final = rf"({_NAME}|null|@[\w$.\-]+)"
_COMPARE: Final = pattern(
    rf"^  {_NAME} = (?:icmp (?:samesign )?\w+ ptr {_POINTER}, {_POINTER}|ptrtoint ptr {_POINTER} to)"
)
_MARKER: Final = pattern(rf"call void @llvm\.lifetime\.(start|end)[^(]*\(.*?({_NAME})\)")
_BLOCK: Final = pattern(
    rf"call void @llvm\.(memcpy|memmove|memset)[^(]*\(ptr [^,]*?({_NAME}|@[\w$.\-]+), "
    rf"(?:ptr [^,]*?({_NAME}|@[\w$.\-]+)|i8 [^,]+), (i32|i64) ([^,]+),"
)
_CALL: Final = pattern(r"\bcall [^@]*@(?:loopless_(?:apart|narrow)_)?([\w$.\-]+)\((.*)\)")
"""Calls, by the names that the program has for what the runtime stands in for."""
_ARGUMENT: Final = pattern(rf"ptr [^,]*?({_NAME}|@[\w$.\-]+)$")
_TERMINATOR: Final = pattern(rf"^  (?:{_NAME} = )?(?:br|switch|ret|unreachable|invoke|indirectbr|callbr|resume)\b")
_LABEL: Final = pattern(r"([\w$.\-]+):")
_INCOMING: Final = pattern(r"\[ ([^,\]]+), %([\w$.\-]+) \]")
_GLOBAL: Final = pattern(r'^@("[^"]+"|[\w$.\-]+) = (.*?)\b(global|constant) (.*)$')
_PLACE: Final = pattern(r"!dbg !(\d+)")
_ALWAYS: Final = frozenset({"strcpy", "stpcpy", "strcat", "strncat", "sprintf", "vsprintf", "gets"})
_WRITTEN_BY_US: Final = "loopless.scopes"
_UNOPTIMIZED: Final = "loopless.unoptimized"
_CHECKS: Final = """
define internal void @loopless.access(ptr %p, i64 %n, i32 %writes, i32 %line) {{
  call void @loopless_access(ptr %p, i64 %n, i32 %writes, i32 %line, ptr @loopless.objects, i64 {count})
  ret void
}}
define internal void @loopless.step(ptr %p, ptr %to, i32 %line) {{
  call void @loopless_step(ptr %p, ptr %to, i32 %line, ptr @loopless.objects, i64 {count})
  ret void
}}"""


def with_objects(lines: Sequence[str], debug: DebugInfo) -> list[str]:
    """The lines of a module with the traps; they call the functions ``loopless_<name>`` for all of :data:`RUNTIME`."""
    steps = any(line.startswith(f"!{_WRITTEN_BY_US}") for line in lines)
    indices = any(line.startswith(f"!{_UNOPTIMIZED}") for line in lines)
    rows: list[str] = []
    out: list[str] = []
    body: list[str] | None = None
    for line in lines:
        if body is not None:
            body.append(line)
            if line == "}":
                out += _Function(body, debug, steps=steps, indices=indices).lines()
                body = None
        elif _DEFINE.match(line):
            body = [line]
        elif line.startswith("@"):
            out.append(_padded(line, rows))
        elif not line.startswith("declare void @llvm.lifetime."):
            out.append(line)
    table = ", ".join(rows) or "{ ptr, i64, i64 } zeroinitializer"
    out.append(f"@loopless.objects = constant [{max(1, len(rows))} x {{ ptr, i64, i64 }}] [{table}]")
    out += _CHECKS.format(count=len(rows)).splitlines()
    return out


def _padded(line: str, rows: list[str]) -> str:
    """A global with room behind it, so that the address right behind it is no other object's; noted in ``rows``."""
    found = _GLOBAL.match(line)
    if found is None or re.search(r"\b(external|extern_weak|thread_local|appending|comdat)\b", found[2] + found[4]):
        return line
    name, prefix, word, rest = found.groups()
    if name.startswith(("loopless.", "llvm.", '"llvm.')):
        return line
    kind = first_type(rest)
    value, tail = _value_and_rest(rest[len(kind) :].lstrip())
    if not value:
        return line
    rows.append(f"{{ ptr, i64, i64 }} {{ ptr @{name}, i64 {_size(kind)}, i64 {int(word == 'constant')} }}")
    return f"@{name} = {prefix}{word} {{ {kind}, [32 x i8] }} {{ {kind} {value}, [32 x i8] zeroinitializer }}{tail}"


def _value_and_rest(text: str) -> tuple[str, str]:
    """An initializer, and what follows it from its comma on."""
    depth, quoted = 0, False
    for at, char in enumerate(text):
        if char == '"':
            quoted = not quoted
        elif not quoted:
            depth += (char in "[{<(") - (char in "]}>)")
            if char == "," and depth == 0:
                return text[:at], text[at:]
    return text, ""


def first_type(text: str) -> str:
    """The type that ``text`` starts with."""
    closing = {"[": "]", "{": "}", "<": ">"}
    if text[:1] not in closing:
        return re.split(r"[ ,]", text, maxsplit=1)[0]
    depth = 0
    for index, char in enumerate(text):
        depth += (char in "[{<") - (char in "]}>")
        if depth == 0:
            return text[: index + 1]
    return text


def _size(kind: str) -> str:
    """The size in bytes of what is read or written, as a constant: an ``i24`` takes three, in an array four."""
    if re.fullmatch(r"i\d+", kind):
        return str((int(kind[1:]) + 7) // 8)
    return f"ptrtoint (ptr getelementptr ({kind}, ptr null, i32 1) to i64)"


@dataclass(slots=True)
class _Function:
    """One function definition; ``tracked``: its locals with cells that hold where they are now, and their types."""

    body: list[str]
    debug: DebugInfo
    steps: bool
    indices: bool
    tracked: dict[str, str] = field(default_factory=dict)
    direct: set[str] = field(default_factory=set)
    count: int = 0

    def lines(self) -> list[str]:
        self._choose()
        return [line for index in range(len(self.body)) for line in self._line(index)]

    def _choose(self) -> None:
        types: dict[str, str] = {}
        for line in self.body:
            found = _ALLOCA.match(line)
            if found and not found[1][1:].isdigit():  # the numbers of values without names leave no gap
                kind = first_type(found[2])
                if re.fullmatch(r"(, align \d+)?(, !dbg !\d+)?", found[2][len(kind) :]):
                    types[found[1]] = kind
        for line in self.body:
            if line.lstrip().startswith("#") or _MARKER.search(line) or "asm " in line:
                continue
            plain = _LOAD.match(line) or _STORE.match(line)
            for name in _LOCAL.findall(plain[1] if plain else line.partition(" = ")[2] or line):
                if name in types:  # used other than to read and write it by its name
                    self.tracked.setdefault(name, types[name])
        for line in self.body:
            if "asm " in line:
                for name in _LOCAL.findall(line):
                    self.tracked.pop(name, None)
        self.direct = set(types)

    def _line(self, index: int) -> Iterator[str]:
        line = self.body[index]
        found = _ALLOCA.match(line)
        if found and found[1] in self.tracked:
            yield from self._home(found[1], found[2])
            return
        marker = _MARKER.search(line)
        if marker:
            yield from self._marked(marker[1], marker[2])
            return
        if line.lstrip().startswith("#dbg_"):
            if not any(name in self.tracked for name in _LOCAL.findall(line)):
                yield line
            return
        if _TERMINATOR.match(line):
            yield from self._leaving(index)
        if " = phi " in line:
            yield _INCOMING.sub(self._incoming, line)
            return
        for name in dict.fromkeys(_LOCAL.findall(line)):
            if name in self.tracked:
                now = self._now(name)
                yield f"  {now} = load ptr, ptr {name}.cell"
                line = re.sub(rf"(?<![\w$.\-]){re.escape(name)}(?![\w$.\-])", now, line)
        yield from self._checked(line)

    def _now(self, name: str) -> str:
        self.count += 1
        return f"{name}.now{self.count}"

    def _home(self, name: str, text: str) -> Iterator[str]:
        kind = self.tracked[name]
        rest = re.sub(r", !dbg !\d+", "", text[len(kind) :])
        yield f"  {name}.home = alloca {{ {kind}, [32 x i8] }}{rest}"
        yield f"  {name}.cell = alloca ptr"
        yield f"  {name}.first = call ptr @loopless_local(ptr {name}.home, i64 {_size(kind)})"
        yield f"  store ptr {name}.first, ptr {name}.cell"

    def _marked(self, word: str, name: str) -> Iterator[str]:
        if name not in self.tracked:
            return
        now = self._now(name)
        yield f"  {now} = load ptr, ptr {name}.cell"
        if word == "end":
            yield f"  call void @loopless_end(ptr {now})"
        else:
            size = _size(self.tracked[name])
            yield f"  {now}.next = call ptr @loopless_begin(ptr {name}.home, ptr {now}, i64 {size})"
            yield f"  store ptr {now}.next, ptr {name}.cell"

    def _leaving(self, index: int) -> Iterator[str]:
        """In front of a terminator: what phis behind it take, and at a return the ends of all lives."""
        label = next((m[1] for line in reversed(self.body[:index]) if (m := _LABEL.match(line))), "")
        phis = [pair for line in self.body if " = phi ptr " in line for pair in _INCOMING.findall(line)]
        if not label:  # the entry block, which need not be labelled, has a number
            labels = {m[1] for line in self.body if (m := _LABEL.match(line))}
            label = next((one for _, one in phis if one not in labels), "")
        for name in dict.fromkeys(name for name, one in phis if one == label and name in self.tracked):
            yield f"  {name}.at.{label} = load ptr, ptr {name}.cell"
        if self.body[index].startswith("  ret "):
            for name in self.tracked:
                now = self._now(name)
                yield f"  {now} = load ptr, ptr {name}.cell"
                yield f"  call void @loopless_end(ptr {now})"

    def _incoming(self, found: re.Match[str]) -> str:
        value = found[1]
        return f"[ {f'{value}.at.{found[2]}' if value in self.tracked else value}, %{found[2]} ]"

    def _checked(self, line: str) -> Iterator[str]:
        """The line behind its checks, or in front of them where they need its result."""
        place = _PLACE.search(line)
        at = self.debug.line(int(place[1])) if place else 0
        plain = _LOAD.match(line) or _STORE.match(line)
        if plain and plain[2] not in self.direct:
            writes = int(line.startswith("  store"))
            yield self._access(plain[2], f"i64 {_size(first_type(plain[1]))}", writes, at, place)
        block = _BLOCK.search(line)
        if block:
            _, to, source, width, length = block.groups()
            if width == "i32":
                self.count += 1
                wide = f"%loopless.length{self.count}"
                yield f"  {wide} = zext i32 {length} to i64"
                length = wide
            for pointer, writes in ((to, 1), (source, 0)):
                if pointer:
                    yield self._access(pointer, f"i64 {length}", writes, at, place)
        elif (called := _CALL.search(line)) and called[1] in _ALWAYS:
            known = library_function(called[1])
            arguments = parts(called[2])
            for index in known.writes if known is not None and known.effect is LibraryEffect.WRITES else ():
                pointer = _ARGUMENT.search(arguments[index]) if index < len(arguments) else None
                if pointer:
                    yield self._access(pointer[1], "i64 1", 1, at, place)
        compared = _COMPARE.match(line) if self.steps else None
        for pointer in compared.groups() if compared else ():
            if pointer and pointer.startswith("%"):
                yield f"  call void @loopless_use(ptr {pointer}, i32 {at}){_behind(place)}"
        indexed = _INDEX.match(line) if self.indices else None
        if indexed:
            self.count += 1
            wide = indexed[2] if indexed[1] == "i64" else f"%loopless.index{self.count}"
            if wide != indexed[2]:
                yield f"  {wide} = sext i32 {indexed[2]} to i64"
            yield f"  call void @loopless_index(i64 {wide}, i32 {at}){_behind(place)}"
        yield line
        step = _STEP.match(line) if self.steps else None
        if step:
            yield f"  call void @loopless.step(ptr {step[2]}, ptr {step[1]}, i32 {at}){_behind(place)}"

    def _access(self, pointer: str, size: str, writes: int, at: int, place: re.Match[str] | None) -> str:
        return f"  call void @loopless.access(ptr {pointer}, {size}, i32 {writes}, i32 {at}){_behind(place)}"


def _behind(place: re.Match[str] | None) -> str:
    return f", !dbg !{place[1]}" if place else ""


def parts(text: str) -> list[str]:
    """The arguments of a call, or the parameters of a function, as they are written."""
    found: list[str] = []
    while text:
        one, text = _value_and_rest(text)
        found.append(one.strip())
        text = text.removeprefix(",").lstrip()
    return found
