"""Elimination of paths by maximal runs, for loops with several iterative paths; with oscillations in closed form.

The methods of this file differ in what they do before :func:`loopless.summary.transitions.elimination.eliminate`: which
transitions are put together as oscillations, where domains are divided, and whether runs that the logic cannot express
get auxiliary variables or are followed round by round.
"""

from __future__ import annotations

from collections.abc import Sequence

from loopless.portfolio import Method, NoAnswer, Tried
from loopless.refusals import Reason
from loopless.summary.case_builder import CaseBuilder
from loopless.summary.methods.oscillation import accelerate_groups
from loopless.summary.methods.symbolic_oscillation import accelerate_symbolic
from loopless.summary.parts import PartQuestion
from loopless.summary.rewrite.auxiliary import auxiliaries_in
from loopless.summary.transitions.elimination import ExitSegment, eliminate
from loopless.summary.transitions.guarded import by_one_way_borders, divided
from loopless.summary.transitions.oscillating_groups import find_group
from loopless.summary.transitions.system import ControlSystem
from loopless.summary.transitions.transformer import GuardedTransition


def reasons(tried: Tried[CaseBuilder]) -> set[Reason]:
    """Why something is open in the best answer so far."""
    return {part.why.reason for part in tried.answer.residual} if tried.answer is not None else set()


def wholly_eliminated(
    system: ControlSystem, transitions: list[GuardedTransition], segments: list[ExitSegment], *, dividing: bool = False
) -> CaseBuilder:
    """The cases of all values. Raises :class:`NoAnswer` as soon as some are left open."""
    builder = CaseBuilder(system)
    found = eliminate(system, transitions, segments, dividing=dividing)
    if any(segment.kind == "stuck" for segment in found):
        raise NoAnswer
    for segment in found:
        builder.add(segment)
        if builder.residual:
            raise NoAnswer
    return builder


def _eliminated(
    system: ControlSystem, transitions: Sequence[GuardedTransition], segments: Sequence[ExitSegment]
) -> CaseBuilder:
    builder = CaseBuilder(system)
    for segment in eliminate(system, transitions, segments):
        builder.add(segment)
        builder.nonlinear |= bool(auxiliaries_in(segment.transition.where.variables))
    return builder


def _by_oscillation(part: PartQuestion, _: Tried[CaseBuilder]) -> CaseBuilder:
    system = part.system
    transitions, segments = accelerate_groups(system)
    found, more = accelerate_symbolic(system, transitions)
    system.oscillates = bool(segments or more) or {*map(id, found)} != {*map(id, system.transitions)}
    if not system.oscillates:
        raise NoAnswer
    return _eliminated(system, found, [*segments, *more])


def _by_elimination(part: PartQuestion, _: Tried[CaseBuilder]) -> CaseBuilder:
    return _eliminated(part.system, part.system.transitions, ())


def _round_by_round(part: PartQuestion, _: Tried[CaseBuilder]) -> CaseBuilder:
    system = part.system
    transitions, segments = accelerate_groups(system) if not system.auxiliaries else (system.transitions, [])
    builder = CaseBuilder(system)
    for segment in eliminate(system, transitions, segments, cutting=False):
        builder.add(segment)
    return builder


def _on_divided_domains(part: PartQuestion, _: Tried[CaseBuilder]) -> CaseBuilder:
    borders = by_one_way_borders(part.system.transitions)
    transitions = [smaller for transition in borders for smaller in divided(transition) or [transition]]
    return wholly_eliminated(part.system, transitions, [], dividing=True)


def _may_be_divided(part: PartQuestion, tried: Tried[CaseBuilder]) -> bool:
    asked = {Reason.BUDGET, Reason.NO_CLOSED_FORM, Reason.NON_AFFINE_CONDITION}
    return not part.system.auxiliaries and (tried.answer is None or bool(reasons(tried) & asked))


def _by_known_oscillation(part: PartQuestion, _: Tried[CaseBuilder]) -> CaseBuilder:
    return wholly_eliminated(part.system, *accelerate_groups(part.system, known_only=True))


def _oscillates_unknown(part: PartQuestion, tried: Tried[CaseBuilder]) -> bool:
    asked = not part.system.auxiliaries and not reasons(tried) <= {Reason.BUDGET}
    return asked and find_group(part.system.transitions) is not None


OSCILLATION = Method(
    "oscillation",
    "LoopSCC (section 4.3.2), made symbolic; elimination for the paths around it",
    _by_oscillation,
    lambda part, _: not part.system.auxiliaries,
)
"""Paths that take turns, with constant or with unknown steps, are one transition each; see
:mod:`loopless.summary.methods.oscillation` and :mod:`loopless.summary.methods.symbolic_oscillation`.
"""

ELIMINATION = Method(
    "elimination",
    "ours: state elimination as for automata (Brzozowski and McCluskey 1963), transitions by their maximal runs",
    _by_elimination,
    lambda part, _: not part.system.oscillates,
)

ROUND_BY_ROUND = Method(
    "elimination, short runs round by round",
    "ours",
    _round_by_round,
    lambda _, tried: tried.answer is not None and tried.answer.nonlinear,
)
"""Where nonlinear acceleration left something open."""

DIVIDED_DOMAINS = Method("elimination on divided domains", "ours", _on_divided_domains, _may_be_divided)
"""After the domains were divided by borders that no transition crosses in both directions, and by remainders; those on
which the runs of a transition are not known are divided still more.
"""

KNOWN_OSCILLATION = Method("elimination, only known oscillations", "ours", _by_known_oscillation, _oscillates_unknown)
"""Where what paths come to while they take turns is not known."""
