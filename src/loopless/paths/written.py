"""What statements write: the objects in memory, and whether anything at all."""

from __future__ import annotations

from collections.abc import Iterable

from loopless import terms as t
from loopless.flowgraph.memory.pointees import STANDING_IN
from loopless.flowgraph.model import Call, Copy, Expire, Fill, Flowgraph, Statement, Store


class Written(frozenset[int]):
    """Numbers of objects that are written, negative ones as in :attr:`.Flowgraph.unnumbered`; ``anything`` where some
    write or call may hit any object; ``some``: whether anything is written at all.
    """

    anything: bool = False
    some: bool = False


def numbered(graph: Flowgraph, objects: frozenset[int] | None) -> frozenset[int] | None:
    """The objects, where they are surely no others: None where one may be any, unless something is taken for granted.
    What the function allocates is among them by its negative numbers: it is nothing else, but may be written as well.
    """
    if objects is None or any(graph.unnumbered.get(n) or _is_formal(graph, n) for n in objects):
        return None
    return objects


def _is_formal(graph: Flowgraph, number: int) -> bool:
    return number in graph.objects and graph.objects[number].kind in STANDING_IN


def written_by(graph: Flowgraph, statement: Statement) -> Written:
    """The objects that a statement may write, or bring to the end of their lives."""
    match statement:
        case Store(address=at, objects=objects) | Fill(address=at, objects=objects) | Copy(target=at, objects=objects):
            owner = at.object
            found = frozenset((owner.value,)) if isinstance(owner, t.Const) else numbered(graph, objects)
        case Call(writes_memory=True, objects=objects):
            found = numbered(graph, objects)
        case Expire():
            found = None
        case _:
            return Written()
    written = Written(found or ())
    written.anything, written.some = found is None, True
    return written


def written_objects(graph: Flowgraph, labels: Iterable[str]) -> Written:
    """The objects that the statements of these blocks may write."""
    every = [
        written_by(graph, statement)
        for label in labels
        for statement in graph.blocks[label].statements
        if not isinstance(statement, Expire)
    ]
    found = Written(number for one in every for number in one)
    found.anything, found.some = any(one.anything for one in every), any(one.some for one in every)
    return found
