"""The transition relation of a program: its steps between cutpoints.

Cutpoints lie on every cycle, so a run is a sequence of steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from enum import Enum
from typing import Final

from loopless import terms as t
from loopless.flowgraph.model import Call, End, Flowgraph, Origin, Statement
from loopless.logic.steps import Instance, PlaceStep
from loopless.records import dataclass
from loopless.refusals import Refused
from loopless.source.ir import Loc

START: Final = ""
"""Where a run begins, among the cutpoints."""


VIOLATION: Final = "~violation"
"""Where a run is once the property is violated."""


UNDEFINED: Final = "~undefined"
"""Where a run is that met undefined behaviour: it has ended."""


OPEN: Final = "~open"
"""Where a run is that comes to something that is not followed: it may violate the property behind it."""


DIVERGES: Final = "~diverges"
"""Where a run is that never leaves a loop, as its summary says."""


Violates = Callable[[Statement | End], bool]
"""Whether the failing check, or the end, is what must not happen."""


Passes = Callable[[Call], Refused | None]
"""Why a call cannot be passed over; None where it can."""


class NothingFollowsError(ValueError):
    """A step says too much, and one before or behind it too little."""


class Kind(Enum):
    """What a step says of runs: ``exact`` all that there are and no others, ``over`` all and maybe others, ``under``
    some.
    """

    EXACT = "exact"
    OVER = "over"
    UNDER = "under"

    @property
    def proves(self) -> bool:
        """Whether no run goes where the step does not lead."""
        return self is not Kind.UNDER

    @property
    def refutes(self) -> bool:
        """Whether some run goes where the step leads."""
        return self is not Kind.OVER

    def then(self, other: Kind) -> Kind:
        """The kind of a step of this kind with one of another kind behind it. Raises
        :class:`NothingFollowsError` where one says too much and the other too little.
        """
        if self is Kind.EXACT or self is other:
            return other
        if other is Kind.EXACT:
            return self
        raise NothingFollowsError("nothing follows from an over-approximation and an under-approximation")


@dataclass(frozen=True, slots=True)
class TransitionInput:
    """A value from outside that a transition takes: ``var`` stands for it, the havoc (or load, call, allocation) is
    statement ``index`` of ``block``.
    """

    var: t.Var
    origin: Origin
    block: str
    index: int


Access = Statement | None
"""A statement that reads or changes memory, over the variables at the source and the inputs of a transition, whose
targets are inputs; None: ways meet that differ in what they have done to memory.
"""


@dataclass(frozen=True, slots=True)
class Step(PlaceStep):
    """All ways from the cutpoint ``source`` to ``target`` under ``condition``, over the variables at the source and the
    ``inputs``; ``update``: what has changed then. ``loc``: of what is violated, or not followed. ``taken``: all values
    from outside that are taken on the way, in their order, also those on which nothing depends. ``accesses``: what it
    does to memory, in its order, where that is asked for (``accesses`` of :func:`system_of`). ``facts``: of the
    condition, what holds whichever transition is taken; of a step to undefined behaviour, the check that fails.
    ``kind``: what may follow from it. ``instances``: of elements that it reads, where that is asked for (``elements``
    of :func:`system_of`).
    """

    inputs: tuple[TransitionInput, ...]
    loc: Loc | None = None
    taken: tuple[TransitionInput, ...] = ()
    accesses: tuple[Access, ...] = ()
    facts: tuple[t.Condition, ...] = ()
    kind: Kind = Kind.EXACT
    instances: tuple[Instance, ...] = ()


@dataclass(frozen=True, slots=True)
class TransitionSystem:
    """A program with a property. ``cutpoints`` without :data:`START`; ``state``: by cutpoint, the variables whose
    values matter there. ``failing``: ways to undefined behaviour, which ends runs. ``violates`` and ``calls`` are those
    that it was made for (:func:`system_of`).
    """

    graph: Flowgraph
    cutpoints: tuple[str, ...]
    transitions: tuple[Step, ...]
    state: Mapping[str, tuple[t.Var, ...]]
    failing: tuple[Step, ...] = ()
    open: tuple[Refused, ...] = ()
    violates: Violates = field(default=lambda _: False, compare=False)
    calls: Passes = field(default=lambda _: None, compare=False)


def multiplies(transitions: Iterable[Step]) -> bool:
    """Whether there are products of variables, in what is assigned or in what is asked of them."""
    nodes = (
        part
        for transition in transitions
        for term in (transition.condition, *transition.update.values())
        for part in t.walk(term)
    )
    return any(isinstance(n, t.Sum) and any(sum(e for _, e in m) > 1 for m, _ in n.items) for n in nodes)
