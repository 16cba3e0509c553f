"""What a test that calls a function of a program needs of the program: the file to include, what to link, and which
functions have no body there and so must get one.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Final

from loopless.check.oracle.build import of_cxx
from loopless.check.oracle.runtime import MEANINGS, WEAK_MEANINGS
from loopless.patterns import pattern
from loopless.records import dataclass
from loopless.source import load
from loopless.source.compile import SourceOptions
from loopless.source.database import CompileDatabase
from loopless.source.debug import DebugType, DebugTypes, TypeKind
from loopless.source.ir import FloatT, IntT, Param, PtrT, SourceFunction, StructT, Type, VectorT, VoidT
from loopless.source.layout import DataLayout

_FOLDERS: Final = ("-I", "-isystem", "-include", "-iquote")
"""Flags that a path stands behind."""
_PART: Final = pattern(r"(.+)\.coerce\d*")
_IN_REGISTERS: Final = 16
"""Only larger structures are returned in memory whatever they hold."""
_KLEE: Final = {"klee_range": "range", "klee_make_symbolic": "symbolic"}
_PLAIN: Final = frozenset(("error", "assume", "assume_wide", "assert", "abort", "exit", "nothing"))
"""Meanings of names that a C file can give them."""


@dataclass(frozen=True, slots=True)
class MissingFunction:
    """A function without a body.

    ``role``: "input" (it returns the next one), "nothing" (it does nothing), "zero" (it returns 0 in each part of its
    ``result``, which are types in C), "error", "assume", "assume_wide", "assert", "abort", "exit", "range",
    "symbolic", or "stop": what it returns cannot be given, so the run ends. ``declared``: whether the file that holds
    the function under test declares it.
    """

    name: str
    role: str
    declared: bool
    result: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PassedType:
    """How a parameter or result of the source is passed: an integer, or (``pointer``) a pointer to such. 0 ``bits``: a
    pointer to something else, or nothing at all; ``truth``: a ``_Bool``; ``floating``: a floating-point number;
    ``structure``: a structure itself.
    """

    bits: int
    signed: bool
    pointer: bool = False
    truth: bool = False
    floating: bool = False
    structure: bool = False


@dataclass(frozen=True, slots=True)
class Surroundings:
    """``file`` has the body of ``function``, which C calls so; ``others`` are the program's other files, and its main
    is in one of them where ``main_elsewhere``. ``variables``: those that no file defines, with their
    sizes in bytes (0 where that is not known). ``replaced``: functions that the program defines, whose names mean
    something else to Loopless. ``pointer_bits``: of the data model.
    """

    function: str
    parameters: tuple[PassedType, ...]
    result: PassedType
    file: Path
    others: tuple[Path, ...]
    missing: tuple[MissingFunction, ...]
    variables: tuple[tuple[str, int], ...] = ()
    replaced: tuple[str, ...] = ()
    main_elsewhere: bool = False
    flags: tuple[str, ...] = ()
    pointer_bits: int = 64


def surroundings(files: Sequence[Path], function: str, options: SourceOptions) -> Surroundings:
    """What a test of ``function`` (its name in the module) needs.

    Raises:
        UsageError, SourceError, LimitError: as :func:`loopless.source.load`.
    """
    program = load(files, options)
    module = program.module
    code = module.functions[function]
    held = code.loc.file if code.loc is not None else str(files[0])
    file = next((one for one in files if _same(one, held)), files[0])
    others = tuple(one for one in files if one != file)
    main = module.functions.get("main")
    home = main.loc.file if main is not None and main.blocks and main.loc is not None else None
    elsewhere = home is not None and any(_same(one, home) for one in others)
    here = [one for one in module.defined() if one.loc is None or not any(_same(o, one.loc.file) for o in others)]
    called = {name for one in here for i in one.instructions() if (name := i.callee_name) is not None}
    missing = tuple(
        MissingFunction(
            one.name, role, one.name in called, parts_of_result(one, module.layout) if role == "zero" else ()
        )
        for one in module.functions.values()
        if one.is_declaration and not one.name.startswith("llvm.") and (role := _role(one, module.layout)) is not None
    )
    sizes = module.layout.size_of
    variables = tuple(
        (one.name, sizes(one.type))
        for one in module.globals.values()
        if one.initializer is None and not one.name.startswith("llvm.") and not _of_library(one.name)
    )
    replaced = tuple(one.name for one in module.defined() if _is_input(one.name) or MEANINGS.get(one.name) == "assume")
    groups = [list(group) for _, group in groupby((p for p in code.params if p.sret is None), whole_of)]
    parameters = tuple(_passed(program.module.debug_types, *group) for group in groups)
    returned = any(one.sret is not None for one in code.params) or isinstance(code.result, StructT | VectorT)
    returned = returned or (code.result_debug is not None and code.result_debug.kind is TypeKind.STRUCT)
    result = PassedType(0, signed=False, structure=True) if returned else _plain(code.result, code.result_debug)
    bits = program.pointer_bits
    flags = (*_flags_of(file, options), *options.flags)
    return Surroundings(
        code.source_name, parameters, result, file, others, missing, variables, replaced, elsewhere, flags, bits
    )


def _flags_of(file: Path, options: SourceOptions) -> Iterator[str]:
    """The flags that the compile database has for a file, with whole paths."""
    if options.compile_database is None:
        return
    command = CompileDatabase(options.compile_database).command(file)
    named = False
    for flag in command.flags:
        joined = next((word for word in _FOLDERS if flag.startswith(word) and len(flag) > len(word)), "")
        if named or joined:
            yield f"{joined}{command.directory / flag.removeprefix(joined)}"
        else:
            yield flag
        named = flag in _FOLDERS


def whole_of(parameter: Param) -> str:
    """The name of the parameter of the source that one of the compiled function is a part of."""
    found = _PART.fullmatch(parameter.name)
    return found[1] if found else parameter.name


def _passed(types: DebugTypes, parameter: Param, *others: Param) -> PassedType:
    if others or parameter.byval is not None or whole_of(parameter) != parameter.name:
        return PassedType(0, signed=False, structure=True)
    if isinstance(parameter.type, FloatT):
        return PassedType(32 if parameter.type.kind == "float" else 64, signed=True, floating=True)
    debug = parameter.debug.type if parameter.debug is not None else None
    if not isinstance(parameter.type, PtrT):
        return _plain(parameter.type, debug)
    element = types.element(debug) if debug is not None else None
    if element is None or not element.is_integer:
        return PassedType(0, signed=False, pointer=True)
    return PassedType(element.bits, bool(element.signed), pointer=True, truth=element.kind is TypeKind.BOOL)


def _plain(type_: Type, debug: DebugType | None) -> PassedType:
    if isinstance(type_, PtrT):
        return PassedType(0, signed=False, pointer=True)
    if not isinstance(type_, IntT):
        return PassedType(0, signed=False)
    if type_.bits == 1:
        return PassedType(8, signed=False, truth=True)
    return PassedType(type_.bits, debug is None or bool(debug.signed))


def _same(file: Path, named: str) -> bool:
    return str(file) == named or file.resolve() == Path(named).resolve()


def _is_input(name: str) -> bool:
    return name.startswith("__VERIFIER_nondet_") or MEANINGS.get(name, "").startswith(("nondet", "klee_"))


def _role(code: SourceFunction, layout: DataLayout) -> str | None:
    """What a function without a body does in a native run; None for those of the libraries."""
    meaning = MEANINGS.get(code.name) or WEAK_MEANINGS.get(code.name)
    if _of_library(code.name) or of_cxx(code.name):
        return None
    if meaning in _PLAIN:
        return meaning
    if meaning in _KLEE:
        return _KLEE[meaning]
    if meaning is not None and not meaning.startswith("nondet"):
        return "stop"
    in_memory = any(one.sret is not None for one in code.params)
    if isinstance(code.result, VoidT) and not in_memory:
        return "nothing"
    if isinstance(code.result, IntT) and code.result.bits in (1, 8, 16, 32, 64):
        return "input"
    return "zero" if parts_of_result(code, layout) else "stop"


def parts_of_result(code: SourceFunction, layout: DataLayout) -> tuple[str, ...]:
    """The types in C of the parts in which a function returns what is no plain integer; empty where C has none."""
    room = next((one.sret for one in code.params if one.sret is not None), None)
    if room is not None:
        size = layout.size_of(room)
        return (f"char[{size}]",) if size > _IN_REGISTERS else ()
    elements = code.result.fields if isinstance(code.result, StructT) else (code.result,)
    parts = tuple(_in_c(one) for one in elements)
    return parts if all(parts) and (len(parts) == 1 or "long double" not in parts) else ()


def _in_c(type_: Type) -> str:
    """A type in C whose value is returned where one of this type is; empty where there is none."""
    match type_:
        case PtrT():
            return "void *"
        case IntT(bits=bits) if bits <= 128:
            return "int" if bits <= 32 else "long long" if bits <= 64 else "__int128"
        case FloatT(kind=kind):
            return {"x86_fp80": "long double"}.get(kind, kind if kind in ("float", "double") else "")
        case VectorT(count=2, element=FloatT(kind="float")):
            return "double"
        case _:
            return ""


@lru_cache(maxsize=256)
def _of_library(name: str) -> bool:
    try:
        getattr(ctypes.CDLL(None), name)
    except (AttributeError, OSError):
        return False
    return True
