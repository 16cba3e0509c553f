"""Candidate invariants about sums over elements: linear equations that held of runs with few elements.

An equation has three kinds of terms: sums over elements, variables in which the program adds up, and what the element
at a written place counts for. A shift writes over an element whose value is in a variable meanwhile; that element's
place is free then, and the equation counts the variable in its stead. (Equations by nullspaces: Sharma et al., A data
driven approach for algebraic loop invariants, ESOP 2013.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, islice

from loopless import terms as t
from loopless.flowgraph.model import Flowgraph
from loopless.limits.verification import MAX_SHORT_EQUATIONS, MAX_SUM_ROWS
from loopless.records import dataclass
from loopless.recurrences.relations import relations
from loopless.transition.relation import TransitionSystem
from loopless.verification.accumulations import ANY, PLACE, Accumulation, PlacedSum, Summed
from loopless.verification.element_pairs import ArrayState
from loopless.verification.kinds import Kinds

Free = tuple[int, t.Term]
"""The object and the number of an element that the program writes: it may be free for a while."""


def sum_candidates(
    system: TransitionSystem,
    placed: Mapping[t.Var, PlacedSum],
    found: Sequence[Accumulation],
    free: Sequence[Free],
    label: str,
    states: Sequence[ArrayState],
) -> list[t.Condition]:
    """The linear equations that held at a cutpoint of ``system``, which has the sums ``placed``."""
    made: list[t.Condition] = []
    for summed in dict.fromkeys(one.summed for one in found):
        into = [one for one in found if one.summed == summed]
        looked = _Looked(system, label, summed, {v: one for v, one in placed.items() if one.summed == summed}, free)
        if ANY not in summed.term.variables:
            made += looked.equations(states, [one.var for one in into])
            continue
        made += looked.equations(list(_with_any(states, into)), ())
        for given in dict.fromkeys(one.given for one in into if one.given is not None):
            own = [one.var for one in into if one.given == given]
            inside = [_at_value(one, one.scalars[given]) for one in states if given in one.scalars]
            same = ~ANY.eq(given)
            made += (same | one for one in looked.equations(inside, own) if not one.variables.isdisjoint(own))
    return list(dict.fromkeys(made))


def _with_any(states: Sequence[ArrayState], into: Sequence[Accumulation]) -> Iterator[ArrayState]:
    """The states with values that elements may count for: of the variables that have it where they are added up, and
    of an element.
    """
    for number, one in enumerate(states):
        values = [one.scalars[a.given] for a in into if a.given is not None and a.given in one.scalars]
        held = [value for elements in one.elements.values() for value in elements.values()]
        values += held[number % len(held) :][:1] if held else []
        yield from (_at_value(one, value) for value in dict.fromkeys(values))


def _at_value(state: ArrayState, value: int) -> ArrayState:
    return replace(state, scalars={**state.scalars, ANY: value})


@dataclass(frozen=True, slots=True)
class _Looked:
    """What is looked at at one cutpoint: the sums of one kind."""

    system: TransitionSystem
    label: str
    summed: Summed
    placed: Mapping[t.Var, PlacedSum]
    free: Sequence[Free]

    def equations(self, states: Sequence[ArrayState], added_up: Sequence[t.Var]) -> Iterator[t.Condition]:
        """Those of sums, of the variables that they are added up in, and of what single elements count for."""
        known = frozenset(states[0].scalars if states else ()).intersection((*self.system.state[self.label], ANY))
        cells = {one.cell.object: one.cell for one in self.placed.values()}
        columns = [_column(var, _sum_of(one), states) for var, one in self.placed.items()]
        columns += [_column(term, _of_scalars(term), states) for term in self._alone(known.difference(added_up))]
        last = [_column(var, _of_scalars(var), states) for var in dict.fromkeys(added_up) if var in known]
        yield from _equations([*columns, *last], self.summed.bits)
        for object_, index in self.free:
            if object_ in cells and index.variables <= known:
                cell = cells[object_]
                at = _column(self.summed.of(cell.number, cell.cell), _at(self.summed, object_, index), states)
                wider = _equations([*columns, at, *last], self.summed.bits)
                yield from (~cell.number.eq(index) | part for part in wider if cell.cell in part.variables)

    def _alone(self, known: frozenset[t.Var]) -> list[t.Term]:
        """What variables count for that hold elements."""
        graph = self.system.graph
        kinds, apart = Kinds(graph), self.summed.beside | _of_cells(graph)
        alone = [var for var in self.system.state[self.label] if var in known and var not in apart]
        held = [var for var in alone if any(kinds.same(var, one.cell.cell) for one in self.placed.values())]
        return [] if PLACE in self.summed.term.variables else [self.summed.of(t.ZERO, var) for var in held]


def _of_cells(graph: Flowgraph) -> frozenset[t.Var]:
    """The variables of cells, and those that stand for other elements."""
    return graph.elsewhere.union(*(cell.variables for cell in graph.cells.values()))


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
    """Of these columns: a basis, and before it short ones, since those of a basis may follow from one that is lost."""
    every = [row for row in zip(*(one.values for one in columns), strict=True) if None not in row]
    if len(every) < len(columns) + 2:
        return []
    distinct = dict.fromkeys(tuple(_least(value, bits) for value in row if value is not None) for row in every)
    rows = list(distinct)[:MAX_SUM_ROWS]
    terms = [one.term for one in columns]
    found = list(_short(terms, list(zip(*rows, strict=True)), bits))
    for vector in relations([[1, *row] for row in rows]):
        parts = (term * factor for term, factor in zip(terms, vector[1:], strict=True) if factor)
        found.append(t.add(t.const(vector[0]), *parts))
    modular = None if bits is None else t.IntType(bits, signed=False)
    return [t.equals_zero(one if modular is None else t.wrap(one, modular)) for one in dict.fromkeys(found)]


def _short(terms: Sequence[t.Term], values: Sequence[tuple[int, ...]], bits: int | None) -> Iterator[t.Term]:
    """What is 0 of these terms with such values: differences of two, of one and two, and of two and two."""
    sums: dict[tuple[int, ...], list[frozenset[int]]] = {}
    varied = [number for number, one in enumerate(values) if any(one)]
    for number in range(len(values)):
        sums.setdefault(values[number], []).append(frozenset((number,)))
    for a, b in combinations(varied, 2):
        whole = tuple(_least(x + y, bits) for x, y in zip(values[a], values[b], strict=True))
        sums.setdefault(whole, []).append(frozenset((a, b)))
    for same in sums.values():
        for one, other in islice(combinations(same, 2), MAX_SHORT_EQUATIONS):
            if one.isdisjoint(other):
                yield t.sub(t.add(*(terms[at] for at in sorted(one))), t.add(*(terms[at] for at in sorted(other))))


def _least(value: int, bits: int | None) -> int:
    """The value, or the one nearest to 0 that is the same modulo a power of 2."""
    return value if bits is None else t.IntType(bits, signed=True).wrap(value)
