"""States of a run that repeat themselves, by which it never ends: of a loop, and of calls that go deeper and deeper.

What comes before is remembered at ever longer distances (Brent, An improved Monte Carlo factorization algorithm, BIT
1980), so that long runs remember little.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from loopless.check.interpreter.memory import Mark, World
from loopless.check.interpreter.storage import Content, Storage
from loopless.check.interpreter.values import Stop, Value
from loopless.limits.check import MAX_COMPARED_BYTES
from loopless.records import dataclass

REPEATED_CALL: Final = "a call begins in the state in which one began that has not returned"
"""The reason of runs that never end since they call deeper and deeper."""

Inputs = tuple[int, int]
"""Which inputs, and values of uninitialised variables, are still to come."""


@dataclass(slots=True)
class LoopWatch:
    """What is remembered of one loop of one activation."""

    key: tuple[Value, ...] | None = None
    mark: Mark | None = None
    inputs: Inputs = (0, 0)
    renew: int = 0
    charged: int = 0
    charge: int = 0


@dataclass(frozen=True, slots=True)
class ReachableMemory:
    """What a call can reach at one moment: the globals that are known, and what they, the objects that its arguments
    point to and all that pointers in these lead to hold (None: too much to be compared).
    """

    globals: int
    held: tuple[tuple[Storage, str, Content], ...] | None

    @classmethod
    def of(cls, world: World, arguments: Sequence[Any]) -> ReachableMemory:
        """The present one of a call with these arguments, pointers as (storage, offset)."""
        given = [one[0] for one in arguments if isinstance(one, tuple) and one[0] is not None]
        found: dict[Storage, None] = dict.fromkeys((*world.globals.values(), *given))
        waiting = list(found)
        while waiting:
            for target, _, _ in waiting.pop().cells.values():
                if target is not None and target not in found:
                    found[target] = None
                    waiting.append(target)
        if sum(max(0, storage.size) for storage in found) > MAX_COMPARED_BYTES:
            return cls(0, None)
        held = tuple((storage, storage.dead, storage.content()) for storage in found)
        return cls(len(world.globals), held)

    def is_same(self, world: World) -> bool:
        """Whether all this surely holds the same now; then a call with the same arguments reaches the same."""
        return (
            self.held is not None
            and self.globals == len(world.globals)  # none is forgotten, so these are the same ones
            and all(storage.dead == dead and storage.content() == content for storage, dead, content in self.held)
        )


@dataclass(frozen=True, slots=True)
class _Open:
    """The state in which a call began that has not returned, ``depth`` deep."""

    depth: int
    arguments: tuple[Any, ...]
    inputs: Inputs
    reach: ReachableMemory


class OpenCalls:
    """By function, a call that has not returned. What a function does depends on its arguments, on what it can reach
    through them and through globals, and on inputs: a call inside of it that begins in the same state does the same.
    """

    def __init__(self) -> None:
        self._open: dict[str, _Open] = {}
        self._next: dict[str, int] = {}

    def begin(self, called: tuple[str, int, int], arguments: tuple[Any, ...], inputs: Inputs, world: World) -> bool:
        """A function is ``called``: its name, the number of this call of it, how deep it is. Whether that begins in
        the state of the call that is remembered.
        """
        name, number, depth = called
        known = self._open.get(name)
        if known is not None and known.inputs == inputs:  # noqa: SIM102  cheap tests come first
            if equal(arguments, known.arguments) and known.reach.is_same(world):
                return True
        if number >= self._next.get(name, 2):
            self._next[name] = number + number // 2 + 1  # not twice: all these may be calls that return
            self._open[name] = _Open(depth, arguments, inputs, ReachableMemory.of(world, arguments))
        return False

    def end(self, name: str, depth: int) -> None:
        """A call that was so deep has returned."""
        known = self._open.get(name)
        if known is not None and known.depth == depth:
            del self._open[name]


def equal(a: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
    """Whether these are surely the same values."""
    try:
        return a == b
    except Stop:  # an unknown value against an integer
        return False
