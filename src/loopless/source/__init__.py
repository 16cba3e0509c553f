"""From C or LLVM IR files to a typed, immutable program in memory."""

from loopless.source.compile import SourceOptions
from loopless.source.ir import GlobalVar, Instruction, Loc, Module, SourceBlock, SourceFunction
from loopless.source.program import SourceProgram, load

__all__ = [
    "GlobalVar",
    "Instruction",
    "Loc",
    "Module",
    "SourceBlock",
    "SourceFunction",
    "SourceOptions",
    "SourceProgram",
    "load",
]
