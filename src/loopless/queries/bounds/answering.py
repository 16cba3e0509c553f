"""How often loops and lines run: exact counts from summaries, bounds where there are none."""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from loopless import clock
from loopless import terms as t
from loopless.bounds import (
    Claim,
    FunctionBounds,
    LoopBounds,
    claim,
    claim_of_call,
)
from loopless.bounds.asymptotics.lower import class_of_bound, lower_class_of
from loopless.bounds.claims.agreement import agreeing
from loopless.bounds.claims.joint import (
    all_runs_count,
    always,
    at_least,
    bounded_by_inputs,
    lacks_lower,
    of_all,
    somewhere,
    together,
    unless_ended,
)
from loopless.bounds.claims.lines import from_header, line_bounds
from loopless.bounds.induction.measures import without_larger
from loopless.bounds.looperman.scopes import scopes_of
from loopless.bounds.methods.lower import LeastIterations
from loopless.bounds.model import Bounds, kept, least
from loopless.bounds.portfolio import bounds_of
from loopless.bounds.question import BoundQuestion
from loopless.bounds.reads.deciding import causes, in_a_sentence, loosening
from loopless.flowgraph.callees.call_graph import NOT_BY_NAME
from loopless.flowgraph.model import Assume, Call, Flowgraph, LoopInfo
from loopless.queries.bounds.answers import FunctionBound, LoopCounts
from loopless.queries.bounds.callee_termination import asked_with, settled
from loopless.queries.bounds.entry_claims import KnownClaims
from loopless.queries.bounds.single_runs import completed
from loopless.queries.call_values.call_inputs import ambiguous, inputs_of
from loopless.queries.call_values.call_inputs import over_inputs as inputs_alone
from loopless.queries.call_values.layouts import layouts_in
from loopless.queries.functions import FunctionAnswer, composed
from loopless.queries.jobs.cuts import with_cuts
from loopless.queries.jobs.effort import NOT_SEARCHED, Effort, Inductions, effort_for, inductions_of
from loopless.queries.jobs.overrun import Overrun, attempted
from loopless.queries.jobs.running import work
from loopless.queries.jobs.sandbox import Limits, Pool, note
from loopless.queries.loops.answer import LoopAnswer, Question
from loopless.queries.loops.answering import answer_all
from loopless.queries.loops.exit_counts import Counts, counts_alone
from loopless.queries.loops.never_ending import Entries, LoopClaims, recurrent_sets
from loopless.queries.program import Function, Program
from loopless.queries.returning import leaving
from loopless.queries.settings import Settings
from loopless.refusals import Reason, Refused
from loopless.summary import FunctionSummary

METHODS: Final = ("all", "looperman")
"""``all``: summaries first; ``looperman``: its algorithm alone."""


def answer_bounds(
    functions: Sequence[Function], method: str, settings: Settings, until: float | None = None
) -> list[FunctionBound]:
    """The bounds of ``functions``, in their order, each under its limits."""
    effort = effort_for(functions, settings)
    return settled(functions, lambda some: answers_by_themselves(some, method, effort, until))


def bounds_as_found(
    functions: Sequence[Function],
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
        yield from enumerate(settled(functions, lambda some: answers_by_themselves(some, method, effort, until)))
        return
    bodies = {function.code.name: function for function in functions[0].program.functions}
    own = {function.code.name for function in functions}
    known: dict[str, FunctionBound] = {}
    needed = [(asked_with(function, bodies) & own) | {function.code.name} for function in functions]
    left = list(range(len(functions)))

    def answers(some: Sequence[Function]) -> list[FunctionBound]:
        missing = [function for function in some if function.code.name not in known]
        if missing:  # what is called, and was not asked for
            found = answers_by_themselves(missing, method, effort, until)
            known.update(zip((function.code.name for function in missing), found, strict=True))
        return [known[function.code.name] for function in some]

    for at, found in _by_themselves_as_found(functions, method, effort, until, watch):
        known[functions[at].code.name] = found
        for number in [number for number in left if needed[number] <= known.keys()]:
            left.remove(number)
            yield number, settled([functions[number]], answers)[0]


def _by_themselves_as_found(
    functions: Sequence[Function],
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
        functools.partial(_by_itself, function.program, function.program.functions.index(function), method, own, until)
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


def _by_itself(program: Program, index: int, method: str, effort: Effort, until: float | None) -> FunctionBound:
    return answers_by_themselves([program.functions[index]], method, effort, until)[0]


def answers_by_themselves(
    functions: Sequence[Function], method: str, effort: Effort, until: float | None = None
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
        functools.partial(_job, function.program, function.program.functions.index(function), answer, beside, method)
        for function, answer, beside in asked
        if function in searched
    ]
    results = dict(zip((f for f in functions if f in searched), work(jobs, effort.settings, until), strict=True))
    answers = []
    for function, answer, beside in asked:
        result = results.get(function)
        if result is None:
            result = _failed(function, answer, beside, Refused(Reason.TIME_LIMIT, function.place, NOT_SEARCHED))
        elif isinstance(result, Overrun):
            result = _overrun(function, answer, beside, result)
        answers.append(with_cuts(replace(result, summary=answer.summary), results.get(function)))
    return answers


def _without_summaries(function: Function) -> FunctionAnswer:
    loops = tuple(LoopAnswer(replace(loop.id, info=None)) for loop in function.loops)
    return FunctionAnswer(function.name, function.place, loops=loops)


def _summarized(
    functions: Sequence[Function], inductions: Sequence[Inductions], effort: Effort, until: float | None
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


def _overrun(function: Function, answer: FunctionAnswer, known: KnownClaims, overrun: Overrun) -> FunctionBound:
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
        found = _failed(function, answer, known, overrun.refused(function.place))
    return replace(found, trouble=overrun.traceback, time_ms=1000 * overrun.seconds)


def _of_summary(  # noqa: PLR0913  each is known of the loop by another way
    loop: LoopAnswer,
    whole: FunctionSummary | None,
    refused: Refused,
    entry: Claim,
    known: KnownClaims,
    entries: Entries,
    *,
    ends: bool = False,
    info: LoopInfo | None = None,
) -> LoopCounts:
    name = loop.loop.name
    entry = somewhere(unless_ended(entry) if ends else entry)
    total = known.total(name)
    call = agreeing(somewhere(claim_of_call(whole, name, total)), total, ends=False)
    any_entry = known.any_entry(name, (), always(call))
    told = entries.told(info, LoopClaims(entry, call), any_entry)
    entry, call = told.entry, told.call
    reads = known.reads(name, entry)
    why = Refused(Reason.NO_BOUND, loop.loop.place, str(reads)) if reads.sources else refused
    missing, lacking = (None if found.upper is not None else why for found in (entry, call))
    return LoopCounts(loop, entry, call, any_entry, refused=missing, refused_call=lacking, reads=reads)


def _job(program: Program, index: int, answer: FunctionAnswer, known: KnownClaims, method: str) -> FunctionBound:
    """The bounds of one function; errors inside Loopless become refusals."""
    started = clock.now()
    function = program.functions[index]
    with t.as_declared(layouts_in(function)):
        made = attempted(lambda: bound_function(function, answer, known, method))
    trouble = made.traceback if isinstance(made, Overrun) else ""
    found = _failed(function, answer, known, made.refused(function.place)) if isinstance(made, Overrun) else made
    spent = 1000 * (clock.now() - started)
    return replace(found, time_ms=spent, trouble=trouble or found.trouble)


def _failed(function: Function, answer: FunctionAnswer, known: KnownClaims, refused: Refused) -> FunctionBound:
    graph = function.over_cells
    infos = () if isinstance(graph, Refused) else graph.loops
    ends = {info.name for info in infos if not isinstance(graph, Refused) and leaving(graph, info.blocks)}
    names = [(loop, loop.loop.name) for loop in answer.loops]
    entries = [known.claim(graph, n, loop.summary, known.bounds().get(n, ())) for loop, n in names]
    by_name = {info.name: info for info in infos}
    states = Entries(function, graph, answer)
    loops = tuple(
        _of_summary(loop, answer.summary, refused, entry, known, states, ends=n in ends, info=by_name.get(n))
        for (loop, n), entry in zip(names, entries, strict=True)
    )
    shown = {var: name for loop in answer.loops for var, name in loop.shown.items()}
    granted: tuple[str, ...] = ()
    beyond = _beyond(function)
    if not isinstance(graph, Refused):
        shown |= _names_of(graph)
        granted = _granted(function, graph, known)
    whole = of_all([loop.call for loop in loops]) if beyond is None else Claim(None, gap=t.TRUE)
    found = FunctionBound(function.name, function.place, loops, whole, shown, granted, refused=beyond or refused)
    found = replace(found, layouts=layouts_in(function))
    return replace(found, ambiguous=ambiguous(function, None if isinstance(graph, Refused) else graph, found))


def _names_of(graph: Flowgraph) -> dict[t.Var, str]:
    return {var: info.shown for var, info in graph.variables.items() if info.is_source}


def _granted(function: Function, graph: Flowgraph, known: KnownClaims) -> tuple[str, ...]:
    return (*function.stubs, *graph.assumptions, *known.granted(), *([NOT_BY_NAME] if function.reached.outside else []))


def bound_function(
    function: Function, answer: FunctionAnswer, known: KnownClaims | None = None, method: str = "all"
) -> FunctionBound:
    """The bounds of a function, beside the summaries of ``answer`` and what is ``known`` of loops; worked out in this
    process.

    ``method``: one of :data:`METHODS`; Looperman's has no lower bounds.
    """
    graph = function.over_cells
    if isinstance(graph, Refused):
        return replace(_failed(function, answer, known or KnownClaims(), graph), trouble=function.trouble)
    search = _Search(function, graph, answer, known or KnownClaims(), method)
    tried = bounds_of(search.question(), function.place, search.note)
    if tried.answer is None:
        return _failed(function, answer, known or KnownClaims(), tried.refused[0])
    result = search.result(tried.answer, search.beside or search.claims(tried.answer))
    if method != "all" or not any(loop.call.has_gap or loop.call.upper is None for loop in result.counts):
        return result
    whole = completed(function, answer.summary)
    if whole is None:
        return result
    search = _Search(function, graph, replace(answer, summary=whole), known or KnownClaims(), method)
    return search.result(tried.answer, search.claims(tried.answer))


_NOTED_AFTER_S: Final = 0.05
"""What is found so far is told to who waits for it from then on. A guess."""


class _Search:
    """The search for the bounds of one function: what is asked, and how what is found is put together."""

    def __init__(
        self, function: Function, graph: Flowgraph, answer: FunctionAnswer, known: KnownClaims, method: str
    ) -> None:
        self.function, self.graph, self.answer, self.known, self.method = function, graph, answer, known, method
        self.by_name = {loop.loop.name: loop for loop in answer.loops}
        self.started = clock.now()
        self.beside: dict[str, Claim] | None = None
        self.entries = Entries(function, graph, answer)

    def question(self) -> BoundQuestion:
        """What the methods of :mod:`loopless.bounds.portfolio` are asked."""
        graph = self.graph
        paths = {name: loop.paths for name, loop in self.by_name.items() if loop.paths is not None}
        scopes = functools.cache(lambda: scopes_of(graph))
        return BoundQuestion(graph, paths, scopes, self._claims_beside, self._is_counted, self.known.bounds())

    def _claims_beside(self, found: FunctionBounds) -> dict[str, Claim]:
        """What is known of one entry before the counts of summaries are among the bounds."""
        self.beside = self.claims(found)
        return self.beside

    def _is_counted(self) -> bool:
        """Whether all counts of a call are known, so that no bound is looked for."""
        counts = [claim_of_call(self.answer.summary, loop.name, ()) for loop in self.graph.loops]
        return all(claim.exact and _is_reached(claim) for claim in counts)

    def note(self, found: FunctionBounds) -> None:
        """What is known so far, without lower bounds, in case the limit of time is met."""
        if clock.now() > self.started + _NOTED_AFTER_S:
            note(self.result(found, self.claims(found), lower=False))

    def claims(self, found: FunctionBounds) -> dict[str, Claim]:
        """What is known of one entry of each loop, by its name."""
        return {
            name: self.known.claim(self.graph, name, self.by_name[name].summary, bounds.per_entry)
            for name, bounds in found.loops.items()
        }

    def result(self, found: FunctionBounds, claims: Mapping[str, Claim], *, lower: bool = True) -> FunctionBound:
        """All that is found, ``lower`` bounds too if the method has some."""
        function, graph, answer, in_call = self.function, self.graph, self.answer, found.in_call
        headers = {loop.name: loop.header for loop in graph.loops}
        paths = {
            headers[loop.loop.name]: loop.paths for loop in answer.loops if loop.paths and loop.loop.name in headers
        }
        lowers = functools.cache(lambda: LeastIterations(scopes_of(graph), paths))
        asked = lower and self.method == "all"
        uppers = [claim_of_call(answer.summary, name, ()).upper for name in found.loops]
        bounded = all(upper or bounds.total for upper, bounds in zip(uppers, found.loops.values(), strict=True))
        defined = all_runs_count(graph)
        terminates = _terminates(graph, found)
        sure = defined and (len(found.loops) == 1 or bounded)
        inputs = inputs_of(graph)
        loops: list[LoopCounts] = []
        totals: list[Bounds] = []
        for loop in answer.loops:
            bounds = found.loops.get(loop.loop.name)
            if bounds is None:
                totals.append(())
                refused, entry = loop.refused or _no_loop(loop), claim(loop.summary, ())
                loops.append(_of_summary(loop, answer.summary, refused, entry, KnownClaims(), self.entries))
                continue
            entry, ends = claims[loop.loop.name], leaving(graph, bounds.loop.blocks)
            entry = somewhere(unless_ended(entry) if ends else entry)
            if asked and lacks_lower(entry):
                entry = at_least(entry, lowers().per_entry(bounds.loop.header), defined=defined, sure=sure)
            entry = agreeing(entry, bounds.per_entry, ends=False)
            more = in_call.loops.get(bounds.loop.header)
            total = without_larger(kept((*bounds.total, more))) if more is not None else bounds.total
            total = self.known.total(loop.loop.name, total)
            totals.append(total)
            call = bounded_by_inputs(somewhere(claim_of_call(answer.summary, loop.loop.name, total)), total, inputs)
            if asked and lacks_lower(call):
                call = at_least(call, lowers().in_call(bounds.loop.header), defined=defined, sure=sure)
            call = agreeing(call, total, ends=terminates)
            recurs = recurrent_sets(loop, entry) if asked and not ends else ()
            loops.append(self._loop(loop, bounds, LoopClaims(entry, call, recurs)))
        whole = together(of_all([loop.call for loop in loops]), in_call.whole)
        beyond = _beyond(function)
        if beyond is not None:
            whole = Claim(None, gap=t.TRUE)
        wider = in_call.whole.term if in_call.whole is not None and beyond is None else None
        simple = None
        if beyond is None and whole.upper is not None and not whole.has_gap:
            simple = inputs_alone(graph, whole.upper, [loop.call.upper for loop in loops], totals)
        names, granted = _names_of(graph), _granted(function, graph, self.known)
        result = FunctionBound(function.name, function.place, tuple(loops), whole, names, granted, beyond)
        result = replace(result, wider=wider, over_inputs=simple, layouts=layouts_in(function))
        return replace(result, ambiguous=ambiguous(function, graph, result))

    def _loop(self, loop: LoopAnswer, bounds: LoopBounds, found: LoopClaims) -> LoopCounts:
        """The bounds of a loop, from claims about it."""
        any_entry = self.known.any_entry(loop.loop.name, bounds.any_entry, always(found.call))
        found = self.entries.told(bounds.loop, found, any_entry)
        reads = self.known.reads(loop.loop.name, found.entry)
        why = Refused(Reason.NO_BOUND, loop.loop.place, str(reads)) if reads.sources else None
        partly = _partly(loop, causes(self.graph, bounds.loop))
        return LoopCounts(
            loop,
            found.entry,
            found.call,
            any_entry,
            line_bounds(self.graph, bounds),
            (why or bounds.refused or partly) if found.entry.has_gap else None,
            (why or bounds.refused_total or partly) if found.call.has_gap else None,
            from_header(self.graph, bounds.loop),
            found.recurrent,
            reads=reads,
            loosened=() if reads.sources else loosening(self.graph, bounds.loop, found.call),
        )


def _terminates(graph: Flowgraph, found: FunctionBounds) -> bool:
    """Whether every call ends, by returning or by undefined behaviour: all cycles are bounded, nothing is called."""
    if graph.irreducible or any(least(loop.total) is None for loop in found.loops.values()):
        return False
    blocks = graph.blocks.values()
    return not any(isinstance(s, Assume | Call) for block in blocks for s in block.statements)


def _is_reached(found: Claim) -> bool:
    """Whether the count grows as fast as its class says: then no bound of a lower class is looked for."""
    grows, reached = class_of_bound(found.upper, {}, exact=found.exact), lower_class_of(found, {}, limited=True)
    return grows is not None and (grows.degree == 0 or (reached is not None and reached.degree == grows.degree))


def _partly(loop: LoopAnswer, in_the_way: Sequence[str]) -> Refused:
    detail = "from some values no exit condition compares a value that every iteration changes in one direction"
    return Refused(Reason.NO_BOUND, loop.loop.place, in_a_sentence(in_the_way) or detail)


def _no_loop(loop: LoopAnswer) -> Refused:
    return Refused(Reason.NO_BOUND, loop.loop.place, "it is no loop of the flowgraph")


def _beyond(function: Function) -> Refused | None:
    """Why the loops of a call are not only those of the function: it calls functions with loops, or itself."""
    graph = function.graph()
    if isinstance(graph, Refused):
        return Refused(graph.reason, function.place, f"what {function.name} calls is not known")
    reached = function.reached
    by_name = {other.code.name: other for other in function.program.functions}
    for name in reached.names:
        found, by_pointer = by_name[name], name in reached.by_pointer
        stranger = reached.outside
        who = "a pointer leads to" if stranger == "a pointer" else f"{stranger}, which is not defined, calls"
        if name == function.code.name:
            detail = f"{function.name} may be what {who}" if by_pointer else f"{function.name} calls itself"
            return Refused(Reason.RECURSION, function.place, detail)
        if found.loops:
            called = f"may be what {who}" if by_pointer else "is called"
            detail = f"the loops of {found.name}, which {called}, are not counted"
            return Refused(Reason.UNKNOWN_CALL, function.place, detail)
        again = found.reached
        if name in again.names and name not in again.by_pointer:
            detail = f"the calls of {found.name}, which calls others that call it, are not counted"
            return Refused(Reason.RECURSION, function.place, detail)
    return None
