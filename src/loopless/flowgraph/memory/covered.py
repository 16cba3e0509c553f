"""Addresses that an access vouches for: where memory at p is read or written, p moved to behind what is read lies in
the object, or right behind it, since accesses stay inside. Checks of such addresses against the largest possible object
are checks of accesses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from loopless import terms as t
from loopless.flowgraph.dataflow import flow
from loopless.flowgraph.def_use import defined_by
from loopless.flowgraph.model import Assign, Block, Check, Load, Pointer, Statement, Store
from loopless.graphs import reverse_postorder

_Seen = frozenset[tuple[t.Term, t.Term, int]]
"""Accesses that were surely made, as far as the terms still mean the same: object, offset and size in bytes."""


def with_covered(blocks: Mapping[str, Block], entry: str) -> dict[str, Block]:
    """The blocks with the checks marked that an access in the same iteration vouches for."""
    if not any(isinstance(s, Check) and s.place is not None for block in blocks.values() for s in block.statements):
        return dict(blocks)
    following = {label: [edge.target for edge in block.edges] for label, block in blocks.items()}
    order = reverse_postorder(following, entry)
    place = {label: at for at, label in enumerate(order)}

    def onward(label: str, seen: _Seen) -> Iterator[tuple[str, _Seen]]:
        for statement in blocks[label].statements:
            seen = _after(statement, seen)
        for edge in blocks[label].edges:
            # What was read in an earlier iteration, or before the loop, says nothing of this one.
            kept = seen if place[edge.target] > place[label] else frozenset()
            yield edge.target, _unchanged(kept, (target for target, _ in edge.assigns))

    nothing: _Seen = frozenset()
    made = dict(blocks)
    for label, seen in flow(order, {entry: nothing}, onward, frozenset.intersection).items():
        made[label] = _marked(blocks[label], seen)
    return made


def _marked(block: Block, seen: _Seen) -> Block:
    """The block with the checks marked that accesses vouch for, some ``seen`` before it."""
    statements: list[Statement] = []
    for at, statement in enumerate(block.statements):
        match statement:
            case Check(place=Pointer() as address) if _vouched(address, seen, block, at):
                statements.append(replace(statement, of_access=True))
            case _:
                statements.append(statement)
        seen = _after(statement, seen)
    return replace(block, statements=tuple(statements))


def _vouched(address: Pointer, seen: _Seen, block: Block, at: int) -> bool:
    for owner, offset, size in (*seen, *_made_next(block, at)):
        if owner is address.object:
            far = address.offset - offset
            if isinstance(far, t.Const) and 0 <= far.value <= size:
                return True
    return False


def _after(statement: Statement, seen: _Seen) -> _Seen:
    access = _access(statement)
    if access is not None:
        seen |= {access}
    return _unchanged(seen, defined_by(statement))


def _unchanged(seen: _Seen, changed: Iterable[t.Var]) -> _Seen:
    targets = frozenset(changed)
    if not targets:
        return seen
    return frozenset(one for one in seen if not targets & (one[0].variables | one[1].variables))


def _access(statement: Statement) -> tuple[t.Term, t.Term, int] | None:
    match statement:
        case Load(address=Pointer(object=owner, offset=offset), type=type, target_object=pointer):
            return owner, offset, 1 if pointer is not None else _bytes(type.width)
        case Store(address=Pointer(object=owner, offset=offset), type=type):
            return owner, offset, _bytes(type.width)
        case _:
            return None


def _bytes(width: int | None) -> int:
    return 1 if width is None else max(1, width // 8)


def _made_next(block: Block, at: int) -> Iterator[tuple[t.Term, t.Term, int]]:
    """The accesses behind a statement that surely follow it, in terms of the values there."""
    values: dict[t.Var, t.Term] = {}
    for statement in block.statements[at + 1 :]:
        access = _access(statement)
        if access is not None:
            owner, offset, size = access
            try:
                yield t.substitute(owner, values), t.substitute(offset, values), size
            except t.TermTooLarge:
                return
        match statement:
            case Assign(target=target, value=value):
                try:
                    values[target] = t.substitute(value, values)
                except t.TermTooLarge:
                    return
            case Check(kind="null-pointer"):
                pass  # a null pointer is nowhere near the end of an object
            case Load() | Store():
                for target in defined_by(statement):
                    values[target] = t.Var(f"{target.name} read", target.type)
            case _:
                return
