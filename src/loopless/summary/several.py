"""Loops with several iterative paths: closed forms of oscillation where there are any, then elimination of paths."""

from __future__ import annotations

from loopless.logic import BudgetExceeded, budget
from loopless.paths.model import LoopPaths
from loopless.refusals import Reason, Refused
from loopless.summary.cells import cells
from loopless.summary.elimination import eliminate
from loopless.summary.landing import Landing
from loopless.summary.model import Summary
from loopless.summary.rotation import accelerate_groups
from loopless.summary.system import NotSummarized, System, build_system, where
from loopless.terms import TermTooLarge, disjunction

PREPARING = 2_000_000
"""isl's operations allowed for reading the paths and dividing the values of invariants."""

WHOLE = 8_000_000
"""And for all of these parts together, each of which gets its share."""


def summarize_several(paths: LoopPaths) -> Summary:
    """The summary of a loop without inputs. Raises :class:`NotSummarized`."""
    try:
        with budget(PREPARING):
            system = build_system(paths)
            parts = cells(system)
        landings = [_landing(cell, WHOLE // len(parts)) for cell in parts]
    except BudgetExceeded:
        raise NotSummarized(_too_costly(paths)) from None
    except TermTooLarge as error:
        raise NotSummarized(Refused(Reason.BUDGET, where(paths), f"an expression grows too large: {error}")) from None
    return Summary(
        paths.loop,
        paths,
        tuple(case for landing in landings for case in landing.cases),
        disjunction(region for landing in landings for region in landing.diverges),
        tuple(undefined for landing in landings for undefined in landing.undefined),
        tuple(residual for landing in landings for residual in landing.residual),
        "elimination",
        paths.assumptions,
    )


def _too_costly(paths: LoopPaths) -> Refused:
    detail = "the logic needs more steps than its budget for this loop"
    return Refused(Reason.BUDGET, where(paths), detail)


def _landing(cell: System, operations: int) -> Landing:
    """The cases of a part; all of it is residual where that takes too long."""
    landing = Landing(cell)
    try:
        with budget(operations):
            pieces, endings = accelerate_groups(cell)
            for ending in eliminate(cell, pieces, endings):
                landing.add(ending)
    except BudgetExceeded:
        landing = Landing(cell)
        landing.give_up(cell.universe, _too_costly(cell.paths))
    return landing
