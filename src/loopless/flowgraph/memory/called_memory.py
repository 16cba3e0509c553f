"""What calls do to memory and pointers, by the names of the functions and what is declared of them."""

from __future__ import annotations

from typing import Final

from loopless.flowgraph.memory.places import NULL, PointerTargets, PointsTo, is_pointer
from loopless.patterns import pattern
from loopless.source import ir
from loopless.source.vocabulary import (
    FORMATS,
    POINTS_INTO_FIRST,
    LibraryEffect,
    LibraryFunction,
    effect_of,
    library_function,
)

_COUNTS: Final = pattern(rb"%[-+ #0-9.*$']*(?:hh|h|ll|l|j|z|t|L|w\d+|wf\d+)?n")


def library_at(instruction: ir.Instruction, module: ir.Module) -> LibraryFunction | None:
    """The effects of the library function, or of one that stubs tell of, that a call is of; None where they are not
    known. A format with ``%n`` writes what nothing else says, and one that is no literal may have it where a pointer
    comes behind it.
    """
    name = instruction.callee_name
    declared = None if name is None else module.functions.get(name)
    if name is None or (declared is not None and not declared.is_declaration):
        return None
    at = FORMATS.get(name) if name not in module.stubs else None
    if at is not None and at < len(instruction.operands):
        text = _literal(instruction.operands[at], module)
        behind = instruction.operands[at + 1 :]
        if text is None and any(map(is_pointer, behind)):
            return None
        if text is not None and _COUNTS.search(text.replace(b"%%", b"")):
            return None
    return library_function(name, module.stubs)


def _literal(value: ir.Value, module: ir.Module) -> bytes | None:
    """The bytes of a string literal; None where they are not known."""
    held = module.globals.get(value.name) if isinstance(value, ir.GlobalRef) else None
    if held is None or not held.constant:
        return None
    if isinstance(held.initializer, ir.ZeroInit):
        return b""
    return held.initializer.data if isinstance(held.initializer, ir.BytesConst) else None


def allocates(instruction: ir.Instruction, module: ir.Module) -> bool:
    """Whether a call gives an object that nothing else can reach yet, or null."""
    name = instruction.callee_name
    declared = None if name is None else module.functions.get(name)
    if name is None or (declared is not None and not declared.is_declaration):
        return False
    return effect_of(name, module.stubs) in (LibraryEffect.ALLOCATES, LibraryEffect.MOVES)


def handed_back(instruction: ir.Instruction, state: PointsTo, module: ir.Module) -> PointerTargets | None:
    """Where the result of a library function points that is one of its arguments, or points into the first."""
    name = instruction.callee_name
    declared = None if name is None else module.functions.get(name)
    if name is None or (declared is not None and not declared.is_declaration):
        return None
    if name in POINTS_INTO_FIRST and instruction.operands:
        found = state.of(instruction.operands[0]).moved(None)
        return PointerTargets(found.places | {(NULL, None)}, found.unknown)
    known = library_function(name, module.stubs)
    at = known.returns_argument if known is not None else None
    return state.of(instruction.operands[at]) if at is not None and at < len(instruction.operands) else None


def may_hand_back(instruction: ir.Instruction, module: ir.Module) -> bool:
    """Whether the result of a call may be an address that it was given: a pointer, or an integer as wide as one, but
    for the integers of library functions, which are lengths and numbers.
    """
    result = instruction.type
    if isinstance(result, ir.PtrT | ir.StructT):
        return True
    if not isinstance(result, ir.IntT) or result.bits < module.pointer_bits:
        return False
    name = instruction.callee_name
    declared = None if name is None else module.functions.get(name)
    stranger = declared is None or declared.is_declaration
    return name is None or not stranger or name in module.stubs or library_function(name) is None


def call_kind(instruction: ir.Instruction, module: ir.Module) -> str:
    """How a call touches memory: "ignored" (not ours), "reads", "block" (memset, memcpy), "defined", "unknown"."""
    name = instruction.callee_name
    if name is None:
        return "unknown"
    if name.startswith(("llvm.memset", "llvm.memcpy", "llvm.memmove")):
        return "block"
    if name.startswith("llvm."):
        return "ignored"
    declared = module.functions.get(name)
    library = library_at(instruction, module)
    if library is not None:
        return {
            LibraryEffect.NONE: "ignored",
            LibraryEffect.READS: "reads",
            LibraryEffect.ALLOCATES: "ignored",
            LibraryEffect.MOVES: "ignored",
            LibraryEffect.FREES: "ignored",
        }.get(library.effect, "unknown")
    if declared is not None:
        if "memory(none)" in declared.attributes:
            return "ignored"
        if not declared.is_declaration:
            return "defined"
        if "memory(read)" in declared.attributes or "readonly" in declared.attributes:
            return "reads"
    return "unknown"
