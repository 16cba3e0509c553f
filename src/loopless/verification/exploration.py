"""Paths of a system without cycles, from the beginning, shortest first, each by one question to the logic.

Where the summaries of loops are steps (:mod:`loopless.transition.star`) paths are few and short, and no
product of cases is ever formed but of those that follow one another on a path.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field, replace

from loopless import clock
from loopless import terms as t
from loopless.limits.verification import MAX_EXPLORED_PATHS, MAX_EXPLORED_STEPS, PATH_CHECK_MS, UNCOUNTED_FACTOR
from loopless.logic.contents import Fulfilled, fulfilled, with_facts
from loopless.logic.smt import SmtOutcome, satisfiable
from loopless.logic.solver import SmtAnswer
from loopless.logic.steps import outgoing
from loopless.records import dataclass
from loopless.summary.rewrite.univariate import as_intervals
from loopless.transition.algebra import compose, identity, numbered
from loopless.transition.relation import START, NothingFollowsError, Step, TransitionSystem


@dataclass(frozen=True, slots=True)
class SystemPath:
    """The steps ``taken`` from the beginning, and the ``whole`` of them as one step. What a step takes from outside has
    the name of the step's number in it.
    """

    taken: tuple[Step, ...]
    whole: Step

    @property
    def condition(self) -> t.Condition:
        """What must hold of what the steps take from outside."""
        return self.whole.condition

    @property
    def values(self) -> Mapping[t.Var, t.Term]:
        """What variables hold behind the last step."""
        return self.whole.update

    @property
    def location(self) -> str:
        """Where it leads."""
        return self.whole.target


@dataclass(frozen=True, slots=True)
class Explored:
    """What paths lead to: a ``path`` into the goals, with ``values`` of what it takes from outside, and ``elements`` of
    objects by their names, places in bytes and types; else ``complete`` says that there is none, and without it nothing
    is known. ``fulfilled``: what memory and streams hold, where the path speaks of aggregates; that is a proposal.
    """

    path: SystemPath | None = None
    values: Mapping[t.Var, int] = field(default_factory=dict)
    elements: Mapping[tuple[str, int, t.IntType], int] = field(default_factory=dict)
    complete: bool = False
    fulfilled: Fulfilled | None = None


def explored(
    system: TransitionSystem,
    goals: Collection[str],
    seconds: float,
    *,
    begin: Mapping[t.Var, t.Term] | None = None,
    proposals: bool = False,
) -> Explored:
    """The shortest path into one of ``goals`` that the logic finds in so many seconds of counted work. ``begin``: what
    variables hold at the beginning; ``proposals``: paths that speak of aggregates may be told, with contents that were
    not tried.

    Some run takes a path of exact and under steps only. That there is no path says nothing where a step is an under
    step. Products take longer than is counted, so twice as many seconds of processor time end the search, too.
    """
    until, fence = clock.counted() + seconds, clock.now() + UNCOUNTED_FACTOR * seconds
    onward = outgoing(system.transitions)
    complete, number = all(step.kind.proves for step in system.transitions), 0
    front = [SystemPath((), replace(identity(START), update=begin or {}))]
    for _ in range(MAX_EXPLORED_STEPS):
        following: list[SystemPath] = []
        for path in front:
            for step in (system.transitions[index] for index in onward.get(path.location, ())):
                if step.target not in goals and step.target not in onward:
                    continue
                number += 1
                if clock.counted() > until or clock.now() > fence or number > MAX_EXPLORED_PATHS:
                    return Explored()
                try:
                    longer = _longer(path, step)
                except (t.TermTooLarge, NothingFollowsError):
                    complete = False  # where the step leads is not known
                    continue
                outcome = satisfiable(with_facts(longer.condition), PATH_CHECK_MS)
                if outcome.answer is SmtAnswer.NO:
                    continue
                if longer.location not in goals:
                    following.append(longer)
                elif (shown := _shown(longer, outcome, proposals=proposals)) is not None:
                    return shown
                else:
                    complete = False
        front = following
        if not front:
            return Explored(complete=complete)
    return Explored()


def _shown(path: SystemPath, outcome: SmtOutcome, *, proposals: bool) -> Explored | None:
    """The path with values for which it is taken; None where none are known, or no run need take it."""
    if outcome.model is None or not path.whole.kind.refutes:
        return None
    if not any(isinstance(node, t.Aggregate) for node in t.walk(path.condition)):
        return Explored(path, outcome.model.values, outcome.model.elements)
    found = fulfilled(path.condition) if proposals else None
    return None if found is None else Explored(path, found.values, fulfilled=found)


def _longer(path: SystemPath, step: Step) -> SystemPath:
    """The path with one more step. Raises :class:`loopless.terms.TermTooLarge`."""
    whole = compose(path.whole, numbered(step, len(path.taken)))
    condition = as_intervals(t.without_exact_quotients(whole.condition))
    return SystemPath((*path.taken, step), replace(whole, condition=condition))
