"""Scalars in memory as variables, loop by loop: ``while (s->have < 19) s->lens[order[s->have++]] = 0;``.

A scalar at an address that no iteration changes is a variable of the loop where everything else that the loop writes
lies elsewhere: in another object, or beside it in the same one, by what is checked of an index right before. It is read
in front of the loop, and stays in memory, too. Compilers call this scalar promotion (Lu and Cooper, Register promotion
in C programs, PLDI 1997). Where variables of a whole function are found (:mod:`loopless.flowgraph.memory.promotion`)
one access that is not followed anywhere ends it; here only what the loop itself does counts.

What pointers in memory point to is taken not to overlap with other objects, and that is listed where it is needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace

from loopless import terms as t
from loopless.bounds.iteration.facts import NO_FACTS, Facts, SymbolIntervals
from loopless.flowgraph.def_use import defined_by
from loopless.flowgraph.memory.statement_effects import apart, objects_at, written_by
from loopless.flowgraph.model import (
    Assign,
    Assume,
    Block,
    Call,
    Check,
    Copy,
    Edge,
    Expire,
    Fill,
    Flowgraph,
    Kind,
    Load,
    LoopInfo,
    Pointer,
    Statement,
    Store,
    VariableInfo,
)
from loopless.limits.bounds import MAX_CELL_PAIRS, MAX_REMEMBERED_CHECKS
from loopless.records import dataclass


@dataclass(frozen=True, slots=True)
class _Cell:
    """A scalar at an address that the loop does not change; ``pointer``: it is a pointer."""

    object: t.Term
    offset: t.Term
    width: int
    pointer: bool


@dataclass(frozen=True, slots=True)
class _Write:
    """What a statement writes: ``at`` an address ``size`` bytes (None: unknown), where ``checked`` holds, or, of a
    call, somewhere in ``objects``.
    """

    statement: Statement
    at: Pointer | None
    size: int | None
    objects: frozenset[int] | None
    checked: Sequence[t.Compare] = ()


@dataclass(slots=True)
class _Variable:
    """What stands for a cell: ``value``, the offset of a pointer, whose object is ``owner``; ``read``: a load of it."""

    value: t.Var
    owner: t.Var | None
    read: Load


def with_cells(graph: Flowgraph) -> Flowgraph:
    """The same function in which the scalars that can be followed through a loop are variables there."""
    rewriting = _Rewriting(graph)
    for header in [loop.header for loop in sorted(graph.loops, key=lambda loop: loop.depth)]:
        rewriting.of_loop(header)
    return rewriting.made()


@dataclass
class _Rewriting:
    graph: Flowgraph
    blocks: dict[str, Block] = field(default_factory=dict)
    loops: dict[str, LoopInfo] = field(default_factory=dict)
    variables: dict[t.Var, VariableInfo] = field(default_factory=dict)
    assumptions: dict[str, None] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.blocks = dict(self.graph.blocks)
        self.loops = {loop.header: loop for loop in self.graph.loops}
        self.names = {var.name for var in self.graph.variables}
        self.assumptions = dict.fromkeys(self.graph.assumptions)

    def made(self) -> Flowgraph:
        if not self.variables:
            return self.graph
        return replace(
            self.graph,
            blocks=self.blocks,
            loops=tuple(self.loops[loop.header] for loop in self.graph.loops),
            variables={**self.graph.variables, **self.variables},
            assumptions=tuple(self.assumptions),
        )

    def of_loop(self, header: str) -> None:
        labels = self.loops[header].blocks
        statements = [s for label in labels for s in self.blocks[label].statements]
        if header == self.graph.entry or any(isinstance(s, Call) and written_by(s) is None for s in statements):
            return
        found = self._candidates(labels, statements)
        writes = [write for label in sorted(labels) for write in _writes(self.blocks[label])] if found else []
        if len(found) * len(writes) > MAX_CELL_PAIRS:
            return
        followed: dict[_Cell, _Variable] = {}
        for cell, load in found.items():
            granted = self._followed(cell, load, writes)
            if granted is not None:
                self.assumptions |= dict.fromkeys(granted)
                followed[cell] = self._variable(cell, load)
        if followed:
            self._rewrite(header, followed)

    def _candidates(self, labels: frozenset[str], statements: Sequence[Statement]) -> dict[_Cell, Load]:
        """The scalars that are read at an address that does not change, each with one load."""
        changed = {var for statement in statements for var in defined_by(statement)}
        changed |= {var for label in labels for edge in self.blocks[label].edges for var, _ in edge.assigns}
        found: dict[_Cell, Load] = {}
        for label in sorted(labels):
            for statement in self.blocks[label].statements:
                if not isinstance(statement, Load) or not statement.shown:
                    continue
                where = statement.address.object.variables | statement.address.offset.variables
                cell = _cell_of(statement)
                if cell is not None and where.isdisjoint(changed):
                    found.setdefault(cell, statement)
        return found

    # -- what a loop writes -------------------------------------------------------------------------------------------

    def _followed(self, cell: _Cell, load: Load, writes: Sequence[_Write]) -> list[str] | None:
        """What is to be taken for granted so that nothing but stores to a cell change it; None where something may."""
        granted: list[str] = []
        for write in writes:
            if isinstance(write.statement, Store) and _cell_of(write.statement) == cell:
                continue
            if write.at is not None and write.at.object is cell.object:
                if not _is_beside(cell, write):
                    return None
                continue
            needed = apart(self.graph, objects_at(cell.object, load.objects), write.objects)
            if needed is None:
                return None
            granted += [one for one in needed if one not in self.assumptions]
        return granted

    # -- the loop over variables --------------------------------------------------------------------------------------

    def _variable(self, cell: _Cell, load: Load) -> _Variable:
        signed = load.target.type.signed if load.signed is None else load.signed
        type = load.target.type if cell.pointer else t.IntType(cell.width, signed)
        value = self._fresh(load.shown, type, "offset" if cell.pointer else "")
        owner = self._fresh(f"{load.shown}.object", t.INTEGERS, "object") if cell.pointer else None
        return _Variable(value, owner, load)

    def _fresh(self, shown: str, type: t.IntType, part: str) -> t.Var:
        name, count = shown, 1
        while name in self.names:
            count += 1
            name = f"{shown}#{count}"
        self.names.add(name)
        var = t.Var(name, type)
        self.variables[var] = VariableInfo(var, shown, Kind.LOCAL, pointer_part=part)
        return var

    def _rewrite(self, header: str, followed: Mapping[_Cell, _Variable]) -> None:
        loop = self.loops[header]
        for label in loop.blocks:
            block = self.blocks[label]
            statements = tuple(after for s in block.statements for after in _over_variables(s, followed))
            self.blocks[label] = replace(block, statements=statements)
        before = f"{header}.memory"
        reads = tuple(replace(v.read, target=v.value, target_object=v.owner) for v in followed.values())
        for label, block in self.blocks.items():
            if label not in loop.blocks and header in block.successors:
                edges = (replace(edge, target=before) if edge.target == header else edge for edge in block.edges)
                self.blocks[label] = replace(block, edges=tuple(edges))
        ordered = {}
        for label, block in self.blocks.items():
            if label == header:
                ordered[before] = Block(before, reads, (Edge(t.TRUE, header),))
            ordered[label] = block
        self.blocks = ordered
        for other, around in self.loops.items():
            if other != header and header in around.blocks:
                self.loops[other] = replace(around, blocks=around.blocks | {before})


def _cell_of(access: Load | Store) -> _Cell | None:
    """The scalar that is read or written, None where it is no whole number of bytes."""
    width = access.type.width
    if width is None or width % 8:
        return None
    if isinstance(access, Load):
        pointer = access.target_object is not None
        if access.target.type.width is None:
            return None
    else:
        pointer = access.value_object is not None
    return _Cell(access.address.object, access.address.offset, width, pointer)


def _writes(block: Block) -> Iterator[_Write]:
    """What the statements of a block write, and what was checked before."""
    checked: list[t.Compare] = []
    for statement in block.statements:
        match statement:
            case Check(condition=condition) | Assume(condition=condition):
                parts = (part for part in t.conjuncts(condition) if isinstance(part, t.Compare))
                checked = [*checked, *parts][-MAX_REMEMBERED_CHECKS:]
            case Store(address=at, type=type):
                size = None if type.width is None else -(-type.width // 8)
                yield _Write(statement, at, size, written_by(statement), checked)
            case Fill(address=at, length=length) | Copy(target=at, length=length):
                size = length.value if isinstance(length, t.Const) else None
                yield _Write(statement, at, size, written_by(statement), checked)
            case Expire(object=number):
                yield _Write(statement, None, None, frozenset({number}))
            case Call(writes_memory=True):
                yield _Write(statement, None, None, written_by(statement))
            case _:
                pass
        changed = set(defined_by(statement))
        if changed:
            checked = [part for part in checked if part.variables.isdisjoint(changed)]


def _is_beside(cell: _Cell, write: _Write) -> bool:
    """Whether a write to the same object surely is in front of a cell, or behind it."""
    assert write.at is not None
    intervals = SymbolIntervals()
    facts: Facts = NO_FACTS
    for part in write.checked:
        facts = facts.under(part, intervals) or facts
    try:
        distance = write.at.offset - cell.offset
        behind = cell.width // 8 - distance
        if facts.imply(behind, intervals):
            return True
        return write.size is not None and facts.imply(distance + write.size, intervals)
    except t.TermTooLarge:
        return False


def _over_variables(statement: Statement, followed: Mapping[_Cell, _Variable]) -> Iterator[Statement]:
    """A statement with the variables of cells: loads become assignments, behind stores there is one."""
    cell = _cell_of(statement) if isinstance(statement, Load | Store) else None
    found = followed.get(cell) if cell is not None else None
    if found is None:
        yield statement
        return
    if isinstance(statement, Store):
        yield statement
        value = statement.value if found.owner is not None else t.wrap(statement.value, found.value.type)
        yield Assign(found.value, value, statement.loc)
        if found.owner is not None and statement.value_object is not None:
            yield Assign(found.owner, statement.value_object, statement.loc)
        return
    assert isinstance(statement, Load)
    type = statement.target.type
    yield Assign(
        statement.target, found.value if type == found.value.type else t.wrap(found.value, type), statement.loc
    )
    if found.owner is not None and statement.target_object is not None:
        yield Assign(statement.target_object, found.owner, statement.loc)
