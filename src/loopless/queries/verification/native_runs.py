"""Runs of the compiled program: they show violations, and settle programs that take nothing from outside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from loopless import clock
from loopless.check.certificates.property import Property
from loopless.deadline import in_time
from loopless.errors import LimitError
from loopless.queries.verification.question import VerificationQuestion, takes_inputs
from loopless.queries.verification.replays import Replay, Replays
from loopless.queries.verification.verdict import Verdict
from loopless.verification.proofs import Search, Suspect, input_lists
from loopless.verification.transitions import TransitionSystem

NATIVE_PER_S: Final = 10_000_000_000
"""More iterations than a native run makes in a second, of a loop that is left of all that compilers take away."""


class NativeRuns:
    """Native runs of one program, whose transitions are ``system``."""

    def __init__(self, question: VerificationQuestion, replays: Replays, system: TransitionSystem) -> None:
        self.question, self.replays, self.system = question, replays, system

    def replayed(self, suspect: Suspect) -> Verdict | None:
        """``false`` if a native run with these inputs violates the property."""
        with self.question.timed("replay"):
            replay = self.replays.violation(suspect)
        return self.confirmed(suspect.method, replay)

    def confirmed(self, method: str, replay: Replay, **more: Any) -> Verdict | None:
        """``false`` where a run did what was said of it; what else it did is the reason where nothing is found."""
        if not replay.confirmed:
            self.question.unconfirmed = replay.words
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

        until = min(question.deadline, clock.counted() + seconds)
        try:
            with in_time(clock.now() + 2 * seconds):  # not all that it does is counted
                return guided(question, self.replays, until)
        except LimitError:
            return None

    def out_of_reach(self, seconds: float) -> Verdict | None:
        """``unknown`` where the only run of the program violates the property, behind more iterations than a native run
        makes in the time that is left.
        """
        question = self.question
        if question.property is not Property.UNREACH_CALL or question.entry != "main" or takes_inputs(self.system):
            return None
        found = self.violation(0.1)  # most runs that take nothing are short
        left = question.left
        if found is not None or left <= 0:
            return found
        from loopless.queries.verification.foreseen import (
            error_ahead,  # few programs need it, and it takes time to import
        )

        ahead = error_ahead(question.program, question.settings, min(seconds, left / 2))
        if ahead is None or ahead.most < left * NATIVE_PER_S:
            return None
        return question.unknown(
            f"by the summary of main the run comes to the error in line {ahead.line}, but behind at least "
            f"10^{len(str(ahead.most)) - 1} iterations of one loop: no native run gets there in the time, and what "
            "was not replayed is not told to be false"
        )

    def inputs(self) -> Iterator[tuple[int, ...]]:
        """Inputs for native runs: such as lead into loops, with one value for all that come later, and any."""
        search = Search(self.system, self.question.violates, self.question.deadline)
        guided = search.guided_inputs(1.0)
        for later in (1, 0, -1, 1_000_000):
            for first in guided or [()]:
                yield (*first, later)
        yield from map(tuple, input_lists(16))
