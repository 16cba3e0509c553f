"""Loops by parts: the values of invariants are divided into cells, and each cell is answered by the first method that
leaves nothing of it open.

A loop with several paths has no closed form as a whole; its parts, where nothing can wrap around or be undefined, where
an oscillation has one sign, often have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from loopless.limits.summary import (
    ALL_PARTS_OPERATIONS,
    MAX_CASES,
    OPEN_PARTS_OPERATIONS,
    PART_SHARES,
    PARTS_PREPARING_OPERATIONS,
)
from loopless.logic import budget
from loopless.paths.model import LoopPaths
from loopless.portfolio import Method, NoAnswer, Tried, answered
from loopless.records import dataclass
from loopless.refusals import Reason, Refused
from loopless.summary.case_builder import CaseBuilder, Cases
from loopless.summary.model import LoopSummary
from loopless.summary.transitions.elimination import ExitSegment
from loopless.summary.transitions.partition import cells
from loopless.summary.transitions.system import ControlSystem, build_system, place_of
from loopless.summary.transitions.transformer import GuardedTransition, NoIteration


@dataclass(frozen=True, slots=True)
class PartQuestion:
    """The question for one part of a loop: the cases of ``system``, with no more than ``most`` cases and regions.

    ``smaller`` answers the same for a part of the part; None in such a part, which is not divided again.
    """

    system: ControlSystem
    most: int
    smaller: Callable[[ControlSystem], PartAnswer] | None = None


@dataclass(frozen=True, slots=True)
class PartAnswer:
    """The cases of a part, and the methods that gave them, each once."""

    cases: CaseBuilder
    methods: tuple[str, ...]


def summarize_parts(paths: LoopPaths, methods: Sequence[Method[PartQuestion, CaseBuilder]]) -> LoopSummary:
    """The summary of a loop without inputs, each part by the first of ``methods`` that leaves nothing open.

    Raises :class:`NoAnswer`, :class:`loopless.logic.BudgetExceeded`, :class:`loopless.terms.TermTooLarge`.
    """
    with budget(PARTS_PREPARING_OPERATIONS):
        system = build_system(paths)
        parts = cells(system)
    found = Cases(place_of(paths))
    names: dict[str, None] = {}
    left, share = MAX_CASES, ALL_PARTS_OPERATIONS // len(parts)
    for part in parts:
        answer = _answered(part, methods, share, left)
        left -= answer.cases.size
        found.include(answer.cases)
        names |= dict.fromkeys(answer.methods)
        if answer.cases.residual:
            share = min(share, OPEN_PARTS_OPERATIONS // len(parts))
    return found.summary(paths, ", ".join(names))


def _answered(
    system: ControlSystem,
    methods: Sequence[Method[PartQuestion, CaseBuilder]],
    operations: int,
    most: int,
    *,
    further: bool = True,
) -> PartAnswer:
    """The cases of a part: by the first method that leaves nothing open, else by the first that says something.

    What has more than ``most`` cases and regions says nothing.
    """

    def smaller(part: ControlSystem) -> PartAnswer:
        return _answered(part, methods, operations, most, further=False)

    with budget(PART_SHARES * operations) as given:
        question = PartQuestion(system, most, smaller if further else None)
        place = place_of(system.paths)
        tried = answered(
            [_limited(method, place) for method in methods],
            question,
            place,
            complete=lambda cases: not cases.residual,
            operations=max(1, min(operations, given)),
        )
    if tried.answer is not None:
        return PartAnswer(tried.answer, tried.answer.methods or (tried.method,))
    why = next((refused for refused in tried.refused if refused.reason is Reason.BUDGET), None)
    why = why or Refused(Reason.MULTI_PATH, place, "no method says how often its paths repeat")
    builder = CaseBuilder(system)
    builder.add(ExitSegment(GuardedTransition(system.universe, {}, NoIteration()), "stuck", why=why))
    return PartAnswer(builder, ())


def _limited(method: Method[PartQuestion, CaseBuilder], place: str) -> Method[PartQuestion, CaseBuilder]:
    """The method without answers of more cases than are asked for."""

    def run(part: PartQuestion, tried: Tried[CaseBuilder]) -> CaseBuilder:
        found = method.run(part, tried)
        if found.size > part.most:
            raise NoAnswer(Refused(Reason.BUDGET, place, f"{found.size} cases are more than {part.most}"))
        return found

    return replace(method, run=run)
