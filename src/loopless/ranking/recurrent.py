"""Recurrent sets: states from which steps lead back into the set, so that a run that comes into it need never end.

A closed recurrent set (Gupta et al., Proving non-termination, POPL 2008; Chen et al., Proving nontermination via
safety, TACAS 2014) gives in each of its states a step that is taken, and no step leads out of it. The simplest ones
are those of steps that change nothing that decides how a run goes on. Callers say which sets there are to try, prove
what is asked of them, and show that runs come into them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from loopless import terms as t
from loopless.logic.induction import inductive_subset
from loopless.logic.steps import Locations, PlaceStep
from loopless.records import dataclass
from loopless.terms.relation import Guarded, Update, behind, computed_from

Excludes = Callable[[Sequence[t.Condition], t.Condition], bool]
"""Whether a condition surely holds in no state in which the given ones do."""


@dataclass(frozen=True, slots=True)
class Rounds:
    """The ``staying`` steps between places, by which runs may go round for ever, and those ``leaving``. ``facts``: what
    holds at places whichever step is taken. ``covered``: in every state some step of both is taken. ``excludes``:
    proves.
    """

    staying: Sequence[PlaceStep]
    excludes: Excludes
    leaving: Sequence[PlaceStep] = ()
    facts: Mapping[str, Sequence[t.Condition]] | None = None
    covered: bool = False

    def is_recurrent(self, states: Locations) -> bool:
        """Whether the states are a closed recurrent set."""
        return not self.may_leave(states) and (self.covered or self.goes_on(states)) and self.leads_back(states)

    def largest_within(self, candidates: Locations, deadline: float) -> dict[str, tuple[t.Condition, ...]] | None:
        """The candidates that the staying steps keep, all of them together, if some of these is taken in each state in
        which these hold, and else None. At the ``deadline`` what is not proved is dropped.
        """
        possible = [step for step in self.staying if step.condition is not t.FALSE]
        kept = inductive_subset(possible, candidates, deadline)
        return kept if self.goes_on(kept) else None

    def may_leave(self, states: Locations) -> bool:
        """Whether a step may leave that begins in one of the states."""
        return not all(self.excludes(states[step.source], step.condition) for step in self.leaving)

    def goes_on(self, states: Locations) -> bool:
        """Whether in each of the states some step is taken that stays."""
        for place, given in states.items():
            taken = t.disjunction(step.condition for step in self.staying if step.source == place)
            facts = self.facts.get(place, ()) if self.facts is not None else ()
            if not self.excludes(given, t.conjunction((~taken, *facts))):
                return False
        return True

    def leads_back(self, states: Locations) -> bool:
        """Whether all steps that stay lead from the states to the states."""
        for step in self.staying:
            try:
                outside = ~behind(step, t.conjunction(states[step.target]))
            except t.TermTooLarge:
                return False
            if not self.excludes(states[step.source], step.condition & outside):
                return False
        return True


def first_visit(states: Locations, visits: Sequence[tuple[str, Mapping[t.Var, int]]]) -> int | None:
    """The number of the first visit of a run, a place and values there, that is in one of the states; None for none."""
    for number, (place, values) in enumerate(visits):
        if place in states and all(t.holds(condition, values) for condition in states[place]):
            return number
    return None


def deciding_variables(every: Iterable[Guarded], going_on: Iterable[Guarded]) -> frozenset[t.Var]:
    """The variables on which it depends which of these steps is taken, now and later, where some of them go on."""
    conditions = frozenset[t.Var]().union(*(step.condition.variables for step in every))
    return computed_from(conditions, going_on)


def unchanged(update: Update, deciding: frozenset[t.Var]) -> dict[t.Var, t.Condition]:
    """Of the deciding variables that are updated, that each becomes what it was."""
    return {var: _kept(var, update[var]) for var in update if var in deciding}


def _kept(var: t.Var, after: t.Term) -> t.Condition:
    """That a variable becomes what it was; of one that wraps around, that it moves by a multiple of all its values."""
    if isinstance(after, t.Wrap) and after.type == var.type:
        return t.wrap(after.arg - var, after.type).eq(0)
    return after.eq(var)
