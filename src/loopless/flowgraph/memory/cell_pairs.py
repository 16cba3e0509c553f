"""A second cell of each array that is followed: enough for what is said of each two of its elements.

The first one is that of :mod:`loopless.flowgraph.memory.array_cells`. The second one is at a place of its own, which
is any, too: it may be that of the first. Writes set both. No read takes its value from the second cell, so runs are the
same with it as without. What is shown of the two cells the judge uses of elements that are read
(:mod:`loopless.check.certificates.judge`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from loopless import terms as t
from loopless.flowgraph.memory.array_cells import first_content, what_becomes
from loopless.flowgraph.model import Block, Flowgraph, FollowedCell, Kind, Load, Statement, VariableInfo


def with_pairs(graph: Flowgraph) -> Flowgraph:
    """``graph``, which follows cells, with a second one of each object; itself where it follows none."""
    if not graph.cells:
        return graph
    names = {var.name for var in graph.variables}
    pairs = {number: _second(first, names) for number, first in graph.cells.items()}
    fresh: dict[t.Var, VariableInfo] = {}
    blocks: dict[str, Block] = {}
    for block in graph.blocks.values():
        statements = list(_statements(block, pairs, fresh))
        if block.label == graph.entry:
            begin = [part for one in pairs.values() for part in first_content(graph, one)]
            statements = [*begin, *statements]
        blocks[block.label] = replace(block, statements=tuple(statements))
    infos = {
        var: VariableInfo(var, var.name, kind)
        for one in pairs.values()
        for var, kind in ((one.cell, Kind.TEMPORARY), (one.number, Kind.PLACE))
    }
    variables = {**graph.variables, **infos, **fresh}
    return replace(graph, blocks=blocks, variables=variables, pairs=pairs, elsewhere=graph.elsewhere | fresh.keys())


def _second(first: FollowedCell, names: set[str]) -> FollowedCell:
    """A second cell, with names of its own."""
    stem = first.cell.name.removesuffix("[k]")
    while f"{stem}[l]" in names or f"{stem}.l" in names:
        stem += "'"
    names |= {f"{stem}[l]", f"{stem}.l"}
    cell, number = t.Var(f"{stem}[l]", first.cell.type), t.Var(f"{stem}.l", first.number.type)
    return replace(first, cell=cell, number=number, before=frozenset())


def _statements(block: Block, pairs: dict[int, FollowedCell], fresh: dict[t.Var, VariableInfo]) -> Iterator[Statement]:
    for index, statement in enumerate(block.statements):
        yield statement
        if not isinstance(statement, Load):
            yield from what_becomes(statement, pairs, f"{block.label}#{index} l", fresh)
