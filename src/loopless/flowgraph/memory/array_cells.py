"""One cell of each array, at a place that is any: enough for what is asserted of all of them.

Of each object in memory whose elements are read at places that vary one element is followed by a variable, ``cell``, at
a place that never changes, ``place``. A write there sets it, a read there gives it, reads elsewhere give any value. A
run that comes to a violation has read each object somewhere last: it is among the runs in which ``place`` is where
that was, so only violations count in which the last read of each object was of its cell (cell morphing: Monniaux and
Gonnord, Cell morphing: from array programs to array-free Horn clauses, SAS 2016, with the place as a prophecy).

This over-approximates runs, and is for proofs of what ends with an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from loopless import terms as t
from loopless.flowgraph.memory.statement_effects import written_by
from loopless.flowgraph.model import (
    Assign,
    Assume,
    Begin,
    Block,
    Call,
    Copy,
    Expire,
    Fill,
    Flowgraph,
    FollowedCell,
    Havoc,
    Kind,
    Load,
    Origin,
    Statement,
    Store,
    VariableInfo,
)
from loopless.limits.flowgraph import MAX_FOLLOWED_OBJECTS


def with_cells(graph: Flowgraph) -> Flowgraph:
    """``graph`` with a cell of each array that it reads and writes; itself where there is none."""
    if not any(block.end is not None and block.end.kind == "error" for block in graph.blocks.values()):
        return graph
    cells = {one.object: one for one in _cells(graph)}
    if not cells:
        return graph
    blocks: dict[str, Block] = {}
    fresh: dict[t.Var, VariableInfo] = {}
    for block in graph.blocks.values():
        statements = list(_statements(block, cells, fresh))
        if block.label == graph.entry:
            statements = [*_beginning(graph, cells), *statements]
        if block.end is not None and block.end.kind == "error":
            statements.append(Assume(t.conjunction(one.last.eq(1) for one in cells.values()), block.end.loc))
        blocks[block.label] = replace(block, statements=tuple(statements))
    infos = {
        var: VariableInfo(var, var.name, kind)
        for one in cells.values()
        for var, kind in ((one.cell, Kind.TEMPORARY), (one.number, Kind.PLACE), (one.last, Kind.TEMPORARY))
    }
    variables = {**graph.variables, **infos, **fresh}
    return replace(graph, blocks=blocks, variables=variables, cells=cells, elsewhere=frozenset(fresh))


def _cells(graph: Flowgraph) -> Iterator[FollowedCell]:
    """The objects whose accesses are all of one type, at multiples of its size, and that are read and written."""
    loads: dict[int, set[t.IntType]] = {}
    stores: dict[int, set[t.IntType]] = {}
    unfit: set[int] = set()
    filled: set[int] = set()
    for block in graph.blocks.values():
        for statement in block.statements:
            if isinstance(statement, Fill) and isinstance(statement.address.object, t.Const):
                filled.add(statement.address.object.value)
            if not isinstance(statement, Load | Store):
                continue
            owner = statement.address.object
            if not isinstance(owner, t.Const):
                continue
            (loads if isinstance(statement, Load) else stores).setdefault(owner.value, set()).add(statement.type)
            pointer = statement.target_object if isinstance(statement, Load) else statement.value_object
            width = statement.type.width
            size = 0 if width is None or width % 8 else width // 8
            aligned = size and statement.address.offset % size is t.ZERO
            if pointer is not None or not aligned:
                unfit.add(owner.value)
    usable = sorted(set(loads) & (set(stores) | filled) - unfit)
    names = {var.name for var in graph.variables}
    for number in usable[:MAX_FOLLOWED_OBJECTS]:
        widths = {type_.width for type_ in loads[number] | stores.get(number, set())}
        found = graph.objects.get(number)
        sized = found is not None and (found.size is not None or found.extent is not None)
        if found is None or not sized or len(widths) != 1 or found.kind not in ("local", "global"):
            continue
        width = next(iter(widths))
        assert width is not None
        if found.size is not None and found.size < width // 8:
            continue
        stem = found.name
        while any(f"{stem}{part}" in names for part in ("[k]", ".k", ".last")):
            stem += "'"
        names |= {f"{stem}{part}" for part in ("[k]", ".k", ".last")}
        signed = min(loads[number], key=str).signed
        # No object of a size that is known has so many elements; one of varying size may have them.
        most = t.IntType(32 if found.size is not None else 64, signed=False)
        yield FollowedCell(
            number,
            width // 8,
            t.Var(f"{stem}[k]", t.IntType(width, signed)),
            t.Var(f"{stem}.k", most),
            t.Var(f"{stem}.last", t.IntType(1, signed=False)),
            length=found.size,
        )


def _beginning(graph: Flowgraph, cells: dict[int, FollowedCell]) -> Iterator[Statement]:
    for one in cells.values():
        yield from first_content(graph, one)
        yield Assign(one.last, t.ONE)


def first_content(graph: Flowgraph, one: FollowedCell) -> Iterator[Statement]:
    """What is known of a cell when the run begins: its place is any inside of the object."""
    yield Havoc(one.number, Origin.UNSUPPORTED, "place of a cell")
    found = graph.objects[one.object]
    if found.size is not None:
        yield from _within(one, found.size)
    yield Havoc(one.cell, Origin.UNSUPPORTED, "content of a cell")


def _within(one: FollowedCell, size: int | t.Term) -> Iterator[Statement]:
    """The cell lies in its object of ``size`` bytes, since what is read does: elsewhere a check has ended the run. An
    object without room for one is not read.
    """
    if isinstance(size, int):
        yield Assume(one.number.lt(size // one.size))
    else:
        yield Assume((one.place + one.size).le(size) | size.lt(one.size))


def _statements(block: Block, cells: dict[int, FollowedCell], fresh: dict[t.Var, VariableInfo]) -> Iterator[Statement]:
    """The statements of a block with what they do to cells."""
    for index, statement in enumerate(block.statements):
        match statement:
            case Load(address=address) if isinstance(address.object, t.Const) and address.object.value in cells:
                one = cells[address.object.value]
                elsewhere = t.Var(f"{block.label}#{index}", statement.target.type)
                fresh[elsewhere] = VariableInfo(elsewhere, elsewhere.name, Kind.TEMPORARY)
                hit = one.hit(address.offset)
                yield Assign(one.last, t.ite(hit, t.ONE, t.ZERO), statement.loc)
                held = t.ite(hit, t.wrap(one.cell, statement.target.type), elsewhere)
                yield replace(statement, target=elsewhere)
                yield Assign(statement.target, held, statement.loc)
            case _:
                yield statement
                yield from what_becomes(statement, cells, f"{block.label}#{index}", fresh)


def what_becomes(
    statement: Statement, cells: Mapping[int, FollowedCell], name: str, fresh: dict[t.Var, VariableInfo]
) -> Iterator[Statement]:
    """What a statement that is no load does to cells. A fill may change a part of a cell. The cell is then an unknown
    value, a new variable with this ``name``, which is added to ``fresh``.
    """
    match statement:
        case Store(address=address, value=value) if isinstance(address.object, t.Const):
            one = cells.get(address.object.value)
            if one is not None:
                held = t.ite(one.hit(address.offset), t.wrap(value, one.cell.type), one.cell)
                yield Assign(one.cell, held, statement.loc)
        case Fill(address=address) if isinstance(address.object, t.Const):
            if address.object.value in cells:
                yield from _filled(statement, cells[address.object.value], name, fresh)
        case Begin(object=number, size=size) if number in cells:
            yield from _within(cells[number], size)
        case Store() | Fill() | Copy() | Call() | Expire():
            yield from _lost(statement, cells)
        case _:
            pass


def _filled(fill: Fill, one: FollowedCell, name: str, fresh: dict[t.Var, VariableInfo]) -> Iterator[Statement]:
    """A cell inside of what is filled with zeros is zero; inside of what is filled otherwise, or cut by it, it is any
    value.
    """
    begin, end = fill.address.offset, fill.address.offset + fill.length
    if begin is t.ZERO and fill.byte is t.ZERO and one.length is not None and end is t.const(one.length):
        yield Assign(one.cell, t.ZERO, fill.loc)
        return
    behind = one.place + one.size
    inside = begin.le(one.place) & behind.le(end)
    outside = one.place.ge(end) | behind.le(begin)
    unknown = t.Var(name, one.cell.type)
    fresh[unknown] = VariableInfo(unknown, unknown.name, Kind.TEMPORARY)
    yield Havoc(unknown, Origin.UNSUPPORTED, "part of a cell", fill.loc)
    filled: t.Term = t.ZERO if fill.byte is t.ZERO else unknown
    yield Assign(one.cell, t.ite(outside, one.cell, t.ite(inside, filled, unknown)), fill.loc)


def _lost(statement: Store | Fill | Copy | Call | Expire, cells: Mapping[int, FollowedCell]) -> Iterator[Statement]:
    """The cells of which nothing is known any more."""
    objects = frozenset((statement.object,)) if isinstance(statement, Expire) else written_by(statement)
    anything = objects is None or any(number < 0 for number in objects)
    for one in cells.values():
        if anything or (objects is not None and one.object in objects):
            yield Havoc(one.cell, Origin.UNSUPPORTED, "content of a cell", statement.loc)
