"""What inner loops do, in the summary of the loop around them: regions, totals of iterations, and what is not exact."""

from __future__ import annotations

from dataclasses import replace

from loopless import terms as t
from loopless.refusals import Reason, Refused
from loopless.summary.model import Case, Cycle, LoopSummary, PathRun, Residual, Step
from loopless.summary.transitions.system import place_of
from loopless.terms.contents import placed


def settled(summary: LoopSummary) -> LoopSummary:
    """The summary with what inner loops do at an exit in its place: regions, and totals of iterations.

    Where a path goes by a step of an inner loop that is not exact, cases that take it are not exact, and regions that
    may come from it are residual.
    """
    summary = _with_regions_of(summary)
    inexact = frozenset(path.id for path in summary.paths.all if not path.exact)
    counters = summary.paths.counters
    begun: dict[t.Var, t.Term] = dict.fromkeys(counters, t.ZERO)
    cases: list[Case] = []
    diverges: list[t.Condition] = [summary.diverges]
    residual = list(summary.residual)
    for one in summary.cases:
        case = replace(one, exact=False) if inexact and _takes(one, inexact) else one
        if case.exit.kind == "endless" and not case.exact:
            residual.append(Residual(case.when, _inexact(summary)))
        elif case.exit.kind == "endless":
            diverges.append(case.when)
        elif case.exit.kind == "unknown":
            assert case.exit.refused is not None
            residual.append(Residual(case.when, case.exit.refused))
        elif counters:
            then = {var: term for var, term in case.then.items() if var not in counters}
            totals = {name: t.substitute(case.then.get(var, var), begun) for var, name in counters.items()}
            contents = None if case.contents is None else placed(case.contents, begun)
            cases.append(replace(case, then=then, totals=dict(sorted(totals.items())), contents=contents))
        else:
            cases.append(case)
    return replace(
        summary,
        paths=summary.paths.uncounted(),
        cases=tuple(cases),
        diverges=t.disjunction(diverges),
        residual=tuple(residual),
    )


def _with_regions_of(summary: LoopSummary) -> LoopSummary:
    """The summary, the regions that an inexact path may lead to being residual: they do not tell their paths."""
    iterative = any(not path.exact for path in summary.paths.iterative)
    failing = [path for path in summary.paths.exits if path.exit is not None and path.exit.kind == "undefined"]
    found = list(summary.residual)
    if iterative and summary.diverges is not t.FALSE:
        found.append(Residual(summary.diverges, _inexact(summary)))
        summary = replace(summary, diverges=t.FALSE)
    if summary.undefined and (iterative or any(not path.exact for path in failing)):
        found += [Residual(undefined.when, _inexact(summary)) for undefined in summary.undefined]
        summary = replace(summary, undefined=())
    return replace(summary, residual=tuple(found))


def _takes(case: Case, paths: frozenset[str]) -> bool:
    """Whether one of ``paths`` may be taken on the way of a case."""
    trace = {path for step in case.trace for path in _of_step(step)}
    counted = {path for path, count in case.per_path.items() if count is not t.ZERO}
    return not paths.isdisjoint({case.exit_path, *trace, *counted})


def _of_step(step: Step) -> frozenset[str]:
    """The paths in a part of a trace."""
    if isinstance(step, PathRun):
        return frozenset((step.path,))
    if isinstance(step, Cycle):
        return frozenset(path for inner in step.body for path in _of_step(inner))
    return frozenset(step.paths)


def _inexact(summary: LoopSummary) -> Refused:
    detail = "a loop inside is summarized by an over-approximation"
    return Refused(Reason.NESTED, place_of(summary.paths), detail)
