"""Paths of a system without cycles, from the beginning, shortest first, each by one question to the logic.

Where the summaries of loops are steps (:mod:`loopless.verification.acceleration`) paths are few and short, and no
product of cases is ever formed but of those that follow one another on a path.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field

from loopless import clock
from loopless import terms as t
from loopless.limits.verification import MAX_EXPLORED_PATHS, MAX_EXPLORED_STEPS, PATH_CHECK_MS
from loopless.logic.smt import SmtAnswer, satisfiable
from loopless.records import dataclass
from loopless.summary.rewrite.univariate import as_intervals
from loopless.terms.relation import compose
from loopless.verification.transitions import START, CutpointTransition, TransitionSystem


@dataclass(frozen=True, slots=True)
class SystemPath:
    """The steps ``taken`` from the beginning, what must hold of what they take from outside, and what variables hold
    then. What a step takes from outside has the name of the step's number in it.
    """

    taken: tuple[CutpointTransition, ...]
    condition: t.Condition
    update: Mapping[t.Var, t.Term]

    @property
    def location(self) -> str:
        """Where it leads."""
        return self.taken[-1].target if self.taken else START


@dataclass(frozen=True, slots=True)
class Explored:
    """What paths lead to: a ``path`` into the goals, with ``values`` of what it takes from outside, and ``elements`` of
    objects by their names, places in bytes and types; else ``complete`` says that there is none, and without it nothing
    is known.
    """

    path: SystemPath | None = None
    values: Mapping[t.Var, int] = field(default_factory=dict)
    elements: Mapping[tuple[str, int, t.IntType], int] = field(default_factory=dict)
    complete: bool = False


def explored(system: TransitionSystem, goals: Collection[str], seconds: float) -> Explored:
    """The shortest path into one of ``goals`` that the logic finds in so many seconds of counted work.

    Products take longer than is counted, so twice as many seconds of processor time end the search, too.
    """
    until, fence = clock.counted() + seconds, clock.now() + 2 * seconds
    onward: dict[str, list[CutpointTransition]] = {}
    for transition in system.transitions:
        onward.setdefault(transition.source, []).append(transition)
    complete, number = True, 0
    front = [SystemPath((), t.TRUE, {})]
    for _ in range(MAX_EXPLORED_STEPS):
        following: list[SystemPath] = []
        for path in front:
            for step in onward.get(path.location, ()):
                if step.target not in goals and step.target not in onward:
                    continue
                number += 1
                if clock.counted() > until or clock.now() > fence or number > MAX_EXPLORED_PATHS:
                    return Explored()
                try:
                    longer = _longer(path, step)
                except t.TermTooLarge:
                    complete = False  # where the step leads is not known
                    continue
                outcome = satisfiable(longer.condition, PATH_CHECK_MS)
                if outcome.answer is SmtAnswer.NO:
                    continue
                if longer.location not in goals:
                    following.append(longer)
                elif outcome.model is not None:
                    return Explored(longer, outcome.model.values, outcome.model.elements)
                else:
                    complete = False
        front = following
        if not front:
            return Explored(complete=complete)
    return Explored()


def named_at(var: t.Var, number: int) -> t.Var:
    """What the step of this number on a path takes from outside as ``var``."""
    return t.Var(f"{var.name}@{number}", var.type)


def _longer(path: SystemPath, step: CutpointTransition) -> SystemPath:
    """The path with one more step. Raises :class:`loopless.terms.TermTooLarge`."""
    number = len(path.taken)
    names = {one.var: named_at(one.var, number) for one in step.inputs}
    whole = compose(path, step, names)
    condition = as_intervals(t.without_exact_quotients(whole.condition))
    return SystemPath((*path.taken, step), condition, whole.update)
