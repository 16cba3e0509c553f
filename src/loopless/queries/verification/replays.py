"""Runs of a program that confirm what is said of it: of the compiled program, under traps for undefined behaviour; over
unbounded integers by the judge's interpreter.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from itertools import islice
from pathlib import Path
from typing import Any, Final

from loopless import clock
from loopless.check.certificates.property import OVERFLOWS, Property
from loopless.check.interpreter.repeating import REPEATED_CALL
from loopless.check.oracle.runtime import BYTES, TRAP_KINDS, UNINITIALISED_BYTE
from loopless.errors import LooplessError
from loopless.limits.queries import (
    FOLLOWED_S,
    FOLLOWED_STEP_S,
    INPUTS_AHEAD,
    LEAST_REPLAY_S,
    MAX_FILLED_ALONE,
    REPEATING_STEPS,
    REPLAY_S,
    STILL_S,
    STILL_STEPS,
)
from loopless.queries.program import AnalyzedProgram
from loopless.queries.settings import Settings
from loopless.records import dataclass
from loopless.verification.proofs import Suspect
from loopless.verification.termination import Trap

PERHAPS_OVERFLOW: Final = (TRAP_KINDS[3], TRAP_KINDS[20])
"""What native traps say that may be about the range of a signed type, and about something else."""


@dataclass(frozen=True, slots=True)
class Replay:
    """What a run came to: ``confirmed`` where it did what was said of it, ``words`` say what it did; ``inputs`` are
    those that it was given, ``repeats``: the last of them again and again; ``uninitialised`` what locals held.
    ``stdin``: the bytes of standard input, where the program reads it.
    """

    confirmed: bool
    words: str
    inputs: tuple[int, ...] = ()
    repeats: bool = False
    uninitialised: Mapping[str, int] = field(default_factory=dict)
    stdin: bytes | None = None

    def read_by(self, outcome: Any) -> Replay:
        """The same of a native run whose inputs were laid out as standard input."""
        if outcome.stdin is None:
            return self
        return replace(self, inputs=outcome.nondet, repeats=False, stdin=outcome.stdin)


@dataclass(frozen=True, slots=True)
class Repeating:
    """A run never ends that takes these ``inputs``, the last one again and again; ``deeper``: in ever deeper calls."""

    inputs: tuple[int, ...]
    deeper: bool


class Replays:
    """Runs of one program for one property, until a ``deadline`` of counted work. It compiles when it is first asked;
    ``close`` ends its process.
    """

    def __init__(self, program: AnalyzedProgram, property_: Property, settings: Settings, deadline: float) -> None:
        self.program, self.property, self.settings, self.deadline = program, property_, settings, deadline
        self._oracle: Any = None

    def close(self) -> None:
        """End the process of native runs."""
        if self._oracle is not None:
            self._oracle.close()

    def _native(self, seconds: float) -> Any:
        from loopless.check.oracle.native import NativeLimits, NativeOracle

        if self._oracle is None:
            files = [Path(file) for file in self.program.files]
            options = self.settings.for_runs(self.program.source.options)
            self._oracle = NativeOracle(files, options=options, limits=NativeLimits(seconds=REPLAY_S))
        left = max(LEAST_REPLAY_S, min(seconds, self.deadline - clock.counted()))
        self._oracle.limits = replace(self._oracle.limits, seconds=left)
        return self._oracle

    def signature(self) -> Any:
        """The types of what ``main`` is given."""
        return self._native(REPLAY_S).signature("main")

    def _chosen(self, values: Mapping[str, int]) -> dict[str, int]:
        known = {name.rpartition(".")[2] for name in self._oracle.prepared.locals}
        return {name: value for name, value in values.items() if name in known}

    def _filled(self) -> list[dict[str, int]]:
        """Bytes that uninitialised arrays and structures may hold as well as the zeros that they are given: one alone,
        of the first few, then all of them.
        """
        every = {name: UNINITIALISED_BYTE for name in self._oracle.prepared.locals if name.endswith(BYTES)}
        alone = [{name: byte} for name, byte in islice(every.items(), MAX_FILLED_ALONE)]
        return [*alone, every] if len(every) > 1 else alone

    def _is_violation(self, outcome: Any, inputs: Sequence[int], *, repeats: bool = False) -> bool:
        if self.property is Property.UNREACH_CALL:
            return bool(outcome.status == "error-reached")
        if outcome.status != "undefined":
            return False
        return is_overflow(outcome.detail) or (
            outcome.detail.startswith(PERHAPS_OVERFLOW) and self._interpreted(inputs, repeats=repeats) in OVERFLOWS
        )

    def _interpreted(self, inputs: Sequence[int], *, repeats: bool) -> str:
        """The kind of undefined behaviour in which a run with these inputs ends in the judge's interpreter, or ""."""
        from loopless.check.certificates.repeating import Follower  # as below

        behind = inputs[-1] if repeats and inputs else 0
        try:
            follower = Follower(self.program.source, "main", wrapv=self.settings.wrapv)
            run = follower.run((*inputs, *[behind] * 64), REPLAY_S)
        except LooplessError:
            return ""
        return run.reason.replace(" ", "-") if run.status == "undefined" else ""

    def violation(self, suspect: Suspect) -> Replay:
        """Whether a run that reads these inputs violates the property."""
        shown = f"a run with inputs {list(suspect.inputs)[:20]}"
        if not self.settings.run:
            return Replay(False, f"{shown} may violate the property; it was not replayed (--no-run)")
        try:
            oracle = self._native(REPLAY_S)
            chosen = self._chosen(suspect.uninitialised)
            ahead = suspect.inputs if suspect.repeats else (*suspect.inputs, *[0] * 64)
            outcome = oracle.run("main", nondet=ahead, uninit=chosen, repeat=suspect.repeats)
            for filled in self._filled():
                if outcome.status == "timeout" or self._is_violation(outcome, suspect.inputs, repeats=suspect.repeats):
                    break
                held = {**filled, **chosen}
                other = oracle.run("main", nondet=ahead, uninit=held, repeat=suspect.repeats)
                if self._is_violation(other, suspect.inputs, repeats=suspect.repeats):
                    outcome, chosen = other, held
        except LooplessError as error:
            return Replay(False, f"a run that may violate the property could not be replayed: {error}")
        if not self._is_violation(outcome, suspect.inputs, repeats=suspect.repeats):
            if outcome.status == "timeout" and suspect.iterations:
                again = ", the last one again and again," if suspect.repeats else ""
                words = (
                    f"by {suspect.method} {shown}{again} probably comes to the error behind {suspect.iterations:,} "
                    f"iterations and more, but the native run did not get there in {REPLAY_S:g} s"
                )
                return Replay(False, words)
            if suspect.proposed:
                return Replay(False, "")
            words = (
                f"no proof and no violation: what is known of memory and calls does not exclude that {shown} violates "
                f"the property ({suspect.method}), but natively it does not ({outcome.status})"
            )
            return Replay(False, words)
        replay = Replay(True, outcome.detail, suspect.inputs, suspect.repeats, uninitialised=chosen)
        return replay.read_by(outcome)

    def first_violation(self, inputs: Iterable[tuple[int, ...]], seconds: float, most: float) -> Replay | None:
        """The first of several runs that violates the property, each for so many seconds, all for at most ``most``; the
        last of its inputs comes again and again.
        """
        from loopless.check.oracle.native import NativeRun

        until = min(self.deadline, clock.counted() + most)
        try:
            for one in inputs:
                left = until - clock.counted()
                if left <= 0:
                    return None
                oracle = self._native(min(left, seconds))
                (outcome,) = oracle.run_many("main", [NativeRun(nondet=one, repeat=bool(one))])
                if self._is_violation(outcome, one, repeats=True):
                    return Replay(True, outcome.detail, one, bool(one)).read_by(outcome)
        except LooplessError:
            pass
        return None

    def endless(self, trap: Trap) -> Replay:
        """Whether a run that takes these inputs is still going on after a while."""
        shown = f"a run with inputs {list(trap.inputs)[:20]}"
        if self.settings.mathematical:
            return self._endless_over_integers(trap, shown)
        return self._goes_on(trap.inputs, self._ahead(trap), trap.uninitialised, shown)

    def _goes_on(
        self,
        inputs: tuple[int, ...],
        ahead: tuple[int, ...],
        uninitialised: Mapping[str, int],
        shown: str,
        *,
        deeper: bool = False,
    ) -> Replay:
        """Whether a native run goes on, or needs all of the stack where it was to go ``deeper`` and deeper."""
        if not self.settings.run:
            return Replay(False, f"{shown} was found that never ends; it was not replayed (--no-run)")
        try:
            oracle = self._native(STILL_S)
            chosen = self._chosen(uninitialised)
            outcome = oracle.run("main", nondet=ahead, uninit=chosen)
        except LooplessError as error:
            return Replay(False, f"a run that never ends could not be replayed: {error}")
        if outcome.status == "unknown" and "exhausted" in outcome.detail:
            return Replay(True, f"the native run took {INPUTS_AHEAD:,} inputs", inputs, uninitialised=chosen)
        if deeper and outcome.status == "crashed" and "SIGSEGV" in outcome.detail:
            return Replay(True, "the native run went deeper and deeper until the stack was used up", inputs)
        if outcome.status != "timeout":
            words = f"not replayed: {shown} was never to end, but the native run did ({outcome.status})"
            return Replay(False, words)
        words = f"the native run was still going on after {STILL_S:g} s"
        return Replay(True, words, inputs, uninitialised=chosen).read_by(outcome)

    def repeating(self, candidates: Iterable[tuple[int, ...]], seconds: float) -> Repeating | None:
        """The first of these inputs, the last one of each again and again, with which a run comes to a state in which
        it was before.
        """
        from loopless.check.certificates.repeating import Follower  # few programs need it, and it takes time to import

        until = min(self.deadline, clock.counted() + seconds)
        settings = self.settings
        follower = Follower(self.program.source, "main", mathematical=settings.mathematical, wrapv=settings.wrapv)
        for inputs in candidates:
            if clock.counted() >= until:
                return None
            run = follower.run(inputs, FOLLOWED_S, REPEATING_STEPS)
            clock.count(FOLLOWED_STEP_S * (1 + sum(run.iterations.values()) + sum(run.calls.values())))
            if run.status == "diverges":
                return Repeating(as_taken(inputs, run.nondet_used), run.reason == REPEATED_CALL)
        return None

    def repeated(self, found: Repeating) -> Replay:
        """Whether the native run does not end, either."""
        inputs = found.inputs
        if self.settings.mathematical:
            return Replay(True, "over the integers the judge's interpreter came to a state again", inputs, bool(inputs))
        shown = f"a run with inputs {list(inputs)[:20]}, the last one again and again,"
        ahead = (*inputs, *inputs[-1:] * INPUTS_AHEAD)
        replay = self._goes_on(inputs, ahead, {}, shown, deeper=found.deeper)
        return replace(replay, repeats=bool(inputs) and replay.stdin is None)

    def _ahead(self, trap: Trap) -> tuple[int, ...]:
        steady = next(iter(set(trap.chosen.values())), 0)
        return (*trap.inputs, *[steady] * INPUTS_AHEAD)

    def _endless_over_integers(self, trap: Trap, shown: str) -> Replay:
        from loopless.check.interpreter.run import Interpreter
        from loopless.flowgraph import Options

        module = self.program.source.inlined
        options = Options(mathematical=True, apart=False)
        from loopless.flowgraph import build

        graph = build(module.functions["main"], module, options)
        interpreter = Interpreter(module, graph, options=options)
        arguments = [0 if parameter.object is None else None for parameter in graph.parameters]
        run = interpreter.run(arguments, self._ahead(trap), max_steps=STILL_STEPS)
        exhausted = run.nondet_used >= INPUTS_AHEAD
        if run.status not in ("timeout", "diverges") and not exhausted:
            words = f"not replayed: {shown} was never to end, but the interpreter's did ({run.status})"
            return Replay(False, words)
        return Replay(True, "over the integers the judge's interpreter was still running", trap.inputs)


def as_taken(inputs: tuple[int, ...], number: int) -> tuple[int, ...]:
    """The inputs of which a run took so many, up to the first from which on all are alike."""
    taken = inputs[:number]
    while len(taken) > 1 and taken[-1] == taken[-2]:
        taken = taken[:-1]
    return taken


def is_overflow(detail: str) -> bool:
    """Whether a native trap is about the range of a signed type."""
    return detail.startswith("signed ") and "overflow" in detail
