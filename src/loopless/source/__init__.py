"""From C or LLVM IR files to a typed, immutable program in memory."""

from loopless.source.compile import SourceOptions
from loopless.source.ir import Block, Function, GlobalVar, Instruction, Loc, Module
from loopless.source.program import Program, load

__all__ = ["Block", "Function", "GlobalVar", "Instruction", "Loc", "Module", "Program", "SourceOptions", "load"]
