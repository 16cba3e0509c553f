"""The search for the bounds of one function, beside the summaries of its loops; worked out in this process."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace

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
    apart,
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
from loopless.bounds.methods import looperman
from loopless.bounds.methods.lower import LeastIterations
from loopless.bounds.model import Bounds, kept, least
from loopless.bounds.portfolio import METHODS, bounds_of
from loopless.bounds.question import BoundQuestion
from loopless.bounds.reads.deciding import causes, in_a_sentence, loosening
from loopless.flowgraph.model import Assume, Call, Flowgraph
from loopless.limits.queries import BOUNDS_NOTED_AFTER_S
from loopless.queries.bounds.answers import FunctionBound, LoopIterations
from loopless.queries.bounds.by_summaries import beyond_loops, granted_for, loop_bound, names_of, summaries_alone
from loopless.queries.bounds.entry_claims import KnownClaims
from loopless.queries.bounds.single_runs import completed
from loopless.queries.call_values.call_inputs import ambiguous, inputs_of, loop_over_inputs
from loopless.queries.call_values.call_inputs import over_inputs as inputs_alone
from loopless.queries.call_values.layouts import layouts_in
from loopless.queries.functions import FunctionAnswer
from loopless.queries.jobs.sandbox import note
from loopless.queries.loops.answer import LoopAnswer
from loopless.queries.loops.never_ending import Entries, LoopClaims, recurrent_sets
from loopless.queries.program import AnalyzedFunction
from loopless.queries.returning import leaving
from loopless.refusals import Reason, Refused


def bound_function(
    function: AnalyzedFunction, answer: FunctionAnswer, known: KnownClaims | None = None, method: str = "all"
) -> FunctionBound:
    """The bounds of a function, beside the summaries of ``answer`` and what is ``known`` of loops; worked out in this
    process.

    ``method``: one of :data:`loopless.queries.bounds.answering.METHODS`; Looperman's has no lower bounds.
    """
    graph = function.over_cells
    if isinstance(graph, Refused):
        return replace(summaries_alone(function, answer, known or KnownClaims(), graph), trouble=function.trouble)
    search = _Search(function, graph, answer, known or KnownClaims(), method)
    methods = METHODS if method == "all" else (looperman.METHOD,)
    tried = bounds_of(search.question(), function.place, search.note, methods)
    if tried.answer is None:
        return summaries_alone(function, answer, known or KnownClaims(), tried.refused[0])
    result = search.result(tried.answer, search.beside or search.claims(tried.answer))
    if method != "all" or not any(loop.call.has_gap or loop.call.upper is None for loop in result.counts):
        return result
    whole = completed(function, answer.summary)
    if whole is None:
        return result
    search = _Search(function, graph, replace(answer, summary=whole), known or KnownClaims(), method)
    return search.result(tried.answer, search.claims(tried.answer))


class _Search:
    """The search for the bounds of one function: what is asked, and how what is found is put together."""

    def __init__(
        self, function: AnalyzedFunction, graph: Flowgraph, answer: FunctionAnswer, known: KnownClaims, method: str
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
        if clock.now() > self.started + BOUNDS_NOTED_AFTER_S:
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
        loops: list[LoopIterations] = []
        totals: list[Bounds] = []
        for loop in answer.loops:
            bounds = found.loops.get(loop.loop.name)
            if bounds is None:
                totals.append(())
                refused, entry = loop.refused or _no_loop(loop), claim(loop.summary, ())
                loops.append(loop_bound(loop, answer.summary, refused, entry, KnownClaims(), self.entries))
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
            counts = self._loop(loop, bounds, LoopClaims(entry, call, recurs))
            loops.append(replace(counts, over_inputs=loop_over_inputs(counts.call, total, inputs)))
        alternatives = apart(graph, [loop.loop.name for loop in answer.loops])
        whole = together(of_all([loop.call for loop in loops], alternatives), in_call.whole)
        beyond = beyond_loops(function)
        if beyond is not None:
            whole = Claim(None, gap=t.TRUE)
        wider = in_call.whole.term if in_call.whole is not None and beyond is None else None
        simple = None
        if beyond is None and whole.upper is not None and not whole.has_gap:
            simple = inputs_alone(graph, whole.upper, [loop.call.upper for loop in loops], totals, alternatives)
        names, granted = names_of(graph), granted_for(function, graph, self.known)
        result = FunctionBound(function.name, function.place, tuple(loops), whole, names, granted, beyond)
        result = replace(result, wider=wider, over_inputs=simple, layouts=layouts_in(function))
        return replace(result, ambiguous=ambiguous(function, graph, result))

    def _loop(self, loop: LoopAnswer, bounds: LoopBounds, found: LoopClaims) -> LoopIterations:
        """The bounds of a loop, from claims about it.

        A missing bound has a refusal. Its first choice names the input that decides, the second is the reason of the
        methods, the third names an obstacle for some values.
        """
        any_entry = self.known.any_entry(loop.loop.name, bounds.any_entry, always(found.call))
        found = self.entries.told(bounds.loop, found, any_entry)
        reads = self.known.reads(loop.loop.name, found.entry)
        by_reads = Refused(Reason.NO_BOUND, loop.loop.place, str(reads)) if reads.sources else None
        partly = _partly(loop, causes(self.graph, bounds.loop))
        return LoopIterations(
            loop,
            found.entry,
            found.call,
            any_entry,
            line_bounds(self.graph, bounds),
            (by_reads or bounds.refused or partly) if found.entry.has_gap else None,
            (by_reads or bounds.refused_total or partly) if found.call.has_gap else None,
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
