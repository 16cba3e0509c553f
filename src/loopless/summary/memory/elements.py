"""What iterations read of memory that the loop writes, in terms of what memory held at the loop's entry.

An element that no earlier iteration wrote is the entry's. Else it is *carried*: a variable of its own, which holds in
each iteration the element at an offset that moves along; its next value is what lies at the next offset behind the
iteration's writes. So ``a[i] = a[i - 1] + e`` is a sum, a cell ``sum[0]`` is a scalar, and what is carried over d
places is d variables. Then the loop reads no memory that it writes, and all methods know it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from loopless import terms as t
from loopless.limits.summary import MAX_CARRIED_ELEMENTS
from loopless.paths.build import without_wraps
from loopless.paths.iteration_memory import meeting
from loopless.paths.model import LoopPaths, Path, Unknown, Write
from loopless.records import dataclass
from loopless.summary.data.oblivious import Oblivious, oblivious_part
from loopless.summary.data.possible import possible

HIDDEN: Final = "|memory"
"""The array that stands for memory of which nothing is known; no object has its name."""
_TICK: Final = t.Var("|tick", t.INTEGERS)
_NOW: Final = t.position("|now")
_EARLIER: Final = t.position("|earlier")


@dataclass(frozen=True, slots=True)
class Resolved:
    """A loop that reads nothing of what it writes, as far as that is found. ``carried``: variables for elements, by the
    element that each holds when an iteration begins, over the values at the header; ``cells``: those whose element no
    iteration moves.
    """

    paths: LoopPaths
    carried: Mapping[t.Var, t.Read]
    cells: frozenset[t.Var]

    @property
    def open(self) -> bool:
        """Whether iterations read memory of which nothing is known, or take other values from outside."""
        return any(path.unknowns for path in self.paths.all)


def resolved(paths: LoopPaths) -> Resolved:
    """The loop with what it reads of memory, as far as that is known. Raises :class:`loopless.terms.TermTooLarge`."""
    return _Resolution(paths).run()


def hidden(paths: LoopPaths) -> LoopPaths:
    """The paths where what is not known is read of :data:`HIDDEN`, at an offset that no iteration repeats."""
    found = dict.fromkeys(unknown.var for path in paths.all for unknown in path.unknowns)
    values: dict[t.Var, t.Term] = {
        var: t.read(HIDDEN, _TICK + 16 * number, var.type) for number, var in enumerate(found)
    }
    if not values:
        return paths

    def of(path: Path) -> Path:
        return replace(path.given(values), unknowns=())

    state = (*paths.state, _TICK)
    return replace(paths, iterative=tuple(map(of, paths.iterative)), exits=tuple(map(of, paths.exits)), state=state)


def is_hidden(node: t.Node) -> bool:
    """Whether ``node`` speaks of memory of which nothing is known."""
    return any(isinstance(part, t.Read) and part.array == HIDDEN for part in t.walk_inside(node))


class _Resolution:
    """The search for what each element that is read was at the entry."""

    def __init__(self, paths: LoopPaths) -> None:
        self.paths = paths
        self.part: Oblivious = oblivious_part(hidden(paths))
        self.changing = frozenset(var for path in paths.iterative for var in path.update)
        self.unknown = frozenset(unknown.var for path in paths.all for unknown in path.unknowns)
        self.known: dict[t.Var, t.Term] = {}
        self.carried: dict[t.Read, t.Var] = {}
        self.cells: set[t.Var] = set()
        self.updates: dict[tuple[t.Var, str], t.Term] = {}

    def run(self) -> Resolved:
        for path in self.paths.iterative:
            for write in path.writes:
                if write.offset is not None and not write.offset.variables & (self.changing | self.unknown):
                    var = self._carry(t.Read(write.array, write.offset, write.type))
                    if var is not None:
                        self.cells.add(var)
        for path in self.paths.all:
            for unknown in path.unknowns:
                if unknown.held is not None and unknown.var not in self.known:
                    found = self._read(unknown, path)
                    if found is not None:
                        self.known[unknown.var] = found
        lost = self._follow()
        return self._resolved(lost)

    # -- what an element is when the iteration begins -----------------------------------------------------------------

    def _read(self, unknown: Unknown, path: Path) -> t.Term | None:
        assert unknown.held is not None
        offset = t.substitute(unknown.held.offset, self.known)
        element = t.Read(unknown.held.array, offset, unknown.held.type)
        if self.of_entry(element, path):
            return element
        return self._carry(element)

    def _carry(self, element: t.Read) -> t.Var | None:
        """The variable for an element; None where there are too many."""
        found = self.carried.get(element)
        if found is None and len(self.carried) < MAX_CARRIED_ELEMENTS and not element.variables & self.unknown:
            name = f"{element.array}[{len(self.carried)}]"
            found = self.carried[element] = t.Var(name, element.type)
        return found

    def of_entry(self, element: t.Read, path: Path) -> bool:
        """Whether no iteration before one by ``path`` writes any byte of ``element``, whose offset is over the values
        at that one's header.
        """
        if not self._is_known_at(element.offset):
            return False
        there = self.part.at(_NOW)
        offset, given = t.substitute(element.offset, there), self._known_of(path, _NOW)
        if given is t.FALSE:
            return True
        for other in self.paths.iterative:
            writes = [write for write in other.writes if write.array == element.array]
            if not writes:
                continue
            before = self._known_of(other, _EARLIER) & _EARLIER.lt(_NOW) & given
            for write in writes:
                if write.offset is None or not self._is_known_at(write.offset):
                    return False
                distance = offset - t.substitute(write.offset, self.part.at(_EARLIER))
                if possible(before & t.between(1 - _size(element.type), distance, _size(write.type) - 1)):
                    return False
        return True

    def _is_known_at(self, node: t.Node) -> bool:
        """Whether ``node`` is known in each iteration, by what no data touches."""
        variables = node.variables
        return not variables & self.unknown and variables & self.changing <= self.part.closed.keys()

    def _known_of(self, path: Path, time: t.Term) -> t.Condition:
        """What the condition of a path says without data, in iteration ``time``."""
        parts = (part for part in t.conjuncts(path.condition) if self._is_known_at(part))
        return t.substitute(t.conjunction(part for part in parts if not _reads(part)), self.part.at(time))

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
            open_ = self.unknown - {u for u, value in self.known.items() if not value.variables & (lost | self.unknown)}
            more = {
                var
                for (var, _), value in self.updates.items()
                if var not in lost and t.substitute(value, self.known).variables & (lost | open_)
            }
            if not more:
                return lost
            lost |= more

    def _next(self, element: t.Read, path: Path) -> t.Term | None:
        """What lies, behind an iteration by ``path``, where the element is then."""
        offset = t.substitute(t.substitute(element.offset, path.update), self.known)
        return self._behind(t.Read(element.array, offset, element.type), path, len(path.writes))

    def _behind(self, element: t.Read, path: Path, writes: int) -> t.Term | None:
        """What ``element`` is behind the first ``writes`` of a path."""
        condition = t.substitute(path.condition, self.known)
        for at in reversed(range(writes)):
            write = path.writes[at].given(self.known)
            if write.array != element.array:
                continue
            where = meeting(element, write, condition)
            if where is t.FALSE:
                continue
            if where is None or write.value is None:
                return None
            value = without_wraps(t.wrap(write.value, element.type), condition)
            if where is t.TRUE:
                return value
            below = self._behind(element, path, at)
            return None if below is None else t.ite(where, value, below)
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
        known = {u: value for u, value in self.known.items() if not value.variables & (lost | self.unknown)}
        known = {u: t.substitute(value, known) for u, value in known.items()}

        def of(path: Path) -> Path:
            placed = path.given(known)
            if path.exit is not None:
                return replace(placed, unknowns=tuple(u for u in path.unknowns if u.var not in known))
            more = {var: t.substitute(self.updates[var, path.id], known) for var in carried}
            moved = {var: value for var, value in more.items() if value is not var}
            unknowns = tuple(u for u in path.unknowns if u.var not in known)
            return replace(placed, update={**placed.update, **moved}, unknowns=unknowns)

        paths = replace(
            self.paths,
            iterative=tuple(map(of, self.paths.iterative)),
            exits=tuple(map(of, self.paths.exits)),
            state=(*self.paths.state, *carried),
        )
        return Resolved(paths, carried, frozenset(self.cells - lost))


def writes_to(paths: LoopPaths, array: str) -> Iterator[tuple[Path, int, Write]]:
    """The writes of iterations to an object, with their paths and their places in these."""
    for path in paths.iterative:
        for number, write in enumerate(path.writes):
            if write.array == array:
                yield path, number, write


def _size(type: t.IntType) -> int:
    assert type.width is not None
    return (type.width + 7) // 8


def _reads(node: t.Node) -> bool:
    return any(isinstance(part, t.Read | t.Aggregate) for part in t.walk_inside(node))
