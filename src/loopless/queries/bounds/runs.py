"""How often loops run in a run of a whole program, as values, and which loops are copies of which."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from loopless import terms as t
from loopless.bounds.claims.joint import always
from loopless.queries.bounds.answers import FunctionBound, LoopIterations
from loopless.queries.loops.name import LoopName
from loopless.queries.program import AnalyzedFunction, AnalyzedProgram
from loopless.records import dataclass


@dataclass(frozen=True, slots=True)
class RunBound:
    """How often a loop runs in a run of the program from an entry function, in all functions that it comes to.

    ``total``: its iterations in all; ``any_entry``: those of any one entry; both over the inputs of the entry function,
    None where that is not known of one of the calls that may come to it. ``copies``: the loops of functions, with what
    is inlined into them, that stand for it, some of which may be of another loop at its place; ``number``: its place
    among the loops of its own function in the order of their ends. ``exact``: ``total`` is the count of this loop.
    """

    loop: LoopName
    total: t.Term | None
    any_entry: t.Term | None
    copies: tuple[LoopIterations, ...]
    number: int = 0
    exact: bool = False


class Homes:
    """The loops of a program as they are written, and which loops of functions are copies of them by inlining."""

    def __init__(self, program: AnalyzedProgram) -> None:
        self.written = [(function, own_loops(function)) for function in program.functions]
        self._at: dict[str, list[tuple[AnalyzedFunction, LoopName]]] = {}
        for function, loops in self.written:
            for loop in loops:
                self._at.setdefault(loop.place, []).append((function, loop))

    def at(self, loop: LoopName) -> Sequence[tuple[AnalyzedFunction, LoopName]]:
        """The written loops at the place of this one, with their functions."""
        return self._at.get(loop.place, ())

    def is_shared(self, function: AnalyzedFunction, loop: LoopName) -> bool:
        """Whether the function has several loops at one place, as in a macro: they share their copies."""
        return sum(found.name == function.name for found, _ in self.at(loop)) > 1

    def copies(self, function: AnalyzedFunction, bound: FunctionBound) -> dict[str, list[LoopIterations]]:
        """By the names of written loops, the loops of ``bound`` that stand for them; others by their own names."""
        callees = {loop.name: _callee(loop.id) for loop in function.loops}
        found: dict[str, list[LoopIterations]] = {}
        for copy in bound.counts:
            loop = copy.answer.loop
            there = self.at(loop)
            of = [(f, home) for f, home in there if _is_of(loop, home)]  # a copy whose own function is not defined
            of = of or [(f, home) for f, home in there if f.name == callees.get(loop.name)] or list(there)
            names = [home.name for _, home in of] if of or is_recursion(loop) else [loop.name]
            for name in dict.fromkeys(names):
                found.setdefault(name, []).append(copy)
        return found


def own_loops(function: AnalyzedFunction) -> list[LoopName]:
    """The loops that stand in the text of a function."""
    return [loop.id for loop in function.loops if loop.id.inlined_from is None and not is_recursion(loop.id)]


def _is_of(loop: LoopName, home: LoopName) -> bool:
    """Whether a loop is a copy by inlining that is all there is of its text, ``home``, or is inlined from there."""
    return "@" in home.name and (loop.name == home.name or loop.name.startswith(f"{home.name}@"))


def _callee(loop: LoopName) -> str:
    """The function in whose text a loop stands that may have been inlined; empty where that is not known."""
    return loop.info.loc.function if loop.info is not None and loop.info.loc is not None else ""


def of_entry(bound: LoopIterations) -> t.Term | None:
    """A bound on any entry; what is entered once at most takes no more than it takes in all."""
    if bound.any_entry is not None:
        return bound.any_entry
    return always(bound.call)


RETURNS: Final = "~returns"
"""How the names of the loops end that stand for what a recursion does on its way up again."""


def is_recursion(loop: LoopName) -> bool:
    """Whether a loop stands for a function that calls itself."""
    return loop.column == 0 or loop.name.endswith(RETURNS)


def by_end(loops: Sequence[LoopName]) -> list[LoopName]:
    """The loops in the order of their ends: inner ones before those around them."""
    children: dict[str | None, list[LoopName]] = {}
    plain = [loop for loop in loops if not is_recursion(loop)]
    names = {loop.name for loop in plain}
    for loop in sorted(plain, key=lambda loop: (loop.line, loop.column, loop.name)):
        children.setdefault(loop.parent if loop.parent in names else None, []).append(loop)

    def order(parent: str | None) -> Iterator[LoopName]:
        for loop in children.get(parent, ()):
            yield from order(loop.name)
            yield loop

    return list(order(None))
