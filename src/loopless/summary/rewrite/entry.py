"""Summaries for some entry values only: what holds at the entry and stays true makes paths impossible."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from loopless import terms as t
from loopless.logic import BudgetExceeded, NotPresburger, Region, feasible
from loopless.paths.invariants import inductive
from loopless.paths.model import LoopPaths, Path
from loopless.summary.model import Case, Cycle, LoopSummary, Step
from loopless.terms.contents import placed


def narrowed(paths: LoopPaths, assumed: t.Condition) -> LoopPaths:
    """The paths under those parts of an assumption on the entry values that every iteration keeps true.

    Paths that cannot be taken then are left out, and variables that the assumption fixes are replaced by their value.
    """
    kept = inductive(paths, t.conjuncts(assumed))
    if not kept:
        return paths
    whole = t.conjunction(kept)
    fixed = {var: t.const(value) for var, value in fixed_by(whole).items() if var not in paths.state}

    def under(path: Path) -> Path | None:
        placed = replace(path, condition=path.condition & whole).given(fixed)
        return placed if feasible(placed.condition) else None

    iterative = tuple(p for p in map(under, paths.iterative) if p is not None)
    exits = tuple(p for p in map(under, paths.exits) if p is not None)
    return replace(paths, iterative=iterative, exits=exits)


def fixed_by(condition: t.Condition) -> dict[t.Var, int]:
    """The variables that have one value only where ``condition`` holds, as far as its parts say so themselves."""
    found = {var: value for var, value in map(_fixed, t.conjuncts(condition)) if var is not None}
    return {var: value.value for var, value in found.items() if isinstance(value, t.Const)}


def _fixed(part: t.Condition) -> tuple[t.Var | None, t.Term]:
    """``(x, c)`` for a condition x = c, else ``(None, …)``."""
    if isinstance(part, t.Compare) and part.relation == "eq":
        poly = t.polynomial(part.term)
        rest = [m for m in poly if m]
        if len(rest) == 1 and len(rest[0]) == 1 and rest[0][0][1] == 1 and isinstance(rest[0][0][0], t.Var):
            factor, constant = poly[rest[0]], poly.get((), 0)
            if abs(factor) == 1:
                return rest[0][0][0], t.const(-constant * factor)
    return None, t.const(0)


def restricted(summary: LoopSummary, assumed: t.Condition) -> LoopSummary:
    """What the summary says about the entry values that satisfy ``assumed``, in simpler words where there are any."""
    cases = tuple(
        replace(case, when=when) for case in summary.cases if (when := _given(case.when, assumed)) is not t.FALSE
    )
    undefined = tuple(
        replace(u, when=when) for u in summary.undefined if (when := _given(u.when, assumed)) is not t.FALSE
    )
    residual = tuple(
        replace(r, when=when) for r in summary.residual if (when := _given(r.when, assumed)) is not t.FALSE
    )
    diverges = _given(summary.diverges, assumed)
    return replace(summary, cases=cases, undefined=undefined, residual=residual, diverges=diverges)


def entered_with(summary: LoopSummary, facts: t.Condition) -> LoopSummary:
    """What the summary says about the entry values that satisfy ``facts``, which hold wherever the loop is entered."""
    fixed = {var: t.const(value) for var, value in fixed_by(facts).items()}

    def at(term: t.Term) -> t.Term:
        return t.substitute(term, fixed)

    def in_case(case: Case) -> Case:
        return replace(
            case,
            when=t.substitute(case.when, fixed),
            then={var: at(term) for var, term in case.then.items()},
            iterations=at(case.iterations),
            per_path={path: at(term) for path, term in case.per_path.items()},
            totals={name: at(term) for name, term in case.totals.items()},
            result=at(case.result) if case.result is not None else None,
            trace=tuple(_at(step, fixed) for step in case.trace),
            contents=None if case.contents is None else placed(case.contents, fixed),
        )

    there = replace(
        summary,
        cases=tuple(map(in_case, summary.cases)),
        diverges=t.substitute(summary.diverges, fixed),
        undefined=tuple(replace(part, when=t.substitute(part.when, fixed)) for part in summary.undefined),
        residual=tuple(replace(part, when=t.substitute(part.when, fixed)) for part in summary.residual),
        entered=summary.entered & facts,
    )
    return restricted(there, facts)


def _at(step: Step, fixed: Mapping[t.Var, t.Term]) -> Step:
    times = t.substitute(step.times, fixed) if step.times is not None else None
    if isinstance(step, Cycle):
        return Cycle(tuple(_at(part, fixed) for part in step.body), times)
    return replace(step, times=times)


def _given(when: t.Condition, assumed: t.Condition) -> t.Condition:
    """``when``, simplified under ``assumed``; false where the two have nothing in common."""
    if when is t.FALSE:
        return t.FALSE
    try:
        variables = when.variables | assumed.variables
        here, given = Region.of(when, variables), Region.of(assumed, variables)
        if here.disjoint(given):
            return t.FALSE
        return here.gist(given).condition()
    except (NotPresburger, BudgetExceeded):
        both = when & assumed
        return both if feasible(both) else t.FALSE
