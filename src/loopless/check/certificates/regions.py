"""What can happen between cutpoints, block by block, for Z3: the judge's own reading of a flowgraph.

From a cutpoint on, each block has a guard (whether a run is there) and what variables hold then. A check that fails
ends the run; so does an assumption. Memory that something writes, what calls do and what comes from outside is any
value of its type.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import z3  # type: ignore[import-untyped]

from loopless.check.certificates.theories import Integers
from loopless.errors import UsageError
from loopless.flowgraph.model import (
    Allocate,
    Assign,
    Assume,
    Block,
    Call,
    Check,
    Copy,
    End,
    Expire,
    Fill,
    Flowgraph,
    Havoc,
    Load,
    Statement,
    Store,
)
from loopless.graphs import cycles, reachable
from loopless.source.ir import Loc
from loopless.terms import Const, Node, Read, Term, Var, read, walk

Values = dict[Var, Any]


@dataclass(frozen=True, slots=True)
class Arrival:
    """A run at a cutpoint: ``guard`` says whether it comes there from the beginning of the region, with ``values``."""

    target: str
    guard: Any
    values: Mapping[Var, Any]


@dataclass(frozen=True, slots=True)
class Event:
    """Something that must not happen, or ends a run: ``kind`` is "violation", "unfollowed" or the kind of undefined
    behaviour; ``guard`` says whether it does.
    """

    kind: str
    guard: Any
    loc: Loc | None


def check_cut(graph: Flowgraph, labels: Collection[str]) -> None:
    """Raises ``UsageError`` unless every cycle goes through one of ``labels``."""
    for label in labels:
        if label not in graph.blocks:
            raise UsageError(f"the certificate has an invariant at {label}, which is no place of the program")
    rest = {
        label: [target for target in block.successors if target not in labels]
        for label, block in graph.blocks.items()
        if label not in labels
    }
    found = cycles(rest)
    if found:
        raise UsageError(f"the certificate has no invariant on the cycle through {found[0][0]}")


def nodes_of(graph: Flowgraph) -> list[Node]:
    """All terms and conditions of the flowgraph: a theory has to hold them."""
    found: list[Node] = list(graph.variables)
    for block in graph.blocks.values():
        for statement in block.statements:
            match statement:
                case Assign():
                    found.append(statement.value)
                case Check() | Assume():
                    found.append(statement.condition)
                case Load():
                    found += [statement.address.object, statement.address.offset]
                case _:
                    pass
        for edge in block.edges:
            found += [edge.condition, *(term for _, term in edge.assigns)]
    return found


class Region:
    """All that happens from ``start`` on until the next of ``labels``; ``start`` None is the beginning of the run."""

    def __init__(  # noqa: PLR0917  as the judge has them
        self,
        graph: Flowgraph,
        theory: Integers,
        start: str | None,
        labels: Collection[str],
        violates: Callable[[Statement | End], bool],
        follows: Callable[[Call], bool],
        chosen: Mapping[tuple[str, int], int] | None = None,
    ) -> None:
        """``chosen``: values from outside that are these, by block and number of the statement."""
        self.graph, self.theory, self.labels = graph, theory, labels
        self.violates, self.follows, self.chosen = violates, follows, chosen or {}
        self.arrivals: list[Arrival] = []
        self.events: list[Event] = []
        self.first: Values = {var: theory.fresh(var.name, var) for var in graph.variables}
        self.written = _written(graph)
        self._coming: dict[str, list[tuple[Any, Values]]] = {}
        entry = graph.entry if start is None else start
        true = z3.BoolVal(True, theory.context)
        if start is None and entry in labels:
            self.arrivals.append(Arrival(entry, true, self.first))
            return
        blocks = graph.blocks
        inside = reachable((entry,), lambda at: [t for t in blocks[at].successors if t not in labels])
        self._coming[entry] = [(true, self.first)]
        for label in _ordered(graph, inside, labels, entry):
            if self._coming.get(label):
                self._block(blocks[label], *self._met(self._coming.pop(label)))

    def _met(self, coming: list[tuple[Any, Values]]) -> tuple[Any, Values]:
        if len(coming) == 1:
            return coming[0][0], dict(coming[0][1])
        guard = z3.Or([one for one, _ in coming])
        values: Values = {}
        for var in self.graph.variables:
            held = coming[-1][1][var]
            for one, other in reversed(coming[:-1]):
                if not other[var].eq(held):
                    held = z3.If(one, other[var], held)
            values[var] = held
        return guard, values

    def _block(self, block: Block, guard: Any, values: Values) -> None:
        if block.label in self.graph.blocked:
            self.events.append(Event("unfollowed", guard, None))
            return
        for index, statement in enumerate(block.statements):
            if isinstance(statement, Havoc) and (block.label, index) in self.chosen:
                values[statement.target] = self.theory.number(self.chosen[block.label, index])
                continue
            guard = self._statement(statement, guard, values)
        if block.end is not None:
            end = block.end
            if self.violates(end):
                self.events.append(Event("violation", guard, end.loc))
            elif end.kind in ("undefined", "unsupported"):
                kind = "unreachable" if end.kind == "undefined" else "unfollowed"
                self.events.append(Event(kind, guard, end.loc))
            return
        for edge in block.edges:
            taken = z3.And(guard, self.theory.node(edge.condition, values))
            new = {target: self.theory.node(term, values) for target, term in edge.assigns}
            after = {**values, **new}
            if edge.target in self.labels:
                self.arrivals.append(Arrival(edge.target, taken, after))
            else:
                self._coming.setdefault(edge.target, []).append((taken, after))

    def _statement(self, statement: Statement, guard: Any, values: Values) -> Any:
        theory = self.theory
        match statement:
            case Assign(target=target, value=value):
                values[target] = theory.node(value, values)
            case Check(condition=condition):
                holds = theory.node(condition, values)
                kind = "violation" if self.violates(statement) else statement.kind
                self.events.append(Event(kind, z3.And(guard, z3.Not(holds)), statement.loc))
                return z3.And(guard, holds)
            case Assume(condition=condition):
                return z3.And(guard, theory.node(condition, values))
            case Havoc(target=target) | Allocate(target=target):
                values[target] = theory.fresh(target.name, target)
            case Load(target=target, target_object=owner):
                values[target] = self._loaded(statement, values)
                if owner is not None:
                    values[owner] = theory.fresh(owner.name, owner)
            case Call():
                if not self.follows(statement):
                    self.events.append(Event("unfollowed", guard, statement.loc))
                for part in (statement.target, statement.target_object, *statement.changes):
                    if part is not None:
                        values[part] = theory.fresh(part.name, part)
            case Store() | Fill() | Copy() | Expire():
                pass  # no variable stands for what these change
        return guard

    def _loaded(self, load: Load, values: Values) -> Any:
        """What is read: of an object that nothing writes, what it holds there; else any value."""
        owner = load.address.object
        number = owner.value if isinstance(owner, Const) else None
        kept = self.written is not None and number in self.graph.objects and number not in self.written
        if not kept or number is None or load.target_object is not None or load.target.type.width is None:
            return self.theory.fresh(load.target.name, load.target)
        element: Term = read(self.graph.objects[number].name, load.address.offset, load.type)
        if not isinstance(element, Read):
            return self.theory.fresh(load.target.name, load.target)
        return self.theory.node(element, values)


def _written(graph: Flowgraph) -> frozenset[int] | None:
    """The objects that statements write; None where these may be any."""
    found: set[int] = set()
    owner: Term | None
    for block in graph.blocks.values():
        for statement in block.statements:
            match statement:
                case Store(address=address, objects=objects) | Fill(address=address, objects=objects):
                    owner = address.object
                case Copy(target=target, objects=objects):
                    owner = target.object
                case Call(writes_memory=True, objects=objects):
                    owner = None
                case Expire(object=number):
                    owner, objects = None, frozenset((number,))
                case _:
                    continue
            if isinstance(owner, Const):
                found.add(owner.value)
            elif objects is None or any(number < 0 for number in objects):
                return None
            else:
                found |= objects
    return frozenset(found)


def _ordered(graph: Flowgraph, inside: Collection[str], labels: Collection[str], entry: str) -> list[str]:
    """The blocks, each behind those that lead to it."""
    waiting = dict.fromkeys(inside, 0)
    for label in inside:
        for target in graph.blocks[label].successors:
            if target in waiting and target not in labels:
                waiting[target] += 1
    order: list[str] = []
    ready = [entry]
    while ready:
        label = ready.pop()
        order.append(label)
        for target in graph.blocks[label].successors:
            if target in waiting and target not in labels:
                waiting[target] -= 1
                if not waiting[target]:
                    ready.append(target)
    return order


def reads_memory(node: Node) -> bool:
    """Whether a term or condition reads memory."""
    return any(isinstance(part, Read) for part in walk(node))
