"""Addresses that an access vouches for: where memory at p is read or written, p moved to behind what is read lies in
the object, or right behind it, since accesses stay inside. Checks of such addresses against the largest possible object
are checks of accesses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from loopless import terms as t
from loopless.flowgraph.liveness import defined_by
from loopless.flowgraph.model import Assign, Block, Check, Load, Pointer, Statement, Store
from loopless.graphs import predecessors, reverse_postorder

_Seen = frozenset[tuple[t.Term, t.Term, int]]
"""Accesses that were surely made, as far as the terms still mean the same: object, offset and size in bytes."""


def with_covered(blocks: Mapping[str, Block], entry: str) -> dict[str, Block]:
    """The blocks with the checks marked that an access in the same iteration vouches for."""
    if not any(isinstance(s, Check) and s.place is not None for block in blocks.values() for s in block.statements):
        return dict(blocks)
    following = {label: [edge.target for edge in block.edges] for label, block in blocks.items()}
    order = reverse_postorder(following, entry)
    place = {label: at for at, label in enumerate(order)}
    before = predecessors(following)
    made = dict(blocks)
    leaving: dict[tuple[str, str], _Seen] = {}
    for label in order:
        sources = [source for source in before.get(label, ()) if source in place]
        # What was read in an earlier iteration, or before the loop, says nothing of this one.
        begun = label == entry or any(place[source] >= place[label] for source in sources)
        known = [leaving[source, label] for source in sources] if not begun else []
        seen: _Seen = frozenset.intersection(*known) if known else frozenset()
        statements: list[Statement] = []
        for at, statement in enumerate(blocks[label].statements):
            match statement:
                case Check(place=Pointer() as address) if _vouched(address, seen, blocks[label], at):
                    statements.append(replace(statement, of_access=True))
                case _:
                    statements.append(statement)
            seen = _after(statement, seen)
        made[label] = replace(blocks[label], statements=tuple(statements))
        for edge in blocks[label].edges:
            found = _unchanged(seen, (target for target, _ in edge.assigns))
            other = leaving.get((label, edge.target))
            leaving[label, edge.target] = found if other is None else found & other
    return made


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
