"""Where the lives of local objects end: the function with instructions of ours that say so.

The life of a local variable ends where control leaves its block (C11 6.2.4p6), which the scopes of places tell (see
:mod:`loopless.source.scopes`), or at LLVM's marker ``llvm.lifetime.end``. The instructions, by their ``op``:

- ``begin`` (object): a declaration is reached again, so the object holds no value;
- ``expire`` (object): its life is over;
- ``outlive`` (holder, object; the offset in ``indices``): of the pointers in ``holder`` one may have pointed to the
  object whose life ends here, and is read later on;
- ``outlived`` (pointer, objects; with a result): the pointer where these objects do not live any more.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import field, replace
from typing import Final

from loopless.flowgraph.dataflow import flow
from loopless.flowgraph.memory.own_heap import with_own_heap
from loopless.flowgraph.memory.places import Base, PointsTo
from loopless.flowgraph.memory.points_to import analyse
from loopless.graphs import cycles, predecessors
from loopless.records import dataclass
from loopless.source import ir

_END: Final = "llvm.lifetime.end"
_START: Final = "llvm.lifetime.start"
_Position = tuple[str, int]
Around = tuple[tuple[int, int], ...]
"""The blocks of the source around a place, from the inside out."""


def with_lifetimes_and_points(
    function: ir.SourceFunction, module: ir.Module, *, apart: bool = True
) -> tuple[ir.SourceFunction, PointsTo]:
    """``function`` with the ends of lives that matter, the same object where none does, and where its pointers point,
    ``apart`` as in :func:`.analyse`.
    """
    function = with_own_heap(function, module)
    lives = _Lives(function)
    ends = lives.ends() if lives.scopes or lives.marked else {}
    points = analyse(function, module, apart=apart)
    if not ends:
        return function, points
    added = _Added()
    _uses_behind(function, lives, points, added)
    _pointers_behind(function, lives, ends, points, added)
    repeated = _repeated(function)
    hidden = points.escaped | points.lent | points.mixed
    for position, names in ends.items():
        for name in sorted(names):
            if Base("local", name) in hidden or lives.declared_in(name) & repeated:
                added.before(position, _ours("expire", (name,)))
    for block in function.blocks:
        for index, instruction in enumerate(block.instructions):
            declared = lives.declared(instruction)
            given = instruction.variable is not None and instruction.variable.arg  # it has its value before the record
            if declared is not None and not given and block.label in repeated:
                added.before((block.label, index + 1), _ours("begin", (declared,)))
    made = added.into(function)
    return made, analyse(made, module, apart=apart) if added.pointers else points


def _ours(op: str, names: Iterable[str], indices: tuple[int, ...] = (), result: str | None = None) -> ir.Instruction:
    operands = tuple(ir.Local(name, ir.PtrT()) for name in names)
    return ir.Instruction(op, result, ir.PtrT() if result else ir.VoidT(), operands, indices=indices)


def _declared(instruction: ir.Instruction) -> str | None:
    """The local that a record declares to hold a variable."""
    if instruction.op != "dbg_declare" or instruction.expression or not instruction.operands:
        return None
    address = instruction.operands[0]
    return address.name if isinstance(address, ir.Local) else None


def _marker(instruction: ir.Instruction, kind: str) -> str | None:
    """The local whose life a marker of LLVM's speaks of."""
    if instruction.op != "call" or not (instruction.callee_name or "").startswith(kind):
        return None
    address = instruction.operands[-1]
    return address.name if isinstance(address, ir.Local) else None


class _Lives:
    """The local objects of a function whose lives end before it does, and where each instruction stands."""

    def __init__(self, function: ir.SourceFunction) -> None:
        self.function = function
        fixed = {i.result for i in function.instructions() if i.op == "alloca" and i.result is not None and i.is_single}
        self.scopes = _own_scopes(function, fixed)
        self.declarations: dict[str, set[str]] = {}
        for block in function.blocks:
            for i in block.instructions:
                if (name := self.declared(i)) is not None:
                    self.declarations.setdefault(name, set()).add(block.label)
        self._inside: dict[Around, frozenset[str]] = {}
        self.marked = {
            name for i in function.instructions() if (name := _marker(i, _END)) in fixed and name not in self.scopes
        }
        self._dead = _surely_dead(function, self.marked) if self.marked else {}

    def declared(self, instruction: ir.Instruction) -> str | None:
        """The local whose life may begin at a record: that of the variable that ends it, too."""
        name = _declared(instruction)
        own = self.scopes.get(name) if name is not None else None
        return name if own is not None and instruction.loc is not None and instruction.loc.scopes == own else None

    def _living_in(self, around: Around) -> frozenset[str]:
        """The variables of the blocks ``around`` a place."""
        found = self._inside.get(around)
        if found is None:
            found = frozenset(name for name, own in self.scopes.items() if own[0] in around)
            self._inside[around] = found
        return found

    def declared_in(self, name: str) -> set[str]:
        """The blocks in which the variable is declared; of what has no declaration, those where it begins to live."""
        if name in self.declarations:
            return self.declarations[name]
        return {b.label for b in self.function.blocks for i in b.instructions if _marker(i, _START) == name}

    def outside(self, name: str, instruction: ir.Instruction, position: _Position) -> bool:
        """Whether the object does surely not live where the instruction stands."""
        own = self.scopes.get(name)
        if own is None:
            return name in self._dead.get(position, frozenset())
        return instruction.loc is not None and bool(instruction.loc.scopes) and own[0] not in instruction.loc.scopes

    def ends(self) -> dict[_Position, set[str]]:
        """By position (in front of which it happens) the objects whose lives may end there."""
        blocks = {block.label: block for block in self.function.blocks}

        def onward(label: str, living: frozenset[str]) -> Iterator[tuple[str, frozenset[str]]]:
            after = self._through(blocks[label], living, {})
            yield from ((target, after) for target in blocks[label].successors)

        # Blocks stand in textual order, in which those that follow mostly come later.
        before = flow(list(blocks), dict.fromkeys(blocks, frozenset[str]()), onward, frozenset.union)
        found: dict[_Position, set[str]] = {}
        for block in self.function.blocks:
            self._through(block, before[block.label], found)
        return found

    def _through(
        self, block: ir.SourceBlock, living: frozenset[str], found: dict[_Position, set[str]]
    ) -> frozenset[str]:
        """What may live at the end of ``block``; the ends of lives on the way go to ``found``."""
        first = next((n for n, i in enumerate(block.instructions) if i.op != "phi" and not i.is_debug), 0)
        for index, i in enumerate(block.instructions):
            ended: set[str] = set()
            declared, marked = self.declared(i), _marker(i, _END)
            if declared is not None:
                living |= {declared}
            elif marked in self.marked:
                ended.add(marked)
            elif i.loc is not None and i.loc.scopes and (not i.is_debug or i.op == "dbg_label") and i.op != "alloca":
                # A label counts, too: a jump to one in front of a block leaves the block before it enters it again.
                inside = self._living_in(i.loc.scopes)
                ended |= living - inside
                living = inside
                if i.loop is not None and i.loop.start is not None and i.loop.start.scopes:
                    # The next iteration: what is declared inside of the loop begins anew.
                    around = i.loop.start.scopes
                    if around[-1] == i.loc.scopes[-1]:
                        ended |= living - self._living_in(around)
                        living &= self._living_in(around)
            if ended:
                found.setdefault((block.label, max(index, first)), set()).update(ended)
        return living


def _own_scopes(function: ir.SourceFunction, fixed: Container[str]) -> dict[str, Around]:
    """By object the scope that its life ends with: of the variables that records name it, the outermost in whose scope
    all uses of the object stand.

    Where the code uses an object behind the scope of a variable, the object outlives the variable. It may be the
    caller's: a structure that is returned in memory is built where the caller wants it, and one that is passed by value
    may be the caller's own; once the call is inlined, the callee's records name an object of the caller. Or the
    compiler itself uses it, for a clean-up (an attribute of C).
    """
    found: dict[str, dict[Around, None]] = {}
    for i in function.instructions():
        name = _declared(i)
        if name is not None and name in fixed and i.loc is not None and i.loc.scopes:
            found.setdefault(name, {})[i.loc.scopes] = None
    for block in function.blocks if found else ():
        around: Around = ()
        for i in reversed(block.instructions):  # what has no place of its own belongs to what follows
            around = (i.loc.scopes if i.loc is not None else ()) or around
            if not around or i.is_debug or _marker(i, _START) or _marker(i, _END):
                continue  # the inliner puts markers around the whole call, for the variables of all its blocks
            for operand in (*i.operands, *(value for value, _ in i.incoming)):
                scopes = found.get(operand.name) if isinstance(operand, ir.Local) else None
                for own in [own for own in scopes or () if own[0] not in around]:
                    del found[operand.name][own]  # type: ignore[union-attr]
    return {name: min(scopes, key=len) for name, scopes in found.items() if scopes}


def _surely_dead(function: ir.SourceFunction, marked: set[str]) -> dict[_Position, frozenset[str]]:
    """By position the objects with markers that do not live there, on whatever way control came. What a marker begins
    does not live before it (LLVM's language reference).
    """
    start: dict[str, frozenset[str]] = {block.label: frozenset(marked) for block in function.blocks}
    begun_later = {name for i in function.instructions() if (name := _marker(i, _START)) is not None}
    start[function.entry.label] = frozenset(marked & begun_later)
    blocks = {block.label: block for block in function.blocks}

    def onward(label: str, dead: frozenset[str]) -> Iterator[tuple[str, frozenset[str]]]:
        *_, dead = _dead_along(blocks[label], dead, marked)
        yield from ((target, dead) for target in blocks[label].successors)

    at_start = flow(list(blocks), start, onward, frozenset.intersection)
    return {
        (label, index): dead
        for label, block in blocks.items()
        for index, dead in enumerate(_dead_along(block, at_start[label], marked))
    }


def _dead_along(block: ir.SourceBlock, dead: frozenset[str], marked: set[str]) -> Iterator[frozenset[str]]:
    """What is dead before each instruction of a block, and behind the last one."""
    yield dead
    for i in block.instructions:
        ended, begun = _marker(i, _END), _marker(i, _START)
        dead = (dead | {ended} if ended in marked else dead) - {begun}
        yield dead


@dataclass(slots=True)
class _Added:
    """What is put into the function: instructions by the position that they stand in front of, and other operands."""

    instructions: dict[_Position, list[ir.Instruction]] = field(default_factory=dict)
    operands: dict[_Position, dict[str, str]] = field(default_factory=dict)

    @property
    def pointers(self) -> bool:
        """Whether something is added that pointers are set by: the rest changes nothing of what points where."""
        return any(i.op in ("outlive", "outlived") for some in self.instructions.values() for i in some)

    def before(self, position: _Position, instruction: ir.Instruction) -> None:
        self.instructions.setdefault(position, []).append(instruction)

    def into(self, function: ir.SourceFunction) -> ir.SourceFunction:
        if not self.instructions:
            return function
        blocks = []
        for block in function.blocks:
            made: list[ir.Instruction] = []
            for index, instruction in enumerate(block.instructions):
                made += self.instructions.get((block.label, index), ())
                made.append(_renamed(instruction, self.operands.get((block.label, index), {})))
            blocks.append(replace(block, instructions=tuple(made)))
        return replace(function, blocks=tuple(blocks))


def _renamed(instruction: ir.Instruction, names: Mapping[str, str]) -> ir.Instruction:
    if not names:
        return instruction

    def other(value: ir.Value) -> ir.Value:
        return replace(value, name=names.get(value.name, value.name)) if isinstance(value, ir.Local) else value

    gep = instruction.gep
    gep = replace(gep, base=other(gep.base)) if gep is not None else None
    return replace(instruction, operands=tuple(map(other, instruction.operands)), gep=gep)


def _uses_behind(function: ir.SourceFunction, lives: _Lives, points: PointsTo, added: _Added) -> None:
    """Pointers that are computed while an object lives, and used when it does not any more."""
    for block in function.blocks:
        for index, i in enumerate(block.instructions):
            position = (block.label, index)
            if i.is_debug or i.op == "phi" or _marker(i, _START) or _marker(i, _END):
                continue
            for operand in i.operands:
                if not isinstance(operand, ir.Local) or not isinstance(operand.type, ir.PtrT):
                    continue
                gone = sorted(
                    base.name
                    for base in {base for base, _ in points.of(operand).places}
                    if base.kind == "local" and lives.outside(base.name, i, position)
                )
                if gone and operand.name not in added.operands.get(position, {}):
                    name = f"{operand.name}.outlived.{block.label}.{index}"
                    added.before(position, _ours("outlived", (operand.name, *gone), (), name))
                    added.operands.setdefault(position, {})[operand.name] = name


_Stale = tuple[Base, int, str]
"""A pointer in memory (its holder and the offset there), and an object that it may point to."""


def _pointers_behind(
    function: ir.SourceFunction, lives: _Lives, ends: Mapping[_Position, set[str]], points: PointsTo, added: _Added
) -> None:
    """Pointers in variables to objects whose lives end, where they are read in a later life of the same object; where
    it does not live at all, :func:`_uses_behind` sees it.
    """
    ended = {name for names in ends.values() for name in names}
    hidden = points.escaped | points.lent | points.mixed
    stale = {
        (holder, offset, base.name)
        for (holder, offset), content in points.cells.items()
        for base, _ in content.places
        if holder not in hidden and base.kind == "local" and base.name in ended
    }
    if not stale:
        return
    live = _read_later(function, lives, ends, points, stale)
    for position, names in ends.items():
        for holder, offset, name in sorted(live.get(position, frozenset())):
            if name in names:
                added.before(position, _ours("outlive", (holder.name, name), (offset,)))


def _read_later(
    function: ir.SourceFunction, lives: _Lives, ends: Mapping[_Position, set[str]], points: PointsTo, stale: set[_Stale]
) -> dict[_Position, frozenset[_Stale]]:
    """By position the pointers that may be read behind it, where the object may live, before they are written again."""
    blocks = {block.label: block for block in function.blocks}
    leading = predecessors({label: block.successors for label, block in blocks.items()})
    found: dict[_Position, frozenset[_Stale]] = {}

    def onward(label: str, live: frozenset[_Stale]) -> Iterator[tuple[str, frozenset[_Stale]]]:
        instructions = blocks[label].instructions
        for index in reversed(range(len(instructions))):
            i, position = instructions[index], (label, index)
            if i.op == "load":
                places = points.of(i.operands[0]).places
                read = {one for one in stale if one[:2] in places or (one[0], None) in places}
                live |= {one for one in read if not lives.outside(one[2], i, position)}
            elif i.op == "store" and len(points.of(i.operands[1]).places) == 1:
                written = next(iter(points.of(i.operands[1]).places))
                live = frozenset(one for one in live if one[:2] != written)
            if position in ends:
                live = frozenset(one for one in live if one[0].name not in ends[position])
            found[position] = live  # the last visit of a block has the solution
        yield from ((source, live) for source in leading[label])

    flow(list(reversed(blocks)), dict.fromkeys(blocks, frozenset[_Stale]()), onward, frozenset.union)
    return found


def _repeated(function: ir.SourceFunction) -> frozenset[str]:
    """The blocks that control may reach more than once."""
    successors = {block.label: list(block.successors) for block in function.blocks}
    return frozenset(label for cycle in cycles(successors) for label in cycle)
