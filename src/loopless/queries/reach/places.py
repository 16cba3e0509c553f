"""The places that people name for runs to get to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from loopless.errors import UsageError
from loopless.patterns import pattern
from loopless.source.targets import SourceTarget

_IR: Final = (".ll", ".bc")
_PLACE: Final = pattern(r"(?:(.+):)?(\d+)", re.DOTALL)


def place_of(files: Sequence[Path], line: str | None, callee: str | None, given: str | None) -> SourceTarget:
    """The place that the options ``--line``, ``--call`` and ``--when`` name.

    Raises:
        UsageError: they name none.
    """
    when = given or ""
    if (line is None) == (callee is None):
        both = "not both" if line is not None else "one of them"
        cover = "" if line is not None else ", or --cover for all branches of a function"
        raise UsageError(f"a place is named by --line or by --call: give {both}{cover}")
    if line is None:
        assert callee is not None
        if when:
            raise UsageError("--when is a condition at a line; name that with --line")
        if re.fullmatch(r"\w[\w.:$~<>, ]*", callee) is None:
            raise UsageError(f"--call takes the name of a function, and {callee!r} is none")
        return SourceTarget(callee=callee)
    match = _PLACE.fullmatch(line)
    if match is None:
        raise UsageError(f"--line takes N or FILE:N, and {line!r} is neither")
    number = int(match[2])
    if match[1] is None and len(files) > 1:
        raise UsageError(f"--line {line} is of one of {len(files)} files: name it, as --line {files[0]}:{line}")
    target = SourceTarget(match[1] or str(files[0]), number, when=when.strip())
    if given is not None:
        _check_condition(target.when)
    named = [file for file in files if target.is_in(file)]
    if len(named) > 1:
        raise UsageError(f"--line {line} may be in {' or in '.join(map(str, named))}: name more of its path")
    if len(named) == 1:
        _check_line(named[0], target)
    if target.when and (len(named) != 1 or named[0].suffix in _IR):
        raise UsageError("--when is asked at a line of a C file that is named: not in a header, nor in IR")
    return target


def _check_condition(when: str) -> None:
    """Raises ``UsageError`` for what is no condition, or changes what the program does."""
    if not when:
        raise UsageError("--when is empty; give a condition of C, or leave it out")
    bare = re.sub(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'", "0", when)
    if re.search(r"[;{}\n]|//|/\*|\*/", bare) or not _is_balanced(bare):
        raise UsageError(f"--when takes one condition of C, and {when!r} is none")
    if re.search(r"\+\+|--|(?<![=!<>])=(?!=)|<<=|>>=", bare):
        raise UsageError(f"--when {when!r} would change what the program does (a comparison is ==)")


def _is_balanced(text: str) -> bool:
    depth = 0
    for sign in text:
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            return False
    return depth == 0


def _check_line(file: Path, target: SourceTarget) -> None:
    """Raises ``UsageError`` for a line that a file of C does not have; what else is missing shows when it is read."""
    from loopless.source.compile import STANDARD_INPUT, check_file

    if file.suffix in _IR or file == STANDARD_INPUT:
        return
    count = len(check_file(file).read_bytes().splitlines())
    if target.line is None or not 1 <= target.line <= count:
        raise UsageError(f"{file} has {count} lines, so none is line {target.line}")
