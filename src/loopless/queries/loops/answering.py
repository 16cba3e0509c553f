"""Answers about many loops: several at once, each under its limits, and each as soon as it is found."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace

from loopless.limits.queries import APPROXIMATING_S, COARSELY_S, PARTLY_S, WORTH_ASKING_AGAIN_S
from loopless.queries.jobs.overrun import Overrun
from loopless.queries.jobs.running import limits_of
from loopless.queries.jobs.sandbox import Pool
from loopless.queries.loops.answer import LoopAnswer, Question
from loopless.queries.loops.answers import answer_loop
from loopless.queries.program import AnalyzedLoop, AnalyzedProgram
from loopless.queries.settings import Settings
from loopless.records import dataclass


def answer_all(
    loops: Sequence[AnalyzedLoop],
    question: Question,
    settings: Settings,
    until: float | None = None,
) -> list[LoopAnswer]:
    """The answers about ``loops``, in their order: each under its limits, several at once; the rest goes on where one
    overruns.
    """
    found = dict(answers_as_found(loops, question, settings, until))
    return [found[at] for at in range(len(loops))]


def answers_as_found(
    loops: Sequence[AnalyzedLoop],
    question: Question,
    settings: Settings,
    until: float | None = None,
    watch: Callable[[Sequence[int]], None] = lambda _: None,
) -> Generator[tuple[int, LoopAnswer]]:
    """The same, each with the number of its loop and as soon as it is found; earlier loops are begun with first.

    ``watch`` is told several times a second which loops are being worked on. Where a limit ends the search for
    something exact, there is an approximation for that reason. Close it where not all is taken: that ends the work.
    """
    if not settings.sandboxed:
        for at, loop in enumerate(loops):
            watch((at,))
            yield at, answer_loop(loop.function, loop.id, question)
        return
    stages = _stages(question, settings, until)
    jobs = [
        AskLoop(loop.function.program, *index, stage.question).run
        for stage in stages
        for loop, index in _indexed(loops)
    ]
    waiting = [(at, 0) for at in range(len(loops))]  # a heap
    over: dict[int, Overrun] = {}
    cuts: dict[int, Overrun] = {}
    with Pool(jobs, limits_of(settings, until)) as pool:
        while waiting or pool.busy:
            while waiting and pool.busy < max(1, settings.processes):
                at, stage = heapq.heappop(waiting)
                if pool.late:
                    late = over.get(at) or pool.not_begun()
                    yield at, _cut(_without_answer(loops[at], late), late)
                else:
                    key = stage * len(loops) + at
                    pool.start(key, key, time_s=stages[stage].time_s)
            watch(sorted(key % len(loops) for key in pool.working_on))
            for key, ended in pool.finished():
                stage, at = divmod(key, len(loops))
                if isinstance(ended, Overrun) and ended.is_limit:
                    cuts.setdefault(at, ended)
                result = _noted(ended, stages[stage].question, finer=len(stages) > stage + 2)
                overrun = result if isinstance(result, Overrun) and stage == 0 else over.get(at)
                if overrun is None:
                    assert isinstance(result, LoopAnswer)
                    yield at, _cut(result, cuts.get(at))
                elif isinstance(result, LoopAnswer) and result.summary is not None:
                    found = _instead(result, overrun, loops[at], stages[stage].question)
                    yield at, _cut(found, cuts.get(at))
                elif stage + 2 == len(stages) and isinstance(overrun.noted, LoopAnswer):
                    # It is over-approximate by the paths, of which the last stage knows nothing.
                    yield at, _cut(_told(overrun, overrun.noted, stages[0].question), cuts.get(at))
                elif stage + 1 < len(stages) and not overrun.traceback:
                    over[at] = overrun
                    heapq.heappush(waiting, (at, stage + 1))
                else:
                    yield at, _cut(_without_answer(loops[at], overrun), cuts.get(at))


def _cut(answer: LoopAnswer, overrun: Overrun | None) -> LoopAnswer:
    """The answer with the limit that ended the search for more, if one did."""
    return answer if overrun is None else answer.with_cut(overrun.refused(answer.loop.place))


@dataclass(frozen=True, slots=True)
class _Stage:
    """What is asked about a loop, after what was asked before met a limit, and the seconds for it."""

    question: Question
    time_s: float | None


def _stages(question: Question, settings: Settings, until: float | None) -> list[_Stage]:
    """What is asked first, and which approximations are asked for where a limit ends that."""
    limits = limits_of(settings, until)
    least = limits.time_s
    question = replace(question, hurried=least is not None and least < WORTH_ASKING_AGAIN_S)
    stages = [_Stage(question, least)]
    if not (question.approximate and question.summarize):
        return stages
    asked = replace(question, exactly=False, merge=False, draw=False)
    if question.entered and question.variables is None and question.assume is None:
        stages.append(_Stage(replace(asked, partly=True), PARTLY_S if least is None else min(least, PARTLY_S)))
    if least is None or least >= WORTH_ASKING_AGAIN_S:  # else the paths alone took that long
        stages.append(_Stage(asked, APPROXIMATING_S if least is None else min(least, APPROXIMATING_S)))
    if limits.shared and least is not None:  # not what users set for a loop
        least = max(least, COARSELY_S)
    return [*stages, _Stage(replace(asked, coarsely=True), least)]


def _instead(found: LoopAnswer, overrun: Overrun, loop: AnalyzedLoop, asked: Question) -> LoopAnswer:
    """An approximation that stands in place of a limit that was met."""
    assert found.summary is not None
    why = overrun.refused(loop.id.place)
    summary = replace(found.summary, residual=tuple(replace(part, why=why) for part in found.summary.residual))
    untyped = why if asked.coarsely else found.untyped
    found = replace(found, partly=why if found.partly is not None else None)
    there = found.at_entry
    if there is not None:
        residual = tuple(replace(part, why=why) for part in there.summary.residual)
        found = replace(found, at_entry=replace(there, summary=replace(there.summary, residual=residual)))
    return replace(found, summary=summary, untyped=untyped, time_ms=found.time_ms + 1000 * overrun.seconds)


def _without_answer(loop: AnalyzedLoop, overrun: Overrun) -> LoopAnswer:
    id, refused = replace(loop.id, info=None), overrun.refused(loop.id.place)
    return LoopAnswer(id, refused=refused, trouble=overrun.traceback, time_ms=1000 * overrun.seconds)


def _noted(result: LoopAnswer | Overrun, asked: Question, *, finer: bool) -> LoopAnswer | Overrun:
    """What was found before a limit was met. ``finer``: what is asked next may tell more than what is not exact."""
    if not isinstance(result, Overrun) or not isinstance(result.noted, LoopAnswer):
        return result
    found = result.noted
    # In a hurry the limit may come before there was time to look for an answer without some variables.
    if found.time_ms > 0 and (found.partly is not None or not asked.hurried):
        return found
    if finer and not (found.status == "exact" and found.complete):
        return result
    return _told(result, found, asked)


def _told(overrun: Overrun, found: LoopAnswer, asked: Question) -> LoopAnswer:
    """What was found before a limit was met, as the answer."""
    if asked.classify and found.classification is None and found.untyped is None:
        found = replace(found, untyped=overrun.refused(found.loop.place))
    return replace(found, time_ms=1000 * overrun.seconds)


def _indexed(loops: Sequence[AnalyzedLoop]) -> Iterator[tuple[AnalyzedLoop, tuple[int, int]]]:
    """Each loop with the numbers by which another process finds it: of its function, and in there."""
    for loop in loops:
        function = loop.function
        yield loop, (function.program.functions.index(function), function.loops.index(loop))


@dataclass(frozen=True, slots=True)
class AskLoop:
    """The job of answering a question about one loop, which is found by its number in its function."""

    program: AnalyzedProgram
    function: int
    loop: int
    question: Question

    def run(self) -> LoopAnswer:
        """The answer."""
        function = self.program.functions[self.function]
        return answer_loop(function, function.loops[self.loop].id, self.question)
