"""What arrays surely hold at the places of a flowgraph: constant propagation for memory.

C gives constants to an array where it is declared, and clang makes a copy of a constant object of that, or a fill and
stores. Until something else writes the array, a read of it is a read of a table of constants. The lattice has for each
object its bytes, each known or not, and that nothing is known (Kildall, POPL 1973). No solver is asked.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from loopless import terms as t
from loopless.flowgraph.dataflow import flow
from loopless.flowgraph.def_use import defined_by
from loopless.flowgraph.memory.statement_effects import changed_by, objects_at, surely
from loopless.flowgraph.model import (
    Assign,
    Begin,
    Block,
    Copy,
    Expire,
    Fill,
    Flowgraph,
    Load,
    Pointer,
    Statement,
    Store,
)
from loopless.graphs import reverse_postorder
from loopless.limits.flowgraph import MAX_KNOWN_BYTES, MAX_LOOKUP_ENTRIES

Bytes = Sequence[int | None]
"""The bytes of an object, None for each that is not known."""
_Known = Mapping[int, Bytes]
"""By the numbers of objects; of others nothing is known."""


def with_tables(graph: Flowgraph, start: Mapping[int, bytes], fixed: Mapping[int, bytes]) -> Flowgraph:
    """The flowgraph in which reads of arrays with known elements are look-ups in tables, at any index.

    ``start``: the contents of objects where the run begins; ``fixed``: of those that nothing writes.
    """
    followed = _followed(graph, start)
    at: Mapping[str, _Known] = {}
    if followed:
        successors = {label: block.successors for label, block in graph.blocks.items()}
        order = reverse_postorder(successors, graph.entry)
        begun = {number: tuple(start[number]) for number in followed if number in start}

        def onward(label: str, known: _Known) -> Iterator[tuple[str, _Known]]:
            for statement in graph.blocks[label].statements:
                known = _behind(graph, statement, known, followed, fixed)
            return ((target, known) for target in successors[label])

        at = flow(order, {graph.entry: begun}, onward, _joined)

    def block(label: str, block: Block) -> Block:
        known, statements = at.get(label, {}), list[Statement]()
        held: dict[t.Var, t.Term] = {}
        for statement in block.statements:
            found: Statement = statement
            if isinstance(statement, Load):
                found = _looked_up(graph, statement, {**fixed, **known}, held)
            statements.append(found)
            known = _behind(graph, statement, known, followed, fixed)
            _assign(held, statement)
        return replace(block, statements=tuple(statements))

    loads = {label for label, block in graph.blocks.items() if any(isinstance(s, Load) for s in block.statements)}
    blocks = {label: block(label, old) if label in loads else old for label, old in graph.blocks.items()}
    return replace(graph, blocks=blocks)


def _followed(graph: Flowgraph, start: Mapping[int, bytes]) -> frozenset[int]:
    """The objects that hold constants somewhere, and of which no part is a variable."""
    found = {number for number, content in start.items() if len(content) <= MAX_KNOWN_BYTES}
    for block in graph.blocks.values():
        for statement in block.statements:
            if isinstance(statement, Fill | Copy) and isinstance(number := _address(statement).object, t.Const):
                held = graph.objects.get(number.value)
                if held is not None and held.kind == "local" and 0 < (held.size or 0) <= MAX_KNOWN_BYTES:
                    found.add(number.value)
    return frozenset(found) - {info.object for info in graph.variables.values() if info.object is not None}


def _address(statement: Store | Fill | Copy) -> Pointer:
    return statement.target if isinstance(statement, Copy) else statement.address


def _joined(known: _Known, other: _Known) -> _Known:
    """What is known where two ways meet."""
    found = {}
    for number in known.keys() & other.keys():
        pairs = zip(known[number], other[number], strict=True)
        found[number] = tuple(a if a == b else None for a, b in pairs)
    return found


def _behind(graph: Flowgraph, statement: Statement, known: _Known, followed: frozenset[int], fixed: _Known) -> _Known:
    """What is known behind a statement."""
    match statement:
        case Begin(object=number) | Expire(object=number):  # other objects are what they were
            return {n: held for n, held in known.items() if n != number}
        case Store() | Fill() | Copy():
            changed = _changed(graph, statement, known, followed, fixed)
            if changed is not None:
                return {**known, changed[0]: changed[1]}
        case _:
            pass
    written = changed_by(graph, statement)
    return {n: held for n, held in known.items() if not written.hits(n)} if written.some else known


def _changed(
    graph: Flowgraph, statement: Store | Fill | Copy, known: _Known, followed: frozenset[int], fixed: _Known
) -> tuple[int, Bytes] | None:
    """The object that a statement writes at a constant place, with what it holds then; None where the place is not
    constant, or the object is not followed.
    """
    owner, offset = _address(statement).object, _address(statement).offset
    if not (isinstance(owner, t.Const) and owner.value in followed and isinstance(offset, t.Const)):
        return None
    size = graph.objects[owner.value].size
    assert size is not None
    new = _written(statement, {**fixed, **known})
    if new is None or offset.value < 0 or offset.value + len(new) > size:
        return None
    before = known.get(owner.value, (None,) * size)
    return owner.value, (*before[: offset.value], *new, *before[offset.value + len(new) :])


def _written(statement: Store | Fill | Copy, known: _Known) -> Bytes | None:
    """The bytes that a statement writes, each known or not; None where it is not known how many there are."""
    match statement:
        case Store(value=value, type=type, value_object=None) if type.width is not None and type.width % 8 == 0:
            size = type.width // 8
            if isinstance(value, t.Const):
                return tuple((value.value % (1 << type.width)).to_bytes(size, "little"))
            return (None,) * size
        case Fill(byte=byte, length=t.Const(value=length)) if length <= MAX_KNOWN_BYTES:
            return ((byte.value % 256,) if isinstance(byte, t.Const) else (None,)) * length
        case Copy(source=Pointer(object=t.Const(value=of), offset=t.Const(value=at)), length=t.Const(value=length)):
            held = known.get(of, ())
            return held[at : at + length] if at >= 0 and at + length <= len(held) else None
        case _:
            return None


def _assign(held: dict[t.Var, t.Term], statement: Statement) -> None:
    """What variables of a block hold behind a statement, over what others hold there: pointers to elements."""
    changed = defined_by(statement)
    if not changed:
        return
    value = t.substitute(statement.value, held) if isinstance(statement, Assign) else None
    for var in [var for var, term in held.items() if var in changed or not term.variables.isdisjoint(changed)]:
        del held[var]
    if value is not None and value.variables.isdisjoint(changed):
        held[changed[0]] = value


def _owner(graph: Flowgraph, load: Load) -> int | None:
    """The object that a load reads, where that is known."""
    objects = surely(graph, objects_at(load.address.object, load.objects))
    return next(iter(objects)) if objects is not None and len(objects) == 1 else None


def _looked_up(graph: Flowgraph, load: Load, known: _Known, held: Mapping[t.Var, t.Term]) -> Statement:
    """The read as a look-up in a table: where it is outside of the array, a check has ended the run before."""
    owner = _owner(graph, load)
    content = None if owner is None else known.get(owner)
    if content is None or load.target_object is not None or load.type.width is None:
        return load
    size = load.type.width // 8
    if load.type.width % 8 or not size or len(content) % size:
        return load
    if content and content.count(content[0]) == len(content):  # whatever the index is
        every = _element(content[:size], load.type)
        return load if every is None else Assign(load.target, t.const(every), load.loc)
    index = _divided(t.substitute(load.address.offset, held), size)
    if index is None:
        return load
    index, column, step = _in_column(index)
    places = range(column * size, len(content), step * size)
    if not 0 < len(places) <= MAX_LOOKUP_ENTRIES:
        return load
    values = [_element(content[at : at + size], load.type) for at in places]
    told = [value for value in values if value is not None]
    return load if len(told) < len(values) else Assign(load.target, t.table(index, told), load.loc)


def _element(content: Bytes, type: t.IntType) -> int | None:
    """The number that these bytes are; None where one of them is not known."""
    known = [byte for byte in content if byte is not None]
    return None if len(known) < len(content) else type.wrap(int.from_bytes(known, "little"))


def _in_column(index: t.Term) -> tuple[t.Term, int, int]:
    """An index as one among the elements that it can come to: the number there, the first one, and how far each is from
    the next; members of structures and columns of matrices are so many elements apart.
    """
    items = t.polynomial(index)
    first = items.pop((), 0)
    step = math.gcd(*items.values()) or 1
    column = first % step
    rest = t.from_polynomial({part: factor // step for part, factor in items.items()})
    return rest + (first - column) // step, column, step


def _divided(offset: t.Term, size: int) -> t.Term | None:
    """A byte offset in units of ``size``, where it is a multiple of that."""
    items = t.polynomial(offset)
    if any(coefficient % size for coefficient in items.values()):
        return None
    return t.from_polynomial({monomial: coefficient // size for monomial, coefficient in items.items()})
