"""Verdicts about termination: ranks that the judge accepts, and runs that were seen not to end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, Final

from loopless import terms as t
from loopless.check.certificates.judge import CertifiedClaim
from loopless.check.certificates.property import OVERFLOWS
from loopless.limits.queries import MAX_INPUT_LISTS, PROVED_SHORTENING_S
from loopless.portfolio import answered
from loopless.queries.verification.all_runs import by_all_runs
from loopless.queries.verification.certification import Certification
from loopless.queries.verification.evidence import claim_of, told
from loopless.queries.verification.native_runs import NativeRuns
from loopless.queries.verification.question import VerificationQuestion, takes_inputs
from loopless.queries.verification.replays import Replay
from loopless.queries.verification.verdict import Verdict
from loopless.source.vocabulary import STANDARD_INPUT_SIZE
from loopless.transition.relation import TransitionSystem
from loopless.verification.portfolio import TERMINATION, TerminationQuestion
from loopless.verification.proofs import Invariants, short_inputs
from loopless.verification.termination import BOUNDS, Ranked, TerminationSearch, Trap

REPEATED: Final = "repeated state"
"""What found a run that never ends since it comes to a state in which it was before."""


class Termination:
    """Whether every run ends, by the methods in their order."""

    def __init__(
        self,
        question: VerificationQuestion,
        system: TransitionSystem,
        runs: NativeRuns,
        certification: Certification,
    ) -> None:
        self.question, self.system, self.runs, self.certification = question, system, runs, certification

    def verdict(self, known: Invariants) -> Verdict:
        """The verdict; ``true`` also where a run may end by a signed overflow only. ``known``: invariants."""
        question = self.question
        search = TerminationSearch(self.system, question.deadline, known)
        asked = TerminationQuestion(
            search,
            lambda found: self._settled(search, found),
            question.timed,
            lambda: question.is_late,
            lambda steps: by_all_runs(question, self.system, self.certification, steps),
            self._repeating,
        )
        tried = answered(
            TERMINATION,
            asked,
            question.entry,
            complete=lambda verdict: verdict.method != BOUNDS or not _rests_on_overflow(verdict),
            in_words=lambda verdict: verdict.verdict,
        )
        return question.unsettled(self.system) if tried.answer is None else tried.answer  # a verdict of false is falsy

    @property
    def _may_run(self) -> bool:
        """Whether runs are followed: those of programs are."""
        return self.question.entry == "main"

    def _settled(self, search: TerminationSearch, found: Any) -> Verdict | None:
        """The verdict that a method's answer comes to, None where it settles nothing."""
        match found:
            case Verdict():
                return found
            case Ranked():
                return self._ranked(search, found)
            case Trap() if self._may_run and self.certification.contracts is None:  # it would rest on the contracts
                return self._trapped(found)
            case _:
                return None

    def _ranked(self, search: TerminationSearch, found: Ranked) -> Verdict | None:
        """``true`` if the judge accepts the ranks."""
        goals = search.goals(found.ranks)
        with self.question.timed("shortening"):
            kept = search.safety.shortened(found.invariants, goals, PROVED_SHORTENING_S)
        ranks = {
            label: tuple(text for text in (t.smt(term) for term in terms) if text is not None)
            for label, terms in found.ranks.items()
        }
        claim = replace(claim_of(kept, self.system), ranks=ranks)
        return self.certification.judged(self.system, claim, found.method, told(self.system, kept, found.ranks))

    def _trapped(self, trap: Trap) -> Verdict | None:
        """``false`` if the judge accepts the recurrent set, and a native run with these inputs does not end."""
        recurrent = {
            label: tuple(text for text in (t.smt(c) for c in conditions) if text is not None)
            for label, conditions in trap.recurrent.items()
        }
        claim = replace(claim_of({}, self.system), recurrent=recurrent, chosen=trap.chosen)
        what = "a set of states that runs do not leave"
        return self._endless(claim, what, trap.method, lambda: self.runs.replays.endless(trap))

    def _repeating(self, long: Sequence[tuple[int, ...]], seconds: float) -> Verdict | None:
        """``false`` if a run that repeats a state is found with inputs of runs that were ``long``, or with others."""
        settings, replays = self.question.settings, self.runs.replays
        if not (self._may_run and (settings.run or settings.mathematical)):
            return None
        guesses = (short_inputs(MAX_INPUT_LISTS), self.runs.inputs()) if takes_inputs(self.system) else ([()],)
        candidates = chain(long, *guesses)
        if STANDARD_INPUT_SIZE in self.question.program.source.module.functions:
            candidates = chain(((-1, *one[1:]) for one in long), ((-1, *one) for one in chain(*guesses)))
        found = replays.repeating(candidates, seconds)
        if found is None:
            return None
        claim, what = CertifiedClaim({}, repeating=found.inputs), "a run that repeats a state"
        return self._endless(claim, what, REPEATED, lambda: replays.repeated(found))

    def _endless(self, claim: CertifiedClaim, what: str, method: str, replayed: Callable[[], Replay]) -> Verdict | None:
        """``false`` if the judge accepts the claim, and the run that it speaks of was ``replayed``."""
        document = self.certification.document(self.system, claim)
        judgement = self.certification.accepted(document, f"{what} was found, but not accepted")
        if judgement is None:
            return None
        with self.question.timed("replay"):
            replay = replayed()
        return self.runs.confirmed(method, replay, certificate=document, judged=judgement)


def _rests_on_overflow(verdict: Verdict) -> bool:
    """Whether runs may end by a signed overflow in the proof."""
    return verdict.judged is not None and bool(set(verdict.judged["undefined"]).intersection(OVERFLOWS))
