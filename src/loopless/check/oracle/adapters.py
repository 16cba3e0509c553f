"""Functions beside those of a module that take integers and addresses only, for what native calls cannot pass as it is.

A floating-point number is given by its bits, a structure by its eightbytes or by the address of a copy, as the compiled
function takes it; room for a result in memory is made here. An adapter takes one 64-bit integer for each parameter of
the compiled function, and gives the result where that is an integer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from loopless.check.oracle.objects import first_type, parts
from loopless.check.oracle.signature import CType, DebugInfo, Declared, Opaque, Parameter, Signature
from loopless.patterns import pattern
from loopless.records import dataclass

PREFIX: Final = "loopless.adapter."
"""What stands before the name of a function in that of its adapter."""
RESULT: Final = Opaque("result")
"""The parameter for a result in memory, for which nothing is given."""
BITS: Final = {"float": 32, "double": 64, "<2 x float>": 64}
"""The types that are given by their bits."""

_HEAD: Final = pattern(r'^define\b(.*?)@("[^"]+"|[\w$.\-]+)\((.*)$')
_NAMED: Final = pattern(r'%("[^"]+"|[\w$.\-]+)$')
_PART: Final = pattern(r"(.+)\.coerce\d*")
_IN_MEMORY: Final = pattern(r"\b(byval|sret)\(")
_WORDS: Final = pattern(
    r"\b(?:dso_local|internal|private|hidden|protected|linkonce_odr|weak|weak_odr|available_externally|unnamed_addr"
    r"|local_unnamed_addr|noundef|zeroext|signext|noalias|nonnull)\b|\brange\([^)]*\)"
)
"""What stands between ``define`` and the type of the result."""


@dataclass(frozen=True, slots=True)
class _Taken:
    """A parameter of a compiled function: its type and attributes as text, and its name."""

    text: str
    name: str

    @property
    def type(self) -> str:
        return first_type(self.text)

    @property
    def in_memory(self) -> str:
        """One of "byval", "sret" and ""."""
        found = _IN_MEMORY.search(self.text)
        return found[1] if found else ""

    @property
    def whole(self) -> str:
        """The name of the parameter of the source that it is a part of."""
        found = _PART.fullmatch(self.name)
        return found[1] if found else self.name


def adapters(lines: Sequence[str], debug: DebugInfo) -> Iterator[tuple[str, Signature, str]]:
    """For each function of a module that needs one: the function, how its adapter is called, and the adapter's text."""
    plain = debug.signatures()
    for line in lines:
        head = _HEAD.match(line)
        if head is None or (name := head[2].strip('"')) not in plain:
            continue
        taken = [_taken(text) for text in parts(head[3][: _end(head[3])])]
        result = _WORDS.sub("", head[1]).strip()
        needed = any(one.type in BITS or one.in_memory or one.whole != one.name for one in taken)
        if not needed and re.fullmatch(r"void|i\d+|ptr|float|double", result):
            continue
        signature = _signature(name, plain[name], taken, debug)
        if signature is not None:
            yield name, signature, _text(head[2], result, taken)


def _end(text: str) -> int:
    """Where the parenthesis is that closes a list of parameters."""
    depth = 0
    for at, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth < 0:
            return at
    return len(text)


def _taken(text: str) -> _Taken:
    found = _NAMED.search(text)
    return _Taken(text[: found.start()].strip() if found else text, found[1].strip('"') if found else "")


def _signature(name: str, plain: Signature, taken: Sequence[_Taken], debug: DebugInfo) -> Signature | None:
    """How the adapter is called; None where the parameters of the source and of the function do not fit together."""
    types = debug.parameter_types(name)
    first = [RESULT] if taken and taken[0].in_memory == "sret" else []
    groups = [list(group) for _, group in groupby(taken[len(first) :], lambda one: one.whole or id(one))]
    if types is None or len(groups) != len(types):
        return None
    params: list[Parameter] = [*first]
    declared = [Declared("", "", 1)] if first else []
    for group, type_, number in zip(groups, plain.params, types, strict=True):
        structure = isinstance(type_, Opaque) and type_.name != "pointer" and group[0].type not in BITS
        structure = structure or group[0].whole != group[0].name or group[0].in_memory == "byval"
        given = [type_] if not structure and not isinstance(type_, Opaque) else [_given(one) for one in group]
        if None in given:
            return None
        params += [one for one in given if one is not None]
        size = debug.size(number) if structure else 0
        every = tuple(debug.leaves(number, group[0].whole)) if structure else ()
        pointers = tuple(one for one in every if one.type == Opaque("pointer"))
        leaves = tuple(one for one in every if one not in pointers)
        in_memory = group[0].in_memory == "byval"
        spelled = debug.spelled(number)
        declared.append(Declared(group[0].whole, spelled, len(group), size, leaves, pointers, in_memory))
    result = plain.result if isinstance(plain.result, CType) else None
    return Signature(tuple(params), result, tuple(declared))


def _given(one: _Taken) -> Parameter | None:
    """How a parameter is given to the adapter; None where it cannot be."""
    if one.type == "ptr":
        return Opaque("pointer")
    if one.type in BITS:
        return CType(one.type, BITS[one.type], signed=False)
    width = int(one.type[1:]) if re.fullmatch(r"i\d+", one.type) else 0
    return CType("unsigned long", width, signed=False) if 0 < width <= 64 else None


def _text(name: str, result: str, taken: Sequence[_Taken]) -> str:
    plain = name.strip('"')
    body: list[str] = []
    passed: list[str] = []
    for number, one in enumerate(taken):
        given = f"%a{number}"
        if one.in_memory == "sret":
            room = first_type(one.text[one.text.index("sret(") + 5 :].partition(")")[0])
            body.append(f"  %p{number} = alloca {room}, align 16")
        elif one.type == "ptr":
            body.append(f"  %p{number} = inttoptr i64 {given} to ptr")
        elif one.type in BITS:
            if BITS[one.type] < 64:
                body.append(f"  %n{number} = trunc i64 {given} to i{BITS[one.type]}")
                given = f"%n{number}"
            body.append(f"  %p{number} = bitcast i{BITS[one.type]} {given} to {one.type}")
        elif one.type == "i64":
            body.append(f"  %p{number} = add i64 {given}, 0")
        else:
            body.append(f"  %p{number} = trunc i64 {given} to {one.type}")
        passed.append(f"{one.text} %p{number}")
    call = f"call {result} @{name}({', '.join(passed)})"
    if re.fullmatch(r"i\d+", result):
        body.append(f"  %r = {call}")
        body.append("  %w = add i64 %r, 0" if result == "i64" else f"  %w = zext {result} %r to i64")
    else:
        body += [f"  {call}", "  %w = add i64 0, 0"]
    heads = ", ".join(f"i64 %a{number}" for number in range(len(taken)))
    return "\n".join([f'define i64 @"{PREFIX}{plain}"({heads}) {{', *body, "  ret i64 %w", "}"])
