"""Slicing of a loop by variables of interest: which variables and which branches matter (Proteus, step 1).

A variable matters if its value after the loop is asked for, if it decides how the loop, or one inside it, is left, or
if a variable that matters depends on it; a branch matters if something that matters happens on one of its sides only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from enum import IntEnum

from loopless import terms as t
from loopless.flowgraph.def_use import definitions, used_by
from loopless.flowgraph.model import Assume, Block, Call, Check, Copy, Fill, Flowgraph, LoopInfo, Pointer, Store
from loopless.graphs import dominators, predecessors, reachable
from loopless.records import dataclass
from loopless.source.vocabulary import LibraryEffect, effect_of

_SINK = "\0end"


class Writes(IntEnum):
    """What paths tell of what they write to memory: nothing, what they write to objects that no iteration changes for
    others, or also what they write through pointers that iterations move, to nodes of lists.
    """

    NOTHING = 0
    OBJECTS = 1
    NODES = 2


def frees(call: Call) -> bool:
    """Whether a call ends the life of what its first argument points to, and does nothing else."""
    return call.outside and effect_of(call.callee) is LibraryEffect.FREES and isinstance(call.arguments[0], Pointer)


@dataclass(frozen=True, slots=True)
class Relevance:
    """What matters.

    ``variables`` and ``branches`` (labels of blocks) that matter; ``checked``: the blocks whose checks are kept, as all
    that decides whether they are reached matters; ``dropped_checks``: whether some check was left out; ``writes``: what
    matters of what is written to memory.
    """

    variables: frozenset[t.Var]
    branches: frozenset[str]
    checked: frozenset[str]
    dropped_checks: bool
    writes: Writes = Writes.NOTHING

    def keeps(self, label: str, check: Check) -> bool:
        """Whether a check of the block ``label`` is kept."""
        return label in self.checked and check.condition.variables <= self.variables


def relevance(
    graph: Flowgraph,
    loop: LoopInfo,
    interest: Iterable[t.Var],
    *,
    all_checks: bool,
    writes: Writes = Writes.NOTHING,
) -> Relevance:
    """What matters for the values of ``interest`` and for leaving ``loop``.

    With ``all_checks`` every check for undefined behaviour matters; else only those on variables that matter anyway.
    With ``writes`` what is written to memory matters, and where.
    """
    blocks = {label: graph.blocks[label] for label in loop.blocks}
    controls = _control_dependence(loop, blocks)
    matters: set[t.Var | str] = set(interest)
    inner = [info for info in graph.loops if info.header in blocks and info.header != loop.header]
    for label, block in blocks.items():
        if any(_leaves(block, around) for around in (loop, *inner) if label in around.blocks):
            # An edge out of the loop is itself a decision; so is whatever decides that its block is reached.
            matters |= {*controls[label], *([label] if len(block.edges) > 1 else [])}
        for statement in block.statements:
            asked = isinstance(statement, Assume) or (all_checks and isinstance(statement, Check))
            told = writes and isinstance(statement, Store | Fill | Copy)
            told = told or (writes is Writes.NODES and isinstance(statement, Call) and frees(statement))
            if asked or told:
                matters |= used_by(statement) | controls[label]
    depends = _dependencies(blocks, controls)
    found = reachable(matters, lambda node: depends.get(node, ()))
    variables = frozenset(node for node in found if isinstance(node, t.Var))
    branches = frozenset(node for node in found if isinstance(node, str))
    checked = frozenset(label for label in blocks if controls[label] <= branches)
    result = Relevance(variables, branches, checked, dropped_checks=False, writes=writes)
    checks = [(label, s) for label, block in blocks.items() for s in block.statements if isinstance(s, Check)]
    if all(result.keeps(label, check) for label, check in checks):
        return result
    return replace(result, dropped_checks=True)


def _leaves(block: Block, loop: LoopInfo) -> bool:
    return block.end is not None or any(edge.target not in loop.blocks for edge in block.edges)


def _dependencies(blocks: Mapping[str, Block], controls: Mapping[str, set[str]]) -> dict[t.Var | str, set[t.Var | str]]:
    """What variables and branches depend on: a variable on what its values come from and on the branches that decide
    whether it gets them, a branch on its conditions and on the branches that decide whether it is reached.
    """
    found: dict[t.Var | str, set[t.Var | str]] = {}
    for label, block in blocks.items():
        found[label] = {*controls[label], *(var for edge in block.edges for var in edge.condition.variables)}
        for target, read, _ in definitions(block):
            found.setdefault(target, set()).update(read, controls[label])
    return found


def _control_dependence(loop: LoopInfo, blocks: Mapping[str, Block]) -> dict[str, set[str]]:
    """Per block of the loop the branches that decide whether one iteration reaches it (Ferrante et al. 1987)."""
    forward: dict[str, list[str]] = {}
    for label, block in blocks.items():
        targets = (_SINK if e.target == loop.header or e.target not in blocks else e.target for e in block.edges)
        forward[label] = list(dict.fromkeys(targets)) or [_SINK]
    backward = predecessors(forward)
    # Inner loops without an end are tied to the sink, so that every block has a post-dominator.
    from_sink = backward.setdefault(_SINK, [])
    ending = set(reachable((_SINK,), backward.__getitem__))
    from_sink += (label for label in blocks if label not in ending)
    post = dominators(backward, _SINK)
    result: dict[str, set[str]] = {label: set() for label in blocks}
    for label, successors in forward.items():
        if len(successors) < 2:
            continue
        for successor in successors:
            current = successor
            while current not in (post[label], _SINK):
                result[current].add(label)
                current = post[current]
    return result
