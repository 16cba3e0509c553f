"""Whether every run ends: rank functions over cutpoints, and sets of states that runs never leave.

A rank is a tuple that falls lexicographically from one visit of a cutpoint to the next (Bradley, Manna and Sipma,
Linear ranking with reachability, CAV 2005; Alias et al., Multi-dimensional rankings, SAS 2010). Its components are cut
off below 0, so that one may rise again once it is used up: phases of a loop are components (Ben-Amram and Genaim, On
multiphase-linear ranking functions, CAV 2017). A recurrent set is closed (Chen et al., Proving nontermination via
safety, TACAS 2014), and a run that was carried out leads into it.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from loopless import clock
from loopless import terms as t
from loopless.flowgraph.model import Origin
from loopless.graphs import components
from loopless.limits.verification import (
    FALL_CHECK_MS,
    LAST_STATES,
    LEARNING_S,
    LONG_RUN,
    MAX_LONG_RUNS,
    MAX_STEADY_RUNS,
    RANK_CANDIDATES_S,
    STUCK_CHECK_MS,
)
from loopless.logic import BudgetExceeded, budget
from loopless.logic.induction import entailed, inductive_subset
from loopless.logic.steps import PlaceStep
from loopless.ranking.lexicographic import cut, padded
from loopless.ranking.recurrent import Rounds, first_visit
from loopless.records import dataclass
from loopless.refusals import Refused
from loopless.terms.relation import behind
from loopless.transition.algebra import given
from loopless.transition.relation import DIVERGES, START, Step, TransitionSystem
from loopless.transition.star import Leaps, accelerated, leaps_of
from loopless.verification.exploration import Explored, explored
from loopless.verification.proofs import GOALS, SUMMARIES, Invariants, Search
from loopless.verification.ranks import RankSearch
from loopless.verification.runs import ProgramRun
from loopless.verification.summary_ranks import ranks_of

_STEADY_VALUES: Final = (-1, 0, 1, 2, -3)
"""What runs take again and again in loops, in search of one that never ends."""
BOUNDS: Final = "bounds"
"""The method of ranks that are bounds on loops."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """Every run ends: from one visit of a cutpoint to the next its ``ranks`` fall lexicographically."""

    invariants: Mapping[str, tuple[t.Condition, ...]]
    ranks: Mapping[str, tuple[t.Term, ...]]
    method: str


@dataclass(frozen=True, slots=True)
class Trap:
    """A run that never ends: with ``inputs`` it comes into ``recurrent``, conditions at cutpoints, which it never
    leaves if the values from outside are the ``chosen`` ones, by block and number of the statement.
    """

    recurrent: Mapping[str, tuple[t.Condition, ...]]
    chosen: Mapping[tuple[str, int], int]
    inputs: tuple[int, ...]
    uninitialised: Mapping[str, int]
    method: str
    visits: int = 0


class TerminationSearch:
    """What is known of the runs of one system."""

    def __init__(self, system: TransitionSystem, deadline: float, known: Invariants | None = None) -> None:
        """``known``: what is inductive."""
        self.system, self.deadline = system, deadline
        self.safety = Search(system, lambda _: False, deadline, known)
        self.cyclic = [
            transition
            for transition in system.transitions
            if transition.source != START and transition.target in system.cutpoints
        ]
        self.long: list[tuple[ProgramRun, int]] = []
        self._ranks = RankSearch(system, self.cyclic)

    def _until(self, seconds: float) -> float:
        """When so many seconds are over, or the question's time is."""
        return min(self.deadline, clock.counted() + seconds)

    def acyclic(self) -> Ranked | None:
        """That there is no cycle."""
        return Ranked({}, {}, "no cycles") if not self.system.cutpoints and self._is_followed() else None

    def _is_followed(self) -> bool:
        known = self.safety.found
        return all(
            self.safety.excluded(transition, known)
            for transition in self.system.transitions
            if transition.target in GOALS
        )

    def sampled(self, seconds: float) -> None:
        """Single runs; those that are long may be ones that never end."""
        self.safety.sampled(seconds, LONG_RUN, on_long=lambda run, number: self.long.append((run, number)))

    def by_cases(self, seconds: float) -> None:
        """Invariants that hold case by case, for methods that come after."""
        self.safety.by_cases(seconds)

    # -- summaries ----------------------------------------------------------------------------------------------------

    def by_summaries(self, seconds: float) -> Ranked | Trap | None:
        """By the summaries of loops: a run into states from which one never leaves a loop; where there is none the
        iterations that are left as ranks.
        """
        if not self.system.graph.loops or not self._is_followed():
            return None
        leaps, _ = leaps_of(self.system, seconds)
        if not leaps:
            return None
        system = accelerated(self.system, leaps)
        found = explored(system, (DIVERGES,), min(seconds, self.deadline - clock.counted()))
        if found.path is not None:
            return self._endless(found, leaps)
        ranks = ranks_of(system, leaps) if found.complete else None
        if ranks is None:
            return None
        self._learn({header: t.conjuncts(leap.given) for header, leap in leaps.items() if leap.lasting})
        return Ranked(dict(self.safety.found), ranks, SUMMARIES) if self._fall(ranks) else None

    def _fall(self, ranks: Mapping[str, Sequence[t.Term]]) -> bool:
        """Whether the ranks fall, by what is known at cutpoints."""
        goals = self.goals(ranks)
        return all(
            entailed(step, self.safety.found.get(step.source, ()), wanted, FALL_CHECK_MS) for step, wanted in goals
        )

    def _endless(self, found: Explored, leaps: Leaps) -> Trap | None:
        """A run into states from which one never leaves a loop that has none inside."""
        assert found.path is not None
        header = found.path.taken[-1].source
        leap = leaps[header]
        inside = [loop for loop in self.system.graph.loops if loop.header in leap.summary.loop.blocks]
        run = self.safety.run_along(found.path, found.values, leaps)
        if len(inside) > 1 or run.end != "endless" or not leap.lasting:
            return None
        recurrent = {header: (*t.conjuncts(leap.given), *t.conjuncts(leap.summary.diverges))}
        return Trap(recurrent, {}, tuple(run.inputs), dict(run.uninitialised), SUMMARIES)

    # -- bounds -------------------------------------------------------------------------------------------------------

    def by_bounds(self, seconds: float) -> Ranked | None:
        """Ranks of the bounds that induction variables give on the iterations of one entry: from any state at the
        header as many iterations are left at most, and mostly one less behind each of them.
        """
        only = self._bounds if self._is_followed() else ()
        if not only:
            return None
        ranks = self._ranks.found(self.safety.found, self._until(seconds), only=only)
        return None if ranks is None else Ranked(dict(self.safety.found), ranks, BOUNDS)

    @functools.cached_property
    def _bounds(self) -> Sequence[t.Term]:
        """The bounds on one entry of each loop, wherever they hold, and what they count by: where a bound is the
        logarithm of that, or the end of its type, it does not fall itself.
        """
        from loopless.bounds.induction.counts import Counted, induction_counts

        counted = [one for one in induction_counts(self.system.graph).values() if isinstance(one, Counted)]
        every = [bound.term for one in counted for bound in one.bounds]
        every += [slack for one in counted if one.bounds for slack in one.slacks]
        return [term for term in dict.fromkeys(every) if t.smt(cut(term)) is not None]

    # -- ranks --------------------------------------------------------------------------------------------------------

    def ranked(self, seconds: float, *, patient: bool = False) -> Ranked | None:
        """Lexicographic ranks. ``patient``: where a component leads nowhere others are tried in its place."""
        until = self._until(seconds)
        if not any(self.safety.found.values()):
            self.safety.by_candidates(min(RANK_CANDIDATES_S, seconds / 2))
        if not self._is_followed():
            return None
        ranks = self._ranks.found(self.safety.found, until, patient=patient)
        return None if ranks is None else Ranked(dict(self.safety.found), ranks, "lexicographic rank")

    def linear(self) -> Ranked | None:
        """Affine functions at each header by Farkas' lemma, group after group of transitions, as bounds are found."""
        from loopless.bounds.invariants.at_headers import invariants_at
        from loopless.bounds.methods.components import CallSearch
        from loopless.bounds.ranking.cutpoints import ENTRY, cutpoints_of
        from loopless.limits.bounds import COMPONENTS_OPERATIONS

        if not self.system.graph.loops or {loop.header for loop in self.system.graph.loops} != {*self.system.cutpoints}:
            return None  # cycles that are no loops have no transitions there
        cutpoints = cutpoints_of(self.system.graph)
        if isinstance(cutpoints, Refused) or not self._is_followed():
            return None
        try:
            with budget(COMPONENTS_OPERATIONS):
                components_ = CallSearch(cutpoints).searched()
                known = invariants_at(cutpoints)
        except (BudgetExceeded, t.TermTooLarge):
            return None
        self._learn({label: t.conjuncts(condition) for label, condition in known.items() if label != ENTRY})
        ranks: dict[str, Sequence[t.Term]] = dict.fromkeys(self.system.cutpoints, (t.ZERO,))
        for index, component in enumerate(components_):
            found = component.ranked.ranks
            if component.transitions and found is None:
                return None
            for label in component.headers:
                ranks[label] = (t.const(len(components_) - index), *(found[label] if found is not None else ()))
        all_ = padded(ranks)
        return Ranked(dict(self.safety.found), all_, "linear ranks (Farkas)") if self._fall(all_) else None

    def _learn(self, more: Mapping[str, Sequence[t.Condition]]) -> None:
        """What of this is inductive with what is known is known from now on."""
        every = {label: (*self.safety.found.get(label, ()), *more.get(label, ())) for label in self.system.cutpoints}
        until = min(self.deadline, clock.counted() + LEARNING_S)
        kept = inductive_subset(self.safety.inner, every, until)
        if sum(map(len, kept.values())) >= sum(map(len, self.safety.found.values())):
            self.safety.found = dict(kept)

    def goals(self, ranks: Mapping[str, Sequence[t.Term]]) -> list[tuple[Step, t.Condition]]:
        """That the ranks fall with each transition that may be taken again, and nothing is left unfollowed."""
        found: list[tuple[Step, t.Condition]] = []
        onward: dict[str, list[str]] = {label: [] for label in self.system.cutpoints}
        for transition in self.cyclic:
            onward[transition.source].append(transition.target)
        part = {label: index for index, group in enumerate(components(onward)) for label in group}
        for transition in self.cyclic:
            if part[transition.source] != part[transition.target]:
                continue
            falls: list[t.Condition] = []
            same: list[t.Condition] = []
            for old, new in zip(ranks[transition.source], ranks[transition.target], strict=True):
                after = behind(transition, new)
                falls.append(t.conjunction((*same, after.lt(old), old.ge(0))))
                same.append(after.eq(old))
            found.append((replace(transition, update={}), t.disjunction(falls)))
        found += [
            (replace(transition, update={}), t.FALSE)
            for transition in self.system.transitions
            if transition.target in GOALS
        ]
        return found

    # -- recurrent sets -----------------------------------------------------------------------------------------------

    def trapped(self, seconds: float) -> Trap | None:
        """A closed set of states around the end of a run that goes on."""
        until = self._until(seconds)
        for run in (*(run for run, _ in self.long[:MAX_LONG_RUNS]), *self._steady_runs()):
            if clock.counted() > until:
                return None
            found = self._closed(run, until)
            if found is not None:
                return found
        return None

    def _steady_runs(self) -> Iterator[ProgramRun]:
        """Long runs that take one value again and again in loops, and other ones before: their kinds differ."""
        inside = {label for loop in self.system.graph.loops for label in loop.blocks}
        random_ = random.Random(4)
        found = 0
        for number in range(MAX_STEADY_RUNS if inside else 0):
            again, before = _STEADY_VALUES[number % len(_STEADY_VALUES)], dict[tuple[str, int], int]()

            def choose(
                target: t.Var, origin: Origin, block: str, index: int, again: int = again, before: Any = before
            ) -> int:
                del origin
                chosen = again if block in inside else before.setdefault((block, index), random_.randint(-2, 9))
                return target.type.wrap(chosen)

            run = self.safety.runner.run(choose, LONG_RUN)
            if run.end == "steps" and run.exact:
                yield run
                found += 1
            if not run.taken or found == MAX_LONG_RUNS:
                return

    def steady(self) -> list[tuple[int, ...]]:
        """What long runs read whose inputs were all alike in the end."""
        found = (tuple(run.inputs) for run, _ in self.long)
        return list(dict.fromkeys(one for one in found if one and len({*one[len(one) // 2 :]}) == 1))

    def _closed(self, run: ProgramRun, until: float) -> Trap | None:
        """A closed set around the states at the end of a run that was not followed to its end."""
        if not run.exact:
            return None
        states: dict[str, list[dict[t.Var, int]]] = {}
        for label, values in run.visits[len(run.visits) // 2 :]:
            states.setdefault(label, []).append(values)
        labels = tuple(states)
        chosen = run.constant_inputs()
        if chosen is None:
            return None
        inside = [
            _with_chosen(transition, chosen)
            for transition in self.system.transitions
            if transition.source in labels and transition.target in labels
        ]
        made = self.safety.proposals_for({label: seen[-LAST_STATES:] for label, seen in states.items()})
        candidates = {label: [*made.simple(label)] for label in labels}
        facts = {label: [fact for one in inside if one.source == label for fact in one.facts] for label in labels}
        kept = Rounds(inside, _excluded, facts=facts).largest_within(candidates, until)
        position = None if kept is None else first_visit(kept, run.visits)
        if kept is None or position is None:
            return None
        return Trap(kept, chosen, tuple(run.inputs), dict(run.uninitialised), "recurrent set", position)


def _with_chosen(transition: Step, chosen: Mapping[tuple[str, int], int]) -> Step:
    """The transition in which inputs of the program have these values."""
    values: dict[t.Var, t.Term] = {}
    for one in transition.inputs:
        if one.origin is not Origin.MEMORY and (one.block, one.index) in chosen:
            values[one.var] = t.const(chosen[one.block, one.index])
    return given(transition, values)


def _excluded(given: Sequence[t.Condition], condition: t.Condition) -> bool:
    return entailed(PlaceStep("", "", condition, {}), given, t.FALSE, STUCK_CHECK_MS)
