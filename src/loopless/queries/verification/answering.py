"""Is the program right? Proofs with certificates that the judge accepts, violations that were replayed natively.

One program, one property, one limit of time, which the methods share: those that cost least begin, and each round gives
those that are left more time. A ``true`` is said when the judge, in a process of its own that imports no method, has
accepted the invariants; a ``false`` when a native run of the compiled program has come to the violation.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from loopless import clock
from loopless.check.certificates.property import OVERFLOWS, Property
from loopless.errors import UsageError
from loopless.limits.queries import (
    BOUNDLESS_S,
    CONTRACTS_SHARE,
    DEFAULT_VERIFICATION_S,
    FENCE_MARGIN_S,
    LEAST_JUDGE_S,
    PLAIN_S,
)
from loopless.queries.jobs.overrun import Overrun
from loopless.queries.jobs.running import run_all
from loopless.queries.jobs.sandbox import Limits
from loopless.queries.program import AnalyzedProgram, load
from loopless.queries.settings import Settings
from loopless.queries.verification.certification import Certification
from loopless.queries.verification.native_runs import NativeRuns
from loopless.queries.verification.question import VerificationQuestion
from loopless.queries.verification.replays import Replays
from loopless.queries.verification.safety import proved_safe, safe
from loopless.queries.verification.termination import Termination
from loopless.queries.verification.verdict import Verdict
from loopless.records import dataclass
from loopless.refusals import Refused
from loopless.source.standard_input import reads
from loopless.transition.relation import TransitionSystem
from loopless.verification.contracts import contracted
from loopless.verification.proofs import Invariants


def verify(
    program: AnalyzedProgram,
    property_: Property,
    settings: Settings,
    until: float | None = None,
    seconds: float | None = None,
) -> Verdict:
    """Whether every run of the program from ``main`` has the property. ``seconds``: of counted work, which methods
    share; None: as many as are left until ``until``, or :data:`DEFAULT_VERIFICATION_S`.

    Raises:
        UsageError: the program has no ``main``.
    """
    if not any(function.code.name == "main" for function in program.functions):
        known = ", ".join(function.name for function in program.functions) or "none"
        raise UsageError(f"there is no main in {', '.join(program.files)}, where runs begin; its functions: {known}")
    if seconds is None:
        seconds = DEFAULT_VERIFICATION_S if until is None else max(0.0, until - clock.now())
    deadline = until if until is not None else clock.now() + seconds
    program = reading_stdin(program, settings, finite=property_ is Property.TERMINATION)
    job = Verify(program, property_, settings, seconds)
    if not settings.sandboxed:
        return replace(_with_input_reason(job.run(), program), files=program.files, options=settings.source)
    limits = Limits(None, settings.loop_memory_mb, deadline + FENCE_MARGIN_S)
    (found,) = run_all([job.run], limits, fresh=True)
    if not isinstance(found, Overrun):
        return replace(_with_input_reason(found, program), files=program.files, options=settings.source)
    cut = found.detail if found.is_limit else ""
    return Verdict(property_, "unknown", reason=found.in_words, trouble=found.traceback, cut=cut)


def _with_input_reason(found: Verdict, program: AnalyzedProgram) -> Verdict:
    why = program.source.unfollowed_input
    if found.verdict != "unknown" or not why:
        return found
    return replace(found, reason=f"{found.reason}; standard input is not followed: {why}")


@dataclass(frozen=True, slots=True)
class Verify:
    """The job of verifying one property of a program, in so many ``seconds`` of counted work."""

    program: AnalyzedProgram
    property: Property
    settings: Settings
    seconds: float

    def run(self) -> Verdict:
        """The verdict."""
        deadline = clock.counted() + self.seconds
        return _Answering(VerificationQuestion(self.program, self.property, self.settings, deadline)).verdict()


def reading_stdin(program: AnalyzedProgram, settings: Settings, *, finite: bool = False) -> AnalyzedProgram:
    """The program, in which what it reads from standard input are its inputs, where it does so; ``finite``: the number
    of its bytes is one of them.
    """
    source = program.source
    outside = [name for name, one in source.module.functions.items() if one.is_declaration]
    if settings.mathematical or not reads(outside):
        return program
    options = replace(source.options, reads_stdin=True, finite_stdin=finite)
    return load([Path(file) for file in program.files], replace(settings, source=options))


def proved(program: AnalyzedProgram, entry: str, settings: Settings, deadline: float) -> Verdict:
    """Whether no call of the function ``entry`` comes to the error, by proofs alone, until the ``deadline``, by
    :func:`loopless.clock.counted`: "true" with its certificate, or "unknown".
    """
    question = VerificationQuestion(program, Property.UNREACH_CALL, settings, deadline, entry)
    system = question.system()
    if isinstance(system, Refused):
        return question.unknown(str(system))
    return proved_safe(question, system, Certification(question))


def proved_ending(program: AnalyzedProgram, entry: str, settings: Settings, deadline: float) -> Verdict:
    """Whether each call of the function ``entry`` ends, by proofs alone, until the ``deadline``, by
    :func:`loopless.clock.counted`: "true" with its certificate, or another verdict, which says nothing.
    """
    unrun = replace(settings, run=False)
    return _Answering(VerificationQuestion(program, Property.TERMINATION, unrun, deadline, entry)).verdict()


class _Answering:
    """How one question is answered: of the program as it is, then under contracts of the functions that it calls."""

    def __init__(self, question: VerificationQuestion) -> None:
        self.question = question
        self.certification = Certification(question)
        self.replays = Replays(question.program, question.property, question.settings, question.deadline)

    def verdict(self) -> Verdict:
        """The verdict, by the methods in their order."""
        system = self.question.system()
        if isinstance(system, Refused):
            return self.question.unknown(str(system))
        self.certification.await_proofs()
        try:
            return self._by_all(system) if system.graph.signatures else self._asked(system, {})
        finally:
            self.replays.close()
            self.certification.close()

    def _by_all(self, plain: TransitionSystem) -> Verdict:
        """The verdict on a program with calls that are not inlined: a short time for what needs no contracts."""
        question = self.question
        whole, left = question.deadline, max(question.left, 0.0)
        question.deadline -= left - min(PLAIN_S, CONTRACTS_SHARE * left)
        verdict = self._asked(plain, {})
        question.deadline = whole
        if verdict.verdict != "unknown":
            return verdict
        return self._under_contracts(plain) or self._asked(plain, {})

    def _under_contracts(self, plain: TransitionSystem) -> Verdict | None:
        """The verdict once more, of the program under contracts of the functions that it calls; None without any."""
        question = self.question
        until = clock.counted() + CONTRACTS_SHARE * max(question.left, 0.0)
        with question.timed("contracts"):
            found = contracted(plain, question.system, question.violates, until)
        if found is None:
            return None
        self.certification.rest_on(found.contracts, found.system)
        return self._asked(found.system, found.invariants)

    def _asked(self, system: TransitionSystem, known: Invariants) -> Verdict:
        """The verdict of the methods for the property. ``known``: invariants of the system."""
        runs = NativeRuns(self.question, self.replays, system)
        if self.question.property is not Property.TERMINATION:
            return safe(self.question, system, known, runs, self.certification)
        verdict = Termination(self.question, system, runs, self.certification).verdict(known)
        return self._unless_overflow(verdict) if verdict.verdict == "true" else verdict

    def _unless_overflow(self, verdict: Verdict) -> Verdict:
        """The proof that all runs end, but where some may end by a signed overflow only: where overflow is not
        excluded, every run must end over the integers too, where nothing overflows: by the same proof, or by another.
        """
        assert verdict.judged is not None
        assert verdict.certificate is not None
        if not set(verdict.judged["undefined"]).intersection(OVERFLOWS):
            return verdict
        question = self.question
        program = {**verdict.certificate["program"], "integers": "mathematical", "wrapv": False}
        document = {**verdict.certificate, "program": program}
        seconds = max(question.left, LEAST_JUDGE_S) / 4
        with question.timed("without overflow"):
            again = self.certification.judge(document, seconds)
        if again["accepted"]:
            return verdict
        boundless = replace(question.settings, mathematical=True, wrapv=False)
        until = min(question.deadline, clock.counted() + max(BOUNDLESS_S, question.left / 2))
        again_asked = VerificationQuestion(question.program, question.property, boundless, until, question.entry)
        other = _Answering(again_asked)
        with question.timed("without overflow"):
            boundlessly = other.verdict()
        if boundlessly.verdict == "true":
            return verdict
        return question.unknown(
            "every run ends or meets a signed overflow; that they end where signed values have no bounds was not "
            "shown, so a run may end by an overflow only, and what it does then is undefined (--property no-overflow)"
        )
