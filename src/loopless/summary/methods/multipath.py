"""Loops with several iterative paths: closed forms of oscillation where there are any, then elimination of paths."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from loopless.logic import BudgetExceeded, budget
from loopless.paths.model import LoopPaths
from loopless.refusals import Reason, Refused
from loopless.summary.case_builder import Landing
from loopless.summary.methods.cyclic_modes import landing_by_tables
from loopless.summary.methods.elimination import Ending, eliminate
from loopless.summary.methods.oscillation import accelerate_groups
from loopless.summary.methods.partitioning import by_signs, without_diverging, without_idle
from loopless.summary.methods.symbolic_oscillation import accelerate_symbolic
from loopless.summary.model import Summary
from loopless.summary.rewrite.auxiliary import ghosts_in
from loopless.summary.transitions.guarded import by_one_way_borders, divided
from loopless.summary.transitions.oscillating_groups import find_group
from loopless.summary.transitions.partition import cells
from loopless.summary.transitions.system import NotSummarized, System, build_system, where
from loopless.summary.transitions.transformer import Nothing, Piece
from loopless.terms import TermTooLarge, disjunction

PREPARING = 2_000_000
"""isl's operations allowed for reading the paths and dividing the values of invariants."""

WHOLE = 8_000_000
"""And for all of these parts together, each of which gets its share."""

REST = 3_000_000
"""And for those that come after one of which something is left open: the summary is not complete any more then."""

TOGETHER = 2
"""All methods together get so many times the share of one."""

MAX_CASES = 400
"""A summary does not get more cases and regions than this."""


def summarize_several(paths: LoopPaths) -> Summary:
    """The summary of a loop without inputs. Raises :class:`NotSummarized`."""
    try:
        with budget(PREPARING):
            system = build_system(paths)
            parts = cells(system)
        landings: list[Landing] = []
        left, share = MAX_CASES, WHOLE // len(parts)
        for cell in parts:
            landing = _landing(cell, share, left)
            left -= landing.size
            landings.append(landing)
            if landing.residual:
                share = min(share, REST // len(parts))
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


def _landing(cell: System, operations: int, most: int, *, further: bool = True) -> Landing:
    """The cases of a part: by the first method that leaves nothing open, else by the first that says something.

    What has more than ``most`` cases and regions says nothing.
    """
    first: Landing | None = None
    with budget(TOGETHER * operations) as given:
        for method in _methods(cell, max(1, min(operations, given)), most, further=further):
            found = _within(operations, cell, partial(method, first))
            if found is not None and found.size > most:
                found = None
            if found is not None and not found.residual:
                return found
            first = first or found
    return first or _given_up(cell)


Method = Callable[[Landing | None, System], Landing | None]
"""Makes cases of a system, given what the methods before left open."""


def _methods(cell: System, operations: int, most: int, *, further: bool) -> Iterator[Method]:
    yield lambda _, cell: _eliminated(cell, *_accelerated(cell))
    yield _without_cut
    if cell.ghosts:
        return
    yield _by_divided_domains
    yield lambda _, cell: landing_by_tables(cell)
    yield _by_signs
    yield _by_known_turns
    if further:
        yield partial(_in_smaller_parts, operations, most)


def _accelerated(cell: System) -> tuple[list[Piece], list[Ending]]:
    """The pieces of the system, with those that oscillate as their longest runs."""
    return accelerate_groups(cell) if not cell.ghosts else (cell.pieces, [])


def _reasons(open: Landing | None) -> set[Reason]:
    return {part.why.reason for part in open.residual} if open is not None else set()


def _by_signs(open: Landing | None, cell: System) -> Landing | None:
    """By elimination of phases in which sums only rise or fall, where their overflow is not known."""
    divided = by_signs(cell) if Reason.OVERFLOW_UNDECIDED in _reasons(open) else None
    return _wholly_eliminated(divided, *accelerate_groups(divided)) if divided is not None else None


def _without_cut(open: Landing | None, cell: System) -> Landing | None:
    """By elimination with short runs followed round by round, where longest runs cut left something open."""
    if open is None or not open.cut:
        return None
    pieces, endings = _accelerated(cell)
    landing = Landing(cell)
    for ending in eliminate(cell, pieces, endings, cutting=False):
        landing.add(ending)
    return landing


def _by_divided_domains(open: Landing | None, cell: System) -> Landing | None:
    """By elimination after the domains were divided by borders that no piece crosses in both directions, and by
    remainders; those on which the runs of a piece are not known are divided still more.
    """
    if open is not None and not _reasons(open) & {Reason.BUDGET, Reason.NO_CLOSED_FORM, Reason.NON_AFFINE_CONDITION}:
        return None
    pieces = [part for piece in by_one_way_borders(cell.pieces) for part in divided(piece) or [piece]]
    return _wholly_eliminated(cell, pieces, [], dividing=True)


def _by_known_turns(open: Landing | None, cell: System) -> Landing | None:
    """By elimination alone where what paths come to while they take turns is not known."""
    if _reasons(open) <= {Reason.BUDGET} or find_group(cell.pieces) is None:
        return None
    return _wholly_eliminated(cell, *accelerate_groups(cell, known_only=True))


def _in_smaller_parts(operations: int, most: int, _: Landing | None, cell: System) -> Landing | None:
    """By the methods above, without what makes the system large."""
    smaller, never = without_diverging(cell)
    smaller = without_idle(smaller)
    if smaller is cell:
        return None
    landing = _landing(smaller, operations, most, further=False)
    if never.is_empty():
        return landing
    if cell.totals or any(piece.effect.sides() for piece in cell.pieces):
        landing.include(_landing(cell.within(never), operations, most, further=False))
    else:
        nothing = Piece(never, {}, Nothing())
        others = Landing(cell)
        others.add(Ending(nothing, "forever", again=nothing))
        landing.include(others)
    return landing


def _given_up(cell: System) -> Landing:
    landing = Landing(cell)
    landing.add(Ending(Piece(cell.universe, {}, Nothing()), "stuck", why=_too_costly(cell.paths)))
    return landing


def _within(operations: int, cell: System, method: Callable[[System], Landing | None]) -> Landing | None:
    """What a method finds; None where that takes too long."""
    try:
        with budget(operations):
            return method(cell)
    except BudgetExceeded:
        return None


def _eliminated(cell: System, pieces: list[Piece], endings: list[Ending]) -> Landing:
    pieces, more = accelerate_symbolic(cell, pieces) if not cell.ghosts else (pieces, [])
    landing = Landing(cell)
    for ending in eliminate(cell, pieces, [*endings, *more]):
        landing.add(ending)
        landing.cut |= bool(ghosts_in(ending.piece.where.variables))
    return landing


def _wholly_eliminated(
    cell: System, pieces: list[Piece], endings: list[Ending], *, dividing: bool = False
) -> Landing | None:
    """The cases of all values; None as soon as some are left open."""
    landing = Landing(cell)
    found = eliminate(cell, pieces, endings, dividing=dividing)
    if any(ending.kind == "stuck" for ending in found):
        return None
    for ending in found:
        landing.add(ending)
        if landing.residual:
            return None
    return landing
