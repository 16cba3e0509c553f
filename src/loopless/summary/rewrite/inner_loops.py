"""What inner loops do at an exit, in the summary of the loop around them: regions, and totals of iterations."""

from __future__ import annotations

from dataclasses import replace

from loopless.summary.model import Case, Residual, Summary
from loopless.terms import ZERO, Condition, Term, Var, disjunction, substitute


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
