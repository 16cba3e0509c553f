"""From proofs to verdicts: certificates that the judge accepts, and what these take for granted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from loopless import terms as t
from loopless.check.certificates.document import Subject, document_of
from loopless.check.certificates.element_sums import NO_SUMS, ElementSums
from loopless.check.certificates.history import HistoryVariable
from loopless.check.certificates.judge import CertifiedClaim
from loopless.check.certificates.property import Property, calls_nothing_back
from loopless.flowgraph.callees.call_graph import NOT_BY_NAME
from loopless.flowgraph.model import Call
from loopless.limits.queries import JUDGE_S, LEAST_JUDGE_S, PROVED_SHORTENING_S, WILD_S
from loopless.queries.verification.evidence import (
    ToldInvariant,
    WaitingJudge,
    claim_of,
    judge_apart,
    places,
    told,
    told_contracts,
    without_history,
)
from loopless.queries.verification.question import VerificationQuestion
from loopless.queries.verification.verdict import Verdict
from loopless.transition.relation import TransitionSystem
from loopless.verification.contracts import Contracts
from loopless.verification.proofs import NO_INVARIANT, Proof, Search

CONTRACTS: Final = "contracts of functions"
"""What is told of proofs that rest on what functions return."""
WILD: Final = ("pointer-overflow", "bounds", "null-pointer", "dangling-pointer", "const-write", "overlap")
"""Kinds of undefined behaviour behind which machines go on with other memory."""
UNDEFINED: Final = "runs that meet undefined behaviour end there"


class Certification:
    """The certificates for the answers to one question, and the judge of them."""

    def __init__(self, question: VerificationQuestion) -> None:
        self.question = question
        self.contracts: dict[str, tuple[str, ...]] | None = None
        """What functions do, in SMT-LIB, where proofs rest on that."""
        self._ensured: Mapping[str, str] = {}
        self._waiting: WaitingJudge | None = None

    def await_proofs(self) -> None:
        """Start the judge, which is ready then when there is a proof. ``close`` ends it."""
        self._waiting = WaitingJudge()

    def close(self) -> None:
        """End a judge that had nothing to judge."""
        if self._waiting is not None:
            self._waiting.close()

    def rest_on(self, contracts: Contracts, system: TransitionSystem) -> None:
        """Let all proofs from now on be about the program under these contracts."""
        self.contracts = {
            name: tuple(text for text in map(t.smt, parts) if text is not None) for name, parts in contracts.items()
        }
        self._ensured = told_contracts(system.graph, contracts)

    def certified(self, system: TransitionSystem, search: Search, proof: Proof) -> Verdict | None:
        """``true`` if the judge accepts the proof, shortened or as it is."""
        if proof.history or proof.elements:
            claim = replace(claim_of(proof.invariants, system), elements=proof.elements, pairs=proof.pairs)
            shown = told(system, without_history(proof.invariants, system))
            verdict = self.judged(system, claim, proof.method, shown, proof.history, sums=proof.sums)
            return None if verdict is None else self._unless_wild(search, verdict)
        left = max(self.question.left, LEAST_JUDGE_S)
        goals = search.safety_goals()
        with self.question.timed("shortening"):
            shorter = search.shortened(proof.invariants, goals, min(PROVED_SHORTENING_S, left / 3))
        for invariants in (shorter, proof.invariants):
            verdict = self.judged(system, claim_of(invariants, system), proof.method, told(system, invariants))
            if verdict is not None:
                return self._unless_wild(search, verdict)
        return None

    def _unless_wild(self, search: Search, verdict: Verdict) -> Verdict:
        """The proof, but where a run was seen that leaves its objects first: C does not say what it does then, and a
        machine goes on.
        """
        assert verdict.judged is not None
        kinds = set(verdict.judged["undefined"]).intersection(WILD)
        if kinds and not search.is_sampled:
            with self.question.timed("single runs"):
                search.sampled(WILD_S)
        found = next((search.undefined[kind] for kind in sorted(kinds) if kind in search.undefined), None)
        if found is None:
            return verdict
        at = f" at {found.loc}" if found.loc is not None else ""
        inputs = f", with inputs {found.inputs[:8]}" if found.inputs else ""
        return self.question.unknown(
            "no run violates the property before undefined behaviour, but a run meets it "
            f"({found.kind.replace('-', ' ')}{at}{inputs}), and C does not say what it does then"
        )

    def judged(
        self,
        system: TransitionSystem,
        claim: CertifiedClaim,
        method: str,
        shown: tuple[ToldInvariant, ...],
        history: Sequence[HistoryVariable] = (),
        *,
        sums: ElementSums = NO_SUMS,
    ) -> Verdict | None:
        """``true`` if the judge accepts the claim, which speaks of ``history`` and ``sums``; ``shown`` says it to
        readers.
        """
        question = self.question
        at = places(system.graph)
        document = document_of(self._subject(), question.property, claim, at, self.contracts, history, sums=sums)
        judgement = self.accepted(document, f"a proof was found ({method}), but its certificate was not accepted")
        if judgement is None:
            return None
        granted = [*system.graph.assumptions, *self._granted_of_calls(system)]
        if judgement["undefined"]:
            kinds = ", ".join(kind.replace("-", " ") for kind in judgement["undefined"])
            granted.append(f"{UNDEFINED}: no undefined behaviour before ({kinds})")
        if self.contracts is not None:
            method = CONTRACTS if method == NO_INVARIANT else f"{CONTRACTS}, {method}"
        return Verdict(
            question.property,
            "true",
            method,
            certificate=document,
            judged=judgement,
            assumptions=tuple(granted),
            shares=dict(question.shares),
            told=shown,
            contracts=self._ensured,
        )

    def document(self, system: TransitionSystem, claim: CertifiedClaim) -> dict[str, Any]:
        """The certificate of a claim about the program itself, whatever contracts say."""
        return document_of(self._subject(), self.question.property, claim, places(system.graph))

    def accepted(self, document: Mapping[str, Any], otherwise: str) -> Mapping[str, Any] | None:
        """What the judge says of a certificate that it accepts; ``otherwise`` is the reason where it does not."""
        seconds = min(JUDGE_S, max(self.question.left, LEAST_JUDGE_S))
        with self.question.timed("certificate"):
            judgement = self.judge(document, seconds)
        if judgement["accepted"]:
            return judgement
        why = judgement["failed"][0] if judgement["failed"] else "it gave no answer"
        self.question.refused_proof = f"{otherwise}: {why}"
        return None

    def judge(self, document: Mapping[str, Any], seconds: float) -> Mapping[str, Any]:
        """What the judge says of a certificate, in a process that imports no method."""
        waiting, self._waiting = self._waiting, None
        return judge_apart(document, seconds, waiting)

    def _subject(self) -> Subject:
        program, settings = self.question.program, self.question.settings
        options = program.source.options
        if options.data_model is None and program.source.data_model in ("ILP32", "LP64"):
            options = replace(options, data_model=cast(Any, program.source.data_model))
        return Subject(program.files, options, self.question.entry, settings.mathematical, settings.wrapv)

    def _granted_of_calls(self, system: TransitionSystem) -> list[str]:
        """What is taken for granted of functions that the program declares only, and of which nothing is known."""
        module = self.question.program.source.module
        calls = [s for block in system.graph.blocks.values() for s in block.statements if isinstance(s, Call)]
        outside = dict.fromkeys(call.callee for call in calls if call.outside)
        names = [name for name in outside if not calls_nothing_back(name, module)]
        if not names:
            return []
        terminates = self.question.property is Property.TERMINATION
        return [NOT_BY_NAME, *([f"calls of {name} return" for name in names] if terminates else [])]
