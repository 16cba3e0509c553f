"""Candidate invariants about two elements: how they are ordered, and how one is to a variable, where they lie between
variables of the program.

A candidate is a guard on places and an order of what lies there: ``a.k < a.l && a.l < i => a[k] <= a[l]``. Guards are
few comparisons of the places with variables and with each other. Single runs with few elements refute most: a state at
a cutpoint has many pairs of elements, each of which is an example. Of guards under which an order always held those are
proposed that let most pairs in (dynamic detection as in Ernst et al., ICSE 2001; ranges of elements as templates:
Gulwani, McCloskey and Tiwari, Lifting abstract interpreters to quantified logical domains, POPL 2008).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, islice, product
from typing import Final

from loopless import terms as t
from loopless.flowgraph.model import Flowgraph, FollowedCell, Origin
from loopless.limits.verification import (
    MAX_PAIR_CANDIDATES,
    MAX_PAIR_ELEMENTS,
    MAX_PAIR_SCALARS,
    MAX_PAIR_STATES,
    PAIR_BLOCKS,
    PAIR_RUNS,
)
from loopless.records import dataclass
from loopless.transition.relation import TransitionSystem
from loopless.verification.runs import Runner


@dataclass(frozen=True, slots=True)
class ArrayState:
    """A state at a cutpoint: what ``scalars`` hold, and by object the elements that are known, by number."""

    scalars: Mapping[t.Var, int]
    elements: Mapping[int, Mapping[int, int]]


def array_states(system: TransitionSystem) -> dict[str, list[ArrayState]]:
    """States of runs with few elements, by cutpoint."""
    found: dict[str, list[ArrayState]] = {label: [] for label in system.cutpoints}
    runner = Runner(system.graph, system.violates, system.state)
    cells = system.graph.cells
    random_ = random.Random(5)
    for number in range(PAIR_RUNS):
        largest = 2 + number % 5

        def choose(target: t.Var, origin: Origin, block: str, index: int, largest: int = largest) -> int:
            del origin, block, index
            return target.type.wrap(random_.choice((random_.randint(0, largest), random_.randint(-3, 9))))

        first = {number: [random_.randint(-3, 9) for _ in range(MAX_PAIR_ELEMENTS)] for number in cells}
        held: list[dict[int, dict[int, int]]] = []

        def visited(
            label: str,
            held: list[dict[int, dict[int, int]]] = held,
            first: Mapping[int, Sequence[int]] = first,
        ) -> None:
            del label
            held.append({object_: _content(runner, cell, first[object_]) for object_, cell in cells.items()})

        run = runner.run(choose, PAIR_BLOCKS, visited)
        for (label, scalars), elements in zip(run.visits, held, strict=True):
            found[label].append(ArrayState(scalars, elements))
    return {label: _some(states) for label, states in found.items()}


def _content(runner: Runner, cell: FollowedCell, first: Sequence[int]) -> dict[int, int]:
    """The elements of an object that runs have written, and two behind them: what these hold is ``first``, where it is
    nothing that the program says.
    """
    known = {
        offset // cell.size: cell.cell.type.wrap(value)
        for (number, offset), value in runner.memory.items()
        if number == cell.object and offset % cell.size == 0
    }
    size = runner.graph.objects[cell.object].size
    most = max((*known, -1)) + 3
    for index in range(min(most, len(first) if size is None else min(len(first), size // cell.size))):
        if index not in known:
            content = runner.first((cell.object, index * cell.size), cell.cell.type)
            known[index] = first[index] if content is None else content
    return {index: value for index, value in known.items() if index < MAX_PAIR_ELEMENTS}


def _some(states: Sequence[ArrayState]) -> list[ArrayState]:
    """Not more of these than are looked at, from all over."""
    step = max(1, len(states) // MAX_PAIR_STATES)
    return list(islice(states[::step], MAX_PAIR_STATES))


def pair_candidates(
    system: TransitionSystem, label: str, states: Sequence[ArrayState], constants: Iterable[int]
) -> list[t.Condition]:
    """What may hold of elements at a cutpoint. ``system``: with two cells of each object."""
    graph = system.graph
    scalars = _scalars(graph, system.state[label], states)
    borders = [*scalars, *(t.const(value) for value in constants)]
    found: list[t.Condition] = []
    for number, first in graph.cells.items():
        found += _of_one(first, scalars, borders, states)
        second = graph.pairs[number]
        found += _of_two(first, second, borders, states)
    for a, b in combinations(graph.cells.values(), 2):
        found += _of_two(a, b, borders, states)
    return found


def _scalars(graph: Flowgraph, state: Sequence[t.Var], states: Sequence[ArrayState]) -> list[t.Var]:
    """The variables of a cutpoint that hold numbers and are no part of a cell, those that vary first."""
    cells = (*graph.cells.values(), *graph.pairs.values())
    apart = frozenset(graph.elsewhere).union(*(cell.variables for cell in cells))
    known = states[0].scalars.keys() if states else ()
    found = [v for v in state if v not in apart and v in known and not graph.variables[v].pointer_part]
    varied = {v for v in found if len({one.scalars[v] for one in states}) > 1}
    return [v for v in found if v in varied][:MAX_PAIR_SCALARS]


# -- examples as sets of bits ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Told:
    """A condition, and in which of the examples it holds: a bit for each."""

    condition: t.Condition
    bits: int


_Example = Mapping[t.Var, int]


def _told(condition: t.Condition, examples: Sequence[_Example], holds: Callable[[_Example], bool]) -> _Told:
    bits = 0
    for number, example in enumerate(examples):
        if holds(example):
            bits |= 1 << number
    return _Told(condition, bits)


def _compared(a: t.Term, b: t.Term, examples: Sequence[_Example], relations: str) -> Iterator[_Told]:
    """Comparisons of two sums of variables, by letters: < l, <= L, > g, >= G, == e, != n."""
    difference = a - b
    values = [t.evaluate(difference, example) for example in examples]
    for letter in relations:
        condition, holds = _RELATIONS[letter]
        bits = sum(1 << number for number, value in enumerate(values) if holds(value))
        yield _Told(condition(a, b), bits)


_RELATIONS: Final[dict[str, tuple[Callable[[t.Term, t.Term], t.Condition], Callable[[int], bool]]]] = {
    "l": (lambda a, b: a.lt(b), lambda value: value < 0),
    "L": (lambda a, b: a.le(b), lambda value: value <= 0),
    "g": (lambda a, b: a.gt(b), lambda value: value > 0),
    "G": (lambda a, b: a.ge(b), lambda value: value >= 0),
    "e": (lambda a, b: a.eq(b), lambda value: value == 0),
    "n": (lambda a, b: a.ne(b), lambda value: value != 0),
}


def _places(place: t.Var, borders: Iterable[t.Term], examples: Sequence[_Example]) -> list[_Told]:
    """Comparisons of a place with the borders and what is next to them."""
    found: list[_Told] = []
    for border in borders:
        found += _compared(place, border, examples, "lLgGen")
        found += _compared(place, border + 1, examples, "gen")
    return found


def _of_two(
    a: FollowedCell, b: FollowedCell, borders: Sequence[t.Term], states: Sequence[ArrayState]
) -> list[t.Condition]:
    """Orders of two cells."""
    examples = list(_pairs(a, b, states))
    if not examples:
        return []
    ordered = list(_compared(a.number, b.number, examples, "lL")) if a.object == b.object else []
    at_a, at_b = (_places(cell.number, borders, examples) for cell in (a, b))
    atoms = [*at_a, *at_b]
    every = (1 << len(examples)) - 1
    guards: list[tuple[_Told, ...]] = [(), *((one,) for one in ordered)]
    guards += ((one,) for one in atoms)
    guards += product(ordered, atoms)
    guards += combinations(atoms, 2)
    guards += ((one, *two) for one in ordered[:1] for two in combinations(atoms, 2))
    exact = [one for one in at_a if isinstance(one.condition, t.Compare) and one.condition.relation == "eq"]
    guards += ((one, *two) for one in exact for two in combinations(at_b, 2))
    facts = list(_compared(a.cell, b.cell, examples, "LGe"))
    return _widest(guards, facts, every)


def _of_one(
    cell: FollowedCell, scalars: Sequence[t.Var], borders: Sequence[t.Term], states: Sequence[ArrayState]
) -> list[t.Condition]:
    """Orders of a cell and a variable."""
    examples = list(_singles(cell, states))
    if not examples:
        return []
    atoms = _places(cell.number, borders, examples)
    guards: list[tuple[_Told, ...]] = [(), *((one,) for one in atoms), *combinations(atoms, 2)]
    facts = [one for var in scalars for one in _compared(cell.cell, var, examples, "lLgGe")]
    return _widest(guards, facts, (1 << len(examples)) - 1)


def _pairs(a: FollowedCell, b: FollowedCell, states: Sequence[ArrayState]) -> Iterator[_Example]:
    for one in states:
        for k, x in one.elements[a.object].items():
            for l, y in one.elements[b.object].items():  # noqa: E741  as the place is called
                if (k, x) != (l, y) or a.object != b.object:
                    yield {**one.scalars, a.number: k, a.cell: x, b.number: l, b.cell: y}


def _singles(cell: FollowedCell, states: Sequence[ArrayState]) -> Iterator[_Example]:
    for one in states:
        for k, x in one.elements[cell.object].items():
            yield {**one.scalars, cell.number: k, cell.cell: x}


def _widest(guards: Iterable[tuple[_Told, ...]], facts: Sequence[_Told], every: int) -> list[t.Condition]:
    """The facts that hold of all examples under a guard, with guards that let in most: none that lets in only what
    another one does.
    """
    held: dict[int, list[tuple[int, tuple[_Told, ...]]]] = {number: [] for number in range(len(facts))}
    for guard in guards:
        inside = every
        for one in guard:
            inside &= one.bits
        if not inside:
            continue
        for number, fact in enumerate(facts):
            if inside & ~fact.bits == 0 and not any(inside & ~other == 0 for other, _ in held[number]):
                held[number].append((inside, guard))
    found: list[tuple[int, t.Condition]] = []
    for number, fact in enumerate(facts):
        kept = [(inside, guard) for inside, guard in held[number]]
        kept = [one for one in kept if not any(one[0] != o[0] and one[0] & ~o[0] == 0 for o in kept)]
        for inside, guard in kept:
            found.append((inside.bit_count(), ~t.conjunction(one.condition for one in guard) | fact.condition))
    found.sort(key=lambda one: -one[0])
    return [condition for _, condition in found[:MAX_PAIR_CANDIDATES]]
