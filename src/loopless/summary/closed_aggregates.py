"""Aggregates of tables alone: what they come to is a number, which a look at few positions tells."""

from __future__ import annotations

from loopless import terms as t
from loopless.limits.flowgraph import MAX_LOOKUP_ENTRIES
from loopless.stepping import enumerating


def without_closed(node: t.Node) -> t.Node:
    """``node`` with numbers in place of aggregates that speak of nothing but numbers, and need a look at no more
    positions than tables have entries.
    """
    closed = [part for part in t.walk(node) if isinstance(part, t.Aggregate) and _is_closed(part)]
    numbers: dict[t.Term, t.Term] = {part: t.const(n) for part in closed if (n := _number(part)) is not None}
    return t.replace_terms(node, numbers) if numbers else node


def _is_closed(node: t.Aggregate) -> bool:
    return not node.variables and not any(isinstance(part, t.Read) for part in t.walk_inside(node))


def _number(node: t.Aggregate) -> int | None:
    """What a closed aggregate comes to; None where that is not seen soon."""
    if node.kind == "earliest":
        (condition,) = node.inside
        assert isinstance(condition, t.Condition)
        enumerating(MAX_LOOKUP_ENTRIES, "a table")
        for at in range(MAX_LOOKUP_ENTRIES):
            there = t.substitute(condition, {node.bound[0]: t.const(at)})
            if there is t.TRUE:
                return at
            if there is not t.FALSE:
                return None
        return None
    length = node.outside[0]
    if not isinstance(length, t.Const) or length.value > MAX_LOOKUP_ENTRIES:
        return None
    enumerating(max(0, length.value), "a table")
    try:
        return t.evaluate(node, {})
    except t.EvaluationError:
        return None
