"""Liveness of variables over a flowgraph, and removal of what nothing uses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from loopless.flowgraph.model import (
    Allocate,
    Assign,
    Assume,
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
    Origin,
    Pointer,
    Statement,
    Store,
)
from loopless.terms import Node, Var


def used_by(statement: Statement) -> frozenset[Var]:
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
        case Allocate():
            return statement.size.variables
        case Call():
            arguments = (_of(a) if isinstance(a, Pointer) else a.variables for a in statement.arguments)
            return frozenset(statement.reads).union(*arguments)


def _of(pointer: Pointer) -> frozenset[Var]:
    return pointer.object.variables | pointer.offset.variables


def defined_by(statement: Statement) -> tuple[Var, ...]:
    """The variables that ``statement`` changes, or may change where it is a call."""
    more = statement.changes if isinstance(statement, Call) else ()
    return (*overwritten_by(statement), *more)


def overwritten_by(statement: Statement) -> tuple[Var, ...]:
    """The variables that surely have another value behind ``statement``, whatever they were before."""
    match statement:
        case Assign() | Havoc() | Allocate():
            return (statement.target,)
        case Load() | Call():
            return tuple(v for v in (statement.target, statement.target_object) if v is not None)
        case Check() | Assume() | Store() | Fill() | Copy() | Expire():
            return ()


def edge_uses(edge: Edge, live_after: Iterable[Var]) -> set[Var]:
    """The variables needed at the start of ``edge`` where ``live_after`` are needed at its target."""
    wanted = set(live_after)
    assigned = {target for target, _ in edge.assigns}
    # Parallel assignment: sources are read before any target is written.
    sources = {v for target, value in edge.assigns if target in wanted for v in value.variables}
    return (wanted - assigned) | sources | edge.condition.variables


def end_uses(end: End) -> frozenset[Var]:
    """The variables that the end of a run reads."""
    nodes: list[Node] = [n for n in (end.value, end.value_object) if n is not None]
    return frozenset().union(*(node.variables for node in nodes))


def live_at_entry(
    blocks: Mapping[str, Block],
    live_at_ends: frozenset[Var],
    behind: Mapping[str, frozenset[Var]] | None = None,
) -> dict[str, frozenset[Var]]:
    """Per block the variables whose value at its start may be used; ``live_at_ends`` are used by every end of a run
    (globals and pointees, which the caller sees). ``behind``: what is live in blocks that edges lead to but that are
    not among ``blocks``.
    """
    live: dict[str, frozenset[Var]] = {label: frozenset() for label in blocks} | dict(behind or {})
    changed = True
    ordered = list(reversed(list(blocks.values())))
    while changed:
        changed = False
        for block in ordered:
            needed = _before(block, live, live_at_ends)
            if needed != live[block.label]:
                live[block.label] = needed
                changed = True
    return live


def live_at_exit(block: Block, live: Mapping[str, frozenset[Var]], live_at_ends: frozenset[Var]) -> set[Var]:
    """The variables used after the statements of ``block``."""
    needed: set[Var] = set()
    for edge in block.edges:
        needed |= edge_uses(edge, live[edge.target])
    if block.end is not None:
        needed |= end_uses(block.end) | live_at_ends
    return needed


def _before(block: Block, live: Mapping[str, frozenset[Var]], live_at_ends: frozenset[Var]) -> frozenset[Var]:
    needed = live_at_exit(block, live, live_at_ends)
    for statement in reversed(block.statements):
        needed.difference_update(overwritten_by(statement))
        needed |= used_by(statement)
    return frozenset(needed)


def without_dead(
    blocks: Mapping[str, Block], live_at_ends: frozenset[Var], named: frozenset[Var]
) -> tuple[dict[str, Block], dict[str, frozenset[Var]]]:
    """The blocks without assignments that nothing uses, and the liveness that remains.

    Assignments to ``named`` variables stay: users may ask for their values.
    """
    current = dict(blocks)
    while True:
        live = live_at_entry(current, live_at_ends)
        cleaned = {label: _clean(block, live, live_at_ends, named) for label, block in current.items()}
        if all(cleaned[label] is current[label] for label in current):
            return current, live
        current = cleaned


def _clean(
    block: Block, live: Mapping[str, frozenset[Var]], live_at_ends: frozenset[Var], named: frozenset[Var]
) -> Block:
    needed = live_at_exit(block, live, live_at_ends)
    kept: list[Statement] = []
    for statement in reversed(block.statements):
        targets = overwritten_by(statement)
        asked_for = isinstance(statement, Assign) and statement.target in named
        asked_for = asked_for or (isinstance(statement, Havoc) and statement.target in named and not _begins(statement))
        if targets and not asked_for and not any(target in needed for target in targets) and _is_pure(statement):
            continue
        needed.difference_update(targets)
        needed |= used_by(statement)
        kept.append(statement)
    edges = tuple(
        edge
        if all(target in live[edge.target] or target in named for target, _ in edge.assigns)
        else Edge(
            edge.condition,
            edge.target,
            tuple((target, value) for target, value in edge.assigns if target in live[edge.target] or target in named),
            edge.loc,
        )
        for edge in block.edges
    )
    if len(kept) == len(block.statements) and all(a is b for a, b in zip(edges, block.edges, strict=True)):
        return block
    return Block(block.label, tuple(reversed(kept)), edges, block.end)


def _is_pure(statement: Statement) -> bool:
    """Whether nothing but the value would be missed: an input that is read counts even where its value is unused."""
    match statement:
        case Assign():
            return True
        case Load():
            return statement.type.width != 1  # which may be undefined
        case Havoc():
            return statement.origin is not Origin.NONDET
        case _:
            return False


def _begins(havoc: Havoc) -> bool:
    """Whether the statement only says that a variable comes to life."""
    return havoc.origin is Origin.UNINITIALISED
