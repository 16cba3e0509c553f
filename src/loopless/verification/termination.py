"""Whether every run ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from loopless.terms import Condition, Term
from loopless.verification.transitions import TransitionSystem


@dataclass(frozen=True, slots=True)
class Ranked:
    """Every run ends: from one visit of a cutpoint to the next its ``ranks`` fall lexicographically."""

    invariants: Mapping[str, tuple[Condition, ...]]
    ranks: Mapping[str, tuple[Term, ...]]
    method: str


@dataclass(frozen=True, slots=True)
class Trap:
    """A run that never ends."""

    inputs: tuple[int, ...]
    method: str
    reason: str
    uninitialised: Mapping[str, int] = field(default_factory=dict)


class TerminationSearch:
    """What is known of the runs of one system."""

    def __init__(self, system: TransitionSystem, deadline: float) -> None:
        self.system, self.deadline = system, deadline

    def methods(self) -> Sequence[tuple[str, Callable[[], Any]]]:
        """The methods in their order."""
        return ()
