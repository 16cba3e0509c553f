"""That nothing gets to the target: by a proof with a certificate, or by what methods found without one."""

from __future__ import annotations

from dataclasses import replace

from loopless import clock
from loopless.check.certificates.property import Property, violates
from loopless.limits.queries import PROOF_S, WILD_S
from loopless.queries.call_values.reached import Reached
from loopless.queries.reach.native_runs import RunsToTarget
from loopless.queries.reach.question import ReachQuestion
from loopless.queries.verification.answering import proved
from loopless.queries.verification.certification import UNDEFINED, WILD
from loopless.transition.relation import TransitionSystem
from loopless.verification.proofs import Search


def proof(question: ReachQuestion, until: float) -> Reached | None:
    """The answer "unreachable" by a proof with a certificate, until a moment of counted work; None without one."""
    with question.timed("proofs"):
        verdict = proved(question.program, question.entry, question.settings, until)
    return question.proved(verdict) if verdict.verdict == "true" else None


def unreachable(question: ReachQuestion, method: str, system: TransitionSystem, runs: RunsToTarget) -> Reached:
    """The answer where a method found that nothing gets there: with the certificate of a proof; where none is found,
    by some native runs, too.
    """
    if question.proofs:
        found = proof(question, min(question.deadline, clock.counted() + PROOF_S))
        if found is not None:
            return replace(found, method=method)
    if question.settings.run and not runs.were_drawn and (chance := runs.drawn()) is not None:
        return chance
    wild = _wild(system)
    if wild is not None:
        return question.unknown(wild)
    return question.unreachable(method, (*system.graph.assumptions, *([UNDEFINED] if system.failing else [])))


def _wild(system: TransitionSystem) -> str | None:
    """Where a run was seen that leaves its objects: C does not say what it does then, and a machine goes on."""
    search = Search(system, violates(Property.UNREACH_CALL), clock.counted() + WILD_S)
    search.sampled(WILD_S)
    kind = next((kind for kind in WILD if kind in search.undefined), None)
    if kind is None:
        return None
    at = f" at {loc}" if (loc := search.undefined[kind].loc) is not None else ""
    words = kind.replace("-", " ")
    return f"no run gets there by what C says, but one leaves its objects{at} ({words}), and a machine goes on"
