"""Rounds of loops, counted in the module's text: a call of :data:`TARGET` where a loop has gone round too often.

Each loop has a counter, 0 where a run comes to its header from outside, and one more with each round.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from loopless.graphs import dominators, predecessors, reachable
from loopless.patterns import pattern
from loopless.records import dataclass
from loopless.source.vocabulary import COVER, TARGET

_DEFINED: Final = pattern(r'^define\b[^@]*@("[^"]+"|[\w$.\-]+)\(')
_LABEL: Final = pattern(r'^("[^"]*"|[\w$.\-]+):')
_NEXT: Final = pattern(r'\blabel %("[^"]*"|[\w$.\-]+)')
_FIRST: Final = pattern(r"^\s+(?:%\S+ = )?(?:phi|landingpad)\b|^\s+(?:cleanup|catch|filter)\b|^\s+#dbg")
_ENDS: Final = pattern(r"^  (?:%\S+ = )?(?:br|switch|indirectbr|invoke|callbr|ret|unreachable|resume)\b")
_AT: Final = pattern(r", !dbg !(\d+)")
_LOCATION: Final = pattern(r"^!(\d+) = (?:distinct )?!DILocation\(line: (\d+)")


@dataclass(frozen=True, slots=True)
class CountedLoop:
    """A loop in the module's text: the ``function`` of the module that it is in, and its ``line``, 0 where that is not
    known.
    """

    function: str
    line: int


@dataclass(slots=True)
class _Body:
    """The lines of one function: its blocks by their labels, as the numbers of the first and last line of each."""

    name: str
    blocks: dict[str, tuple[int, int]]
    next: dict[str, tuple[str, ...]]
    start: int


def counted(text: str, rounds: int, *, tell: bool = False) -> tuple[str, list[CountedLoop]]:
    """The module with counters, and its loops. It calls the target once an entry of a loop has taken more than
    ``rounds`` rounds; ``tell``: it calls :data:`COVER` with the number of the loop first.
    """
    made = _Counting(text.splitlines(), rounds, tell)
    for body in list(_bodies(made.lines)):
        for header, latches in _loops(body):
            made.count(body, header, latches)
    return (made.text() if made.loops else text), made.loops


def _bodies(lines: Sequence[str]) -> Iterator[_Body]:
    body: _Body | None = None
    label, first = "", 0
    for at, line in enumerate(lines):
        if line.startswith("define") and (named := _DEFINED.match(line)) is not None:
            body = _Body(named[1].strip('"'), {}, {}, at)
            label, first = "", at + 1
        elif body is None:
            continue
        elif line.startswith("}"):
            body.blocks[label] = (first, at - 1)
            body.next |= {one: _following(lines, *span) for one, span in body.blocks.items()}
            if "" in body.blocks and body.blocks[""][0] > body.blocks[""][1]:
                del body.blocks[""], body.next[""]
            yield body
            body = None
        elif (found := _LABEL.match(line)) is not None:
            if label or at > first:
                body.blocks[label] = (first, at - 1)
            label, first = found[1], at + 1


def _following(lines: Sequence[str], first: int, last: int) -> tuple[str, ...]:
    end = next((at for at in range(first, last + 1) if _ENDS.match(lines[at])), last)
    return tuple(dict.fromkeys(name for at in range(end, last + 1) for name in _NEXT.findall(lines[at])))


def _loops(body: _Body) -> Iterator[tuple[str, list[str]]]:
    """The headers of natural loops with the blocks that lead back to them."""
    entry = next(iter(body.blocks))
    above = dominators(body.next, entry)
    before = predecessors(body.next)

    def dominates(one: str, other: str) -> bool:
        while other != one and other in above:
            other = above[other]
        return other == one

    reached = set(reachable((entry,), lambda label: body.next[label]))
    for header in body.blocks:
        latches = [one for one in before[header] if one in reached and dominates(header, one)]
        if latches and header in reached:
            yield header, latches


class _Counting:
    """Counters of loops, put into the ``lines`` of a module."""

    def __init__(self, lines: list[str], rounds: int, tell: bool) -> None:  # noqa: FBT001
        self.lines, self.rounds, self.tell = lines, rounds, tell
        self.loops: list[CountedLoop] = []
        self.before: dict[int, list[str]] = {}
        """What stands before lines, by their numbers."""
        told = (_LOCATION.match(line) for line in lines)
        self.places = {one[1]: int(one[2]) for one in told if one is not None}

    def count(self, body: _Body, header: str, latches: Sequence[str]) -> None:
        """The counter of one loop. It holds the rounds so far and 1, and 0 where the header is come to from outside."""
        number = len(self.loops)
        own = f"%loopless.rounds.{number}"
        self.loops.append(CountedLoop(body.name, self._line(body, header, latches)))
        entry = next(iter(body.blocks))
        self.before.setdefault(body.blocks[entry][0], []).insert(0, f"  {own} = alloca i64, align 8")
        for label in predecessors(body.next)[header]:
            if label not in latches:
                first, last = body.blocks[label]
                end = next(at for at in range(first, last + 1) if _ENDS.match(self.lines[at]))
                self.before.setdefault(end, []).append(f"  store i64 0, ptr {own}, align 8")
        first, last = body.blocks[header]
        at = next(at for at in range(first, last + 1) if not _FIRST.match(self.lines[at]))
        place = next((f", !dbg !{one[1]}" for line in self.lines[at : last + 1] if (one := _AT.search(line))), "")
        self.before.setdefault(at, [])[:0] = self._counted(own, number, place)
        self._rename(body, header, f"loopless.round.{number}")

    def _counted(self, own: str, number: int, place: str) -> list[str]:
        return [
            f"  {own}.before = load i64, ptr {own}, align 8",
            f"  {own}.now = add nuw nsw i64 {own}.before, 1",
            f"  store i64 {own}.now, ptr {own}, align 8",
            f"  {own}.over = icmp ugt i64 {own}.now, {self.rounds + 1}",
            f"  br i1 {own}.over, label %loopless.over.{number}, label %loopless.round.{number}",
            "",
            f"loopless.over.{number}:",
            *([f"  call void @{COVER}(i32 {number})"] if self.tell else []),
            f"  call void @{TARGET}(){place}",
            f"  br label %loopless.round.{number}",
            "",
            f"loopless.round.{number}:",
        ]

    def _line(self, body: _Body, header: str, latches: Sequence[str]) -> int:
        blocks = [body.blocks[header], *(body.blocks[one] for one in latches)]
        told = (_AT.search(self.lines[at]) for first, last in blocks for at in range(first, last + 1))
        return next((self.places[one[1]] for one in told if one is not None and one[1] in self.places), 0)

    def _rename(self, body: _Body, header: str, own: str) -> None:
        """What comes after the header comes after its second part now."""
        for first, last in body.blocks.values():
            for at in range(first, last + 1):
                if " = phi " in self.lines[at]:
                    self.lines[at] = self.lines[at].replace(f", %{header} ]", f", %{own} ]")

    def text(self) -> str:
        """The module with the counters."""
        out: list[str] = []
        for at, line in enumerate(self.lines):
            out.extend(self.before.get(at, ()))
            out.append(line)
        declared = [f"declare void @{TARGET}()", *([f"declare void @{COVER}(i32)"] if self.tell else [])]
        return "\n".join([*out, *declared, ""])
