"""What cases say of memory: in few words, whether two say the same, and whether layers lie apart."""

from __future__ import annotations

from collections.abc import Sequence

from loopless import terms as t
from loopless.logic import feasible
from loopless.terms.contents import Overlapping, element


def same_where(left: t.Contents, right: t.Contents, when: t.Condition) -> bool:
    """Whether memory holds the same by both wherever ``when`` holds; False where that is not found out."""
    try:
        return all(_same_object(left, right, array, when) for array in sorted({*left, *right}))
    except (Overlapping, t.TermTooLarge):
        return False


def _same_object(left: t.Contents, right: t.Contents, array: str, when: t.Condition) -> bool:
    """Whether they say the same of the elements that a layer of one of them may have: all others are as before."""
    first, second = left.get(array, ()), right.get(array, ())
    if first == second:
        return True
    if any(layer.value is None for layer in (*first, *second)):
        return False
    for layer in (*first, *second):
        there = when & layer.where

        def decide(part: t.Condition, there: t.Condition = there) -> t.Condition:
            return decided_where(part, there)

        one, other = (element(contents, array, layer.offset, layer.type, decide) for contents in (left, right))
        if one is None or other is None or (one is not other and feasible(there & one.ne(other))):
            return False
    return True


def decided_where(part: t.Condition, there: t.Condition) -> t.Condition:
    """``part``, or false or true where that is known to be the same wherever ``there`` holds."""
    if not feasible(there & part):
        return t.FALSE
    return part if feasible(there & ~part) else t.TRUE


def meets(newer: Sequence[t.Layer], layer: t.Layer, when: t.Condition) -> bool:
    """Whether some of the ``newer`` layers may say something of an element of ``layer`` where ``when`` holds."""
    return any(_meet(other, layer, when) for other in newer)


_OTHER = t.Var("~other", t.INTEGERS)
"""The index of an element of a second layer."""


def _meet(one: t.Layer, other: t.Layer, when: t.Condition) -> bool:
    """Whether elements of both layers may share a byte where ``when`` holds."""
    moved = {t.INDEX: _OTHER}
    try:
        where, offset = t.substitute(other.where, moved), t.substitute(other.offset, moved)
    except t.TermTooLarge:
        return True
    overlap = (one.offset - offset).lt(other.size) & (offset - one.offset).lt(one.size)
    return feasible(when & one.where & where & overlap)
