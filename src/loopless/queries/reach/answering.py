"""Which inputs lead to a place, or that none do.

In the order of what they cost (:data:`REACH`): paths on which loops are passed as their summaries say; the constraints
over counters of ways, which refute; a search that they guide, first with small values for what the run begins with,
with some random runs in between; proofs, which need not say why. What is reached was replayed on the compiled program.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from loopless import clock, portfolio
from loopless.limits.queries import DEFAULT_REACH_S, FENCE_MARGIN_S, SUMMARIES_S
from loopless.logic.solver import SmtAnswer
from loopless.navigation.counters import CounterSystem
from loopless.portfolio import Method, NoAnswer, Tried
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
        return _with_program(with_input_reason(job.run(), program), files, settings)
    limits = Limits(None, settings.loop_memory_mb, deadline + FENCE_MARGIN_S)
    (found,) = run_all([job.run], limits, fresh=True)
    if not isinstance(found, Overrun):
        return _with_program(with_input_reason(found, program), files, settings)
    return Reached(target, entry, "unknown", reason=found.in_words, trouble=found.traceback)


def with_input_reason(found: Reached, program: AnalyzedProgram) -> Reached:
    """The answer, where it is "unknown" with the reason why standard input is not followed, if it is not."""
    why = program.source.unfollowed_input
    if found.verdict != "unknown" or not why:
        return found
    return replace(found, reason=f"{found.reason}; standard input is not followed: {why}")


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
        asked = ReachSearch(question, system, RunsToTarget(question, system, driver))
        tried = portfolio.answered(
            REACH, asked, question.entry, complete=lambda _: True, in_words=lambda found: found.verdict
        )
    finally:
        driver.close()
    if tried.answer is not None:  # an answer of unknown is falsy
        return tried.answer
    limits = next(map(str, tried.refused), "")
    return question.unknown(
        question.why or limits or "neither a run that gets there nor a proof that there is none was found"
    )


@dataclass(slots=True)
class ReachSearch:
    """One question, as the methods are asked it. ``counters``: the constraints of all runs, once they were made."""

    question: ReachQuestion
    system: TransitionSystem
    runs: RunsToTarget
    counters: CounterSystem | SmtAnswer = SmtAnswer.UNKNOWN


ReachMethod = Method[ReachSearch, Reached]


def _method(
    name: str,
    source: str,
    ask: Callable[[ReachSearch], Reached | None],
    applies: Callable[[ReachSearch], bool] = lambda _: True,
) -> ReachMethod:
    def run(asked: ReachSearch, _: Tried[Reached]) -> Reached:
        found = ask(asked)
        if found is None:
            raise NoAnswer
        return found

    return Method(name, source, run, lambda asked, _: applies(asked))


def _may_be_passed(asked: ReachSearch) -> bool:
    """Whether a path on which loops are passed is worth its time."""
    question = asked.question
    one_of_many = question.driver is not None and question.driver.one_of_many
    return not question.minimize and not one_of_many and question.settings.run and question.summaries


def _by_summaries(asked: ReachSearch) -> Reached | None:
    """The answer "reached" by a path in which loops are passed as their summaries say."""
    question = asked.question
    with question.timed("summaries"):
        route = route_by_summaries(asked.system, min(SUMMARIES_S, question.left))
    before = question.why
    answer = asked.runs.along(route, SUMMARIES) if route is not None else None
    question.why = before  # the searches that follow say what is in the way
    return answer


def _by_counters(asked: ReachSearch) -> Reached | None:
    """The answer "unreachable", where no counts of ways fit a run to the target."""
    question, system = asked.question, asked.system
    with question.timed("counters"):
        asked.counters = counters_of(system, trips=question.summaries)
    if asked.counters is not SmtAnswer.NO:
        return None
    if not system.open:
        return unreachable(question, "counters of paths", system, asked.runs)
    question.why = str(system.open[0])
    return None


def _by_guided_search(asked: ReachSearch) -> Reached | None:
    """What searches for a run come to."""
    if not asked.question.settings.run:
        asked.question.why = "a run that gets there would have to be replayed, which --no-run forbids"
        return None
    counters = asked.counters if isinstance(asked.counters, CounterSystem) else None
    return GuidedSearch(asked.question, asked.system, asked.runs, counters).answer()


REACH: Final[tuple[ReachMethod, ...]] = (
    _method(
        SUMMARIES,
        "ours; summaries of loops (Xie et al., Proteus, FSE 2016) as accelerated transitions",
        _by_summaries,
        _may_be_passed,
    ),
    _method("counters of paths", "Obdržálek and Trtík, Efficient loop navigation (ATVA 2011)", _by_counters),
    _method(
        "guided search",
        "Obdržálek and Trtík, Efficient loop navigation (ATVA 2011)",
        _by_guided_search,
        lambda asked: asked.counters is not SmtAnswer.NO,
    ),
    _method(
        "proofs",
        "the methods for safety",
        lambda asked: proof(asked.question, asked.question.deadline),
        lambda asked: asked.question.left > 1 and asked.question.proofs,
    ),
)
"""The methods, in the order in which they are asked."""
