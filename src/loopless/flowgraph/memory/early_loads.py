"""Pointers that lie in memory are loaded once, in front of a loop that does not write them, or only there.

A pointer ``s->window`` that each iteration loads anew is then a variable that no iteration changes. What is read and
written through it lies in one object. A pointer that the loop moves (``s->next++``) is a variable that goes along
with its place: each store there sets it, too. The load in front is :attr:`.Load.early`: a run may come there that
never makes the load inside. As everywhere, what pointers in memory point to is taken not to overlap with other
objects, and that is listed. (Loop-invariant code motion: Aho, Lam, Sethi, Ullman, "Compilers", section 9.5; register
promotion: Cooper and Lu, PLDI 1997.)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, TypeVar

from loopless import terms as t
from loopless.flowgraph.def_use import assigned_in
from loopless.flowgraph.memory.statement_effects import apart, objects_at, written_by
from loopless.flowgraph.model import (
    OBJECT_PART,
    Assign,
    Block,
    Edge,
    End,
    Expire,
    Flowgraph,
    Kind,
    Load,
    LoopInfo,
    Pointer,
    Statement,
    Store,
    VariableInfo,
)
from loopless.flowgraph.source_names import numbered
from loopless.records import dataclass


def with_early_loads(graph: Flowgraph) -> Flowgraph:
    """The function in which such pointers are loaded in front of the outermost loop that does not write them.

    The header of a loop dominates its blocks, whatever cycles there are that have several entries.
    """
    found = _Moves(graph)
    for loop in sorted(graph.loops, key=lambda loop: loop.depth):
        found.look_at(loop)
    return found.made()


def moved_pointers(graph: Flowgraph, loop: LoopInfo) -> dict[Pointer, Load]:
    """The pointers in memory that a loop moves, by the places where they lie: loads in front of it, or of a loop around
    it, whose variables go along with the places.
    """
    assigned = assigned_in(graph.blocks[label] for label in loop.blocks)
    around = {other.header for other in graph.loops if loop.header in other.blocks}
    found: dict[Pointer, Load] = {}
    for label, block in graph.blocks.items():
        if label in loop.blocks or not any(edge.target in around for edge in block.edges):
            continue
        early = (statement for statement in block.statements if isinstance(statement, Load) and statement.early)
        found |= {load.address: load for load in early if load.target in assigned}
    return found


@dataclass(frozen=True, slots=True)
class _Cell:
    """A place that holds a pointer: its address before the loop, the type there, and the objects that it may be in."""

    object: t.Term
    offset: t.Term
    type: t.IntType
    objects: frozenset[int] | None


class _Moves:
    """The loads that are moved in front of loops."""

    def __init__(self, graph: Flowgraph) -> None:
        self._graph = graph
        self._loaded: dict[str, dict[_Cell, Load]] = {}
        """By the header of a loop the loads in front of it."""
        self._moved: dict[int, Load] = {}
        """By the identity of a load inside, the one in front that replaces it."""
        self._same: dict[t.Var, t.Term] = {}
        """What loads inside give, by the variables in front."""
        self._inside: dict[str, dict[t.Var, t.Term]] = {}
        """The same, by the blocks of the loop: behind it, a later load in front says something else."""
        self._stored: dict[int, dict[Load, None]] = {}
        """By the identity of a store inside, the loads in front of what it changes."""
        self._granted: dict[str, None] = dict.fromkeys(graph.assumptions)
        self._variables: dict[t.Var, VariableInfo] = dict(graph.variables)
        self._names = {var.name for var in graph.variables}

    def look_at(self, loop: LoopInfo) -> None:
        """Find the pointers that each iteration of a loop loads from memory which none writes."""
        blocks = [self._graph.blocks[label] for label in sorted(loop.blocks)]
        loads = [s for b in blocks for s in b.statements if isinstance(s, Load) and s.target_object is not None]
        waiting = [load for load in loads if id(load) not in self._moved]
        if not waiting:
            return
        assigned = assigned_in(blocks)
        writers = [s for block in blocks for s in block.statements if _writes(s)]
        while True:
            ready = [load for load in waiting if not (self._address_variables(load) & assigned)]
            if not ready:
                return
            for load in ready:
                self._move(load, loop, writers)
            waiting = [load for load in waiting if load not in ready]

    def _address_variables(self, load: Load) -> frozenset[t.Var]:
        cell = self._cell(load)
        return cell.object.variables | cell.offset.variables

    def _cell(self, load: Load) -> _Cell:
        at = load.address
        place = t.substitute(at.object, self._same), t.substitute(at.offset, self._same)
        return _Cell(*place, load.type, load.objects)

    def _move(self, load: Load, loop: LoopInfo, writers: Iterable[Statement]) -> None:
        """Move a load in front of the loop, unless something else inside than stores of pointers to its place may write
        what it reads.
        """
        cell = self._cell(load)
        granted: dict[str, None] = {}
        own: list[Statement] = []
        for writer in writers:
            if self._is_at(writer, cell):
                own.append(writer)
                continue
            needed = self._apart(writer, cell)
            if needed is None:
                return
            granted |= dict.fromkeys(needed)
        front = self._loaded.setdefault(loop.header, {})
        if cell not in front:
            front[cell] = self._in_front(load, cell)
        early = front[cell]
        if own:
            self._tell(early, load.shown)
        self._granted |= granted
        self._moved[id(load)] = early
        assert load.target_object is not None
        assert early.target_object is not None
        same: dict[t.Var, t.Term] = {load.target: early.target, load.target_object: early.target_object}
        for store in own:
            self._stored.setdefault(id(store), {})[early] = None
            same = {}  # what was loaded before a store is another pointer
        self._same |= same
        for label in loop.blocks:
            self._inside.setdefault(label, {}).update(same)

    def _is_at(self, writer: Statement, cell: _Cell) -> bool:
        """Whether a statement stores a pointer to the cell."""
        if not isinstance(writer, Store) or writer.value_object is None or writer.type != cell.type:
            return False
        at = writer.address
        place = t.substitute(at.object, self._same), t.substitute(at.offset, self._same)
        return place == (cell.object, cell.offset)

    def _apart(self, writer: Statement, cell: _Cell) -> list[str] | None:
        """What is taken for granted where a statement does not write the cell; None where it may."""
        match writer:
            case Store(address=at, type=type) if t.substitute(at.object, self._same) is cell.object:
                distance = cell.offset - t.substitute(at.offset, self._same)
                if isinstance(distance, t.Const) and type.width is not None and cell.type.width is not None:
                    size, own = -(-type.width // 8), -(-cell.type.width // 8)
                    if distance.value >= size or distance.value <= -own:
                        return []
            case _:
                pass
        written = frozenset((writer.object,)) if isinstance(writer, Expire) else written_by(writer)
        return apart(self._graph, written, objects_at(cell.object, cell.objects))

    def _in_front(self, load: Load, cell: _Cell) -> Load:
        assert load.target_object is not None
        name = self._name(load)
        offset = t.Var(name, load.target.type)
        owner = t.Var(name + OBJECT_PART, load.target_object.type)
        for var, part in ((offset, "offset"), (owner, "object")):
            self._variables[var] = VariableInfo(var, var.name, Kind.TEMPORARY, pointer_part=part)
            self._names.add(var.name)
        address = Pointer(cell.object, cell.offset)
        return replace(load, target=offset, target_object=owner, address=address, early=True)

    def _tell(self, early: Load, shown: str) -> None:
        """Have users know a pointer that goes along with its place by what C calls the place."""
        assert early.target_object is not None
        for var, name in ((early.target, shown), (early.target_object, shown + OBJECT_PART)):
            if shown:
                self._variables[var] = replace(self._variables[var], shown=name, kind=Kind.LOCAL)

    def _name(self, load: Load) -> str:
        """What the pointer is called: as C names the place where it lies."""
        called = load.shown or load.target.name
        both = ((name, name + OBJECT_PART) for name in numbered(called, None))
        return next(name for name, half in both if name not in self._names and half not in self._names)

    # -- the function with them ---------------------------------------------------------------------------------------

    def made(self) -> Flowgraph:
        """The function with these loads in front of loops."""
        if not self._moved:
            return self._graph
        blocks = {label: self._rewritten(block) for label, block in self._graph.blocks.items()}
        fronts = {header: _free(f"{header}.front", blocks) for header in self._loaded}
        ordered: dict[str, Block] = {}
        for label, block in blocks.items():
            if label in fronts:
                loads = tuple(self._loaded[label].values())
                loc = loads[0].loc
                ordered[fronts[label]] = Block(fronts[label], loads, (Edge(t.TRUE, label, (), loc),))
            ordered[label] = replace(block, edges=tuple(self._edge(label, edge, fronts) for edge in block.edges))
        loops = tuple(self._around(loop, fronts) for loop in self._graph.loops)
        return replace(
            self._graph, blocks=ordered, loops=loops, variables=self._variables, assumptions=tuple(self._granted)
        )

    def _rewritten(self, block: Block) -> Block:
        """The block with what is loaded in front in place of its own loads of that."""
        values = self._inside.get(block.label)
        if values is None:
            return block
        statements: list[Statement] = []
        for statement in block.statements:
            early = self._moved.get(id(statement))
            if early is None or not isinstance(statement, Load):
                now = _with_values(statement, values)
                statements.append(now)
                for cell in self._stored.get(id(statement), ()):
                    statements += _set_to(cell, now)
                continue
            assert statement.target_object is not None
            assert early.target_object is not None
            statements.append(Assign(statement.target_object, early.target_object, statement.loc))
            statements.append(Assign(statement.target, early.target, statement.loc))
        end = None if block.end is None else _with_values(block.end, values)
        return Block(block.label, tuple(statements), tuple(_with_values(edge, values) for edge in block.edges), end)

    def _edge(self, source: str, edge: Edge, fronts: Mapping[str, str]) -> Edge:
        """An edge into a loop from outside leads to the loads in front of it."""
        if edge.target not in fronts or source in self._loop(edge.target).blocks:
            return edge
        return replace(edge, target=fronts[edge.target])

    def _loop(self, header: str) -> LoopInfo:
        return next(loop for loop in self._graph.loops if loop.header == header)

    def _around(self, loop: LoopInfo, fronts: Mapping[str, str]) -> LoopInfo:
        """A loop with the blocks in front of the loops inside it."""
        more = {front for header, front in fronts.items() if header in loop.blocks and header != loop.header}
        return replace(loop, blocks=loop.blocks | more) if more else loop


def _set_to(early: Load, store: Statement) -> tuple[Assign, Assign]:
    """What was loaded in front becomes what a statement stores."""
    assert isinstance(store, Store)
    assert store.value_object is not None
    assert early.target_object is not None
    owner = Assign(early.target_object, store.value_object, store.loc)
    return owner, Assign(early.target, store.value, store.loc)


_Part = TypeVar("_Part", Statement, Edge, End)
_ASSIGNED: Final = ("target", "target_object", "changes")
"""Where a statement has the variables that it assigns; a copy has an address there."""


def _with_values(part: _Part, values: Mapping[t.Var, t.Term]) -> _Part:
    """A part of a block where variables that it reads have these values."""
    changed: dict[str, Any] = {}
    for name in part.__slots__:
        old = getattr(part, name)
        if name not in _ASSIGNED or isinstance(old, Pointer):
            new = _substituted(old, values)
            if new is not old:
                changed[name] = new
    return replace(part, **changed) if changed else part


def _substituted(value: object, values: Mapping[t.Var, t.Term]) -> object:
    match value:
        case t.Term() | t.Condition():
            return t.substitute(value, values) if values.keys() & value.variables else value
        case Pointer(object=owner, offset=offset):
            if not values.keys() & (owner.variables | offset.variables):
                return value
            return Pointer(t.substitute(owner, values), t.substitute(offset, values))
        case tuple():
            parts = tuple(_substituted(part, values) for part in value)
            return value if all(one is other for one, other in zip(parts, value, strict=True)) else parts
        case _:
            return value


def _writes(statement: Statement) -> bool:
    return isinstance(statement, Expire) or written_by(statement) != frozenset()


def _free(label: str, blocks: Mapping[str, Block]) -> str:
    return next(name for name in numbered(label, None) if name not in blocks)
