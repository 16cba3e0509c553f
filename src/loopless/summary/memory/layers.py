"""What memory holds after n iterations, as layers over what it held before: by the writes of the loop's paths.

A write whose offset moves by the same number each time is a row of elements, one for each iteration (the inverse of an
affine index is the iteration). Rows lie over one another as iterations follow each other, where no two of them write an
element in both orders. A cell is a scalar. All other writes are looked at element by element: an element holds what the
last iteration wrote that wrote it (scatter, rings, compaction, nests over rows), or, where iterations change what it
held, what all of them make of it (histograms).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Final

from loopless import terms as t
from loopless.flowgraph.model import OFFSETS
from loopless.graphs import reachable
from loopless.logic import feasible
from loopless.paths.build import simplest
from loopless.paths.iteration_memory import at_header, read_at_header
from loopless.paths.model import Path, Write
from loopless.records import dataclass
from loopless.summary.data.oblivious import oblivious_part
from loopless.summary.data.possible import possible
from loopless.summary.data.sequences import Sequences
from loopless.summary.memory.elements import Resolved, hidden, is_hidden, is_open, own_element
from loopless.terms.contents import behind, mapped, residue, single, size_of, unknown

_WHERE: Final = "where it is written depends on elements that iterations may have written, an inner loop or a call"
_WHAT: Final = "what is written depends on elements that iterations may have written, or is no integer"
TIMES: Final = t.position("|times")
"""The number of iterations, in what :meth:`Layering.after` gives."""
_AT: Final = t.position("|at")
_EARLIER: Final = t.position("|earlier")
_ROW: Final = t.Var("|row", t.INTEGERS)


@dataclass(frozen=True, slots=True)
class _Stores:
    """A write to ``array`` that iterations make, in iteration :data:`_AT`, where ``when`` holds: to the byte ``offset``
    or, with a ``stride``, to the row of bytes ``offset`` + ``stride``·j for each j for which ``where`` holds of
    :data:`.INDEX`. ``order``: by the path, its place among the writes there.
    """

    array: str
    type: t.IntType
    offset: t.Term
    value: t.Term | None
    when: t.Condition
    order: Mapping[str, int]
    stride: int
    where: t.Condition
    given: t.Condition
    """What else the paths say of the offset."""

    @property
    def size(self) -> int:
        return size_of(self.type)

    @property
    def moves(self) -> tuple[int, t.Term] | None:
        """By how much the offset of a single element moves, and where it begins; None for others."""
        if self.stride:
            return None
        moved = 0
        rest: list[t.Term] = [t.ZERO]
        for monomial, factor in t.polynomial(self.offset).items():
            part = t.from_polynomial({monomial: factor})
            if _AT not in part.variables:
                rest.append(part)
            elif monomial == ((_AT, 1),):
                moved = factor
            else:
                return None
        return moved, t.add(*rest)

    @property
    def changes(self) -> bool:
        """Whether what is written depends on what the element held before."""
        return self.value is not None and own_element(self.type) in self.value.variables

    def touched(self, row: t.Var) -> tuple[t.Term, t.Condition]:
        """The offset of what is written, where that is element ``row`` of a row, and whether it is."""
        where = t.substitute(self.where, {t.INDEX: row}) & self.when & self.given
        return self.offset + self.stride * row, where

    def hit(self, place: t.Term) -> tuple[t.Condition, t.Term | None]:
        """Where iteration :data:`_AT` writes the element at the byte ``place``, and what. All elements that it writes
        lie at multiples of their size from there.
        """
        distance = _without_multiples(place - self.offset, self.stride or 1)
        if not self.stride:
            return self.when & distance.eq(0), self.value
        index = t.floor_div(place - self.offset, t.const(self.stride))
        aligned = t.mod(distance, t.const(self.stride)).eq(0)
        there: dict[t.Var, t.Term] = {t.INDEX: index}
        value = None if self.value is None else t.substitute(self.value, there)
        return self.when & aligned & t.substitute(self.where, there), value


class Layering:
    """The layers of one loop."""

    def __init__(self, found: Resolved) -> None:
        self._resolved = found
        self.paths = paths = hidden(found.paths)
        self.part = oblivious_part(paths)
        self.sequences = Sequences(paths, self.part)
        self._start: dict[t.Var, t.Term] = dict(found.carried)
        self.entry = frozenset((*found.paths.state, *paths.invariants)) - found.carried.keys()
        """The variables whose values at the entry contents may speak of."""
        self.why: dict[str, str] = {}
        """Why elements are not told, by the object."""
        self.common = t.substitute(self.part.common, self.part.at(_AT)) & _AT.ge(0)

    def after(self) -> dict[str, t.Layers]:
        """What objects hold after :data:`TIMES` iterations, over what they held before the first."""
        arrays = list(dict.fromkeys(write.array for path in self.paths.iterative for write in path.writes))
        found: dict[str, t.Layers] = {}
        # What is written may be read of other objects that iterations write: those come first.
        for last in (False, True):
            while True:
                waiting = [array for array in arrays if array not in found]
                ready = next((one for one in waiting if last or self._read_by(one) <= found.keys()), None)
                if ready is None:
                    break
                found[ready] = self._array(ready, found)
        return {array: self.from_entry(found[array]) for array in arrays}

    def _read_by(self, array: str) -> frozenset[str]:
        """The objects of which, as iterations find them, values that are written to ``array`` speak."""
        nodes = (node for path in self.paths.iterative for w in path.writes if w.array == array for node in w.nodes)
        reads = (part for node in nodes for part in t.walk_inside(node))
        held = (read_at_header(part.array) for part in reads if isinstance(part, t.Read))
        return frozenset(one for one in held if one is not None)

    def leaving(self, path: Path, times: t.Term) -> dict[str, t.Layers]:
        """What the way out by ``path`` writes after so many iterations."""
        found: dict[str, t.Layers] = {}
        for write in path.writes:
            placed = None if write.offset is None else write.of(lambda node: self._there(node, times))
            above = found.get(write.array, ())
            if placed is None or placed.offset is None or is_open(placed.offset) or is_open(placed.where):
                why = f"{write.by} may write it" if write.by else _WHERE
                found[write.array] = (*self._lost(write.array, why), *above)
                continue
            value = placed.value
            if self._holds_pointer(write):
                found[write.array] = (single(write.type, placed.offset, None), *above)
                continue
            if value is not None and (is_open(value) or own_element(write.type) in value.variables):
                value = None
            if value is None:
                self.why.setdefault(write.array, _WHAT)
            if write.stride:
                layer = t.Layer(write.type, placed.offset, write.stride, placed.where, value)
            else:
                layer = single(write.type, placed.offset, value)
            found[write.array] = (layer, *above)
        return {array: self.from_entry(layers) for array, layers in found.items()}

    def condition(self, path: Path, times: t.Term) -> t.Condition:
        """Where a path is taken after so many iterations."""
        found = t.substitute(path.condition, self.sequences.at(times, path.condition.variables))
        return t.substitute(found, self._start)

    def values(self, variables: frozenset[t.Var], times: t.Term) -> dict[t.Var, t.Term]:
        """What variables hold after so many iterations, those of which that is known, over what was at the entry."""
        found = {var: term for var, term in self.sequences.at(times, variables).items() if var in variables}
        return {var: t.substitute(term, self._start) for var, term in found.items() if not is_hidden(term)}

    def holding(self, times: t.Term) -> t.Condition:
        """What holds of the iteration after so many, over what was at the loop's entry, if there is one."""
        return t.substitute(self.part.common, self.part.at(times))

    def from_entry(self, layers: Sequence[t.Layer]) -> t.Layers:
        """The layers with elements of the entry in place of what is carried."""
        return mapped(layers, lambda node: t.substituted(node, self._start))

    def _there(self, node: t.Node, time: t.Term) -> t.Node:
        return t.substituted(node, self.sequences.at(time, node.variables))

    # -- one object ---------------------------------------------------------------------------------------------------

    def _lost(self, array: str, why: str) -> t.Layers:
        self.why.setdefault(array, why)
        return (unknown(),)

    def _array(self, array: str, known: t.Contents) -> t.Layers:
        """The layers of an object, those of others being ``known``."""
        stores = self._stores(array, known)
        if stores is None:
            return self._lost(array, self._why_anywhere(array))
        held, stores = self._held(array), [store for store in stores if not self._holds_pointer(store)]
        if not stores:
            return held
        if any(store.value is None for store in stores):
            self.why.setdefault(array, _WHAT)
        fixed = [store for store in stores if (moves := store.moves) is not None and moves[0] == 0]
        cells = self._cells(array, fixed)
        if len(fixed) == len(stores) and all(cell.value is None for cell in cells):
            return self._lost(array, _WHAT)
        groups = self._apart([store for store in stores if store not in fixed])
        rows = (layer for group in groups for layer in self._moving(group, alone=len(groups) == 1))
        return (*held, *cells, *rows)

    def _held(self, array: str) -> t.Layers:
        """That the places of an object which hold pointers may hold others than before: the variables that go along
        with them say which ones. No other writes are there.
        """
        held = [place for place in self.paths.pointers if place.array == array]
        if any(len(self.values(frozenset((one.object, one.inside)), TIMES)) < 2 for one in held):
            self.why.setdefault(array, _WHAT)
        return tuple(single(place.type, place.offset, None, TIMES.gt(0)) for place in held)

    def _holds_pointer(self, write: _Stores | Write) -> bool:
        """Whether a write is of a pointer, with variables that go along with its place."""
        place = write.array, write.offset, write.type
        return any(place == (held.array, held.offset, held.type) for held in self.paths.pointers)

    def _why_anywhere(self, array: str) -> str:
        """Why it is not known where iterations write an object."""
        every = (write for path in self.paths.iterative for write in path.writes if write.array == array)
        called = next((write.by for write in every if write.offset is None and write.by), "")
        return f"{called} may write it" if called else _WHERE

    def _apart(self, stores: Sequence[_Stores]) -> list[list[_Stores]]:
        """The writes in groups of which no two write the same bytes."""
        meeting: dict[int, list[int]] = {number: [] for number in range(len(stores))}
        for one, other in combinations(range(len(stores)), 2):
            if self._later(stores[one], stores[other]) or self._later(stores[other], stores[one]):
                meeting[one].append(other)
                meeting[other].append(one)
        left, groups = set(meeting), []
        while left:
            group = sorted(reachable((min(left),), meeting.__getitem__))
            groups.append([stores[number] for number in group])
            left -= set(group)
        return groups

    def _stores(self, array: str, known: t.Contents) -> list[_Stores] | None:
        """The writes to an object; None where some may be anywhere."""
        places: dict[Write, dict[str, int]] = {}
        for path in self.paths.iterative:
            for number, write in enumerate(path.writes):
                if write.array == array:
                    if write in places and path.id in places[write]:
                        return None  # twice the same in one iteration, with others between
                    places.setdefault(write, {})[path.id] = number
        found: list[_Stores] = []
        repeated: dict[Write, t.Term] | None = None
        for write, order in places.items():
            if write.offset is None:
                return None
            when = self._when(frozenset(order))
            placed = write.of(lambda node: self._there(node, _AT))
            offset, value = placed.offset, placed.value
            assert offset is not None
            there, where = self._read(offset, known), self._read(placed.where, known)
            if not isinstance(there, t.Term) or not isinstance(where, t.Condition) or is_hidden(when):
                return None
            seen = None if value is None else self._read(value, known)
            if seen is None and value is not None:
                repeated = self._repeated(array, places) if repeated is None else repeated
                seen = repeated.get(write)
            assert seen is None or isinstance(seen, t.Term)
            given = self._given(write, frozenset(order))
            found.append(_Stores(array, write.type, there, seen, when, order, write.stride, where, given))
        return found

    def _read(self, node: t.Node, known: t.Contents) -> t.Node | None:
        """A part of a write in iteration :data:`_AT`, where what it reads of objects that iterations write is read of
        what these hold then; None where that is not known.
        """
        if not is_open(node):
            return node
        now: dict[t.Var, t.Term] = {TIMES: _AT}
        contents = {
            at_header(array): mapped(layers, lambda n: t.substituted(n, now)) for array, layers in known.items()
        }

        def plain(array: str, offset: t.Term, type: t.IntType) -> t.Term:
            held = read_at_header(array)
            return t.read(array if held not in known or held is None else held, offset, type)

        found = behind(contents, node, lambda condition: condition if possible(self.common & condition) else t.FALSE)
        if found is None:
            return None
        found = t.with_reads(found, plain)
        return None if is_open(found) else found

    def _repeated(self, array: str, places: Mapping[Write, Mapping[str, int]]) -> dict[Write, t.Term]:
        """What the writes to an object come to that each iteration makes, one behind the other, where they copy from so
        many places before them in the same object, as in LZ77: what lay there at the entry, over and over again.
        """
        every = {path.id for path in self.paths.iterative}
        writes = sorted(places, key=lambda write: min(places[write].values()))
        first = next(iter(writes))
        if any(w.stride or w.type != first.type or w.where is not t.TRUE or places[w].keys() != every for w in writes):
            return {}
        placed = [write.of(lambda node: self._there(node, _AT)) for write in writes]
        offsets = [write.offset for write in placed if write.offset is not None]
        held = placed[0].value
        if len(offsets) < len(writes) or not isinstance(held, t.Read) or held.array != at_header(array):
            return {}
        slope, begin = _slope(held.offset)
        distance, step = offsets[0] - held.offset, first.size * len(writes)
        if not isinstance(slope, t.Const) or abs(slope.value) != step or _AT in distance.variables | begin.variables:
            return {}
        sign = 1 if slope.value > 0 else -1
        behind = distance * sign
        beside = all(offset is offsets[0] + sign * first.size * at for at, offset in enumerate(offsets))
        if not beside or residue(behind, first.size) != 0 or possible(self._resolved.entry & behind.le(0)):
            return {}
        if not all(self._copies(array, placed, offsets, distance, at) for at in range(len(writes))):
            return {}
        around = t.floor_div(behind, t.const(first.size))
        numbers = [t.mod(len(writes) * _AT + at, around) for at in range(len(writes))]
        values = (t.read(array, begin + sign * first.size * number, first.type) for number in numbers)
        return dict(zip(writes, values, strict=True))

    def _copies(
        self, array: str, writes: Sequence[Write], offsets: Sequence[t.Term], distance: t.Term, number: int
    ) -> bool:
        """Whether a write copies what lies so many bytes before it behind the writes of the iteration before it."""
        source = offsets[number] - distance
        left = {at: (source - offsets[at]).eq(0) for at in range(number)}
        value = writes[number].value
        while isinstance(value, t.Ite):
            same = next((at for at, there in left.items() if there is value.condition), None)
            if same is None or value.then is not writes[same].value:
                return False
            del left[same]
            value = value.otherwise
        if any(possible(self._resolved.entry & self.common & there) for there in left.values()):
            return False
        return value is t.read(at_header(array), source, writes[number].type)

    def _given(self, write: Write, paths: frozenset[str]) -> t.Condition:
        """What all these paths say of the offset of a write, in iteration :data:`_AT`."""
        assert write.offset is not None
        those = [t.conjuncts(path.condition) for path in self.paths.iterative if path.id in paths]
        shared = [part for part in those[0] if all(part in other for other in those[1:])]
        about = t.conjunction(part for part in shared if part.variables and part.variables <= write.offset.variables)
        found = t.substitute(about, self.sequences.at(_AT, about.variables))
        return t.TRUE if is_hidden(found) else found

    def _when(self, paths: frozenset[str]) -> t.Condition:
        """Which iterations go by one of these paths."""
        those = [path for path in self.paths.iterative if path.id in paths]
        others = [path for path in self.paths.iterative if path.id not in paths]
        if not others:
            return t.TRUE
        when, _ = self.sequences.choices.conditions([those, others])
        return t.substitute(when, self.sequences.at(_AT, when.variables))

    def _cells(self, array: str, stores: Sequence[_Stores]) -> t.Layers:
        """The elements that no iteration moves. Those that are not carried lie on top, and hold what is not known."""
        places = {(store.offset, store.type) for store in stores}
        found: list[t.Layer] = []
        for var in sorted(self._resolved.cells, key=lambda one: one.key):
            element = self._resolved.carried[var]
            if element.array == array and (element.offset, element.type) in places:
                places.discard((element.offset, element.type))
                value = self.sequences.at(TIMES, frozenset((var,)))[var]
                found.append(single(element.type, element.offset, None if is_hidden(value) else value, TIMES.gt(0)))
        if places:
            self.why.setdefault(array, _WHAT)
        lost = sorted(places, key=lambda place: (str(place[0]), str(place[1])))
        return (*(single(type, offset, None, TIMES.gt(0)) for offset, type in lost), *found)

    def _moving(self, stores: Sequence[_Stores], *, alone: bool) -> t.Layers:
        """The layers of writes that meet. ``alone``: there are no others of the object that move."""
        ordered = self._ordered(stores)
        if ordered is None:
            return self._by_element(stores, alone=alone)
        found: list[t.Layer] = []
        for store in ordered:
            moves = store.moves
            plain = moves is not None and abs(moves[0]) >= store.size and not store.changes
            found += self._row(store) if plain else self._by_element([store], alone=alone and len(ordered) == 1)
        return tuple(found)

    def _ordered(self, stores: Sequence[_Stores]) -> list[_Stores] | None:
        """The writes, those that lie above others first; None where two lie over each other."""
        if len(stores) > 1 and any(store.changes for store in stores):
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
        place, there = one.touched(_ROW)
        before, then = other.touched(t.Var("|row before", t.INTEGERS))
        distance = place - t.substitute(before, earlier)
        meet = t.between(1 - one.size, distance, other.size - 1)
        both = t.substitute(self.common & then, earlier) & self.common & there & meet
        if possible(both & _EARLIER.lt(_AT)):
            return True
        together = any(at > other.order[path] for path, at in one.order.items() if path in other.order)
        return together and possible(both & _EARLIER.eq(_AT))

    def _row(self, store: _Stores) -> t.Layers:
        """The layer of a write whose offset moves by the same number each time."""
        assert store.moves is not None
        moved, begins = store.moves
        stride = abs(moved)
        start, shift = _aligned(begins, stride, store.array)
        # element j is written in the iteration (j - shift), or (shift - j)
        at = t.INDEX - shift if moved > 0 else shift - t.INDEX
        there: dict[t.Var, t.Term] = {_AT: at}
        where = at.ge(0) & at.lt(TIMES) & t.substitute(store.when, there)
        value = None if store.value is None else t.substitute(store.value, there)
        return (t.Layer(store.type, start, stride, where, value),)

    # -- element by element -------------------------------------------------------------------------------------------

    def _by_element(self, stores: Sequence[_Stores], *, alone: bool) -> t.Layers:
        """One layer for all writes: what the iterations make of each element."""
        size, type, array = stores[0].size, stores[0].type, stores[0].array
        places = {_beside_multiples(store.offset, size) for store in stores}
        start = next(iter(places))
        aligned = all(store.size == size and store.stride % size == 0 for store in stores)
        if not aligned or len(places) > 1 or _AT in start.variables:
            return self._lost(array, "iterations write elements of several sizes, or not aligned ones, over each other")
        start = start + _begin(stores[0].offset - start, array)
        place = start + size * t.INDEX
        order = _newest_first(stores)
        if order is None:
            return self._lost(array, "several ways through an iteration write in other orders")
        writes = [stores[number].hit(place) for number in order]
        if any(store.changes for store in stores):
            return self._changed(stores, writes, start, alone=alone)
        return self._last_written(writes, type, start)

    def _last_written(
        self, writes: Sequence[tuple[t.Condition, t.Term | None]], type: t.IntType, start: t.Term
    ) -> t.Layers:
        """Each element holds what the last iteration wrote that wrote it. ``writes``: of one iteration the newest
        first.
        """
        size = size_of(type)
        hit = t.disjunction(where for where, _ in writes)
        found = self._last_of(hit)
        if found is None:
            last: t.Term = t.last(_AT, TIMES, hit)
            there = last.ge(0)
        else:
            last, there = found
        when: dict[t.Var, t.Term] = {_AT: last}
        value: t.Term | None = None
        for at, (where, written) in enumerate(reversed(writes)):
            if written is None:
                value = None
                break
            placed = t.substitute(t.wrap(written, type), when)
            value = placed if at == 0 or value is None else t.ite(t.substitute(where, when), placed, value)
        if value is not None:
            value = simplest(value, there)
        return (t.Layer(type, start, size, there, value),)

    def _last_of(self, hit: t.Condition) -> tuple[t.Term, t.Condition] | None:
        """The last iteration before :data:`TIMES` in which ``hit`` holds, and where there is one; None where that is
        not seen: it is where ``hit`` is linear in the iteration, so that it holds in an interval of them.
        """
        upper: list[t.Term] = []
        for part in t.conjuncts(hit):
            if _AT not in part.variables:
                continue
            if not isinstance(part, t.Compare) or part.relation == "ne":
                return None
            slope, rest = _slope(part.term)
            if slope is None or _AT in rest.variables:
                return None
            sign = self._sign(slope, hit)
            if sign is None:
                return None
            if part.relation == "eq" or sign > 0:  # slope * at + rest <= 0
                upper.append(t.floor_div(-rest, slope) if sign > 0 else t.floor_div(rest, -slope))
        if not upper:
            last = TIMES - 1
            return last, TIMES.gt(0) & hit if _AT not in hit.variables else t.substitute(hit, {_AT: last}) & TIMES.gt(0)
        last = t.minimum(*upper) if len(upper) > 1 else upper[0]
        beyond = last.ge(TIMES) & t.substitute(hit, {_AT: TIMES - 1}) & TIMES.gt(0)
        if feasible(beyond):
            last = t.minimum(last, TIMES - 1)
        there = t.substitute(hit, {_AT: last}) & last.ge(0) & last.lt(TIMES)
        return last, there

    def _sign(self, slope: t.Term, hit: t.Condition) -> int | None:
        """The sign of a factor of the iteration's number wherever ``hit`` holds; None where that is not known."""
        if isinstance(slope, t.Const):
            return (slope.value > 0) - (slope.value < 0) or None
        if not feasible(hit & self.common & slope.le(0)):
            return 1
        return -1 if not feasible(hit & self.common & slope.ge(0)) else None

    def _changed(
        self,
        stores: Sequence[_Stores],
        writes: Sequence[tuple[t.Condition, t.Term | None]],
        start: t.Term,
        *,
        alone: bool,
    ) -> t.Layers:
        """Each element is changed by all iterations that write it, one after another. ``writes``: the newest of an
        iteration first. ``alone``: no other writes say what elements hold that these leave as they are.
        """
        hit = t.disjunction(where for where, _ in writes)
        there = t.TRUE if alone else t.last(_AT, TIMES, hit).ge(0)
        store = stores[0]
        own, size, type = own_element(store.type), store.size, store.type
        if any(value is None for _, value in writes) or any(other.type != type for other in stores):
            return (t.Layer(type, start, size, there, None),)
        before = t.read(store.array, start + size * t.INDEX, type)
        if len(writes) == 1:
            where, value = writes[0]
            assert value is not None
            bare = value.arg if isinstance(value, t.Wrap) and value.type == type else value
            added = bare - own
            if own not in added.variables and own not in where.variables:
                whole = before + t.total(_AT, TIMES, t.ite(where, added, t.ZERO))
                return (t.Layer(type, start, size, there, t.wrap(whole, type)),)
        following: t.Term = own
        for where, value in reversed(writes):
            assert value is not None
            following = t.ite(where, t.wrap(value, type), following)
        return (t.Layer(type, start, size, there, t.fold(_AT, TIMES, {own: (before, following)}, own)),)


def _newest_first(stores: Sequence[_Stores]) -> list[int] | None:
    """The numbers of the writes, of one iteration the later ones first; None where paths disagree about that."""
    after: dict[int, set[int]] = {number: set() for number in range(len(stores))}
    for one, other in combinations(range(len(stores)), 2):
        first, second = stores[one].order, stores[other].order
        if any(first[path] < second[path] for path in first.keys() & second.keys()):
            after[one].add(other)
        if any(second[path] < first[path] for path in first.keys() & second.keys()):
            after[other].add(one)
    found: list[int] = []
    while len(found) < len(stores):
        free = [number for number in after if number not in found and after[number] <= set(found)]
        if not free:
            return None
        found += free[:1]
    return found


def _slope(term: t.Term) -> tuple[t.Term | None, t.Term]:
    """What a term multiplies the iteration's number by, and the rest; None where it does not go by a number."""
    slopes: list[t.Term] = []
    rest: list[t.Term] = []
    for monomial, factor in t.polynomial(term).items():
        part = t.from_polynomial({monomial: factor})
        if _AT not in part.variables:
            rest.append(part)
            continue
        left = tuple((atom, power) for atom, power in monomial if atom is not _AT)
        if (_AT, 1) not in monomial or any(_AT in atom.variables for atom, _ in left):
            return None, term
        slopes.append(t.from_polynomial({left: factor}))
    return t.add(*slopes, t.ZERO), t.add(*rest, t.ZERO)


def _without_multiples(term: t.Term, modulus: int) -> t.Term:
    """The term without monomials that are multiples of a number, where only its residue counts; itself for 1."""
    if modulus == 1:
        return term
    kept = {part: factor for part, factor in t.polynomial(term).items() if factor % modulus or not part}
    return t.from_polynomial(kept)


def _beside_multiples(term: t.Term, modulus: int) -> t.Term:
    """What of a term is no multiple of a number, by its form: it differs from the term by multiples of that."""
    return t.from_polynomial({part: rest for part, factor in t.polynomial(term).items() if (rest := factor % modulus)})


def _aligned(begins: t.Term, stride: int, array: str) -> tuple[t.Term, t.Term]:
    """Where the elements of a row lie, and the number of the element that lies at ``begins``: whole strides are counted
    by the number. Pointers stay in the offset, as that of the name ``array`` may be, since texts count from where it
    points to.
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


def _begin(term: t.Term, array: str) -> t.Term:
    """The number and the pointers in a byte offset: elements are counted from there, as C does in arrays of
    structures. None of the rest depends on that.
    """
    kept = {part: factor for part, factor in t.polynomial(term).items() if not part or _is_pointer(part, array)}
    return t.from_polynomial(kept)


def _is_pointer(monomial: t.Monomial, array: str) -> bool:
    """Whether the monomial is a pointer: the variable that is called as the array, or one that offsets are held in."""
    atom, power = monomial[0]
    if len(monomial) > 1 or power != 1 or not isinstance(atom, t.Var):
        return False
    return atom.name == array or atom.type in OFFSETS
