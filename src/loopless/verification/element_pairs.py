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
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, islice, product
from typing import Final

from loopless import terms as t
from loopless.flowgraph.model import Flowgraph, FollowedCell, Origin
from loopless.limits.verification import (
    MAX_PAIR_CANDIDATES,
    MAX_PAIR_ELEMENTS,
    MAX_PAIR_SCALARS,
    MAX_PAIR_SIZES,
    MAX_PAIR_STATES,
    PAIR_BLOCKS,
    PAIR_RUNS,
)
from loopless.records import dataclass
from loopless.transition.relation import TransitionSystem
from loopless.verification.kinds import Kinds
from loopless.verification.runs import Choose, Runner


@dataclass(frozen=True, slots=True)
class ArrayState:
    """A state at a cutpoint: what ``scalars`` hold, and by object the elements that are known, by number."""

    scalars: Mapping[t.Var, int]
    elements: Mapping[int, Mapping[int, int]]


def array_states(system: TransitionSystem, most: int = MAX_PAIR_ELEMENTS) -> dict[str, list[ArrayState]]:
    """States of runs with few elements, by cutpoint; of each array up to ``most`` elements are known."""
    found: dict[str, list[ArrayState]] = {label: [] for label in system.cutpoints}
    runner = Runner(system.graph, system.violates, system.state)
    cells = system.graph.cells
    random_ = random.Random(5)
    for number in range(PAIR_RUNS):
        choose = _chooser(random_, number, frozenset(cell.number for cell in cells.values()))
        first = {number: [random_.randint(-3, 9) for _ in range(most)] for number in cells}
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


def _chooser(random_: random.Random, number: int, places: Collection[t.Var]) -> Choose:
    """Small inputs: in every third run none is less than the one before, but for the first few, which are sizes. The
    ``places`` of cells are 0, which is in arrays of any size; elements are looked at wherever they are.
    """
    largest, last, taken = 2 + number % 5, 0, 0

    def choose(target: t.Var, origin: Origin, block: str, index: int) -> int:
        nonlocal last, taken
        del block, index
        if target in places:
            return 0
        value = random_.choice((random_.randint(0, largest), random_.randint(-3, 9)))
        if number % 3 == 0 and origin is not Origin.UNSUPPORTED:
            taken += 1
            last = -4 if taken == MAX_PAIR_SIZES else last
            last = value = last + random_.randint(0, 2) if taken > MAX_PAIR_SIZES else random_.randint(0, largest)
        return target.type.wrap(value)

    return choose


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
    behind = max((*known, -1)) + 3
    for index in range(min(behind, len(first) if size is None else min(len(first), size // cell.size))):
        if index not in known:
            known[index] = first[index]
    return {index: value for index, value in known.items() if index < len(first)}


def _some(states: Sequence[ArrayState]) -> list[ArrayState]:
    """Not more of these than are looked at, from all over."""
    step = max(1, len(states) // MAX_PAIR_STATES)
    return list(islice(states[::step], MAX_PAIR_STATES))


def pair_candidates(
    system: TransitionSystem, label: str, states: Sequence[ArrayState], constants: Iterable[int]
) -> list[t.Condition]:
    """What may hold of elements at a cutpoint. ``system``: with two cells of each object."""
    kinds, scalars = Kinds(system.graph), _scalars(system.graph, system.state[label], states)
    found = _of_cells(system.graph, kinds, scalars, states, constants)
    for flag, value in _flags(kinds, system.graph, scalars, states):
        inside = [one for one in states if one.scalars[flag] == value]
        more = _of_cells(system.graph, kinds, [var for var in scalars if var is not flag], inside, constants)
        known = frozenset(found)
        found += (~flag.eq(value) | one for one in more if one not in known)
    return found


def _of_cells(
    graph: Flowgraph,
    kinds: Kinds,
    scalars: Sequence[t.Var],
    states: Sequence[ArrayState],
    constants: Iterable[int],
) -> list[t.Condition]:
    """What held of elements in these states."""
    found: list[t.Condition] = []
    for number, first in graph.cells.items():
        borders = [var for var in scalars if kinds.same(var, first.number)]
        values = [*(var for var in scalars if kinds.same(var, first.cell)), *map(t.const, constants)]
        found += _of_one(first, values, borders, states)
        found += _of_two(first, graph.pairs[number], borders, states)
    for a, b in combinations(graph.cells.values(), 2):
        if kinds.same(a.cell, b.cell):
            borders = [var for var in scalars if kinds.same(var, a.number) or kinds.same(var, b.number)]
            found += _of_two(a, b, borders, states)
    return found


def _flags(
    kinds: Kinds, graph: Flowgraph, scalars: Iterable[t.Var], states: Sequence[ArrayState]
) -> Iterator[tuple[t.Var, int]]:
    """The variables that are neither places nor elements and had two values, with each of these: what held of elements
    may be kept in them, as whether they are sorted.
    """
    cells = [var for cell in graph.cells.values() for var in (cell.number, cell.cell)]
    for var in scalars:
        values = {one.scalars[var] for one in states}
        if len(values) == 2 and not any(kinds.same(var, other) for other in cells):
            yield from ((var, value) for value in sorted(values))


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


_Examples = Mapping[t.Term, Sequence[int]]
"""What variables and constants are in each of the examples."""


def _compared(a: t.Var, b: t.Term, examples: _Examples, relations: str, more: int = 0) -> Iterator[_Told]:
    """Comparisons of a variable with another one, and ``more``, by letters: < l, <= L, > g, >= G, == e, != n."""
    differences = [x - y - more for x, y in zip(examples[a], examples[b], strict=True)]
    for letter in relations:
        condition, holds = _RELATIONS[letter]
        yield _Told(condition(a, b + more), int("".join(["1" if holds(one) else "0" for one in differences]), 2))


_RELATIONS: Final[dict[str, tuple[Callable[[t.Term, t.Term], t.Condition], Callable[[int], bool]]]] = {
    "l": (lambda a, b: a.lt(b), lambda value: value < 0),
    "L": (lambda a, b: a.le(b), lambda value: value <= 0),
    "g": (lambda a, b: a.gt(b), lambda value: value > 0),
    "G": (lambda a, b: a.ge(b), lambda value: value >= 0),
    "e": (lambda a, b: a.eq(b), lambda value: value == 0),
    "n": (lambda a, b: a.ne(b), lambda value: value != 0),
}


def _places(place: t.Var, borders: Iterable[t.Term], examples: _Examples) -> list[_Told]:
    """Comparisons of a place with the borders and what is next to them."""
    found: list[_Told] = []
    for border in borders:
        found += _compared(place, border, examples, "lLgGen")
        found += _compared(place, border, examples, "gen", 1)
        found += _compared(place, border, examples, "e", -1)
    return found


def _of_two(
    a: FollowedCell, b: FollowedCell, borders: Sequence[t.Term], states: Sequence[ArrayState]
) -> list[t.Condition]:
    """Orders of two cells."""
    examples, number = _pairs(a, b, borders, states)
    if not number:
        return []
    ordered = list(_compared(a.number, b.number, examples, "lL")) if a.object == b.object else []
    at_a, at_b = (_places(cell.number, borders, examples) for cell in (a, b))
    atoms = [*at_a, *at_b]
    guards: list[tuple[_Told, ...]] = [(), *((one,) for one in ordered)]
    guards += ((one,) for one in atoms)
    guards += product(ordered, atoms)
    guards += combinations(atoms, 2)
    guards += ((one, *two) for one in ordered[:1] for two in combinations(atoms, 2))
    if not ordered:
        guards += _ranges(a, b, borders, examples)
    exact = [one for one in at_a if isinstance(one.condition, t.Compare) and one.condition.relation == "eq"]
    guards += ((one, *two) for one in exact for two in combinations(at_b, 2))
    facts = list(_compared(a.cell, b.cell, examples, "LGe"))
    return _widest(guards, facts, (1 << number) - 1)


def _ranges(
    a: FollowedCell, b: FollowedCell, borders: Sequence[t.Term], examples: _Examples
) -> Iterator[tuple[_Told, ...]]:
    """That one cell of two arrays lies below or above a border, and the other between two."""
    for one, other in ((a, b), (b, a)):
        sides = [part for border in borders for part in _compared(one.number, border, examples, "lG")]
        low = [part for border in borders for part in _compared(other.number, border, examples, "G")]
        high = [part for border in borders for part in _compared(other.number, border, examples, "l")]
        yield from product(sides, low, high)


def _of_one(
    cell: FollowedCell, values: Sequence[t.Term], borders: Sequence[t.Term], states: Sequence[ArrayState]
) -> list[t.Condition]:
    """Orders of a cell and a variable or constant."""
    examples, number = _singles(cell, [*values, *borders], states)
    if not number:
        return []
    atoms = _places(cell.number, borders, examples)
    guards: list[tuple[_Told, ...]] = [(), *((one,) for one in atoms), *combinations(atoms, 2)]
    facts = [one for value in values for one in _compared(cell.cell, value, examples, "lLgGe")]
    return _widest(guards, facts, (1 << number) - 1)


def _pairs(
    a: FollowedCell, b: FollowedCell, others: Iterable[t.Term], states: Sequence[ArrayState]
) -> tuple[_Examples, int]:
    """The pairs of elements of the states, with what ``others`` are there, and how many these are."""
    found = [
        (one, k, x, l, y)
        for one in states
        for k, x in one.elements[a.object].items()
        for l, y in one.elements[b.object].items()  # noqa: E741  as the place is called
        if a.object != b.object or k != l
    ]
    columns: dict[t.Term, Sequence[int]] = {term: _column(term, [one[0] for one in found]) for term in others}
    for place, var in enumerate((a.number, a.cell, b.number, b.cell)):
        columns[var] = [one[place + 1] for one in found]  # type: ignore[misc]
    return columns, len(found)


def _singles(cell: FollowedCell, others: Iterable[t.Term], states: Sequence[ArrayState]) -> tuple[_Examples, int]:
    """The same of single elements."""
    found = [(one, k, x) for one in states for k, x in one.elements[cell.object].items()]
    columns: dict[t.Term, Sequence[int]] = {term: _column(term, [one for one, _, _ in found]) for term in others}
    columns[cell.number], columns[cell.cell] = [k for _, k, _ in found], [x for _, _, x in found]
    return columns, len(found)


def _column(term: t.Term, states: Sequence[ArrayState]) -> list[int]:
    return [term.value if isinstance(term, t.Const) else one.scalars[term] for one in states]  # type: ignore[index]


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
