"""Liveness of variables over a flowgraph, and removal of what nothing uses."""

from __future__ import annotations

from collections.abc import Mapping

from loopless import terms as t
from loopless.flowgraph.dataflow import solution
from loopless.flowgraph.def_use import edge_uses, end_uses, overwritten_by, used_by
from loopless.flowgraph.model import Assign, Block, Edge, Havoc, Load, Origin, Statement


def live_at_entry(
    blocks: Mapping[str, Block],
    live_at_ends: frozenset[t.Var],
    behind: Mapping[str, frozenset[t.Var]] | None = None,
) -> dict[str, frozenset[t.Var]]:
    """Per block the variables whose value at its start may be used; ``live_at_ends`` are used by every end of a run
    (globals and pointees, which the caller sees). ``behind``: what is live in blocks that edges lead to but that are
    not among ``blocks``.
    """
    return _solved({label: _Transfer(block, live_at_ends) for label, block in blocks.items()}, behind or {})


class _Transfer:
    """What a block does to liveness, worked out once: live at its start is what its statements use, and of what is live
    behind them what they do not overwrite.
    """

    __slots__ = ("block", "fixed", "overwritten", "plain", "sources", "touched", "used")

    def __init__(self, block: Block, live_at_ends: frozenset[t.Var]) -> None:
        self.block = block
        self.touched = [(overwritten_by(statement), used_by(statement)) for statement in block.statements]
        """Of each statement what it overwrites, and what it reads."""
        used: set[t.Var] = set()
        overwritten: set[t.Var] = set()
        for targets, read in reversed(self.touched):
            if targets:
                used.difference_update(targets)
                overwritten.update(targets)
            used |= read
        fixed: set[t.Var] = set()
        for edge in block.edges:
            fixed |= edge.condition.variables
        if block.end is not None:
            fixed |= end_uses(block.end) | live_at_ends
        self.fixed = fixed
        """What is live behind the statements, whatever is live in the blocks that follow."""
        self.overwritten = overwritten
        self.used = used | (fixed - overwritten)
        """What is live at the start, whatever is live in the blocks that follow."""
        self.plain = [edge.target for edge in block.edges if not edge.assigns]
        self.sources = [edge for edge in block.edges if edge.assigns]

    def behind(self, live: Mapping[str, frozenset[t.Var]]) -> set[t.Var]:
        """What is live behind the statements; of what does not depend on the blocks that follow only some."""
        needed: set[t.Var] = set()
        for label in self.plain:
            needed |= live[label]
        for edge in self.sources:
            needed |= edge_uses(edge, live[edge.target])
        return needed

    def before(self, live: Mapping[str, frozenset[t.Var]]) -> frozenset[t.Var]:
        """What is live at the start."""
        needed = self.behind(live)
        needed -= self.overwritten
        needed |= self.used
        return frozenset(needed)


def _solved(transfers: Mapping[str, _Transfer], behind: Mapping[str, frozenset[t.Var]]) -> dict[str, frozenset[t.Var]]:
    """The least solution: what is live in a block depends on what is live in those that follow it."""
    live: dict[str, frozenset[t.Var]] = {label: frozenset() for label in transfers} | dict(behind)
    sources: dict[str, list[str]] = {label: [] for label in transfers}
    for label, transfer in transfers.items():
        for target in transfer.block.successors:
            if target in sources:
                sources[target].append(label)
    # Blocks are in textual order, in which those that follow mostly come later.
    return solution(list(transfers)[::-1], live, lambda label: transfers[label].before(live), sources)


def without_dead(
    blocks: Mapping[str, Block], live_at_ends: frozenset[t.Var], named: frozenset[t.Var]
) -> tuple[dict[str, Block], dict[str, frozenset[t.Var]]]:
    """The blocks without assignments that nothing uses, and the liveness that remains.

    Assignments to ``named`` variables stay: users may ask for their values.
    """
    current = dict(blocks)
    transfers = {label: _Transfer(block, live_at_ends) for label, block in current.items()}
    while True:
        live = _solved(transfers, {})
        cleaned = {label: _clean(transfers[label], live, named) for label in current}
        changed = [label for label, block in current.items() if cleaned[label] is not block]
        if not changed:
            return current, live
        current = cleaned
        transfers |= {label: _Transfer(current[label], live_at_ends) for label in changed}


def _clean(transfer: _Transfer, live: Mapping[str, frozenset[t.Var]], named: frozenset[t.Var]) -> Block:
    block = transfer.block
    needed = transfer.behind(live) | transfer.fixed
    kept: list[Statement] = []
    for statement, (targets, read) in zip(reversed(block.statements), reversed(transfer.touched), strict=True):
        asked_for = isinstance(statement, Assign) and statement.target in named
        asked_for = asked_for or (isinstance(statement, Havoc) and statement.target in named and not _begins(statement))
        if targets and not asked_for and not any(target in needed for target in targets) and _is_pure(statement):
            continue
        needed.difference_update(targets)
        needed |= read
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
