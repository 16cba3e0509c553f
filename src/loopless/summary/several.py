"""Loops with several iterative paths: closed forms of oscillation where there are any, then elimination of paths."""

from __future__ import annotations

from loopless.logic import BudgetExceeded, budget
from loopless.paths.model import LoopPaths
from loopless.refusals import Reason, Refused
from loopless.summary.elimination import eliminate
from loopless.summary.landing import Landing
from loopless.summary.model import Summary
from loopless.summary.rotation import accelerate_groups
from loopless.summary.system import NotSummarized, build_system, where
from loopless.terms import TermTooLarge, disjunction

WHOLE = 100_000_000
"""isl's operations allowed for one loop."""


def summarize_several(paths: LoopPaths) -> Summary:
    """The summary of a loop without inputs. Raises :class:`NotSummarized`."""
    try:
        with budget(WHOLE):
            system = build_system(paths)
            landing = Landing(system)
            for cell in system.cells():
                pieces, endings = accelerate_groups(cell)
                for ending in eliminate(cell, pieces, endings):
                    landing.add(ending)
    except BudgetExceeded:
        detail = "the logic needs more steps than its budget for this loop"
        raise NotSummarized(Refused(Reason.BUDGET, where(paths), detail)) from None
    except TermTooLarge as error:
        raise NotSummarized(Refused(Reason.BUDGET, where(paths), f"an expression grows too large: {error}")) from None
    return Summary(
        paths.loop,
        paths,
        tuple(landing.cases),
        disjunction(landing.diverges),
        tuple(landing.undefined),
        tuple(landing.residual),
        "elimination",
        paths.assumptions,
    )
