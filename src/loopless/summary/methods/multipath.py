"""Loops with several iterative paths: closed forms of oscillation where there are any, then elimination of paths."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from loopless.logic import BudgetExceeded, budget
from loopless.paths.model import LoopPaths
from loopless.refusals import Reason, Refused
from loopless.summary.case_builder import CaseBuilder
from loopless.summary.methods.cyclic_modes import cases_by_modes
from loopless.summary.methods.elimination import ExitSegment, eliminate
from loopless.summary.methods.oscillation import accelerate_groups
from loopless.summary.methods.partitioning import by_signs, without_diverging, without_idle
from loopless.summary.methods.symbolic_oscillation import accelerate_symbolic
from loopless.summary.model import Summary
from loopless.summary.rewrite.auxiliary import auxiliaries_in
from loopless.summary.transitions.guarded import by_one_way_borders, divided
from loopless.summary.transitions.oscillating_groups import find_group
from loopless.summary.transitions.partition import cells
from loopless.summary.transitions.system import NotSummarized, System, build_system, where
from loopless.summary.transitions.transformer import GuardedTransition, Nothing
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
        builders: list[CaseBuilder] = []
        left, share = MAX_CASES, WHOLE // len(parts)
        for cell in parts:
            builder = _builder(cell, share, left)
            left -= builder.size
            builders.append(builder)
            if builder.residual:
                share = min(share, REST // len(parts))
    except BudgetExceeded:
        raise NotSummarized(_too_costly(paths)) from None
    except TermTooLarge as error:
        raise NotSummarized(Refused(Reason.BUDGET, where(paths), f"an expression grows too large: {error}")) from None
    return Summary(
        paths.loop,
        paths,
        tuple(case for builder in builders for case in builder.cases),
        disjunction(region for builder in builders for region in builder.diverges),
        tuple(undefined for builder in builders for undefined in builder.undefined),
        tuple(residual for builder in builders for residual in builder.residual),
        "elimination",
        paths.assumptions,
    )


def _too_costly(paths: LoopPaths) -> Refused:
    detail = "the logic needs more steps than its budget for this loop"
    return Refused(Reason.BUDGET, where(paths), detail)


def _builder(cell: System, operations: int, most: int, *, further: bool = True) -> CaseBuilder:
    """The cases of a part: by the first method that leaves nothing open, else by the first that says something.

    What has more than ``most`` cases and regions says nothing.
    """
    first: CaseBuilder | None = None
    with budget(TOGETHER * operations) as given:
        for method in _methods(cell, max(1, min(operations, given)), most, further=further):
            found = _within(operations, cell, partial(method, first))
            if found is not None and found.size > most:
                found = None
            if found is not None and not found.residual:
                return found
            first = first or found
    return first or _given_up(cell)


Method = Callable[[CaseBuilder | None, System], CaseBuilder | None]
"""Makes cases of a system, given what the methods before left open."""


def _methods(cell: System, operations: int, most: int, *, further: bool) -> Iterator[Method]:
    yield lambda _, cell: _eliminated(cell, *_accelerated(cell))
    yield _without_acceleration
    if cell.auxiliaries:
        return
    yield _by_divided_domains
    yield lambda _, cell: cases_by_modes(cell)
    yield _by_signs
    yield _by_known_turns
    if further:
        yield partial(_in_smaller_parts, operations, most)


def _accelerated(cell: System) -> tuple[list[GuardedTransition], list[ExitSegment]]:
    """The transitions of the system, with those that oscillate as their longest runs."""
    return accelerate_groups(cell) if not cell.auxiliaries else (cell.transitions, [])


def _reasons(open: CaseBuilder | None) -> set[Reason]:
    return {part.why.reason for part in open.residual} if open is not None else set()


def _by_signs(open: CaseBuilder | None, cell: System) -> CaseBuilder | None:
    """By elimination of phases in which sums only rise or fall, where their overflow is not known."""
    divided = by_signs(cell) if Reason.OVERFLOW_UNDECIDED in _reasons(open) else None
    return _wholly_eliminated(divided, *accelerate_groups(divided)) if divided is not None else None


def _without_acceleration(open: CaseBuilder | None, cell: System) -> CaseBuilder | None:
    """By elimination with short runs followed round by round, where longest runs cut left something open."""
    if open is None or not open.accelerated:
        return None
    transitions, segments = _accelerated(cell)
    builder = CaseBuilder(cell)
    for segment in eliminate(cell, transitions, segments, cutting=False):
        builder.add(segment)
    return builder


def _by_divided_domains(open: CaseBuilder | None, cell: System) -> CaseBuilder | None:
    """By elimination after the domains were divided by borders that no transition crosses in both directions, and by
    remainders; those on which the runs of a transition are not known are divided still more.
    """
    if open is not None and not _reasons(open) & {Reason.BUDGET, Reason.NO_CLOSED_FORM, Reason.NON_AFFINE_CONDITION}:
        return None
    transitions = [
        part for transition in by_one_way_borders(cell.transitions) for part in divided(transition) or [transition]
    ]
    return _wholly_eliminated(cell, transitions, [], dividing=True)


def _by_known_turns(open: CaseBuilder | None, cell: System) -> CaseBuilder | None:
    """By elimination alone where what paths come to while they take turns is not known."""
    if _reasons(open) <= {Reason.BUDGET} or find_group(cell.transitions) is None:
        return None
    return _wholly_eliminated(cell, *accelerate_groups(cell, known_only=True))


def _in_smaller_parts(operations: int, most: int, _: CaseBuilder | None, cell: System) -> CaseBuilder | None:
    """By the methods above, without what makes the system large."""
    smaller, never = without_diverging(cell)
    smaller = without_idle(smaller)
    if smaller is cell:
        return None
    builder = _builder(smaller, operations, most, further=False)
    if never.is_empty():
        return builder
    if cell.totals or any(transition.transformer.obligations() for transition in cell.transitions):
        builder.include(_builder(cell.within(never), operations, most, further=False))
    else:
        nothing = GuardedTransition(never, {}, Nothing())
        others = CaseBuilder(cell)
        others.add(ExitSegment(nothing, "forever", again=nothing))
        builder.include(others)
    return builder


def _given_up(cell: System) -> CaseBuilder:
    builder = CaseBuilder(cell)
    builder.add(ExitSegment(GuardedTransition(cell.universe, {}, Nothing()), "stuck", why=_too_costly(cell.paths)))
    return builder


def _within(operations: int, cell: System, method: Callable[[System], CaseBuilder | None]) -> CaseBuilder | None:
    """What a method finds; None where that takes too long."""
    try:
        with budget(operations):
            return method(cell)
    except BudgetExceeded:
        return None


def _eliminated(cell: System, transitions: list[GuardedTransition], segments: list[ExitSegment]) -> CaseBuilder:
    transitions, more = accelerate_symbolic(cell, transitions) if not cell.auxiliaries else (transitions, [])
    builder = CaseBuilder(cell)
    for segment in eliminate(cell, transitions, [*segments, *more]):
        builder.add(segment)
        builder.accelerated |= bool(auxiliaries_in(segment.transition.where.variables))
    return builder


def _wholly_eliminated(
    cell: System, transitions: list[GuardedTransition], segments: list[ExitSegment], *, dividing: bool = False
) -> CaseBuilder | None:
    """The cases of all values; None as soon as some are left open."""
    builder = CaseBuilder(cell)
    found = eliminate(cell, transitions, segments, dividing=dividing)
    if any(segment.kind == "stuck" for segment in found):
        return None
    for segment in found:
        builder.add(segment)
        if builder.residual:
            return None
    return builder
