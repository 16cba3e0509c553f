"""Invariants among candidates: the largest sets of conditions that all steps between places keep together.

Flanagan and Leino, Houdini, an annotation assistant for ESC/Java (FME 2001): what some step may destroy is taken out,
until nothing is. The result does not depend on the order, as far as the logic decides what it is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from loopless.logic import feasible
from loopless.paths.model import LoopPaths
from loopless.terms import FALSE, Condition, Term, TermTooLarge, Var, conjunction, negate, substitute


@dataclass(frozen=True, slots=True)
class Step:
    """Where ``condition`` holds at the place ``source``, ``update`` leads to the place ``target``."""

    source: str
    target: str
    condition: Condition
    update: Mapping[Var, Term]


class TooManyQuestions(Exception):
    """Nothing is known, since the search took more questions than it may."""


def inductive_subsets(
    candidates: Mapping[str, Iterable[Condition]],
    steps: Iterable[Step],
    *,
    solver: bool = True,
    most: int | None = None,
) -> dict[str, tuple[Condition, ...]]:
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
            before = conjunction((*found.get(step.source, ()), step.condition))
            if not found.get(step.target) or before is FALSE or not feasible(before, solver=solver):
                continue  # a step that is never taken keeps everything
            stays: list[Condition] = []
            for condition in found[step.target]:
                asked += 1
                if most is not None and asked > most:
                    raise TooManyQuestions
                if _keeps(step, before, condition, solver=solver):
                    stays.append(condition)
            changed = changed or len(stays) < len(found[step.target])
            found[step.target] = tuple(stays)
    return found


def _keeps(step: Step, before: Condition, condition: Condition, *, solver: bool) -> bool:
    try:
        after = substitute(condition, dict(step.update))
    except TermTooLarge:
        return False
    if after is condition and step.source == step.target:
        return True
    return not feasible(conjunction((before, negate(after))), solver=solver)


def inductive(
    paths: LoopPaths, candidates: Iterable[Condition], *, given: Iterable[Condition] = ()
) -> tuple[Condition, ...]:
    """The largest subset of ``candidates`` that all iterations of a loop keep, if ``given`` holds in each of them; of a
    loop whose paths are not exact, those about what it does not change.
    """
    if not paths.exact:
        return tuple(candidate for candidate in candidates if candidate.variables <= frozenset(paths.invariants))
    always = conjunction(given)
    steps = (Step("", "", conjunction((always, path.condition)), path.update) for path in paths.iterative)
    return inductive_subsets({"": candidates}, steps)[""]
