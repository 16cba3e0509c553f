"""The loop forest of a flowgraph: natural loops by dominators, nested; irreducible regions are refused by name."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence

import networkx as nx

from loopless.flowgraph.model import Block, LoopInfo
from loopless.refusals import Reason, Refused
from loopless.source import ir


def loop_forest(
    blocks: Mapping[str, Block],
    entry: str,
    function: ir.Function,
    places: Mapping[str, ir.Loc | None],
    jumps: Mapping[str, Sequence[str]] | None = None,
) -> tuple[tuple[LoopInfo, ...], tuple[Refused, ...]]:
    """The loops in the order of their headers in the text, and a refusal for each irreducible cycle.

    ``places`` has the first source place of each block; ``jumps`` the places that control may go to from blocks whose
    edges do not tell.
    """
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(blocks)
    for block in blocks.values():
        graph.add_edges_from((block.label, target) for target in block.successors)
        graph.add_edges_from((block.label, target) for target in (jumps or {}).get(block.label, ()))
    order = {label: index for index, label in enumerate(blocks)}
    dominators = nx.immediate_dominators(graph, entry)
    back: dict[str, list[str]] = {}
    for source, target in graph.edges:
        if _dominates(dominators, target, source, entry):
            back.setdefault(target, []).append(source)
    bodies = {header: _body(graph, header, latches) for header, latches in back.items()}
    irreducible = _irreducible(graph, back, function, places, order)
    headers = sorted(bodies, key=lambda label: order[label])
    parents = {header: _parent(header, bodies) for header in headers}
    marks = _marks(function)
    loops = []
    names = _names(headers, back, marks, places, function, bodies, blocks)
    for header in headers:
        loc = _loop_place(header, back[header], marks, places, function)
        loops.append(
            LoopInfo(
                names[header],
                header,
                frozenset(bodies[header]),
                tuple(sorted(back[header], key=lambda label: order[label])),
                _exits(bodies[header], blocks, order),
                parents[header],
                _depth(header, parents),
                loc,
                loc.line if loc else 0,
                loc.column if loc else 0,
                loc.file if loc else "",
                str(loc.inlined_at) if loc is not None and loc.inlined_at is not None else None,
            )
        )
    return tuple(loops), irreducible


def _dominates(dominators: Mapping[str, str | None], upper: str, lower: str, entry: str) -> bool:
    current: str | None = lower
    while current is not None:
        if current == upper:
            return True
        if current == entry:
            return False
        current = dominators.get(current)
    return False


def _body(graph: nx.DiGraph[str], header: str, latches: Sequence[str]) -> set[str]:
    body = {header}
    stack = [latch for latch in latches if latch != header]
    while stack:
        label = stack.pop()
        if label not in body:
            body.add(label)
            stack.extend(graph.predecessors(label))
    return body


def _irreducible(
    graph: nx.DiGraph[str],
    back: Mapping[str, list[str]],
    function: ir.Function,
    places: Mapping[str, ir.Loc | None],
    order: Mapping[str, int],
) -> tuple[Refused, ...]:
    """What still has a cycle after the back edges are gone has several entries."""
    rest = graph.copy()
    rest.remove_edges_from((latch, header) for header, latches in back.items() for latch in latches)
    found = []
    for component in nx.strongly_connected_components(rest):
        if len(component) > 1 or any(rest.has_edge(label, label) for label in component):
            first = min(component, key=lambda label: order[label])
            loc = next((places[label] for label in sorted(component, key=order.__getitem__) if places[label]), None)
            where = str(loc) if loc else function.source_name
            detail = f"jumps enter the cycle through {first!r} at more than one place (a goto into a loop)"
            found.append((order[first], Refused(Reason.IRREDUCIBLE, where, detail)))
    return tuple(refused for _, refused in sorted(found, key=lambda pair: pair[0]))


def _parent(header: str, bodies: Mapping[str, set[str]]) -> str | None:
    around = [other for other, body in bodies.items() if other != header and header in body]
    return min(around, key=lambda other: len(bodies[other]), default=None)


def _depth(header: str, parents: Mapping[str, str | None]) -> int:
    depth = 1
    current = parents[header]
    while current is not None:
        depth += 1
        current = parents[current]
    return depth


def _exits(body: set[str], blocks: Mapping[str, Block], order: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    return tuple(
        (label, index)
        for label in sorted(body, key=lambda label: order[label])
        for index, edge in enumerate(blocks[label].edges)
        if edge.target not in body
    )


def _marks(function: ir.Function) -> dict[str, ir.LoopMark]:
    return {block.label: block.loop for block in function.blocks if block.loop is not None}


def _loop_place(
    header: str,
    latches: Sequence[str],
    marks: Mapping[str, ir.LoopMark],
    places: Mapping[str, ir.Loc | None],
    function: ir.Function,
) -> ir.Loc | None:
    for latch in latches:
        mark = marks.get(latch)
        if mark is not None and mark.start is not None:
            return mark.start
    for label in (header, *latches):
        if places[label] is not None:
            return places[label]
    return function.loc


def _names(  # noqa: PLR0917
    headers: Sequence[str],
    back: Mapping[str, list[str]],
    marks: Mapping[str, ir.LoopMark],
    places: Mapping[str, ir.Loc | None],
    function: ir.Function,
    bodies: Mapping[str, set[str]],
    blocks: Mapping[str, Block],
) -> dict[str, str]:
    """``file:function:line:column``; ties get the place of the inlined call, else a hash of the loop's text."""
    plain: dict[str, str] = {}
    longer: dict[str, str] = {}
    for header in headers:
        loc = _loop_place(header, back[header], marks, places, function)
        file = loc.file if loc else "?"
        plain[header] = f"{file}:{function.source_name}:{loc.line if loc else 0}:{loc.column if loc else 0}"
        longer[header] = plain[header] + _inlined_chain(loc)
    names: dict[str, str] = {}
    count = Counter(plain.values())
    count_longer = Counter(longer.values())
    used: Counter[str] = Counter()
    for header in headers:
        name = plain[header]
        if count[name] > 1:
            name = longer[header]
            if count_longer[name] > 1:
                name = f"{name}~{_content_hash(header, bodies[header], blocks)}"
        used[name] += 1
        names[header] = name if used[name] == 1 else f"{name}.{used[name]}"
    return names


def _inlined_chain(loc: ir.Loc | None) -> str:
    chain = ""
    while loc is not None and loc.inlined_at is not None:
        loc = loc.inlined_at
        chain += f"@{loc.line}:{loc.column}"
    return chain


def _content_hash(header: str, body: set[str], blocks: Mapping[str, Block]) -> str:
    shown = "|".join(
        f"{type(statement).__name__}{getattr(statement, 'value', '')!r}{getattr(statement, 'condition', '')!r}"
        for label in sorted(body)
        for statement in blocks[label].statements
    )
    return hashlib.blake2b((header + shown).encode(), digest_size=3).hexdigest()
