"""Loop paths: the ways through one iteration, each with its condition and its simultaneous update."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from loopless.flowgraph.model import LoopInfo, Origin
from loopless.refusals import Refused
from loopless.source.ir import Loc
from loopless.terms import Condition, Term, Var


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value that one iteration takes from outside: an input, the result of a call, memory that is not followed.

    ``refused``: the construct that is in the way, where the value is no input of the program.
    """

    var: Var
    origin: Origin
    name: str
    loc: Loc | None
    refused: Refused | None = None


@dataclass(frozen=True, slots=True)
class Exit:
    """How a path leaves the loop.

    ``kind``: "normal" (to the code behind the loop, a break included), "return", "abort", "exit", "error", "undefined"
    (``detail`` says which undefined behaviour), "assumption" (an assumption fails: no such run), "unsupported".
    ``block`` and ``edge`` name the edge taken to ``target``, where there is one; the values at the exit are then those
    before the edge's own assignments.
    """

    kind: str
    line: int
    block: str
    edge: int | None = None
    target: str | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Path:
    """One way through the loop's body, from the header back to it (``exit`` None: iterative) or out (an exit path).

    ``condition`` and ``update`` speak of the values at the header before the iteration; variables not in ``update``
    keep theirs. ``unknowns`` are fresh in every iteration. ``lines`` are the source lines on the way.
    """

    id: str
    condition: Condition
    update: Mapping[Var, Term]
    exit: Exit | None
    unknowns: tuple[Unknown, ...]
    lines: tuple[int, ...]
    result: Term | None = None
    """For exits of kind "return": the value returned."""
    outputs: frozenset[Var] = frozenset()
    """For exit paths: the variables whose values at the exit are asked for or used behind it. Of others the update may
    be missing."""


@dataclass(frozen=True, slots=True)
class LoopPaths:
    """All feasible paths of one loop.

    ``state``: the variables that the loop changes, among those of interest and those that they depend on;
    ``invariants``: the others that occur. ``shown``: the variables asked for. ``assumptions``: what slicing and calls
    take for granted.
    """

    loop: LoopInfo
    iterative: tuple[Path, ...]
    exits: tuple[Path, ...]
    state: tuple[Var, ...]
    invariants: tuple[Var, ...]
    shown: tuple[Var, ...]
    assumptions: tuple[str, ...]

    @property
    def all(self) -> tuple[Path, ...]:
        """Iterative paths, then exit paths."""
        return self.iterative + self.exits


@dataclass(frozen=True, slots=True)
class NoPaths:
    """The paths of a loop could not be built, and why."""

    loop: LoopInfo
    refused: Refused
