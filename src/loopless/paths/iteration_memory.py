"""What one iteration writes to memory, in its order, and what it reads of that.

An element that the iteration wrote before it reads it is known by the write. Others are what they were when the
iteration began: an unknown value that names the element (:attr:`.Unknown.held`), as earlier iterations may have written
it. What inner loops read of rows of elements has names of its own: :func:`at_header`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, Protocol

from loopless import terms as t
from loopless.flowgraph.def_use import assigned_in
from loopless.flowgraph.memory.early_loads import moved_pointers
from loopless.flowgraph.memory.statement_effects import (
    Objects,
    Written,
    apart,
    changed_in,
    objects_at,
    written_by,
    written_in,
)
from loopless.flowgraph.model import Call, Copy, Expire, Fill, Flowgraph, Load, LoopInfo, Pointer, Store
from loopless.flowgraph.words import function_in_words
from loopless.logic import feasible
from loopless.paths.execution import ExecutionState, Unreadable
from loopless.paths.model import NODES, HeldPointer, InnerStep, Write
from loopless.paths.readings import not_null, read_both_ways
from loopless.refusals import Reason, Refused
from loopless.terms.contents import Overlapping, arrays_in, index_at, of_bytes, residue, size_of

HIDDEN: Final = "|memory"
"""What reads call memory of which nothing is known; no object has this name."""
_BYTE: Final = t.IntType(8, signed=False)
_HEADER: Final = "|header"


def at_header(array: str) -> str:
    """How reads call an object that the loop writes, as it is when an iteration begins."""
    return array + _HEADER


def read_at_header(array: str) -> str | None:
    """The object that is called so by :func:`at_header`; None for other names."""
    return array.removesuffix(_HEADER) if array.endswith(_HEADER) else None


class LostTogether(Exception):
    """Where an object without a number is lost, what is read through a pointer is lost, too."""

    def __init__(self, words: str, array: str) -> None:
        """``words``: of the object; ``array``: what reads call the object that the pointer leads to."""
        super().__init__(words, array)
        self.words = words
        self.array = array


class Iteration(Protocol):
    """What is asked of the execution of an iteration."""

    graph: Flowgraph
    loop: LoopInfo
    where: str
    written: Written
    moving: frozenset[t.Var]
    behind: set[t.Var]
    together: Mapping[str, frozenset[str]]
    assumptions: dict[str, None]

    def inside(self, state: ExecutionState, term: t.Term) -> t.Term: ...

    def holding(self, state: ExecutionState, condition: t.Condition) -> t.Condition: ...

    def loaded(self, state: ExecutionState, load: Load) -> t.Term | str: ...

    def held(self, state: ExecutionState, load: Load, element: t.Read) -> tuple[ExecutionState, t.Var]: ...


class IterationMemory:
    """The memory of one iteration that is executed on symbols."""

    def __init__(self, iteration: Iteration, given: t.Condition, *, nodes: bool) -> None:
        """``given``: what holds at the header, which may say which pointers point into one object; ``nodes``: whether
        writes through pointers that iterations move are told, as writes to :data:`.NODES`.
        """
        self._iteration = iteration
        self._nodes = nodes
        self._given = frozenset(t.conjuncts(given))
        self._graph = iteration.graph
        self._both_ways = read_both_ways(iteration.graph)
        self._names = {held.name: held.number for held in iteration.graph.objects.values()}
        self._changing = iteration.written.names(iteration.graph)
        self._accessed: dict[str, Objects] = {}
        """By the names of the objects that the iteration accesses, which objects they may be."""
        self._stored: set[str] = set()
        self._moved = moved_pointers(iteration.graph, iteration.loop)
        self.pointers: dict[HeldPointer, None] = {}
        """The places of pointers that variables go along with."""
        self._owners: dict[str, t.Term] = {}
        self._unnumbered = {words: number for number, words in iteration.graph.unnumbered.items() if words}
        """By what they are called in words, the objects without a number, which are lost as a whole only."""

    # -- writing ------------------------------------------------------------------------------------------------------

    def written(self, state: ExecutionState, statement: Store | Fill | Copy | Expire) -> ExecutionState:
        """The state behind a statement that writes. Raises :class:`.Unreadable` where it may write anywhere."""
        if isinstance(statement, Expire):  # where the object comes to life again, it may hold anything
            held = self._graph.objects.get(statement.object)
            return self._lost(state, [statement.object]) if held is not None and held.name in self._changing else state
        address = _address(statement)
        place = self._place(state, address, statement.objects)
        if place is None:
            owner = not_null(self._iteration.inside(state, address.object))
            if self._nodes and isinstance(statement, Store) and isinstance(owner, t.Var):
                return self._in_node(state, statement, owner)
            return self.lost(state, objects_at(owner, statement.objects), statement)
        array, offset = place
        self._stored.add(array)
        if isinstance(statement, Store) and statement.value_object is not None:
            self._keep(statement, array, offset)
        if isinstance(statement, Fill):
            return _with(state, self._fill(state, statement, array, offset))
        if isinstance(statement, Copy):
            return _with(state, self._copy(state, statement, array, offset))
        if statement.type.width is None or (statement.type.width % 8 and statement.type.width != 1):
            return self.lost(state, written_by(statement), statement)
        value = None if statement.value_object is not None else self._iteration.inside(state, statement.value)
        value = None if value is None else t.wrap(value, statement.type)
        return _with(state, Write(array, offset, statement.type, value))

    def _keep(self, store: Store, array: str, offset: t.Term) -> None:
        """Note the variables that hold the pointer which is stored, where these go along with its place."""
        load = self._moved.get(store.address)
        if load is None or load.target_object is None or load.type != store.type:
            return
        held = HeldPointer(array, offset, load.type, load.target_object, load.target)
        self.pointers[held] = None

    def _in_node(self, state: ExecutionState, store: Store, owner: t.Var) -> ExecutionState:
        """The state behind a write through a pointer that leads to other objects in other iterations."""
        if store.type.width is None or (store.type.width % 8 and store.type.width != 1):
            return self.lost(state, written_by(store), store)
        self._stored.add(NODES)
        known = self._accessed.get(NODES, frozenset())
        self._accessed[NODES] = None if known is None or store.objects is None else known | store.objects
        signed = store.type.signed if store.signed is None else store.signed
        type = t.IntType(store.type.width, signed) if store.type.width > 1 else store.type
        value, object = self._iteration.inside(state, store.value), None
        if store.value_object is None:
            value = t.wrap(value, type)
        else:
            object = not_null(self._iteration.inside(state, store.value_object))
        offset = self._iteration.inside(state, store.address.offset)
        name = store.shown.rpartition("->")[2] if "->" in store.shown else ""
        return _with(state, Write(NODES, offset, type, value, owner=owner, name=name, object=object))

    def freed(self, state: ExecutionState, call: Call) -> ExecutionState:
        """The state behind a call that ends the life of what its first argument points to."""
        at = call.arguments[0]
        assert isinstance(at, Pointer)
        owner = not_null(self._iteration.inside(state, at.object))
        write = Write(NODES, self._iteration.inside(state, at.offset), _BYTE, t.ONE, owner=owner, name=t.FREED)
        return _with(state, write)

    def _place(self, state: ExecutionState, address: Pointer, objects: Objects) -> tuple[str, t.Term] | None:
        """The name of the object that an address is in, which may be one of ``objects``, and the offset; None where it
        is not known to be the same object in all iterations.
        """
        owner = not_null(self._iteration.inside(state, address.object))
        offset = self._iteration.inside(state, address.offset)
        owner = self._one_of(owner, objects)
        if isinstance(owner, t.Const) and owner.value in self._graph.objects and owner.value:
            name = self._graph.objects[owner.value].name
            self._accessed[name] = frozenset((owner.value,))
            self._owners[name] = owner
            return name, offset
        called = self._graph.pointee_name(owner) if isinstance(owner, t.Var) else None
        if called is None or owner in self._iteration.moving:
            return None
        assert isinstance(owner, t.Var)
        self._iteration.behind.add(owner)
        known = self._accessed.get(called, objects)
        self._accessed[called] = None if known is None or objects is None else known & objects
        self._owners[called] = owner
        return called, offset

    def _one_of(self, owner: t.Term, objects: Objects) -> t.Term:
        """The object of an access, or another one that is given to be the same."""
        if not isinstance(owner, t.Var) or owner in self._iteration.moving:
            return owner
        others = (part.variables - {owner} for part in self._given if owner in part.variables)
        names = sorted({var for found in others for var in found}, key=lambda var: var.key)
        numbers = [t.const(number) for number in sorted(objects or ()) if number in self._graph.objects]
        # Of two variables that are given to be the same the one that comes first stands for both.
        for other in (*numbers, *(var for var in names if var.key < owner.key)):
            if owner.eq(other) in self._given and other not in self._iteration.moving:
                self._iteration.behind.add(owner)
                return other
        return owner

    def _changes(self, array: str) -> bool:
        """Whether the loop may write an object, by its name: those of pointers it may where it writes unnumbered ones,
        as long as nothing else is known.
        """
        if read_at_header(array) is not None:
            return False  # what it was called is said already
        return array in self._changing or (array not in self._names and self._iteration.written.anything)

    def check(self) -> None:
        """Take for granted that different names are different objects, as far as the flowgraph lets that be granted.
        Raises :class:`.Unreadable` where two may be one.
        """
        for array in sorted(self._stored):
            for other in sorted(self._accessed):
                if other == array or self._is_lost_with(array, other):
                    continue
                if array in self._unnumbered and other in self._unnumbered:
                    continue  # nothing is told of either
                needed = apart(self._graph, self._accessed[array], self._accessed[other])
                one, two = self._owners.get(array), self._owners.get(other)
                alike = None if one is None or two is None else one.eq(two)
                if needed is None and (array in self._unnumbered or other in self._unnumbered):
                    raise LostTogether(*((array, other) if array in self._unnumbered else (other, array)))
                if needed is None and (alike is None or ~alike not in self._given):
                    detail = f"{array} and {other} may be in the same memory, which the loop writes"
                    # Where names are of two numbers, they are two objects: it is an address that may be one's own.
                    undecided = None if isinstance(alike, t.Truth) else alike
                    raise Unreadable(Refused(Reason.MEMORY, self._iteration.where, detail), undecided)
                needed = needed or []
                self._iteration.assumptions |= dict.fromkeys(needed)

    def _is_lost_with(self, one: str, other: str) -> bool:
        """Whether of two names one is lost wherever the other one is."""
        together = self._iteration.together
        return one in together.get(other, ()) or other in together.get(one, ())

    def _fill(self, state: ExecutionState, fill: Fill, array: str, offset: t.Term) -> Write:
        length = self._iteration.inside(state, fill.length)
        byte = t.wrap(self._iteration.inside(state, fill.byte), _BYTE)
        type = self._row_type(array, offset, length)
        size = size_of(type)
        value = t.wrap(byte * sum(1 << 8 * at for at in range(size)), type)
        return Write(array, offset, type, value, size, _within(length, size))

    def _copy(self, state: ExecutionState, copy: Copy, array: str, offset: t.Term) -> Write:
        length = self._iteration.inside(state, copy.length)
        source = self._place(state, copy.source, None)
        if source is None:
            return Write(array, offset, _BYTE, None, 1, _within(length, 1))
        type = self._row_type(array, offset, length, source[1])
        size = size_of(type)
        value = self.seen(state, t.read(source[0], source[1] + size * t.INDEX, type))
        assert isinstance(value, t.Term)
        return Write(array, offset, type, value, size, _within(length, size))

    def _row_type(self, array: str, *spans: t.Term) -> t.IntType:
        """The type of the elements of an object, where whole elements are written; else bytes."""
        type = next((held.element for held in self._graph.objects.values() if held.name == array), None)
        if type is None or type.width is None or type.width % 8:
            return _BYTE
        return type if all(residue(span, type.width // 8) == 0 for span in spans) else _BYTE

    def lost(self, state: ExecutionState, objects: Objects, statement: Store | Fill | Copy | Call) -> ExecutionState:
        """The state behind a write of which no more is known than the objects that it may be in."""
        by = function_in_words(statement.callee) if isinstance(statement, Call) else ""
        place = str(statement.loc) if statement.loc is not None else self._iteration.where
        return self._lost(state, self._named(objects, place, by), by)

    def _named(self, objects: Objects, place: str, by: str = "") -> Sequence[int]:
        """The objects, all of which have names. Raises :class:`.Unreadable` where they may be any."""
        if objects is None or not all(self._name(number) for number in objects):
            who = f"{by} may write" if by else "the loop may write"
            raise Unreadable(Refused(Reason.MEMORY, place, f"{who} objects that are not known"))
        return sorted(objects)

    def _name(self, number: int) -> str:
        """What is lost is called as the object, or as the words for it are where it has no number."""
        held = self._graph.objects.get(number)
        return self._graph.unnumbered.get(number, "") if held is None else held.name

    def _lost(self, state: ExecutionState, numbers: Sequence[int], by: str = "") -> ExecutionState:
        names = [self._name(number) for number in numbers]
        self._stored.update(names)
        self._accessed |= {name: frozenset((number,)) for name, number in zip(names, numbers, strict=True)}
        others = (other for name in names for other in sorted(self._iteration.together.get(name, ())))
        writes = tuple(Write(name, None, _BYTE, None, by=by) for name in dict.fromkeys((*names, *others)))
        return replace(state, writes=(*state.writes, *writes))

    # -- inner loops --------------------------------------------------------------------------------------------------

    def stays(self, state: ExecutionState, nodes: Iterable[t.Node]) -> bool:
        """Whether what ``nodes`` call as pointers are is what these point to in all iterations, and in ``state``."""
        arrays = {part.array for node in nodes for part in t.walk_inside(node) if isinstance(part, t.Read)}
        return all(self._is_kept(state, array) for array in sorted(arrays))

    def _is_kept(self, state: ExecutionState, array: str) -> bool:
        if array in self._names or array.endswith((_HEADER, t.STREAM)) or array == HIDDEN:
            return True
        pointer = self._graph.pointer_called(array)
        if pointer is None or pointer in self._iteration.moving or state.values.get(pointer, pointer) is not pointer:
            return False
        self._iteration.behind.add(pointer)
        return True

    def _access(self, loop: LoopInfo, arrays: Iterable[str]) -> None:
        """Note the objects that an inner loop accesses, by the names that its summary has for them."""
        statements = [s for label in loop.blocks for s in self._graph.blocks[label].statements]
        accesses = [s for s in statements if isinstance(s, Load | Store | Fill | Copy)]
        open_ = [s.objects for s in accesses if not isinstance(_address(s).object, t.Const)]
        some = None if None in open_ else frozenset[int]().union(*(found for found in open_ if found is not None))
        own = self._objects_by_name(loop, accesses)
        for array in arrays:
            number = self._names.get(array)
            known = self._accessed.get(array, frozenset())
            found = own.get(array, some) if number is None else frozenset((number,))
            self._accessed[array] = None if known is None or found is None else known | found

    def _objects_by_name(
        self, loop: LoopInfo, accesses: Iterable[Load | Store | Fill | Copy]
    ) -> dict[str, frozenset[int]]:
        """By what reads call the object that a pointer leads to, the objects that it may be by the accesses through it,
        as far as an inner loop leaves the pointer as it is.
        """
        assigned = assigned_in(self._graph.blocks[label] for label in loop.blocks)
        found: dict[str, frozenset[int]] = {}
        for access in accesses:
            owner = _address(access).object
            name = self._graph.pointee_name(owner) if isinstance(owner, t.Var) and owner not in assigned else None
            if name is not None and access.objects is not None:
                found[name] = found.get(name, frozenset()) | access.objects
        return found

    def behind_step(
        self, before: ExecutionState, after: ExecutionState, loop: LoopInfo, step: InnerStep
    ) -> ExecutionState:
        """The state behind an inner loop with what that writes, as its contents say; else only the objects are known.

        ``before``: the state in which it is entered.
        """
        changed = changed_in(self._graph, loop.blocks)
        if not changed.some and not changed.anything:
            return after
        told = step.contents
        lost = [number for words, number in self._unnumbered.items() if told is not None and words in told]
        told = None if told is None else {name: layers for name, layers in told.items() if name not in self._unnumbered}
        if told is not None:
            self._access(loop, (*told, *arrays_in(told)))
            self._stored.update(told)
        if told is None or not all(self._is_kept(before, array) for array in (*told, *arrays_in(told))):
            place = str(loop.loc) if loop.loc is not None else self._iteration.where
            return self._lost_in(loop, after, self._named(written_in(self._graph, loop.blocks), place))

        def there(node: t.Node) -> t.Node:
            if isinstance(node, t.Term):
                return self._iteration.inside(before, node)
            assert isinstance(node, t.Condition)
            return self._iteration.holding(before, node)

        writes = [
            Write(array, layer.start, layer.type, layer.value, layer.stride, layer.where).of(there)
            for array, layers in sorted(told.items())
            for layer in reversed(layers)
        ]
        return self._lost_in(loop, replace(after, writes=(*after.writes, *writes)), sorted(lost))

    def _lost_in(self, loop: LoopInfo, state: ExecutionState, numbers: Sequence[int]) -> ExecutionState:
        """The state behind an inner loop that may have written these objects anywhere."""
        calls = [
            s for label in sorted(loop.blocks) for s in self._graph.blocks[label].statements if isinstance(s, Call)
        ]
        for number in numbers:
            called = next((call for call in calls if number in (written_by(call) or ())), None)
            state = self._lost(state, [number], "" if called is None else function_in_words(called.callee))
        return state

    # -- reading ------------------------------------------------------------------------------------------------------

    def read(self, state: ExecutionState, load: Load) -> ExecutionState | None:
        """The state behind a load of what the loop writes; None where that is not known, or the loop does not."""
        if load.target_object is not None:
            return None
        if load.type.width is None or load.type.width % 8 or load.target.type.width is None:
            return None
        if not isinstance(self._iteration.loaded(state, load), str):
            self._place(state, load.address, load.objects)
            return None
        place = self._place(state, load.address, load.objects)
        if place is None:
            return None
        array, offset = place
        type = t.IntType(load.type.width) if (array, load.type.width) in self._both_ways else load.type
        found = self._element(state, load, t.Read(array, offset, type), len(state.writes))
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
            met = meeting(element, write, t.conjunction(state.condition))
            if met is None:
                return None
            where, value = met
            if where is t.FALSE:
                continue
            if value is None:
                return None
            if where is t.TRUE:
                return state, value
            below = self._element(state, load, element, at)
            return None if below is None else (below[0], t.ite(where, value, below[1]))
        return self._iteration.held(state, load, element)

    def seen(self, state: ExecutionState, node: t.Node) -> t.Node:
        """``node`` where what it reads is read of memory as it is in ``state``."""
        if not any(isinstance(part, t.Read) and self._changes(part.array) for part in t.walk_inside(node)):
            return node
        given = t.conjunction(state.condition)

        def of(array: str, offset: t.Term, type: t.IntType) -> t.Term:
            if not self._changes(array):
                return t.read(array, offset, type)
            below: list[tuple[t.Condition, t.Term]] = []
            for write in reversed(state.writes):
                if write.array != array:
                    continue
                met = meeting(t.Read(array, offset, type), write, given)
                if met is None or (met[0] is not t.FALSE and met[1] is None):
                    return t.read(HIDDEN, offset, type)
                where, value = met
                if where is t.FALSE or value is None:
                    continue
                below.append((where, value))
                if where is t.TRUE:
                    break
            found = t.read(at_header(array), offset, type)
            for where, value in reversed(below):
                found = t.ite(where, value, found)
            return found

        return t.with_reads(node, of)


def meeting(element: t.Read, write: Write, given: t.Condition) -> tuple[t.Condition, t.Term | None] | None:
    """Where a write is to just this element, the condition ``given`` holding, and what it puts there; None where it may
    be to a part of it, or anywhere.
    """
    if write.offset is None or write.type.width is None or element.type.width is None:
        return None
    size = size_of(element.type)
    distance = element.offset - write.offset
    if write.stride:
        row = write.offset + write.stride * _ROW
        touched = t.substitute(write.where, {t.INDEX: _ROW}) & t.between(1 - size, element.offset - row, write.size - 1)
    else:
        touched = t.between(1 - size, distance, write.size - 1)
    if not feasible(given & touched, solver=False):
        return t.FALSE, None
    layer = t.Layer(write.type, write.offset, write.stride or write.size, write.where, write.value)
    if size != write.size:

        def decide(condition: t.Condition) -> t.Condition:
            return condition if feasible(given & condition, solver=False) else t.FALSE

        return of_bytes(layer, element.offset, element.type, decide) if write.stride else None
    value = write.value
    if write.stride:
        try:
            found = index_at(layer, element.offset, element.type)
        except Overlapping:
            return None
        if found is None:
            return t.FALSE, None
        index, aligned = found
        there: dict[t.Var, t.Term] = {t.INDEX: index}
        where = aligned & t.substitute(write.where, there)
        value = None if value is None else t.substitute(value, there)
    else:
        where = distance.eq(0)
        partly = distance.ne(0) & t.between(1 - size, distance, size - 1)
        if residue(distance, size) != 0 and feasible(given & partly, solver=False):
            return None
    if where is not t.FALSE and not feasible(given & ~where, solver=False):
        where = t.TRUE
    return where, None if value is None else t.wrap(value, element.type)


def _address(access: Load | Store | Fill | Copy) -> Pointer:
    return access.target if isinstance(access, Copy) else access.address


def _with(state: ExecutionState, write: Write) -> ExecutionState:
    return replace(state, writes=(*state.writes, write))


_ROW: Final = t.Var("|row", t.INTEGERS)


def _within(length: t.Term, size: int) -> t.Condition:
    """Which elements of so many bytes are in the first ``length`` bytes, a multiple of these."""
    return t.INDEX.ge(0) & (size * t.INDEX).lt(length)
