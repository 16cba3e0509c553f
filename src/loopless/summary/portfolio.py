"""Which method summarizes a loop: the first one that finishes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from loopless.logic import BudgetExceeded, budget
from loopless.paths.model import LoopPaths, NoPaths
from loopless.refusals import Reason, Refused
from loopless.summary.methods.earliest_exit import summarize_one, wraps_many_times
from loopless.summary.methods.multipath import summarize_several
from loopless.summary.model import Case, Outcome, Residual, Summary
from loopless.summary.rewrite.univariate import with_intervals
from loopless.summary.transitions.system import NotSummarized, where
from loopless.terms import ZERO, Condition, Term, Var, disjunction, substitute

AGAIN: Final = 8_000_000
"""isl's operations for looking at a loop again without the counts of inner loops."""


def summarize(paths: LoopPaths | NoPaths) -> Outcome:
    """The summary of a loop from its paths; a refusal where nothing can be said."""
    if isinstance(paths, NoPaths):
        return paths.refused
    inputs = [u for path in paths.all for u in path.unknowns]
    if inputs:
        first = inputs[0]
        if first.refused is not None:
            return first.refused
        place = str(first.loc) if first.loc is not None else where(paths)
        detail = f"an iteration depends on {first.name}: {first.origin.value}"
        return Refused(Reason.INPUT_DEPENDENT, place, detail)
    found = _by_strategies(paths)
    if paths.counters and not (isinstance(found, Summary) and found.complete):
        # A count without a closed form must not stand in the way of the values.
        other = _uncounted(paths)
        if isinstance(other, Summary) and (other.complete or isinstance(found, Refused)):
            found = other
    return found if isinstance(found, Refused) else settled(found)


def _uncounted(paths: LoopPaths) -> Outcome | None:
    """The summary without counts of inner loops; None where that takes too long."""
    try:
        with budget(AGAIN):
            return _by_strategies(paths.uncounted())
    except BudgetExceeded:
        return None


def _by_strategies(paths: LoopPaths) -> Outcome:
    strategies: tuple[Callable[[LoopPaths], Summary], ...] = (summarize_several,)
    if len(paths.iterative) <= 1:
        strategies = (summarize_one, summarize_several)
    plain = with_intervals(paths)
    found = _first_complete(plain, strategies)
    return found if plain is paths or isinstance(found, Refused) else replace(found, paths=paths)


def settled(summary: Summary) -> Summary:
    """The summary with what inner loops do at an exit in its place: regions, and totals of iterations."""
    counters = summary.paths.counters
    begun: dict[Var, Term] = dict.fromkeys(counters, ZERO)
    cases: list[Case] = []
    diverges: list[Condition] = [summary.diverges]
    residual = list(summary.residual)
    for case in summary.cases:
        if case.exit.kind == "endless":
            diverges.append(case.when)
        elif case.exit.kind == "unknown":
            assert case.exit.refused is not None
            residual.append(Residual(case.when, case.exit.refused))
        elif counters:
            then = {var: term for var, term in case.then.items() if var not in counters}
            totals = {name: substitute(case.then.get(var, var), begun) for var, name in counters.items()}
            cases.append(replace(case, then=then, totals=dict(sorted(totals.items()))))
        else:
            cases.append(case)
    return replace(
        summary,
        paths=summary.paths.uncounted(),
        cases=tuple(cases),
        diverges=disjunction(diverges),
        residual=tuple(residual),
    )


def _first_complete(paths: LoopPaths, strategies: Iterable[Callable[[LoopPaths], Summary]]) -> Outcome:
    """The first complete summary; else the first one that says something, else the first refusal."""
    partial: Summary | None = None
    refused: Refused | None = None
    for strategy in strategies:
        try:
            found = strategy(paths)
        except NotSummarized as failure:
            refused = refused or failure.refused
            if failure.refused.reason is Reason.WRAP:
                break  # what wraps around many times is nothing for isl, whose budget then does not bound the time
            continue
        if found.complete:
            return found
        partial = partial or found
        if any(part.why.reason is Reason.WRAP for part in found.residual) and wraps_many_times(paths):
            break
    if partial is not None:
        return partial
    assert refused is not None
    return refused
