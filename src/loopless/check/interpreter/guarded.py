"""Memory that is watched: no access of a function may hit what its flowgraph holds in variables.

A flowgraph says by its variables that nothing else in the function reaches what they stand for. Where a run shows that
something does, either an assumption of the flowgraph does not hold for it (two objects overlap), and the run is not
answered; or the flowgraph is wrong, which is no matter of the run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from loopless.check.interpreter.memory import ActivationMemory, World
from loopless.check.interpreter.values import Stop, Value
from loopless.flowgraph.model import MemoryObject

Held = Mapping[int, tuple[tuple[int, int], ...]]
"""By the number of an object the bytes that variables stand for, each from the first to before the second."""


class GuardedFrame(ActivationMemory):
    """The memory of an activation whose variables stand for what ``held`` says. ``assumptions``: what the flowgraph
    takes for granted.
    """

    def __init__(
        self,
        world: World,
        objects: Mapping[int, MemoryObject],
        pointer_size: int,
        held: Held,
        assumptions: Iterable[str],
        *,
        mathematical: bool = False,
    ) -> None:
        super().__init__(world, objects, pointer_size, mathematical=mathematical)
        self.held = held
        self.apart = tuple(text for text in assumptions if "do not overlap" in text)

    def _guard(self, number: int, offset: int, size: int) -> None:
        if not self.watching or number in self.null or size == 0:
            return
        storage, base = self.place(number)
        known = self.numbers.get(id(storage))
        ranges = self.held.get(known) if known is not None else None
        if known is None or ranges is None:
            return
        at = offset + base - self.places[known][1]
        if any(low < at + size and at < high for low, high in ranges):
            name = self.objects[known].name
            if self.apart:
                raise Stop("unknown", f"an access to {name} through a pointer that is taken to point elsewhere")
            raise Stop("unknown", f"the flowgraph says that nothing reaches byte {at} of {name}, but something does")

    def read(self, number: int, offset: int, size: int, signed: bool) -> Value:  # noqa: FBT001
        self._guard(number, offset, size)
        return super().read(number, offset, size, signed)

    def store(self, number: int, offset: int, size: int, value: Value, signed: bool) -> None:  # noqa: FBT001
        self._guard(number, offset, size)
        super().store(number, offset, size, value, signed)

    def load_pointer(self, number: int, offset: int, size: int) -> tuple[int, int]:
        self._guard(number, offset, size)
        return super().load_pointer(number, offset, size)

    def store_pointer(self, number: int, offset: int, size: int, object: Value, value: Value) -> None:
        self._guard(number, offset, size)
        super().store_pointer(number, offset, size, object, value)

    def fill(self, number: int, offset: int, byte: int, length: int) -> None:
        self._guard(number, offset, length)
        super().fill(number, offset, byte, length)

    def copy(self, to: tuple[int, int], source: tuple[int, int], length: int, apart: bool = False) -> None:  # noqa: FBT001, FBT002
        self._guard(*to, length)
        self._guard(*source, length)
        super().copy(to, source, length, apart)
