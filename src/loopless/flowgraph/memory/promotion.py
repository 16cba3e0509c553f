"""Which scalars in memory are variables."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from loopless.flowgraph.memory.places import HEAP, Base, MemoryAccess, PointsTo


def promotable(
    state: PointsTo, layout_sizes: Mapping[Base, int | None], hidden: Callable[[Base], bool] = lambda _: False
) -> dict[Base, dict[int, MemoryAccess]]:
    """Per object the offsets whose scalar is a variable, with a sample access.

    No pointer of unknown origin of this function reaches the object, nor, where it is a local one, a pointer that was
    loaded from memory; what calls change of it, they say (:mod:`.effects`). A scalar qualifies if each access that
    may overlap with it is plain, at its offset, and of its size, or makes all of it 0, and it is no pointer.
    ``hidden``: the objects that no pointer of unknown origin points to.
    """
    by_base: dict[Base, list[MemoryAccess]] = {}
    for access in state.accesses:
        if access.place is not None:
            by_base.setdefault(access.place[0], []).append(access)
    several, touched = state.several | state.touched, set(state.touched)
    touched |= state.zeroed.keys() & set(state.alike).union(*state.alike.values())
    touched |= {base for base, parts in state.zeroed.items() if not _inside(parts, layout_sizes.get(base))}
    for base, alike in state.alike.items():
        for other in alike if base in by_base or base in touched else ():
            if other in by_base or other in touched:
                several.add(base)
                touched |= {other} if base in state.touched else set()
                others = (replace(a, place=(other, a.place[1]), plain=False) for a in by_base.get(base, ()) if a.place)
                by_base.setdefault(other, []).extend(others)
    result: dict[Base, dict[int, MemoryAccess]] = {}
    for base, accesses in sorted(by_base.items()):
        if base.kind in ("null", "function", "reached", HEAP) or base in touched or base in several:
            continue
        own = base.kind == "local"
        if own and base in state.escaped:
            continue
        unseen = own and base not in state.lent
        if (state.unknown_access or (own and state.formal_access)) and not unseen and not hidden(base):
            continue
        found = _scalars(accesses, layout_sizes.get(base), state.zeroed.get(base, ()))
        if found is not None:
            result[base] = found
    return result


def _inside(parts: Iterable[tuple[int, int]], size: int | None) -> bool:
    return all(low >= 0 and (size is None or high <= size) for low, high in parts)


def is_whole(accesses: Iterable[MemoryAccess], scalars: Mapping[int, MemoryAccess]) -> bool:
    """Whether all accesses to an object are those of the scalars."""
    return all(access.place is not None and access.place[1] in scalars for access in accesses)


def _scalars(
    accesses: Iterable[MemoryAccess], size: int | None, zeroed: Iterable[tuple[int, int]] = ()
) -> dict[int, MemoryAccess] | None:
    """The scalars that nothing overlaps, None where there are none."""
    alike: dict[int, list[MemoryAccess]] = {}
    taken: list[tuple[int, float]] = []
    for access in accesses:
        assert access.place is not None
        offset = access.place[1]
        if offset is None:
            if access.span is None:
                return None
            taken.append((access.span[0], math.inf if access.span[1] is None else access.span[1]))
        elif not access.plain or offset < 0 or (size is not None and offset + access.size > size):
            taken.append((offset, offset + access.size))
        else:
            alike.setdefault(offset, []).append(access)
    found: dict[int, MemoryAccess] = {}
    for offset, group in alike.items():
        first = group[0]
        if all((a.size, a.pointer, a.bits) == (first.size, first.pointer, first.bits) for a in group):
            found[offset] = first
        else:
            taken.append((offset, offset + max(a.size for a in group)))
    for (low, one), (high, other) in itertools.pairwise(sorted(found.items())):
        if low + one.size > high:
            taken += ((low, low + one.size), (high, high + other.size))
    for low, high in zeroed:
        hit = ((at, at + one.size, one) for at, one in found.items() if low < at + one.size and at < high)
        taken += ((at, end) for at, end, one in hit if one.pointer or at < low or end > high)
    return {
        offset: access
        for offset, access in found.items()
        if not any(low < offset + access.size and offset < high for low, high in taken)
    } or None
