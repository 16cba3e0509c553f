"""Invariants among candidates: the largest sets of conditions that all steps between places keep together.

Flanagan and Leino, Houdini, an annotation assistant for ESC/Java (FME 2001): what some step may destroy is taken out,
until nothing is. The result does not depend on the order, as far as the logic decides what it is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from loopless import terms as t
from loopless.logic import feasible
from loopless.paths.model import LoopPaths
from loopless.records import dataclass


@dataclass(frozen=True, slots=True)
class PlaceStep:
    """Where ``condition`` holds at the place ``source``, ``update`` leads to the place ``target``."""

    source: str
    target: str
    condition: t.Condition
    update: Mapping[t.Var, t.Term]


class TooManyQuestions(Exception):
    """Nothing is known, since the search took more questions than it may."""


def inductive_subsets(
    candidates: Mapping[str, Iterable[t.Condition]],
    steps: Iterable[PlaceStep],
    *,
    solver: bool = True,
    most: int | None = None,
) -> dict[str, tuple[t.Condition, ...]]:
    """By place, the largest subset of its ``candidates`` that every step to it keeps, given those of its source.

    Nothing is asked of entries: a place that is entered from elsewhere must have candidates that hold there.
    ``solver``: whether Z3 may be asked what is beyond isl. Raises :class:`TooManyQuestions` after ``most`` questions,
    :class:`loopless.logic.BudgetExceeded`.
    """
    found = {place: tuple(dict.fromkeys(conditions)) for place, conditions in candidates.items()}
    known, asked = tuple(steps), 0
    changed = True
    while changed:
        changed = False
        for step in known:
            before = t.conjunction((*found.get(step.source, ()), step.condition))
            if not found.get(step.target) or before is t.FALSE or not feasible(before, solver=solver):
                continue  # a step that is never taken keeps everything
            stays: list[t.Condition] = []
            for condition in found[step.target]:
                asked += 1
                if most is not None and asked > most:
                    raise TooManyQuestions
                if _keeps(step, before, condition, solver=solver):
                    stays.append(condition)
            changed = changed or len(stays) < len(found[step.target])
            found[step.target] = tuple(stays)
    return found


def _keeps(step: PlaceStep, before: t.Condition, condition: t.Condition, *, solver: bool) -> bool:
    try:
        after = t.substitute(condition, dict(step.update))
    except t.TermTooLarge:
        return False
    if after is condition and step.source == step.target:
        return True
    return not feasible(before & ~after, solver=solver)


def inductive(
    paths: LoopPaths, candidates: Iterable[t.Condition], *, given: Iterable[t.Condition] = ()
) -> tuple[t.Condition, ...]:
    """The largest subset of ``candidates`` that all iterations of a loop keep, if ``given`` holds in each of them; of a
    loop whose paths are not exact, those about what it does not change.
    """
    if not paths.exact:
        return tuple(candidate for candidate in candidates if candidate.variables <= frozenset(paths.invariants))
    always = t.conjunction(given)
    steps = (PlaceStep("", "", always & path.condition, path.update) for path in paths.iterative)
    return inductive_subsets({"": candidates}, steps)[""]
