"""What one iteration writes to memory, in its order, and what it reads of that.

An element that the iteration wrote before it reads it is known by the write. Others are what they were when the
iteration began: an unknown value that names the element (:attr:`.Unknown.held`), as earlier iterations may have written
it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from loopless import terms as t
from loopless.flowgraph.memory.statement_effects import Objects, changed_in, objects_at, written_by
from loopless.flowgraph.model import Call, Copy, Expire, Fill, Flowgraph, Load, LoopInfo, Store
from loopless.logic import feasible
from loopless.paths.execution import ExecutionState, Unreadable
from loopless.paths.model import Write
from loopless.paths.readings import not_null, read_both_ways
from loopless.refusals import Reason, Refused
from loopless.terms.contents import residue

_BYTE = t.IntType(8, signed=False)


class Iteration(Protocol):
    """What is asked of the execution of an iteration."""

    graph: Flowgraph
    where: str

    def inside(self, state: ExecutionState, term: t.Term) -> t.Term: ...

    def loaded(self, state: ExecutionState, load: Load) -> t.Term | str: ...

    def held(self, state: ExecutionState, load: Load, element: t.Read) -> tuple[ExecutionState, t.Var]: ...


class IterationMemory:
    """The memory of one iteration that is executed on symbols."""

    def __init__(self, iteration: Iteration) -> None:
        self._iteration = iteration
        self._graph = iteration.graph
        self._both_ways = read_both_ways(iteration.graph)

    # -- writing ------------------------------------------------------------------------------------------------------

    def written(self, state: ExecutionState, statement: Store | Fill | Copy | Expire) -> ExecutionState:
        """The state behind a statement that writes. Raises :class:`.Unreadable` where it may write anywhere."""
        if isinstance(statement, Expire):
            return state
        if not isinstance(statement, Store):
            return self.lost(state, written_by(statement), statement)
        owner = not_null(self._iteration.inside(state, statement.address.object))
        if not isinstance(owner, t.Const) or owner.value not in self._graph.objects:
            return self.lost(state, objects_at(owner, statement.objects), statement)
        offset = self._iteration.inside(state, statement.address.offset)
        value = None if statement.value_object is not None else self._iteration.inside(state, statement.value)
        value = None if value is None else t.wrap(value, statement.type)
        if statement.type.width is None or (statement.type.width % 8 and statement.type.width != 1):
            return self.lost(state, frozenset((owner.value,)), statement)
        write = Write(self._graph.objects[owner.value].name, offset, statement.type, value)
        return replace(state, writes=(*state.writes, write))

    def lost(self, state: ExecutionState, objects: Objects, statement: Store | Fill | Copy | Call) -> ExecutionState:
        """The state behind a write of which no more is known than the objects that it may be in."""
        if objects is None or not objects <= self._graph.objects.keys():
            place = str(statement.loc) if statement.loc is not None else self._iteration.where
            raise Unreadable(Refused(Reason.MEMORY, place, "the loop may write objects that are not known"))
        return self._lost(state, sorted(objects))

    def behind_loop(self, state: ExecutionState, loop: LoopInfo) -> ExecutionState:
        """The state behind an inner loop, of whose writes only the objects are known."""
        changed = changed_in(self._graph, loop.blocks)
        if changed.anything:
            place = str(loop.loc) if loop.loc is not None else self._iteration.where
            raise Unreadable(Refused(Reason.MEMORY, place, "the loop may write objects that are not known"))
        return self._lost(state, sorted(number for number in changed if number in self._graph.objects))

    def _lost(self, state: ExecutionState, numbers: Sequence[int]) -> ExecutionState:
        writes = tuple(Write(self._graph.objects[number].name, None, _BYTE, None) for number in numbers)
        return replace(state, writes=(*state.writes, *writes))

    # -- reading ------------------------------------------------------------------------------------------------------

    def read(self, state: ExecutionState, load: Load) -> ExecutionState | None:
        """The state behind a load of what the loop writes; None where that is not known, or the loop does not."""
        owner = not_null(self._iteration.inside(state, load.address.object))
        if load.target_object is not None or not isinstance(owner, t.Const) or owner.value not in self._graph.objects:
            return None
        if load.type.width is None or load.type.width % 8 or load.target.type.width is None:
            return None
        if not isinstance(self._iteration.loaded(state, load), str):
            return None
        array = self._graph.objects[owner.value].name
        type = t.IntType(load.type.width) if (array, load.type.width) in self._both_ways else load.type
        element = t.Read(array, self._iteration.inside(state, load.address.offset), type)
        found = self._element(state, load, element, len(state.writes))
        if found is None:
            return None
        after, value = found
        value = t.wrap(value, load.type)
        return replace(after, values={**after.values, load.target: value})

    def _element(
        self, state: ExecutionState, load: Load, element: t.Read, writes: int
    ) -> tuple[ExecutionState, t.Term] | None:
        """What an element holds behind the first ``writes`` of an iteration; None where that is not known."""
        for at in reversed(range(writes)):
            write = state.writes[at]
            if write.array != element.array:
                continue
            where = meeting(element, write, t.conjunction(state.condition))
            if where is t.FALSE:
                continue
            if where is None or write.value is None:
                return None
            value = t.wrap(write.value, element.type)
            if where is t.TRUE:
                return state, value
            below = self._element(state, load, element, at)
            return None if below is None else (below[0], t.ite(where, value, below[1]))
        return self._iteration.held(state, load, element)


def meeting(element: t.Read, write: Write, given: t.Condition) -> t.Condition | None:
    """Where a write is to just this element, the condition ``given`` holding; None where it may be to a part of it, or
    anywhere.
    """
    if write.offset is None:
        return None
    distance = element.offset - write.offset
    size, other = (_bytes(element.type), _bytes(write.type))
    if isinstance(distance, t.Const):
        if distance.value == 0 and size == other:
            return t.TRUE
        return t.FALSE if distance.value >= other or distance.value <= -size else None
    if not feasible(given & t.between(1 - size, distance, other - 1), solver=False):
        return t.FALSE
    if size != other:
        return None
    if not feasible(given & distance.ne(0), solver=False):
        return t.TRUE
    if residue(distance, size) == 0 or not feasible(
        given & distance.ne(0) & t.between(1 - size, distance, size - 1), solver=False
    ):
        return distance.eq(0)
    return None


def _bytes(type: t.IntType) -> int:
    assert type.width is not None
    return (type.width + 7) // 8
