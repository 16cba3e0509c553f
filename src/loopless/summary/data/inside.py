"""What follows from that accesses stay inside of objects: where a loop reads, the offset lies in the object.

That is taken for granted of objects whose size is not known (the answer says so), and checked of others before they are
read. Offsets count from where a pointer pointed to at first, which may be in the middle of an object. No object is
larger than :data:`LARGEST`, so what would be undefined only beyond that does not happen, and an offset that is reduced
modulo 2^64 is what it was before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from loopless import terms as t
from loopless.paths.model import LoopPaths, Path
from loopless.summary.data.possible import possible
from loopless.terms.relation import added

LARGEST: Final = (1 << 61) - 1
"""No object has more bytes: a quarter of what 64 bits address, as the flowgraph takes it."""
_OFFSETS: Final = (t.IntType(62), t.IntType(31))
"""The types of byte offsets, where pointers have 64 bits and where they have 32."""


def inside_objects(paths: LoopPaths) -> LoopPaths:
    """The paths without exits that are taken only behind the end of an object that is read, and without conditions that
    hold wherever one of the others is taken; offsets do not wrap around in them.
    """
    exits = [path for path in paths.exits if not _only_outside(path)]
    left = (*paths.iterative, *exits)
    plain = {part: unwrapped for path in left for part, unwrapped in _unwrapped(path)}
    sure = {part for part in dict.fromkeys(_candidates(left)) if _holds_anyway(part, left)}

    def shown(path: Path) -> Path:
        condition = t.conjunction(part for part in t.conjuncts(path.condition) if part not in sure)
        if not plain:
            return replace(path, condition=condition)
        update = {var: t.replace_terms(term, plain) for var, term in path.update.items()}
        result = t.replace_terms(path.result, plain) if path.result is not None else None
        return replace(path, condition=t.replace_terms(condition, plain), update=update, result=result)

    return replace(paths, iterative=tuple(map(shown, paths.iterative)), exits=tuple(map(shown, exits)))


def _candidates(paths: Sequence[Path]) -> Iterator[t.Condition]:
    """Conditions on offsets that the paths read at."""
    for path in paths:
        offsets = facts_of(path).variables
        for part in t.conjuncts(path.condition):
            if not part.variables.isdisjoint(offsets) and not any(isinstance(n, t.Read) for n in t.walk_inside(part)):
                yield part


def _holds_anyway(part: t.Condition, paths: Sequence[Path]) -> bool:
    """Whether no path is taken where ``part`` does not hold: each that may be reads an object there, outside of it."""
    return not any(possible(path.condition & facts_of(path) & ~part) for path in paths)


def read_inside(paths: Sequence[Path]) -> t.Condition:
    """What the reads of all ``paths`` say of offsets: each of these conditions holds on every one of the paths."""
    each = [dict.fromkeys(_facts(path)) for path in paths]
    shared = [fact for fact in each[0] if all(fact in other for other in each[1:])] if each else []
    return t.conjunction(shared)


def facts_of(path: Path) -> t.Condition:
    """What the reads of a path say of offsets where it is taken."""
    return t.conjunction(_facts(path))


def moves_through_objects(paths: Sequence[Path], update: Mapping[t.Var, t.Term]) -> bool:
    """Whether every iteration reads an object at an offset that ``update`` moves by the same number each time: so the
    accesses, which stay inside, come to an end.
    """
    each = [_reads(path.condition) for path in paths]
    changing = frozenset(var for path in paths for var in path.update)
    for part in each[0] if each else ():
        if all(part in other for other in each[1:]) and part.variables & changing <= update.keys():
            moved = t.substitute(part.offset, update) - part.offset
            if isinstance(moved, t.Const) and moved.value:
                return True
    return False


def leaves_objects(paths: Sequence[Path]) -> bool:
    """Whether every iteration moves the same pointer on, in the same direction: at last it is outside of any object,
    which is undefined behaviour even where accesses are taken to stay inside.
    """
    pointers = [var for var in (paths[0].update if paths else ()) if var.type in _OFFSETS]
    for var in pointers:
        moves = [added(path, var) for path in paths]
        steps = [move.value for move in moves if isinstance(move, t.Const)]
        if len(steps) == len(moves) and (min(steps) > 0 or max(steps) < 0):
            return True
    return False


def _reads(condition: t.Condition) -> dict[t.Read, None]:
    """What is surely read where the condition is found to hold: not what one of several alternatives reads only."""
    match condition:
        case t.And():
            return {part: None for arg in condition.args for part in _reads(arg)}
        case t.Or():
            first, *others = (_reads(arg) for arg in condition.args)
            return {part: None for part in first if all(part in other for other in others)}
        case _:
            chosen = any(isinstance(part, t.Condition) and part is not condition for part in t.walk(condition))
            reads = (part for part in t.walk(condition) if isinstance(part, t.Read))
            return {} if chosen else {part: None for part in reads if not t.counts_values(part.array)}


def _facts(path: Path) -> Iterator[t.Condition]:
    for part in _reads(path.condition):
        yield t.between(-LARGEST - 1, part.offset, LARGEST - ((part.type.width or 8) + 7) // 8)


def _only_outside(path: Path) -> bool:
    """Whether the path is undefined behaviour that only an offset outside of the object which it reads leads to."""
    if path.exit is None or path.exit.kind != "undefined":
        return False
    return not possible(path.condition & facts_of(path))


def _unwrapped(path: Path) -> Iterator[tuple[t.Term, t.Term]]:
    """Reads on the path whose offset is reduced to 64 bits, and the same without that."""
    for node in (path.condition, *path.update.values()):
        for part in t.walk(node):
            if isinstance(part, t.Read) and not t.counts_values(part.array):
                wraps: dict[t.Term, t.Term] = {
                    inner: inner.arg
                    for inner in t.walk(part.offset)
                    if isinstance(inner, t.Wrap) and inner.type == _OFFSET
                }
                offset = t.replace_terms(part.offset, wraps)
                inside = t.between(-LARGEST - 1, part.offset, LARGEST)
                if wraps and not possible(inside & offset.ne(part.offset)):
                    yield part, t.read(part.array, offset, part.type)


_OFFSET: Final = t.IntType(64, signed=True)
