"""Which inputs lead to a place, or that none do.

In the order of what they cost: some runs with inputs drawn at random; the constraints over counters of ways, which
refute; a search that they guide, first with small values for what the run begins with; proofs, which need not say why.
What is reached was replayed on the compiled program.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from loopless import clock
from loopless.limits.queries import DEFAULT_REACH_S, SUMMARIES_S
from loopless.logic.smt import SmtAnswer
from loopless.navigation.counters import CounterSystem
from loopless.queries.call_values.native_driver import Driver
from loopless.queries.call_values.reached import Reached
from loopless.queries.guided import counters_of
from loopless.queries.jobs.overrun import Overrun
from loopless.queries.jobs.running import run_all
from loopless.queries.jobs.sandbox import Limits
from loopless.queries.program import AnalyzedProgram, load
from loopless.queries.reach.by_summaries import route_by_summaries
from loopless.queries.reach.entry import entry_of
from loopless.queries.reach.guided_search import GuidedSearch
from loopless.queries.reach.native_runs import RunsToTarget
from loopless.queries.reach.question import ReachQuestion
from loopless.queries.reach.unreachable import proof, unreachable
from loopless.queries.settings import Settings
from loopless.records import dataclass
from loopless.refusals import Refused
from loopless.source.targets import SourceTarget
from loopless.transition.relation import TransitionSystem
from loopless.verification.proofs import SUMMARIES


def reach(  # noqa: PLR0913
    files: Sequence[Path],
    target: SourceTarget,
    function: str | None,
    settings: Settings,
    until: float | None = None,
    *,
    summaries: bool = True,
    minimize: str = "",
    driver: Driver | None = None,
    proofs: bool = True,
    seconds: float | None = None,
) -> Reached:
    """Whether a call of ``function`` gets to the target; where it is None, a run from ``main`` or, where there is none,
    a call of the function that the target is in. ``summaries``: how often inner loops go round as a whole may be used.
    ``minimize``: "run" looks for the fewest iterations, "inputs" for the smallest values that the run begins with.
    ``driver``: for native runs, where there is one that can tell whether they get to the target. ``proofs``: whether
    proofs with certificates are looked for.
    ``seconds``: of counted work, for the methods; None: as many as are left until ``until``, or
    :data:`DEFAULT_REACH_S`.

    Raises:
        UsageError: there is no such function, or no code at the target.
        SourceError: the program, or the target's condition, does not compile.
    """
    if seconds is None:
        seconds = DEFAULT_REACH_S if until is None else max(0.0, until - clock.now())
    deadline = until if until is not None else clock.now() + seconds
    read = replace(settings.source, target=target, reads_stdin=not settings.mathematical)
    with_target = replace(settings, source=read)
    program = load(files, with_target)
    entry = entry_of(program, target, function)
    job = Reach(program, target, entry, with_target, seconds, minimize, summaries, driver, proofs)
    if not settings.sandboxed:
        return _with_program(job.run(), files, settings)
    limits = Limits(None, settings.loop_memory_mb, deadline + 1.0)
    (found,) = run_all([job.run], limits, fresh=True)
    if not isinstance(found, Overrun):
        return _with_program(found, files, settings)
    return Reached(target, entry, "unknown", reason=found.in_words, trouble=found.traceback)


def _with_program(found: Reached, files: Sequence[Path], settings: Settings) -> Reached:
    """The answer with what a test of it is written from: the files, and how they were read (without the target)."""
    return replace(found, files=tuple(map(str, files)), options=replace(settings.source, target=None))


@dataclass(frozen=True, slots=True)
class Reach:
    """The job of looking for a run to a target, for so many ``seconds`` of counted work; else as in :func:`reach`."""

    program: AnalyzedProgram
    target: SourceTarget
    entry: str
    settings: Settings
    seconds: float
    minimize: str
    summaries: bool
    driver: Driver | None
    proofs: bool

    def run(self) -> Reached:
        """The answer."""
        question = ReachQuestion(
            self.program,
            self.target,
            self.entry,
            self.settings,
            clock.counted() + self.seconds,
            self.minimize,
            self.summaries,
            self.driver,
            self.proofs,
        )
        return answered(question)


def answered(question: ReachQuestion) -> Reached:
    """The answer to one question, by the methods in their order."""
    system = question.system()
    if isinstance(system, Refused):
        return question.unknown(str(system))
    source = question.settings.for_runs(question.settings.source)
    driver = question.driver or Driver(question.program.files, source, question.entry, question.deadline)
    try:
        return _Methods(question, system, driver).answer()
    finally:
        driver.close()


class _Methods:
    """The methods for one question."""

    def __init__(self, question: ReachQuestion, system: TransitionSystem, driver: Driver) -> None:
        self.question, self.system = question, system
        self.runs = RunsToTarget(question, system, driver)
        self.counters: CounterSystem | SmtAnswer = SmtAnswer.UNKNOWN

    def answer(self) -> Reached:
        """The first answer; what no method settles is unknown."""
        for method in (self._by_summaries, self._by_counters, self._by_guided_search, self._by_proof):
            answer = method()
            if answer is not None:
                return answer
        why = self.question.why or "neither a run that gets there nor a proof that there is none was found"
        return self.question.unknown(why)

    def _by_summaries(self) -> Reached | None:
        """The answer "reached" by a path in which loops are passed as their summaries say."""
        question = self.question
        one_of_many = question.driver is not None and question.driver.one_of_many
        if question.minimize or one_of_many or not question.settings.run or not question.summaries:
            return None
        with question.timed("summaries"):
            route = route_by_summaries(self.system, min(SUMMARIES_S, question.left))
        before = question.why
        answer = self.runs.along(route, SUMMARIES) if route is not None else None
        question.why = before  # the searches that follow say what is in the way
        return answer

    def _by_counters(self) -> Reached | None:
        """The answer "unreachable", where no counts of ways fit a run to the target."""
        with self.question.timed("counters"):
            self.counters = counters_of(self.system, trips=self.question.summaries)
        if self.counters is not SmtAnswer.NO:
            return None
        if not self.system.open:
            return unreachable(self.question, "counters of paths", self.system, self.runs)
        self.question.why = str(self.system.open[0])
        return None

    def _by_guided_search(self) -> Reached | None:
        """What searches for a run come to."""
        if self.counters is SmtAnswer.NO:
            return None
        if not self.question.settings.run:
            self.question.why = "a run that gets there would have to be replayed, which --no-run forbids"
            return None
        counters = self.counters if isinstance(self.counters, CounterSystem) else None
        return GuidedSearch(self.question, self.system, self.runs, counters).answer()

    def _by_proof(self) -> Reached | None:
        """The answer "unreachable" by a proof that need not say why."""
        if self.question.left > 1 and self.question.proofs:
            return proof(self.question, self.question.deadline)
        return None
