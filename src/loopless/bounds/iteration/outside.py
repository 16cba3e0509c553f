"""What comes from outside of a function: results of calls, and memory that it was given and has not written yet.

A pointer in memory, and one that was in a variable when the function began, may point to memory that no other such
pointer does; what is read there is chosen from outside, unless the function wrote through this pointer before. In which
objects an access may be, the flowgraph says (:attr:`loopless.flowgraph.model.Store.objects`). What a static variable
holds, only the functions of its module decide, which may never write it, or only some values.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final

from loopless import terms as t
from loopless.flowgraph.memory.pointees import STANDING_IN
from loopless.flowgraph.memory.statement_effects import Objects, Written, read_by, written_by
from loopless.flowgraph.model import (
    NULL_OBJECT,
    OBJECT_PART,
    THROUGH_POINTER,
    Call,
    Flowgraph,
    Havoc,
    Load,
    Origin,
    Statement,
    VariableInfo,
)
from loopless.flowgraph.words import function_in_words
from loopless.graphs import predecessors, reachable
from loopless.limits.bounds import SHOWN_SOURCES
from loopless.records import dataclass
from loopless.refusals import Reason, Refused
from loopless.source.vocabulary import FROM_OUTSIDE, LibraryEffect, library_function


@dataclass(frozen=True, slots=True)
class Reads:
    """``sources``: what is read anew in each iteration and alone decides how long a loop runs, with where; none where
    something else may. ``inputs``: all of it is chosen from outside: not memory that the loop may write, nor what a
    function finds out from memory. ``returning``: the functions called that may end the run, of which it is taken for
    granted that they do not.
    """

    sources: tuple[str, ...] = ()
    inputs: bool = False
    returning: tuple[str, ...] = ()

    def __str__(self) -> str:
        what = ", ".join(self.sources[:SHOWN_SOURCES]) + (", …" if len(self.sources) > SHOWN_SOURCES else "")
        calls = f", if calls of {', '.join(self.returning[:SHOWN_SOURCES])} return" if self.returning else ""
        if self.inputs:
            return f"it runs as long as what it reads lets it{calls}: {what}"
        return f"memory that it may write decides how long it runs{calls}, which is not followed: {what}"


NO_READS: Final = Reads()


class Chooser(Enum):
    """Who decides what memory holds."""

    NOBODY = "it is always the same"
    UNSURE = "the function, perhaps"
    OUTSIDE = "whoever calls the function"


_OUTER: Final = ("parameter", "global", *STANDING_IN)


@dataclass(slots=True)
class Before:
    """Who decides what the memory holds that a loop reads: what is done before to it, and in the loop.

    ``start``: its header; ``looping``: what it writes.
    """

    graph: Flowgraph
    start: str
    looping: Written
    _written: frozenset[int] | None = frozenset()
    """The objects that may be written before; None for any."""
    _is_solved: bool = False

    def chooser(self, load: Load) -> Chooser:
        """Who decides what is read."""
        objects = read_by(load)
        found = {self._of(number) for number in objects or () if number != NULL_OBJECT}
        first = next((one for one in Chooser if one in found), Chooser.UNSURE)
        # What another loop has looked at may be limited by what it found: all elements, say.
        return Chooser.UNSURE if first is Chooser.OUTSIDE and self._is_looked_at(objects) else first

    def _is_looked_at(self, objects: frozenset[int] | None) -> bool:
        """Whether a loop, or a function of the program, reads some of these objects before, of which it may find out
        more than what single places hold.
        """
        before = self._preceding()
        mine = next((loop.blocks for loop in self.graph.loops if loop.header == self.start), frozenset[str]())
        others = [loop for loop in self.graph.loops if self.start not in loop.blocks and loop.header in before]
        inside = {label for loop in others for label in loop.blocks} - mine
        for label in before - mine:
            for statement in self.graph.blocks[label].statements:
                match statement:
                    case Load() if label in inside:
                        read = read_by(statement)
                    case Call(outside=False):
                        read = read_by(statement)
                    case _:
                        continue
                if objects is None or read is None or not read.isdisjoint(objects):
                    return True
        return False

    def is_limited(self, name: str) -> bool:
        """Whether what the object of memory with this name holds need not be chosen by callers alone: it may be written
        before, or only by the program, or was looked at by another loop.
        """
        numbers = [number for number, held in self.graph.objects.items() if held.name == name]
        if self._is_looked_at(frozenset(numbers)):
            return True
        return any(self._is_own(number) or self._is_written(number) for number in numbers)

    def _of(self, number: int) -> Chooser:
        held = self.graph.objects.get(number)
        if self._is_own(number) and not (held is not None and held.constant):
            return Chooser.UNSURE
        if held is None or (held.kind in _OUTER and not held.constant):
            given = held is not None or bool(self.graph.unnumbered.get(number))
            return Chooser.OUTSIDE if given and not self._is_written(number) else Chooser.UNSURE
        changes = self.looping.hits(number)
        return Chooser.NOBODY if held.constant or (held.kind == "local" and not changes) else Chooser.UNSURE

    def _is_own(self, number: int) -> bool:
        """Whether only the program's functions decide what is there: in a static variable, or where pointers lead that
        lie in one.
        """
        seen: set[int] = set()
        while number not in seen:
            seen.add(number)
            held = self.graph.objects.get(number)
            if held is not None and held.own:
                return True
            holder = held.holder if held is not None else self.graph.holders.get(number)
            if holder is None:
                return False
            number = holder[0] if isinstance(holder, tuple) else holder
        return False

    def _is_written(self, number: int) -> bool:
        if not self._is_solved:
            self._is_solved = True
            self._written = self._all_written()
        return self._written is None or number in self._written

    def _preceding(self) -> set[str]:
        """The blocks from which runs may come to the loop, its own among them."""
        sources = predecessors({label: block.successors for label, block in self.graph.blocks.items()})
        return set(reachable([self.start], sources.__getitem__))

    def _all_written(self) -> frozenset[int] | None:
        found: set[int] = set()
        for label in self._preceding():
            for statement in self.graph.blocks[label].statements:
                objects = _left_by(statement)
                if objects is None:
                    return None
                found |= objects
        return frozenset(found)


def _left_by(statement: Statement) -> Objects:
    """The objects that a statement may write, but not code outside of the program, which leaves what it likes."""
    is_free = isinstance(statement, Call) and statement.outside and _fills_freely(statement.callee)
    return frozenset() if is_free else written_by(statement)


def _fills_freely(name: str) -> bool:
    """Whether what a function that the program does not define leaves in memory may be anything at each place."""
    return library_function(name) is None or name in ("read", "recv", "fread")


def free_objects(graph: Flowgraph, written: Written) -> frozenset[str]:
    """The objects of memory that hold anything at first, and that nobody writes."""
    unknown = (o for o in graph.objects.values() if o.kind in ("parameter", "global") and not o.constant)
    return frozenset(o.name for o in unknown if not written.hits(o.number))


_ANEW: Final = (Origin.NONDET, Origin.VOLATILE, Origin.CALL, Origin.MEMORY)


def left_by(statement: Statement) -> tuple[str, bool]:
    """The call that left a value in memory: nothing that comes surely from outside of the program."""
    if not isinstance(statement, Call):
        return "", False
    what = f"what {function_in_words(statement.callee)} leaves in memory"
    return (f"{what} at {statement.loc}" if statement.loc is not None else what), False


def read_from(statement: Statement, variables: Mapping[t.Var, VariableInfo]) -> tuple[str, bool]:
    """Where a value comes from that may be any, and whether that is surely outside of the program; empty for what
    nobody chooses.
    """
    sure = True
    match statement:
        case Load(loc=loc, shown=shown):
            what = shown or "memory"
        case Call(callee=callee, writes_memory=False, loc=loc):
            known = library_function(callee)
            what, sure = f"what {function_in_words(callee)} returns", known is not None and callee in FROM_OUTSIDE
            if known is None or (known.pure and known.effect is not LibraryEffect.READS):
                return "", False
        case Havoc(origin=Origin.CALL, name=name, loc=loc, refused=Refused(reason=Reason.MEMORY)):
            what, sure = f"what functions that {function_in_words(name)} may call leave in memory", False
        case Havoc(target=target, origin=Origin.CALL, name=name, loc=loc, refused=refused):
            if refused is None or refused.reason is not Reason.UNKNOWN_CALL:
                return "", False
            held = variables.get(target)
            what = f"what {function_in_words(name)} returns"
            if held is not None and held.object is not None:
                what = f"{held.shown.removesuffix(OBJECT_PART)}, which {function_in_words(name)} may write"
            sure = (library_function(name) is None or name in FROM_OUTSIDE) and name != THROUGH_POINTER
        case Havoc(origin=origin, name=name, loc=loc) if origin in _ANEW:
            what = name
        case _:
            return "", False
    return (f"{what} at {loc}" if loc is not None else what), sure
