"""Ranks over cutpoints: the lexicographic search on the steps of a system, its components proved by Z3."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from loopless import clock
from loopless import terms as t
from loopless.limits.verification import (
    BOUND_RANK_OPERATIONS,
    CACHED_SOLVERS,
    COMPONENT_CHECK_MS,
    MAX_COMPONENTS,
    MAX_PARTIAL_RANKS,
)
from loopless.logic import BudgetExceeded, budget, feasible
from loopless.logic.induction import Entailing, solver_context
from loopless.logic.operators import BIT_OPERATORS
from loopless.ranking.lexicographic import (
    Component,
    Division,
    Fall,
    Falls,
    LexicographicSearch,
    Ranks,
    alike,
    cut,
)
from loopless.terms.relation import behind
from loopless.transition.relation import Step, TransitionSystem
from loopless.verification.proofs import Invariants
from loopless.verification.rank_components import (
    AffineRanks,
    borders,
    counts_to_end,
    dividing_conditions,
    of_pairs,
    terms_that_may_fall,
)


class RankSearch:
    """The searches of one question for ranks that fall with all of ``steps``, which lead from cutpoint to cutpoint."""

    def __init__(self, system: TransitionSystem, steps: Sequence[Step]) -> None:
        self.system, self.steps = system, steps
        self.invariants: Invariants = {}
        self.affine = AffineRanks(self._known)
        self._before = functools.lru_cache(CACHED_SOLVERS)(self._asking)
        self._only: Sequence[t.Term] = ()
        self._patient = False
        self._until = 0.0

    def found(
        self, invariants: Invariants, until: float, *, patient: bool = False, only: Sequence[t.Term] = ()
    ) -> Ranks | None:
        """A rank, where the ``invariants`` hold; None where none is found ``until`` then. ``patient``: where a
        component leads nowhere others are tried in its place. ``only``: the terms that components are made of.
        """
        self.invariants, self._until, self._patient, self._only = invariants, until, patient, only
        search = LexicographicSearch[Step](
            ends=lambda step: (step.source, step.target),
            falls=self._falls,
            divisions=self._divisions,
            possible=self._possible,
            most=MAX_COMPONENTS,
            patient=patient,
        )
        return search.ranks(self.system.cutpoints, self.steps)

    # -- components ---------------------------------------------------------------------------------------------------

    def _falls(self, labels: Sequence[str], steps: Sequence[Step]) -> list[Fall[Step]]:
        """Components that no step raises and some lower: one that some lower for good, else a few that some lower on
        some ways.
        """
        falls = Falls(self._shown, self._is_late, MAX_PARTIAL_RANKS)
        return falls.first(self._sources(labels, steps), steps)

    def _sources(self, labels: Sequence[str], steps: Sequence[Step]) -> Iterator[Iterable[Component]]:
        """What may be a component, likely ones first; far ones fall towards the end of a type."""
        shared = self._shared(labels)
        if self._only:
            yield alike((term for term in self._only if term.variables <= shared), labels)
            return
        passed = list(borders(steps, shared))
        terms = terms_that_may_fall(steps, shared, self._known)
        terms = [*passed, *terms] if self._patient else [*terms, *passed]
        near = [term for term in terms if not counts_to_end(term)]
        yield alike(near, labels)
        yield (
            {at: cut(term) for at, term in one.items()}
            for one in self.affine.components({label: self.system.state[label] for label in labels}, steps)
        )
        yield alike((term for term in terms if term not in near), labels)
        yield alike(of_pairs(sorted(shared, key=lambda var: var.key), steps), labels)

    def _divisions(
        self, labels: Sequence[str], steps: Sequence[Step], open_: Sequence[t.Condition]
    ) -> Iterator[Division[Step]]:
        for condition in dividing_conditions(steps, self._shared(labels)):
            if self._is_late():
                return
            if condition in open_ or ~condition in open_:
                continue
            both = [(step, behind(step, condition)) for step in steps]
            if all(self._shown(step, condition | ~after) for step, after in both):
                holding = (replace(step, condition=step.condition & condition & after) for step, after in both)
                failing = (replace(step, condition=step.condition & ~condition) for step in steps)
                yield Division(condition, tuple(holding), tuple(failing))

    def _shared(self, labels: Sequence[str]) -> frozenset[t.Var]:
        return frozenset.intersection(*(frozenset(self.system.state[label]) for label in labels))

    # -- proofs -------------------------------------------------------------------------------------------------------

    def _possible(self, steps: Sequence[Step]) -> list[Step]:
        return [step for step in steps if step.condition is not t.FALSE and not self._shown(step, t.FALSE)]

    def _is_late(self) -> bool:
        return clock.counted() > self._until

    def _known(self, label: str) -> tuple[t.Condition, ...]:
        return tuple(self.invariants.get(label, ()))

    @functools.cached_property
    def _context(self) -> Any:
        return solver_context()

    def _asking(self, known: tuple[t.Condition, ...], condition: t.Condition) -> Entailing:
        return Entailing((*known, condition), self._context)

    def _shown(self, step: Step, wanted: t.Condition) -> bool:
        """Whether a condition surely holds before a step that is taken."""
        if wanted is t.TRUE:
            return True
        if self._before(self._known(step.source), step.condition).entails(wanted, COMPONENT_CHECK_MS):
            return True
        return bool(self._only) and self._shown_on_bits(step, wanted)

    def _shown_on_bits(self, step: Step, wanted: t.Condition) -> bool:
        """The same where the bits of values decide, which have no words over the integers."""
        failing = t.conjunction((*self._known(step.source), step.condition, ~wanted))
        if not any(isinstance(node, t.Op) and node.op in BIT_OPERATORS for node in t.walk(failing)):
            return False
        try:
            with budget(BOUND_RANK_OPERATIONS):
                return not feasible(failing)
        except BudgetExceeded:
            return False
