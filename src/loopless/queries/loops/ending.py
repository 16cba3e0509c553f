"""Summaries agree with bounds: a loop never ends, or may run for ever, only where no bound on its iterations holds."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from loopless import terms as t
from loopless.flowgraph.liveness import live_at_entry
from loopless.flowgraph.model import Flowgraph, LoopInfo
from loopless.paths import LoopPaths
from loopless.queries.jobs.effort import inductions_of
from loopless.queries.loops.answer import LoopAnswer, Question
from loopless.queries.loops.scope import allowance, graph_for
from loopless.queries.program import AnalyzedFunction
from loopless.refusals import Refused
from loopless.summary import LoopSummary, Outcome

if TYPE_CHECKING:
    from loopless.bounds import Bounds

_inductions_of = functools.lru_cache(maxsize=1)(inductions_of)
_Found = TypeVar("_Found", Outcome, Outcome | None)


def ending_by_bounds(
    outcome: _Found, graph: Flowgraph, info: LoopInfo, function: AnalyzedFunction, question: Question
) -> _Found:
    """What is said of a loop of ``graph``, beside the bounds that :func:`inductions_of` finds without a search, and
    those of ranking functions where these leave states from which the loop may run for ever.

    Where a region of states that never end is known exactly it is left as it is, unless it is empty by the bounds.
    """
    if not isinstance(outcome, LoopSummary):
        return outcome
    found = outcome.approximation
    if outcome.diverges is t.FALSE and (found is None or found.may_diverge is t.FALSE):
        return outcome
    from loopless.bounds.claims.agreement import unbounded

    bounds = bounds_at_header(graph, info, function)
    with allowance(question):
        if unbounded(outcome.diverges, bounds) is t.FALSE:
            outcome = replace(outcome, diverges=t.FALSE)
        if found is None:
            return outcome
        may_diverge = unbounded(found.may_diverge, bounds)
        if may_diverge is not t.FALSE:
            may_diverge = unbounded(may_diverge, _ranked(outcome.paths))
        return replace(outcome, approximation=replace(found, may_diverge=may_diverge))


def _ranked(paths: LoopPaths) -> Bounds:
    """Bounds on the iterations from any state at the header that ranking functions of the paths give."""
    from loopless.bounds.model import TermBound
    from loopless.bounds.ranking.linear import rank

    found = rank(paths.uncounted())
    if isinstance(found, Refused):
        return ()
    return tuple(TermBound(one.iterations, one.valid_when, "ranking") for one in found)


def with_bounds(answer: LoopAnswer, function: AnalyzedFunction, question: Question) -> LoopAnswer:
    """The answer with bounds on the iterations, where its summary does not tell how many there are from all states."""
    graph, info, summary = graph_for(function, question), answer.loop.info, answer.summary
    if summary is None or info is None or isinstance(graph, Refused) or (summary.complete and summary.exact):
        return answer
    return replace(answer, bounds=bounds_at_header(graph, info, function))


def bounds_at_header(graph: Flowgraph, info: LoopInfo, function: AnalyzedFunction) -> Bounds:
    """Bounds on the iterations from any state at the header; none where a run may stay in the loop in another way: in a
    loop inside without a bound, or in a cycle that is no loop.

    The bounds are of runs of the function, in which its constants hold; a summary speaks of other states, too. They are
    found over memory cells, which ``graph`` does not have.
    """
    from loopless.bounds.iteration.constants import constants
    from loopless.bounds.model import least

    cells = function.over_cells
    if graph.irreducible or isinstance(cells, Refused):
        return ()
    counted = _inductions_of(function)
    own = next((loop for loop in cells.loops if loop.name == info.name), None)
    if own is None or own.name not in counted:
        return ()
    inside = [loop.name for loop in cells.loops if loop.blocks < own.blocks]
    if any(name not in counted or least(counted[name].bounds) is None for name in inside):
        return ()
    fixed = constants(cells, live_at_entry(cells.blocks, frozenset())[cells.entry])
    held = t.conjunction(var.eq(fixed[var]) for var in sorted(_read_inside(cells, own) & fixed.keys()))
    bounds = (replace(bound, when=bound.when & held) for bound in counted[own.name].bounds)
    return tuple(bound for bound in bounds if bound.when.variables <= graph.variables.keys())


def _read_inside(graph: Flowgraph, loop: LoopInfo) -> frozenset[t.Var]:
    """The variables whose values at the header the iterations may use."""
    blocks = {label: graph.blocks[label] for label in loop.blocks}
    targets = {target for block in blocks.values() for target in block.successors} - blocks.keys()
    return live_at_entry(blocks, frozenset(), dict.fromkeys(targets, frozenset()))[loop.header]
