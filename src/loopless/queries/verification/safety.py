"""Verdicts about errors and overflows: the methods for safety in their order, and what becomes of their answers."""

from __future__ import annotations

from typing import Any

from loopless.queries.verification.certification import Certification
from loopless.queries.verification.native_runs import NativeRuns
from loopless.queries.verification.question import VerificationQuestion
from loopless.queries.verification.verdict import Verdict
from loopless.verification.portfolio import safety_methods
from loopless.verification.proofs import Invariants, Proof, Search, Suspect
from loopless.verification.transitions import TransitionSystem


def safe(
    question: VerificationQuestion,
    system: TransitionSystem,
    known: Invariants,
    runs: NativeRuns,
    certification: Certification,
) -> Verdict:
    """Whether no run violates the property, by the methods in their order. ``known``: invariants that are known."""
    search = Search(system, question.violates, question.deadline, known)
    for name, method in safety_methods(search, runs.violation, runs.guided):
        if question.is_late:
            break
        with question.timed(name):
            found = method()
        verdict = _verdict(found, system, search, runs, certification)
        if verdict is not None:
            return verdict
    return question.unsettled(system)


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
    for name, method in safety_methods(search, lambda _: None):
        if question.is_late:
            break
        with question.timed(name):
            found = method()
        if isinstance(found, Suspect):
            break
        verdict = certification.certified(system, search, found) if isinstance(found, Proof) else None
        if verdict is not None and verdict.verdict == "true":
            return verdict
    return question.unsettled(system)
