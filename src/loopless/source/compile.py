"""From one C or C++ file to the text of an LLVM module."""

from __future__ import annotations

import json
import os
import re
import stat
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Literal

from loopless.errors import SourceError
from loopless.patterns import pattern
from loopless.records import dataclass
from loopless.source import folding, inline_bodies, marks, scopes
from loopless.source.database import CompileCommand
from loopless.source.targets import SourceTarget, asked, marked
from loopless.source.toolchain import clang_command, run, system_clang, zig_target

DataModel = Literal["ILP32", "LP64"]

_SHAPE: Final = (
    "-O0",
    "-g",
    "-fstandalone-debug",
    "-S",
    "-emit-llvm",
    "-fno-discard-value-names",
    "-Xclang",
    "-disable-O0-optnone",
    *inline_bodies.NO_PASSES,
    "-fno-stack-protector",
    "-Wno-everything",
    *folding.WARNINGS,
    "-Wunused-function",
    "-Wno-error",
    "-fno-color-diagnostics",
    "-Wno-error=implicit-function-declaration",
    "-Wno-error=implicit-int",
    "-Wno-error=int-conversion",
    "-Wno-error=unused-function",
)
_TRAPS: Final = (
    "-fno-sanitize=all",
    "-fsanitize=signed-integer-overflow,shift-exponent,integer-divide-by-zero,array-bounds,vla-bound,unreachable,return",
    "-fsanitize=shift-base,bool",
    "-fsanitize-trap=all",
    "-Xclang",
    "-fsanitize-address-use-after-scope",
)
# The last one puts markers around the lives of locals, no checks.
C_SUFFIXES: Final = frozenset({".c", ".i", ".h"})
CXX_SUFFIXES: Final = frozenset({".cc", ".cpp", ".cxx", ".c++", ".C", ".ii", ".hh", ".hpp", ".hxx"})
IR_SUFFIXES: Final = frozenset({".ll", ".bc"})
_UNHEARD: Final = frozenset(
    {"-c", "-S", "-E", "-emit-llvm", "-M", "-MM", "-MD", "-MMD", "-fsyntax-only", "-save-temps", "-w"}
)
"""Flags that would change what clang writes, or keep it from telling what it folds."""
_DIAGNOSTIC: Final = pattern(r"^(.*?):(\d+):(\d+): (?:fatal )?error: (.*)$", re.MULTILINE)
_UNUSED: Final = pattern(r"^.*?:\d+:\d+: warning: unused function '(\w+)'", re.MULTILINE)
_ODD_NAME: Final = pattern(r"[:\n\r]")
"""What the compiler cannot have in the name of a file: it makes names of its own files from it."""
_USER: Final = "__loopless_keeps"
_USERS_TEXT: Final = pattern(rf"^define [^\n]*@{_USER}\(.*?^}}\n", re.MULTILINE | re.DOTALL)
_OWN_ENDING: Final = pattern(r"^define (?!internal)[^\n]*@(abort|exit|_exit|_Exit)\(", re.MULTILINE)
"""The definition of a function that the compiler takes to be the library's, and thus never to return."""
_BARE_ERROR: Final = pattern(r"^(?:.*?: )?(?:fatal )?error: (.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """How to read a program.

    ``data_model`` ``ILP32`` or ``LP64``, or None for the host's; ``clang`` the user's own compiler; ``flags`` further
    flags for it; ``compile_database`` a ``compile_commands.json`` or its directory; ``inline`` whether to make the
    inlined module; ``timeout_s`` the limit for each compilation and for LLVM's work, in seconds; ``traps`` makes
    undefined operations trap (for running the code, not for reading it). ``stubs`` are C files that say what functions
    do which the program only declares (:mod:`loopless.source.stubs`). ``target``: a place that runs are to get to.
    ``standard_input``: the text of the file ``-``, and ``language`` whether it is C or C++; None where there is none.
    ``reads_stdin``: whether what the program reads from standard input are its inputs
    (:mod:`loopless.source.standard_input`); ``finite_stdin``: how many bytes there are is one of them, too.
    """

    data_model: DataModel | None = None
    clang: str | None = None
    flags: tuple[str, ...] = ()
    compile_database: Path | None = None
    inline: bool = True
    timeout_s: float = 60.0
    traps: bool = False
    stubs: tuple[Path, ...] = ()
    target: SourceTarget | None = None
    standard_input: bytes | None = None
    language: Literal["c", "c++"] = "c"
    reads_stdin: bool = False
    finite_stdin: bool = False


STANDARD_INPUT: Final = Path("-")
"""How standard input is named where files are."""

_compiled: dict[object, str] = {}
"""Modules of files of which several targets are asked, as they were compiled."""


def compile_ir(
    source: Path | str,
    options: SourceOptions | None = None,
    command: CompileCommand | None = None,
    instead: bytes | None = None,
) -> str:
    """The LLVM assembly of a C or C++ file (a ``Path``) or of C text (a ``str``).

    ``command`` is what a compile database says about the file. ``instead``: the text that is compiled as that file.

    Raises:
        SourceError: the file is missing, empty, not C or C++, or does not compile.
        LimitError: the compiler took too long.
    """
    options = with_compiler(options or SourceOptions())
    if instead is None and source == STANDARD_INPUT:
        instead = options.standard_input
    target = options.target
    if target is not None:
        if target.when and isinstance(source, Path) and target.is_in(source):
            instead = asked(check_file(source).read_bytes() if instead is None else instead, target)
        plain = replace(options, target=None)
        if target.when or not isinstance(source, Path):
            text = compile_ir(source, plain, command, instead)
            return text if target.when else marked(text, target)
        stamp = None
        if check_source(source, options) != STANDARD_INPUT:
            stamp = (source.stat().st_mtime_ns, source.stat().st_size)
        key = (source.resolve(), stamp, plain, str(command))
        if key not in _compiled:
            _compiled[key] = compile_ir(source, plain, command, instead)
        return marked(_compiled[key], target)
    try:
        with tempfile.TemporaryDirectory(prefix="loopless-") as scratch:
            folder = Path(scratch)
            if isinstance(source, Path):
                cwd = command.directory if command is not None else None
                return _compile(check_source(source, options), folder, cwd, options, command, instead)
            (folder / "input.c").write_text(source, encoding="utf-8")
            return _compile(Path("input.c"), folder, folder, options, command)
    except OSError as e:
        raise SourceError(f"cannot compile {source if isinstance(source, Path) else 'text'}: {e}") from None


def with_compiler(options: SourceOptions) -> SourceOptions:
    """The options, with the system's clang where nobody named one and the wheel that has ours is not installed."""
    found = system_clang() if options.clang is None else None
    return options if found is None else replace(options, clang=found)


def check_source(path: Path, options: SourceOptions) -> Path:
    """``path``, if there is something in it to read, or it is standard input; else raises ``SourceError``."""
    if path != STANDARD_INPUT or options.standard_input is None:
        return check_file(path)
    if not options.standard_input.strip():
        raise SourceError("standard input is empty")
    return path


def check_file(path: Path) -> Path:
    """``path``, if there is something in it to read; else raises ``SourceError``."""
    if path.is_dir():
        raise SourceError(f"{path} is a directory; name the files in it")
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise SourceError(f"{path} is a pipe or a device, and only files are read: write it to a file first")
        with path.open("rb"):
            pass
    except FileNotFoundError:
        if path == STANDARD_INPUT:
            raise SourceError("standard input is not read: write it to a file first, and name that") from None
        raise SourceError(f"there is no file {path}") from None
    except OSError as e:
        raise SourceError(f"cannot read {path}: {e.strerror or e}") from None
    if status.st_size == 0:
        raise SourceError(f"{path} is empty")
    return path


def syntax_tree(file: Path, text: bytes, options: SourceOptions, command: CompileCommand | None) -> Any:
    """What clang's parser makes of ``text`` as the C file ``file``: its syntax tree, as it is in JSON. Where the text
    is wrong it has what could be read, and :func:`compile_ir` says what is wrong.

    Raises:
        SourceError: there is no tree.
        LimitError: the compiler took too long.
    """
    options = with_compiler(options)
    with tempfile.TemporaryDirectory(prefix="loopless-") as scratch:
        folder = Path(scratch)
        named = _no_option(file)
        command = None if command is None else replace(command, language="c")
        words = [*_words(options, command, "c"), *_stand_in(file, named, folder, instead=text)]
        out = folder / "tree.json"
        # To zig, this writes assembly: else it would link, which takes a minute in a cache of its own.
        parsing = [*words, "-Xclang", "-ast-dump=json", "-o", str(folder / "none.ll")]
        status, err = run(parsing, folder, None, options.timeout_s, f"compiling {file}", out)
        try:
            return json.loads(out.read_bytes())
        except (ValueError, RecursionError):  # the status tells nothing: zig looks in vain for an object file
            raise SourceError(_explain(err, file, status)) from None


def _words(options: SourceOptions, command: CompileCommand | None, language: str) -> list[str]:
    """The compiler and all its words but those that name the file and the output."""
    user, user_model = _user_flags(options.flags)
    model = options.data_model or user_model or (command.data_model if command is not None else None)
    compiler = clang_command(options.clang, model, cxx=language.startswith("c++"))
    given = (*(command.flags if command is not None else ()), *user)
    wraps = options.traps and "-fwrapv" in given and "-fno-wrapv" not in given
    if command is not None and command.target and model is None:
        compiler += ["-target", command.target if options.clang is not None else zig_target(command.target)]
    return [
        *compiler,
        *given,
        *_SHAPE,
        *(() if language.startswith("c++") else folding.WARNINGS_OF_C),
        *(_TRAPS if options.traps else ("-fno-sanitize=all",)),
        *(("-fno-sanitize=signed-integer-overflow,shift-base",) if wraps else ()),
        "-x",
        language,
    ]


@dataclass(frozen=True, slots=True)
class _Compiler:
    """The compiler for one ``file``; the last two of its ``arguments`` name the ``language``.

    Its methods give a module, empty where there is none, the compiler's messages and its status.
    """

    file: Path
    folder: Path
    cwd: Path | None
    options: SourceOptions
    language: str
    arguments: list[str]

    def marked(self, words: Sequence[str], out: Path) -> tuple[str, str, int]:
        """The module with what C says and LLVM does not (:mod:`loopless.source.marks`)."""
        text, err, status = self.compiled(words, out)
        if text and not self.options.traps:
            beside = out.with_stem(f"{out.stem}-checked")
            checked = self.compiled([*marks.SHIFT_CHECKS, *words], beside)[0] if marks.has_shifts(text) else ""
            text = marks.mark(text, checked)
        if text:
            beside = out.with_stem(f"{out.stem}-unfolded")
            chosen = not self.options.traps and folding.has_choices(text)
            unfolded = self.compiled([*folding.CHECKS, *words], beside)[0] if chosen else ""
            names = (scopes.UNOPTIMIZED, *((scopes.SCOPED,) if self.language == "c" else ()))
            text += folding.mark(err, unfolded) + scopes.mark(text, *names)
        return text, err, status

    def compiled(self, words: Sequence[str], out: Path) -> tuple[str, str, int]:
        """The module as it is written; coroutines in it are made functions."""
        text, err, status = self._written([*self.arguments, *words], out)
        if not inline_bodies.has_coroutines(text):
            return text, err, status
        plain = out.with_stem(f"{out.stem}-plain")
        plain.write_text(inline_bodies.not_inlined(text), encoding="utf-8")
        passing = inline_bodies.with_passes(self.arguments[:-2])
        text, said, status = self._written([*passing, str(plain)], out.with_stem(f"{out.stem}-split"))
        return text, err + said, status

    def _written(self, words: Sequence[str], out: Path) -> tuple[str, str, int]:
        what = f"compiling {self.file}"
        status, err = run([*words, "-o", str(out)], self.folder, self.cwd, self.options.timeout_s, what)
        good = status == 0 and out.exists()
        return out.read_text(encoding="utf-8", errors="replace") if good else "", err, status


def _compile(
    file: Path,
    folder: Path,
    cwd: Path | None,
    options: SourceOptions,
    command: CompileCommand | None,
    instead: bytes | None = None,
) -> str:
    """Compile ``file`` (relative to ``cwd``, except that a compile command has a directory of its own)."""
    language = options.language if file == STANDARD_INPUT else _language(file, command)
    arguments = _words(options, command, language)
    compiler = _Compiler(file, folder, cwd, options, language, arguments)
    named = str(file.absolute()) if command is not None else _no_option(file)
    here = folder / file if cwd == folder else file
    odd = instead is not None or _ODD_NAME.search(file.name) is not None
    main = _stand_in(here, named, folder, instead=instead) if odd else [named]
    listed = folder / "included"
    text, err, status = compiler.marked([*main, *inline_bodies.listing_included(listed)], folder / "out.ll")
    if not text:
        raise SourceError(_explain(err, file, status))
    own = _OWN_ENDING.findall(text)
    if own:  # to be read as the program defines them
        arguments[-2:-2] = [f"-fno-builtin-{name}" for name in own]
        text, err, status = compiler.marked(main, folder / "own.ll")
        if not text:
            raise SourceError(_explain(err, file, status))
    unused = _UNUSED.findall(err) if language == "c" else ()  # clang leaves them out
    read = [here.read_bytes() if instead is None else instead, *inline_bodies.included(listed, cwd, Path(arguments[0]))]
    if inline_bodies.may_lack(text, read, language):
        around = inline_bodies.FIRST, inline_bodies.LAST
        copy = _stand_in(here, named, folder, unused, instead, around)
        whole = without_keeping(compiler.marked(copy, folder / "inline.ll")[0])
        if inline_bodies.has_found(whole):
            return inline_bodies.restored(whole, text)
    if unused:
        copy = _stand_in(here, named, folder, unused, instead)
        text = without_keeping(compiler.marked(copy, folder / "all.ll")[0]) or text
    return text


def _stand_in(
    file: Path,
    named: str,
    folder: Path,
    unused: Sequence[str] = (),
    instead: bytes | None = None,
    around: tuple[str, str] = ("", ""),
) -> list[str]:
    """Make a copy of the file in ``folder`` that calls itself ``named``, as the compiler would; the words that name it.

    ``unused``: functions that one more function at its end (:func:`keeping`) names, so that the compiler keeps them.
    ``instead``: what stands in the copy instead of the file's text. ``around``: the lines before and behind it.
    """
    copy = folder / "stand-in.c"
    escaped = named.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    text = (file.read_bytes() if instead is None else instead).removeprefix(b"\xef\xbb\xbf")
    first, last = around[0] + '#line 1 "', "\n" + keeping(unused) + around[1]
    copy.write_bytes(first.encode() + os.fsencode(escaped) + b'"\n' + text + last.encode())
    return ["-iquote", str(Path(named).parent), str(copy)]  # includes stand beside the file, not beside its copy


def keeping(names: Sequence[str]) -> str:
    """A function of C that names others, so that the compiler writes them; empty where there are none."""
    uses = "".join(f" (void)&{name};" for name in names)
    return f"__attribute__((nodebug)) void {_USER}(void) {{{uses} }}\n" if names else ""


def without_keeping(text: str) -> str:
    """The module without that function."""
    return _USERS_TEXT.sub("", text)


def _no_option(file: Path) -> str:
    """The file's name, so that the compiler takes it for neither a flag nor a list of flags."""
    return f"./{file}" if str(file).startswith(("-", "@")) else str(file)


def _user_flags(flags: tuple[str, ...]) -> tuple[list[str], DataModel | None]:
    """The user's flags without those that would change what clang writes, and the data model that they ask for."""
    kept: list[str] = []
    model: DataModel | None = None
    rest = iter(flags)
    for flag in rest:
        if flag in ("-o", "-MF", "-MT", "-MQ", "-x"):
            next(rest, None)
        elif flag in ("-m32", "-m64"):
            model = "ILP32" if flag == "-m32" else "LP64"
        elif flag not in _UNHEARD:
            kept.append(flag)
    return kept, model


def _language(path: Path, command: CompileCommand | None) -> str:
    if command is not None and command.language:
        return {"cpp-output": "c", "c++-cpp-output": "c++"}.get(command.language, command.language)
    suffix = path.suffix
    if suffix in CXX_SUFFIXES:
        return "c++"
    if suffix.lower() in C_SUFFIXES:
        return "c"
    raise SourceError(
        f"{path} is neither C (.c, .i), C++ (.cc, .cpp, .cxx) nor LLVM IR (.ll, .bc) by its name"
        if suffix
        else f"{path} has no suffix that says whether it is C (.c, .i), C++ (.cc, .cpp, .cxx) or LLVM IR (.ll, .bc)"
    )


def _explain(err: str, shown: Path, status: int) -> str:
    """What clang's messages say: its first error in one sentence, with its place, and the others a line each."""

    def placed(found: tuple[str, ...]) -> str:
        name, line, column, message = found
        return f"{shown if Path(name).absolute() == shown.absolute() else name}:{line}:{column}: {message}"

    if found := list(dict.fromkeys(_DIAGNOSTIC.findall(err))):
        first, *others = map(placed, found)
        same = first.startswith(f"{shown}:")
        return "\n  ".join([f"cannot compile {first}" if same else f"cannot compile {shown}: {first}", *others])
    if m := _BARE_ERROR.search(err):
        return f"cannot compile {shown}: {m.group(1)}"
    lines = [s for s in err.splitlines() if s.strip()]
    if status < 0:
        return f"cannot compile {shown}: the compiler died of signal {-status}"
    return f"cannot compile {shown}: {lines[0].strip() if lines else f'the compiler ended with status {status}'}"
