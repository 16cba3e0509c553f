"""Proofs by sums over the elements of arrays: that a sort keeps how often each value stands there, or what they add up
to.

The sums are those of the judge (:mod:`loopless.check.certificates.element_sums`): variables that each write and each
move of a place change by what follows from their definition. What holds of them is mostly linear equations, which
single runs with few elements propose; where an element is out of its place for a while, as in insertion sort, these
hold but for what is written over it: of the cell that is followed, where that is at the free place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Final

from loopless import clock
from loopless import terms as t
from loopless.check.certificates.element_sums import ElementSum, with_sums
from loopless.check.certificates.history import SPACE
from loopless.errors import LimitError, UsageError
from loopless.flowgraph.model import Flowgraph
from loopless.limits.verification import MAX_SUM_ELEMENTS, MAX_SUM_ROWS, PAIR_CORE_MS
from loopless.logic.induction import inductive_subset, needed, solver_context
from loopless.records import dataclass
from loopless.recurrences.relations import relations
from loopless.transition.building import system_of
from loopless.transition.relation import START, TransitionSystem
from loopless.verification.accumulations import (
    PLACE,
    Accumulation,
    PlacedSum,
    Summed,
    accumulations,
    indices,
    passages,
    sums_for,
)
from loopless.verification.element_pairs import ArrayState, array_states
from loopless.verification.kinds import Kinds
from loopless.verification.proofs import GOALS, Proof, Search

SUMS: Final = "sums over elements"
_Free = tuple[int, t.Term]
"""The object and the number of an element that the program writes: it may be free for a while."""


def proved_by_sums(search: Search, plain: Flowgraph, seconds: float) -> Proof | None:
    """The proof by what of the candidates about sums over elements is inductive, with what is known, if that is one.
    ``plain``: the flowgraph without the cells that are followed.
    """
    try:
        return _found(search, plain, min(search.deadline, clock.counted() + seconds))
    except (LimitError, UsageError, t.TermTooLarge):  # a name of the program may be one that certificates keep
        return None


def _found(search: Search, plain: Flowgraph, until: float) -> Proof | None:
    """The proof by the elements that loops sum up, then by those that other loops go over, too."""
    system = search.system
    told = system_of(plain, system.violates, system.calls, accesses=True)
    if not isinstance(told, TransitionSystem):
        return None
    found = accumulations(told, system.graph.cells)
    if not found:
        return None
    accessed = indices(plain, system.graph.cells)
    free = tuple(dict.fromkeys((one.object, one.index) for one in accessed if one.is_written))
    first = sums_for(system.graph, found)
    more = sums_for(system.graph, found, passages(told, accessed))
    proof = _proved(search, found, first, free, until)
    if proof is None and more != first and clock.counted() < until:
        proof = _proved(search, found, more, free, until)
    return proof


@dataclass(frozen=True, slots=True)
class _Sums:
    """A system with sums: by their variables which these are, and as the certificate names them."""

    system: TransitionSystem
    placed: Mapping[t.Var, PlacedSum]
    named: tuple[ElementSum, ...]


def _with(search: Search, placed: Sequence[PlacedSum]) -> _Sums | None:
    """The system with these sums, those that certificates can write; None where its cutpoints are others."""
    named: list[ElementSum] = []
    told: dict[t.Var, PlacedSum] = {}
    for one in placed:
        term, below = t.smt(one.term), t.smt(one.below)
        if term is None or below is None:
            continue
        over = t.symbol(one.cell.number.name).strip("|")
        named.append(ElementSum(f"{SPACE}sum{len(named)}", over, term, below, one.summed.bits))
        held = t.INTEGERS if one.summed.bits is None else t.IntType(one.summed.bits, signed=False)
        told[t.Var(named[-1].name, held)] = one
    graph = with_sums(search.system.graph, named)
    beside = frozenset(told).union(*(one.summed.beside | one.below.variables for one in placed))
    beside |= {var for cell in graph.cells.values() for var in (cell.cell, cell.number)}
    system = system_of(graph, search.system.violates, search.system.calls, kept=beside, elements=True)
    if not isinstance(system, TransitionSystem) or system.cutpoints != search.system.cutpoints:
        return None
    return _Sums(system, told, tuple(named))


def _proved(
    search: Search,
    found: Sequence[Accumulation],
    placed: Sequence[PlacedSum],
    free: Sequence[_Free],
    until: float,
) -> Proof | None:
    sums = _with(search, placed)
    if sums is None:
        return None
    inner = [step for step in sums.system.transitions if step.target not in GOALS]
    bad = [step for step in sums.system.transitions if step.target in GOALS]
    own = search.system.graph.variables.keys()
    seen = {label: tuple(var for var in state if var in own) for label, state in sums.system.state.items()}
    states = array_states(replace(search.system, state=seen), MAX_SUM_ELEMENTS)
    proposed = {label: sum_candidates(sums, found, free, label, states[label]) for label in sums.system.cutpoints}
    for simple in (False, True):
        every = {label: (*_plain(search, label, simple=simple), *proposed[label]) for label in proposed}
        if not all(search.excluded(step, every) for step in bad):
            continue  # nor would what is inductive of it
        kept = inductive_subset(inner, every, until)
        if all(search.excluded(step, kept) for step in bad):
            undefined = [step for step in sums.system.failing if search.excluded(step, kept, PAIR_CORE_MS)]
            goals = ((replace(step, update={}), t.FALSE) for step in (*bad, *undefined))
            shorter = needed(kept, inner, goals, solver_context(), PAIR_CORE_MS)
            return Proof(shorter or dict(kept), SUMS, elements=True, sums=sums.named)
    return None


def _plain(search: Search, label: str, *, simple: bool) -> list[t.Condition]:
    """What is known, and with ``simple`` what may hold, of variables that are no elements. What is known anywhere of
    variables that keep their values may hold everywhere.
    """
    cells = frozenset(var for cell in search.system.graph.cells.values() for var in cell.variables)
    changed = frozenset(var for step in search.inner if step.source != START for var in step.update)
    kept = frozenset(search.system.state[label]) - changed
    lasting = (one for found in search.found.values() for one in found if one.variables <= kept)
    every = (*search.found[label], *lasting, *(search.proposals().simple(label) if simple else ()))
    return [one for one in dict.fromkeys(every) if len(one.variables) == 1 or one.variables.isdisjoint(cells)]


# -- candidates --------------------------------------------------------------------------------------------------------


def _of_cells(graph: Flowgraph) -> frozenset[t.Var]:
    """The variables of cells, and those that stand for other elements."""
    return graph.elsewhere.union(*(cell.variables for cell in graph.cells.values()))


def sum_candidates(
    sums: _Sums, found: Sequence[Accumulation], free: Sequence[_Free], label: str, states: Sequence[ArrayState]
) -> list[t.Condition]:
    """The linear equations between sums, and the variables in which the program accumulates them, that held at a
    cutpoint. They also speak of the element at one of the places that are written, which may be ``free``.
    """
    kinds, made = Kinds(sums.system.graph), list[t.Condition]()
    known = frozenset(states[0].scalars if states else ())
    for summed in dict.fromkeys(one.summed for one in found):
        own = {var: one for var, one in sums.placed.items() if one.summed == summed}
        cells = {one.cell.object: one.cell for one in own.values()}
        into = dict.fromkeys(one.var for one in found if one.summed == summed and one.var in known)
        apart = frozenset(into) | summed.beside | _of_cells(sums.system.graph)
        alone = [var for var in sums.system.state[label] if var in known and var not in apart]
        alone = [var for var in alone if any(kinds.same(var, cell.cell) for cell in cells.values())]
        counted = () if PLACE in summed.term.variables else [summed.of(t.ZERO, var) for var in alone]
        columns = [_column(var, _sum_of(one), states) for var, one in own.items()]
        columns += [_column(term, _of_scalars(term), states) for term in counted]
        last = [_column(var, _of_scalars(var), states) for var in into]
        made += _equations([*columns, *last], summed.bits)
        for object_, index in free:
            if object_ in cells and index.variables <= known:
                cell = cells[object_]
                at = _column(summed.of(cell.number, cell.cell), _at(summed, object_, index), states)
                wider = _equations([*columns, at, *last], summed.bits)
                made += (~cell.number.eq(index) | part for part in wider if cell.cell in part.variables)
    return list(dict.fromkeys(made))


@dataclass(frozen=True, slots=True)
class _Column:
    """A term with what it is in each state; None where that is not known."""

    term: t.Term
    values: Sequence[int | None]

    def is_known(self, part: int) -> bool:
        """Whether it is in one of so many states."""
        return part * sum(value is not None for value in self.values) >= len(self.values)


_Value = Callable[[ArrayState], int | None]


def _column(term: t.Term, value: _Value, states: Sequence[ArrayState]) -> _Column:
    return _Column(term, [value(state) for state in states])


def _sum_of(one: PlacedSum) -> _Value:
    def value(state: ArrayState) -> int | None:
        below, elements = _evaluated(one.below, state), state.elements[one.cell.object]
        if below is None or below < 0 or any(place not in elements for place in range(below)):
            return None
        return _total(one.summed, ((place, elements[place]) for place in range(below)), state)

    return value


def _at(summed: Summed, object_: int, index: t.Term) -> _Value:
    def value(state: ArrayState) -> int | None:
        at, elements = _evaluated(index, state), state.elements[object_]
        return None if at is None or at not in elements else _total(summed, ((at, elements[at]),), state)

    return value


def _of_scalars(term: t.Term) -> _Value:
    return lambda state: _evaluated(term, state)


def _total(summed: Summed, elements: Iterable[tuple[int, int]], state: ArrayState) -> int | None:
    total = 0
    for place, value in elements:
        part = _evaluated(summed.term, state, {PLACE: place, summed.element: value})
        if part is None:
            return None
        total += part
    return total


def _evaluated(term: t.Term, state: ArrayState, beside: Mapping[t.Var, int] | None = None) -> int | None:
    try:
        return t.evaluate(term, {**state.scalars, **(beside or {})})
    except (t.EvaluationError, KeyError):
        return None


def _equations(columns: Sequence[_Column], bits: int | None) -> list[t.Condition]:
    """The linear equations of these that held, where they are known: modulo a power of 2 where sums are. First of those
    that are known in most states, since where one is not known nothing is.
    """
    mostly, sometimes = ([one for one in columns if one.is_known(part)] for part in (2, 10))
    found = _relations(mostly, bits)
    return found if len(mostly) == len(sometimes) else [*found, *_relations(sometimes, bits)]


def _relations(columns: Sequence[_Column], bits: int | None) -> list[t.Condition]:
    """Of these columns. Those of a basis may follow from one that is lost; so equal ones, and those that are the sum of
    two others, are told as well.
    """
    every = [row for row in zip(*(one.values for one in columns), strict=True) if None not in row]
    if len(every) < len(columns) + 2:
        return []
    distinct = dict.fromkeys(tuple(_least(value, bits) for value in row if value is not None) for row in every)
    rows = list(distinct)[:MAX_SUM_ROWS]
    terms = [one.term for one in columns]
    held = list(zip(*rows, strict=True))
    found = [one - other for (one, a), (other, b) in combinations(zip(terms, held, strict=True), 2) if a == b]
    whole: dict[tuple[int, ...], t.Term] = {}
    for (one, a), (other, b) in combinations(zip(terms, held, strict=True), 2):
        if any(a) and any(b):
            whole.setdefault(tuple(_least(x + y, bits) for x, y in zip(a, b, strict=True)), one + other)
    found += [whole[values] - term for term, values in zip(terms, held, strict=True) if values in whole]
    for vector in relations([[1, *row] for row in rows]):
        parts = (term * factor for term, factor in zip(terms, vector[1:], strict=True) if factor)
        found.append(t.add(t.const(vector[0]), *parts))
    modular = None if bits is None else t.IntType(bits, signed=False)
    return [t.equals_zero(one if modular is None else t.wrap(one, modular)) for one in dict.fromkeys(found)]


def _least(value: int, bits: int | None) -> int:
    """The value, or the one nearest to 0 that is the same modulo a power of 2."""
    return value if bits is None else t.IntType(bits, signed=True).wrap(value)
