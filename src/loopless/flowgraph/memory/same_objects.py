"""Orders of pointers of which nobody knows what they point into, only that it is the same.

In ``p = s->start; end = s->start + s->size; while (p < end)`` both pointers are copies of one, moved by numbers, so
their order is that of their offsets, whatever the object. Which variables hold the same object at a place is a
partition of them: the data flow of Kildall (POPL 1973), for copies alone. Numbers of objects that happen to be equal
say nothing here, since a number may stand for several objects.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from loopless import terms as t
from loopless.flowgraph.dataflow import flow
from loopless.flowgraph.def_use import defined_by, definitions
from loopless.flowgraph.model import Assign, Block, Edge, Havoc, Statement
from loopless.graphs import reachable, reverse_postorder
from loopless.records import dataclass

Partition = dict[t.Var, t.Var]
"""Variables by the first one of those that hold the same."""


@dataclass(frozen=True, slots=True)
class Order:
    """A comparison of two pointers: the variables of their objects, and what it is if these are the same."""

    left: t.Var
    right: t.Var
    condition: t.Condition


def with_orders(blocks: Mapping[str, Block], entry: str, orders: Mapping[t.Var, Order]) -> dict[str, Block]:
    """The blocks in which unknown orders (by their variables) of pointers into surely the same object are known."""
    wanted = _sources(blocks, {v for order in orders.values() for v in (order.left, order.right)})
    before = _partitions(blocks, entry, wanted)
    changed = dict(blocks)
    for label, block in blocks.items():
        if label not in before or not any(isinstance(s, Havoc) and s.target in orders for s in block.statements):
            continue
        now = before[label]
        statements: list[Statement] = []
        for statement in block.statements:
            order = orders.get(statement.target) if isinstance(statement, Havoc) else None
            if isinstance(statement, Havoc) and order is not None and now[order.left] == now[order.right]:
                statements.append(Assign(statement.target, t.ite(order.condition, t.ONE, t.ZERO), statement.loc))
            else:
                statements.append(statement)
            now = _behind(now, statement)
        changed[label] = Block(block.label, tuple(statements), block.edges, block.end)
    return changed


def _sources(blocks: Mapping[str, Block], targets: set[t.Var]) -> list[t.Var]:
    """The variables whose values come to some, by copies."""
    copied: dict[t.Var, set[t.Var]] = {}
    for block in blocks.values():
        for target, _, value in definitions(block):
            if isinstance(value, t.Var):
                copied.setdefault(target, set()).add(value)
    return sorted(reachable(targets, lambda var: copied.get(var, ())))


def _partitions(blocks: Mapping[str, Block], entry: str, variables: list[t.Var]) -> dict[str, Partition]:
    """What holds the same at the start of each block that runs may come to: the coarsest solution."""
    order = reverse_postorder({label: block.successors for label, block in blocks.items()}, entry)

    def onward(label: str, now: Partition) -> Iterator[tuple[str, Partition]]:
        for statement in blocks[label].statements:
            now = _behind(now, statement)
        yield from ((edge.target, _along(now, edge)) for edge in blocks[label].edges)

    return flow(order, {entry: {v: v for v in variables}}, onward, _common)


def _behind(now: Partition, statement: Statement) -> Partition:
    touched = [var for var in defined_by(statement) if var in now]
    if not touched:
        return now
    if isinstance(statement, Assign):
        return _assigned(now, {statement.target: statement.value})
    return _assigned(now, dict.fromkeys(touched, t.ZERO))


def _along(now: Partition, edge: Edge) -> Partition:
    assigned = {var: value for var, value in edge.assigns if var in now}
    return _assigned(now, assigned) if assigned else now


def _assigned(now: Partition, assigned: Mapping[t.Var, t.Term]) -> Partition:
    """Behind a parallel assignment; what is no copy is like nothing else."""
    classes: dict[object, list[t.Var]] = {}
    for var in now:
        value = assigned.get(var, var)
        copied = value if isinstance(value, t.Var) and value in now else None
        key: object = (var,) if copied is None else now[copied]
        classes.setdefault(key, []).append(var)
    return {var: members[0] for members in classes.values() for var in members}


def _common(one: Partition, other: Partition) -> Partition:
    """What holds the same in both."""
    classes: dict[tuple[t.Var, t.Var], list[t.Var]] = {}
    for var in one:
        classes.setdefault((one[var], other[var]), []).append(var)
    return {var: members[0] for members in classes.values() for var in members}
