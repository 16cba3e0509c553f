"""Loops that walk linked lists: what they read, as numbered values of the list that a pointer leads to at the entry.

A *walk* is a pointer that iterations change in one way only: to the pointer that lies at one place, the *link*, behind
itself, some number of steps on. Where the loop writes nothing of what it reads there, the k-th node is a function of
the pointer and of memory at the entry. It may write other members of the nodes, if no two nodes overlap without being
the same, which the answer then takes for granted. So what an iteration reads through the pointer are numbered values
(:func:`loopless.terms.list_called`) at a position that moves along, as elements of an array are, and all methods know
the loop. A list has no end of its own: which node is NULL, the values say. A list in a circle has none that is.

The k-th node as a function of k and of memory is the reachability by one link of Lahiri and Qadeer, Back to the Future:
Revisiting Precise Program Verification Using SMT Solvers, POPL 2008, section 2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from loopless import terms as t
from loopless.flowgraph.model import OBJECT_PART
from loopless.paths.model import LoopPaths, Member, Path
from loopless.records import dataclass
from loopless.refusals import Reason, Refused
from loopless.summary.model import Link, ListValue, Outcome, Residual, Walk, said
from loopless.summary.transitions.system import place_of

_COUNT: Final = t.IntType(None, signed=False)


APART: Final = "nodes of the lists that it goes along do not overlap one another"
POINTER_BYTES: Final = 8
"""No pointer is larger."""


@dataclass(frozen=True, slots=True)
class Walking:
    """A loop by what lies in lists: ``paths`` without what comes from outside, whose reads of lists ``values`` tells of
    by their names; ``original``: the paths that it is made of.
    """

    paths: LoopPaths
    values: Mapping[str, ListValue]
    original: LoopPaths
    granted: tuple[str, ...] = ()

    def told(self, outcome: Outcome) -> Outcome:
        """What is found for ``paths`` in terms of the variables at the entry."""
        if isinstance(outcome, Refused):
            return outcome
        start = dict.fromkeys(self.paths.carried, t.ZERO)

        def at_entry(array: str, offset: t.Term, type: t.IntType) -> t.Term:
            value = self.values.get(array)
            if value is None or value.way or offset is not t.ZERO:
                return t.read(array, offset, type)
            return value.walk.owner if value.part == "object" else value.walk.offset

        def of(node: t.Node) -> t.Node:
            return t.with_reads(t.substituted(node, start), at_entry)

        told = replace(said(outcome, of, left_out=start.keys()), paths=self.original, lists=self.values)
        told = replace(told, assumptions=tuple(dict.fromkeys((*told.assumptions, *self.granted))))
        if told.diverges is t.FALSE or not self.original.may_free:
            return told
        # A list in a circle leads to the same node again. If the loop has freed the node, that is undefined behaviour.
        detail = "it may never end, and may free the nodes of a list that it comes to again"
        lost = Residual(told.diverges, Refused(Reason.MEMORY, place_of(self.original), detail))
        return replace(told, diverges=t.FALSE, residual=(*told.residual, lost))


def along_lists(paths: LoopPaths) -> Walking | None:
    """The loop by the values that lie in the lists which its pointers walk; None where something that it takes from
    outside is no such value.
    """
    every = [unknown for path in paths.all for unknown in path.unknowns]
    if any(unknown.member is None for unknown in every) or any(path.writes for path in paths.all):
        return None
    found = _Lists(paths, {unknown.var: unknown.member for unknown in every if unknown.member is not None})
    return found.walking()


class _Lists:
    """The search for walks, and what is read along them."""

    def __init__(self, paths: LoopPaths, members: Mapping[t.Var, Member]) -> None:
        self.paths = paths
        self.members = members
        self.walks: dict[t.Var, Walk] = {}
        self.values: dict[str, ListValue] = {}
        self.names: dict[tuple[t.Var, tuple[int, ...]], str] = {}
        """What members are called, by the pointer from which they are reached and the places on the way."""

    def walking(self) -> Walking | None:
        """The loop by what lies in lists; None where that does not tell all."""
        changed = sorted({var for path in self.paths.iterative for var in path.update}, key=lambda var: var.key)
        for owner in changed:
            walk = self._walk(owner)
            if walk is not None:
                self.walks[owner] = walk
        places: dict[t.Var, t.Term] = {}
        for walk in self.walks.values():
            places[walk.owner] = self._value(walk, (), "object", walk.steps, t.INTEGERS)
            places[walk.offset] = self._value(walk, (), "offset", walk.steps, walk.offset.type)
        for member in self.members.values():
            found = self._place(member)
            if found is not None and member.name:
                self.names.setdefault((found[0].owner, tuple(at for at, _ in found[2])), member.name)
        for var, member in self.members.items():
            value = self._read(member)
            if value is None:
                return None
            places[var] = value
        written = any(not member.kept for member in self.members.values())
        if written and not self._writes_beside():
            return None
        return Walking(self._placed(places), self.values, self.paths, (APART,) if written else ())

    def _writes_beside(self) -> bool:
        """Whether the loop writes nodes only, and there no byte that it reads, as far as nodes are apart."""
        written: set[int] = set()
        for stored in self.paths.stored or ():
            found = self._way(stored.owner, stored.offset)
            walk = None if found is None else self.walks.get(found[0])
            if found is None or walk is None or found[1] is not walk.offset:
                return False
            *links, (at, _) = found[2]
            if any(link != walk.link[0] for link, _ in links):
                return False
            written |= set(range(at, at + stored.size))
        read = {walk.link[0]: POINTER_BYTES for walk in self.walks.values()}
        for member in self.members.values():
            place = self._place(member)
            if place is None or len(place[2]) > 1:
                return False  # it is read in no node, but behind a pointer there
            for at, _ in place[2]:
                size = POINTER_BYTES if member.part else ((member.type.width or 8 * POINTER_BYTES) + 7) // 8
                read[at] = max(size, read.get(at, 0))
        return self.paths.stored is not None and not any(
            written & set(range(at, at + size)) for at, size in read.items()
        )

    # -- walks --------------------------------------------------------------------------------------------------------

    def _way(self, owner: t.Term, offset: t.Term) -> tuple[t.Var, t.Var, tuple[Link, ...]] | None:
        """The pointer at the header, by its halves, that a place is reached from, and the places on the way to it; None
        where that is not known. The names of places are those of the members that lie there.
        """
        if not isinstance(owner, t.Var):
            return None
        terms = t.polynomial(offset)
        at = terms.pop((), 0)
        rest = t.from_polynomial(terms)
        if not isinstance(rest, t.Var):
            return None
        member = self.members.get(owner)
        if member is None:
            return (owner, rest, ((at, ""),)) if owner.name == rest.name + OBJECT_PART else None
        if not _are_halves(member, self.members.get(rest)):
            return None
        before = self._way_to(member)
        return None if before is None else (*before[:2], (*before[2], (at, "")))

    def _way_to(self, member: Member) -> tuple[t.Var, t.Var, tuple[Link, ...]] | None:
        """The same of what is read."""
        found = self._way(member.owner, member.offset)
        if found is None:
            return None
        owner, offset, way = found
        return owner, offset, (*way[:-1], (way[-1][0], member.name))

    def _walk(self, owner: t.Var) -> Walk | None:
        """The walk of the pointer into the object ``owner``; None where iterations change it in another way."""
        link: Link | None = None
        offset: t.Var | None = None
        for path in self.paths.iterative:
            if owner not in path.update:
                continue
            moved = self._moved(path, owner)
            if moved is None:
                return None
            offset, way = moved
            link = link or way[0]
            if any(at != link[0] for at, _ in way):
                return None
        if link is None or offset is None:
            return None
        if any(offset in path.update and owner not in path.update for path in self.paths.iterative):
            return None
        name = owner.name.removesuffix(OBJECT_PART)
        return Walk(owner, offset, link, t.Var(f"steps of {name}", _COUNT))

    def _moved(self, path: Path, owner: t.Var) -> tuple[t.Var, tuple[Link, ...]] | None:
        """The other half of a pointer that an iteration by ``path`` changes, and the places on its way."""
        ahead = path.update[owner]
        member = self.members.get(ahead) if isinstance(ahead, t.Var) else None
        found = None if member is None else self._way_to(member)
        if member is None or found is None or found[0] is not owner:
            return None
        other = path.update.get(found[1])
        if not isinstance(other, t.Var) or not _are_halves(member, self.members.get(other)):
            return None
        return found[1:]

    # -- what is read -------------------------------------------------------------------------------------------------

    def _place(self, member: Member) -> tuple[Walk, int, tuple[Link, ...]] | None:
        """The walk along which something is read, how many nodes ahead, and the way from there; None where there is
        none.
        """
        found = self._way_to(member)
        walk = None if found is None else self.walks.get(found[0])
        if found is None or walk is None or found[1] is not walk.offset:
            return None
        way = found[2]
        most = len(way) if member.part else len(way) - 1
        steps = next((n for n, (at, _) in enumerate(way[:most]) if at != walk.link[0]), most)
        return walk, steps, way[steps:]

    def _read(self, member: Member) -> t.Term | None:
        """What is read, as a value of a list; None where it is none."""
        found = self._place(member)
        if found is None:
            return None
        walk, steps, way = found
        places = tuple(at for at, _ in way)
        named = tuple(
            (at, self.names.get((walk.owner, places[: number + 1]), name)) for number, (at, name) in enumerate(way)
        )
        return self._value(walk, named, member.part, walk.steps + steps, member.type)

    def _value(self, walk: Walk, way: tuple[Link, ...], part: str, number: t.Term, type: t.IntType) -> t.Term:
        value = ListValue(walk, tuple(at for at, _ in way), part)
        names = (name for name in self._names(walk, way, part) if self.values.setdefault(name, value) == value)
        return t.read(next(names), number, type)

    def _names(self, walk: Walk, way: tuple[Link, ...], part: str) -> Iterator[str]:
        """Names for what lies at the end of a way, of which the second is no other's."""
        nodes = t.list_called(walk.pointer, walk.name)
        half = t.OBJECT_IN_LIST if part == "object" else ""
        behind = "->".join(map(_called, way))
        yield f"{nodes}{'.' if behind else ''}{behind}{half}"
        bytes_ = "->".join(f"byte {at}" for at, _ in way)
        part = " offset" if part == "offset" else half
        yield f"{t.list_called(walk.pointer, f'byte {walk.link[0]}')}.{bytes_}{part}"

    # -- the loop with that -------------------------------------------------------------------------------------------

    def _placed(self, places: Mapping[t.Var, t.Term]) -> LoopPaths:
        halves = {half: places[half] for walk in self.walks.values() for half in (walk.owner, walk.offset)}
        start = {walk.steps: t.ZERO for walk in self.walks.values()}

        def of(path: Path) -> Path | None:
            condition = t.substitute(path.condition, places)
            if condition is t.FALSE:
                return None
            update = {var: t.substitute(term, places) for var, term in path.update.items()}
            if path.exit is None:
                update = {var: term for var, term in update.items() if var not in halves}
                update |= {walk.steps: walk.steps + self._steps(path, walk) for walk in self.walks.values()}
                update = {var: term for var, term in update.items() if term is not var}
            else:
                null = t.conjuncts(condition)
                update |= {
                    half: t.ZERO if term.eq(0) in null else term
                    for half, term in halves.items()
                    if half in path.outputs and half not in update
                }
            result = None if path.result is None else t.substitute(path.result, places)
            return replace(path, condition=condition, update=update, result=result, unknowns=())

        def each(some: tuple[Path, ...]) -> tuple[Path, ...]:
            return tuple(placed for placed in map(of, some) if placed is not None)

        state = (*(var for var in self.paths.state if var not in halves), *start)
        return replace(
            self.paths,
            iterative=each(self.paths.iterative),
            exits=each(self.paths.exits),
            state=state,
            carried={**self.paths.carried, **start},
        )

    def _steps(self, path: Path, walk: Walk) -> int:
        moved = self._moved(path, walk.owner) if walk.owner in path.update else None
        return 0 if moved is None else len(moved[1])


def _called(link: Link) -> str:
    return link[1] or f"byte {link[0]}"


def _are_halves(one: Member, other: Member | None) -> bool:
    """Whether two values are the object and the offset of one pointer that is read."""
    return other is not None and one.part == "object" and replace(other, part="object", type=one.type) == one
