"""One property of one program, as all methods are asked about it: what they took, and why none has settled it."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from loopless import clock
from loopless.check.certificates.property import Follows, Property, graph_of, violates
from loopless.flowgraph.model import Call, Flowgraph, Origin
from loopless.flowgraph.words import not_followed
from loopless.queries.jobs.sandbox import note
from loopless.queries.program import AnalyzedProgram
from loopless.queries.settings import Settings
from loopless.queries.verification.verdict import Verdict
from loopless.refusals import Reason, Refused
from loopless.transition.building import system_of
from loopless.transition.relation import TransitionSystem
from loopless.verification.contracts import Contracts

CUT: Final = "the time was over (--timeout raises it)"


class VerificationQuestion:
    """One property of all runs that begin with ``entry``, until a ``deadline`` of counted work.

    ``unconfirmed``: what a replay did instead of violating the property; ``refused_proof``: why the judge accepted no
    certificate.
    """

    def __init__(
        self, program: AnalyzedProgram, property_: Property, settings: Settings, deadline: float, entry: str = "main"
    ) -> None:
        self.program, self.property, self.settings, self.deadline = program, property_, settings, deadline
        self.entry = entry
        self.violates = violates(property_)
        self.shares: dict[str, float] = {}
        self.unconfirmed = ""
        self.refused_proof = ""
        self._follows = Follows(property_, program.source.module)

    @property
    def is_late(self) -> bool:
        """Whether the time is over."""
        return clock.counted() > self.deadline

    @property
    def left(self) -> float:
        """Seconds of counted work until the deadline, below 0 behind it."""
        return self.deadline - clock.counted()

    def graph(self, contracts: Contracts | None = None, *, cells: bool = True) -> Flowgraph:
        """The program as a run of it, under these contracts of functions; ``cells``: whether a cell of each array is
        followed.
        """
        settings = self.settings
        return graph_of(
            self.program.source,
            self.entry,
            self.property,
            mathematical=settings.mathematical,
            wrapv=settings.wrapv,
            cells=cells,
            contract_of=lambda signature: (contracts or {}).get(signature.function),
        )

    @functools.cached_property
    def plain_graph(self) -> Flowgraph:
        """The program, of whose arrays no cells are followed."""
        return self.graph(cells=False)

    def system(self, contracts: Contracts | None = None) -> TransitionSystem | Refused:
        """The program as transitions, under these contracts of functions."""
        graph = self.graph(contracts)
        return graph.refused or system_of(graph, self.violates, self.refused_call)

    def refused_call(self, call: Call) -> Refused | None:
        """Why a call cannot be passed over; None where it can."""
        if self._follows(call):
            return None
        reason = Reason.RECURSION if call.callee in self._follows.names(call) else Reason.UNKNOWN_CALL
        detail = f"{not_followed(call.callee)}, and may violate the property"
        return Refused(reason, str(call.loc or call.callee), detail)

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Time what is done within; its time goes to the shares under this name."""
        note(f"{name} was tried")
        started = clock.now()
        try:
            yield
        finally:
            self.shares[name] = round(self.shares.get(name, 0.0) + clock.now() - started, 3)

    def unsettled(self, system: TransitionSystem) -> Verdict:
        """``unknown``, for the most telling reason that there is."""
        if self.refused_proof:
            return self.unknown(self.refused_proof)
        if self.unconfirmed:
            return self.unknown(self.unconfirmed)
        if system.open:
            return self.unknown(f"{system.open[0]}")
        limit = f"; {CUT}" if self.is_late else ""
        return self.unknown(f"neither a proof nor a violation was found by {', '.join(self.shares)}{limit}")

    def unknown(self, reason: str) -> Verdict:
        """``unknown`` for this reason, with the limit where one was met."""
        cut = CUT if self.is_late else ""
        return Verdict(self.property, "unknown", reason=reason, shares=dict(self.shares), cut=cut)


def takes_inputs(system: TransitionSystem) -> bool:
    """Whether runs take something from outside, or from variables that are not initialised."""
    return any(i.origin is not Origin.MEMORY for transition in system.transitions for i in transition.inputs)
