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
    sizes = [min(layer.size, layer.stride) for layer in (one, other)]  # numbers of nodes have no size
    overlap = (one.offset - offset).lt(sizes[1]) & (offset - one.offset).lt(sizes[0])
    return feasible(when & one.where & where & overlap)


def joined_sums(value: t.Term, there: t.Condition) -> t.Term:
    """``value`` with each sum over positions and the summand of the next one behind it as the sum over one position
    more, where ``there`` says that the first has no negative number of positions.
    """
    replaced: dict[t.Term, t.Term] = {}
    for part in t.walk(value):
        if isinstance(part, t.Sum):
            longer = _longer(part, there)
            if longer is not None:
                replaced[part] = longer
    return t.replace_terms(value, replaced) if replaced else value


def _longer(whole: t.Sum, there: t.Condition) -> t.Term | None:
    """A sum of terms with fewer of them, one of which is a sum over one position more; None where there is none."""
    for monomial, factor in whole.items:
        part = monomial[0][0] if len(monomial) == 1 and monomial[0][1] == 1 else None
        if not isinstance(part, t.Aggregate) or part.kind != "sum":
            continue
        length, summand = part.outside[0], part.inside[0]
        assert isinstance(summand, t.Term)
        try:
            following = t.substitute(summand, {part.bound[0]: length})
        except t.TermTooLarge:
            continue
        longer = t.total(part.bound[0], length + 1, summand)
        found = whole + factor * (longer - part - following)
        if len(t.polynomial(found)) < len(whole.items) and not feasible(there & length.lt(0)):
            return found
    return None
