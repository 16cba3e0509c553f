"""Uses and definitions: the variables that each statement, edge and end of a run reads, and those that it assigns.

The one table of them. A pass that asks only which variables a statement touches asks here, and does not match on the
classes of statements.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from loopless import terms as t
from loopless.flowgraph.model import (
    Allocate,
    Assign,
    Assume,
    Begin,
    Block,
    Call,
    Check,
    Copy,
    Edge,
    End,
    Expire,
    Fill,
    Havoc,
    Load,
    Pointer,
    Statement,
    Store,
)


def used_by(statement: Statement) -> frozenset[t.Var]:
    """The variables that ``statement`` reads."""
    match statement:
        case Assign():
            return statement.value.variables
        case Check() | Assume():
            return statement.condition.variables
        case Havoc() | Expire():
            return frozenset()
        case Load():
            return _of(statement.address)
        case Store():
            extra = statement.value_object.variables if statement.value_object is not None else frozenset()
            return _of(statement.address) | statement.value.variables | extra
        case Fill():
            return _of(statement.address) | statement.byte.variables | statement.length.variables
        case Copy():
            return _of(statement.target) | _of(statement.source) | statement.length.variables
        case Allocate() | Begin():
            return statement.size.variables
        case Call():
            arguments = (_of(a) if isinstance(a, Pointer) else a.variables for a in statement.arguments)
            drawn = (statement.target,) if statement.drawn and statement.target is not None else ()
            return frozenset((*statement.reads, *drawn)).union(*arguments)


def _of(pointer: Pointer) -> frozenset[t.Var]:
    return pointer.object.variables | pointer.offset.variables


def defined_by(statement: Statement) -> tuple[t.Var, ...]:
    """The variables that ``statement`` changes, or may change where it is a call."""
    more = statement.changes if isinstance(statement, Call) else ()
    return (*overwritten_by(statement), *more)


def overwritten_by(statement: Statement) -> tuple[t.Var, ...]:
    """The variables that surely have another value behind ``statement``, whatever they were before."""
    match statement:
        case Assign() | Havoc() | Allocate():
            return (statement.target,)
        case Load() | Call():
            return tuple(v for v in (statement.target, statement.target_object) if v is not None)
        case Check() | Assume() | Store() | Fill() | Copy() | Begin() | Expire():
            return ()


def edge_uses(edge: Edge, live_after: Iterable[t.Var]) -> set[t.Var]:
    """The variables needed at the start of ``edge`` where ``live_after`` are needed at its target."""
    wanted = set(live_after)
    assigned = {target for target, _ in edge.assigns}
    # Parallel assignment: sources are read before any target is written.
    sources = {v for target, value in edge.assigns if target in wanted for v in value.variables}
    return (wanted - assigned) | sources | edge.condition.variables


def end_uses(end: End) -> frozenset[t.Var]:
    """The variables that the end of a run reads."""
    nodes: list[t.Node] = [n for n in (end.value, end.value_object) if n is not None]
    return frozenset().union(*(node.variables for node in nodes))


def definitions(block: Block) -> Iterator[tuple[t.Var, frozenset[t.Var], t.Term | None]]:
    """All that a block and its edges assign, in their order: the target, the variables that its value comes from, and
    the value where that is a term.
    """
    for statement in block.statements:
        targets = defined_by(statement)
        if targets:
            read, value = used_by(statement), statement.value if isinstance(statement, Assign) else None
            yield from ((target, read, value) for target in targets)
    for edge in block.edges:
        yield from ((target, value.variables, value) for target, value in edge.assigns)


def assigned_in(blocks: Iterable[Block]) -> frozenset[t.Var]:
    """The variables that the statements or the edges of some blocks assign, or may assign."""
    found: set[t.Var] = set()
    for block in blocks:
        for statement in block.statements:
            found.update(defined_by(statement))
        for edge in block.edges:
            found.update(target for target, _ in edge.assigns)
    return frozenset(found)


def dependencies(blocks: Iterable[Block]) -> dict[t.Var, set[t.Var]]:
    """By variable that is assigned in some blocks those that its values there come from."""
    found: dict[t.Var, set[t.Var]] = {}
    for block in blocks:
        for target, read, _ in definitions(block):
            found.setdefault(target, set()).update(read)
    return found
