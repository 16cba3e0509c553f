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

from loopless.paths.model import LoopPaths, Path
from loopless.summary.data.possible import possible
from loopless.terms import (
    STREAM,
    And,
    Condition,
    Const,
    IntType,
    Or,
    Read,
    Term,
    Var,
    Wrap,
    between,
    conjunction,
    conjuncts,
    negate,
    not_equal,
    read,
    replace_terms,
    sub,
    substitute,
    walk,
    walk_inside,
)

LARGEST: Final = (1 << 61) - 1
"""No object has more bytes: a quarter of what 64 bits address, as the flowgraph takes it."""
_OFFSETS: Final = (IntType(62), IntType(31))
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
        condition = conjunction(part for part in conjuncts(path.condition) if part not in sure)
        if not plain:
            return replace(path, condition=condition)
        update = {var: replace_terms(term, plain) for var, term in path.update.items()}
        result = replace_terms(path.result, plain) if path.result is not None else None
        return replace(path, condition=replace_terms(condition, plain), update=update, result=result)

    return replace(paths, iterative=tuple(map(shown, paths.iterative)), exits=tuple(map(shown, exits)))


def _candidates(paths: Sequence[Path]) -> Iterator[Condition]:
    """Conditions on offsets that the paths read at."""
    for path in paths:
        offsets = facts_of(path).variables
        for part in conjuncts(path.condition):
            if not part.variables.isdisjoint(offsets) and not any(isinstance(n, Read) for n in walk_inside(part)):
                yield part


def _holds_anyway(part: Condition, paths: Sequence[Path]) -> bool:
    """Whether no path is taken where ``part`` does not hold: each that may be reads an object there, outside of it."""
    return not any(possible(conjunction((path.condition, facts_of(path), negate(part)))) for path in paths)


def read_inside(paths: Sequence[Path]) -> Condition:
    """What the reads of all ``paths`` say of offsets: each of these conditions holds on every one of the paths."""
    each = [dict.fromkeys(_facts(path)) for path in paths]
    shared = [fact for fact in each[0] if all(fact in other for other in each[1:])] if each else []
    return conjunction(shared)


def facts_of(path: Path) -> Condition:
    """What the reads of a path say of offsets where it is taken."""
    return conjunction(_facts(path))


def moves_through_objects(paths: Sequence[Path], update: Mapping[Var, Term]) -> bool:
    """Whether every iteration reads an object at an offset that ``update`` moves by the same number each time: so the
    accesses, which stay inside, come to an end.
    """
    each = [_reads(path.condition) for path in paths]
    changing = frozenset(var for path in paths for var in path.update)
    for part in each[0] if each else ():
        if all(part in other for other in each[1:]) and part.variables & changing <= update.keys():
            moved = sub(substitute(part.offset, update), part.offset)
            if isinstance(moved, Const) and moved.value:
                return True
    return False


def leaves_objects(paths: Sequence[Path]) -> bool:
    """Whether every iteration moves the same pointer on, in the same direction: at last it is outside of any object,
    which is undefined behaviour even where accesses are taken to stay inside.
    """
    pointers = [var for var in (paths[0].update if paths else ()) if var.type in _OFFSETS]
    for var in pointers:
        moves = [sub(path.update.get(var, var), var) for path in paths]
        steps = [move.value for move in moves if isinstance(move, Const)]
        if len(steps) == len(moves) and (min(steps) > 0 or max(steps) < 0):
            return True
    return False


def _reads(condition: Condition) -> dict[Read, None]:
    """What is surely read where the condition is found to hold: not what one of several alternatives reads only."""
    match condition:
        case And():
            return {part: None for arg in condition.args for part in _reads(arg)}
        case Or():
            first, *others = (_reads(arg) for arg in condition.args)
            return {part: None for part in first if all(part in other for other in others)}
        case _:
            chosen = any(isinstance(part, Condition) and part is not condition for part in walk(condition))
            reads = (part for part in walk(condition) if isinstance(part, Read))
            return {} if chosen else {part: None for part in reads if not part.array.endswith(STREAM)}


def _facts(path: Path) -> Iterator[Condition]:
    for part in _reads(path.condition):
        yield between(-LARGEST - 1, part.offset, LARGEST - ((part.type.width or 8) + 7) // 8)


def _only_outside(path: Path) -> bool:
    """Whether the path is undefined behaviour that only an offset outside of the object which it reads leads to."""
    if path.exit is None or path.exit.kind != "undefined":
        return False
    return not possible(conjunction((path.condition, facts_of(path))))


def _unwrapped(path: Path) -> Iterator[tuple[Term, Term]]:
    """Reads on the path whose offset is reduced to 64 bits, and the same without that."""
    for node in (path.condition, *path.update.values()):
        for part in walk(node):
            if isinstance(part, Read) and not part.array.endswith(STREAM):
                wraps: dict[Term, Term] = {
                    inner: inner.arg for inner in walk(part.offset) if isinstance(inner, Wrap) and inner.type == _OFFSET
                }
                offset = replace_terms(part.offset, wraps)
                inside = between(-LARGEST - 1, part.offset, LARGEST)
                if wraps and not possible(conjunction((inside, not_equal(offset, part.offset)))):
                    yield part, read(part.array, offset, part.type)


_OFFSET: Final = IntType(64, signed=True)
