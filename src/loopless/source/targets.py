"""Places that runs are to get to, put into a module as calls of a function that means just that.

A target is a line of a file or a call of a function. Before the first instruction of each block that belongs to it
stands a call of :data:`TARGET`, so whatever reads or runs the module sees it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from loopless.errors import UsageError
from loopless.source.vocabulary import TARGET, Meaning, meaning_of

_LOCATION: Final = re.compile(r"^!(\d+) = (?:distinct )?!DILocation\(line: (\d+),(?: column: \d+,)? scope: !(\d+)")
_SCOPE: Final = re.compile(r"^!(\d+) = (?:distinct )?!DI(?:Subprogram|LexicalBlock|LexicalBlockFile)\((.*)\)$")
_FILE: Final = re.compile(r'^!(\d+) = (?:distinct )?!DIFile\(filename: "((?:[^"\\]|\\.)*)"')
_OF_FILE: Final = re.compile(r"\bfile: !(\d+)")
_AT: Final = re.compile(r", !dbg !(\d+)(?:, |$)")
_DEFINED: Final = re.compile(r'^define\b[^@]*@("[^"]+"|[\w$.\-]+)\(', re.MULTILINE)
_LABEL: Final = re.compile(r'^(?:"[^"]*"|[\w$.\-]+):')


@dataclass(frozen=True, slots=True)
class Target:
    """``line`` of ``file`` (any file with that name at the end of its path), or where ``callee`` is called; with
    ``when`` only where this condition of C holds.
    """

    file: str = ""
    line: int | None = None
    callee: str = ""
    when: str = ""

    def is_in(self, file: Path) -> bool:
        """Whether a line of this file is meant."""
        return _same(str(file), self.file)

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line is not None else f"a call of {self.callee}"
        return f"{place} with {self.when}" if self.when else place


def marked(text: str, target: Target) -> str:
    """The module's text with a call of :data:`TARGET` wherever a run gets to the target; as it is where nothing does."""
    lines = text.splitlines()
    wanted = _locations(lines, target) if target.line is not None else frozenset()
    called = re.compile(rf"^\s+(?:%\S+ = )?(?:tail |musttail |notail )?(?:call|invoke)\b[^@]*@{re.escape(target.callee)}\(")
    out: list[str] = []
    here = inside = found = False
    for line in lines:
        if line.startswith("define"):
            inside, here = True, False
        elif line.startswith("}"):
            inside = False
        elif _LABEL.match(line):
            here = False
        elif inside and line.startswith("  ") and not line.lstrip().startswith("#dbg_"):
            at = _AT.search(line)
            belongs = at is not None and int(at[1]) in wanted if target.line is not None else called.match(line) is not None
            if belongs and not here and " = phi " not in line and "= landingpad" not in line:
                place = f", !dbg !{at[1]}" if at is not None else ""
                out.append(f"  call void @{TARGET}(){place}")
                here = found = True
            elif not belongs:
                here = False
        out.append(line)
    if not found:
        return text
    return "\n".join([*out, f"declare void @{TARGET}()", ""])


def _locations(lines: list[str], target: Target) -> frozenset[int]:
    """The debug locations of the target's line, by their numbers."""
    files: set[str] = set()
    scopes: dict[str, str] = {}
    places: list[tuple[int, str]] = []
    for line in lines:
        if not line.startswith("!"):
            continue
        if (found := _LOCATION.match(line)) is not None:
            if int(found[2]) == target.line:
                places.append((int(found[1]), found[3]))
        elif (found := _FILE.match(line)) is not None:
            if _same(found[2], target.file):
                files.add(found[1])
        elif (found := _SCOPE.match(line)) is not None and (file := _OF_FILE.search(found[2])) is not None:
            scopes[found[1]] = file[1]
    return frozenset(number for number, scope in places if scopes.get(scope) in files)


def _same(recorded: str, named: str) -> bool:
    """Whether a file as the compiler recorded it is the one that is named: the parts of one path end the other."""
    first = [part for part in Path(recorded).parts if part != "."]
    second = [part for part in Path(named).parts if part != "."]
    short = min(len(first), len(second))
    return short == 0 or first[-short:] == second[-short:]


def asked(text: bytes, target: Target) -> bytes:
    """The C text with a call of :data:`TARGET` in front of the target's line where its condition holds; lines keep
    their numbers.

    Raises:
        UsageError: there is no such line.
    """
    assert target.line is not None
    lines = text.split(b"\n")
    if not 1 <= target.line <= len(lines):
        raise UsageError(f"{target.file} has {len(lines)} lines, so none is line {target.line}")
    before = f"{{ extern void {TARGET}(void); if ({target.when}) {TARGET}(); }} "
    lines[target.line - 1] = before.encode() + lines[target.line - 1]
    return b"\n".join(lines)


_JUDGING: Final = (Meaning.ASSERT, Meaning.ERROR, Meaning.ASSUME)


def by_bodies(text: str) -> str:
    """The module in which functions for assertions, errors and assumptions that it defines do what their bodies say,
    under another name: the target may be in one of them.
    """
    for name in dict.fromkeys(found.strip('"') for found in _DEFINED.findall(text)):
        if meaning_of(name, defined=True) in _JUDGING:
            text = re.sub(rf'@"?{re.escape(name)}"?(?![\w$.\-])', f"@{name}.body", text)
    return text


def out_of_sight(name: str) -> bool:
    """Whether what the body of a function does is not looked at, since its name says what it means."""
    return meaning_of(name, defined=True) not in (None, Meaning.ENTRY, Meaning.TARGET)
