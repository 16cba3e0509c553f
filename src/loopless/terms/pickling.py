"""Values with terms in them as bytes, for other processes: linear in the distinct nodes, at any depth."""

from __future__ import annotations

import io
import pickle
from collections.abc import Iterator
from typing import Any

from loopless.terms.nodes import Node


def dumps(value: object) -> bytes:
    """``value`` pickled; ``pickle.loads`` reads it.

    Pickling goes down into what it meets, and a term may be nested deeper than that can go. Then all nodes stand first,
    operands before operators, so that each finds its operands pickled already.
    """
    try:
        return pickle.dumps(value)
    except RecursionError:
        found = _Collector(io.BytesIO())
        found.dump(value)
        return pickle.dumps(_InOrder(tuple(_ordered(found.nodes)), value))


class _InOrder:
    def __init__(self, nodes: tuple[Node, ...], value: object) -> None:
        self.nodes = nodes
        self.value = value

    def __reduce__(self) -> tuple[Any, ...]:
        return _value, (self.nodes, self.value)


def _value(_: tuple[Node, ...], value: object) -> object:
    return value


class _Collector(pickle.Pickler):
    """Finds the nodes that a value leads to, without going into them."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file)
        self.nodes: dict[Node, None] = {}

    def persistent_id(self, obj: object) -> str | None:
        """Says of a node that it is stored elsewhere."""
        if not isinstance(obj, Node):
            return None
        self.nodes[obj] = None
        return "node"


def _ordered(roots: dict[Node, None]) -> Iterator[Node]:
    """The nodes and all that their fields lead to, which is more than operands, each behind those."""
    seen: set[Node] = set()
    stack = [(node, False) for node in reversed(roots)]
    while stack:
        node, expanded = stack.pop()
        if expanded:
            yield node
        elif node not in seen:
            seen.add(node)
            stack.append((node, True))
            stack.extend((part, False) for part in _nodes_in(node._fields))


def _nodes_in(fields: tuple[Any, ...]) -> Iterator[Node]:
    for field in fields:
        if isinstance(field, Node):
            yield field
        elif isinstance(field, tuple):
            yield from _nodes_in(field)
