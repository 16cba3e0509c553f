"""Steps of a program as linear inequalities have them, for invariants and components of ranks by Farkas' lemma.

A step under what is known at its source becomes several without alternatives in its condition and update. Of what is
not linear they know linear facts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from loopless import terms as t
from loopless.bounds.iteration.linearize import Linearizer
from loopless.bounds.ranking.transition_system import alternatives_of
from loopless.limits.bounds import MAX_PATH_TRANSITIONS
from loopless.ranking.templates import LinearStep
from loopless.transition.relation import Step


def ways(step: Step, known: Sequence[t.Condition]) -> Iterator[Step]:
    """The step as several without alternatives, where ``known`` holds at its source."""
    parts = alternatives_of(t.conjunction(known), step.condition, step.update, MAX_PATH_TRANSITIONS)
    return (replace(step, condition=extra & condition, update=update) for extra, condition, update in parts)


class LinearSteps:
    """The linear steps of one question, each made once."""

    def __init__(self) -> None:
        self._made: dict[tuple[int, tuple[t.Condition, ...]], tuple[Step, tuple[LinearStep, ...]]] = {}
        """With the step itself, so that no other one has its identity."""

    def of(self, step: Step, known: Sequence[t.Condition]) -> tuple[LinearStep, ...]:
        """The ways of a step, where ``known`` holds at its source."""
        key = id(step), tuple(known)
        if key not in self._made:
            self._made[key] = step, tuple(map(linear, ways(step, known)))
        return self._made[key][1]


def linear(step: Step) -> LinearStep:
    """A step without alternatives as linear inequalities have it."""
    changed = step.condition.variables.union(*(term.variables for term in step.update.values()))
    linearizer = Linearizer(step.condition, "", changed)
    after = linearizer.step(step.update, ranged=True)
    rows = (*linearizer.rows, *linearizer.wide)
    return LinearStep(step.source, step.target, rows, lambda term: t.substitute(term, after))
