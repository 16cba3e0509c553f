"""The source files of a project."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from loopless.errors import SourceError, UsageError
from loopless.source.compile import C_SUFFIXES, CXX_SUFFIXES
from loopless.source.database import CompileDatabase

_SOURCES: Final = (C_SUFFIXES | CXX_SUFFIXES) - {".h", ".hh", ".hpp", ".hxx"}
"""What counts as a source file inside a directory: no headers, and no IR, which mostly is made from sources."""


def find_sources(paths: Sequence[Path], database: Path | None = None) -> list[Path]:
    """The files of ``paths``, each once: files as named, in directories all C and C++ sources below, sorted.

    With a compile database only files that it knows count inside directories, and all its files where no path is named.

    Raises:
        UsageError: a path does not exist, or there is nothing to read.
        SourceError: the database cannot be read.
    """
    known = None
    if database is not None:
        known = [_shown(file) for file in CompileDatabase(database).files]
        if not paths:
            return known
    found: dict[str, Path] = {}
    for path in paths:
        if path.is_dir():
            inside = _below(path) if known is None else _of_database(path, known)
            found.update((os.path.realpath(file), file) for file in inside if os.path.realpath(file) not in found)
        elif path.exists() or str(path) == "-":  # which is no file, as reading it will say
            found.setdefault(os.path.realpath(path), path)
        else:
            raise SourceError(f"there is no file {path}")
    if not found:
        named = ", ".join(map(str, paths)) or "the compile database"
        raise UsageError(f"there is no C or C++ source in {named}")
    return list(found.values())


def _below(folder: Path) -> list[Path]:
    """The sources below ``folder``; hidden directories are left out."""
    found = []
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [Path(here) / name for name in sorted(files) if Path(name).suffix in _SOURCES]
    return found


def _of_database(folder: Path, known: Sequence[Path]) -> list[Path]:
    inside = os.path.realpath(folder)
    return [file for file in known if os.path.realpath(file).startswith(inside + os.sep)]


def _shown(file: Path) -> Path:
    """A path of the database as users would write it: relative where it lies below the working directory."""
    plain = Path(os.path.normpath(file))
    here = Path.cwd()
    return plain.relative_to(here) if plain.is_relative_to(here) else plain
