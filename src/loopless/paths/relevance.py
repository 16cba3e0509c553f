"""Slicing of a loop by variables of interest: which variables and which branches matter (Proteus, step 1).

A variable matters if its value after the loop is asked for, if it decides how the loop is left, or if a variable that
matters depends on it; a branch matters if something that matters happens on one of its sides only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import networkx as nx

from loopless.flowgraph.liveness import defined_by, used_by
from loopless.flowgraph.model import Assume, Block, Check, Flowgraph, LoopInfo, Statement
from loopless.terms import Var

_SINK = "\0end"


@dataclass(frozen=True, slots=True)
class Relevance:
    """``variables`` and ``branches`` (labels of blocks) that matter; ``dropped_checks``: whether checks for undefined
    behaviour of other variables were left out."""

    variables: frozenset[Var]
    branches: frozenset[str]
    dropped_checks: bool


def relevance(graph: Flowgraph, loop: LoopInfo, interest: Iterable[Var], *, all_checks: bool) -> Relevance:
    """What matters for the values of ``interest`` and for leaving ``loop``.

    With ``all_checks`` every check for undefined behaviour matters; else only those on variables that matter anyway.
    """
    blocks = {label: graph.blocks[label] for label in loop.blocks}
    controls = _control_dependence(loop, blocks)
    variables = set(interest)
    branches: set[str] = set()
    leaving = {label for label in blocks if _leaves(blocks[label], loop)}
    # An edge out of the loop is itself a decision; so is whatever decides that its block is reached.
    seeds = {label for label in leaving if len(blocks[label].edges) > 1}
    for label in leaving:
        seeds |= controls[label]
    for label, block in blocks.items():
        if any(isinstance(s, Assume) or (all_checks and isinstance(s, Check)) for s in block.statements):
            seeds |= controls[label]
    _take(seeds, branches, variables, blocks)
    for block in blocks.values():
        for statement in block.statements:
            if isinstance(statement, Assume) or (all_checks and isinstance(statement, Check)):
                variables |= used_by(statement)
    changed = True
    while changed:
        size = len(variables), len(branches)
        for label, block in blocks.items():
            if _touch(block, variables):
                _take(controls[label], branches, variables, blocks)
        changed = (len(variables), len(branches)) != size
    dropped = not all_checks and any(
        isinstance(s, Check) and not s.condition.variables <= variables for b in blocks.values() for s in b.statements
    )
    return Relevance(frozenset(variables), frozenset(branches), dropped)


def _leaves(block: Block, loop: LoopInfo) -> bool:
    return block.end is not None or any(edge.target not in loop.blocks for edge in block.edges)


def _take(labels: Iterable[str], branches: set[str], variables: set[Var], blocks: Mapping[str, Block]) -> None:
    for label in labels:
        if label not in branches:
            branches.add(label)
            for edge in blocks[label].edges:
                variables |= edge.condition.variables


def _touch(block: Block, variables: set[Var]) -> bool:
    """Whether ``block`` does something that matters; what it reads for that is added to ``variables``."""
    found = False
    for edge in block.edges:
        for target, value in edge.assigns:
            if target in variables:
                found = True
                variables |= value.variables
    for statement in reversed(block.statements):
        if _matters(statement, variables):
            found = True
            variables |= used_by(statement)
    return found


def _matters(statement: Statement, variables: set[Var]) -> bool:
    return any(target in variables for target in defined_by(statement))


def _control_dependence(loop: LoopInfo, blocks: Mapping[str, Block]) -> dict[str, set[str]]:
    """Per block of the loop the branches that decide whether one iteration reaches it (Ferrante et al. 1987)."""
    forward: nx.DiGraph[object] = nx.DiGraph()
    forward.add_nodes_from(blocks)
    for label, block in blocks.items():
        for edge in block.edges:
            back = edge.target == loop.header or edge.target not in blocks
            forward.add_edge(label, _SINK if back else edge.target)
        if not block.edges:
            forward.add_edge(label, _SINK)
    backward = forward.reverse()
    # Inner loops without an end are tied to the sink, so that every block has a post-dominator.
    unreached = set(blocks) - set(nx.descendants(backward, _SINK))
    for label in sorted(unreached):
        backward.add_edge(_SINK, label)
    post = nx.immediate_dominators(backward, _SINK)
    result: dict[str, set[str]] = {label: set() for label in blocks}
    for label in blocks:
        successors = list(forward.successors(label))
        if len(successors) < 2:
            continue
        stop = post.get(label)
        for successor in successors:
            current = successor if isinstance(successor, str) else None
            while current is not None and current not in (stop, _SINK):
                result[current].add(label)
                following = post.get(current)
                current = following if isinstance(following, str) and following != current else None
    return result
