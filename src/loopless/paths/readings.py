"""Which elements a function reads in several ways."""

from __future__ import annotations

from collections.abc import Iterator

from loopless import terms as t
from loopless.flowgraph.memory.statement_effects import objects_at
from loopless.flowgraph.model import Call, Flowgraph, Load, Pointer, Statement
from loopless.source.vocabulary import COMPARISONS


def read_both_ways(graph: Flowgraph) -> frozenset[tuple[str, int | None]]:
    """The arrays, by the names that reads have, with the widths, of which elements are read with a sign and without."""
    signs: dict[tuple[str, int | None], set[bool]] = {}
    for block in graph.blocks.values():
        for statement in block.statements:
            for array, width, signed in _readings(graph, statement):
                signs.setdefault((array, width), set()).add(signed)
    return frozenset(place for place, both in signs.items() if len(both) > 1)


def _readings(graph: Flowgraph, statement: Statement) -> Iterator[tuple[str, int | None, bool]]:
    match statement:
        case Load(target_object=None, type=type):
            for array in _arrays(graph, statement.address.object, statement.objects):
                yield array, type.width, type.signed
        case Call(callee=callee) if callee in COMPARISONS:  # of unsigned characters (C, 7.24.4)
            for argument in statement.arguments:
                if isinstance(argument, Pointer):
                    for array in _arrays(graph, argument.object, statement.looks):
                        yield array, 8, False
        case _:
            pass


def _arrays(graph: Flowgraph, owner: t.Term, objects: frozenset[int] | None) -> Iterator[str]:
    """What reads of an object may be called."""
    owner = not_null(owner)
    numbers = objects_at(owner, objects) or ()
    yield from (graph.objects[number].name for number in numbers if number in graph.objects)
    name = graph.pointee_name(owner) if isinstance(owner, t.Var) else None
    if name is not None:
        yield name


def not_null(owner: t.Term) -> t.Term:
    """The object of a pointer that is not null: what a check before an access makes sure."""
    while isinstance(owner, t.Ite) and t.ZERO in (owner.then, owner.otherwise):
        owner = owner.otherwise if owner.then is t.ZERO else owner.then
    return owner
