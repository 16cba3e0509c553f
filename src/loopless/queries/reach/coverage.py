"""What the tests of a function cover: the tests, and what each side of its branches came to."""

from __future__ import annotations

from collections.abc import Sequence

from loopless.queries.call_values.reached import Inputs, Reached
from loopless.records import dataclass
from loopless.source.targets import Side


@dataclass(frozen=True, slots=True)
class Covered:
    """One side of a branch: which one in ``words`` ("true", "false", "case 3", "default"), the ``verdict`` ("covered",
    "unreachable", "unknown"), by which of the ``tests``, numbered from 0, for unreachable ones the ``proof``, and for
    unknown ones why.
    """

    side: Side
    words: str
    verdict: str
    tests: tuple[int, ...] = ()
    proof: Reached | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class CoveringTest:
    """One call: its ``inputs``, the ``sides`` that it takes, numbered in their order from 0, and how it ``ends``, as
    :class:`loopless.check.outcome.Outcome` says it, with its detail behind it.
    """

    inputs: Inputs
    sides: frozenset[int]
    ends: str = "ok"


@dataclass(frozen=True, slots=True)
class Coverage:
    """The tests of a function, and what each side of its branches came to."""

    function: str
    files: tuple[str, ...]
    tests: tuple[CoveringTest, ...]
    sides: tuple[Covered, ...]
    seconds: float = 0.0

    def count(self, verdict: str) -> int:
        """How many sides have this verdict."""
        return sum(side.verdict == verdict for side in self.sides)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the proofs take for granted."""
        proofs = [side.proof for side in self.sides if side.proof is not None]
        return tuple(dict.fromkeys(text for proof in proofs for text in proof.assumptions))


def words_of(side: Side) -> str:
    """Which side of its branch it is."""
    if side.is_switch:
        return "default" if side.value is None else f"case {side.value}"
    return "true" if side.side == 0 else "false"


def needed(tests: Sequence[CoveringTest]) -> list[CoveringTest]:
    """Tests that together take all that all of them do: the one that takes most of the rest, again and again."""
    open_ = frozenset().union(*(test.sides for test in tests)) if tests else frozenset[int]()
    kept = []
    while open_:
        best = max(tests, key=lambda one: len(one.sides & open_))
        kept.append(best)
        open_ -= best.sides
    return kept
