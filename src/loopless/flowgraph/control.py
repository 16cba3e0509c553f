"""Control that no edge tells: jumps to computed places, and calls that come back a second time."""

from __future__ import annotations

from loopless.refusals import Reason, Refused
from loopless.source import ir
from loopless.source.inlining import returns_twice

_JUMPS = {"indirectbr": "a computed goto (indirectbr)", "callbr": "assembly that jumps (asm goto, callbr)"}
_HANDLERS = ("catchswitch", "catchret", "cleanupret")


def untold_control(function: ir.SourceFunction, module: ir.Module) -> Refused | None:
    """Why the edges of ``function`` do not tell where its runs go, None where they do.

    Whatever is said of one of its loops would be said for too few ways into it, so none of them can be answered.
    """
    for block in function.blocks:
        for instruction in block.instructions:
            detail, reason = _untold(instruction, module)
            if detail:
                loc = _place(instruction, block, function)
                return Refused(reason, str(loc) if loc is not None else function.source_name, detail)
    return None


def _untold(instruction: ir.Instruction, module: ir.Module) -> tuple[str, Reason]:
    if instruction.op in _JUMPS:
        return f"{_JUMPS[instruction.op]} is not followed", Reason.UNSUPPORTED_INSTRUCTION
    if instruction.op in _HANDLERS:
        return f"the handling of exceptions by {instruction.op} is not followed", Reason.EXCEPTION
    if returns_twice(instruction, module):
        name = instruction.callee_name or "the called function"
        detail = f"a call of {name} may return more than once (by longjmp, say), and that is not followed"
        return detail, Reason.UNKNOWN_CALL
    return "", Reason.UNKNOWN_CALL


def _place(instruction: ir.Instruction, block: ir.SourceBlock, function: ir.SourceFunction) -> ir.Loc | None:
    """Where the source has the instruction. clang makes one jump of all computed gotos, and gives it no place."""
    before = [other.terminator for other in function.blocks if block.label in other.successors]
    found = (each.loc for each in (instruction, *before) if each.loc is not None and each.loc.line)
    return next(found, function.loc)
