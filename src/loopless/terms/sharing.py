"""How large terms are written out, and which of their parts get a name so that all is written once.

Terms share their parts: one of twenty steps, each of which speaks of the one before three times, has sixty nodes and a
text of a thousand million. What is short is written out as it is; of what is longer each shared part is written once,
under a name, and so is what is nested deep.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping

from loopless.limits.terms import MAX_PLAIN_DEPTH, MAX_PLAIN_NODES, MAX_SHARED_NODES, MAX_UNNAMED_DEPTH, MIN_NAMED_NODES
from loopless.terms.aggregates import is_open
from loopless.terms.nodes import Aggregate, Condition, Const, Node, Sum, Truth, Var, walk_inside

Uses = Callable[[Node], Iterable[tuple[Node, int]]]
"""The operands of a node, and how often each stands in what is written for it."""


def operands(node: Node) -> Iterator[tuple[Node, int]]:
    """The operands of a node, and how often each stands in its text: the factors of a power side by side."""
    if isinstance(node, Aggregate):
        yield from ((part, 1) for part in node.all_below)
        return
    if not isinstance(node, Sum):
        yield from ((child, 1) for child in node.children)
        return
    for monomial, _ in node.items:
        yield from monomial


_measures: dict[Node, tuple[int, int]] = {}


def is_plain(node: Node) -> bool:
    """Whether the node is written out whole: neither long nor deep."""
    size, depth = measured(node)
    return size <= MAX_PLAIN_NODES and depth <= MAX_PLAIN_DEPTH


def depth_of(node: Node) -> int:
    """How deep the node is nested."""
    return measured(node)[1]


def measured(node: Node, named: Collection[Node] = ()) -> tuple[int, int]:
    """How many parts the node has written out, and how deep they are nested, where those ``named`` are names."""
    known = {} if named else _measures  # nodes live as long as their process
    if node not in known:
        for part in walk_inside(node, lambda below: below in known or (below is not node and below in named)):
            known[part] = _measure(part, known, named)
    return known[node]


def _measure(
    node: Node, known: Mapping[Node, tuple[int, int]], named: Container[Node], uses: Uses = operands
) -> tuple[int, int]:
    """The same by the measures ``known`` of the operands, those in ``named`` being a name."""
    size, deepest = 1 + (len(node.items) if isinstance(node, Sum) else 0), 0
    for child, times in uses(node):
        below, depth = (1, 0) if child in named else known[child]
        size += times * below
        deepest = max(deepest, depth)
    return min(size, 10 * MAX_SHARED_NODES), deepest + 1


def number_of_parts(node: Node) -> int:
    """How many different parts the node has."""
    return sum(1 for _ in walk_inside(node))


def parts_to_name(root: Node, uses: Uses = operands, known: Container[Node] = ()) -> list[Node]:
    """The parts to write under names, so that all that is written is linear in the number of different parts; each
    stands behind those in it. ``known`` parts have names already, and are not looked into.
    """
    order = list(walk_inside(root, lambda part: part is not root and part in known))
    times: dict[Node, int] = {}
    for part in order:
        for child, each in uses(part):
            times[child] = times.get(child, 0) + each
    named: dict[Node, None] = dict.fromkeys(part for part in times if part in known)
    found: list[Node] = []
    measures: dict[Node, tuple[int, int]] = {}
    for part in order:
        size, depth = measures[part] = _measure(part, measures, named, uses)
        if part is root or isinstance(part, Var | Const | Truth) or is_open(part):
            continue
        if (times.get(part, 0) > 1 and size >= MIN_NAMED_NODES) or depth > MAX_UNNAMED_DEPTH:
            named[part] = None
            found.append(part)
    return found


class FreshNames:
    """Names for parts: t1, t2, ... for terms, c1, c2, ... for conditions, none of those that are ``taken``."""

    def __init__(self, taken: Container[str]) -> None:
        self._taken = taken
        self._last = {"t": 0, "c": 0}

    def __call__(self, part: Node) -> str:
        letter = "c" if isinstance(part, Condition) else "t"
        while True:
            self._last[letter] += 1
            name = f"{letter}{self._last[letter]}"
            if name not in self._taken:
                return name
