"""What memory holds after n iterations, as layers over what it held before: by the writes of the loop's paths.

A write whose offset moves by the same number each time is a row of elements, one for each iteration (the inverse of an
affine index is the iteration). Rows lie over one another as iterations follow each other, where no two of them write an
element in both orders. A cell is a scalar. All other writes to one kind of elements are one layer by the last iteration
that wrote an element: scatter, rings, compaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Final

from loopless import terms as t
from loopless.paths.model import Path, Write
from loopless.records import dataclass
from loopless.summary.data.oblivious import oblivious_part
from loopless.summary.data.possible import possible
from loopless.summary.data.sequences import Sequences
from loopless.summary.memory.elements import Resolved, hidden, is_hidden
from loopless.terms.contents import mapped, residue, single, unknown

TIMES: Final = t.position("|times")
"""The number of iterations, in what :meth:`Layering.after` gives."""
_AT: Final = t.position("|at")
_EARLIER: Final = t.position("|earlier")
_LAST: Final = t.position("|writer")


@dataclass(frozen=True, slots=True)
class _Stores:
    """A write to ``array`` that iterations make, in iteration :data:`_AT`: where ``when`` holds. ``order``: by the
    path, its place among the writes there.
    """

    array: str
    type: t.IntType
    offset: t.Term
    value: t.Term | None
    when: t.Condition
    order: dict[str, int]

    @property
    def size(self) -> int:
        assert self.type.width is not None
        return (self.type.width + 7) // 8

    @property
    def row(self) -> tuple[int, t.Term] | None:
        """By how much the offset moves, and where it begins; None where it moves in another way."""
        moved = 0
        rest: t.Term = t.ZERO
        for monomial, factor in t.polynomial(self.offset).items():
            part = t.from_polynomial({monomial: factor})
            if _AT not in part.variables:
                rest = rest + part
            elif monomial == ((_AT, 1),):
                moved = factor
            else:
                return None
        return moved, rest


class Layering:
    """The layers of one loop."""

    def __init__(self, found: Resolved) -> None:
        self._resolved = found
        self.paths = paths = hidden(found.paths)
        self.part = oblivious_part(paths)
        self.sequences = Sequences(paths, self.part)
        self._start: dict[t.Var, t.Term] = dict(found.carried)
        self.common = t.substitute(self.part.common, self.part.at(_AT)) & _AT.ge(0)

    def after(self) -> dict[str, t.Layers]:
        """What objects hold after :data:`TIMES` iterations, over what they held before the first."""
        arrays = dict.fromkeys(write.array for path in self.paths.iterative for write in path.writes)
        return {array: self.from_entry(self._array(array)) for array in arrays}

    def leaving(self, path: Path, times: t.Term) -> dict[str, t.Layers]:
        """What the way out by ``path`` writes after so many iterations."""
        found: dict[str, t.Layers] = {}
        for write in path.writes:
            above = found.get(write.array, ())
            if write.offset is None:
                found[write.array] = (unknown(), *above)
                continue
            offset = self._there(write.offset, times)
            value = None if write.value is None else self._there(write.value, times)
            if is_hidden(offset):
                found[write.array] = (unknown(), *above)
                continue
            value = None if value is None or is_hidden(value) else value
            found[write.array] = (single(write.type, offset, value), *above)
        return {array: self.from_entry(layers) for array, layers in found.items()}

    def condition(self, path: Path, times: t.Term) -> t.Condition:
        """Where a path is taken after so many iterations."""
        found = t.substitute(path.condition, self.sequences.at(times, path.condition.variables))
        return t.substitute(found, self._start)

    def from_entry(self, layers: Sequence[t.Layer]) -> t.Layers:
        """The layers with elements of the entry in place of what is carried."""

        def of(node: t.Node) -> t.Node:
            return t.substitute(node, self._start) if isinstance(node, t.Term | t.Condition) else node

        return mapped(layers, of)

    def _there(self, term: t.Term, time: t.Term) -> t.Term:
        return t.substitute(term, self.sequences.at(time, term.variables))

    # -- one object ---------------------------------------------------------------------------------------------------

    def _array(self, array: str) -> t.Layers:
        stores = self._stores(array)
        if stores is None:
            return (unknown(),)
        fixed = [store for store in stores if (row := store.row) is not None and row[0] == 0]
        cells = self._cells(array, fixed)
        if cells is None:
            return (unknown(),)
        moving = [store for store in stores if store not in fixed]
        return (*cells, *self._moving(moving)) if moving else cells

    def _stores(self, array: str) -> list[_Stores] | None:
        """The writes to an object; None where some may be anywhere."""
        places: dict[Write, dict[str, int]] = {}
        for path in self.paths.iterative:
            for number, write in enumerate(path.writes):
                if write.array == array:
                    if write in places and path.id in places[write]:
                        return None  # twice the same in one iteration, with others between
                    places.setdefault(write, {})[path.id] = number
        found: list[_Stores] = []
        for write, order in places.items():
            if write.offset is None:
                return None
            when = self._when(frozenset(order))
            offset = self._there(write.offset, _AT)
            value = None if write.value is None else self._there(write.value, _AT)
            if is_hidden(offset) or is_hidden(when):
                return None
            value = None if value is None or is_hidden(value) else value
            found.append(_Stores(array, write.type, offset, value, when, order))
        return found

    def _when(self, paths: frozenset[str]) -> t.Condition:
        """Which iterations go by one of these paths."""
        those = [path for path in self.paths.iterative if path.id in paths]
        others = [path for path in self.paths.iterative if path.id not in paths]
        if not others:
            return t.TRUE
        when, _ = self.sequences.choices.conditions([those, others])
        return t.substitute(when, self.sequences.at(_AT, when.variables))

    def _cells(self, array: str, stores: Sequence[_Stores]) -> t.Layers | None:
        """The elements that no iteration moves; None where one of them is not carried."""
        places = {(store.offset, store.type) for store in stores}
        found: list[t.Layer] = []
        for var in sorted(self._resolved.cells, key=lambda one: one.key):
            element = self._resolved.carried[var]
            if element.array == array and (element.offset, element.type) in places:
                places.discard((element.offset, element.type))
                value = self.sequences.at(TIMES, frozenset((var,)))[var]
                found.append(single(element.type, element.offset, None if is_hidden(value) else value, TIMES.gt(0)))
        return None if places else tuple(found)

    def _moving(self, stores: Sequence[_Stores]) -> t.Layers:
        ordered = self._ordered(stores)
        if ordered is not None:
            return tuple(layer for store in ordered for layer in self._row(store))
        return self._by_last_writer(stores)

    def _ordered(self, stores: Sequence[_Stores]) -> list[_Stores] | None:
        """The rows, those that lie above others first; None where some write is no row, or two lie over each other."""
        for store in stores:
            row = store.row
            if row is None or abs(row[0]) < store.size:
                return None
        below: dict[int, set[int]] = {number: set() for number in range(len(stores))}
        for one, other in combinations(range(len(stores)), 2):
            first, second = self._later(stores[one], stores[other]), self._later(stores[other], stores[one])
            if first and second:
                return None
            if first:
                below[one].add(other)
            if second:
                below[other].add(one)
        found: list[int] = []
        while len(found) < len(stores):
            free = [n for n in below if n not in found and not any(n in below[m] for m in below if m not in found)]
            if not free:
                return None
            found += free[:1]
        return [stores[number] for number in found]

    def _later(self, one: _Stores, other: _Stores) -> bool:
        """Whether ``one`` may write, later than ``other`` did, a byte that this wrote."""
        earlier: dict[t.Var, t.Term] = {_AT: _EARLIER}
        distance = one.offset - t.substitute(other.offset, earlier)
        meet = t.between(1 - one.size, distance, other.size - 1)
        before = t.substitute(self.common & other.when, earlier) & self.common & one.when
        if possible(before & meet & _EARLIER.lt(_AT)):
            return True
        together = any(place > other.order[path] for path, place in one.order.items() if path in other.order)
        return together and possible(before & meet & _EARLIER.eq(_AT))

    def _row(self, store: _Stores) -> t.Layers:
        """The layer of a write whose offset moves by the same number each time."""
        assert store.row is not None
        moved, begins = store.row
        stride = abs(moved)
        start, shift = _aligned(begins, stride, store.array)
        # element j is written in the iteration (j - shift), or (shift - j)
        at = t.INDEX - shift if moved > 0 else shift - t.INDEX
        there: dict[t.Var, t.Term] = {_AT: at}
        where = at.ge(0) & at.lt(TIMES) & t.substitute(store.when, there)
        value = None if store.value is None else t.substitute(store.value, there)
        return (t.Layer(store.type, start, stride, where, value),)

    def _by_last_writer(self, stores: Sequence[_Stores]) -> t.Layers:
        """One layer for all writes: element j is what the last iteration wrote that wrote it."""
        size, type = stores[0].size, stores[0].type
        places = [residue(store.offset, size) for store in stores]
        if any(store.size != size for store in stores) or None in places or len(set(places)) > 1:
            return (unknown(),)
        start = t.const(places[0] or 0)
        element = start + size * t.INDEX
        hits = [store.when & store.offset.eq(element) for store in stores]
        last = t.last(_AT, TIMES, t.disjunction(hits))
        when: dict[t.Var, t.Term] = {_AT: last}
        order = self._newest_first(stores)
        if order is None or any(stores[number].value is None for number in order):
            return (t.Layer(type, start, size, last.ge(0), None),)
        values = [t.wrap(value, type) for number in order if (value := stores[number].value) is not None]
        value = t.substitute(values[-1], when)
        for number, other in reversed(list(zip(order[:-1], values[:-1], strict=True))):
            value = t.ite(t.substitute(hits[number], when), t.substitute(other, when), value)
        return (t.Layer(type, start, size, last.ge(0), value),)

    @staticmethod
    def _newest_first(stores: Sequence[_Stores]) -> list[int] | None:
        """The writes, of one iteration the later ones first; None where paths disagree about that."""
        for one, other in combinations(stores, 2):
            both = one.order.keys() & other.order.keys()
            if len({one.order[path] < other.order[path] for path in both}) > 1:
                return None
        paths = dict.fromkeys(path for store in stores for path in store.order)
        found: list[int] = []
        while len(found) < len(stores):
            free = [
                n
                for n, store in enumerate(stores)
                if n not in found
                and not any(
                    m not in found and path in store.order and stores[m].order.get(path, -1) > store.order[path]
                    for m in range(len(stores))
                    for path in paths
                )
            ]
            if not free:
                return None
            found += free[:1]
        return found


def _aligned(begins: t.Term, stride: int, array: str) -> tuple[t.Term, t.Term]:
    """Where the elements of a row lie, and the number of the element that lies at ``begins``: whole strides are counted
    by the number. The pointer of the name ``array`` stays in the offset, since texts count from where it points to.
    """
    start: t.Term = t.ZERO
    shift: t.Term = t.ZERO
    for monomial, factor in t.polynomial(begins).items():
        if not monomial:
            whole, rest = divmod(factor, stride)
            shift, start = shift + whole, start + rest
        elif factor % stride == 0 and not _is_pointer(monomial, array):
            shift = shift + t.from_polynomial({monomial: factor // stride})
        else:
            start = start + t.from_polynomial({monomial: factor})
    return start, shift


def _is_pointer(monomial: t.Monomial, array: str) -> bool:
    """Whether the monomial is the variable that is called as the array."""
    return len(monomial) == 1 and monomial[0][1] == 1 and getattr(monomial[0][0], "name", "") == array
