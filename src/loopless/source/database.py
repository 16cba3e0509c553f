"""Reads ``compile_commands.json`` (https://clang.llvm.org/docs/JSONCompilationDatabase.html)."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path
from typing import Final

from loopless.errors import SourceError
from loopless.records import dataclass

_WITH_VALUE: Final = ("-I", "-D", "-U", "-isystem", "-iquote", "-idirafter", "-include", "-imacros", "-isysroot", "-F")
_DROPPED_WITH_VALUE: Final = frozenset(
    {"-o", "-MF", "-MT", "-MQ", "-MJ", "-L", "-l", "-T", "-z", "-u", "-Xlinker", "-Xassembler", "-Xpreprocessor"}
    | {"--param", "-A", "-arch", "-e", "--serialize-diagnostics", "-dumpbase", "-dumpdir", "-aux-info", "-include-pch"}
)
# Of the -f and -m flags only those that change what the source means; the others steer optimisation, code generation
# and diagnostics, and clang does not know all of gcc's.
_MEANING: Final = (
    "-fwrapv",
    "-fno-wrapv",
    "-ftrapv",
    "-fno-strict-overflow",
    "-fstrict-overflow",
    "-fsigned-char",
    "-funsigned-char",
    "-fno-signed-char",
    "-fno-unsigned-char",
    "-fsigned-bitfields",
    "-funsigned-bitfields",
    "-fshort-enums",
    "-fno-short-enums",
    "-fshort-wchar",
    "-fpack-struct",
    "-fms-extensions",
    "-fplan9-extensions",
    "-fgnu89-inline",
    "-fcommon",
    "-fno-common",
    "-ffreestanding",
    "-fhosted",
    "-fno-builtin",
    "-fbuiltin",
    "-fexceptions",
    "-fno-exceptions",
    "-frtti",
    "-fno-rtti",
    "-fblocks",
    "-fchar8_t",
    "-fno-char8_t",
    "-fcoroutines",
    "-fno-delete-null-pointer-checks",
    "-fdelete-null-pointer-checks",
    "-fno-strict-aliasing",
    "-fno-signed-zeros",
    "-ffast-math",
    "-fPIC",
    "-fpic",
    "-fPIE",
    "-fpie",
    "-fno-pic",
    "-fno-pie",
    "-fopenmp",
    "-fno-operator-names",
)
_PREFIXES: Final = (
    "-std=",
    "--std=",
    "-ansi",
    "-nostdinc",
    "-pthread",
    "--sysroot=",
    "-fmacro-prefix-map=",
    "-trigraphs",
    "-ftemplate-depth",
    "-fconstexpr-",
    "-fno-builtin-",
    "-fpack-struct=",
)


@dataclass(frozen=True, slots=True)
class CompileCommand:
    """How a project compiles one file, reduced to what changes the meaning of the source.

    ``language`` is clang's ``-x`` word if the command names one; ``data_model`` follows from ``-m32``/``-m64``;
    ``target`` is a target the command names.
    """

    directory: Path
    file: Path
    flags: tuple[str, ...]
    language: str | None = None
    data_model: str | None = None
    target: str | None = None


class CompileDatabase:
    """The entries of one ``compile_commands.json``, by the real path of their file (the first of each file counts)."""

    def __init__(self, path: Path) -> None:
        """Read the database at ``path``, a file or the directory that holds ``compile_commands.json``."""
        self.path = path / "compile_commands.json" if path.is_dir() else path
        try:
            entries = json.loads(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise SourceError(f"cannot find the compile database {self.path} (-p)") from None
        except OSError as e:
            raise SourceError(f"cannot read the compile database {self.path} (-p): {e.strerror}") from None
        except ValueError as e:
            raise SourceError(f"the compile database {self.path} (-p) is not JSON: {e}") from None
        if not isinstance(entries, list):
            raise SourceError(f"the compile database {self.path} (-p) is not a list of commands")
        self._commands: dict[str, CompileCommand] = {}
        for n, entry in enumerate(entries, 1):
            command = self._command(n, entry)
            self._commands.setdefault(os.path.realpath(command.file), command)

    @property
    def files(self) -> tuple[Path, ...]:
        """All files of the database, in its order."""
        return tuple(c.file for c in self._commands.values())

    def command(self, file: Path) -> CompileCommand:
        """How ``file`` is compiled. Raises ``SourceError`` if the database does not say."""
        found = self._commands.get(os.path.realpath(file))
        if found is None:
            raise SourceError(
                f"{file} is not in the compile database {self.path} (-p); compile it there, or leave -p out and give "
                "its flags after --"
            )
        return found

    def _command(self, number: int, entry: object) -> CompileCommand:
        where = f"entry {number} of the compile database {self.path} (-p)"
        if not isinstance(entry, dict) or not isinstance(entry.get("file"), str):
            raise SourceError(f"{where} names no file")
        directory = Path(str(entry.get("directory", ".")))
        if not directory.is_absolute():
            directory = self.path.parent / directory
        arguments = entry.get("arguments")
        if isinstance(arguments, list):
            words = [str(a) for a in arguments]
        elif isinstance(entry.get("command"), str):
            try:
                words = shlex.split(entry["command"])
            except ValueError as e:
                raise SourceError(f"{where} has a command that cannot be split: {e}") from None
        else:
            raise SourceError(f"{where} has neither arguments nor a command")
        flags, special = meaningful_flags(_expand(words[1:], directory))
        return CompileCommand(directory, directory / entry["file"], flags, **special)


def _expand(words: list[str], directory: Path, depth: int = 0) -> list[str]:
    """Replace ``@file`` by the words in that file; a file that is not there stays a word, as with compilers."""
    out: list[str] = []
    for word in words:
        file = directory / word[1:]
        if word.startswith("@") and depth < 8 and file.is_file():
            out += _expand(shlex.split(file.read_text(encoding="utf-8")), directory, depth + 1)
        else:
            out.append(word)
    return out


def meaningful_flags(words: list[str]) -> tuple[tuple[str, ...], dict[str, str]]:
    """Of a compile command's words, those that change what the source means.

    The second part may hold ``language`` (``-x``), ``data_model`` (``-m32``, ``-m64``) and ``target``. What clang is
    told to write, where, how fast, and what to warn about is dropped, and so are the files.
    """
    flags: list[str] = []
    special: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        if word in _WITH_VALUE:
            flags += [word, next(rest, "")]
        elif word in _DROPPED_WITH_VALUE:
            next(rest, "")
        elif word in ("-x", "-target", "--target", "--sysroot", "-Xclang"):
            value = next(rest, "")
            if word == "-x":
                special["language"] = value
            elif word == "--sysroot":
                flags.append(f"--sysroot={value}")
            elif word != "-Xclang":
                special["target"] = value
        elif word.startswith("--target="):
            special["target"] = word.partition("=")[2]
        elif word.startswith("-x"):
            special["language"] = word[2:]
        elif word in ("-m32", "-m64"):
            special["data_model"] = "ILP32" if word == "-m32" else "LP64"
        elif word.startswith((*_WITH_VALUE, *_PREFIXES)) or word in _MEANING:
            flags.append(word)
    return tuple(flags), special
