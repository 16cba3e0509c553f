"""Copies of strings by the C library, as what they come to: the length of the string, and a copy of so many bytes.

``strcpy(d, s)`` is ``memcpy(d, s, strlen(s) + 1)`` (C11 7.24.2.3), so what is known of lengths of strings and of copies
of bytes holds of it. A copy that is marked :data:`APART` is undefined where the two are the same, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from loopless.source.ir import (
    Gep,
    GlobalRef,
    Instruction,
    IntConst,
    IntT,
    Local,
    PtrT,
    SourceFunction,
    Type,
    Value,
    VoidT,
)

APART: Final = "apart"
"""The flag of a copy of bytes whose source and target must not be the same."""
INSIDE: Final = "inside"
"""The flag of an address of a byte that such a call reads or writes, or right behind these."""
_COPIES: Final = ("strcpy", "stpcpy", "strcat")
"""The names of the functions. What ``strncpy`` reads must not overlap with the zeros that it writes, either."""


def with_string_copies(functions: Mapping[str, SourceFunction], size: int) -> dict[str, SourceFunction]:
    """The functions of a module, by their names, where such calls are put in other words, as far as the functions
    called are those of the library. ``size``: the bits of a length.
    """
    own = {name for name, function in functions.items() if function.blocks}
    declared = {name for name in _COPIES if name in functions and not {name, "strlen"} & own}
    return {name: _without(function, declared, size) if declared else function for name, function in functions.items()}


def _without(function: SourceFunction, declared: set[str], size: int) -> SourceFunction:
    if not any(_copies(i, declared) for block in function.blocks for i in block.instructions):
        return function
    blocks = []
    number = 0
    for block in function.blocks:
        instructions: list[Instruction] = []
        for i in block.instructions:
            if _copies(i, declared):
                number += 1
                instructions += _Copy(i, size, f"string.copy.{number}").instructions()
            else:
                instructions.append(i)
        blocks.append(replace(block, instructions=tuple(instructions)))
    return replace(function, blocks=tuple(blocks))


def _copies(i: Instruction, declared: set[str]) -> bool:
    name = i.callee_name if i.op == "call" else None
    return name in declared and len(i.operands) == 2 and all(isinstance(o.type, PtrT) for o in i.operands)


class _Copy:
    """One call."""

    def __init__(self, call: Instruction, size: int, name: str) -> None:
        self._call = call
        self._size = IntT(size)
        self._name = name
        self._made = 0

    def instructions(self) -> Iterator[Instruction]:
        """What the call comes to."""
        target, source = self._call.operands
        begin = target
        if self._call.callee_name == "strcat":
            behind = self._new("call", self._size, (target,), callee=_LENGTH)
            moved = self._moved(target, behind)
            yield from (behind, moved)
            begin = _value(moved)
        length = self._new("call", self._size, (source,), callee=_LENGTH)
        whole = self._new("add", self._size, (_value(length), IntConst(self._size.bits, 1)))
        yield from (length, whole, self._bytes(begin, source, _value(whole)))
        if self._call.result is not None:
            end = length if self._call.callee_name == "stpcpy" else None
            yield replace(self._moved(target, end), result=self._call.result)

    def _new(self, op: str, type: Type, operands: tuple[Value, ...], callee: Value | None = None) -> Instruction:
        self._made += 1
        return Instruction(op, f"{self._name}.{self._made}", type, operands, callee=callee, loc=self._call.loc)

    def _moved(self, base: Value, by: Instruction | None) -> Instruction:
        """An address so many bytes behind another one."""
        self._made += 1
        steps = () if by is None else ((_value(by), 1),)
        gep = Gep(base, 0, steps, IntT(8))
        operands = (base, *(index for index, _ in steps))
        name = f"{self._name}.{self._made}"
        flags = frozenset({"inbounds", INSIDE})
        return Instruction("getelementptr", name, base.type, operands, flags, gep=gep, loc=self._call.loc)

    def _bytes(self, target: Value, source: Value, length: Value) -> Instruction:
        """A copy of so many bytes."""
        callee = GlobalRef(f"llvm.memcpy.p0.p0.i{self._size.bits}")
        operands = (target, source, length, IntConst(1, 0))
        return Instruction("call", None, VoidT(), operands, frozenset({APART}), callee=callee, loc=self._call.loc)


_LENGTH: Final = GlobalRef("strlen")


def _value(made: Instruction) -> Local:
    assert made.result is not None
    return Local(made.result, made.type)
