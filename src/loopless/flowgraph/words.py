"""What values are called that have no name in the source: what they are, and the line in which they come up.

Names of variables reach every answer, so they are chosen here, where values get their variables. Text from outside of
the source is put in words of which no variable of a program is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, assert_never

from loopless import terms as t
from loopless.flowgraph.model import ASSEMBLY, OBJECT_PART, THROUGH_POINTER, Origin, VariableInfo
from loopless.source import ir
from loopless.source.function_names import in_source

REGISTER: Final = "%"
"""The names of values in a module begin so."""
ADDRESS: Final = "address"
"""A pointer that is used as a number has this name."""
_WITHOUT: Final = {THROUGH_POINTER: "a call through a pointer", ASSEMBLY: "inline assembly"}
"""What is called without a name."""

UNNAMED: Final = frozenset(_WITHOUT)
"""The names of what is called without one."""
_FLOATING: Final = {
    "fcmp": "a comparison of floating-point values",
    **dict.fromkeys(("fptosi", "fptoui"), "a floating-point value that becomes an integer"),
    **dict.fromkeys(("sitofp", "uitofp"), "an integer that becomes a floating-point value"),
}
"""What instructions do with floating-point values."""


def function_in_words(callee: str) -> str:
    """The name of a function in the source; of a pointer and of assembly what these are."""
    return _WITHOUT.get(callee) or in_source(callee)


def not_followed(callee: str) -> str:
    """That a call is not followed."""
    return f"the call of {function_in_words(callee)} is not followed"


def value_in_words(made: ir.Instruction | None) -> str:
    """The result of an instruction that no variable of the source holds."""
    line = f" in line {made.loc.line}" if made is not None and made.loc is not None and made.loc.line else ""
    if made is not None and made.op in ("call", "invoke"):
        name = made.callee_name
        through = ASSEMBLY if isinstance(made.callee, ir.OtherConst) and "asm" in made.callee.text else THROUGH_POINTER
        if name is None or not name.startswith("llvm."):
            return f"what {function_in_words(name or through)} returned{line}"
    if made is not None and made.op == "load":
        return f"what is read{line}"
    return f"a value{line}"


def operation_in_words(op: str, *, floating: bool) -> str:
    """What an instruction does that is not followed."""
    return _FLOATING.get(op, "arithmetic of floating-point values") if floating else f"the instruction {op}"


def place_in_words(alloca: ir.Instruction | None, function: str) -> str:
    """A piece of the stack that holds no variable of the source, by what the compiler calls it."""
    name = alloca.result or "" if alloca is not None else ""
    if name.startswith("retval"):
        return f"what {function} returns"
    return "a temporary object" if name.startswith(("agg.tmp", "ref.tmp", "tmp", "temp")) else "a temporary"


def unknown_in_words(
    variables: Mapping[t.Var, VariableInfo], target: t.Var, origin: Origin, name: str, line: int, shown: str = ""
) -> str:
    """A value that ``target`` takes and that nothing determines: ``f()`` is what f returns, ``x by f()`` what it leaves
    in x. ``name`` as of :class:`loopless.flowgraph.model.Havoc`; ``shown``: how C names the memory that is read.
    """
    info = variables.get(target)
    half = OBJECT_PART if info is not None and info.pointer_part == "object" else ""
    where = f" in line {line}" if line else ""
    match origin:
        case Origin.NONDET:
            found = f"{name}{t.STREAM}"
        case Origin.CALL if name in _WITHOUT:
            what = f"what {_WITHOUT[name]}"
            held = info is not None and info.object is not None
            found = f"{what} leaves in {_plain(info)}{where}" if held else f"{what} returned{where}"
        case Origin.CALL if info is not None and info.object is not None:
            found = f"{_plain(info)} by {in_source(name)}{t.STREAM}"
        case Origin.CALL:
            found = f"{in_source(name)}{t.STREAM}"
        case Origin.UNINITIALISED:
            found = f"uninitialised {name.removesuffix(OBJECT_PART)}"
        case Origin.MEMORY:
            found = shown.removesuffix(OBJECT_PART) or f"what is read{where}"
        case Origin.VOLATILE:
            found = f"what is read{where}"
        case Origin.UNSUPPORTED:
            found = f"{'an address' if name == ADDRESS else 'a value'}{where}"
        case _:
            assert_never(origin)
    return found + half


def afterwards(name: str) -> str:
    """What the value of a variable is called that it has at the exit: ``x'``."""
    stem = name.removesuffix(OBJECT_PART)
    return f"{stem}'{name[len(stem) :]}"


class Numbered:
    """Numbers values in the order in which they come up; the two halves of a pointer are one value."""

    def __init__(self) -> None:
        self.count = 0
        self._latest = ""

    def name(self, called: str) -> str:
        """The name of the next value that is ``called`` so."""
        stem = called.removesuffix(OBJECT_PART)
        half = called[len(stem) :]
        if not half or self._latest != stem:
            self.count += 1
        self._latest = "" if half else stem
        return with_number(called, self.count)


def with_number(called: str, number: int) -> str:
    """The name of value ``number`` of those that are ``called`` so."""
    stem = called.removesuffix(OBJECT_PART)
    return f"{stem}'{number}{called[len(stem) :]}"


def _plain(info: VariableInfo | None) -> str:
    return "" if info is None else info.shown.removesuffix(OBJECT_PART)
