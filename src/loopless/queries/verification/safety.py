"""Verdicts about errors and overflows: the methods for safety in their order, and what becomes of their answers."""

from __future__ import annotations

from typing import Any

from loopless.portfolio import answered
from loopless.queries.verification.all_runs import by_all_runs
from loopless.queries.verification.certification import Certification
from loopless.queries.verification.native_runs import NativeRuns
from loopless.queries.verification.question import VerificationQuestion
from loopless.queries.verification.verdict import Verdict
from loopless.transition.relation import TransitionSystem
from loopless.verification.portfolio import SAFETY, SafetyQuestion
from loopless.verification.proofs import Invariants, Proof, Search, Suspect


def safe(
    question: VerificationQuestion,
    system: TransitionSystem,
    known: Invariants,
    runs: NativeRuns,
    certification: Certification,
) -> Verdict:
    """Whether no run violates the property, by the methods in their order. ``known``: invariants that are known."""
    search = Search(system, question.violates, question.deadline, known)
    asked = SafetyQuestion(
        search,
        lambda found: _verdict(found, system, search, runs, certification),
        question.timed,
        lambda: question.is_late,
        lambda steps: by_all_runs(question, system, certification, steps),
        runs.violation,
        runs.guided,
        plain=lambda: question.plain_graph,
    )
    return _answer(asked, question, system)


def _no_runs(_: int) -> None:
    """Nothing: runs are those of programs."""


def _answer(asked: SafetyQuestion, question: VerificationQuestion, system: TransitionSystem) -> Verdict:
    tried = answered(SAFETY, asked, question.entry, complete=lambda _: True, in_words=lambda verdict: verdict.verdict)
    return question.unsettled(system) if tried.answer is None else tried.answer  # a verdict of false is falsy


def _verdict(
    found: Any, system: TransitionSystem, search: Search, runs: NativeRuns, certification: Certification
) -> Verdict | None:
    """The verdict that a method's answer comes to, None where it settles nothing."""
    match found:
        case Suspect():
            return runs.replayed(found)
        case Proof():
            return certification.certified(system, search, found)
        case Verdict():
            return found
        case _:
            return None


def proved_safe(question: VerificationQuestion, system: TransitionSystem, certification: Certification) -> Verdict:
    """``true`` by the methods that prove, without runs of the program; else ``unknown``."""
    search = Search(system, question.violates, question.deadline)

    def settle(found: Any) -> Verdict | None:
        if isinstance(found, Suspect):
            return question.unsettled(system)
        verdict = certification.certified(system, search, found) if isinstance(found, Proof) else None
        return verdict if verdict is not None and verdict.verdict == "true" else None

    asked = SafetyQuestion(
        search, settle, question.timed, lambda: question.is_late, _no_runs, plain=lambda: question.plain_graph
    )
    return _answer(asked, question, system)
