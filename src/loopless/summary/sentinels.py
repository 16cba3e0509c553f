"""Where a search surely ends: at an element that was written before, such as the 0 behind a text or a sentinel.

A search looks at elements one after the other until it finds one of some kind. What memory holds there is layers, and
at their borders the kind of elements changes. So a border is a place at which the search may surely find one, and then
it looks at no element behind it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from loopless import terms as t
from loopless.limits.summary import MAX_SENTINELS
from loopless.summary.closed_aggregates import aggregates_in
from loopless.terms.contents import INDEX, Contents


def searches(node: t.Node) -> Iterator[t.Aggregate]:
    """The searches for a first position in ``node`` that read elements."""
    return (search for search in aggregates_in(node, "first") if any(_reads(search)))


def _reads(search: t.Aggregate) -> Iterator[t.Read]:
    return (part for inside in search.inside for part in t.walk_inside(inside) if isinstance(part, t.Read))


def borders(search: t.Aggregate, contents: Contents, values: Mapping[t.Var, t.Term]) -> Iterator[t.Term]:
    """The positions, over what ``values`` speak of, at which the search comes to the borders of layers."""
    (at,) = search.bound
    found: dict[t.Term, None] = {}
    for read in _reads(search):
        offset = t.substitute(read.offset, values)
        step = t.polynomial(offset).get(((at, 1),), 0)
        start = t.substitute(offset, {at: t.ZERO})
        if not step or offset != start + at * step:
            continue
        for layer in contents.get(read.array, ()):
            for index in _of(layer.where) if layer.value is not None else ():
                position = _divided(layer.start + layer.stride * index - start, step)
                if position is not None and not any(isinstance(part, t.Read) for part in t.walk_inside(position)):
                    found[position] = None
    yield from list(found)[:MAX_SENTINELS]


def _of(where: t.Condition) -> Iterator[t.Term]:
    """The indices at which comparisons of a condition change."""
    for part in t.walk(where):
        if isinstance(part, t.Compare):
            factor = t.polynomial(part.term).get(((INDEX, 1),), 0)
            rest = part.term - INDEX * factor
            if factor in (1, -1) and INDEX not in rest.variables:
                yield rest * -factor


def _divided(term: t.Term, step: int) -> t.Term | None:
    """The quotient, where it has no remainder."""
    items = t.polynomial(term)
    if any(factor % step for factor in items.values()):
        return None
    return t.from_polynomial({part: factor // step for part, factor in items.items()})


def ended(node: t.Node, ends: Mapping[t.Aggregate, t.Term]) -> tuple[t.Node, dict[t.Var, t.Term]]:
    """``node`` with searches that look no further than to these places, which are variables, and what these hold."""
    shorter: dict[t.Term, t.Term] = {}
    values: dict[t.Var, t.Term] = {}
    for number, (search, place) in enumerate(ends.items()):
        end = t.Var(f"{t.OPENED}end {number}", t.INTEGERS)
        (condition,) = search.inside
        assert isinstance(condition, t.Condition)
        shorter[search], values[end] = t.first(search.bound[0], end, condition), place
    return t.replace_terms(node, shorter), values
