"""What a program sums over the elements of arrays: how often a value stands there, what they add up to.

A loop accumulates where each iteration adds to a variable what one element counts for, and goes to the next element.
What elements count for is then a term over an element, its place, and variables that the loop does not change.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from loopless import terms as t
from loopless.check.certificates.element_sums import ANY as ANY_NAME
from loopless.flowgraph.model import Flowgraph, FollowedCell, Load, Store
from loopless.limits.verification import MAX_SUM_PLACES, MAX_SUMMED_TERMS
from loopless.logic.steps import INPUT
from loopless.records import dataclass
from loopless.transition.relation import Step, TransitionSystem

PLACE: Final = t.Var("place", t.INTEGERS)
"""Stands for the number of an element."""
ANY: Final = t.Var(ANY_NAME, t.INTEGERS)
"""Stands for any value."""


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
class Passage:
    """A loop goes over elements of ``object`` one by one, up or down. ``below``: the number of the next element, or of
    the last one where it goes down; ``ends``: where it begins and ends, as far as conditions and entries say.
    """

    object: int
    below: t.Term
    ends: tuple[t.Term, ...]


@dataclass(frozen=True, slots=True)
class Accumulation:
    """A loop adds what the elements of ``passage`` count for to ``var``. ``given``: the variable in whose place what
    they count for has :data:`ANY`.
    """

    var: t.Var
    summed: Summed
    passage: Passage
    given: t.Var | None = None


def of_any(one: Accumulation, changed: Collection[t.Var]) -> Accumulation:
    """The same for any value of the one variable among these on which it depends what elements count for."""
    given = [var for var in one.summed.beside if var in changed]
    if len(given) != 1:
        return one
    summed = replace(one.summed, term=t.substitute(one.summed.term, {given[0]: ANY}))
    return replace(one, summed=summed, given=given[0])


@dataclass(frozen=True, slots=True)
class Index:
    """The number of an element of ``object`` that a statement of ``block`` reads, or writes."""

    block: str
    object: int
    index: t.Term
    is_written: bool


def indices(graph: Flowgraph, cells: Mapping[int, FollowedCell]) -> list[Index]:
    """The elements that a program accesses."""
    found: dict[Index, None] = {}
    for block in graph.blocks.values():
        for statement in block.statements:
            if isinstance(statement, Load | Store) and isinstance(statement.address.object, t.Const):
                cell = cells.get(statement.address.object.value)
                if cell is not None:
                    index = statement.address.offset // cell.size
                    found[Index(block.label, cell.object, index, isinstance(statement, Store))] = None
    return list(found)


def passages(system: TransitionSystem, accessed: Iterable[Index]) -> list[Passage]:
    """Those of a program's loops over the elements that it accesses."""
    found: dict[Passage, None] = {}
    inside = {loop.header: loop.blocks for loop in system.graph.loops}
    for step in system.transitions:
        if step.source == step.target:
            for one in (one for one in accessed if one.block in inside.get(step.source, ())):
                passage = _passage(system, step, one.object, one.index)
                if passage is not None:
                    found[passage] = None
    return list(found)


def _passage(system: TransitionSystem, step: Step, object_: int, index: t.Term) -> Passage | None:
    moved = index.variables & step.update.keys()
    if len(moved) != 1 or not index.variables <= frozenset(system.state[step.source]):
        return None
    (var,) = moved
    factor = t.polynomial(index).get(((var, 1),), 0)
    steps = {(one - var) * factor for one in _chosen(step.update[var])}
    up_or_down = steps <= {t.ZERO, t.ONE} or steps <= {t.ZERO, t.const(-1)}
    if var in (index - var * factor).variables or not up_or_down:
        return None
    below = index if t.ONE in steps else index + 1
    ends: dict[t.Term, None] = {}
    for other in system.transitions:
        if other.source == step.source != other.target:
            for comparison in t.comparisons(other.condition):
                ends |= dict.fromkeys((below + comparison.term, below - comparison.term))
        elif other.target == step.source != other.source and var in other.update:
            ends[t.substitute(below, other.update)] = None
    kept = (one for one in ends if one is not t.ZERO and _is_told(one, step.update))
    return Passage(object_, below, tuple(kept))


def _chosen(term: t.Term) -> Iterator[t.Term]:
    """What a term may come to, by its choices."""
    match term:
        case t.Ite(then=then, otherwise=otherwise):
            yield from (*_chosen(then), *_chosen(otherwise))
        case t.Wrap(arg=arg):
            yield from _chosen(arg)
        case _:
            yield term


def _is_told(end: t.Term, moved: Collection[t.Var]) -> bool:
    """Whether a loop that moves these may end at a place."""
    inputs = any(var.name.startswith(INPUT) for var in end.variables)
    return not inputs and end.variables.isdisjoint(moved) and not (isinstance(end, t.Const) and end.value < 0)


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
    if more is None or len(widths) > 1:
        return None
    read = {loads[one] for one in more.variables if one in loads}
    if len(read) != 1:
        return None
    ((cell, index),) = read
    passage = _passage(system, step, cell.object, index)
    if passage is None:
        return None
    element = t.Var("element", cell.cell.type)
    values: dict[t.Var, t.Term] = {one: t.wrap(element, one.type) for one in loads}
    values |= {one: PLACE - (index - one) for one in index.variables if one not in (index - one).variables}
    term = t.substitute(more, values)
    inputs = {one.var for one in step.inputs}
    if not term.variables.isdisjoint(step.update.keys() | inputs) or element not in term.variables:
        return None
    return Accumulation(var, Summed(element, term, next(iter(widths), None)), passage)


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


def sums_for(graph: Flowgraph, found: Sequence[Accumulation], also: Iterable[Passage] = ()) -> list[PlacedSum]:
    """The sums that may matter to a program that accumulates these: of the elements that its loops go over, and of
    those of the other passages ``also``, from the beginning of the array to where loops come.
    """
    made: dict[PlacedSum, None] = {}
    others = list(also)
    for summed in dict.fromkeys(one.summed for one in found[:MAX_SUMMED_TERMS]):
        for cell in graph.cells.values():
            if cell.cell.type != summed.element.type:
                continue
            own = [one.passage for one in found if one.summed == summed]
            every = [one for one in (*own, *others) if one.object == cell.object]
            below = dict.fromkeys((*(one.below for one in every), *(end for one in every for end in one.ends)))
            made |= dict.fromkeys(PlacedSum(cell, summed, one) for one in list(below)[:MAX_SUM_PLACES])
    return list(made)
