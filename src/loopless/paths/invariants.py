"""The largest inductive subsets of candidate invariants, by the questions of :func:`loopless.logic.feasible`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from loopless import terms as t
from loopless.logic import feasible
from loopless.logic.houdini import Kept, Lost, largest_inductive_subset
from loopless.logic.steps import PlaceStep
from loopless.paths.model import LoopPaths
from loopless.terms.relation import behind


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
    asked = 0

    def asking(step: PlaceStep, _: Kept) -> Lost:
        def lost(kept: Kept) -> Iterator[t.Condition]:
            nonlocal asked
            before = t.conjunction((*kept.get(step.source, ()), step.condition))
            if not kept[step.target] or before is t.FALSE or not feasible(before, solver=solver):
                return  # a step that is never taken keeps everything
            for condition in kept[step.target]:
                asked += 1
                if most is not None and asked > most:
                    raise TooManyQuestions
                if not _keeps(step, before, condition, solver=solver):
                    yield condition

        return lost

    return largest_inductive_subset(tuple(steps), {place: tuple(all_) for place, all_ in candidates.items()}, asking)


def _keeps(step: PlaceStep, before: t.Condition, condition: t.Condition, *, solver: bool) -> bool:
    try:
        after = behind(step, condition)
    except t.TermTooLarge:
        return False
    if after is condition and step.source == step.target:
        return True
    return not feasible(before & ~after, solver=solver)


def inductive(
    paths: LoopPaths, candidates: Iterable[t.Condition], *, given: Iterable[t.Condition] = ()
) -> tuple[t.Condition, ...]:
    """The largest subset of ``candidates`` that all iterations of a loop keep, if ``given`` holds in each of them; of a
    loop whose paths are not exact, those about what it does not change. An iteration that no path describes
    (:class:`.Exit`) may change the state in any way.
    """
    if not paths.exact:
        return tuple(candidate for candidate in candidates if candidate.variables <= frozenset(paths.invariants))
    always = t.conjunction(given)
    anything = {var: t.Var(f"|any {var.name}", var.type) for var in paths.state}
    steps = [PlaceStep("", "", always & path.condition, path.update) for path in paths.iterative]
    steps += [
        PlaceStep("", "", always & path.condition, anything)
        for path in paths.exits
        if path.exit is not None and path.exit.kind in _BACK_UNSEEN
    ]
    return inductive_subsets({"": candidates}, steps)[""]


_BACK_UNSEEN: Final = ("unknown", "unsupported")
"""The kinds of exits behind which a run may come to the header again."""
