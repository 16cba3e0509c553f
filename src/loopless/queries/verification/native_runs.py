"""Runs of the compiled program: they show violations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from loopless.check.certificates.property import Property
from loopless.limits.queries import EXTREME_INPUTS_S
from loopless.queries.verification.question import VerificationQuestion, takes_inputs
from loopless.queries.verification.replays import Replay, Replays
from loopless.queries.verification.verdict import Verdict
from loopless.transition.relation import TransitionSystem
from loopless.verification.proofs import Search, Suspect, input_lists, small_sizes

NATIVE_PER_S: Final = 10_000_000_000
"""More iterations than a native run makes in a second, of a loop that is left of all that compilers take away."""


class NativeRuns:
    """Native runs of one program, whose transitions are ``system``."""

    def __init__(self, question: VerificationQuestion, replays: Replays, system: TransitionSystem) -> None:
        self.question, self.replays, self.system = question, replays, system

    def replayed(self, suspect: Suspect) -> Verdict | None:
        """``false`` if a native run with these inputs violates the property; ``unknown`` where the only run of the
        program does, behind more iterations than a native run makes in the time that is left.
        """
        left = max(self.question.left, 0.0)
        if suspect.iterations > left * NATIVE_PER_S:
            return self._too_far(suspect)
        with self.question.timed("replay"):
            replay = self.replays.violation(suspect)
        return self.confirmed(suspect.method, replay)

    def _too_far(self, suspect: Suspect) -> Verdict | None:
        """Why a violation that is there is not replayed; other methods may know a shorter run, if there is another."""
        shown = f"a run with inputs {list(suspect.inputs)[:20]}" if suspect.inputs else "the run"
        place = f" in line {suspect.line}" if suspect.line else ""
        why = (
            f"by {suspect.method} {shown} comes to the error{place}, but behind at least "
            f"10^{len(str(suspect.iterations)) - 1} iterations of one loop: no native run gets there in the time, and "
            "what was not replayed is not told to be false"
        )
        if takes_inputs(self.system):
            self.question.unconfirmed = why
            return None
        return self.question.unknown(why)

    def confirmed(self, method: str, replay: Replay, **more: Any) -> Verdict | None:
        """``false`` where a run did what was said of it; what else it did is the reason where nothing is found."""
        if not replay.confirmed:
            self.question.unconfirmed = replay.words or self.question.unconfirmed
            return None
        return Verdict(
            self.question.property,
            "false",
            method,
            replay.inputs,
            replay.uninitialised,
            replay.words,
            shares=dict(self.question.shares),
            repeats=replay.repeats,
            stdin=replay.stdin,
            **more,
        )

    def violation(self, seconds: float) -> Verdict | None:
        """``false`` by runs with inputs of all kinds, which are fast enough for long loops; one run of a program that
        takes none.
        """
        if not self.question.settings.run:
            return None
        if takes_inputs(self.system):
            found = self.replays.first_violation(self.inputs(), seconds, 4 * seconds)
        else:
            found = self.replays.first_violation([()], 10 * seconds, 10 * seconds)
        return None if found is None else self.confirmed("native runs", found)

    def guided(self, seconds: float) -> Suspect | None:
        """A run into a violation that counters of paths guide, as ``loopless reach`` looks for runs to a place."""
        question = self.question
        if question.property is not Property.UNREACH_CALL or not question.settings.run or self.system.open:
            return None
        from loopless.queries.verification.guided_runs import (
            guided,  # programs that are settled before need it not, and it takes time to import
        )

        return guided(question, self.replays, seconds)

    def inputs(self) -> Iterator[tuple[int, ...]]:
        """Inputs for native runs: small sizes, then such as lead into loops, with one value for all later ones, then
        any. With many elements other undefined behaviour comes first, as an overflow of a sum.
        """
        yield from small_sizes()
        search = Search(self.system, self.question.violates, self.question.deadline)
        guided = search.guided_inputs(EXTREME_INPUTS_S)
        for later in (1, 0, -1, 1_000_000):
            for first in guided or [()]:
                yield (*first, later)
        yield from map(tuple, input_lists(16))
