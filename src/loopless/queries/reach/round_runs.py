"""Native runs that tell of which loop they take more rounds than so many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from loopless.check.outcome import Outcome
from loopless.limits.queries import REPLAY_S
from loopless.queries.call_values.native_driver import Driver
from loopless.queries.call_values.reached import Inputs, runs_of
from loopless.queries.reach.covering_driver import module_text
from loopless.source.rounds import CountedLoop, counted


class RoundsDriver(Driver):
    """Native runs of a program in which each loop counts its rounds."""

    def __init__(self, files: Sequence[str], options: Any, function: str, deadline: float, rounds: int) -> None:
        super().__init__(files, options, function, deadline)
        self.rounds = rounds
        self.loops: list[CountedLoop] = []
        self.found: CountedLoop | None = None
        """The loop of the run that was replayed last."""

    @property
    def oracle(self) -> Any:
        """The compiled program."""
        from loopless.check.oracle.native import NativeLimits, NativeOracle

        if self._oracle is None:
            options = replace(self.options, target=None)
            text, self.loops = counted(module_text(self.files, options, traps=True), self.rounds, tell=True)
            self._oracle = NativeOracle(text, options=options, limits=NativeLimits(seconds=REPLAY_S), ir=True)
            self._oracle.sides = len(self.loops)
            self._oracle.any_result = True
        return self._oracle

    def replay(self, inputs: Inputs) -> tuple[bool, str, Inputs]:
        """Whether a run with these inputs takes too many rounds, how it ends, and the inputs that it was given."""
        outcome, longer = self.long_enough(inputs)
        number = next(iter(outcome.covered), None)
        self.found = self.loops[number] if number is not None and self.is_there(outcome) else None
        if outcome.stdin is not None and self.is_there(outcome):
            longer = replace(longer, stdin=outcome.stdin, nondet=runs_of(outcome.nondet), repeats=False)
        return self.is_there(outcome), f"{outcome.status} {outcome.detail}".strip(), longer

    def with_floats(self, inputs: Inputs, constants: Sequence[float], seconds: float) -> Inputs | None:
        """As that of :class:`Driver`; the run is the one that was replayed last."""
        found = super().with_floats(inputs, constants, seconds)
        if found is not None:
            self.replay(found)
        return found

    def is_there(self, outcome: Outcome) -> bool:
        """Whether a native run came to the target."""
        return super().is_there(outcome) and bool(outcome.covered)
