"""How often loops and lines run: exact counts from summaries, bounds where there are none."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from typing import Final

from loopless import clock
from loopless import terms as t
from loopless.queries.bounds.answers import FunctionBound
from loopless.queries.bounds.by_summaries import summaries_alone
from loopless.queries.bounds.callee_termination import asked_with, awaited, settled
from loopless.queries.bounds.entry_claims import KnownClaims
from loopless.queries.bounds.function_search import bound_function
from loopless.queries.bounds.overflow_ends import with_overflow_ends
from loopless.queries.call_values.layouts import layouts_in
from loopless.queries.functions import FunctionAnswer, composed
from loopless.queries.jobs.cuts import with_cuts
from loopless.queries.jobs.effort import NOT_SEARCHED, Effort, Inductions, effort_for, inductions_of
from loopless.queries.jobs.overrun import Overrun, attempted
from loopless.queries.jobs.running import work
from loopless.queries.jobs.sandbox import Limits, Pool
from loopless.queries.loops.answer import LoopAnswer, Question
from loopless.queries.loops.answering import answer_all
from loopless.queries.loops.exit_counts import Counts, counts_alone
from loopless.queries.program import AnalyzedFunction, AnalyzedProgram
from loopless.queries.settings import Settings
from loopless.records import dataclass
from loopless.refusals import Reason, Refused

METHODS: Final = ("all", "looperman")
"""What ``--method`` takes. ``all``: with summaries and induction variables; ``looperman``: with neither."""


def answer_bounds(
    functions: Sequence[AnalyzedFunction], method: str, settings: Settings, until: float | None = None
) -> list[FunctionBound]:
    """The bounds of ``functions``, in their order, each under its limits."""
    effort = effort_for(functions, settings)
    return _settled(functions, method, effort, until)


def _settled(
    functions: Sequence[AnalyzedFunction], method: str, effort: Effort, until: float | None
) -> list[FunctionBound]:
    """The bounds of functions, with what follows from those that they call."""
    found = _with_overflow_ends(functions, method, effort, until)
    others = awaited(functions, found)
    known = answers_by_themselves(others, method, effort, until) if others else []
    return settled(functions, found, dict(zip(others, known, strict=True)))


def bounds_as_found(
    functions: Sequence[AnalyzedFunction],
    method: str,
    settings: Settings,
    until: float | None = None,
    watch: Callable[[Sequence[int]], None] = lambda _: None,
) -> Generator[tuple[int, FunctionBound]]:
    """The same, each with the number of its function and as soon as it is found, with the bounds of all that it calls;
    earlier functions are begun with first. Where there are so many loops that all searches share little time, all come
    together at the end.

    ``watch`` is told several times a second which functions are being worked on. Close it where not all is taken: that
    ends the work.
    """
    effort = effort_for(functions, settings)
    if len(functions) < 2 or effort.hurried or not settings.sandboxed:
        watch(range(len(functions)))
        yield from enumerate(_settled(functions, method, effort, until))
        return
    bodies = {function.code.name: function for function in functions[0].program.functions}
    own = {function.code.name for function in functions}
    known: dict[str, FunctionBound] = {}
    needed = [(asked_with(function, bodies) & own) | {function.code.name} for function in functions]
    left = list(range(len(functions)))

    def settled_one(function: AnalyzedFunction) -> FunctionBound:
        found = [known[function.code.name]]
        others = awaited([function], found)
        missing = [other for other in others if other.code.name not in known]
        if missing:  # what is called, and was not asked for
            more = answers_by_themselves(missing, method, effort, until)
            known.update(zip((other.code.name for other in missing), more, strict=True))
        return settled([function], found, {other: known[other.code.name] for other in others})[0]

    for at, found in _by_themselves_as_found(functions, method, effort, until, watch):
        known[functions[at].code.name] = found
        for number in [number for number in left if needed[number] <= known.keys()]:
            left.remove(number)
            yield number, settled_one(functions[number])


def _by_themselves_as_found(
    functions: Sequence[AnalyzedFunction],
    method: str,
    effort: Effort,
    until: float | None,
    watch: Callable[[Sequence[int]], None],
) -> Generator[tuple[int, FunctionBound]]:
    """The bounds as far as each function says by itself: each function has a process that has its searches done in
    others, as many as fall to its loops.
    """
    processes = effort.settings.processes
    loops = sum(len(function.loops) for function in functions)
    shares = [max(1, min(processes, round(processes * len(f.loops) / max(1, loops)))) for f in functions]
    jobs = [
        BoundFunction(function.program, function.program.functions.index(function), method, own, until).run
        for function, own in zip(functions, (effort.with_workers(share) for share in shares), strict=True)
    ]
    waiting = list(range(len(functions)))
    # The searches have the limits; the process around them would only take along what was found within these.
    with Pool(jobs, Limits(None, None), fresh=True) as pool:
        while waiting or pool.busy:
            free = processes - sum(shares[at] for at in pool.working_on)
            for at in [at for at in waiting if shares[at] <= free]:
                if shares[at] <= free:
                    waiting.remove(at)
                    pool.start(at, at)
                    free -= shares[at]
            watch(pool.working_on)
            for at, found in pool.finished():
                if isinstance(found, Overrun):  # the process died
                    (found,) = answers_by_themselves([functions[at]], method, effort, until)
                yield at, found


def answers_by_themselves(
    functions: Sequence[AnalyzedFunction], method: str, effort: Effort, until: float | None = None
) -> list[FunctionBound]:
    """The bounds as far as each function says by itself."""
    inductions = [inductions_of(function) for function in functions]
    found = [_without_summaries(function) for function in functions]
    counts: Sequence[Counts] = [{} for _ in functions]
    if method == "all" and not effort.hurried:
        found = _summarized(functions, inductions, effort, until)
        counts = counts_alone(functions, found, effort.settings, until)
    known = [KnownClaims(alone, own if method == "all" else {}) for alone, own in zip(counts, inductions, strict=True)]
    asked = list(zip(functions, found, known, strict=True))
    searched = effort.searched(functions, inductions)
    jobs = [
        SearchBounds(function.program, function.program.functions.index(function), answer, beside, method).run
        for function, answer, beside in asked
        if function in searched
    ]
    results = dict(zip((f for f in functions if f in searched), work(jobs, effort.settings, until), strict=True))
    answers = []
    for function, answer, beside in asked:
        result = results.get(function)
        if result is None:
            result = summaries_alone(function, answer, beside, Refused(Reason.TIME_LIMIT, function.place, NOT_SEARCHED))
        elif isinstance(result, Overrun):
            result = _overrun(function, answer, beside, result)
        answers.append(with_cuts(replace(result, summary=answer.summary), results.get(function)))
    return answers


def _with_overflow_ends(
    functions: Sequence[AnalyzedFunction], method: str, effort: Effort, until: float | None
) -> list[FunctionBound]:
    """The same, with the loops that a signed overflow ends."""
    found = answers_by_themselves(functions, method, effort, until)
    if method != "all" or effort.hurried:
        return found
    short = replace(effort, settings=effort.settled)  # the loops have bounds: the question is what these rest on
    return with_overflow_ends(functions, found, lambda others: answers_by_themselves(others, method, short, until))


def _without_summaries(function: AnalyzedFunction) -> FunctionAnswer:
    loops = tuple(LoopAnswer(replace(loop.id, info=None)) for loop in function.loops)
    return FunctionAnswer(function.name, function.place, loops=loops)


def _summarized(
    functions: Sequence[AnalyzedFunction], inductions: Sequence[Inductions], effort: Effort, until: float | None
) -> list[FunctionAnswer]:
    """The summaries of loops and functions; those of loops that are counted already have less time."""
    loops = [loop for function in functions for loop in function.loops]
    counted = {n for own in inductions for n, found in own.items() if found.exact is not None}
    still_open = [loop for loop in loops if loop.name not in counted]
    others = [loop for loop in loops if loop.name in counted]
    question = Question(classify=False, past_calls=True, streams=False)
    found = dict(zip(still_open, answer_all(still_open, question, effort.settings, until), strict=True))
    found |= zip(others, answer_all(others, question, effort.settled, until), strict=True)
    own = [tuple(found[loop] for loop in function.loops) for function in functions]
    return composed(functions, own, effort.settings, until, memory=False)


def _overrun(function: AnalyzedFunction, answer: FunctionAnswer, known: KnownClaims, overrun: Overrun) -> FunctionBound:
    """What was found until the search for bounds took too long, else what the summaries alone say."""
    if isinstance(overrun.noted, FunctionBound):
        noted, detail = overrun.noted, f"the search for better bounds was not finished: {overrun.detail}"
        late = Refused(overrun.reason, function.place, detail)
        # What a loop lacks may only not have been found yet.
        loops = tuple(
            replace(loop, refused=loop.refused and late, refused_call=loop.refused_call and late)
            for loop in noted.counts
        )
        found = replace(noted, counts=loops, refused=noted.refused or (None if noted.call.exact else late))
    else:
        found = summaries_alone(function, answer, known, overrun.refused(function.place))
    return replace(found, trouble=overrun.traceback, time_ms=1000 * overrun.seconds)


@dataclass(frozen=True, slots=True)
class BoundFunction:
    """The job of bounding one function by itself, whose searches are done in other processes."""

    program: AnalyzedProgram
    index: int
    """Of the function among those of the program."""
    method: str
    effort: Effort
    until: float | None

    def run(self) -> FunctionBound:
        """The bounds as far as the function says by itself."""
        function = self.program.functions[self.index]
        (found,) = _with_overflow_ends([function], self.method, self.effort, self.until)
        return found


@dataclass(frozen=True, slots=True)
class SearchBounds:
    """The job of searching for the bounds of one function, beside the summaries of ``answer`` and what is ``known``."""

    program: AnalyzedProgram
    index: int
    """Of the function among those of the program."""
    answer: FunctionAnswer
    known: KnownClaims
    method: str

    def run(self) -> FunctionBound:
        """The bounds; errors inside Loopless become refusals."""
        started = clock.now()
        function = self.program.functions[self.index]
        with t.as_declared(layouts_in(function)):
            made = attempted(bound_function, function, self.answer, self.known, self.method)
        if isinstance(made, Overrun):
            found = summaries_alone(function, self.answer, self.known, made.refused(function.place))
            found = replace(found, trouble=made.traceback or found.trouble)
        else:
            found = made
        return replace(found, time_ms=1000 * (clock.now() - started))
