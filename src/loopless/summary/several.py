"""Loops with several iterative paths: closed forms of oscillation where there are any, then elimination of paths."""

from __future__ import annotations

from collections.abc import Callable

from loopless.logic import BudgetExceeded, budget
from loopless.paths.model import LoopPaths
from loopless.refusals import Reason, Refused
from loopless.summary.cells import cells
from loopless.summary.elimination import eliminate
from loopless.summary.landing import Landing
from loopless.summary.model import Summary
from loopless.summary.rotation import accelerate_groups
from loopless.summary.system import NotSummarized, System, build_system, where
from loopless.summary.tables import landing_by_tables
from loopless.terms import TermTooLarge, disjunction

PREPARING = 2_000_000
"""isl's operations allowed for reading the paths and dividing the values of invariants."""

WHOLE = 8_000_000
"""And for all of these parts together, each of which gets its share."""

MAX_CASES = 400
"""A summary does not get more cases and regions than this."""


def summarize_several(paths: LoopPaths) -> Summary:
    """The summary of a loop without inputs. Raises :class:`NotSummarized`."""
    try:
        with budget(PREPARING):
            system = build_system(paths)
            parts = cells(system)
        landings: list[Landing] = []
        left = MAX_CASES
        for cell in parts:
            landing = _landing(cell, WHOLE // len(parts))
            if landing.size > left:
                landing = _given_up(cell)
            left -= landing.size
            landings.append(landing)
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
    """The cases of a part: by elimination, by tables where that leaves something open."""
    found = _within(operations, cell, _by_elimination)
    if found is not None and not found.residual:
        return found
    other = _within(operations, cell, landing_by_tables)
    if other is not None and not other.residual:
        return other
    return found if found is not None else _given_up(cell)


def _given_up(cell: System) -> Landing:
    landing = Landing(cell)
    landing.give_up(cell.universe, _too_costly(cell.paths))
    return landing


def _within(operations: int, cell: System, method: Callable[[System], Landing | None]) -> Landing | None:
    """What a method finds; None where that takes too long."""
    try:
        with budget(operations):
            return method(cell)
    except BudgetExceeded:
        return None


def _by_elimination(cell: System) -> Landing:
    pieces, endings = accelerate_groups(cell)
    landing = Landing(cell)
    for ending in eliminate(cell, pieces, endings):
        landing.add(ending)
    return landing
