"""Places that runs are to get to, put into a module as calls of a function that means just that.

A target is a line of a file or a call of a function. Before the first instruction of each block that belongs to it
stands a call of :data:`TARGET`, so whatever reads or runs the module sees it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from loopless.errors import UsageError
from loopless.patterns import pattern
from loopless.records import dataclass
from loopless.source.insertion import inserted
from loopless.source.rounds import counted
from loopless.source.vocabulary import COVER, TARGET, Meaning, meaning_of

_LOCATION: Final = pattern(r"^!(\d+) = (?:distinct )?!DILocation\(line: (\d+),(?: column: \d+,)? scope: !(\d+)")
_SCOPE: Final = pattern(r"^!(\d+) = (?:distinct )?!DI(?:Subprogram|LexicalBlock|LexicalBlockFile)\((.*)\)$")
_FILE: Final = pattern(r'^!(\d+) = (?:distinct )?!DIFile\(filename: "((?:[^"\\]|\\.)*)"')
_OF_FILE: Final = pattern(r"\bfile: !(\d+)")
_AT: Final = pattern(r", !dbg !(\d+)(?:, |$)")
_DEFINED: Final = pattern(r'^define\b[^@]*@("[^"]+"|[\w$.\-]+)\(', re.MULTILINE)
_LABEL: Final = pattern(r'^(?:"[^"]*"|[\w$.\-]+):')


@dataclass(frozen=True, slots=True)
class SourceTarget:
    """``line`` of ``file`` (any file with that name at the end of its path), or where ``callee`` is called; with
    ``when`` only where this condition of C holds. Or a ``branch`` of the function ``within``: the number of the branch
    in the module's text, and of its side; without one all sides are no targets yet, but have blocks of their own.
    Or ``endless``: no place, but a run that never ends. Or where a loop has gone round more than so many ``rounds``
    since it was entered.
    """

    file: str = ""
    line: int | None = None
    callee: str = ""
    when: str = ""
    within: str = ""
    branch: tuple[int, int] | None = None
    endless: bool = False
    rounds: int | None = None

    def is_in(self, file: Path) -> bool:
        """Whether a line of this file is meant."""
        return _same(str(file), self.file)

    def __str__(self) -> str:
        if self.branch is not None:
            return f"branch {self.branch[0]} of {self.within}, side {self.branch[1]}"
        if self.endless:
            return "a run that never ends"
        if self.rounds is not None:
            return f"more than {self.rounds:,} {'round' if self.rounds == 1 else 'rounds'} of a loop"
        place = f"{self.file}:{self.line}" if self.line is not None else f"a call of {self.callee}"
        return f"{place} with {self.when}" if self.when else place


def marked(text: str, target: SourceTarget) -> str:
    """The module's text with a call of :data:`TARGET` wherever a run gets to the target; as it is where none can."""
    if target.rounds is not None:
        return counted(text, target.rounds)[0]
    if target.branch is not None:
        return _on_branch(text, target)
    if target.within:
        return _divided(text, target.within)
    lines = text.splitlines()
    wanted = _locations(lines, target) if target.line is not None else frozenset()
    calls = r"^\s+(?:%\S+ = )?(?:tail |musttail |notail )?(?:call|invoke)\b[^@]*@"
    called = re.compile(rf"{calls}{re.escape(target.callee)}\(")
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
            by_line = at is not None and int(at[1]) in wanted
            belongs = by_line if target.line is not None else called.match(line) is not None
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


def _locations(lines: list[str], target: SourceTarget) -> frozenset[int]:
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


def asked(text: bytes, target: SourceTarget) -> bytes:
    """The C text with a call of :data:`TARGET` in front of the target's line where its condition holds; lines keep
    their numbers.

    Raises:
        UsageError: there is no such line, or what begins there is the body of another statement and not a simple one.
    """
    assert target.line is not None
    lines = text.split(b"\n")
    if not 1 <= target.line <= len(lines):
        raise UsageError(f"{target.file} has {len(lines)} lines, so none is line {target.line}")
    statement = f"{{ extern void {TARGET}(void); if ({target.when}) {TARGET}(); }}"
    return inserted(text, target.line, statement.encode(), f"{target.file}:{target.line}")


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


# -- branches ---------------------------------------------------------------------------------------------------------

_BRANCH: Final = pattern(r"^  br i1 (\S+), label %(\S+), label %([^\s,]+)(.*)$")
_SWITCH: Final = pattern(r"^  switch (\S+) (\S+), label %(\S+) \[(.*)$")
_CASE: Final = pattern(r"(\S+ \S+), label %(\S+)")
_LABELLED: Final = pattern(r'^("[^"]*"|[\w$.\-]+):')
_CLEANUP: Final = " %cleanup."
OUR_OWN: Final = "!nosanitize"
"""What branches carry that the compiler added to check for undefined behaviour."""


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a branch: the ``number`` of the branch in its function, the ``side`` (of a condition 0 where it
    holds, of a switch 0 for the default, else the case of ``value``), its ``line`` (0 where that is not known), and how
    many ``sides`` there are.
    """

    number: int
    side: int
    line: int
    sides: int
    value: int | None = None
    is_switch: bool = False


def sides(text: str, function: str) -> list[Side]:
    """The sides of all branches of a function, in the order of the module's text."""
    told = (_LOCATION.match(line) for line in text.splitlines())
    places = {one[1]: int(one[2]) for one in told if one is not None}
    found: list[Side] = []
    for number, (_, whole) in enumerate(_branches(text.splitlines(), function)):
        at = _AT.search(whole[0]) or _AT.search(whole[-1])
        line = places.get(at[1], 0) if at is not None else 0
        if _BRANCH.match(whole[0]):
            found.extend(Side(number, side, line, 2) for side in (0, 1))
            continue
        cases = [int(case.split()[1]) for case, _ in _CASE.findall(" ".join(whole[1:]))]
        values = (None, *cases)
        found.extend(Side(number, side, line, len(values), value, True) for side, value in enumerate(values))
    return found


def _branches(lines: list[str], function: str) -> Iterator[tuple[int, list[str]]]:
    """Where the branches of a function stand, with their lines; not those that check for undefined behaviour."""
    inside = False
    at = 0
    while at < len(lines):
        line = lines[at]
        if line.startswith("define"):
            named = _DEFINED.match(line)
            inside = named is not None and named[1].strip('"') == function
        elif line.startswith("}"):
            inside = False
        elif inside and _CLEANUP in line:
            pass  # of the end of scopes: whether the compiler needs it depends on its options
        elif inside and _BRANCH.match(line) and OUR_OWN not in line:
            yield at, [line]
        elif inside and _SWITCH.match(line):
            end = at
            while not lines[end].lstrip().startswith("]"):
                end += 1
            yield at, lines[at : end + 1]
            at = end
        at += 1


SIDE: Final = "loopless.side"
"""How the block is called that is one side of a branch; behind it the number of the side where there are several."""


def _on_branch(text: str, target: SourceTarget) -> str:
    """The module with a call of :data:`TARGET` on one side of a branch, in a block of its own."""
    assert target.branch is not None
    number, side = target.branch
    lines = text.splitlines()
    if not _with_side(lines, target.within, number, side, SIDE, [f"  call void @{TARGET}()"]):
        return text
    return "\n".join([*lines, f"declare void @{TARGET}()", ""])


def _divided(text: str, function: str) -> str:
    """The module with a block for each side of the branches of a function."""
    lines = text.splitlines()
    for index, side in enumerate(sides(text, function)):
        _with_side(lines, function, side.number, side.side, f"{SIDE}{index}", [])
    return "\n".join([*lines, ""])


def _with_side(lines: list[str], function: str, number: int, side: int, own: str, body: list[str]) -> bool:
    """Put a block of this name with this body on one side of a branch; False where there is no such branch."""
    found = next((one for n, one in enumerate(_branches(lines, function)) if n == number), None)
    if found is None:
        return False
    at, whole = found
    pair = _BRANCH.match(whole[0])
    if pair is not None:
        to = pair[2 + side]
        ways = [pair[2], pair[3]]
        ways[side] = own
        lines[at] = f"  br i1 {pair[1]}, label %{ways[0]}, label %{ways[1]}{pair[4]}"
    else:
        row = at if side == 0 else _row(lines, at, side)
        label = re.search(r"label %([^\s,]+)", lines[row])
        assert label is not None
        to = label[1]
        lines[row] = lines[row].replace(f"label %{to}", f"label %{own}", 1)
    start = max(n for n in range(at) if lines[n].startswith("define"))
    end = next(n for n in range(at, len(lines)) if lines[n].startswith("}"))
    label_of = next((_LABELLED.match(lines[n]) for n in range(at, start, -1) if _LABELLED.match(lines[n])), None)
    here = label_of[1] if label_of is not None else "entry"
    for n in range(start, end):
        if (found_label := _LABELLED.match(lines[n])) is not None and found_label[1] == to:
            k = n + 1
            while k < end and (" = phi " in lines[k] or lines[k].lstrip().startswith("#dbg")):
                lines[k] = lines[k].replace(f"%{here} ]", f"%{own} ]", 1)  # one for each edge
                k += 1
    lines[end:end] = ["", f"{own}:", *body, f"  br label %{to}"]
    return True


def _row(lines: list[str], at: int, side: int) -> int:
    """The line of a switch's case."""
    rows = [n for n in range(at + 1, at + 1 + 4 * side + 4096) if n < len(lines) and _CASE.search(lines[n])]
    return rows[side - 1]


def telling(text: str, function: str) -> tuple[str, list[Side]]:
    """The module in which each branch of a function tells :data:`COVER` the number of the side that it takes, in the
    order of the sides, which are given too; the number behind them is the function itself.
    """
    found = sides(text, function)
    lines = text.splitlines()
    first = {(side.number, side.side): index for index, side in enumerate(found)}
    before: dict[int, list[str]] = {}
    for number, (at, whole) in enumerate(_branches(lines, function)):
        pair = _BRANCH.match(whole[0])
        name = f"%loopless.took.{number}"
        if pair is not None:
            yes, no = first[number, 0], first[number, 1]
            before[at] = [f"  {name} = select i1 {pair[1]}, i32 {yes}, i32 {no}", f"  call void @{COVER}(i32 {name})"]
            continue
        switch = _SWITCH.match(whole[0])
        assert switch is not None
        chosen = str(first[number, 0])
        rows = []
        for side, (case, _) in enumerate(_CASE.findall(" ".join(whole[1:])), start=1):
            value = case.split(" ", 1)[1]
            rows.append(f"  {name}.{side}c = icmp eq {switch[1]} {switch[2]}, {value}")
            rows.append(f"  {name}.{side} = select i1 {name}.{side}c, i32 {first[number, side]}, i32 {chosen}")
            chosen = f"{name}.{side}"
        before[at] = [*rows, f"  call void @{COVER}(i32 {chosen})"]
    out: list[str] = []
    for at, line in enumerate(lines):
        out.extend(before.get(at, ()))
        out.append(line)
    return "\n".join([*out, f"declare void @{COVER}(i32)", ""]), found
