"""Loads a program: its files compiled, linked, inlined and read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import field
from pathlib import Path

from loopless.errors import SourceError, UsageError
from loopless.records import dataclass
from loopless.source.compile import IR_SUFFIXES, SourceOptions, check_source, compile_ir, with_compiler
from loopless.source.database import CompileDatabase
from loopless.source.inlining import choose
from loopless.source.ir import Module
from loopless.source.reader import read_module
from loopless.source.standard_input import followed
from loopless.source.stubs import NO_STUBS, Stubs, read_stubs
from loopless.source.targets import by_bodies
from loopless.source.worker import WORKER


@dataclass(frozen=True, slots=True, eq=False)
class SourceProgram:
    """One program.

    ``module`` is as written; ``inlined`` has small functions inlined into their callers (the same object where there
    is nothing to inline). ``data_model`` is ``ILP32``, ``LP64`` or ``LLP64``, by the module's target.
    ``unfollowed_input``: why what the program reads from standard input is not followed, where the options ask for it
    and it is not.
    """

    module: Module
    inlined: Module
    files: tuple[str, ...]
    triple: str
    pointer_bits: int
    data_model: str
    options: SourceOptions = field(default_factory=SourceOptions)
    unfollowed_input: str = ""


def load(paths: Iterable[Path | str] | Path | str, options: SourceOptions | None = None) -> SourceProgram:
    """Read the program that the files make together: C, C++, LLVM assembly and bitcode, in any mixture.

    Raises:
        UsageError: no file is named.
        SourceError: a file is missing, or does not compile, or the files do not go together.
        LimitError: the compiler or LLVM took too long.
    """
    options = with_compiler(options or SourceOptions())
    files = [Path(p) for p in ([paths] if isinstance(paths, str | Path) else paths)]
    if not files:
        raise UsageError("no file to read")
    database = CompileDatabase(options.compile_database) if options.compile_database is not None else None
    parts = [(_shown(f, options), _content(f, options, database)) for f in files]
    names = {str(p): str(f) for f in files for p in (f.resolve(), os.path.normpath(f.absolute()))}
    what = ", ".join(str(f) for f in files)
    text = _link(parts, files, options)
    if options.target is not None:
        text = by_bodies(text)
    unfollowed = ""
    if options.reads_stdin:
        given = followed(text, options)
        text, unfollowed = given.text, given.unfollowed
    module = read_module(text, names)
    _check_target(module, files, options)
    stubs = _stubs(files, options, database)
    if bodies := stubs.linked(module):
        text = WORKER.link([(what, text), *bodies], options.timeout_s)
        names |= {str(p): str(f) for f in options.stubs for p in (f.resolve(), os.path.normpath(f.absolute()))}
        module = read_module(text, names)
    module = stubs.told(module)
    inlined = module
    if options.inline and (chosen := choose(module)):
        inlined = stubs.told(read_module(WORKER.inline(text, chosen, options.timeout_s, what), names))
    model = "LLP64" if "windows" in module.triple else {32: "ILP32", 64: "LP64"}.get(module.pointer_bits, "other")
    shown = tuple(str(f) for f in files)
    return SourceProgram(module, inlined, shown, module.triple, module.pointer_bits, model, options, unfollowed)


def _stubs(files: Sequence[Path], options: SourceOptions, database: CompileDatabase | None) -> Stubs:
    """What the files of stubs say, compiled for the target of the program."""
    if not options.stubs:
        return NO_STUBS
    first = next((file for file in files if file.suffix not in IR_SUFFIXES), None)
    command = database.command(first) if database is not None and first is not None else None
    return read_stubs(options.stubs, options, command)


def _shown(file: Path, options: SourceOptions) -> str:
    """How an error about a file's IR names it: lines are those of the IR, not of the C file it was made of."""
    made = options.clang is not None and file.suffix not in IR_SUFFIXES
    return f"{file} (as compiled by {options.clang})" if made else str(file)


def _content(file: Path, options: SourceOptions, database: CompileDatabase | None) -> str | bytes:
    """The IR of one file: compiled, or as it stands."""
    check_source(file, options)
    if file.suffix not in IR_SUFFIXES:
        command = database.command(file) if database is not None else None
        return compile_ir(file, options, command)
    data = file.read_bytes()
    if data[:4] in (b"BC\xc0\xde", b"\xde\xc0\x17\x0b"):
        return data
    if file.suffix == ".bc":
        raise SourceError(f"cannot read {file}: it is not LLVM bitcode")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise SourceError(f"cannot read {file}: it is not LLVM assembly") from None


def _link(parts: list[tuple[str, str | bytes]], files: Sequence[Path], options: SourceOptions) -> str:
    """One module of all parts; that of our own clang is read as it is, without LLVM's help."""
    content = parts[0][1]
    if len(parts) == 1 and options.clang is None and files[0].suffix not in IR_SUFFIXES and isinstance(content, str):
        return content
    return WORKER.link(parts, options.timeout_s)


def _check_target(module: Module, files: Sequence[Path], options: SourceOptions) -> None:
    """An IR file has its target; a data model that says otherwise would be a silent wrong answer."""
    wanted = {"ILP32": 32, "LP64": 64}.get(options.data_model or "")
    if wanted is not None and module.pointer_bits != wanted:
        raise SourceError(
            f"{files[0]} is compiled for {module.triple or 'an unnamed target'} with pointers of {module.pointer_bits} "
            f"bits, which is not {options.data_model} (--data-model)"
        )
