"""How many iterations of a loop reach a source line, and whether each begins the body."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from loopless import terms as t
from loopless.bounds import LoopBounds, least
from loopless.bounds.asymptotics.compare import lesser
from loopless.flowgraph.model import Assign, Call, Copy, Fill, Flowgraph, LoopInfo, Store
from loopless.graphs import reachable
from loopless.patterns import pattern
from loopless.records import dataclass

_CONDITION: Final = pattern(r"(?:for|while)\.cond")
_BODY: Final = pattern(r"(?:for|while)\.body")


@dataclass(frozen=True, slots=True)
class LineBound:
    """How many iterations reach a source line of a loop's own body at most in one call."""

    line: int
    upper: t.Term


def line_bounds(graph: Flowgraph, bounds: LoopBounds) -> tuple[LineBound, ...]:
    """How many iterations reach each line; without lines that have a block without a bound, or of a loop inside."""
    loop = bounds.loop
    inlined = loop.loc.inlined_at if loop.loc is not None else None
    found: dict[int, list[str]] = {}
    for label in sorted(loop.blocks):
        block = graph.blocks[label]
        places = [s.loc for s in block.statements] + [e.loc for e in block.edges]
        own = (p for p in places if p is not None and p.line and p.file == loop.file and p.inlined_at == inlined)
        for line in {p.line for p in own}:
            found.setdefault(line, []).append(label)
    known = {label: least(upper) for label, upper in bounds.blocks.items()}
    iterations = known.get(loop.header)
    lines = []
    for line, labels in sorted(found.items()):
        uppers = [known.get(label) for label in _first(graph, loop, labels)]
        if all(known.get(label) is not None for label in labels):
            total = t.add(*(upper for upper in uppers if upper is not None))
            lines.append(
                LineBound(line, total if iterations is None or len(uppers) == 1 else lesser(iterations, total))
            )
    return tuple(lines)


def _first(graph: Flowgraph, loop: LoopInfo, labels: Sequence[str]) -> list[str]:
    """Those of some blocks of a loop of which each iteration that reaches any of them reaches one: the ones that no
    other dominates. Iterations may reach one or the other of these, so that what holds of each does not hold of all
    together.
    """
    found = list(labels)
    for label in labels:
        if label in found and len(found) > 1:
            without = _reached_without(graph, loop, label)
            found = [other for other in found if other == label or other in without]
    return found


def _reached_without(graph: Flowgraph, loop: LoopInfo, barred: str) -> set[str]:
    """The blocks of a loop that an iteration reaches without passing ``barred``."""
    if barred == loop.header:
        return set()
    inside = loop.blocks - {barred}
    return set(reachable((loop.header,), lambda label: [to for to in graph.blocks[label].successors if to in inside]))


def from_header(graph: Flowgraph, loop: LoopInfo) -> bool:
    """Whether the loop is left from its header only, and nothing of its body stands there: whether each time that the
    body is begun is an iteration.

    The compiler names the block of a condition, and the body behind it; a loop without these names (``for (;;)``,
    ``do``) has its body in the header, or may have.
    """
    header = graph.blocks[loop.header]
    inside = [target for target in header.successors if target in loop.blocks]
    return (
        all(label == loop.header for label, _ in loop.exits)
        and all(graph.blocks[label].end is None for label in loop.blocks)
        and _CONDITION.match(loop.header) is not None
        and len(inside) == 1
        and _BODY.match(inside[0]) is not None
        and not any(isinstance(s, Store | Fill | Copy | Call) for s in header.statements)
        and not any(_is_named(graph, s.target) for s in header.statements if isinstance(s, Assign))
    )


def _is_named(graph: Flowgraph, var: t.Var) -> bool:
    info = graph.variables.get(var)
    return info is not None and info.is_source
