"""The loop forest of a flowgraph: natural loops by dominators, nested; irreducible regions are refused by name."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from loopless.flowgraph.model import Block, LoopInfo
from loopless.graphs import cycles, dominators, predecessors, reachable
from loopless.patterns import pattern
from loopless.refusals import Reason, Refused
from loopless.source import ir


def loop_forest(
    blocks: Mapping[str, Block],
    entry: str,
    function: ir.SourceFunction,
    places: Mapping[str, ir.Loc | None],
    jumps: Mapping[str, Sequence[str]] | None = None,
) -> tuple[tuple[LoopInfo, ...], tuple[Refused, ...]]:
    """The loops in the order of their headers in the text, and a refusal for each irreducible cycle.

    ``places`` has the first source place of each block; ``jumps`` the places that control may go to from blocks whose
    edges do not tell.
    """
    graph = {
        label: list(dict.fromkeys((*block.successors, *(jumps or {}).get(label, ()))))
        for label, block in blocks.items()
    }
    order = {label: index for index, label in enumerate(blocks)}
    nearest = dominators(graph, entry)
    back: dict[str, list[str]] = {}
    for source, targets in graph.items():
        for target in targets:
            if _dominates(nearest, target, source):
                back.setdefault(target, []).append(source)
    sources = predecessors(graph)
    bodies = {header: _body(sources, header, latches) for header, latches in back.items()}
    irreducible = _irreducible(graph, back, function, places, order)
    headers = sorted(bodies, key=lambda label: order[label])
    parents = {header: _parent(header, bodies) for header in headers}
    marks = _marks(function, blocks)
    loops = []
    names = _names(headers, back, marks, places, function, bodies, blocks)
    for header in headers:
        loc = _loop_place(header, back[header], marks, places, function, blocks)
        loops.append(
            LoopInfo(
                names[header],
                header,
                frozenset(bodies[header]),
                tuple(sorted(back[header], key=lambda label: order[label])),
                exits_of(bodies[header], blocks),
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


def _dominates(nearest: Mapping[str, str], upper: str, lower: str) -> bool:
    current: str | None = lower
    while current is not None and current != upper:
        current = nearest.get(current)
    return current is not None


def _body(sources: Mapping[str, Sequence[str]], header: str, latches: Sequence[str]) -> set[str]:
    return set(reachable((header, *latches), lambda label: sources[label] if label != header else ()))


def _irreducible(
    graph: Mapping[str, Sequence[str]],
    back: Mapping[str, list[str]],
    function: ir.SourceFunction,
    places: Mapping[str, ir.Loc | None],
    order: Mapping[str, int],
) -> tuple[Refused, ...]:
    """What still has a cycle after the back edges are gone has several entries."""
    rest = {label: [t for t in targets if label not in back.get(t, ())] for label, targets in graph.items()}
    found = []
    for cycle in cycles(rest):
        first = cycle[0]
        loc = next((places[label] for label in cycle if places[label]), None)
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


def exits_of(body: AbstractSet[str], blocks: Mapping[str, Block]) -> tuple[tuple[str, int], ...]:
    """The edges that leave a loop with these blocks, in the order of ``blocks``."""
    return tuple(
        (label, index)
        for label, block in blocks.items()
        if label in body
        for index, edge in enumerate(block.edges)
        if edge.target not in body
    )


_PART: Final = pattern(r"(.+)\.after\d+", re.DOTALL)
"""The name of what stands behind a check in a block, which has become a block of its own."""


def _marks(function: ir.SourceFunction, blocks: Mapping[str, Block]) -> dict[str, ir.LoopMark]:
    found = {block.label: block.loop for block in function.blocks if block.loop is not None}
    parts = ((label, _PART.fullmatch(label)) for label in blocks if label not in found)
    return found | {label: found[part[1]] for label, part in parts if part is not None and part[1] in found}


def _loop_place(
    header: str,
    latches: Sequence[str],
    marks: Mapping[str, ir.LoopMark],
    places: Mapping[str, ir.Loc | None],
    function: ir.SourceFunction,
    blocks: Mapping[str, Block],
) -> ir.Loc | None:
    for latch in latches:
        mark = marks.get(latch)
        if mark is not None and mark.start is not None:
            return mark.start
    for label in (header, *latches):
        loc = places[label]
        if loc is not None:
            backs = (edge.loc for at in latches for edge in blocks[at].edges if edge.target == header)
            return _in_loop(loc, [back for back in backs if back is not None])
    return function.loc


def _in_loop(loc: ir.Loc, backs: Sequence[ir.Loc]) -> ir.Loc:
    """Of a place in an inlined function, that of the call, where the way back to the header is not in that function:
    the loop begins with the call.
    """
    depth = min((len(back.frames) for back in backs), default=len(loc.frames))
    frames = loc.frames
    return frames[max(0, len(frames) - depth)]


def _names(  # noqa: PLR0917
    headers: Sequence[str],
    back: Mapping[str, list[str]],
    marks: Mapping[str, ir.LoopMark],
    places: Mapping[str, ir.Loc | None],
    function: ir.SourceFunction,
    bodies: Mapping[str, set[str]],
    blocks: Mapping[str, Block],
) -> dict[str, str]:
    """``file:function:line:column``, of an inlined loop as in its own function, with the place of the call behind it;
    ties get a hash of the loop's text.
    """
    plain: dict[str, str] = {}
    for header in headers:
        loc = _loop_place(header, back[header], marks, places, function, blocks)
        file = loc.file if loc else "?"
        own = loc.function if loc is not None and loc.inlined_at is not None else function.source_name
        place = f"{loc.line if loc else 0}:{loc.column if loc else 0}"
        plain[header] = f"{file}:{own}:{place}{_inlined_chain(loc)}"
    names: dict[str, str] = {}
    count = Counter(plain.values())
    used: Counter[str] = Counter()
    for header in headers:
        name = plain[header]
        if count[name] > 1:
            name = f"{name}~{_content_hash(header, bodies[header], blocks)}"
        used[name] += 1
        names[header] = name if used[name] == 1 else f"{name}.{used[name]}"
    return names


def _inlined_chain(loc: ir.Loc | None) -> str:
    calls = loc.frames[1:] if loc is not None else ()
    return "".join(f"@{call.function}:{call.line}:{call.column}" for call in calls)


def _content_hash(header: str, body: set[str], blocks: Mapping[str, Block]) -> str:
    shown = "|".join(
        f"{type(statement).__name__}{getattr(statement, 'value', '')!r}{getattr(statement, 'condition', '')!r}"
        for label in sorted(body)
        for statement in blocks[label].statements
    )
    return hashlib.blake2b((header + shown).encode(), digest_size=3).hexdigest()
