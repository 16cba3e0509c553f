"""What was read of memory on the way from one cutpoint to the next, where nothing has written it since.

What is read twice at one place is the same (Ackermann's reduction of a function to its values), whatever it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from loopless import terms as t
from loopless.flowgraph.memory.statement_effects import Written
from loopless.records import dataclass


@dataclass(frozen=True, slots=True)
class KnownRead:
    """The ``value`` that was read at a byte ``offset`` of an object, as one of ``type``."""

    object: int
    type: t.IntType
    offset: t.Term
    value: t.Var


Reads = tuple[KnownRead, ...]


def same_place(reads: Reads, new: KnownRead) -> list[t.Condition]:
    """What holds of a further read: where it is of the place of one that is known, it gives the same."""
    alike = [one for one in reads if (one.object, one.type, one.value.type) == (new.object, new.type, new.value.type)]
    return [~one.offset.eq(new.offset) | one.value.eq(new.value) for one in alike]


def unwritten(reads: Reads, written: Written) -> Reads:
    """What is still so behind a statement that may write these objects."""
    return tuple(one for one in reads if not written.hits(one.object))


def on_all_ways(every: Sequence[Reads]) -> Reads:
    """What is so whichever way was taken."""
    return tuple(one for one in every[0] if all(one in reads for reads in every))
