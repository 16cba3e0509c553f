"""What a program sums over the elements of arrays: how often a value stands there, what they add up to.

A loop accumulates where each iteration adds to a variable what one element counts for, and goes to the next element.
What elements count for is then a term over an element, its place, and variables that the loop does not change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from loopless import terms as t
from loopless.flowgraph.model import Flowgraph, FollowedCell, Load
from loopless.limits.verification import MAX_SUM_PLACES, MAX_SUMMED_TERMS
from loopless.records import dataclass
from loopless.transition.relation import Step, TransitionSystem
from loopless.verification.kinds import Kinds

PLACE: Final = t.Var("place", t.INTEGERS)
"""Stands for the number of an element."""


@dataclass(frozen=True, slots=True)
class Summed:
    """What elements count for: ``term`` over ``element``, one of any array with elements of this type, and
    :data:`PLACE`. ``bits``: sums are modulo 2 to the power of these, None where they are whole.
    """

    element: t.Var
    term: t.Term
    bits: int | None

    def of(self, place: t.Term, value: t.Term) -> t.Term:
        """What one element counts for."""
        return t.substitute(self.term, {PLACE: place, self.element: value})

    @property
    def beside(self) -> frozenset[t.Var]:
        """The variables beside the element on which that depends."""
        return self.term.variables - {PLACE, self.element}


@dataclass(frozen=True, slots=True)
class Accumulation:
    """The loop with header ``label`` adds what elements of ``object`` count for to ``var``. ``below``: how far it has
    come, the number of the next element, or of the last one where it goes down; ``limits``: variables that stay as
    they are there and may be places.
    """

    label: str
    var: t.Var
    object: int
    summed: Summed
    below: t.Term
    limits: tuple[t.Term, ...]


def accumulations(system: TransitionSystem, cells: Mapping[int, FollowedCell]) -> list[Accumulation]:
    """Those of a program's loops. ``system``: without cells, with what its steps do to memory; ``cells``: those of
    arrays that are followed.
    """
    found: list[Accumulation] = []
    for step in system.transitions:
        if step.source != step.target:
            continue
        loads = dict(_loads(step, cells))
        for var, new in step.update.items():
            one = _accumulated(system, step, loads, var, new) if loads else None
            if one is not None:
                found.append(one)
    return found


def _loads(step: Step, cells: Mapping[int, FollowedCell]) -> Iterator[tuple[t.Var, tuple[FollowedCell, t.Term]]]:
    """By the input of a step for what is read, of which array it is an element, and which one."""
    for access in step.accesses:
        match access:
            case Load(target=target, address=address) if isinstance(address.object, t.Const):
                cell = cells.get(address.object.value)
                if cell is not None:
                    yield target, (cell, address.offset // cell.size)
            case _:
                pass


def _accumulated(
    system: TransitionSystem,
    step: Step,
    loads: Mapping[t.Var, tuple[FollowedCell, t.Term]],
    var: t.Var,
    new: t.Term,
) -> Accumulation | None:
    widths: set[int | None] = set()
    more = _added(new, var, widths)
    if more is None or not widths <= {None, *widths} or len(widths) > 1:
        return None
    read = {loads[one] for one in more.variables if one in loads}
    if len(read) != 1:
        return None
    ((cell, index),) = read
    moved = t.substitute(index, step.update) - index
    if not isinstance(moved, t.Const) or abs(moved.value) != 1:
        return None
    element = t.Var("element", cell.cell.type)
    values: dict[t.Var, t.Term] = {one: t.wrap(element, one.type) for one in loads}
    values |= {one: PLACE - (index - one) for one in index.variables if one not in (index - one).variables}
    term = t.substitute(more, values)
    inputs = {one.var for one in step.inputs}
    if not term.variables.isdisjoint(step.update.keys() | inputs) or element not in term.variables:
        return None
    below = index if moved.value > 0 else index + 1
    state = system.state[step.source]
    limits = tuple(one for one in state if one not in step.update and one not in term.variables)
    return Accumulation(step.source, var, cell.object, Summed(element, term, next(iter(widths), None)), below, limits)


def _added(term: t.Term, var: t.Var, widths: set[int | None]) -> t.Term | None:
    """What is added to a variable, None where that depends on what it is; at which width sums wrap around is added to
    ``widths``.
    """
    match term:
        case t.Ite(condition=condition, then=then, otherwise=otherwise):
            if var in condition.variables:
                return None
            one, other = _added(then, var, widths), _added(otherwise, var, widths)
            return None if one is None or other is None else t.ite(condition, one, other)
        case t.Wrap(arg=arg, type=held):
            widths.add(held.width)
            return _added(arg, var, widths)
        case _:
            more = term - var
            return None if var in more.variables else more


@dataclass(frozen=True, slots=True)
class PlacedSum:
    """A sum of the elements of an array up to a place."""

    cell: FollowedCell
    summed: Summed
    below: t.Term

    @property
    def term(self) -> t.Term:
        """What elements count for, over the cell that is followed."""
        return self.summed.of(self.cell.number, self.cell.cell)


def sums_for(graph: Flowgraph, found: Sequence[Accumulation], places: Iterable[t.Var]) -> list[PlacedSum]:
    """The sums that may matter to a program, which accumulates these: of all arrays with such elements, up to where
    loops come, and up to all of ``places`` that are places there.
    """
    kinds, made = Kinds(graph), dict[PlacedSum, None]()
    every = list(places)
    for summed in dict.fromkeys(one.summed for one in found[:MAX_SUMMED_TERMS]):
        for cell in graph.cells.values():
            if cell.cell.type != summed.element.type:
                continue
            own = [one for one in found if one.object == cell.object and one.summed == summed]
            below: dict[t.Term, None] = dict.fromkeys(one.below for one in own)
            below |= dict.fromkeys(limit for one in own for limit in one.limits if _is_place(kinds, limit, cell))
            below |= dict.fromkeys(var for var in every if kinds.same(var, cell.number))
            made |= dict.fromkeys(PlacedSum(cell, summed, one) for one in list(below)[:MAX_SUM_PLACES])
    return list(made)


def _is_place(kinds: Kinds, limit: t.Term, cell: FollowedCell) -> bool:
    return isinstance(limit, t.Var) and kinds.same(limit, cell.number)
