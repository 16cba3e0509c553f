"""Which inputs make a function run for ever, or that it ends whatever they are.

In the order of what they cost (:data:`HANG`): short paths into cycles that leave everything that decides as it was;
runs with inputs drawn at random; bounds of all loops and ranks, which refute; summaries of loops that say from which
states they never end; a guided search into such cycles. What is told was replayed: the compiled program was still going
on, and the judge's interpreter came to a state in which it was before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from loopless import clock, portfolio
from loopless.errors import UsageError
from loopless.flowgraph.callees.call_graph import CallGraph
from loopless.flowgraph.exact_arithmetic import with_exact_arithmetic
from loopless.limits.queries import DEFAULT_REACH_S, FENCE_MARGIN_S, HANG_PATHS_S, HANG_PROOF_SHARE, SUMMARIES_S
from loopless.logic.solver import SmtAnswer
from loopless.navigation.counters import CounterSystem
from loopless.navigation.routes import Route
from loopless.portfolio import Method, NoAnswer, Tried
from loopless.queries.call_values.reached import Reached
from loopless.queries.guided import counters_of
from loopless.queries.jobs.overrun import Overrun
from loopless.queries.jobs.running import run_all
from loopless.queries.jobs.sandbox import Limits
from loopless.queries.program import AnalyzedProgram, load
from loopless.queries.reach.always_ending import always_ends, most_rounds
from loopless.queries.reach.answering import answered, with_input_reason
from loopless.queries.reach.by_summaries import route_by_summaries, route_of
from loopless.queries.reach.endless_calls import EndlessDriver, RepeatingCalls
from loopless.queries.reach.entry import begun_with
from loopless.queries.reach.guided_search import GuidedSearch
from loopless.queries.reach.native_runs import RunsToTarget
from loopless.queries.reach.question import ReachQuestion, graph_with_errors
from loopless.queries.reach.round_runs import RoundsDriver
from loopless.queries.settings import Settings
from loopless.queries.verification.answering import proved_ending
from loopless.records import dataclass
from loopless.refusals import Refused
from loopless.source.rounds import CountedLoop
from loopless.source.targets import SourceTarget
from loopless.source.vocabulary import FINITE, STANDARD_INPUT_DRAW, STANDARD_INPUT_SIZE
from loopless.transition.relation import DIVERGES, VIOLATION, TransitionSystem
from loopless.verification.exploration import explored
from loopless.verification.lassos import with_lassos
from loopless.verification.proofs import SUMMARIES

ENDLESS: Final = SourceTarget(endless=True)
"""What ``--hang`` asks for."""
MOST_ROUNDS: Final = (1 << 62) - 1
"""Counters of rounds have 64 bits."""


def hang(
    files: Sequence[Path],
    function: str | None,
    settings: Settings,
    until: float | None = None,
    *,
    rounds: int | None = None,
    summaries: bool = True,
    seconds: float | None = None,
) -> Reached:
    """Whether some call of ``function`` (None: ``main``, or the only function that there is) never ends, or takes more
    than so many ``rounds`` of a loop since it was entered. ``until``, ``summaries`` and ``seconds`` are those of
    :func:`loopless.queries.reach.answering.reach`.

    Raises:
        UsageError: there is no such function, or one has to be chosen, or ``rounds`` is negative.
        SourceError: the program does not compile.
    """
    if rounds is not None and not 0 <= rounds <= MOST_ROUNDS:
        raise UsageError(f"--rounds takes a number from 0 to {MOST_ROUNDS:,}, and {rounds} is none")
    if seconds is None:
        seconds = DEFAULT_REACH_S if until is None else max(0.0, until - clock.now())
    deadline = until if until is not None else clock.now() + seconds
    if not settings.mathematical:
        source = replace(settings.source, reads_stdin=True, finite_stdin=rounds is None)
        settings = replace(settings, source=source)
    program = load(files, settings)
    entry = begun_with(program, function)
    target = ENDLESS if rounds is None else SourceTarget(rounds=rounds)
    job: HangJob | RoundsJob = HangJob(program, entry, settings, seconds, summaries)
    if rounds is not None:
        marked = load(files, replace(settings, source=replace(settings.source, target=target)))
        job = RoundsJob(program, marked, target, entry, settings, seconds, summaries)
    if not settings.sandboxed:
        found: Reached | Overrun = job.run()
    else:
        (found,) = run_all([job.run], Limits(None, settings.loop_memory_mb, deadline + FENCE_MARGIN_S), fresh=True)
    if isinstance(found, Overrun):
        found = Reached(target, entry, "unknown", reason=found.in_words, trouble=found.traceback)
    found = _with_finite_input(with_input_reason(found, program), program)
    return replace(found, files=tuple(map(str, files)), options=settings.source)


def _with_finite_input(found: Reached, program: AnalyzedProgram) -> Reached:
    """The answer with the assumption that standard input ends, which only ``main`` names where it draws its size."""
    if found.verdict != "unreachable" or FINITE in found.assumptions:
        return found
    module = program.source.inlined
    if STANDARD_INPUT_SIZE not in module.functions:
        return found
    names = CallGraph(module).of((found.function,)).names
    called = (i.callee_name for name in names for i in module.functions[name].instructions())
    reads = any(name is not None and name.startswith(STANDARD_INPUT_DRAW) for name in called)
    return replace(found, assumptions=(FINITE, *found.assumptions)) if reads else found


@dataclass(frozen=True, slots=True)
class HangJob:
    """The job of looking for a run that never ends, for so many ``seconds`` of counted work."""

    program: AnalyzedProgram
    entry: str
    settings: Settings
    seconds: float
    summaries: bool

    def run(self) -> Reached:
        """The answer."""
        graph = graph_with_errors(self.program, self.entry, self.settings)
        question = ReachQuestion(
            self.program,
            ENDLESS,
            self.entry,
            self.settings,
            clock.counted() + self.seconds,
            summaries=self.summaries,
            proofs=False,
            graph=graph if graph.refused is not None else with_exact_arithmetic(graph),
        )
        calls = RepeatingCalls(self.program, self.entry, self.settings)
        driver = EndlessDriver(self.program.files, self.settings, question.deadline, calls)
        try:
            return _answer(question, driver)
        finally:
            driver.close()


@dataclass(frozen=True, slots=True)
class RoundsJob:
    """The job of looking for a run with too many rounds of a loop; ``marked``: the program that counts them."""

    program: AnalyzedProgram
    marked: AnalyzedProgram
    target: SourceTarget
    entry: str
    settings: Settings
    seconds: float
    summaries: bool

    def run(self) -> Reached:
        """The answer."""
        rounds = self.target.rounds
        assert rounds is not None
        source = self.settings.for_runs(self.settings.source)
        deadline = clock.counted() + self.seconds
        driver = RoundsDriver(self.program.files, source, self.entry, deadline, rounds)
        question = ReachQuestion(
            self.marked,
            self.target,
            self.entry,
            self.settings,
            deadline,
            summaries=self.summaries,
            driver=driver,
            proofs=False,
        )
        share = HANG_PROOF_SHARE * question.left
        with question.timed("bounds"):
            most = most_rounds(self.program, self.entry, self.settings, share)
        if most is not None and most[0] <= rounds:
            return question.unreachable("bounds", most[1])
        found = answered(question)
        if found.verdict == "unreachable":  # by methods without a certificate, which do not see all cycles
            return question.unknown("no run was found that takes so many rounds, and no bound that proves it")
        if found.verdict == "reached" and driver.found is not None:
            words = "the native run took more rounds than that"
            return replace(found, replayed=words, loop=self._name(driver.found))
        return found

    def _name(self, loop: CountedLoop) -> str:
        """The name of a loop that is counted."""
        own = (one for one in self.program.loops if one.function.code.name == loop.function)
        return next((one.name for one in own if one.line == loop.line), f"{loop.function}, line {loop.line}")


@dataclass(slots=True)
class HangSearch:
    """Whether a function never ends, as the methods are asked it. ``system``: its runs, or why it has none; ``lassos``
    and ``runs``: the runs into cycles that leave all that decides as it was. ``why``: why bounds prove nothing.
    """

    question: ReachQuestion
    system: TransitionSystem | Refused
    lassos: TransitionSystem | None
    runs: RunsToTarget | None
    why: str = ""

    @property
    def has_cycle(self) -> bool:
        """Whether there is such a cycle."""
        return self.lassos is not None and any(one.target == VIOLATION for one in self.lassos.transitions)

    @property
    def may_run(self) -> bool:
        """Whether runs may be looked for."""
        return self.runs is not None and self.question.settings.run


def _answer(question: ReachQuestion, driver: EndlessDriver) -> Reached:
    """The answer to one question, by the methods in their order; what no method settles is unknown."""
    system = question.system()
    lassos = None if isinstance(system, Refused) else with_lassos(system)
    runs = None if lassos is None else RunsToTarget(question, lassos, driver)
    asked = HangSearch(question, system, lassos, runs)
    if not question.settings.run:
        question.why = "a run that never ends would have to be replayed, which --no-run forbids"
    tried = portfolio.answered(
        HANG, asked, question.entry, complete=lambda _: True, in_words=lambda found: found.verdict
    )
    found = tried.answer
    if found is not None:  # an answer of unknown is falsy
        return _told(question, driver, found) if found.verdict == "reached" else found
    if isinstance(system, Refused):
        return question.unknown(str(system))
    if driver.calls.why:
        shown = driver.calls.why
        question.why = f"a run was still going on after a while, but that it never ends was not shown: {shown}"
    reasons = [one for one in (asked.why, question.why, *map(str, tried.refused)) if one]
    return question.unknown("; ".join(reasons) or "no run was found that never ends")


def _told(question: ReachQuestion, driver: EndlessDriver, found: Reached) -> Reached:
    """The answer with where the run is that never ends."""
    run = driver.found
    assert run is not None
    place = "" if run.place is None else str(run.place)
    place = next((loop.name for loop in question.program.loops if loop.id.place == place), place)
    shown = "in the judge's run a state comes again" if run.repeats else "the judge knows states that it never leaves"
    words = f"it goes on, and {shown}"
    return replace(found, replayed=words, loop=place, overflows=run.overflows)


def _by_paths(asked: HangSearch) -> Reached | None:
    """By the shortest path into a cycle."""
    assert asked.lassos is not None
    with asked.question.timed("paths"):
        found = explored(asked.lassos, (VIOLATION,), min(HANG_PATHS_S, asked.question.left))
    route = route_of(found) if found.path is not None else None
    return _along(asked, route, "paths into cycles")


def _along(asked: HangSearch, route: Route | None, method: str) -> Reached | None:
    assert asked.runs is not None
    return None if route is None else asked.runs.along(route, method)


def _by_random_runs(asked: HangSearch) -> Reached | None:
    assert asked.runs is not None
    return asked.runs.drawn()


def _by_bounds(asked: HangSearch) -> Reached | None:
    """The answer "unreachable" where all loops are bounded."""
    question = asked.question
    with question.timed("bounds"):
        found = always_ends(question.program, question.entry, question.settings, HANG_PROOF_SHARE * question.left)
    if isinstance(found, str):
        asked.why = found
        return None
    return question.unreachable("bounds", found)


def _by_proof(asked: HangSearch) -> Reached | None:
    """The answer "unreachable" where ranks prove that each call ends."""
    question = asked.question
    until = clock.counted() + HANG_PROOF_SHARE * question.left
    with question.timed("ranks"):
        found = proved_ending(question.program, question.entry, question.settings, until)
    return question.proved(found) if found.verdict == "true" else None


def _by_summaries(asked: HangSearch) -> Reached | None:
    """By a summary that says from which states its loop never ends."""
    assert isinstance(asked.system, TransitionSystem)
    kept = tuple(one for one in asked.system.transitions if one.target in asked.system.cutpoints)
    plain = replace(asked.system, transitions=kept)
    with asked.question.timed("summaries"):
        route = route_by_summaries(plain, min(SUMMARIES_S, asked.question.left), (DIVERGES,))
    return _along(asked, route, SUMMARIES)


def _by_guided_search(asked: HangSearch) -> Reached | None:
    """By a search that counters of paths guide."""
    assert asked.lassos is not None
    assert asked.runs is not None
    with asked.question.timed("counters"):
        counters = counters_of(asked.lassos, trips=asked.question.summaries)
    if counters is SmtAnswer.NO:
        return None
    general = counters if isinstance(counters, CounterSystem) else None
    found = GuidedSearch(asked.question, asked.lassos, asked.runs, general).answer()
    return found if found is not None and found.verdict == "reached" else None


def _may_be_proved(asked: HangSearch) -> bool:
    """Whether a proof is looked for: bounds are, too, of functions whose calls are of other ones."""
    return not isinstance(asked.system, Refused) and not asked.question.settings.mathematical


HangMethod = Method[HangSearch, Reached]


def _method(
    name: str,
    source: str,
    ask: Callable[[HangSearch], Reached | None],
    applies: Callable[[HangSearch], bool],
) -> HangMethod:
    def run(asked: HangSearch, _: Tried[Reached]) -> Reached:
        found = ask(asked)
        if found is None:
            raise NoAnswer
        return found

    return Method(name, source, run, lambda asked, _: asked.question.left > 0 and applies(asked))


HANG: Final[tuple[HangMethod, ...]] = (
    _method(
        "paths into cycles",
        "Biere, Artho and Schuppan, Liveness checking as safety checking (FMICS 2002)",
        _by_paths,
        lambda asked: asked.may_run and asked.has_cycle,
    ),
    _method("random inputs", "ours", _by_random_runs, lambda asked: asked.may_run),
    _method("bounds", "the methods for bounds", _by_bounds, lambda _: True),
    _method("ranks", "the methods for termination", _by_proof, _may_be_proved),
    _method(
        SUMMARIES,
        "ours; summaries of loops (Xie et al., Proteus, FSE 2016) as accelerated transitions",
        _by_summaries,
        lambda asked: asked.may_run and asked.question.summaries,
    ),
    _method(
        "guided search",
        "Obdržálek and Trtík, Efficient loop navigation (ATVA 2011)",
        _by_guided_search,
        lambda asked: asked.may_run and asked.has_cycle,
    ),
)
"""The methods, in the order in which they are asked."""
