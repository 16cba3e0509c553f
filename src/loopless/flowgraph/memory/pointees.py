"""Formal pointees: objects that stand for what pointers in memory point to, named after the place of the pointer.

What a pointer parameter points to is an object of its own; so is what a pointer points to that is loaded from a
constant place in such an object, in a global, or in a local that others may write, here at any time of the call. It is
taken for granted, and listed, that these objects and others do not overlap, as that of parameters
(:meth:`loopless.flowgraph.build`). What the function itself stores there is followed, as is what may be stored through
pointers of unknown origin. The scheme is that of the formal places of Wilson and Lam (PLDI 1995, "extended
parameters"), without their contexts.

The object is one and the same, beginning where the pointer points, only as long as nothing that is not followed may
have stored another pointer to the place, as a call may that comes before the load (:func:`late_loads`); else it stands
for several (``PointsTo.several``), and nothing in it is a variable. Pointers that are compared or subtracted may lie
in one object. What lies at varying places, or behind more than :data:`MAX_POINTEE_DEPTH` pointers, is one object,
"reached".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import Final

from loopless.flowgraph.memory.initial_bytes import initial_content
from loopless.flowgraph.memory.places import DEAD, HEAP, NULL, Base, PointerTargets, PointsTo
from loopless.flowgraph.source_types import same_structure, type_in
from loopless.graphs import reachable
from loopless.limits.flowgraph import MAX_POINTEE_DEPTH, MAX_POINTEES
from loopless.records import dataclass
from loopless.source import ir

POINTEE: Final = "pointee"
REACHED: Final = "reached"
STANDING_IN: Final = (POINTEE, REACHED)
"""The kinds of objects that are named after a place that holds a pointer."""
_REPLACEABLE: Final = (*ir.REPLACEABLE, "common")


@dataclass(frozen=True, slots=True)
class Joined:
    """What pointers that are compared say. ``together``: which formal pointee others are one with; ``beside``: the
    objects of other kinds that one may lie in, too; ``collapsed``: objects whose pointers are not told apart.
    """

    together: Mapping[Base, Base] = field(default_factory=dict)
    beside: Mapping[Base, frozenset[Base]] = field(default_factory=dict)
    collapsed: frozenset[Base] = frozenset()


def root_of(state: PointsTo, base: Base) -> Base:
    """The object of another kind that a formal pointee is behind; others are their own."""
    return state.roots.get(base, base)


def _name(state: PointsTo, named: Base, holder: Base, offset: int | None) -> None:
    """Let there be a formal pointee behind a place."""
    if named not in state.pointees:
        state.pointees[named] = (holder, offset)
        state.roots[named] = root_of(state, holder)


def _depth(holders: Mapping[Base, tuple[Base, int | None]], base: Base) -> int:
    count = 0
    while base in holders:
        base, count = holders[base][0], count + 1
    return count


def formal_content(
    state: PointsTo,
    joined: Joined,
    base: Base,
    offset: int | None,
    *,
    late: bool,
    width: int,
    alike: Callable[[Base], Iterable[Base]],
) -> PointerTargets:
    """What a pointer of ``width`` bytes at a place that others may have written may point to. ``alike``: the objects
    that a formal pointee may well be, by their types.
    """
    if _is_overwritten(state, base, offset, width):
        return PointerTargets(unknown=True)
    root = root_of(state, base)
    found = PointerTargets(set(state.anywhere.places), state.anywhere.unknown)
    apart = base.kind != REACHED and offset is not None and base not in joined.collapsed
    named = Base(POINTEE, f"{base.kind} {base.name}+{offset}")
    if apart and (named in state.pointees or _may_name(state, base, root)):
        _name(state, named, base, offset)
        alike(named)
        for holder in (base, *state.alike.get(base, ())):
            found.include(state.stored.get((holder, None), PointerTargets()))
            found.include(state.stored.get((holder, offset), PointerTargets()))
    else:
        if base.kind != REACHED and offset is None:
            state.varying.add(base)
        named = Base(REACHED, f"{root.kind} {root.name}")
        _name(state, named, root, None)
        for (held, _), stored in state.stored.items():
            if held == base or held in state.alike.get(base, ()):
                found.include(stored)
    first = joined.together.get(named, named)
    _name(state, first, *state.pointees[named])  # it may have been told apart before pointers were compared
    beside = joined.beside.get(first, frozenset())
    alone = first == named and named.kind == POINTEE and first not in joined.together.values() and not beside
    if late or not alone or base in state.several:
        state.several.add(first)
    found.include(PointerTargets({(first, 0 if alone else None), *((other, None) for other in beside)}))
    return found


def alike_by_type(
    state: PointsTo,
    found: Base,
    function: ir.SourceFunction,
    module: ir.Module,
    holders: Mapping[Base, tuple[Base, int | None]],
) -> list[Base]:
    """The objects on the way to a formal pointee, and those of parameters, of the same structure: as in a ring or a
    tree. ``holders``: the places of the pointers that formal pointees are named after.
    """
    around, on_the_way = found, set(state.parameters.values())
    while around in holders:
        around = holders[around][0]
        on_the_way.add(around)
    own = type_in(found, function, module, holders)
    others = ((other, type_in(other, function, module, holders)) for other in sorted(on_the_way))
    return [other for other, type in others if same_structure(module.debug_types, own, type)]


def content_at_call(
    state: PointsTo,
    base: Base,
    offset: int | None,
    function: ir.SourceFunction,
    module: ir.Module,
    holders: dict[Base, tuple[Base, int | None]],
) -> PointerTargets:
    """What a pointer at a place may point to at some call of ``function``, to which ``state`` belongs. A formal pointee
    that the function does not speak of by itself is named in ``holders`` only.
    """
    width = module.pointer_bits // 8
    if not state.apart or offset is None or base.kind in (REACHED, HEAP) or base in state.merged:
        return PointerTargets(unknown=True)
    if base in (NULL, DEAD):
        return PointerTargets()
    if base.kind == "local":
        own = base not in state.escaped and base not in state.lent and base not in state.mixed
        return state.cells.get((base, offset), PointerTargets()) if own else PointerTargets(unknown=True)
    named = Base(POINTEE, f"{base.kind} {base.name}+{offset}")
    too_deep = named not in state.pointees and _depth(holders, base) >= MAX_POINTEE_DEPTH
    if too_deep or named in state.merged or base.kind == "function" or _is_overwritten(state, base, offset, width):
        return PointerTargets(unknown=True)
    initial, always = initial_pointers(module, base, offset)
    found = PointerTargets(set(initial.places), initial.unknown)
    if always:
        return found
    found.include(state.anywhere)
    holders.setdefault(named, (base, offset))
    for holder in (base, *state.alike.get(base, ())):
        found.include(state.stored.get((holder, None), PointerTargets()))
        found.include(state.stored.get((holder, offset), PointerTargets()))
    alike = state.alike[named] if named in state.alike else alike_by_type(state, named, function, module, holders)
    found.include(PointerTargets({(named, 0), *((other, None) for other in alike)}))
    return found


def _may_name(state: PointsTo, base: Base, root: Base) -> bool:
    """Whether one more pointee is told apart behind an object."""
    if _depth(state.pointees, base) >= MAX_POINTEE_DEPTH:
        return False
    return sum(1 for known in state.roots.values() if known == root) < MAX_POINTEES


def _is_overwritten(state: PointsTo, base: Base, offset: int | None, width: int) -> bool:
    """Whether a pointer there may be in part, or as a copy, what something else than a store of a pointer wrote."""
    for low, high in state.overwritten.get(base, ()):
        if offset is None or ((high is None or offset < high) and low < offset + width):
            return True
    if offset is None:
        return False
    held = (at for found, at in state.stored if found == base and at is not None)
    return any(at != offset and abs(at - offset) < width for at in held)


def initial_pointers(module: ir.Module, base: Base, offset: int | None) -> tuple[PointerTargets, bool]:
    """What a pointer in a global points to by its initializer; True where it never points elsewhere."""
    variable = module.globals.get(base.name) if base.kind == "global" else None
    if variable is None or variable.initializer is None or variable.linkage in _REPLACEABLE:
        return PointerTargets(), False
    content, relocations = initial_content(module, variable)
    if content is None:
        return PointerTargets(), False
    places: set[tuple[Base, int | None]] = {
        (Base("global", name), at) for place, name, at in relocations if offset in (None, place)
    }
    if variable.constant and (offset is None or not places):
        places.add((NULL, None))
    return PointerTargets(places), variable.constant


def late_loads(function: ir.SourceFunction, clobbers: Iterable[tuple[str, int]]) -> frozenset[str]:
    """The names of loads that may come behind an instruction at one of the positions (block and index)."""
    first: dict[str, int] = {}
    for label, index in clobbers:
        first[label] = min(index, first.get(label, index))
    if not first:
        return frozenset()
    following = {block.label: block.successors for block in function.blocks}
    behind = set(reachable([label for at in first for label in following[at]], lambda label: following[label]))
    return frozenset(
        i.result
        for block in function.blocks
        for index, i in enumerate(block.instructions)
        if i.op == "load"
        and i.result is not None
        and (block.label in behind or index > first.get(block.label, len(block.instructions)))
    )


def joined_by(state: PointsTo, compared: Iterable[tuple[PointerTargets, PointerTargets]], joined: Joined) -> Joined:
    """With what comparisons of pointers say: what they compare may lie in one object."""
    together, beside = dict(joined.together), dict(joined.beside)
    for left, right in compared:
        sides = [{base for base, _ in side.places if base.kind in _FORMAL} for side in (left, right)]
        both = {together.get(base, base) for base in sides[0] | sides[1]}
        standing = [base for base in both if base.kind in STANDING_IN]
        ours = sorted(standing, key=lambda base: (base.kind != REACHED, base))
        if not ours or len(both) < 2 or not all(sides):
            continue
        first = ours[0]
        others = frozenset(base for base in both if base.kind not in STANDING_IN)
        for base in ours[1:]:
            others |= beside.pop(base, frozenset())
            together |= {key: first for key, kept in together.items() if kept == base}
            together[base] = first
        if others or first in beside:
            beside[first] = beside.get(first, frozenset()) | others
    return Joined(together, beside, joined.collapsed | state.varying)


_FORMAL: Final = ("parameter", "global", *STANDING_IN)
