"""Programs as trees of text: what a piece holds can be taken out, or stand in its place, to make the program smaller.

Loops carry comments for :mod:`loopless_fuzz.judging.counting`; they are numbered when the program is printed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final, Literal

from loopless_fuzz.generator.reduction import reduced

Language = Literal["c", "c++"]
_HOOK: Final = re.compile(r"/\*(enter|head|body) #(\d+)\*/")


@dataclass(frozen=True, slots=True)
class Piece:
    """Lines of a program: ``head``, what is ``inside``, and ``tail``. ``needed``: it is not left out (what returns)."""

    head: str
    inside: tuple[Piece, ...] = ()
    tail: str = ""
    needed: bool = False

    def lines(self, depth: int = 0) -> Iterator[str]:
        """The text, indented."""
        indent = "    " * depth
        yield from (indent + line for line in self.head.split("\n") if line)
        for piece in self.inside:
            yield from piece.lines(depth + bool(self.head))
        if self.tail:
            yield indent + self.tail


@dataclass(frozen=True, slots=True)
class CleanProgram:
    """A program: its types, globals and functions, and the function ``entry(int, int)`` that tells what came out."""

    seed: int
    language: Language
    entry: str
    pieces: tuple[Piece, ...]

    @property
    def suffix(self) -> str:
        """That of a file of the language."""
        return ".c" if self.language == "c" else ".cpp"


HEADS: Final = {
    "c": "int abs(int);\n"
    "void *memcpy(void *, const void *, unsigned long);\nvoid *memset(void *, int, unsigned long);\n"
    "void *memmove(void *, const void *, unsigned long);\n"
    "int memcmp(const void *, const void *, unsigned long);\nunsigned long strlen(const char *);\n"
    "void *malloc(unsigned long);\nvoid *calloc(unsigned long, unsigned long);\nvoid free(void *);\n",
}
HEADS["c++"] = 'extern "C" {\n' + HEADS["c"].replace(");", ") noexcept;") + "}\n"


def text_of(*programs: CleanProgram) -> str:
    """Programs of one language as one file."""
    lines = [line for program in programs for piece in program.pieces for line in piece.lines()]
    numbers: dict[str, int] = {}

    def numbered(found: re.Match[str]) -> str:
        return f"/*{found[1]} {numbers.setdefault(found[2], len(numbers))}*/"

    return HEADS[programs[0].language] + "".join(_HOOK.sub(numbered, line) + "\n" for line in lines)


def smaller(program: CleanProgram) -> Iterator[CleanProgram]:
    """Programs with a piece less, or with what is in a piece in its place; large pieces first."""
    for pieces in _smaller(program.pieces):
        yield replace(program, pieces=pieces)


def _smaller(pieces: tuple[Piece, ...]) -> Iterator[tuple[Piece, ...]]:
    half = len(pieces) // 2
    if half > 1:
        for kept in (pieces[:half], pieces[half:]):
            dropped = [piece for piece in pieces if piece not in kept and piece.needed]
            yield (*kept, *dropped)
    for at, piece in enumerate(pieces):
        before, after = pieces[:at], pieces[at + 1 :]
        if not piece.needed:
            yield (*before, *after)
            if piece.inside:
                yield (*before, *piece.inside, *after)
        for inside in _smaller(piece.inside):
            yield (*before, replace(piece, inside=inside), *after)


def reduce(program: CleanProgram, still_fails: Callable[[CleanProgram], bool], budget: int = 400) -> CleanProgram:
    """The smallest program found that still fails; ``still_fails`` is asked at most ``budget`` times."""
    return reduced(program, smaller, text_of, still_fails, budget)
