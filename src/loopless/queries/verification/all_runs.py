"""Proofs by all runs of a program, taken one by one: of programs that take nothing from outside, or little."""

from __future__ import annotations

from loopless import clock
from loopless.check.certificates.judge import CertifiedClaim
from loopless.errors import LooplessError
from loopless.flowgraph.model import Havoc, Origin
from loopless.limits.check import MAX_LISTED_BITS
from loopless.limits.queries import FOLLOWED_STEP_S
from loopless.queries.verification.certification import Certification
from loopless.queries.verification.question import VerificationQuestion
from loopless.queries.verification.verdict import Verdict
from loopless.transition.relation import TransitionSystem

ALL_RUNS = "all runs, one by one"


def by_all_runs(
    question: VerificationQuestion, system: TransitionSystem, certification: Certification, steps: int
) -> Verdict | None:
    """``true`` if the judge agrees that each run of the program comes to its end without a violation; None where that
    is not known. ``steps``: maximum number of back edges and calls of all runs together.
    """
    settings = question.settings
    if question.entry != "main" or _takes_much(system):
        return None
    from loopless.check.certificates.all_runs import AllRuns  # few programs need it, and it takes time to import

    try:
        runs = AllRuns(question.program.source, "main", mathematical=settings.mathematical, wrapv=settings.wrapv)
        found = runs.enumerated(steps)
    except LooplessError:
        return None
    clock.count(FOLLOWED_STEP_S * found.steps)
    if found.why:
        return None
    document = certification.document(system, CertifiedClaim({}, all_runs=True))
    judgement = certification.accepted(document, "all runs were taken, but the certificate was not accepted")
    if judgement is None:
        return None
    shares = dict(question.shares)
    return Verdict(question.property, "true", ALL_RUNS, certificate=document, judged=judgement, shares=shares)


def _takes_much(system: TransitionSystem) -> bool:
    """Whether runs take an input of many values."""
    inputs = (
        statement.target.type.width or MAX_LISTED_BITS + 1
        for block in system.graph.blocks.values()
        for statement in block.statements
        if isinstance(statement, Havoc) and statement.origin is Origin.NONDET
    )
    return any(width > MAX_LISTED_BITS for width in inputs)
