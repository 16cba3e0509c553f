"""Elements of arrays that a step reads: what is known of the element that is followed holds of them, too.

The place of a followed cell is any but fixed, so what is shown of it at a cutpoint holds of all elements at once, and
of the one that is read. This is the instance at one index of an invariant with a universally quantified one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice

from loopless import terms as t
from loopless.flowgraph.model import Flowgraph, FollowedCell
from loopless.limits.verification import MAX_INSTANCES
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
            values |= {**_any_cell(graph, one.cell, one.index, number), one.cell.cell: one.value}
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
                more |= _any_cell(graph, cell, index, number)
            found.append(Instance(when & inside, {**more, **values}))
    return tuple(one for one in found if one.when is not t.FALSE)


def _any_cell(graph: Flowgraph, cell: FollowedCell, index: t.Term, number: int) -> Mapping[t.Var, t.Term]:
    """The variables of a cell at a place: all but that are any."""
    variables = cell.variables | graph.elsewhere
    return {**{var: t.Var(f"{INPUT}{number}>{var.name}", var.type) for var in variables}, cell.number: index}
