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

WHOLE = 5_000_000
"""isl's operations allowed for one loop."""


def summarize_several(paths: LoopPaths) -> Summary:
    """The summary of a loop without inputs. Raises :class:`NotSummarized`."""
    try:
        with budget(WHOLE):
            system = build_system(paths)
            landings = [_landing(cell) for cell in cells(system)]
    except BudgetExceeded:
        detail = "the logic needs more steps than its budget for this loop"
        raise NotSummarized(Refused(Reason.BUDGET, where(paths), detail)) from None
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


def _landing(cell: System) -> Landing:
    pieces, endings = accelerate_groups(cell)
    landing = Landing(cell)
    for ending in eliminate(cell, pieces, endings):
        landing.add(ending)
    return landing
