"""The largest inductive subset of candidate invariants, whatever decides what a step keeps.

Flanagan and Leino, Houdini, an annotation assistant for ESC/Java (FME 2001): what some step may destroy is taken out,
until nothing is. The result does not depend on the order, as far as the questions are decided.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from loopless import terms as t
from loopless.logic.steps import Locations, PlaceStep

Kept = Mapping[str, Collection[t.Condition]]
"""By location, the candidates that are left, in their order."""
Lost = Callable[[Kept], Iterable[t.Condition]]
"""The candidates at a step's target that need not hold behind it, where those that are left hold at its source."""


def largest_inductive_subset(
    steps: Sequence[PlaceStep], candidates: Locations, asking: Callable[[PlaceStep, Kept], Lost]
) -> dict[str, tuple[t.Condition, ...]]:
    """By location, the largest subset of its ``candidates`` that every step to it keeps, given those of its source.

    Nothing is asked of entries: a location that is entered from elsewhere must have candidates that hold there.
    ``asking``: how the questions about one step are asked, given all candidates.
    """
    kept = {location: dict.fromkeys(conditions) for location, conditions in candidates.items()}
    asked = [(step, asking(step, kept)) for step in steps if kept.get(step.target)]
    waiting = deque(range(len(asked)))
    while waiting:
        number = waiting.popleft()
        step, lost_by = asked[number]
        lost = tuple(lost_by(kept))
        for condition in lost:
            del kept[step.target][condition]
        if lost:
            again = (one for one, (other, _) in enumerate(asked) if other.source == step.target or one == number)
            waiting += [one for one in again if one not in waiting]
    return {location: tuple(conditions) for location, conditions in kept.items()}
