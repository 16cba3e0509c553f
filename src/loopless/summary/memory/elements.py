"""What iterations read of memory that the loop writes, in terms of what memory held at the loop's entry.

An element that no earlier iteration wrote is the entry's. Else it is *carried*: a variable of its own, which holds in
each iteration the element at an offset that moves along; its next value is what lies at the next offset behind the
iteration's writes. So ``a[i] = a[i - 1] + e`` is a sum, a cell ``sum[0]`` is a scalar, and what is carried over d
places is d variables. Then the loop reads no memory that it writes, and all methods know it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from typing import Final

from loopless import terms as t
from loopless.limits.summary import MAX_CARRIED_ELEMENTS
from loopless.paths.build import without_wraps
from loopless.paths.iteration_memory import HIDDEN, at_header, meeting, read_at_header
from loopless.paths.model import LoopPaths, Path, Unknown, Write
from loopless.records import dataclass
from loopless.summary.data.oblivious import Oblivious, oblivious_part
from loopless.summary.data.possible import possible
from loopless.terms.contents import size_of
from loopless.terms.ranges import union

_TICK: Final = t.Var("|tick", t.INTEGERS)
_NOW: Final = t.position("|now")
_EARLIER: Final = t.position("|earlier")
_ROW: Final = t.Var("|row", t.INTEGERS)


def own_element(type: t.IntType) -> t.Var:
    """What the element that a write is to holds when the iteration begins, in the value of the write."""
    return t.Var(f"|element{type}", type)


@dataclass(frozen=True, slots=True)
class Resolved:
    """A loop that reads nothing of what it writes, as far as that is found. ``carried``: variables for elements, by the
    element that each holds when an iteration begins, over the values at the header; ``cells``: those whose element no
    iteration moves. What is not known stays an unknown value, or is read as :func:`.at_header` calls it.
    """

    paths: LoopPaths
    carried: Mapping[t.Var, t.Read]
    cells: frozenset[t.Var]
    entry: t.Condition = t.TRUE
    """What holds at the loop's entry."""
    wishes: tuple[t.Condition, ...] = ()
    """Conditions at the entry. Under each of them more elements would be known."""
    outside: frozenset[t.Var] = frozenset()
    """The unknown values of all paths."""

    @property
    def open(self) -> bool:
        """Whether a condition, an update or a result depends on an unknown value: memory of which nothing is known, or
        an input.
        """
        return any(map(self.is_unknown, (node for path in self.paths.all for node in spoken(path))))

    def is_unknown(self, node: t.Node) -> bool:
        """Whether ``node`` speaks of such a value."""
        return is_open(node) or not node.variables.isdisjoint(self.outside)

    @property
    def closed(self) -> LoopPaths:
        """The paths without what they write, where they are not :attr:`open`."""

        def of(path: Path) -> Path:
            return replace(path, unknowns=(), writes=())

        iterative, exits = tuple(map(of, self.paths.iterative)), tuple(map(of, self.paths.exits))
        return replace(self.paths, iterative=iterative, exits=exits, carried=self.carried)


def is_open(node: t.Node) -> bool:
    """Whether ``node`` speaks of memory that earlier iterations may have written, or of which nothing is known."""
    reads = (part.array for part in t.walk_inside(node) if isinstance(part, t.Read))
    return any(array.startswith(HIDDEN) or read_at_header(array) is not None for array in reads)


def resolved(paths: LoopPaths, entry: t.Condition = t.TRUE) -> Resolved:
    """The loop with what it reads of memory, as far as that is known where ``entry`` holds at its entry. Raises
    :class:`loopless.terms.TermTooLarge`.
    """
    return _Resolution(paths, entry).run()


def spoken(path: Path) -> Iterator[t.Node]:
    """The terms and conditions of a path, without its writes."""
    yield path.condition
    yield from path.update.values()
    if path.result is not None:
        yield path.result


def is_hidden(node: t.Node) -> bool:
    """Whether ``node`` speaks of memory of which nothing is known."""
    return any(isinstance(part, t.Read) and part.array.startswith(HIDDEN) for part in t.walk_inside(node))


def hidden(paths: LoopPaths) -> LoopPaths:
    """The paths where what is not known is read of memory that no object has, in each iteration of another place: so
    nothing takes values of two iterations for the same. Writes read as :func:`.at_header` calls it what they may.
    """
    found = dict.fromkeys(unknown.var for path in paths.all for unknown in path.unknowns)
    values: dict[t.Var, t.Term] = {
        var: t.read(f"{HIDDEN} {number}", _TICK, var.type) for number, var in enumerate(found)
    }

    def of_read(array: str, offset: t.Term, type: t.IntType) -> t.Term:
        held = read_at_header(array)
        if held is None and array != HIDDEN:
            return t.read(array, offset, type)
        return t.read(f"{HIDDEN} of {held}", offset + (1 << 80) * _TICK, type)

    def of(path: Path) -> Path:
        placed = changed(path.given(values) if values else path, lambda node: t.with_reads(node, of_read))
        held: dict[t.Var, t.Term] = dict(values)
        for unknown in path.unknowns:
            if unknown.held is not None:
                offset = t.substitute(unknown.held.offset, held)
                held[unknown.var] = t.read(at_header(unknown.held.array), offset, unknown.held.type)
        update = placed.update if path.exit is not None else {**placed.update, _TICK: _TICK + 1}
        writes = tuple(write.given(held) for write in path.writes)
        return replace(placed, update=update, writes=writes, unknowns=())

    iterative, exits = tuple(map(of, paths.iterative)), tuple(map(of, paths.exits))
    return replace(paths, iterative=iterative, exits=exits, state=(*paths.state, _TICK))


def changed(path: Path, of: Callable[[t.Node], t.Node]) -> Path:
    """The path with ``of`` applied to its terms and conditions."""

    def term(node: t.Term) -> t.Term:
        found = of(node)
        assert isinstance(found, t.Term)
        return found

    condition = of(path.condition)
    assert isinstance(condition, t.Condition)
    return replace(
        path,
        condition=condition,
        update={var: term(value) for var, value in path.update.items()},
        result=None if path.result is None else term(path.result),
        writes=tuple(write.of(of) for write in path.writes),
    )


class _Resolution:
    """The search for what each element that is read was at the entry."""

    def __init__(self, paths: LoopPaths, entry: t.Condition) -> None:
        self.paths = paths
        self.entry = entry
        self.wishes: dict[t.Condition, None] = {}
        self.part: Oblivious = oblivious_part(hidden(paths))
        self.changing = frozenset(var for path in paths.iterative for var in path.update)
        self.steps = _steps(paths, self.changing - self.part.closed.keys())
        self.unknown = frozenset(unknown.var for path in paths.all for unknown in path.unknowns)
        self.known: dict[str, dict[t.Var, t.Term]] = {path.id: {} for path in paths.all}
        """By path what its unknown values are: on another path an earlier iteration may have written the element."""
        self.carried: dict[t.Read, t.Var] = {}
        self.cells: set[t.Var] = set()
        self.updates: dict[tuple[t.Var, str], t.Term] = {}

    def run(self) -> Resolved:
        for path in self.paths.iterative:
            for write in path.writes:
                if write.offset is not None and not write.stride and self._is_fixed(write.offset):
                    var = self._carry(t.Read(write.array, write.offset, write.type))
                    if var is not None:
                        self.cells.add(var)
        for path in self.paths.all:
            known = self.known[path.id]
            for unknown in path.unknowns:
                if unknown.held is not None:
                    held = unknown.held
                    element = t.Read(held.array, t.substitute(held.offset, known), held.type)
                    found = self._element(element, path, t.TRUE)
                    if found is not None:
                        known[unknown.var] = found
        for path in self.paths.all:
            self._plain(path, frozenset())  # finds what else is carried
        lost = self._follow()
        return self._resolved(lost)

    def _is_fixed(self, offset: t.Term) -> bool:
        moving = self.changing | self.unknown | set(self.carried.values())
        return not offset.variables & moving and not _reads(offset)

    # -- what an element is when the iteration begins -----------------------------------------------------------------

    def _element(self, element: t.Read, path: Path, given: t.Condition) -> t.Term | None:
        """What an element is where an iteration by ``path`` begins, ``given`` holding; None where that is not known."""
        if element.array.startswith(HIDDEN) or is_open(element.offset):
            return None
        return element if self.of_entry(element, path, given) else self._carry(element)

    def _carry(self, element: t.Read) -> t.Var | None:
        """The variable for an element; None where there are too many, or it is one of a row."""
        found = self.carried.get(element)
        elsewhere = self.unknown | set(self.carried.values())  # where it lies, other elements must not say
        if found is None and len(self.carried) < MAX_CARRIED_ELEMENTS and not element.variables & elsewhere:
            if any(var.name.startswith((t.OPENED, t.BOUND)) for var in element.variables) or is_open(element.offset):
                return None
            name = f"what is carried in {element.array}'{len(self.carried) + 1}"
            found = self.carried[element] = t.Var(name, element.type)
        return found

    def of_entry(self, element: t.Read, path: Path, given: t.Condition = t.TRUE) -> bool:
        """Whether no iteration before one by ``path`` writes any byte of ``element``, whose offset is over the values
        at that one's header, wherever ``given`` holds there.
        """
        if not any(write.array == element.array for other in self.paths.iterative for write in other.writes):
            return True
        if not self._is_known_at(element.offset):
            return False
        offset = t.substitute(element.offset, self._there(_NOW))
        now = self._known_of(path.condition & given, _NOW) & self._moved()
        if now is t.FALSE:
            return True
        for other in self.paths.iterative:
            writes = [write for write in other.writes if write.array == element.array]
            if not writes:
                continue
            before = self._known_of(other.condition, _EARLIER) & _EARLIER.ge(0) & _EARLIER.lt(_NOW) & now & self.entry
            for write in writes:
                if write.offset is None or not self._is_known_at(write.offset):
                    return False
                touched = before & self._touches(write, offset, size_of(element.type))
                if possible(touched):
                    self._wish(element, write, touched)
                    return False
        return True

    def _wish(self, element: t.Read, write: Write, touched: t.Condition) -> None:
        """Note a condition at the entry under which a write is behind, or in front of, all that is read later."""
        assert write.offset is not None
        distance = element.offset - write.offset
        outside = any(var.name.startswith(t.OPENED) for var in distance.variables)
        if write.stride or outside or isinstance(distance, t.Const) or _reads(distance):
            return
        for wish in (distance.ge(0), distance.le(0)):
            if not possible(touched & wish):
                self.wishes[wish] = None

    def _touches(self, write: Write, offset: t.Term, size: int) -> t.Condition:
        """Where a write of iteration :data:`_EARLIER` shares a byte with what lies at ``offset``."""
        assert write.offset is not None
        row = write.offset + write.stride * _ROW
        where = t.substitute(write.where, {t.INDEX: _ROW})
        distance = offset - t.substitute(row, self._there(_EARLIER))
        return self._known_of(where, _EARLIER) & t.between(1 - size, distance, write.size - 1)

    def _is_known_at(self, node: t.Node) -> bool:
        """Whether ``node`` is known in each iteration, by what no data touches, or between which bounds."""
        variables = node.variables
        if variables & self.unknown or not variables.isdisjoint(self.carried.values()):
            return False
        return variables & self.changing <= self.part.closed.keys() | self.steps.keys()

    def _there(self, time: t.Term) -> dict[t.Var, t.Term]:
        """The variables in iteration ``time``; those that data moves have names of their own there."""
        return self.part.at(time) | {var: _named(var, time) for var in self.steps}

    def _moved(self) -> t.Condition:
        """How far data moves variables until iteration :data:`_EARLIER`, and from there to :data:`_NOW`."""
        found: list[t.Condition] = []
        for var, (low, high) in self.steps.items():
            earlier, now = _named(var, _EARLIER), _named(var, _NOW)
            for moved, times in ((earlier - var, _EARLIER), (now - earlier, _NOW - _EARLIER)):
                found += [] if low is None else [moved.ge(low * times)]
                found += [] if high is None else [moved.le(high * times)]
        return t.conjunction(found)

    def _known_of(self, condition: t.Condition, time: t.Term) -> t.Condition:
        """What a condition says without data, in iteration ``time``."""
        parts = (part for part in t.conjuncts(condition) if self._is_known_at(part))
        return t.substitute(t.conjunction(part for part in parts if not _reads(part)), self._there(time))

    def _is_taken(self, path: Path) -> bool:
        """Whether some iteration may take a path, by how far data has moved variables until there."""
        if path.condition.variables.isdisjoint(self.steps):
            return True
        now = self._known_of(path.condition, _NOW) & self._moved() & self.entry
        return possible(now & _EARLIER.ge(0) & _EARLIER.le(_NOW))

    # -- how carried elements go on -----------------------------------------------------------------------------------

    def _follow(self) -> set[t.Var]:
        """Find what becomes of each carried element; those of which that is not known."""
        done: set[t.Var] = set()
        lost: set[t.Var] = set()
        while len(done) < len(self.carried):
            for element, var in list(self.carried.items()):
                if var in done:
                    continue
                done.add(var)
                for path in self.paths.iterative:
                    following = self._next(element, path)
                    if following is None:
                        lost.add(var)
                        break
                    self.updates[var, path.id] = following
        while True:
            open_ = lost | self.unknown
            more = {var for (var, _), value in self.updates.items() if value.variables & open_} - lost
            if not more:
                return lost
            lost |= more

    def _next(self, element: t.Read, path: Path) -> t.Term | None:
        """What lies, behind an iteration by ``path``, where the element is then."""
        moved = t.substitute(element.offset, path.update)
        offset = self._seen(moved, path, t.TRUE, frozenset())
        assert isinstance(offset, t.Term)
        if is_open(offset):
            return None
        return self._behind(t.Read(element.array, offset, element.type), path, len(path.writes))

    def _behind(self, element: t.Read, path: Path, writes: int) -> t.Term | None:
        """What ``element`` is behind the first ``writes`` of a path."""
        known = self.known[path.id]
        condition = t.substitute(path.condition, known)
        for at in reversed(range(writes)):
            write = path.writes[at].given(known)
            if write.array != element.array:
                continue
            met = meeting(element, write, condition)
            if met is None:
                return None
            where, written = met
            if where is t.FALSE:
                continue
            if written is None:
                return None
            value = self._seen(without_wraps(written, condition), path, where, frozenset())
            there = self._seen(where, path, t.TRUE, frozenset())
            assert isinstance(value, t.Term)
            assert isinstance(there, t.Condition)
            if is_open(value) or is_open(there):
                return None
            if there is t.TRUE:
                return value
            below = self._behind(element, path, at)
            return None if below is None else t.ite(there, value, below)
        for other, var in self.carried.items():
            same = other.array == element.array and other.type == element.type
            if same and not possible(condition & element.offset.ne(other.offset)):
                return var
        if self.of_entry(element, path):
            return element
        return self._carry(element)

    # -- the loop with all of it --------------------------------------------------------------------------------------

    def _resolved(self, lost: set[t.Var]) -> Resolved:
        carried = {var: element for element, var in self.carried.items() if var not in lost}

        def of(path: Path) -> Path:
            placed = self._plain(path, frozenset(lost))
            if path.exit is not None:
                return placed if self._is_taken(path) else replace(placed, condition=t.FALSE)
            more = {var: self.updates[var, path.id] for var in carried}
            moved = {var: value for var, value in more.items() if value is not var}
            return replace(placed, update={**placed.update, **moved})

        paths = replace(
            self.paths,
            iterative=tuple(map(of, self.paths.iterative)),
            exits=tuple(map(of, self.paths.exits)),
            state=(*self.paths.state, *carried),
        )
        cells, wishes = frozenset(self.cells - lost), tuple(self.wishes)
        return Resolved(paths, carried, cells, self.entry, wishes, self.unknown)

    def _plain(self, path: Path, lost: frozenset[t.Var]) -> Path:
        """The path with what it reads of memory in terms of the entry, as far as that is known."""

        def of(node: t.Node) -> t.Node:
            return self._seen(node, path, t.TRUE, lost)

        found = changed(replace(path, writes=()), of)
        writes = tuple(self._write(write, path, lost) for write in path.writes)
        gone = {unknown.var for unknown in path.unknowns if self._known(unknown.var, path, lost) is not None}
        unknowns = tuple(self._placed(one, path, lost) for one in path.unknowns if one.var not in gone)
        return replace(found, writes=writes, unknowns=unknowns)

    def _placed(self, unknown: Unknown, path: Path, lost: frozenset[t.Var]) -> Unknown:
        """An unknown value that stays, with the place of its element in terms of the entry."""
        held = unknown.held
        if held is None:
            return unknown
        offset = self._seen(held.offset, path, t.TRUE, lost)
        assert isinstance(offset, t.Term)
        return replace(unknown, held=t.Read(held.array, offset, held.type))

    def _write(self, write: Write, path: Path, lost: frozenset[t.Var]) -> Write:
        if write.offset is None:
            return write
        given = path.condition & write.where
        value = write.value
        if value is not None:
            value = self._with_own(value, write, path)
            seen = self._seen(value, path, given, lost)
            assert isinstance(seen, t.Term)
            value = seen
        placed = replace(write, value=None).of(lambda node: self._seen(node, path, t.TRUE, lost))
        return replace(placed, value=value)

    def _with_own(self, value: t.Term, write: Write, path: Path) -> t.Term:
        """The value of a write to an element that earlier iterations may have written. :func:`own_element` stands in it
        for what that element held.
        """
        assert write.offset is not None
        place = write.offset + write.stride * t.INDEX

        def of(array: str, offset: t.Term, type: t.IntType) -> t.Term | None:
            if array != write.array or type.width != write.type.width:
                return None
            if offset is not place and possible(path.condition & write.where & offset.ne(place)):
                return None
            if self.of_entry(t.Read(array, offset, type), path, write.where):
                return None
            return t.wrap(own_element(write.type), type)

        def of_read(array: str, offset: t.Term, type: t.IntType) -> t.Term:
            held = read_at_header(array)
            found = None if held is None else of(held, offset, type)
            return t.read(array, offset, type) if found is None else found

        found = t.with_reads(value, of_read)
        assert isinstance(found, t.Term)
        own: dict[t.Var, t.Term] = {}
        for unknown in path.unknowns:
            held = unknown.held
            if held is not None and unknown.var in found.variables and not self._is_fixed(write.offset):
                there = of(held.array, held.offset, held.type)
                if there is not None:
                    own[unknown.var] = there
        return t.substitute(found, own)

    def _known(self, var: t.Var, path: Path, lost: frozenset[t.Var]) -> t.Term | None:
        """What an unknown value of a path is, where that is known."""
        value = self.known[path.id].get(var)
        return None if value is None or value.variables & (lost | self.unknown) else value

    def _seen(self, node: t.Node, path: Path, given: t.Condition, lost: frozenset[t.Var]) -> t.Node:
        """``node`` in terms of the entry, as far as that is known; what is not keeps its name."""
        unknown = sorted(node.variables & self.unknown, key=lambda var: var.key)
        values = {var: value for var in unknown if (value := self._known(var, path, lost)) is not None}

        def of(array: str, offset: t.Term, type: t.IntType) -> t.Term:
            held = read_at_header(array)
            if held is None:
                return t.read(array, offset, type)
            found = self._element(t.Read(held, offset, type), path, given)
            if found is None or found.variables & lost:
                return t.read(array, offset, type)
            return found

        return t.with_reads(t.substituted(node, values), of)


def _steps(paths: LoopPaths, variables: Collection[t.Var]) -> dict[t.Var, tuple[int | None, int | None]]:
    """By how much at least and at most an iteration moves each of the variables, where it has such bounds and no value
    wraps around.
    """
    found: dict[t.Var, tuple[int | None, int | None]] = {}
    for var in sorted(variables):
        added = [without_wraps(path.update.get(var, var), path.condition) - var for path in paths.iterative]
        if any(var in one.variables for one in added):
            continue
        low, high = functools.reduce(union, map(t.range_of, added))
        if low is not None or high is not None:
            found[var] = low, high
    return found


def _named(var: t.Var, time: t.Term) -> t.Var:
    """What a variable holds in iteration ``time``."""
    return t.Var(f"|{var.name} at {time}", var.type)


def _reads(node: t.Node) -> bool:
    return any(isinstance(part, t.Read | t.Aggregate) for part in t.walk_inside(node))
