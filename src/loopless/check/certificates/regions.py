"""What can happen between cutpoints, block by block: the judge's own reading of a flowgraph.

From a cutpoint on, each block has a guard (whether a run is there) and what variables hold then, as terms over what
they held at the cutpoint and over fresh variables for what comes from outside. A check that fails ends the run; so does
an assumption. Memory that something writes, what calls do and what comes from outside is any value of its type.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping

from loopless import terms as t
from loopless.errors import UsageError
from loopless.flowgraph.model import (
    Allocate,
    Assign,
    Assume,
    Begin,
    Block,
    Call,
    Check,
    Copy,
    End,
    Expire,
    Fill,
    Flowgraph,
    FollowedCell,
    Havoc,
    Load,
    Statement,
    Store,
)
from loopless.graphs import cycles, reachable
from loopless.limits.check import MAX_COMPARED_READS, MAX_SEPARATE_WAYS
from loopless.records import dataclass
from loopless.source.ir import Loc

Values = dict[t.Var, t.Term]


@dataclass(frozen=True, slots=True)
class Arrival:
    """A run at a cutpoint: ``guard`` says whether it comes there from the beginning of the region, with ``values``."""

    target: str
    guard: t.Condition
    values: Mapping[t.Var, t.Term]


@dataclass(frozen=True, slots=True)
class Event:
    """Something that must not happen, or ends a run: ``kind`` is "violation", "unfollowed" or the kind of undefined
    behaviour; ``guard`` says whether it does.
    """

    kind: str
    guard: t.Condition
    loc: Loc | None


@dataclass(frozen=True, slots=True)
class ElementRead:
    """An element of a followed object, at a byte ``offset``, is read where ``guard`` holds, and nothing has written it
    since the cutpoint: it held ``value`` there.
    """

    object: int
    guard: t.Condition
    offset: t.Term
    value: t.Term


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


def multiplies(graph: Flowgraph) -> bool:
    """Whether the function multiplies variables: products of values that are choices are hard for solvers."""
    for block in graph.blocks.values():
        parts: list[t.Node] = [one.value for one in block.statements if isinstance(one, Assign)]
        parts += [one.condition for one in block.statements if isinstance(one, Assume | Check)]
        parts += [part for edge in block.edges for part in (edge.condition, *(term for _, term in edge.assigns))]
        for node in (node for part in parts for node in t.walk(part)):
            if isinstance(node, t.Sum) and any(sum(e for _, e in m) > 1 for m, _ in node.items):
                return True
    return False


class CutpointRegion:
    """All that happens from ``start`` on until the next of ``labels``; ``start`` None is the beginning of the run."""

    def __init__(
        self,
        graph: Flowgraph,
        start: str | None,
        labels: Collection[str],
        violates: Callable[[Statement | End], bool],
        follows: Callable[[Call], bool],
        chosen: Mapping[tuple[str, int], int] | None = None,
    ) -> None:
        """``chosen``: values from outside that are these, by block and number of the statement."""
        self.graph, self.start, self.labels = graph, start, labels
        self.violates, self.follows, self.chosen = violates, follows, chosen or {}
        self.arrivals: list[Arrival] = []
        self.events: list[Event] = []
        self.facts: list[t.Condition] = []
        """What holds of the values that are read, whatever happens."""
        self.written = _written(graph)
        self.apart = multiplies(graph)
        self.elements: list[ElementRead] = []
        self.of_elements: list[t.Condition] = []
        """What holds of the values of elements that are read."""
        self._stores: dict[int, list[tuple[t.Condition, t.Term, t.Term]]] = {}
        """By followed object, what was stored where since the cutpoint, in the order of ways: when, where and what."""
        self._lost = {number: t.Var(f"lost of {number}", t.INTEGERS) for number in graph.cells}
        """By followed object a variable that is 0 as long as all that has written it are such stores."""
        self._fresh = 0
        self._coming: dict[str, list[tuple[t.Condition, Values]]] = {}
        self._reads: list[tuple[Load, int, t.Term, t.Term, t.Var]] = []
        self._versions = {
            number: t.Var(f"version of {number}", t.INTEGERS) for number in _read_twice(graph) | graph.cells.keys()
        }
        """By object a variable for how often it was written: what it holds is the same where that is."""
        entry = graph.entry if start is None else start
        if start is None and entry in labels:
            self.arrivals.append(Arrival(entry, t.TRUE, {}))
            return
        blocks = graph.blocks
        inside = reachable((entry,), lambda at: [to for to in blocks[at].successors if to not in labels])
        self._coming[entry] = [(t.TRUE, dict.fromkeys((*self._versions.values(), *self._lost.values()), t.ZERO))]
        for label in _ordered(graph, inside, labels, entry):
            coming = self._coming.pop(label, [])
            if self.apart and len(coming) <= MAX_SEPARATE_WAYS:
                for guard, values in coming:
                    self._block(blocks[label], guard, dict(values))
            elif coming:
                self._block(blocks[label], *self._met(coming))

    def _met(self, coming: list[tuple[t.Condition, Values]]) -> tuple[t.Condition, Values]:
        if len(coming) == 1:
            return coming[0][0], dict(coming[0][1])
        values: Values = {}
        for var in dict.fromkeys(var for _, held in coming for var in held):
            found = coming[-1][1].get(var, var)
            for guard, held in reversed(coming[:-1]):
                found = t.ite(guard, held.get(var, var), found)
            values[var] = found
        return t.disjunction(guard for guard, _ in coming), values

    def _block(self, block: Block, guard: t.Condition, values: Values) -> None:
        if block.label in self.graph.blocked:
            self._event("unfollowed", guard, None)
            return
        for index, statement in enumerate(block.statements):
            if isinstance(statement, Havoc) and (block.label, index) in self.chosen:
                values[statement.target] = t.const(self.chosen[block.label, index])
                continue
            guard = self._statement(statement, guard, values)
        if block.end is not None:
            end = block.end
            if self.violates(end):
                self._event("violation", guard, end.loc)
            elif end.kind in ("undefined", "unsupported"):
                self._event("unreachable" if end.kind == "undefined" else "unfollowed", guard, end.loc)
            return
        for edge in block.edges:
            taken = guard & t.substitute(edge.condition, values)
            if taken is t.FALSE:
                continue
            new = {target: t.substitute(term, values) for target, term in edge.assigns}
            after = {**values, **new}
            if edge.target in self.labels:
                self.arrivals.append(Arrival(edge.target, taken, after))
            else:
                self._coming.setdefault(edge.target, []).append((taken, after))

    def _event(self, kind: str, guard: t.Condition, loc: Loc | None) -> None:
        if guard is not t.FALSE:
            self.events.append(Event(kind, guard, loc))

    def _any(self, var: t.Var) -> t.Var:
        """Any value of the variable's type: a variable that nothing else speaks of."""
        self._fresh += 1
        return t.Var(f"{var.name}!{self._fresh}", var.type)

    def _statement(self, statement: Statement, guard: t.Condition, values: Values) -> t.Condition:
        self._changed(statement, values)
        self._stored(statement, guard, values)
        match statement:
            case Assign(target=target, value=value):
                values[target] = t.substitute(value, values)
            case Check(condition=condition):
                holds = t.substitute(condition, values)
                kind = "violation" if self.violates(statement) else statement.kind
                self._event(kind, guard & ~holds, statement.loc)
                return guard & holds
            case Assume(condition=condition):
                return guard & t.substitute(condition, values)
            case Havoc(target=target) | Allocate(target=target):
                values[target] = self._any(target)
            case Load(target=target, target_object=owner):
                values[target] = self._loaded(statement, values)
                self._read(statement, guard, values)
                if owner is not None:
                    values[owner] = self._any(owner)
            case Call():
                if not self.follows(statement):
                    self._event("unfollowed", guard, statement.loc)
                for part in (statement.target, statement.target_object, *statement.changes):
                    if part is not None:
                        values[part] = self._any(part)
            case Store() | Fill() | Copy() | Begin() | Expire():
                pass  # no variable stands for what these change
        return guard

    def _loaded(self, load: Load, values: Values) -> t.Term:
        """What is read: of an object that nothing writes, what it holds there; else any value, but the same where it is
        read at the same place, and as the same type, with no write in between.
        """
        owner, offset = t.substitute(load.address.object, values), t.substitute(load.address.offset, values)
        number = owner.value if isinstance(owner, t.Const) else None
        kept = self.written is not None and number in self.graph.objects and number not in self.written
        if number is None or load.target_object is not None:
            return self._any(load.target)
        if kept:
            held = load.type if load.target.type.width is not None else t.IntType(None)
            return t.read(self.graph.objects[number].name, offset, held)
        found = self._any(load.target)
        if number not in self._versions:
            return found
        version = values[self._versions[number]]
        self.facts += [
            ~version.eq(then) | ~offset.eq(at) | found.eq(value)
            for other, owned, then, at, value in self._reads[-MAX_COMPARED_READS:]
            if (owned, other.type, other.target.type) == (number, load.type, load.target.type)
        ]
        self._reads.append((load, number, version, offset, found))
        return found

    def _read(self, load: Load, guard: t.Condition, values: Values) -> None:
        """Notes what is read of a followed object, as far as it is known: what was stored there since the cutpoint, or
        what the element was at the cutpoint.
        """
        owner, found = t.substitute(load.address.object, values), values[load.target]
        cell = self.graph.cells.get(owner.value) if isinstance(owner, t.Const) else None
        if cell is None or values[self._lost[cell.object]] is not t.ZERO:
            return
        bits = cell.cell.type.width
        if load.type.width != bits or load.target.type.width != bits:
            return
        offset = t.substitute(load.address.offset, values)
        # What is read of the followed cell is what that holds: the value that stands for others may be the same.
        second = self.graph.pairs.get(cell.object)
        for one in (cell,) if second is None else (cell, second):
            held = t.wrap(values.get(one.cell, one.cell), load.target.type)
            self.of_elements.append(t.implies(guard & one.hit(offset), found.eq(held)))
        kept = guard
        for then, at, value in reversed(self._stores.get(cell.object, ())):
            stored = t.wrap(value, load.target.type)
            self.of_elements.append(t.implies(kept & then & at.eq(offset), found.eq(stored)))
            kept = kept & ~(then & at.eq(offset))
        value = t.wrap(found, cell.cell.type)
        for other in self.elements[-MAX_COMPARED_READS:]:  # both are the element of the cutpoint
            if other.object == cell.object:
                both = other.guard & kept & other.offset.eq(offset)
                self.of_elements.append(t.implies(both, other.value.eq(value)))
        self.elements.append(ElementRead(cell.object, kept, offset, value))

    def _stored(self, statement: Statement, guard: t.Condition, values: Values) -> None:
        """Notes what a statement does to followed objects."""
        written = frozenset((statement.object,)) if isinstance(statement, Begin) else _writes(statement)
        for number, lost in self._lost.items():
            if written is not None and number not in written:
                continue
            cell = self.graph.cells[number]
            if (
                isinstance(statement, Store)
                and isinstance(statement.address.object, t.Const)
                and statement.value_object is None
                and statement.type.width == cell.cell.type.width
            ):
                offset, value = (t.substitute(part, values) for part in (statement.address.offset, statement.value))
                self._stores.setdefault(number, []).append((guard, offset, value))
                continue
            self._fresh += 1
            values[lost] = t.const(self._fresh)

    def any_cell(self, cell: FollowedCell, index: t.Term) -> dict[t.Var, t.Term]:
        """The variables of a cell as they are, at the cutpoint, in a run whose place is ``index``: all but the place
        are any. So are those that stand for elements elsewhere.
        """
        variables = sorted(cell.variables | self.graph.elsewhere, key=lambda var: var.key)
        return {**{var: self._any(var) for var in variables}, cell.number: index}

    def _changed(self, statement: Statement, values: Values) -> None:
        """What a statement may write has another version from then on."""
        written = _writes(statement)
        for number, var in self._versions.items():
            if written is None or number in written:
                self._fresh += 1
                values[var] = t.const(self._fresh)


def _read_twice(graph: Flowgraph) -> frozenset[int]:
    """The objects that several statements read."""
    loads = (s.address.object for block in graph.blocks.values() for s in block.statements if isinstance(s, Load))
    return frozenset(n for n, times in Counter(o.value for o in loads if isinstance(o, t.Const)).items() if times > 1)


def _written(graph: Flowgraph) -> frozenset[int] | None:
    """The objects that statements write; None where these may be any."""
    every = [_writes(statement) for block in graph.blocks.values() for statement in block.statements]
    return None if None in every else frozenset(number for one in every if one is not None for number in one)


def _writes(statement: Statement) -> frozenset[int] | None:
    """The objects that a statement writes; None where these may be any."""
    owner: t.Term | None
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
            return frozenset()
    if isinstance(owner, t.Const):
        return frozenset((owner.value,))
    return None if objects is None or any(number < 0 for number in objects) else objects


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
