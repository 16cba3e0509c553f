"""Symbolic execution over a flowgraph: partial paths as states, how statements and branches change them, where they
meet.

One iteration of a loop and a whole function are executed alike; what matters to them, and where they begin and stop, is
theirs.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import ClassVar, Final, Generic, TypeVar

from loopless import terms as t
from loopless.flowgraph.memory.statement_effects import changed_in, read_type
from loopless.flowgraph.model import (
    Assume,
    Block,
    Call,
    Check,
    Edge,
    Flowgraph,
    Load,
    Origin,
    Pointer,
)
from loopless.flowgraph.transfer import Domain, along, through
from loopless.limits.paths import (
    MAX_COMPARISONS,
    MAX_SOLVER_DEGREE,
    MAX_SOLVER_QUESTIONS,
    REMEMBERED_CONJUNCTS,
)
from loopless.logic.feasible import feasible
from loopless.paths.joining import join
from loopless.paths.library import Text, result_of
from loopless.paths.model import Exit, Unknown, Write
from loopless.paths.readings import not_null, read_both_ways
from loopless.records import dataclass
from loopless.refusals import Reason, Refused
from loopless.source.ir import Loc
from loopless.source.vocabulary import COMPARISONS, WORKED_OUT

_BYTES: Final = t.IntType(8, signed=True), t.IntType(8, signed=False)


class TooManyPaths(Exception):
    """One of the limits on paths is reached: :data:`MAX_PATHS`, :data:`MAX_VISITS`, :data:`MAX_COMPARISONS`."""


class Unreadable(Exception):
    """There is something that no path can go through; carries the refusal."""

    def __init__(self, refused: Refused, alike: t.Condition | None = None) -> None:
        """``alike``: what to decide first, see :attr:`.NoPaths.alike`."""
        super().__init__(str(refused))
        self.refused = refused
        self.alike = alike


@dataclass(frozen=True, slots=True)
class ExecutionState:
    """A partial path: what must hold, what has changed, what came from outside, where it went; and whether it is
    ``exact``: all steps on the way are. ``writes``: what it wrote to memory, where that is followed.
    """

    condition: tuple[t.Condition, ...]
    values: Mapping[t.Var, t.Term]
    unknowns: tuple[Unknown, ...]
    lines: tuple[int, ...]
    exact: bool = True
    writes: tuple[Write, ...] = ()


_S = TypeVar("_S", bound=ExecutionState)


@dataclass(frozen=True, slots=True)
class Finished(Generic[_S]):
    """A complete path. ``result`` and ``result_object``: what is returned, for exits of kind "return"."""

    state: _S
    exit: Exit | None
    result: t.Term | None = None
    result_object: t.Term | None = None


class Execution(Domain[_S], ABC, Generic[_S]):
    """What all symbolic executions share. ``live``: by block, the variables whose values are still needed there.
    ``questions``: how often Z3 may be asked about products.
    """

    questions: ClassVar[int] = MAX_SOLVER_QUESTIONS

    def __init__(
        self, graph: Flowgraph, live: Mapping[str, frozenset[t.Var]], labels: Iterable[str], where: str
    ) -> None:
        self.graph = graph
        self.live = live
        self.where = where
        self.written = changed_in(graph, labels)
        self.moving: frozenset[t.Var] = frozenset()
        """Pointers, by the variables that say into which object, behind which nothing is read: they may change."""
        self.behind: set[t.Var] = set()
        """Those behind which something is."""
        self.finished: list[Finished[_S]] = []
        self.known: dict[t.Condition, bool] = {}
        self._label = ""
        self._comparisons = 0
        self._questions = 0
        self._both_ways: frozenset[tuple[str, int | None]] | None = None

    # -- what differs -------------------------------------------------------------------------------------------------

    def decides(self, label: str) -> bool:  # noqa: ARG002
        """Whether it matters which edge of the block ``label`` is taken."""
        return True

    def beyond(self) -> bool:
        """Whether a condition counts as feasible that is not put to the logic any more. Raises :class:`TooManyPaths`
        where that ends the execution.
        """
        raise TooManyPaths

    # -- one block ----------------------------------------------------------------------------------------------------

    def through(self, block: Block, state: _S) -> Sequence[_S]:
        """The states after the statements of a block; none where no run gets so far. Raises :class:`Unreadable`."""
        blocked = self.graph.blocked.get(block.label)
        if blocked is not None:
            raise Unreadable(blocked)
        self._label = block.label
        return through(self, block, state)

    def holds(self, state: _S, label: str, statement: Check | Assume) -> Sequence[_S]:
        """The state where the condition holds; elsewhere the run ends."""
        kind, detail = ("undefined", statement.kind) if isinstance(statement, Check) else ("assumption", "")
        condition = self.holding(state, statement.condition)
        self.leave(state, ~condition, Exit(kind, line_of(statement.loc), label, detail=detail))
        after = self.under(state, condition, statement.loc)
        return () if after is None else (after,)

    def ways(self, block: Block, state: _S) -> Iterator[tuple[int, Edge, _S]]:
        """The edges that can be taken, with the state on each, before the edge's own assignments."""
        matters = self.decides(block.label)
        for index, edge in enumerate(block.edges):
            condition = self.holding(state, edge.condition) if matters else t.TRUE
            following = self.under(state, condition, edge.loc if len(block.edges) > 1 else None)
            if following is not None:
                yield index, edge, following

    def end(self, block: Block, state: _S) -> None:
        """The run ends with the block."""
        end = block.end
        assert end is not None
        detail = end.refused.detail if end.refused is not None else ("unreachable" if end.kind == "undefined" else "")
        result = self.inside(state, end.value) if end.value is not None else None
        owner = self.inside(state, end.value_object) if end.value_object is not None else None
        self.finished.append(
            Finished(state, Exit(end.kind, line_of(end.loc), block.label, detail=detail), result, owner)
        )

    # -- values -------------------------------------------------------------------------------------------------------

    def value(self, state: _S, term: t.Term, target: t.Var) -> t.Term:  # noqa: ARG002
        return self.inside(state, term)

    def assigned(self, state: _S, values: Mapping[t.Var, t.Term], loc: Loc | None) -> _S:
        return replace(state, values={**state.values, **values}, lines=with_line(state.lines, loc))

    def along(self, state: _S, edge: Edge) -> _S:
        """The state after the assignments of an edge."""
        return along(self, edge, state)

    def take(self, state: _S, unknown: Unknown, target: t.Var) -> _S:
        """``target`` gets a value from outside."""
        values = {**state.values, target: unknown.var}
        lines = with_line(state.lines, unknown.loc)
        return replace(state, values=values, unknowns=(*state.unknowns, unknown), lines=lines)

    def read(self, state: _S, load: Load) -> Mapping[t.Var, t.Term] | str:
        found = self.loaded(state, load)
        return found if isinstance(found, str) else {load.target: found}

    def loaded(self, state: _S, load: Load) -> t.Term | str:
        """What ``load`` reads from an object that nothing writes; the name of the object where something may."""
        owner = not_null(self.inside(state, load.address.object))
        known = owner.value if isinstance(owner, t.Const) and owner.value in self.graph.objects else None
        if known is not None and load.target_object is None and not self.written.hits(known):
            offset = self.inside(state, load.address.offset)
            return self._element(self.graph.objects[known].name, offset, read_type(load))
        if isinstance(owner, t.Var) and load.target_object is None and self._is_kept(load):
            name = self.graph.pointee_name(owner)
            if name is not None and owner not in self.moving:
                self.behind.add(owner)
                return self._element(name, self.inside(state, load.address.offset), read_type(load))
        return self.graph.objects[known].name if known else "memory"

    def _element(self, array: str, offset: t.Term, type: t.IntType) -> t.Term:
        """What is read as one of ``type``. Where the function reads the same bytes with a sign and without, both are
        made of one reading, so that conditions on both are known to be about one element.
        """
        if self._both_ways is None:
            self._both_ways = read_both_ways(self.graph)
        if type.signed or (array, type.width) not in self._both_ways:
            return t.read(array, offset, type)
        return t.wrap(t.read(array, offset, t.IntType(type.width)), type)

    def called(self, state: _S, call: Call) -> Sequence[_S] | None:
        """The states after a call of a library function whose result is worked out from memory that nothing writes;
        None for others.
        """
        if call.callee not in WORKED_OUT or not call.outside or call.target is None:
            return None
        texts = [self._text(state, argument, call) for argument in call.arguments if isinstance(argument, Pointer)]
        known = [text for text in texts if text is not None]
        numbers = [self.inside(state, argument) for argument in call.arguments if isinstance(argument, t.Term)]
        if len(known) < len(texts):
            return (state,) if call.drawn else None
        chosen = None
        if call.callee in COMPARISONS:
            state = state if call.drawn else self.fresh(state, call.target, Origin.CALL, call.callee, call)
            chosen = self.inside(state, call.target)
        try:
            found = result_of(call.callee, known, numbers, chosen)
        except t.TermTooLarge as error:
            raise Unreadable(self._too_large(error)) from error
        if found is None:
            return (state,) if call.drawn else None
        self.leave(state, found.outside, Exit("undefined", line_of(call.loc), self._label, detail="bounds"))
        inside = self.under(state, ~found.outside, None)
        result = []
        for way in found.ways if inside is not None else ():
            assert inside is not None
            after = self.under(inside, way.when, call.loc)
            if after is None:
                continue
            if call.target_object is not None and way.object is not None:
                after = self.assigned(after, {call.target_object: way.object}, call.loc)
            result.append(self.assigned(after, {call.target: way.value}, call.loc))
        return result

    def _text(self, state: _S, pointer: Pointer, call: Call) -> Text | None:
        """The bytes that a pointer leads to, None where something may write them."""
        at = t.position("|place")
        place = Pointer(pointer.object, pointer.offset + at)

        def byte(type: t.IntType) -> t.Term | str:
            return self.loaded(state, Load(t.Var("|byte", type), place, type, objects=call.looks))

        signed, unsigned = byte(_BYTES[0]), byte(_BYTES[1])
        if isinstance(signed, str) or isinstance(unsigned, str):
            return None
        read_as = {_BYTES[0]: signed, _BYTES[1]: unsigned}
        owner = not_null(self.inside(state, pointer.object))
        offset = self.inside(state, pointer.offset)
        held = self.graph.objects.get(owner.value) if isinstance(owner, t.Const) else None
        room = known = None
        if held is not None and (held.size is not None or held.extent is not None):
            room = (self.inside(state, held.extent) if held.extent is not None else t.const(held.size or 0)) - offset
            if held.constant and held.content is not None and not held.relocations and isinstance(offset, t.Const):
                known = held.content[offset.value :] if offset.value >= 0 else None

        def byte_at(where: t.Term, held: t.IntType) -> t.Term:
            return t.substitute(read_as[held], {at: where})

        return Text(owner, offset, byte_at, room, known)

    def _is_kept(self, load: Load) -> bool:
        """Whether nothing writes what a pointer leads to that is no known object."""
        return self.written.spares(self.graph, load.objects)

    def inside(self, state: _S, term: t.Term) -> t.Term:
        """``term`` over the values at the beginning. Raises :class:`Unreadable` where it grows too large."""
        try:
            return t.substitute(term, state.values)
        except t.TermTooLarge as error:
            raise Unreadable(self._too_large(error)) from error

    def holding(self, state: _S, condition: t.Condition) -> t.Condition:
        """``condition`` over the values at the beginning. Raises :class:`Unreadable` where it grows too large."""
        try:
            return t.substitute(condition, state.values)
        except t.TermTooLarge as error:
            raise Unreadable(self._too_large(error)) from error

    def _too_large(self, error: t.TermTooLarge) -> Refused:
        return Refused(Reason.BUDGET, self.where, f"an expression grows too large: {error}")

    def known_content(self, node: t.Node, state: _S) -> bool:
        """Whether what ``node`` reads from memory is there from the beginning on, where pointers point to then."""
        # What is not read in this state, through a pointer that is null say, is not asked for.
        if isinstance(node, t.Condition):
            node = self.holding(state, node)
        elif isinstance(node, t.Term):
            node = self.inside(state, node)
        read = (part.array for part in t.walk_inside(node) if isinstance(part, t.Read))
        arrays = {array for array in read if not array.endswith(t.STREAM)}
        held = [o for o in self.graph.objects.values() if o.name in arrays] if arrays else []
        if any(not o.constant and self.written.hits(o.number) for o in held):
            return False
        for name in sorted(arrays - {o.name for o in held}):
            pointer = self.graph.pointer_called(name)
            if pointer is None or state.values.get(pointer, pointer) is not pointer or not self.keeps_behind(pointer):
                return False
            self.behind.add(pointer)
        return True

    def keeps_behind(self, pointer: t.Var) -> bool:  # noqa: ARG002
        """Whether nothing writes the object that a pointer leads to, by the variable that says which it is."""
        return not self.written.some

    def arrays_at(self, state: ExecutionState, nodes: Iterable[t.Node]) -> dict[str, str]:
        """What the objects are called here that ``nodes`` call as pointers are that lead to them."""
        arrays = {part.array for node in nodes for part in t.walk_inside(node) if isinstance(part, t.Read)}
        arrays = {array for array in arrays if not array.endswith(t.STREAM)}
        found = {}
        for array in sorted(arrays - {o.name for o in self.graph.objects.values()}):
            pointer = self.graph.pointer_called(array)
            owner = not_null(state.values.get(pointer, pointer)) if pointer is not None else None
            if isinstance(owner, t.Const) and owner.value in self.graph.objects and owner is not t.ZERO:
                found[array] = self.graph.objects[owner.value].name
            elif isinstance(owner, t.Var) and owner is not pointer and (name := self.graph.pointee_name(owner)):
                found[array] = name
        return found

    # -- branching ----------------------------------------------------------------------------------------------------

    def under(self, state: _S, condition: t.Condition, loc: Loc | None) -> _S | None:
        """``state`` restricted to ``condition``; None where that is impossible."""
        if condition is t.TRUE:
            return state
        combined = t.conjuncts(t.conjunction((*state.condition, condition)))
        whole = t.conjunction(combined)
        if whole is t.FALSE or not self._feasible(whole):
            return None
        return replace(state, condition=combined, lines=with_line(state.lines, loc))

    def leave(self, state: _S, condition: t.Condition, exit: Exit) -> None:
        """Where ``condition`` holds the run ends with ``exit``."""
        left = self.under(state, condition, None)
        if left is not None:
            self.finished.append(Finished(left, exit))

    def _feasible(self, condition: t.Condition) -> bool:
        found = self.known.get(condition)
        if found is None:
            self._comparisons += len(frozenset[t.Compare]().union(*map(_comparisons, t.conjuncts(condition))))
            if self._comparisons > MAX_COMPARISONS:
                return self.beyond()
            found = self.known[condition] = feasible(condition, solver=self._worth_solving(condition))
        return found

    def _worth_solving(self, condition: t.Condition) -> bool:
        """Whether Z3 is asked where isl cannot tell: a few times, and for low degrees only, since it may take seconds
        beyond. A path kept though it is infeasible costs less.
        """
        degree = max(map(_degree, t.conjuncts(condition)), default=0)
        if degree <= 1:
            return True
        self._questions += 1
        return degree <= MAX_SOLVER_DEGREE and self._questions <= self.questions

    # -- meeting ------------------------------------------------------------------------------------------------------

    def same(self, state: _S) -> tuple[object, ...]:
        """What states that become one must agree in, beside their values."""
        return state.unknowns

    def needed(self, label: str) -> frozenset[t.Var]:
        """The variables whose values are kept at ``label``."""
        return self.live[label]

    def merged(self, label: str, states: list[_S]) -> list[_S]:
        """States of equal effect on what is still needed at ``label`` become one."""
        needed = self.needed(label)
        groups: dict[tuple[object, ...], list[_S]] = {}
        for state in states:
            kept = {v: term for v, term in state.values.items() if v in needed and term is not v}
            key = (tuple(sorted(kept.items(), key=lambda pair: pair[0].key)), self.same(state), state.exact)
            groups.setdefault(key, []).append(replace(state, values=kept))
        return [self.union(group) for group in groups.values()]

    def union(self, group: list[_S]) -> _S:
        """One state for several with the same values."""
        first = group[0]
        if len(group) == 1:
            return first
        lines = tuple(dict.fromkeys(line for state in group for line in state.lines))
        return replace(first, condition=join([state.condition for state in group]), lines=tuple(sorted(lines)))


@lru_cache(REMEMBERED_CONJUNCTS)
def _comparisons(part: t.Condition) -> frozenset[t.Compare]:
    return frozenset(node for node in t.walk(part) if isinstance(node, t.Compare))


@lru_cache(REMEMBERED_CONJUNCTS)
def _degree(part: t.Condition) -> int:
    sums = (node for node in t.walk(part) if isinstance(node, t.Sum))
    return max((sum(e for _, e in m) for node in sums for m, _ in node.items), default=0)


def line_of(loc: Loc | None) -> int:
    """The line of a place; 0 where there is none."""
    return loc.line if loc is not None else 0


def with_line(lines: tuple[int, ...], loc: Loc | None) -> tuple[int, ...]:
    """``lines`` with that of ``loc``."""
    if loc is None or not loc.line or loc.line in lines:
        return lines
    return (*lines, loc.line)
