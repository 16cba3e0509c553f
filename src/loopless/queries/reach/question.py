"""One target of runs, as all methods are asked about it: what they took, and why none has settled it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field

from loopless import clock
from loopless.check.certificates.property import Follows, Property, graph_of, violates
from loopless.flowgraph.model import Call, Flowgraph
from loopless.flowgraph.words import not_followed
from loopless.limits.queries import MAX_REACH_WAYS
from loopless.navigation.splitting import without_wraps
from loopless.queries.call_values.native_driver import Driver
from loopless.queries.call_values.reached import Inputs, Reached
from loopless.queries.jobs.sandbox import note
from loopless.queries.program import AnalyzedProgram
from loopless.queries.settings import Settings
from loopless.queries.verification.verdict import Verdict
from loopless.records import dataclass
from loopless.refusals import Reason, Refused
from loopless.source.targets import SourceTarget
from loopless.transition.building import system_of
from loopless.transition.relation import TransitionSystem


def graph_with_errors(program: AnalyzedProgram, entry: str, settings: Settings) -> Flowgraph:
    """The function ``entry`` as runs go through it that begin with it, for the search for its errors."""
    return graph_of(
        program.source,
        entry,
        Property.UNREACH_CALL,
        mathematical=settings.mathematical,
        wrapv=settings.wrapv,
        apart=entry != "main",
        cells=False,
    )


@dataclass(slots=True)
class ReachQuestion:
    """Whether a run that begins with ``entry`` gets to the target, until a ``deadline`` of counted work.

    ``minimize``, ``summaries``, ``driver`` and ``proofs`` are those of :func:`loopless.queries.reach.answering.reach`.
    """

    program: AnalyzedProgram
    target: SourceTarget
    entry: str
    settings: Settings
    deadline: float
    minimize: str = ""
    summaries: bool = True
    driver: Driver | None = None
    proofs: bool = True
    graph: Flowgraph | None = None
    """The function with the target as its only error, where its calls are not in the module."""
    tried: dict[str, float] = field(default_factory=dict)
    """What was tried, and how many seconds it took."""
    why: str = ""
    """Why what was tried did not settle it."""

    @property
    def left(self) -> float:
        """Seconds of counted work until the deadline, below 0 behind it."""
        return self.deadline - clock.counted()

    def system(self) -> TransitionSystem | Refused:
        """The program as transitions, in which the target is the error."""
        graph = self.graph or graph_with_errors(self.program, self.entry, self.settings)
        if graph.refused is not None:
            return graph.refused
        also = [self.entry] if self.graph is not None else []  # what calls it may come to the target
        follows = Follows(Property.UNREACH_CALL, self.program.source.module, also)

        def refused(call: Call) -> Refused | None:
            if follows(call):
                return None
            return Refused(Reason.UNKNOWN_CALL, str(call.loc or call.callee), not_followed(call.callee))

        made = system_of(graph, violates(Property.UNREACH_CALL), refused, ways=MAX_REACH_WAYS, accesses=True)
        return made if isinstance(made, Refused) else without_wraps(made)

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Time what is done within; its time is that of what was tried under this name."""
        note(f"{name} were tried" if name.endswith("s") else f"{name} was tried")
        started = clock.now()
        try:
            yield
        finally:
            self.tried[name] = round(self.tried.get(name, 0.0) + clock.now() - started, 3)

    def reached(self, method: str, inputs: Inputs) -> Reached:
        """The answer that a native run with these inputs came to the target."""
        words = "the native run came to the target"
        return Reached(self.target, self.entry, "reached", method, inputs, words, tried=dict(self.tried))

    def unreachable(self, method: str, granted: tuple[str, ...]) -> Reached:
        """The answer that nothing gets there, under these assumptions."""
        return Reached(self.target, self.entry, "unreachable", method, tried=dict(self.tried), assumptions=granted)

    def proved(self, verdict: Verdict) -> Reached:
        """The same with the certificate of a proof."""
        return Reached(
            self.target,
            self.entry,
            "unreachable",
            verdict.method,
            certificate=verdict.certificate,
            judged=verdict.judged,
            assumptions=verdict.assumptions,
            tried=dict(self.tried),
        )

    def unknown(self, reason: str) -> Reached:
        """The answer that it is not known, for this reason."""
        return Reached(self.target, self.entry, "unknown", reason=reason, tried=dict(self.tried))
