"""What comes from outside of a function: results of calls, and memory that it was given and has not written yet.

A pointer in memory, and one that was in a variable when the function began, may point to memory that no other such
pointer does; what is read there is chosen from outside, unless the function wrote through this pointer before. Which
objects pointers may point to is found without regard to the order of statements and to offsets: the inclusion
constraints of Andersen (Program analysis and specialization for the C programming language, 1994), over the blocks
before a loop and in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from loopless.flowgraph.liveness import defined_by
from loopless.flowgraph.model import (
    NULL_OBJECT,
    Allocate,
    Assign,
    Block,
    Call,
    Copy,
    Fill,
    Flowgraph,
    Havoc,
    Kind,
    Load,
    Origin,
    Pointer,
    Statement,
    Store,
)
from loopless.graphs import reachable
from loopless.paths.execution import Written
from loopless.refusals import Reason, Refused
from loopless.source.vocabulary import FROM_OUTSIDE, POINTS_INTO_FIRST, Effect, effect_of, library_function
from loopless.terms import Const, Ite, Term, Var, Wrap, polynomial


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
        what = ", ".join(self.sources[:_SHOWN]) + (", …" if len(self.sources) > _SHOWN else "")
        calls = f", if calls of {', '.join(self.returning[:_SHOWN])} return" if self.returning else ""
        if self.inputs:
            return f"it runs as long as what it reads lets it{calls}: {what}"
        return f"memory that it may write decides how long it runs{calls}, which is not followed: {what}"


_SHOWN: Final = 4
"""So many sources are named in a sentence."""
NO_READS: Final = Reads()


class Chooser(Enum):
    """Who decides what memory holds."""

    NOBODY = "it is always the same"
    UNSURE = "the function, perhaps"
    OUTSIDE = "whoever calls the function"


_FRESH: Final = -1
"""Stands for objects that the function allocates."""
_SAME: Final = -2
"""Stands for objects that pointers point to which are always the same."""
_STRANGE: Final = -3
"""Stands for objects of which nothing is known."""
_GIVEN: Final = -4
"""Numbers up to this stand for objects without a number that pointers point to which the function was given."""
_OUTER: Final = ("parameter", "global", "pointee", "reached")
_AT_ENTRY: Final = (Kind.PARAMETER, Kind.GLOBAL, Kind.POINTEE)
_Source = Term | Load | int


@dataclass(slots=True)
class Before:
    """Who decides what the memory holds that a loop reads: what is done before to it, and in the loop.

    ``start``: its header; ``looping``: what it writes.
    """

    graph: Flowgraph
    start: str
    looping: Written
    _owners: dict[Var, set[int]] = field(default_factory=dict)
    _written: set[int] = field(default_factory=set)
    _content: dict[int, set[int]] = field(default_factory=dict)
    """By object: where the pointers may point that the function puts there."""
    _given: dict[Var | int, int] = field(default_factory=dict)
    """What stands for the objects to which pointers in a variable or in an object point when the function begins."""
    _is_solved: bool = False

    def chooser(self, load: Load) -> Chooser:
        """Who decides what is read."""
        self._solve()
        return self._chooser(load)

    def writes(self, name: str) -> bool:
        """Whether the object of memory with this name may be written before."""
        self._solve()
        return _STRANGE in self._written or any(self.graph.objects[n].name == name for n in self._written if n > 0)

    def _chooser(self, load: Load) -> Chooser:
        found = {self._of(number) for number in self._named_by(load.address.object)}
        return next((one for one in Chooser if one in found), Chooser.UNSURE)

    def _of(self, number: int) -> Chooser:
        held = self.graph.objects.get(number)
        is_written = number in self._written or _STRANGE in self._written
        if number <= _GIVEN or (held is not None and held.kind in _OUTER and not held.constant):
            return Chooser.UNSURE if is_written else Chooser.OUTSIDE
        changes = self.looping.anything or number in self.looping
        kept = held is not None and (held.constant or (held.kind == "local" and not changes))
        return Chooser.NOBODY if kept or number == _SAME else Chooser.UNSURE

    def _solve(self) -> None:
        """The least sets of objects, with the writes: both only grow."""
        if self._is_solved:
            return
        self._is_solved = True
        preceding: dict[str, list[str]] = {}
        for label, block in self.graph.blocks.items():
            for target in block.successors:
                preceding.setdefault(target, []).append(label)
        blocks = [self.graph.blocks[label] for label in reachable([self.start], lambda label: preceding.get(label, ()))]
        sources = self._sources(blocks)
        self._owners = {var: {self._given_in(var)} if self._is_given(var) else set() for var in sources}
        stores = [s for block in blocks for s in block.statements if isinstance(s, Store | Fill | Copy | Call)]
        before = -1
        while before != (before := sum(map(len, (self._written, *self._owners.values(), *self._content.values())))):
            for var, some in sources.items():
                for source in some:
                    self._owners[var] |= self._brought(source, var)
            for statement in stores:
                numbers = self._written_by(statement)
                self._written |= numbers
                put = self._put_by(statement)
                for number in numbers if put else ():
                    self._content.setdefault(number, set()).update(put)

    def _sources(self, blocks: Iterable[Block]) -> dict[Var, list[_Source]]:
        """Where the values of variables come from."""
        found: dict[Var, list[_Source]] = {}
        for block in blocks:
            told: set[Var | None] = set()
            for statement in block.statements:
                if isinstance(statement, Call):
                    told |= {statement.target, statement.target_object}  # a Havoc that follows says no more
                elif isinstance(statement, Havoc) and statement.target in told:
                    continue
                for target in defined_by(statement):
                    found.setdefault(target, []).append(_source(statement, target))
            for edge in block.edges:
                for target, value in edge.assigns:
                    found.setdefault(target, []).append(value)
        return found

    def _is_given(self, var: Var) -> bool:
        """Whether a variable has a value when the function begins."""
        info = self.graph.variables.get(var)
        return info is not None and info.kind in _AT_ENTRY

    def _is_object(self, var: Var) -> bool:
        info = self.graph.variables.get(var)
        return info is not None and info.pointer_part == "object"

    def _brought(self, source: _Source, var: Var) -> set[int]:
        if isinstance(source, int):
            return {source} - {NULL_OBJECT}
        if not isinstance(source, Load):
            return self._named_by(source) if self._is_object(var) else self._carried_by(source)
        return set().union(*(self._held_in(number) for number in self._named_by(source.address.object)))

    def _held_in(self, number: int) -> set[int]:
        """Where the pointers in an object may point."""
        found = self._content.get(number, set()) | self._content.get(_STRANGE, set())
        held = self.graph.objects.get(number)
        if number == _STRANGE:
            return {_STRANGE}
        if number == _SAME or (held is not None and held.constant):
            return {_SAME}
        if number <= _GIVEN or (held is not None and held.kind in _OUTER):
            return found | {self._given_in(number)}
        return found

    def _given_in(self, place: Var | int) -> int:
        if isinstance(place, int) and place in [self._given.get(n) for n in self._given if isinstance(n, int)]:
            return place  # a list, or a tree
        return self._given.setdefault(place, _GIVEN - len(self._given))

    def _named_by(self, owner: Term) -> set[int]:
        """The objects that a term may stand for, but for that of null pointers."""
        match owner:
            case Const(value=number):
                return {number} - {NULL_OBJECT}
            case Ite(then=then, otherwise=otherwise):
                return self._named_by(then) | self._named_by(otherwise)
            case Var():
                return self._meant_by(owner)
            case _:
                return {_STRANGE}

    def _carried_by(self, number: Term) -> set[int]:
        """Where a number may point that is made from pointers, or from parts of them; nowhere if it is a distance."""
        while isinstance(number, Wrap):
            number = number.arg
        found = {var: meant for var in sorted(number.variables) if (meant := self._meant_by(var))}
        linear = polynomial(number)
        times = [linear.get(((var, 1),), 0) for var in found]
        return set() if all(times) and not sum(times) else set().union(*found.values())

    def _meant_by(self, var: Var) -> set[int]:
        found = self._owners.get(var)
        if found is None:
            return {self._given_in(var)} if self._is_given(var) else {_STRANGE}
        return found

    def _written_by(self, statement: Statement) -> set[int]:
        match statement:
            case Store() | Fill():
                return self._named_by(statement.address.object)
            case Copy():
                return self._named_by(statement.target.object)
            case Call(outside=True, callee=name) if _allocates(name):
                return {_FRESH}
            case Call(writes_memory=True, outside=outside) if not (outside and _fills_freely(statement.callee)):
                return {_STRANGE} if statement.writes is None else set(statement.writes)
            case _:
                return set()

    def _put_by(self, statement: Statement) -> set[int]:
        """Where the pointers may point that a statement writes."""
        match statement:
            case Store(value_object=None, value=value):
                return self._carried_by(value)
            case Store(value_object=owner) if owner is not None:
                return self._named_by(owner)
            case Copy():
                return set().union(*(self._held_in(number) for number in self._named_by(statement.source.object)))
            case Call(outside=True, callee=name, arguments=(Pointer(object=owner), *_)) if _allocates(name):
                return set().union(*(self._held_in(number) for number in self._named_by(owner)))  # which moves
            case Call():
                return {_STRANGE}
            case _:
                return set()


def _source(statement: Statement, target: Var) -> _Source:
    """Where the value of ``target`` behind a statement comes from; 0 where it is no pointer."""
    match statement:
        case Assign(value=value):
            return value
        case Load():
            return statement
        case Allocate():
            return _FRESH
        case Havoc(origin=Origin.MEMORY, name=name) if _allocates(name):
            return _FRESH
        case Havoc(origin=Origin.UNINITIALISED | Origin.NONDET):
            return NULL_OBJECT
        case Call(outside=True, callee=name) if target is statement.target_object:
            return _returned(name, statement.arguments)
        case Call(outside=True, writes_memory=writes) if target is statement.target:
            known = library_function(statement.callee)
            return NULL_OBJECT if known is not None or not writes else _STRANGE
    return _STRANGE


def _returned(name: str, arguments: Sequence[Term | Pointer]) -> _Source:
    """Where the result of a function points that the program does not define."""
    known = library_function(name)
    if _allocates(name):
        return _FRESH
    at = 0 if name in POINTS_INTO_FIRST else None if known is None else known.returns_argument
    pointer = arguments[at] if at is not None and at < len(arguments) else None
    return pointer.object if isinstance(pointer, Pointer) else _STRANGE


def _allocates(name: str) -> bool:
    return effect_of(name) is Effect.ALLOCATES or name in ("realloc", "reallocarray")


def _fills_freely(name: str) -> bool:
    """Whether what a function that the program does not define leaves in memory may be anything at each place."""
    return library_function(name) is None or name in ("read", "recv", "fread")


def free_objects(graph: Flowgraph, written: Written) -> frozenset[str]:
    """The objects of memory that hold anything at first, and that nobody writes."""
    unknown = (o for o in graph.objects.values() if o.kind in ("parameter", "global") and not o.constant)
    return frozenset(o.name for o in unknown if not written.anything and o.number not in written)


_ANEW: Final = (Origin.NONDET, Origin.VOLATILE, Origin.CALL, Origin.MEMORY)


def left_by(statement: Statement) -> tuple[str, bool]:
    """The call that left a value in memory: nothing that comes surely from outside of the program."""
    if not isinstance(statement, Call):
        return "", False
    what = f"what {statement.callee} leaves in memory"
    return (f"{what} at {statement.loc}" if statement.loc is not None else what), False


def read_from(statement: Statement) -> tuple[str, bool]:
    """Where a value comes from that may be any, and whether that is surely outside of the program; empty for what
    nobody chooses.
    """
    sure = True
    match statement:
        case Load(loc=loc):
            what = "memory"
        case Call(callee=callee, writes_memory=False, loc=loc):
            known = library_function(callee)
            what, sure = f"what {callee} returns", known is not None and callee in FROM_OUTSIDE
            if known is None or (known.pure and known.effect is not Effect.READS):
                return "", False
        case Havoc(origin=Origin.CALL, name=name, loc=loc, refused=Refused(reason=Reason.MEMORY)):
            what, sure = f"what functions that {name} may call leave in memory", False
        case Havoc(origin=Origin.CALL, name=name, loc=loc, refused=refused):
            if refused is None or refused.reason is not Reason.UNKNOWN_CALL:
                return "", False
            what, sure = f"what {name} returns", (library_function(name) is None or name in FROM_OUTSIDE)
            sure = sure and name != "call"
        case Havoc(origin=origin, name=name, loc=loc) if origin in _ANEW:
            what = name
        case _:
            return "", False
    return (f"{what} at {loc}" if loc is not None else what), sure
