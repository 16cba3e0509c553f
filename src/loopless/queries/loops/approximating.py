"""What is said of a loop without an exact summary: by approximations of inner loops, or whatever its paths are."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from loopless import terms as t
from loopless.automaton import classify
from loopless.flowgraph.model import Flowgraph, LoopInfo
from loopless.paths import LoopPaths, NoPaths
from loopless.paths.coarse import coarse_paths
from loopless.queries.assume.of_loop import assumption_of
from loopless.queries.loops.answer import LoopAnswer, Question
from loopless.queries.loops.ending import ending_by_bounds
from loopless.queries.loops.scope import allowance, known_loops, variables_asked
from loopless.queries.loops.unreported import occurring, shown_at_exit
from loopless.queries.program import AnalyzedFunction
from loopless.queries.returning import ends_in_calls
from loopless.refusals import Reason, Refused
from loopless.summary import (
    Approximation,
    LoopSummary,
    Outcome,
    Residual,
    approximated,
    paths_of,
    readable,
    readable_paths,
    relative,
    relative_paths,
)


def with_lost(outcome: Outcome, ends: Refused | None) -> Outcome:
    """What is said of a loop, which knows nothing of runs that end in its calls."""
    if ends is None or isinstance(outcome, Refused) or outcome.approximation is None:
        return outcome
    found = outcome.approximation
    found = replace(found, may_be_lost=(*found.may_be_lost, Residual(t.TRUE, ends)))
    return replace(outcome, approximation=found)


def whatever_calls_do(summary: LoopSummary, ends: Refused) -> LoopSummary:
    """What ``summary`` says of runs whose calls return, as it holds of all runs: none need come to what it tells, since
    one may end in a call before, for the reason ``ends``.
    """
    about = summary.approximation or Approximation((), t.FALSE)
    found = Approximation(
        (*(replace(case, exact=False) for case in summary.cases), *about.cases),
        summary.diverges | about.may_diverge,
        (*summary.undefined, *about.may_be_undefined),
        (*(part for part in about.may_be_lost if part.why != ends), Residual(t.TRUE, ends)),
    )
    residual = (Residual(t.TRUE, ends),)
    return replace(summary, cases=(), diverges=t.FALSE, undefined=(), residual=residual, approximation=found)


def around_inner_loops(
    graph: Flowgraph, info: LoopInfo, question: Question, function: AnalyzedFunction
) -> Callable[[], LoopPaths | NoPaths]:
    """The paths by approximations of the loops inside, worked out when first asked for."""
    interest, known = variables_asked(graph, info, question), known_loops(function, question)
    return functools.cache(lambda: paths_of(graph, info, interest, known=known, approximate=True))


_OF_LOOPS_INSIDE: Final = frozenset((Reason.NESTED, Reason.MEMORY))
"""Why a loop has no paths where these pass a loop inside: it has no summary, or one that speaks of what the loop around
it may write.
"""


def _by_inner_loops(
    answer: LoopAnswer,
    graph: Flowgraph,
    question: Question,
    function: AnalyzedFunction,
    around: Callable[[], LoopPaths | NoPaths],
) -> LoopAnswer:
    """The refusal of a loop without paths, or what follows from approximations of the loops inside."""
    why = answer.refused
    if why is None or why.reason not in _OF_LOOPS_INSIDE or question.assume is not None:
        return answer
    paths = around()
    if isinstance(paths, NoPaths):
        return answer
    with allowance(question):
        own = readable_paths(paths.uncounted())
    return _over_approximated(answer, graph, question, function, paths, own)


def typed_by_approximations(answer: LoopAnswer, around: Callable[[], LoopPaths | NoPaths]) -> LoopAnswer:
    """The answer with a type by what approximations of the loops inside say, where these have no exact summary."""
    why = answer.untyped or answer.refused
    if answer.type is not None or why is None or why.reason not in _OF_LOOPS_INSIDE:
        return answer
    paths = around()
    found = classify(paths if isinstance(paths, NoPaths) else paths.uncounted())
    if found.type is None:
        return answer
    reasons = (*found.reasons, "of a loop inside only an over-approximation is known")
    return replace(answer, classification=replace(found, reasons=reasons), untyped=None)


def without_paths(answer: LoopAnswer, graph: Flowgraph, question: Question, function: AnalyzedFunction) -> LoopAnswer:
    """The refusal of a loop without paths, or what can be said all the same."""
    assert answer.loop.info is not None
    around = around_inner_loops(graph, answer.loop.info, question, function)
    if question.classify:
        answer = typed_by_approximations(answer, around)
    if not question.summarize:
        return answer if answer.type is None else replace(answer, refused=None)
    if not question.approximate:
        return answer
    found = _by_inner_loops(answer, graph, question, function, around)
    return found if found.refused is None else whatever_the_paths(answer, graph, question, function)


def whatever_the_paths(
    answer: LoopAnswer, graph: Flowgraph, question: Question, function: AnalyzedFunction
) -> LoopAnswer:
    """What holds of a loop that is refused, whatever its paths are."""
    info = answer.loop.info
    assert info is not None
    paths = coarse_paths(graph, info)
    assumed = assumption_of(function, graph, info, question.assume)
    found = _over_approximated(
        answer, graph, question, function, paths, paths, within=assumed if assumed is not None else t.TRUE
    )
    if found is answer or assumed is None or question.assume is None:
        return found
    return replace(found, granted=(f"on entry: {question.assume.strip()}",))


def _over_approximated(
    answer: LoopAnswer,
    graph: Flowgraph,
    question: Question,
    function: AnalyzedFunction,
    paths: LoopPaths,
    own: LoopPaths,
    *,
    within: t.Condition = t.TRUE,
) -> LoopAnswer:
    """The answer with what runs by ``paths`` may do, in place of a refusal; ``own``: the paths in few words."""
    why = answer.refused
    assert why is not None
    sources = {var: variable.shown for var, variable in graph.variables.items() if variable.is_source}
    with allowance(question):
        outcome = approximated(paths, why, within, frozenset(sources))
        outcome = ending_by_bounds(outcome, graph, own.loop, function, question)
    summary = with_lost(outcome, ends_in_calls(graph, answer.loop))
    if isinstance(summary, Refused):
        return answer
    occurs = occurring(paths.uncounted())
    names = {var: sources[var] for var in occurs if var in sources} | shown_at_exit(summary, sources)
    with allowance(question):
        summary = readable(relative(summary))
    untyped = why if answer.type is None else None
    own = relative_paths(own)
    return replace(answer, paths=own, summary=summary, refused=None, untyped=untyped, shown=names)
