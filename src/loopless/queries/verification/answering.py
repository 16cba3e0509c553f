"""Is the program right? Proofs with certificates that the judge accepts, violations that were replayed natively.

One program, one property, one limit of time, which the methods share: those that cost least begin, and each round gives
those that are left more time. A ``true`` is said when the judge, in a process of its own that imports no method, has
accepted the invariants; a ``false`` when a native run of the compiled program has come to the violation.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, Final, cast

from loopless import clock
from loopless import terms as t
from loopless.check.certificates.document import Subject, document_of
from loopless.check.certificates.judge import CertifiedClaim
from loopless.check.certificates.property import (
    OVERFLOWS,
    Follows,
    Property,
    calls_nothing_back,
    graph_of,
    violates,
)
from loopless.errors import UsageError
from loopless.flowgraph.callees.call_graph import NOT_BY_NAME
from loopless.flowgraph.model import Call, Origin
from loopless.flowgraph.words import not_followed
from loopless.queries.jobs.overrun import Overrun
from loopless.queries.jobs.running import run_all
from loopless.queries.jobs.sandbox import Limits, note
from loopless.queries.program import Program
from loopless.queries.settings import Settings
from loopless.queries.verification.evidence import (
    ToldInvariant,
    WaitingJudge,
    claim_of,
    judge_apart,
    places,
    told,
    told_contracts,
)
from loopless.queries.verification.replays import Replay, Replays
from loopless.queries.verification.verdict import Verdict
from loopless.refusals import Reason, Refused
from loopless.verification.contracts import Contracts, contracted
from loopless.verification.portfolio import safety_methods
from loopless.verification.proofs import NO_INVARIANT, Invariants, Proof, Search, Suspect, input_lists, short_inputs
from loopless.verification.termination import Ranked, TerminationSearch, Trap
from loopless.verification.transitions import TransitionSystem, system_of

DEFAULT_S: Final = 60.0
"""Seconds for one program where nobody says otherwise."""
JUDGE_S: Final = 60.0
"""Seconds that the judge may take."""

BOUNDLESS_S: Final = 8.0
"""Seconds for the question whether runs end over the integers. A guess."""

NATIVE_PER_S: Final = 10_000_000_000
"""More iterations than a native run makes in a second, of a loop that is left of all that compilers take away."""

WITH_CONTRACTS: Final = 0.5
"""The share of the time in which contracts are looked for, where calls are not inlined. A guess."""
PLAIN_S: Final = 4.0
"""Seconds for what needs no contracts there, before they are looked for. A guess."""

MANY: Final = 400
"""So many short lists of inputs are tried for runs that never end. A guess."""
REPEATED: Final = "repeated state"
"""What found a run that never ends since it comes to a state in which it was before."""
CONTRACTS: Final = "contracts of functions"
"""What is told of proofs that rest on what functions return."""

WILD: Final = ("pointer-overflow", "bounds", "null-pointer", "dangling-pointer", "const-write", "overlap")
"""Kinds of undefined behaviour behind which machines go on with other memory."""

CUT: Final = "the time was over (--timeout raises it)"
UNDEFINED: Final = "runs that meet undefined behaviour end there"


def verify(
    program: Program, property_: Property, settings: Settings, until: float | None = None, seconds: float | None = None
) -> Verdict:
    """Whether every run of the program from ``main`` has the property. ``seconds``: of counted work, which methods
    share; None: as many as are left until ``until``, or :data:`DEFAULT_S`.

    Raises:
        UsageError: the program has no ``main``.
    """
    if not any(function.code.name == "main" for function in program.functions):
        known = ", ".join(function.name for function in program.functions) or "none"
        raise UsageError(f"there is no main in {', '.join(program.files)}, where runs begin; its functions: {known}")
    if seconds is None:
        seconds = DEFAULT_S if until is None else max(0.0, until - clock.now())
    deadline = until if until is not None else clock.now() + seconds
    job = functools.partial(_job, program, property_, settings, seconds)
    if not settings.sandboxed:
        return replace(job(), files=program.files, options=settings.source)
    limits = Limits(None, settings.loop_memory_mb, deadline + 1.0)
    (found,) = run_all([job], limits, fresh=True)
    if not isinstance(found, Overrun):
        return replace(found, files=program.files, options=settings.source)
    cut = found.detail if found.is_limit else ""
    return Verdict(property_, "unknown", reason=found.in_words, trouble=found.traceback, cut=cut)


def _job(program: Program, property_: Property, settings: Settings, seconds: float) -> Verdict:
    return _Question(program, property_, settings, clock.counted() + seconds).answer()


def proved(program: Program, entry: str, settings: Settings, deadline: float) -> Verdict:
    """Whether no call of the function ``entry`` comes to the error, by proofs alone, until the ``deadline``, by
    :func:`loopless.clock.counted`: "true" with its certificate, or "unknown".
    """
    return _Question(program, Property.UNREACH_CALL, settings, deadline, entry).proved()


def takes_inputs(system: TransitionSystem) -> bool:
    """Whether runs take something from outside, or from variables that are not initialised."""
    return any(i.origin is not Origin.MEMORY for transition in system.transitions for i in transition.inputs)


class _Question:
    """One property of one program, and what the methods have said of it. ``deadline``: of counted work."""

    def __init__(
        self, program: Program, property_: Property, settings: Settings, deadline: float, entry: str = "main"
    ) -> None:
        self.program, self.property, self.settings, self.deadline = program, property_, settings, deadline
        self.entry = entry
        self.violates = violates(property_)
        self.follows = Follows(property_, program.source.module)
        self.shares: dict[str, float] = {}
        self.unconfirmed = ""
        self.refused_proof = ""
        self.contracts: dict[str, tuple[str, ...]] | None = None
        self.ensured: Mapping[str, str] = {}
        self.replays = Replays(program, property_, settings, deadline)
        self.waiting: WaitingJudge | None = None

    def answer(self) -> Verdict:
        """The verdict, by the methods in their order."""
        made = self._system(None)
        if isinstance(made, Refused):
            return self._unknown(str(made))
        self.waiting = WaitingJudge()
        try:
            if not made.graph.signatures:
                return self._asked(made, {})
            whole, left = self.deadline, max(self.deadline - clock.counted(), 0.0)
            self.deadline -= left - min(PLAIN_S, WITH_CONTRACTS * left)
            verdict = self._asked(made, {})
            self.deadline = whole
            if verdict.verdict != "unknown":
                return verdict
            return self._under_contracts(made) or self._asked(made, {})
        finally:
            self.replays.close()
            if self.waiting is not None:
                self.waiting.close()

    def proved(self) -> Verdict:
        """The verdict by the methods that prove, without runs of the program."""
        made = self._system(None)
        if isinstance(made, Refused):
            return self._unknown(str(made))
        search = Search(made, self.violates, self.deadline)
        for name, method in safety_methods(search, lambda _: None):
            if clock.counted() > self.deadline:
                break
            found = self._timed(name, method)
            if isinstance(found, Suspect):
                break
            verdict = self._said(made, search, found)
            if verdict is not None and verdict.verdict == "true":
                return verdict
        return self._unknown(self._why(made))

    def _system(self, contracts: Contracts | None) -> TransitionSystem | Refused:
        """The program as transitions, under these contracts of functions."""
        settings = self.settings
        graph = graph_of(
            self.program.source,
            self.entry,
            self.property,
            mathematical=settings.mathematical,
            wrapv=settings.wrapv,
            contract_of=lambda signature: (contracts or {}).get(signature.function),
        )
        return graph.refused or system_of(graph, self.violates, self._calls)

    def _asked(self, system: TransitionSystem, known: Invariants) -> Verdict:
        return self._terminates(system, known) if self.property is Property.TERMINATION else self._safe(system, known)

    def _under_contracts(self, plain: TransitionSystem) -> Verdict | None:
        """The verdict once more, of the program under contracts of the functions that it calls; None without any."""
        until = clock.counted() + WITH_CONTRACTS * max(self.deadline - clock.counted(), 0.0)
        found = self._timed("contracts", lambda: contracted(plain, self._system, self.violates, until))
        if found is None:
            return None
        self.contracts = {
            name: tuple(text for text in map(t.smt, parts) if text is not None)
            for name, parts in found.contracts.items()
        }
        self.ensured = told_contracts(found.system.graph, found.contracts)
        return self._asked(found.system, found.invariants)

    def _calls(self, call: Call) -> Refused | None:
        if self.follows(call):
            return None
        reason = Reason.RECURSION if call.callee in self.follows.names(call) else Reason.UNKNOWN_CALL
        detail = f"{not_followed(call.callee)}, and may violate the property"
        return Refused(reason, str(call.loc or call.callee), detail)

    # -- safety -------------------------------------------------------------------------------------------------------

    def _safe(self, system: TransitionSystem, known: Invariants) -> Verdict:
        search = Search(system, self.violates, self.deadline, known)
        foreseen = functools.partial(self._foreseen, system)
        for name, method in safety_methods(search, functools.partial(self.native, system), foreseen):
            if clock.counted() > self.deadline:
                break
            found = self._timed(name, method)
            verdict = self._said(system, search, found)
            if verdict is not None:
                return verdict
        return self._unknown(self._why(system))

    def _said(self, system: TransitionSystem, search: Search, found: Any) -> Verdict | None:
        """The verdict that a method's answer comes to, None where it settles nothing."""
        match found:
            case Suspect():
                return self._replayed(found)
            case Proof():
                return self._certified(system, search, found)
            case Verdict():
                return found
            case _:
                return None

    def _timed(self, name: str, method: Callable[[], Any]) -> Any:
        note(f"{name} was tried")
        started = clock.now()
        try:
            return method()
        finally:
            self.shares[name] = round(self.shares.get(name, 0.0) + clock.now() - started, 3)

    def _why(self, system: TransitionSystem) -> str:
        if self.refused_proof:
            return self.refused_proof
        if self.unconfirmed:
            return self.unconfirmed
        if system.open:
            return f"{system.open[0]}"
        limit = f"; {CUT}" if clock.counted() > self.deadline else ""
        return f"neither a proof nor a violation was found by {', '.join(self.shares)}{limit}"

    def _unknown(self, reason: str) -> Verdict:
        cut = CUT if clock.counted() > self.deadline else ""
        return Verdict(self.property, "unknown", reason=reason, shares=dict(self.shares), cut=cut)

    # -- evidence -----------------------------------------------------------------------------------------------------

    def _subject(self) -> Subject:
        options = self.program.source.options
        if options.data_model is None and self.program.source.data_model in ("ILP32", "LP64"):
            options = replace(options, data_model=cast(Any, self.program.source.data_model))
        return Subject(self.program.files, options, self.entry, self.settings.mathematical, self.settings.wrapv)

    def _certified(self, system: TransitionSystem, search: Search, proof: Proof) -> Verdict | None:
        """``true`` if the judge accepts the proof, shortened or as it is."""
        left = max(self.deadline - clock.counted(), 1.0)
        goals = search.safety_goals()
        shorter = self._timed("shortening", lambda: search.shortened(proof.invariants, goals, min(4.0, left / 3)))
        for invariants in (shorter, proof.invariants):
            verdict = self._judged(system, claim_of(invariants, system), proof.method, told(system, invariants))
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
            self._timed("single runs", lambda: search.sampled(0.3))
        found = next((search.undefined[kind] for kind in sorted(kinds) if kind in search.undefined), None)
        if found is None:
            return verdict
        at = f" at {found.loc}" if found.loc is not None else ""
        inputs = f", with inputs {found.inputs[:8]}" if found.inputs else ""
        return self._unknown(
            "no run violates the property before undefined behaviour, but a run meets it "
            f"({found.kind.replace('-', ' ')}{at}{inputs}), and C does not say what it does then"
        )

    def _judge(self, document: Mapping[str, Any], seconds: float) -> Mapping[str, Any]:
        waiting, self.waiting = self.waiting, None
        return judge_apart(document, seconds, waiting)

    def _judged(
        self, system: TransitionSystem, claim: CertifiedClaim, method: str, shown: tuple[ToldInvariant, ...]
    ) -> Verdict | None:
        document = document_of(self._subject(), self.property, claim, places(system.graph), self.contracts)
        left = max(self.deadline - clock.counted(), 1.0)
        judgement = self._timed("certificate", lambda: self._judge(document, min(JUDGE_S, left)))
        if not judgement["accepted"]:
            why = judgement["failed"][0] if judgement["failed"] else "it gave no answer"
            self.refused_proof = f"a proof was found ({method}), but its certificate was not accepted: {why}"
            return None
        granted = [*system.graph.assumptions, *self._granted_of_calls(system)]
        if judgement["undefined"]:
            kinds = ", ".join(kind.replace("-", " ") for kind in judgement["undefined"])
            granted.append(f"{UNDEFINED}: no undefined behaviour before ({kinds})")
        if self.contracts is not None:
            method = CONTRACTS if method == NO_INVARIANT else f"{CONTRACTS}, {method}"
        return Verdict(
            self.property,
            "true",
            method,
            certificate=document,
            judged=judgement,
            assumptions=tuple(granted),
            shares=dict(self.shares),
            told=shown,
            contracts=self.ensured,
        )

    def _granted_of_calls(self, system: TransitionSystem) -> list[str]:
        """What is taken for granted of functions that the program declares only, and of which nothing is known."""
        module = self.program.source.module
        calls = [s for block in system.graph.blocks.values() for s in block.statements if isinstance(s, Call)]
        outside = dict.fromkeys(call.callee for call in calls if call.outside)
        names = [name for name in outside if not calls_nothing_back(name, module)]
        if not names:
            return []
        returns = [f"calls of {name} return" for name in names] if self.property is Property.TERMINATION else []
        return [NOT_BY_NAME, *returns]

    def _replayed(self, suspect: Suspect) -> Verdict | None:
        """``false`` if a native run with these inputs violates the property."""
        return self._confirmed(suspect.method, self._timed("replay", lambda: self.replays.violation(suspect)))

    def _confirmed(self, method: str, replay: Replay, **more: Any) -> Verdict | None:
        """``false`` where a run did what was said of it; what else it did is the reason where nothing is found."""
        if not replay.confirmed:
            self.unconfirmed = replay.words
            return None
        return Verdict(
            self.property,
            "false",
            method,
            replay.inputs,
            replay.uninitialised,
            replay.words,
            shares=dict(self.shares),
            repeats=replay.repeats,
            **more,
        )

    def native(self, system: TransitionSystem, seconds: float) -> Verdict | None:
        """Native runs with inputs of all kinds, which are fast enough for long loops; one run of a program that takes
        none.
        """
        if not self.settings.run:
            return None
        if takes_inputs(system):
            found = self.replays.first_violation(self._inputs(system), seconds, 4 * seconds)
        else:
            found = self.replays.first_violation([()], 10 * seconds, 10 * seconds)
        return None if found is None else self._confirmed("native runs", found)

    def _foreseen(self, system: TransitionSystem, seconds: float) -> Verdict | None:
        """``unknown`` where the only run of the program violates the property, behind more iterations than a native run
        makes in the time that is left.
        """
        if self.property is not Property.UNREACH_CALL or self.entry != "main" or takes_inputs(system):
            return None
        found = self.native(system, 0.1)  # most runs that take nothing are short
        left = self.deadline - clock.counted()
        if found is not None or left <= 0:
            return found
        from loopless.queries.verification.foreseen import (
            error_ahead,  # few programs need it, and it takes time to import
        )

        ahead = error_ahead(self.program, self.settings, min(seconds, left / 2))
        if ahead is None or ahead.most < left * NATIVE_PER_S:
            return None
        return self._unknown(
            f"by the summary of main the run comes to the error in line {ahead.line}, but behind at least "
            f"10^{len(str(ahead.most)) - 1} iterations of one loop: no native run gets there in the time, and what "
            "was not replayed is not told to be false"
        )

    def _inputs(self, system: TransitionSystem) -> Iterator[tuple[int, ...]]:
        """Inputs for native runs: such as lead into loops, with one value for all that come later, and any."""
        search = Search(system, self.violates, self.deadline)
        guided = search.guided_inputs(1.0)
        for later in (1, 0, -1, 1_000_000):
            for first in guided or [()]:
                yield (*first, later)
        yield from map(tuple, input_lists(16))

    # -- termination --------------------------------------------------------------------------------------------------

    def _terminates(self, system: TransitionSystem, known: Invariants) -> Verdict:
        search = TerminationSearch(system, self.deadline, known)
        for name, method in search.methods(functools.partial(self._repeating, system)):
            if clock.counted() > self.deadline:
                break
            found = self._timed(name, method)
            if isinstance(found, Verdict):
                return found
            if isinstance(found, Ranked):
                goals = search.goals(found.ranks)
                kept = self._timed("shortening", lambda: search.safety.shortened(found.invariants, goals, 4.0))  # noqa: B023
                claim = claim_of(kept, system)
                ranks = {
                    label: tuple(text for text in (t.smt(term) for term in terms) if text is not None)
                    for label, terms in found.ranks.items()
                }
                shown = told(system, kept, found.ranks)
                verdict = self._judged(system, replace(claim, ranks=ranks), found.method, shown)
                if verdict is not None:
                    return self._unless_overflow(verdict)
            if isinstance(found, Trap) and self.contracts is None:  # it would rest on the contracts
                verdict = self._trapped(system, found)
                if verdict is not None:
                    return verdict
        return self._unknown(self._why(system))

    def _unless_overflow(self, verdict: Verdict) -> Verdict:
        """The proof that all runs end, but where some may end by a signed overflow only: where overflow is not
        excluded, every run must end over the integers too, where nothing overflows: by the same proof, or by another.
        """
        assert verdict.judged is not None
        assert verdict.certificate is not None
        if not set(verdict.judged["undefined"]).intersection(OVERFLOWS):
            return verdict
        program = {**verdict.certificate["program"], "integers": "mathematical", "wrapv": False}
        document = {**verdict.certificate, "program": program}
        left = max(self.deadline - clock.counted(), 1.0)
        again = self._timed("without overflow", lambda: self._judge(document, left / 4))
        if again["accepted"]:
            return verdict
        boundless = replace(self.settings, mathematical=True, wrapv=False)
        until = clock.counted() + max(BOUNDLESS_S, (self.deadline - clock.counted()) / 2)
        other = _Question(self.program, self.property, boundless, min(self.deadline, until))
        found = self._timed("without overflow", other.answer)
        if found.verdict == "true":
            return verdict
        return self._unknown(
            "every run ends or meets a signed overflow; that they end where signed values have no bounds was not "
            "shown, so a run may end by an overflow only, and what it does then is undefined (--property no-overflow)"
        )

    def _trapped(self, system: TransitionSystem, trap: Trap) -> Verdict | None:
        """``false`` if the judge accepts the recurrent set, and a native run with these inputs does not end."""
        recurrent = {
            label: tuple(text for text in (t.smt(c) for c in conditions) if text is not None)
            for label, conditions in trap.recurrent.items()
        }
        claim = replace(claim_of({}, system), recurrent=recurrent, chosen=trap.chosen)
        what = "a set of states that runs do not leave"
        return self._endless(system, claim, what, trap.method, lambda: self.replays.endless(trap))

    def _repeating(self, system: TransitionSystem, long: Sequence[tuple[int, ...]], seconds: float) -> Verdict | None:
        """``false`` if a run that repeats a state is found with inputs of runs that were ``long``, or with others."""
        if not (self.settings.run or self.settings.mathematical):
            return None
        guesses = (short_inputs(MANY), self._inputs(system)) if takes_inputs(system) else ([()],)
        found = self.replays.repeating(chain(long, *guesses), seconds)
        if found is None:
            return None
        claim, what = CertifiedClaim({}, repeating=found.inputs), "a run that repeats a state"
        return self._endless(system, claim, what, REPEATED, lambda: self.replays.repeated(found))

    def _endless(
        self, system: TransitionSystem, claim: CertifiedClaim, what: str, method: str, replayed: Callable[[], Replay]
    ) -> Verdict | None:
        document = document_of(self._subject(), self.property, claim, places(system.graph))
        left = max(self.deadline - clock.counted(), 1.0)
        judgement = self._timed("certificate", lambda: self._judge(document, min(JUDGE_S, left)))
        if not judgement["accepted"]:
            why = judgement["failed"][0] if judgement["failed"] else "it gave no answer"
            self.refused_proof = f"{what} was found, but not accepted: {why}"
            return None
        return self._confirmed(method, self._timed("replay", replayed), certificate=document, judged=judgement)
