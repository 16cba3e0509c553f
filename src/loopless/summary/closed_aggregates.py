"""Aggregates that are simple, once it is known what they read: numbers, closed forms, searches that find nothing.

Of tables alone a look at few positions tells the number. A sum of a polynomial has a closed form. What a search looks
for may be decided by where its positions lie.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from loopless import terms as t
from loopless.limits.flowgraph import MAX_LOOKUP_ENTRIES
from loopless.recurrences.expoly import NoClosedForm
from loopless.recurrences.sums import sum_over
from loopless.stepping import enumerating
from loopless.summary.function_memory import Deciding

PLACE: Final = t.Var(f"{t.OPENED}place", t.INTEGERS)
"""A position of an aggregate."""


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


def aggregates_in(node: t.Node, kind: str) -> Iterator[t.Aggregate]:
    """The aggregates of a kind in ``node``, but for those inside others."""
    return (part for part in t.walk(node) if isinstance(part, t.Aggregate) and part.kind == kind)


def simplified(node: t.Node, decide: Deciding) -> t.Node:
    """``node``, in whose searches comparisons are decided by where their positions lie, and whose sums are closed forms
    where these are known; comparisons with what is left are decided.
    """
    found: dict[t.Term, t.Term] = {search: _by_position(search, decide) for search in aggregates_in(node, "first")}
    found |= {total: _closed_sum(total, decide) for total in aggregates_in(node, "sum")}
    found = {old: new for old, new in found.items() if old is not new}
    if not found:
        return node
    left = t.replace_terms(node, found)
    return t.with_comparisons(left, decide) if isinstance(left, t.Condition) else left


def _by_position(search: t.Aggregate, decide: Deciding) -> t.Term:
    """A search for what is left of its condition at its positions."""
    (length,), (at,), (condition,) = search.outside, search.bound, search.inside
    there = t.substituted(condition, {at: PLACE})
    inside = decide.under(PLACE.ge(0) & PLACE.lt(length))
    simple = simplified(there, inside)
    assert isinstance(simple, t.Condition)
    left = t.with_comparisons(simple, lambda one: one if _looks(one) else inside(one))
    return search if left is there else t.first(PLACE, length, left)


def _closed_sum(total: t.Aggregate, decide: Deciding) -> t.Term:
    """A sum as a closed form, where it has one."""
    (length,), (at,), (summand,) = total.outside, total.bound, total.inside
    if _looks(summand) or decide(length.ge(0)) is not t.TRUE:
        return total
    there = t.substituted(summand, {at: PLACE})
    assert isinstance(there, t.Term)
    try:
        return sum_over(there, PLACE, t.ZERO, length)
    except NoClosedForm:
        return total


def _looks(node: t.Node) -> bool:
    return any(isinstance(part, t.Read | t.Aggregate) for part in t.walk_inside(node))
