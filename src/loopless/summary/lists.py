"""Loops that walk linked lists: what they read, as numbered values of the list that a pointer leads to at the entry.

A *walk* is a pointer that iterations change in one way only: to the pointer that lies at one place, the *link*, behind
itself, some number of steps on. Where the loop does not write that place, the k-th node is a function of the pointer
and of memory at the entry. It may write other members of the nodes, if no two nodes overlap without being the same,
which the answer then takes for granted. So what an iteration reads through the pointer are numbered values
(:func:`loopless.terms.list_called`) at a position that moves along, as elements of an array are, and all methods know
the loop. A list has no end of its own: which node is NULL, the values say. A list in a circle has none that is.

The k-th node as a function of k and of memory is the reachability by one link of Lahiri and Qadeer, Back to the Future:
Revisiting Precise Program Verification Using SMT Solvers, POPL 2008, section 2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Final

from loopless import terms as t
from loopless.flowgraph.model import OBJECT_PART
from loopless.paths.model import NODES, Exit, LoopPaths, Member, Path, Unknown, Write
from loopless.records import dataclass
from loopless.refusals import Reason, Refused
from loopless.summary.data.possible import possible
from loopless.summary.model import Link, ListValue, LoopSummary, Residual, Walk, said
from loopless.summary.transitions.system import place_of
from loopless.terms.contents import size_of

_COUNT: Final = t.IntType(None, signed=False)


SCALE: Final = 8
"""How many bytes nodes count that are written, as elements of an array: no member is larger that is followed."""

FREED_AT: Final = -1
"""The place of :data:`loopless.terms.FREED` as a member."""

APART: Final = "nodes of the lists that it goes along do not overlap one another"
OBJECT_TYPE: Final = t.IntType(64)
"""The type of what says into which object a pointer points, as an element."""
POINTER_BYTES: Final = 8
"""No pointer is larger."""


@dataclass(frozen=True, slots=True)
class Writer:
    """The walk through which a loop writes members of nodes.

    ``names``: by what these are called as arrays that have :data:`SCALE` bytes for each node, what they are called by
    number. ``ends``: that the list is in no circle, so that no node has two numbers. ``moves_on``: whether each
    iteration goes to another node. ``null``: the exits at which a pointer of the list is NULL. ``ahead``: how far
    from the pointer nodes lie that are written, or read where they may have been.
    """

    walk: Walk
    names: Mapping[str, str]
    ends: t.Condition
    moves_on: bool
    null: frozenset[Exit]
    ahead: frozenset[int]


@dataclass(frozen=True, slots=True)
class Walking:
    """A loop by what lies in lists: ``paths`` without what comes from outside, whose reads of lists ``values`` tells of
    by their names; ``original``: the paths that it is made of.
    """

    paths: LoopPaths
    values: Mapping[str, ListValue]
    original: LoopPaths
    granted: tuple[str, ...] = ()
    writer: Writer | None = None

    def at_entry(self, node: t.Node) -> t.Node:
        """A term or condition over the values at the entry in terms of its variables, and of numbers of nodes."""
        written: Mapping[str, str] = {} if self.writer is None else self.writer.names

        def of(array: str, offset: t.Term, type: t.IntType) -> t.Term:
            value = self.values.get(array)
            if array in written:
                return t.read(written[array], t.floor_div(offset, t.const(SCALE)), type)
            if value is None or value.way or value.walk.made or offset is not t.ZERO:
                return t.read(array, offset, type)
            return value.walk.owner if value.part == "object" else value.walk.offset

        return t.with_reads(t.substituted(node, dict.fromkeys(self.paths.carried, t.ZERO)), of)

    def told(self, outcome: LoopSummary) -> LoopSummary:
        """What is found for ``paths`` in terms of the variables at the entry."""
        told = said(outcome, self.at_entry, left_out=self.paths.carried.keys())
        told = replace(told, paths=self.original, lists=self.values)
        told = replace(told, assumptions=tuple(dict.fromkeys((*told.assumptions, *self.granted))))
        if told.diverges is t.FALSE or not self.original.may_free:
            return told
        # A list in a circle leads to the same node again. If the loop has freed the node, that is undefined behaviour.
        detail = "it may never end, and may free the nodes of a list that it comes to again"
        lost = Residual(told.diverges, Refused(Reason.MEMORY, place_of(self.original), detail))
        return replace(told, diverges=t.FALSE, residual=(*told.residual, lost))


def goes_along(paths: LoopPaths) -> bool:
    """Whether some iteration moves a pointer to what it reads through one, or makes an object."""
    return any(
        unknown.made is not None
        or (unknown.member is not None and unknown.member.part == "object" and unknown.var in path.update.values())
        for path in paths.iterative
        for unknown in path.unknowns
    )


def along_lists(paths: LoopPaths) -> Walking | None:
    """The loop by the values that lie in the lists which its pointers walk; None where something that it takes from
    outside is no such value.
    """
    every = [unknown for path in paths.all for unknown in path.unknowns]
    if any(unknown.member is None and unknown.held is None and unknown.made is None for unknown in every):
        return None
    found = _Lists(paths, {unknown.var: unknown.member for unknown in every if unknown.member is not None})
    return found.walking()


@dataclass(frozen=True, slots=True)
class _Written:
    """A member that is written: along which walk, its bytes, what reads call it, and how far ahead of the pointer. Of
    pointers reads have two names, for the offset and for the object.
    """

    walk: Walk
    size: int
    names: tuple[str, ...]
    ahead: set[int]

    @property
    def is_pointer(self) -> bool:
        """Whether pointers are written there."""
        return len(self.names) > 1


class _Lists:
    """The search for walks, and what is read along them."""

    def __init__(self, paths: LoopPaths, members: Mapping[t.Var, Member]) -> None:
        self.paths = paths
        self.members = members
        self.walks: dict[t.Var, Walk] = {}
        self.values: dict[str, ListValue] = {}
        self.names: dict[tuple[t.Var, tuple[int, ...]], str] = {}
        """What members are called, by the pointer from which they are reached and the places on the way."""
        self.made: dict[t.Var, tuple[Walk, int]] = {}
        """By what stands for an object that an iteration makes, where it is made, and the how-manieth of that it is."""
        self.written: dict[tuple[Walk, int], _Written] = {}
        """The members that paths tell that they write, by the nodes and the place in a node."""

    def walking(self) -> Walking | None:
        """The loop by what lies in lists; None where that does not tell all."""
        changed = sorted({var for path in self.paths.iterative for var in path.update}, key=lambda var: var.key)
        for owner in changed:
            walk = self._walk(owner)
            if walk is not None:
                self.walks[owner] = walk
        if not self._find_made():
            return None
        places: dict[t.Var, t.Term] = {}
        for var, (walk, number) in self.made.items():
            places[var] = self._value(walk, (), "object", walk.steps + number, t.INTEGERS)
        for walk in self.walks.values():
            places[walk.owner] = self._value(walk, (), "object", walk.steps, t.INTEGERS)
            places[walk.offset] = self._value(walk, (), "offset", walk.steps, walk.offset.type)
        for member in self.members.values():
            found = self._place(member)
            if found is not None and member.name:
                self.names.setdefault((found[0].owner, tuple(at for at, _ in found[2])), member.name)
        if any(path.writes for path in self.paths.all):
            return self._writing(places)
        for var, member in self.members.items():
            value = self._read(member)
            if value is None:
                return None
            places[var] = value
        written = any(not member.kept for member in self.members.values())
        if written and not self._writes_beside():
            return None
        placed = self._placed({path.id: places for path in self.paths.all})
        return Walking(placed, self.values, self.paths, (APART,) if written else ())

    def _writes_beside(self) -> bool:
        """Whether the loop writes nodes only, and there no byte that it reads, as far as nodes are apart."""
        written: set[int] = set()
        for stored in self.paths.stored or ():
            found = self._node(stored.owner, stored.offset)
            if found is None:
                return False
            if found[0].made:
                continue
            written |= set(range(found[2], found[2] + stored.size))
        read = {walk.link[0]: POINTER_BYTES for walk in self.walks.values()}
        for member in self.members.values():
            place = self._place(member)
            if place is None or len(place[2]) > 1:
                return False  # it is read in no node, but behind a pointer there
            for at, _ in place[2]:
                read[at] = max(_bytes_of(member), read.get(at, 0))
        return self.paths.stored is not None and not any(
            written & set(range(at, at + size)) for at, size in read.items()
        )

    # -- what is made -------------------------------------------------------------------------------------------------

    def _find_made(self) -> bool:
        """Find the objects that iterations make; whether each has a number of its own on all paths that make it."""
        sites: dict[t.Var, Walk] = {}
        for path in self.paths.all:
            counts = Counter[t.Var]()
            for unknown in path.unknowns:
                if unknown.made is None:
                    continue
                walk = sites.get(unknown.made)
                if walk is None:
                    place = "" if unknown.loc is None else f"{unknown.loc.line}:{unknown.loc.column}"
                    name = (
                        place if place and all(other.made != place for other in sites.values()) else unknown.made.name
                    )
                    steps = t.Var(f"objects made at {name}", _COUNT)
                    walk = sites[unknown.made] = Walk(unknown.made, unknown.made, (0, ""), steps, name)
                found = walk, counts[unknown.made]
                if self.made.setdefault(unknown.var, found) != found:
                    return False
                counts[unknown.made] += 1
        return True

    # -- what is written ----------------------------------------------------------------------------------------------

    def _writing(self, places: Mapping[t.Var, t.Term]) -> Walking | None:
        """The loop whose paths tell what they write; None where nodes are written in another way than one member after
        the other along one walk.
        """
        if not self._find_written():
            return None
        found: dict[str, dict[t.Var, t.Term]] = {}
        kept: dict[str, tuple[Unknown, ...]] = {}
        for path in self.paths.all:
            told = self._reads_of(path, places)
            if told is None:
                return None
            found[path.id], kept[path.id] = told
        placed = self._placed(found, kept)
        if not self.written:
            return Walking(placed, self.values, self.paths)
        writer = self._writer(placed)
        return Walking(placed, self.values, self.paths, () if writer.walk.made else (APART,), writer)

    def _find_written(self) -> bool:
        """Find the members that are written; whether all are of one walk, and no two share bytes."""
        writes = [write for path in self.paths.all for write in path.writes]
        for write in writes:
            if write.owner is None and write.array != NODES:
                continue
            if write.owner is None or write.offset is None:
                return False  # who knows what is written there
            found = self._node(write.owner, write.offset)
            if found is None:
                return False
            walk, steps, at = found
            if write.name == t.FREED:
                if at != 0:
                    return False  # it is no node that is freed
                at = FREED_AT
            size, is_pointer = size_of(write.type), write.object is not None
            known = self.written.get((walk, at))
            if known is None:
                parts = ("offset", "object") if is_pointer else ("",)
                names = tuple(self._name(write, walk, at, part) for part in parts)
                known = self.written[walk, at] = _Written(walk, size, names, set())
            if size > SCALE or known.size != size or known.is_pointer != is_pointer:
                return False
            if any(one != walk and not (one.made and walk.made) for one, _ in self.written):
                return False
            known.ahead.add(steps)
        if not all(self._leaves_links(path) for path in self.paths.all):
            return False
        named = any(write.owner is None for write in writes)
        if named and any(not member.kept for member in self.members.values()):
            return False
        spans = sorted((walk.steps.name, at, one.size) for (walk, at), one in self.written.items())
        return all(one[0] != other[0] or one[1] + one[2] <= other[1] for one, other in pairwise(spans))

    def _name(self, write: Write, walk: Walk, at: int, part: str) -> str:
        """What reads call the member that is written, or half of it."""
        way = ((at, write.name or self.names.get((walk.owner, (at,)), "")),)
        element = self._value(walk, way, part, walk.steps, write.type)
        assert isinstance(element, t.Read)
        return element.array

    def _leaves_links(self, path: Path) -> bool:
        """Whether no link is read, on the path or by a later iteration, that the path writes."""
        if not self._leaves_freed(path):
            return False
        links = {walk.link[0] for walk in self.walks.values()}
        found = next(((walk, at) for walk, at in self.written if at in links and not walk.made), None)
        if found is None:
            return True
        walk, link = found
        if len(self.walks) > 1 or not self.written[found].is_pointer:
            return False
        places = [None if w.owner is None else self._node(w.owner, w.offset or t.ZERO) for w in path.writes]
        for unknown in path.unknowns:
            member = self.members.get(unknown.var)
            if member is None or not member.part:
                continue
            if self._node(member.owner, member.offset) in places[: member.behind]:
                return False
        written = [place for place in places if place is not None and place[2] == link]
        return path.exit is not None or all(steps < self._steps(path, walk) for _, steps, _ in written)

    def _leaves_freed(self, path: Path) -> bool:
        """Whether nothing is read or written, or freed again, on the path or by a later iteration, that it frees."""
        places = [None if w.owner is None else self._node(w.owner, w.offset or t.ZERO) for w in path.writes]
        reads = [member for unknown in path.unknowns if (member := self.members.get(unknown.var)) is not None]
        for number, (write, place) in enumerate(zip(path.writes, places, strict=True)):
            if write.name != t.FREED or place is None:
                continue
            later = [self._node(member.owner, member.offset) for member in reads if member.behind > number]
            if len(self.walks) > 1 or any(other is None or other[:2] == place[:2] for other in later):
                return False
            if any(other is not None and other[:2] == place[:2] for other in places[number + 1 :]):
                return False
            walk, steps, _ = place
            if path.exit is None and not walk.made and steps >= self._steps(path, walk):
                return False
        return True

    def _node(self, owner: t.Term, offset: t.Term) -> tuple[Walk, int, int] | None:
        """The walk to a place in a node, how many nodes ahead that is, and the place there; None for other places."""
        made = self.made.get(owner) if isinstance(owner, t.Var) else None
        if made is not None:
            return (*made, offset.value) if isinstance(offset, t.Const) else None
        found = self._way(owner, offset)
        walk = None if found is None else self.walks.get(found[0])
        if found is None or walk is None or found[1] is not walk.offset:
            return None
        *links, (at, _) = found[2]
        return None if any(link != walk.link[0] for link, _ in links) else (walk, len(links), at)

    def _reads_of(
        self, path: Path, places: Mapping[t.Var, t.Term]
    ) -> tuple[dict[t.Var, t.Term], tuple[Unknown, ...]] | None:
        """The values that a path reads of lists, and what of its unknown values stays, as elements of arrays; None
        where something is read that is not known.
        """
        found, kept = dict(places), list[Unknown]()
        for unknown in path.unknowns:
            member = self.members.get(unknown.var)
            if member is None:
                kept += [unknown] if unknown.made is None else []
                continue
            node = self._node(member.owner, member.offset) if not member.part else None
            written = None if node is None else self.written.get((node[0], node[2]))
            if node is None or written is None:
                value = self._read(member) if self._is_beside(member) else None
                if value is None:
                    return None
                found[unknown.var] = value
                continue
            walk, steps, _ = node
            if member.type.width is None or size_of(member.type) != written.size:
                return None
            written.ahead.add(steps)
            before = self._written_before(path, member, node)
            if before is None and walk.made:
                return None  # it holds anything
            if before is None:
                element = t.Read(_array(written.names[0]), SCALE * (walk.steps + steps), member.type)
                kept.append(replace(unknown, held=element, member=None))
            elif before.value is None:
                return None
            else:
                found[unknown.var] = t.wrap(t.substitute(before.value, found), member.type)
        return found, tuple(kept)

    def _written_before(self, path: Path, member: Member, node: tuple[Walk, int, int]) -> Write | None:
        """What of a path's writes a read of a node finds; None where there is none."""
        for write in reversed(path.writes[: member.behind]):
            if write.owner is not None and write.offset is not None and self._node(write.owner, write.offset) == node:
                return write
        return None

    def _is_beside(self, member: Member) -> bool:
        """Whether no byte is written of what is read, and of the pointers on the way to it."""
        if not self.written:
            return member.kept
        if any(one.walk.made for one in self.written.values()):
            return member.owner not in self.made
        found = self._place(member)
        if found is None or len(found[2]) > 1:
            return False  # it is read in no node, but behind a pointer there
        read = {at: _bytes_of(member) for at, _ in found[2]}
        links = {walk.link[0] for walk in self.walks.values()}
        read |= dict.fromkeys(links, POINTER_BYTES)
        return not any(
            at < start + one.size and start < at + size
            for at, size in read.items()
            for (_, start), one in self.written.items()
            if not (at == start and at in links)  # such are read before they are written
        )

    def _writes(self, write: Write, places: Mapping[t.Var, t.Term]) -> tuple[Write, ...]:
        """A write in terms of the lists, of a pointer one of each half."""
        placed = write.given(places)
        if write.owner is None or write.offset is None:
            return (placed,)
        node = self._node(write.owner, write.offset)
        assert node is not None
        walk, steps, at = node
        at = FREED_AT if write.name == t.FREED else at
        placed = replace(placed, offset=SCALE * (walk.steps + steps), owner=None, name="", object=None)
        type = write.type if walk.made else walk.offset.type
        halves = ((placed.value, type), (write.given(places).object, OBJECT_TYPE))
        names = self.written[walk, at].names
        if len(names) == 1:
            return (replace(placed, array=_array(names[0])),)
        return tuple(
            replace(placed, array=_array(name), value=value, type=type)
            for name, (value, type) in zip(names, halves, strict=True)
        )

    def _writer(self, placed: LoopPaths) -> Writer:
        walk = next(iter(self.written.values())).walk
        names = {_array(name): name for one in self.written.values() for name in one.names}
        ahead = frozenset[int]().union(*(one.ahead for one in self.written.values()))
        if walk.made:
            return Writer(walk, names, t.TRUE, moves_on=False, null=frozenset(), ahead=ahead)
        at = t.position("|at")
        object, offset = (self._value(walk, (), part, at, type) for part, type in _halves_of(walk))
        ends = t.earliest(at, object.eq(0) & offset.eq(0)).ge(0)
        assert isinstance(object, t.Read)
        others = {p.exit for p in placed.exits if not _is_null(p.condition, object.array, walk.steps)}
        null = {path.exit for path in placed.exits if path.exit is not None} - others
        moves_on = all(path.update.get(walk.steps, walk.steps) is not walk.steps for path in placed.iterative)
        return Writer(walk, names, ends, moves_on, frozenset(null), ahead)

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
        nodes = walk.called
        half = t.OBJECT_IN_LIST if part == "object" else ""
        behind = "->".join(map(_called, way))
        yield f"{nodes}{'.' if behind else ''}{behind}{half}"
        bytes_ = "->".join(f"byte {at}" for at, _ in way)
        part = " offset" if part == "offset" else half
        yield f"{nodes if walk.made else t.list_called(walk.pointer, f'byte {walk.link[0]}')}.{bytes_}{part}"

    # -- the loop with that -------------------------------------------------------------------------------------------

    def _placed(
        self, found: Mapping[str, Mapping[t.Var, t.Term]], kept: Mapping[str, tuple[Unknown, ...]] | None = None
    ) -> LoopPaths:
        """The loop where variables are what ``found`` says by path, with the unknown values ``kept``."""
        first = next(iter(found.values()))
        halves = {half: first[half] for walk in self.walks.values() for half in (walk.owner, walk.offset)}
        sites = list(dict.fromkeys(walk for walk, _ in self.made.values()))
        start = {walk.steps: t.ZERO for walk in (*self.walks.values(), *sites)}

        def of(path: Path) -> Path | None:
            places = found[path.id]
            valid = self._with_valid_pointers(path.condition)
            condition = t.substitute(valid, places)
            if condition is t.FALSE or (valid is not path.condition and not possible(condition)):
                return None
            update = {var: t.substitute(term, places) for var, term in path.update.items()}
            if path.exit is None:
                update = {var: term for var, term in update.items() if var not in halves}
                update |= {walk.steps: walk.steps + self._steps(path, walk) for walk in self.walks.values()}
                update |= {walk.steps: walk.steps + self._makes(path, walk) for walk in sites}
                update = {var: term for var, term in update.items() if term is not var}
            else:
                null = t.conjuncts(condition)
                update |= {
                    half: t.ZERO if term.eq(0) in null else term
                    for half, term in halves.items()
                    if half in path.outputs and half not in update
                }
            result = None if path.result is None else t.substitute(path.result, places)
            writes = tuple(part for write in path.writes for part in self._writes(write, places))
            unknowns = tuple(_held(unknown, places) for unknown in (kept or {}).get(path.id, ()))
            return replace(path, condition=condition, update=update, result=result, unknowns=unknowns, writes=writes)

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

    def _with_valid_pointers(self, condition: t.Condition) -> t.Condition:
        """A condition of a path where pointers that it follows are in no object only where they are NULL: what it
        demands of the object alone, to follow the pointer, it demands of both halves.
        """
        parts = [self._valid(part) for part in t.conjuncts(condition)]
        if all(new is old for new, old in zip(parts, t.conjuncts(condition), strict=True)):
            return condition
        for at, part in enumerate(parts):
            if isinstance(part, t.Or):
                others = t.conjunction(other for other in parts if other is not part)
                parts[at] = t.disjunction(way for way in part.args if possible(way & others))
        return t.conjunction(parts)

    def _valid(self, part: t.Condition) -> t.Condition:
        if isinstance(part, t.Or):
            return t.disjunction(t.conjunction(map(self._valid, t.conjuncts(way))) for way in part.args)
        if not isinstance(part, t.Compare) or part.relation == "le" or not isinstance(part.term, t.Var):
            return part
        other = self._other_half(part.term)
        if other is None:
            return part
        return part & other.eq(0) if part.relation == "eq" else part | other.ne(0)

    def _other_half(self, owner: t.Var) -> t.Var | None:
        """The offset of a pointer of which ``owner`` says into which object it points; None for other variables."""
        if owner in self.walks:
            return self.walks[owner].offset
        member = self.members.get(owner)
        if member is None or member.part != "object":
            return None
        others = ((var, other) for var, other in self.members.items() if other.part == "offset")
        return next((var for var, other in others if _are_halves(member, other)), None)

    def _makes(self, path: Path, walk: Walk) -> int:
        return sum(self.made[unknown.var][0] == walk for unknown in path.unknowns if unknown.made is not None)

    def _steps(self, path: Path, walk: Walk) -> int:
        moved = self._moved(path, walk.owner) if walk.owner in path.update else None
        return 0 if moved is None else len(moved[1])


def _array(name: str) -> str:
    """What a member is called as an array: no object that ends, as :func:`.in_list` knows."""
    return f"{name}|"


def _held(unknown: Unknown, places: Mapping[t.Var, t.Term]) -> Unknown:
    """An element that is not known, with its place in terms of lists."""
    held = unknown.held
    assert held is not None
    return replace(unknown, held=t.Read(held.array, t.substitute(held.offset, places), held.type))


def _halves_of(walk: Walk) -> tuple[tuple[str, t.IntType], ...]:
    return ("object", t.INTEGERS), ("offset", walk.offset.type)


def _is_null(condition: t.Condition, array: str, steps: t.Var) -> bool:
    """Whether a condition says that a node is NULL which lies at ``steps`` or behind it; ``array``: what says into
    which object it points.
    """
    for part in t.conjuncts(condition):
        if isinstance(part, t.Compare) and part.relation == "eq" and isinstance(part.term, t.Read):
            ahead = part.term.offset - steps
            if part.term.array == array and isinstance(ahead, t.Const) and ahead.value >= 0:
                return True
    return False


def _bytes_of(member: Member) -> int:
    return POINTER_BYTES if member.part else ((member.type.width or 8 * POINTER_BYTES) + 7) // 8


def _called(link: Link) -> str:
    return link[1] or f"byte {link[0]}"


def _are_halves(one: Member, other: Member | None) -> bool:
    """Whether two values are the object and the offset of one pointer that is read."""
    return other is not None and one.part == "object" and replace(other, part="object", type=one.type) == one
