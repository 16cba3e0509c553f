"""What users say of functions that a program only declares: C files with bodies for them, or with annotated prototypes.

A definition is linked into the program and stands for the missing one. A prototype says effects by attributes that
compilers of C know (``const``, ``pure``, ``noreturn``, ``malloc``, and GCC's ``access``) and by macros that every such
file begins with:

- ``loopless_returns(least, most)``: between what its integer result lies;
- ``loopless_only_arguments``: it touches no memory but what its pointer arguments point to;
- ``loopless_only_reads_arguments``: the same, and it writes nothing.

clang leaves ``access`` out of what it compiles. So the word is replaced, in attributes only, by that of a macro which
makes an ``annotate`` of it; that travels with the function into the module, its arguments evaluated by the compiler.
Functions that are only declared are in a module only where something names them, so one more function does: their names
are what clang's syntax tree has of the file itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any, Final

from loopless.errors import SourceError, UsageError
from loopless.patterns import pattern
from loopless.records import dataclass
from loopless.source import ir
from loopless.source.compile import (
    C_SUFFIXES,
    SourceOptions,
    check_file,
    compile_ir,
    keeping,
    syntax_tree,
    without_keeping,
)
from loopless.source.database import CompileCommand
from loopless.source.reader import read_module
from loopless.source.vocabulary import LibraryEffect, LibraryFunction, Stub

_MARK: Final = "loopless stub"
_ACCESS: Final = "loopless access "
_RETURNS: Final = "loopless returns"
_ONLY: Final = "loopless only"
_READS: Final = "loopless reads"
# A result's ends are cast to one type, and said to be negative apart, so that those of unsigned long are right.
_PRELUDE: Final = f"""\
#define loopless_returns(least, most) __attribute__((annotate("{_RETURNS}", \\
    (long long)(least), (least) < 0, (long long)(most), (most) < 0)))
#define loopless_only_arguments __attribute__((annotate("{_ONLY}")))
#define loopless_only_reads_arguments __attribute__((annotate("{_READS}")))
#define acces_(mode, ...) annotate("{_ACCESS}" #mode __VA_OPT__(,) __VA_ARGS__)
#define __acces___(mode, ...) acces_(mode __VA_OPT__(,) __VA_ARGS__)
#pragma clang attribute push (__attribute__((annotate("{_MARK}"))), apply_to = function)
"""
_END: Final = "\n#pragma clang attribute pop\n"
_REPLACED: Final = {"access": "acces_", "__access__": "__acces___"}
"""As long as what they stand for: columns in messages stay right."""
_WORD: Final = pattern(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|[A-Za-z_]\w*|\[\[|\]\]|::|\s+|.", re.DOTALL
)
_ANNOTATIONS: Final = pattern(r"^@llvm\.global\.annotations = [^\n]*\n", re.MULTILINE)
_RECORD: Final = pattern(
    r'\{ ptr @("[^"]*"|[\w.$-]+), ptr @("[^"]*"|[\w.$-]+), ptr @[\w."$-]+, i32 (\d+), ptr (null|@[\w."$-]+) \}'
)
_MODES: Final = ("read_only", "write_only", "read_write", "none")
_POINTER: Final = pattern(r"^(?P<to>.*?)\s*(?:\*|\[\d*\])\s*(?:const|volatile|restrict|__restrict|\s)*$")


@dataclass(frozen=True, slots=True)
class Stubs:
    """The content of stub files: by the names of functions what they say, and the modules with the bodies."""

    known: Mapping[str, Stub] = field(default_factory=dict)
    modules: tuple[tuple[str, str], ...] = ()
    declared: Mapping[str, ir.SourceFunction] = field(default_factory=dict)

    def linked(self, module: ir.Module) -> tuple[tuple[str, str], ...]:
        """The modules (name and text) of which the program declares functions. Raises ``SourceError`` where the program
        defines a function itself, or declares it with another type.
        """
        used: dict[str, None] = {}
        for name, stub in self.known.items():
            function = module.functions.get(name)
            if function is None:
                continue
            if not function.is_declaration:
                where = f" at {function.loc.file}:{function.loc.line}" if function.loc is not None else ""
                raise SourceError(
                    f"{stub.place} is a stub for {name}, which the program defines itself{where}: a stub is for what "
                    "the program only declares; leave it out"
                )
            _check_type(stub, self.declared[name], function)
            if stub.defined:
                used[stub.place.rsplit(":", 1)[0]] = None
        return tuple((file, text) for file, text in self.modules if file in used)

    def told(self, module: ir.Module) -> ir.Module:
        """The module with what is said of the functions that it has."""
        known = {name: stub for name, stub in self.known.items() if name in module.functions}
        if not known:
            return module
        functions = dict(module.functions)
        for name, stub in known.items():
            found = functions[name]
            if found.is_declaration:
                functions[name] = replace(found, attributes=found.attributes | stub.attributes)
        return replace(module, functions=functions, stubs=known)


NO_STUBS: Final = Stubs()


def read_stubs(files: Iterable[Path], options: SourceOptions, command: CompileCommand | None = None) -> Stubs:
    """What stub files say. ``command``: how the program is compiled, for its target.

    Raises:
        UsageError: a file is no C file.
        SourceError: a file is missing, does not compile, or says what means nothing.
        LimitError: the compiler took too long.
    """
    known: dict[str, Stub] = {}
    modules: list[tuple[str, str]] = []
    declared: dict[str, ir.SourceFunction] = {}
    for file in files:
        if file.suffix.lower() not in C_SUFFIXES:
            raise UsageError(f"{file} is no C file (.c, .h, .i): stubs are written in C (--stubs)")
        check_file(file)
        target = None
        if command is not None:
            target = CompileCommand(Path.cwd(), file, (), "c", command.data_model, command.target)
        text = _edited(file.read_bytes().removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape"))
        shown = str(file).replace("\\", "\\\\").replace('"', '\\"')
        whole = f'{_PRELUDE}#line 1 "{shown}"\n{text}{_END}'
        prototypes = list(_prototypes(syntax_tree(file, _bytes(whole), options, target)))
        names = [p.name for p in prototypes if p.defined or not p.static]
        if not names:
            raise SourceError(f"{file} declares no function, and so is no file of stubs (--stubs)")
        compiled = compile_ir(file, replace(options, stubs=()), target, _bytes(whole + keeping(names)))
        module = read_module(compiled, {})
        notes = _notes(compiled, module)
        for prototype in prototypes:
            found = module.functions.get(prototype.name)
            if found is None or prototype.static:
                continue
            stub = _stub(prototype, found, notes.get(prototype.name, _Notes()), str(file))
            if stub is None:
                continue
            before = known.get(stub.name)
            if before is not None:
                raise SourceError(
                    f"{stub.place} is a second stub for {stub.name}, beside {before.place}: leave one out"
                )
            known[stub.name], declared[stub.name] = stub, found
        if any(prototype.defined for prototype in prototypes):
            modules.append((str(file), _ANNOTATIONS.sub("", without_keeping(compiled))))
    return Stubs(known, tuple(modules), declared)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


# -- the text ---------------------------------------------------------------------------------------------------------


def _edited(text: str) -> str:
    """The text with another word for ``access`` in attributes."""
    out: list[str] = []
    depth = 0  # of the parentheses of an __attribute__; 0: not in one
    waiting = brackets = False
    for match in _WORD.finditer(text):
        word = match[0]
        if word in ("__attribute__", "__attribute"):
            waiting = True
        elif word == "(" and (waiting or depth):
            depth, waiting = depth + 1, False
        elif word == ")" and depth:
            depth -= 1
        elif word in ("[[", "]]"):
            brackets = word == "[["
        elif word in _REPLACED and depth == 2:
            word = _REPLACED[word]
        elif word in _REPLACED and brackets and [w for w in out[-6:] if not w.isspace()][-2:] in _OF_GNU:
            del out[max(n for n, w in enumerate(out) if w.strip("_") == "gnu") :]
            word = f"clang::{_REPLACED[word]}"
        out.append(word)
    return "".join(out)


_OF_GNU: Final = (["gnu", "::"], ["__gnu__", "::"])


# -- what clang makes of it -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Prototype:
    """A function that the file declares: ``pointers`` says of its parameters whether they are pointers to what may be
    written ("write"), to what is constant ("read"), to a function ("call"), or none ("").
    """

    name: str
    defined: bool
    static: bool
    variadic: bool
    pointers: tuple[str, ...]


@dataclass(slots=True)
class _Notes:
    """The annotations of a function: their words, each with its arguments, and the line."""

    line: int = 0
    words: list[tuple[str, tuple[int, ...]]] = field(default_factory=list)


def _prototypes(tree: Any) -> Iterator[_Prototype]:
    """The functions that the file itself declares (not what it includes), each once."""
    found: dict[str, _Prototype] = {}
    for node in tree.get("inner", ()):
        if node.get("kind") != "FunctionDecl" or node.get("isImplicit") or "name" not in node:
            continue
        place = node.get("loc", {})
        place = place.get("expansionLoc", place)
        if "includedFrom" in place or not place:
            continue
        inner = node.get("inner", ())
        parameters = tuple(_pointer(part["type"]) for part in inner if part.get("kind") == "ParmVarDecl")
        defined = any(part.get("kind") == "CompoundStmt" for part in inner)
        static = node.get("storageClass") == "static"
        before = found.get(node["name"])
        found[node["name"]] = _Prototype(
            node["name"],
            defined or (before is not None and before.defined),
            static or (before is not None and before.static),
            bool(node.get("variadic")),
            parameters or (before.pointers if before is not None else ()),
        )
    yield from found.values()


def _pointer(type: Mapping[str, Any]) -> str:
    text = str(type.get("desugaredQualType", type.get("qualType", "")))
    if "(" in text:
        return "call" if "(*" in text else ""
    match = _POINTER.match(text)
    if match is None:
        return ""
    to = match["to"].strip()
    constant = to.endswith("const") or ("*" not in to and to.startswith("const "))
    return "read" if constant else "write"


def _notes(text: str, module: ir.Module) -> dict[str, _Notes]:
    """The annotations by the names of functions."""
    found: dict[str, _Notes] = {}
    line = _ANNOTATIONS.search(text)
    for name, word, place, arguments in _RECORD.findall(line[0] if line else ""):
        notes = found.setdefault(name.strip('"'), _Notes())
        said = module.globals[word.strip('"')].initializer
        shown = said.data.rstrip(b"\0").decode("utf-8", "replace") if isinstance(said, ir.BytesConst) else ""
        notes.line = int(place)
        given = module.globals[arguments[1:].strip('"')].initializer if arguments != "null" else None
        notes.words.append((shown, _integers(given)))
    return found


def _integers(value: ir.Value | None) -> tuple[int, ...]:
    match value:
        case ir.ConstantAggregate(elements=parts):
            return tuple(part.value if isinstance(part, ir.IntConst) else 0 for part in parts)
        case ir.ZeroInit(type=ir.StructT(fields=fields)):
            return (0,) * len(fields)
        case _:
            return ()


# -- what it means ----------------------------------------------------------------------------------------------------


def _stub(prototype: _Prototype, found: ir.SourceFunction, notes: _Notes, file: str) -> Stub | None:
    """What is said of a function; None where nothing is."""
    name, place = prototype.name, f"{file}:{notes.line}"
    if not found.is_declaration:
        return Stub(name, place, defined=True)
    attributes = found.attributes & {"noreturn", "memory(none)", "memory(read)", "readonly"}
    effects = _effects(prototype, found, notes, place)
    returns = None
    for word, given in notes.words:
        if word == _RETURNS:
            returns = _range(given, found, place)
    if effects is None and returns is None and not attributes:
        return None
    return Stub(name, place, effects=effects, returns=returns, attributes=attributes)


def _effects(prototype: _Prototype, found: ir.SourceFunction, notes: _Notes, place: str) -> LibraryFunction | None:
    name = prototype.name
    gone = "noreturn" in found.attributes
    modes = [(word.removeprefix(_ACCESS), given) for word, given in notes.words if word.startswith(_ACCESS)]
    said = {word for word, _ in notes.words}
    by_index = dict(_modes(modes, prototype, place))
    none, reads = "memory(none)" in found.attributes, bool(found.attributes & {"memory(read)", "readonly"})
    if (none or reads or _READS in said) and any(mode in ("write_only", "read_write") for mode in by_index.values()):
        what = "const" if none else "pure" if reads else "loopless_only_reads_arguments"
        raise SourceError(
            f"{place} says of {name} that it writes through an argument and that it is {what}: leave one out"
        )
    if none:
        return LibraryFunction(LibraryEffect.NONE, pure=True, noreturn=gone)
    if reads:
        return LibraryFunction(LibraryEffect.READS, pure=True, noreturn=gone, anywhere=True)
    fresh = "noalias" in found.result_attributes
    if not by_index and not fresh and not said & {_ONLY, _READS}:
        return None
    if "call" in prototype.pointers:
        raise SourceError(
            f"{place} says what {name} does to its arguments, and one is a pointer to a function, which it may call: "
            "give it a body"
        )
    if len(found.params) != len(prototype.pointers) or any(p.byval or p.sret for p in found.params):
        raise SourceError(
            f"{place} says what {name} does to its arguments, and a structure is passed or returned by value, so that "
            "they are not told apart: give it a body"
        )
    writes = [
        index
        for index, kind in enumerate(prototype.pointers)
        if by_index.get(index, {"write": "read_write"}.get(kind, "none")) in ("write_only", "read_write")
    ]
    if _READS in said:
        return LibraryFunction(LibraryEffect.ALLOCATES if fresh else LibraryEffect.READS, noreturn=gone)
    if prototype.variadic:
        writes.append(-1)
    if writes:
        return LibraryFunction(LibraryEffect.WRITES, tuple(writes), noreturn=gone)
    if fresh:
        return LibraryFunction(LibraryEffect.ALLOCATES, noreturn=gone)
    return LibraryFunction(LibraryEffect.READS if any(prototype.pointers) else LibraryEffect.NONE, noreturn=gone)


def _modes(
    modes: Sequence[tuple[str, tuple[int, ...]]], prototype: _Prototype, place: str
) -> Iterator[tuple[int, str]]:
    """The modes of access by the numbers of arguments, from 0."""
    for mode, given in modes:
        mode = mode.strip("_")
        if mode not in _MODES:
            raise SourceError(f"{place}: access({mode}, …) has none of the modes {', '.join(_MODES)}")
        if not given:
            raise SourceError(f"{place}: access({mode}) names no argument; write access({mode}, 1)")
        index = given[0] - 1
        if not 0 <= index < len(prototype.pointers) or not prototype.pointers[index]:
            raise SourceError(f"{place}: argument {given[0]} of {prototype.name}, of which access tells, is no pointer")
        yield index, mode


def _range(given: tuple[int, ...], found: ir.SourceFunction, place: str) -> tuple[int, int]:
    """The ends of a result, as numbers."""
    if not isinstance(found.result, ir.IntT):
        raise SourceError(f"{place}: loopless_returns is for functions that return an integer")
    least, negative, most, below = given
    low = least if negative else least % (1 << 64)
    high = most if below else most % (1 << 64)
    bits = found.result.bits
    if low > high:
        raise SourceError(f"{place}: loopless_returns({low}, {high}) is empty; the least result comes first")
    if not -(1 << (bits - 1)) <= low or high >= 1 << (bits - 1 if low < 0 else bits):
        raise SourceError(f"{place}: loopless_returns({low}, {high}) does not fit a result of {bits} bits")
    return low, high


def _check_type(stub: Stub, said: ir.SourceFunction, found: ir.SourceFunction) -> None:
    """Raises ``SourceError`` where the program declares a function with another type."""
    unprototyped = found.variadic and not found.params
    same = said.result == found.result and (
        unprototyped
        or (said.variadic == found.variadic and [p.type for p in said.params] == [p.type for p in found.params])
    )
    if not same:
        raise SourceError(
            f"{stub.place} gives {stub.name} the type {_type(said)}, and the program declares it as {_type(found)}: "
            "make them agree"
        )


def _type(function: ir.SourceFunction) -> str:
    parameters = [*(_shown(p.type) for p in function.params), *(["..."] if function.variadic else [])]
    return f"{_shown(function.result)} ({', '.join(parameters)})"


def _shown(type: ir.Type) -> str:
    match type:
        case ir.IntT(bits=bits):
            return f"i{bits}"
        case ir.PtrT():
            return "pointer"
        case ir.VoidT():
            return "void"
        case ir.FloatT():
            return "floating-point"
        case _:
            return "structure"
