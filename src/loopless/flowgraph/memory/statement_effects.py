"""Which objects of memory statements and regions of a flowgraph may read and write, and what survives them.

Paths, bounds and transitions ask here whether something may write an object between two places of a flowgraph. (Of the
IR, before there is a flowgraph, :mod:`loopless.flowgraph.memory.mod_ref` tells it.) Objects are sets of numbers,
negative ones as in :attr:`.Flowgraph.unnumbered`; None stands for any. No solver is asked.

Two questions differ. :func:`written_by` takes formal pointees for no other objects, and who relies on that lists it as
an assumption (:func:`may_be_one`). :class:`Written` takes nothing for granted: what it spares surely survives.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from loopless import terms as t
from loopless.flowgraph.memory.places import HEAP
from loopless.flowgraph.memory.pointees import POINTEE, STANDING_IN
from loopless.flowgraph.model import Call, Copy, Expire, Fill, Flowgraph, Load, Statement, Store

Objects = frozenset[int] | None
"""Where an access may be; None for any object."""
NOWHERE: Final = frozenset[int]()


# -- where an access is -----------------------------------------------------------------------------------------------


def objects_at(owner: t.Term, objects: Objects) -> Objects:
    """Where an access is whose address is in the object ``owner``, of which the flowgraph says ``objects``."""
    return frozenset((owner.value,)) if isinstance(owner, t.Const) else objects


def read_by(statement: Load | Call) -> Objects:
    """The objects that a load or a call may read."""
    if isinstance(statement, Call):
        return statement.looks
    return objects_at(statement.address.object, statement.objects)


def written_by(statement: Statement) -> Objects:
    """The objects that a statement may write; the ends of lives are none of it."""
    match statement:
        case Store(address=at, objects=objects) | Fill(address=at, objects=objects) | Copy(target=at, objects=objects):
            return objects_at(at.object, objects)
        case Call(writes_memory=True, objects=objects):
            return objects
        case _:
            return NOWHERE


def written_in(graph: Flowgraph, labels: Iterable[str]) -> Objects:
    """The objects that the statements of these blocks may write, or bring to the end of their lives."""
    found: set[int] = set()
    for label in labels:
        for statement in graph.blocks[label].statements:
            objects = frozenset((statement.object,)) if isinstance(statement, Expire) else written_by(statement)
            if objects is None:
                return None
            found |= objects
    return frozenset(found)


# -- which objects may be one -----------------------------------------------------------------------------------------


def kind_of(graph: Flowgraph, number: int) -> str:
    """The kind of an object, be it numbered or not."""
    if number in graph.objects:
        return graph.objects[number].kind
    return POINTEE if graph.unnumbered.get(number) else HEAP


def may_be_one(graph: Flowgraph, one: int, other: int) -> bool:
    """Whether two objects are different only by what is taken for granted."""
    kinds = {kind_of(graph, one), kind_of(graph, other)}
    if any(number in graph.objects and graph.objects[number].private for number in (one, other)):
        return False
    return not kinds.isdisjoint(STANDING_IN) or kinds in ({"parameter"}, {"parameter", "global"})


def apart(graph: Flowgraph, ones: Objects, others: Objects) -> list[str] | None:
    """What is taken for granted where two accesses are in different objects, beside :attr:`.Flowgraph.assumptions`;
    None where they may be in one.
    """
    if ones is None or others is None or not ones.isdisjoint(others):
        return None
    found = []
    for one in sorted(ones):
        for other in sorted(others):
            if not may_be_one(graph, one, other):
                continue
            if {kind_of(graph, one), kind_of(graph, other)} & {"local", HEAP}:
                return None  # the function makes it itself, and its address may be where the pointer is read
            left, right = sorted((in_words(graph, one), in_words(graph, other)))
            if f"{right} and {left} do not overlap" not in graph.assumptions:
                found.append(f"{left} and {right} do not overlap")
    return found


def in_words(graph: Flowgraph, number: int) -> str:
    """How assumptions call an object."""
    if number not in graph.objects:
        return graph.unnumbered[number]
    found = graph.objects[number]
    match found.kind:
        case "pointee":
            return f"what {found.name} points to"
        case "reached":
            return f"what else is reached from {found.name}"
        case _:
            return found.name


def surely(graph: Flowgraph, objects: Objects) -> Objects:
    """The objects, where they are surely no others: None where one may be any, unless something is taken for granted.
    What the function allocates is among them by its negative numbers: it is nothing else, but may be written as well.
    """
    if objects is None or any(kind_of(graph, number) in STANDING_IN for number in objects):
        return None
    return objects


# -- what survives ----------------------------------------------------------------------------------------------------


class Written(frozenset[int]):
    """The numbers of objects that are surely all that is written; ``anything`` where some write or call may hit any
    object; ``some``: whether anything is written at all.
    """

    anything: bool = False
    some: bool = False

    def hits(self, number: int) -> bool:
        """Whether this object may be written."""
        return self.anything or number in self

    def spares(self, graph: Flowgraph, objects: Objects) -> bool:
        """Whether nothing is written where an access is, which may be in these objects."""
        if self.anything or not self.some:
            return not self.anything
        places = surely(graph, objects)
        return places is not None and places.isdisjoint(self)

    def names(self, graph: Flowgraph) -> frozenset[str]:
        """The names of the numbered objects that may be written."""
        return frozenset(held.name for number, held in graph.objects.items() if self.hits(number))


NOTHING_WRITTEN: Final = Written()


def changed_by(graph: Flowgraph, statement: Statement) -> Written:
    """The objects that a statement may write, or bring to the end of their lives."""
    match statement:
        case Store(address=at) | Fill(address=at) | Copy(target=at):
            # An address in a numbered object is in that one, whatever pointers in memory lead there.
            is_one = isinstance(at.object, t.Const)
            found = written_by(statement) if is_one else surely(graph, statement.objects)
        case Call(writes_memory=True):
            found = surely(graph, written_by(statement))
        case Expire():
            found = None
        case _:
            return NOTHING_WRITTEN
    written = Written(found or ())
    written.anything, written.some = found is None, True
    return written


def changed_in(graph: Flowgraph, labels: Iterable[str]) -> Written:
    """The objects that the statements of these blocks may write."""
    every = [
        changed_by(graph, statement)
        for label in labels
        for statement in graph.blocks[label].statements
        if not isinstance(statement, Expire)
    ]
    found = Written(number for one in every for number in one)
    found.anything, found.some = any(one.anything for one in every), any(one.some for one in every)
    return found


def read_type(load: Load) -> t.IntType:
    """The type as which a load reads memory that nothing writes: that of the load, or integers without a width."""
    return load.type if load.target.type.width is not None else t.IntType(None)
