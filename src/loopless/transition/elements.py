"""Elements of arrays that a step reads: what is known of the element that is followed holds of them, too.

The place of a followed cell is any but fixed, so what is shown of it at a cutpoint holds of all elements at once, and
of the one that is read. This is the instance at one index of an invariant with a universally quantified one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, permutations

from loopless import terms as t
from loopless.flowgraph.model import Flowgraph, FollowedCell
from loopless.limits.verification import MAX_INSTANCES, MAX_PAIR_INSTANCES
from loopless.logic.steps import INPUT, Instance
from loopless.records import dataclass


@dataclass(frozen=True, slots=True)
class ReadElement:
    """The element at a byte ``offset`` is read where ``when`` holds, and held ``value`` at the cutpoint."""

    cell: FollowedCell
    when: t.Condition
    offset: t.Term
    value: t.Term

    @property
    def index(self) -> t.Term:
        """Its number in the object."""
        return self.offset // self.cell.size


def instances(graph: Flowgraph, read: Sequence[ReadElement]) -> tuple[Instance, ...]:
    """What is known holds with the cells of some objects where these are read, and with those of all others there, too,
    where that is one place.
    """
    chosen: list[tuple[ReadElement, ...]] = [()]
    for number in dict.fromkeys(one.cell.object for one in read):
        chosen += [(*others, one) for others in chosen for one in read if one.cell.object == number]
    found: list[Instance] = []
    for number, some in enumerate(islice(chosen, 1, 1 + MAX_INSTANCES)):
        values: dict[t.Var, t.Term] = {}
        when: t.Condition = t.TRUE
        for one in some:
            values |= {**_any_cell(graph, one.cell, one.index, str(number)), one.cell.cell: one.value}
            aligned = (one.offset % one.cell.size).eq(0)
            when = t.conjunction((when, one.when, aligned, graph.has_element(one.cell, one.index)))
        found.append(Instance(when, values))
        indices = {one.index for one in some}
        others = [cell for cell in graph.cells.values() if all(cell is not one.cell for one in some)]
        if len(indices) == 1 and others:
            (index,) = indices
            inside = t.conjunction(graph.has_element(cell, index) for cell in others)
            more: dict[t.Var, t.Term] = {}
            for cell in others:
                more |= _any_cell(graph, cell, index, str(number))
            found.append(Instance(when & inside, {**more, **values}))
    for number, second in graph.pairs.items():
        found += _of_pairs(graph, graph.cells[number], second, read)
    return tuple(one for one in found if one.when is not t.FALSE)


def _of_pairs(
    graph: Flowgraph, first: FollowedCell, second: FollowedCell, read: Sequence[ReadElement]
) -> Iterator[Instance]:
    """What is known holds with both cells of an object, where these are two of the elements that are read and of the
    cells as they are.
    """
    told: list[tuple[t.Condition, t.Term, t.Term]] = [(t.TRUE, cell.number, cell.cell) for cell in (first, second)]
    for element in read:
        if element.cell.object == first.object:
            inside = (element.when, (element.offset % first.size).eq(0), graph.has_element(first, element.index))
            told.append((t.conjunction(inside), element.index, element.value))
    for number, (one, other) in enumerate(islice(permutations(dict.fromkeys(told), 2), 1, 1 + MAX_PAIR_INSTANCES)):
        name = f"{first.number.name}{number}"
        values = {**_any_cell(graph, first, one[1], name), **_any_cell(graph, second, other[1], name)}
        yield Instance(one[0] & other[0], {**values, first.cell: one[2], second.cell: other[2]})


def _any_cell(graph: Flowgraph, cell: FollowedCell, index: t.Term, name: str) -> Mapping[t.Var, t.Term]:
    """The variables of a cell at a place: all but that are any."""
    variables = cell.variables | graph.elsewhere
    return {**{var: t.Var(f"{INPUT}{name}>{var.name}", var.type) for var in variables}, cell.number: index}
