"""Answers without the variables that are in the way of a complete one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from loopless import terms as t
from loopless.flowgraph.model import Flowgraph, LoopInfo
from loopless.paths import LoopPaths, NoPaths
from loopless.queries.jobs.overrun import attempted
from loopless.queries.loops.answer import LoopAnswer, Question
from loopless.queries.loops.entered_states import with_entry
from loopless.queries.loops.scope import graph_for, known_loops, not_asked
from loopless.queries.loops.unreported import occurring, untold, used_variables
from loopless.queries.program import AnalyzedFunction
from loopless.queries.returning import ends_in_calls
from loopless.refusals import Refused
from loopless.summary import (
    LoopSummary,
    from_entry,
    merged,
    paths_of,
    readable,
    readable_paths,
    relative,
    relative_paths,
    summarize,
)


def with_fewer_variables(
    answer: LoopAnswer, function: AnalyzedFunction, question: Question, tell: Callable[[LoopAnswer], None]
) -> LoopAnswer:
    """The answer; where it is not complete, one without the variables that are in the way, if there is a complete one:
    how often the loop runs, and what all the other variables become. ``tell`` is given what is found on the way.
    """
    graph, info = graph_for(function, question), answer.loop.info
    if answer.answered and answer.status == "exact":
        return answer
    if answer.summary is not None and answer.summary.lists and any(case.contents for case in answer.summary.cases):
        return answer  # what it leaves open are lists in a circle
    if info is None or isinstance(graph, Refused) or question.variables is not None or question.assume is not None:
        return answer
    if not (question.approximate and question.summarize):
        return answer
    before = frozenset(answer.paths.state) if answer.paths is not None else None
    better = [answer]

    def search() -> None:
        for paths, absolute in _without_some(graph, info, function, question, before):
            better.append(with_entry(_with_others(answer, graph, paths, absolute), function, question))
            tell(better[-1])

    attempted(search)
    return better[-1]


def _with_others(answer: LoopAnswer, graph: Flowgraph, paths: LoopPaths, absolute: LoopSummary) -> LoopAnswer:
    """The answer with a summary that leaves some variables out."""
    assert answer.loop.info is not None
    summary, own = relative(absolute), relative_paths(readable_paths(paths.uncounted()))
    shown = {var: variable.shown for var, variable in graph.variables.items() if variable.is_source}
    body = answer.body or answer.paths
    spoken = (*occurring(paths), *occurring(own), *(occurring(body) if body is not None else ()))
    names = {var: shown[var] for var in spoken if var in shown}
    reasons = [part.why for part in answer.summary.residual] if answer.summary is not None else []
    why = answer.refused or next(iter(reasons), None) or not_asked(answer.loop)
    return replace(
        answer,
        paths=own,
        summary=summary,
        absolute=None if summary is absolute else absolute,
        merged=merged(summary),
        at_entry=None,
        refused=None,
        partly=why,
        body=body,
        past_calls=ends_in_calls(graph, answer.loop),
        untyped=None if answer.type is not None else answer.untyped or why,
        untold=untold(graph, answer.loop.info, summary, None),
        shown=names,
    )


def _without_some(
    graph: Flowgraph, info: LoopInfo, function: AnalyzedFunction, question: Question, before: frozenset[t.Var] | None
) -> Iterator[tuple[LoopPaths, LoopSummary]]:
    """The paths and the summary, where it is complete, of those variables alone that decide how the loop goes on, then
    with more of those that are used behind it, as long as it is complete with them. Nothing where those that decide are
    all those ``before``, for which it is not.
    """

    def found(interest: tuple[t.Var, ...], *, all_checks: bool) -> tuple[LoopPaths, LoopSummary] | None:
        known = known_loops(function, question)
        paths = paths_of(graph, info, interest, all_checks=all_checks, known=known)
        if isinstance(paths, NoPaths) or (all_checks and before is not None and before <= frozenset(paths.state)):
            return None
        own, outcome = from_entry(graph, paths, summarize(paths), interest, known)
        return (
            (own, readable(outcome))
            if isinstance(outcome, LoopSummary) and outcome.complete and outcome.exact
            else None
        )

    for all_checks in (True, False):
        best = found((), all_checks=all_checks)
        if best is not None:
            break
    else:
        return
    yield best
    kept: tuple[t.Var, ...] = ()
    for var in used_variables(graph, info):
        if var not in best[0].state and graph.variables[var].is_source:
            more = found((*kept, var), all_checks=all_checks)
            if more is not None:
                kept, best = (*kept, var), more
                yield best
