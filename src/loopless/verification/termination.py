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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, permutations
from typing import Any, Final

from loopless import clock
from loopless import terms as t
from loopless.flowgraph.model import Origin
from loopless.graphs import components
from loopless.limits.verification import (
    BOUND_RANK_OPERATIONS,
    CACHED_SOLVERS,
    COMPONENT_CHECK_MS,
    FALL_CHECK_MS,
    LAST_STATES,
    LEARNING_S,
    LONG_RUN,
    MAX_COMPONENTS,
    MAX_DIVISIONS,
    MAX_LONG_RUNS,
    MAX_PAIRED_VARIABLES,
    MAX_PARTIAL_RANKS,
    MAX_RANK_TERMS,
    MAX_STEADY_RUNS,
    RANK_CANDIDATES_S,
    STUCK_CHECK_MS,
)
from loopless.logic import BudgetExceeded, budget, feasible
from loopless.logic.induction import Entailing, entailed, inductive_subset, solver_context
from loopless.logic.operators import BIT_OPERATORS
from loopless.records import dataclass
from loopless.refusals import Refused
from loopless.terms.relation import behind
from loopless.transition.algebra import given
from loopless.transition.relation import DIVERGES, START, Step, TransitionSystem
from loopless.transition.star import Leaps, accelerated, leaps_of
from loopless.verification.exploration import Explored, explored
from loopless.verification.proofs import GOALS, SUMMARIES, Invariants, Search
from loopless.verification.rank_components import (
    AffineRanks,
    Component,
    alike,
    behind_and_before,
    borders,
    choices_of,
    counts_to_end,
    cut,
    sides_of,
)
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
        self.affine = AffineRanks(self._known, self._shown)
        self._before = functools.lru_cache(CACHED_SOLVERS)(self._asking)
        self._dividing: list[t.Condition] = []
        self._patient = False
        self._only: Sequence[t.Term] = ()
        """The terms that components are made of, where no others are tried."""

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
        return all(entailed(step, self._known(step.source), wanted, FALL_CHECK_MS) for step, wanted in goals)

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
        self._only = self._bounds if self._is_followed() else ()
        ranks: dict[str, list[t.Term]] = {label: [] for label in self.system.cutpoints}
        until = min(self.deadline, clock.counted() + seconds)
        try:
            found = bool(self._only) and self._rank(list(self.system.cutpoints), self.cyclic, ranks, until, 0)
        finally:
            self._only = ()
        return self._padded(ranks, BOUNDS) if found else None

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
        self._patient = patient
        until = min(self.deadline, clock.counted() + seconds)
        if not any(self.safety.found.values()):
            self.safety.by_candidates(min(RANK_CANDIDATES_S, seconds / 2))
        if not self._is_followed():
            return None
        ranks: dict[str, list[t.Term]] = {label: [] for label in self.system.cutpoints}
        if not self._rank(list(self.system.cutpoints), self.cyclic, ranks, until, 0):
            return None
        return self._padded(ranks, "lexicographic rank")

    def _padded(self, ranks: Mapping[str, Sequence[t.Term]], method: str) -> Ranked:
        """The ranks as tuples of one length."""
        width = max(map(len, ranks.values()), default=0)
        padded = {label: (*terms, *[t.ZERO] * (width - len(terms))) for label, terms in ranks.items()}
        return Ranked(dict(self.safety.found), padded, method)

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
        ranks: dict[str, list[t.Term]] = {label: [t.ZERO] for label in self.system.cutpoints}
        for index, component in enumerate(components_):
            counted = {
                name
                for group in component.ranked.groups
                for name in (transition.name for transition in group.transitions)
            }
            if any(transition.name not in counted for transition in component.transitions):
                return None
            for label in component.headers:
                groups = component.ranked.groups
                ranks[label] = [t.const(len(components_) - index), *(cut(g.functions[label].term) for g in groups)]
        width = max(map(len, ranks.values()), default=0)
        padded = {label: (*terms, *[t.ZERO] * (width - len(terms))) for label, terms in ranks.items()}
        if not self._fall(padded):
            return None
        return Ranked(dict(self.safety.found), padded, "linear ranks (Farkas)")

    def _learn(self, more: Mapping[str, Sequence[t.Condition]]) -> None:
        """What of this is inductive with what is known is known from now on."""
        every = {label: (*self._known(label), *more.get(label, ())) for label in self.system.cutpoints}
        until = min(self.deadline, clock.counted() + LEARNING_S)
        kept = inductive_subset(self.safety.inner, every, until)
        if sum(map(len, kept.values())) >= sum(map(len, self.safety.found.values())):
            self.safety.found = dict(kept)

    def _rank(
        self,
        labels: Sequence[str],
        transitions: Sequence[Step],
        ranks: dict[str, list[t.Term]],
        until: float,
        depth: int,
    ) -> bool:
        """Components under which all of these transitions fall, added to ``ranks``; False where none are found."""
        onward = {
            label: [transition.target for transition in transitions if transition.source == label] for label in labels
        }
        found = components(onward)  # each behind those that it leads to
        place = {label: index for index, component in enumerate(found) for label in component}
        if len(found) > 1:
            for label in labels:
                ranks[label].append(t.const(place[label]))
        for component in found:
            inside = [
                transition
                for transition in transitions
                if transition.source in component and transition.target in component
            ]
            if inside and not self._part(component, inside, ranks, until, depth):
                return False
        width = max(len(ranks[label]) for label in labels)
        for label in labels:
            ranks[label] += [t.ZERO] * (width - len(ranks[label]))
        return True

    def _part(
        self,
        labels: Sequence[str],
        transitions: Sequence[Step],
        ranks: dict[str, list[t.Term]],
        until: float,
        depth: int,
    ) -> bool:
        if depth >= MAX_COMPONENTS:
            return False
        choices = self._components(labels, transitions, until)
        for component, left in choices if self._patient else choices[:1]:
            found = {label: [*ranks[label], component[label]] for label in labels}
            if not left or self._rank(labels, left, found, until, depth + 1):
                ranks.update(found)
                return True
        if choices and not self._patient:
            return False
        return self._divided(labels, transitions, ranks, until, depth)

    def _divided(
        self,
        labels: Sequence[str],
        transitions: Sequence[Step],
        ranks: dict[str, list[t.Term]],
        until: float,
        depth: int,
    ) -> bool:
        """A condition that stays false once it is: a component of its own, and others for each of its two sides."""
        shared = frozenset.intersection(*(frozenset(self.system.state[label]) for label in labels))
        atoms = dict.fromkeys(
            atom
            for transition in transitions
            for comparison in (*t.comparisons(transition.condition), *choices_of(transition))
            for atom in (comparison, ~comparison, *_beyond(comparison))
            if atom.variables and atom.variables <= shared
        )
        fixed = sorted(
            shared - {var for transition in transitions for var in transition.update}, key=lambda var: var.key
        )
        signs = [var.ge(1) for var in fixed]
        for atom in [*list(atoms)[:MAX_DIVISIONS], *signs]:
            if clock.counted() > until:
                return False
            if atom in self._dividing or ~atom in self._dividing:
                continue
            over = ~atom
            both = [(transition, behind(transition, atom)) for transition in transitions]
            if not all(self._shown(term, atom | ~after) for term, after in both):
                continue
            holding = [replace(transition, condition=transition.condition & atom & after) for transition, after in both]
            failing = [replace(transition, condition=transition.condition & over) for transition, _ in both]
            sides = []
            self._dividing.append(atom)
            for some in (holding, failing):
                left = [
                    transition
                    for transition in some
                    if transition.condition is not t.FALSE and not self._shown(transition, t.FALSE)
                ]
                found: dict[str, list[t.Term]] = {label: [] for label in labels}
                if not self._rank(labels, left, found, until, depth + 2):
                    break
                sides.append(found)
            self._dividing.pop()
            if len(sides) == 2:
                self._together(labels, atom, sides, ranks)
                return True
        return False

    def _together(
        self,
        labels: Sequence[str],
        atom: t.Condition,
        sides: Sequence[Mapping[str, list[t.Term]]],
        ranks: dict[str, list[t.Term]],
    ) -> None:
        """The components of both sides of a condition as one."""
        width = max(len(found[label]) for found in sides for label in labels)
        for label in labels:
            one, other = ([*found[label], *[t.ZERO] * (width - len(found[label]))] for found in sides)
            ranks[label].append(t.ite(atom, t.ONE, t.ZERO))
            ranks[label] += [t.ite(atom, a, b) for a, b in zip(one, other, strict=True)]

    def _components(
        self, labels: Sequence[str], transitions: Sequence[Step], until: float
    ) -> list[tuple[Component, list[Step]]]:
        """Components that no transition raises and some lower, each with what is left of the transitions: one that some
        lower for good, else a few that some lower on some ways.
        """
        shared = frozenset.intersection(*(frozenset(self.system.state[label]) for label in labels))
        if self._only:
            known = [term for term in self._only if term.variables <= shared]
            return self._components_of(alike(known, labels), transitions, until)
        passed = list(borders(transitions, shared))
        terms = self._terms(labels, transitions)
        terms = [*passed, *terms] if self._patient else [*terms, *passed]
        near = [term for term in terms if not counts_to_end(term)]
        far = [term for term in terms if term not in near]
        state = {label: self.system.state[label] for label in labels}
        affine = ({at: cut(term) for at, term in one.items()} for one in self.affine.components(state, transitions))
        partial: list[tuple[Component, list[Step]]] = []
        pairs = alike(_of_pairs(sorted(shared, key=lambda var: var.key), transitions), labels)
        for some in (alike(near, labels), affine, alike(far, labels), pairs):
            found = self._components_of(some, transitions, until)
            if any(len(left) < len(transitions) for _, left in found):
                return found
            partial += found
        return partial[:MAX_PARTIAL_RANKS]

    def _components_of(
        self, ranks: Iterable[Component], transitions: Sequence[Step], until: float
    ) -> list[tuple[Component, list[Step]]]:
        partial: list[tuple[Component, list[Step]]] = []
        for rank in ranks:
            if clock.counted() > until:
                break
            try:
                if not all(self._keeps(transition, rank) for transition in transitions):
                    continue
            except t.TermTooLarge:
                continue
            left = [rest for transition in transitions if (rest := self._left(transition, rank)) is not None]
            if len(left) < len(transitions):
                return [(rank, left)]
            if len(partial) < MAX_PARTIAL_RANKS and any(a is not b for a, b in zip(left, transitions, strict=True)):
                partial.append((rank, left))
        return partial

    def _known(self, label: str) -> tuple[t.Condition, ...]:
        return tuple(self.safety.found.get(label, ()))

    def _keeps(self, transition: Step, rank: Component) -> bool:
        """Whether the rank is no larger behind the transition."""
        return self._shown(transition, t.less_equal(*behind_and_before(transition, rank)))

    def _left(self, transition: Step, rank: Component) -> Step | None:
        """The part of a transition that does not lower the rank; None where there is none."""
        after, before = behind_and_before(transition, rank)
        if self._shown(transition, after.lt(before)):
            return None
        if self._shown(transition, after.ge(before)):
            return transition
        return replace(transition, condition=transition.condition & after.ge(before))

    @functools.cached_property
    def _context(self) -> Any:
        return solver_context()

    def _asking(self, known: tuple[t.Condition, ...], condition: t.Condition) -> Entailing:
        return Entailing((*known, condition), self._context)

    def _shown(self, transition: Step, wanted: t.Condition) -> bool:
        if wanted is t.TRUE:
            return True
        if self._before(self._known(transition.source), transition.condition).entails(wanted, COMPONENT_CHECK_MS):
            return True
        return bool(self._only) and self._shown_on_bits(transition, wanted)

    def _shown_on_bits(self, transition: Step, wanted: t.Condition) -> bool:
        """The same where the bits of values decide, which have no words over the integers."""
        failing = t.conjunction((*self._known(transition.source), transition.condition, ~wanted))
        if not any(isinstance(node, t.Op) and node.op in BIT_OPERATORS for node in t.walk(failing)):
            return False
        try:
            with budget(BOUND_RANK_OPERATIONS):
                return not feasible(failing)
        except BudgetExceeded:
            return False

    def _terms(self, labels: Sequence[str], transitions: Sequence[Step]) -> list[t.Term]:
        """Terms that may fall: what conditions compare, variables, their differences and sums."""
        shared = frozenset.intersection(*(frozenset(self.system.state[label]) for label in labels))
        found: dict[t.Term, None] = {}
        firsts: dict[t.Term, None] = {}
        for transition in transitions:
            for comparison in choices_of(transition):
                sides = [term for one in (comparison, *t.comparisons(~comparison)) for term in sides_of(one)]
                firsts.update(dict.fromkeys(term for term in sides if term.variables and term.variables <= shared))
            for condition in (transition.condition, *self._known(transition.source)):
                for comparison in t.comparisons(condition):
                    for term in sides_of(comparison):
                        if term.variables and term.variables <= shared:
                            (firsts if condition is transition.condition else found)[term] = None
        changed = {v for step in transitions for v in step.update if v in shared}
        simple = sorted((v for v in shared if v in changed), key=lambda v: v.key)
        for var in simple:
            firsts.update(dict.fromkeys((var, -var)))
        pairs: dict[t.Term, None] = {}
        for a, b in combinations(list(firsts)[:14], 2):
            pairs.update(dict.fromkeys((a + b,)))
        for a, b in combinations(sorted(shared, key=lambda v: v.key)[:10], 2):
            pairs.update(dict.fromkeys((a - b, b - a, a + b)))
        for var in simple:
            high, low = var.type.max, var.type.min
            if high is not None and low is not None:
                found[high - var] = None
                found[var - low] = None
        ordered = [value for value in (*firsts, *found, *pairs) if not isinstance(value, t.Const)]
        return [term for term in dict.fromkeys(ordered) if t.smt(cut(term)) is not None][:MAX_RANK_TERMS]

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
        until = min(self.deadline, clock.counted() + seconds)
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
        tail = run.visits[len(run.visits) // 2 :]
        labels = tuple(dict.fromkeys(label for label, _ in tail))
        states: dict[str, list[dict[t.Var, int]]] = {label: [] for label in labels}
        for label, values in tail:
            states[label].append(values)
        chosen = run.constant_inputs()
        if chosen is None:
            return None
        inside = [
            self._with_chosen(transition, chosen)
            for transition in self.system.transitions
            if transition.source in labels and transition.target in labels
        ]
        made = self.safety.proposals_for({label: seen[-LAST_STATES:] for label, seen in states.items()})
        candidates = {label: [*made.simple(label)] for label in labels}
        kept = inductive_subset(
            [transition for transition in inside if transition.condition is not t.FALSE], candidates, until
        )
        for label in labels:
            staying = t.disjunction(transition.condition for transition in inside if transition.source == label)
            facts = (fact for transition in inside if transition.source == label for fact in transition.facts)
            stuck = Step(label, "", t.conjunction((~staying, *facts)), {}, ())
            fixed = self._with_chosen(stuck, chosen, self._inputs_at(label))
            if not entailed(fixed, kept[label], t.FALSE, STUCK_CHECK_MS):
                return None
        position = next((i for i, (label, values) in enumerate(run.visits) if self._is_in(kept, label, values)), None)
        if position is None:
            return None
        needed = {label: tuple(conditions) for label, conditions in kept.items()}
        return Trap(needed, chosen, tuple(run.inputs), dict(run.uninitialised), "recurrent set", position)

    def _is_in(self, kept: Mapping[str, Sequence[t.Condition]], label: str, values: Mapping[t.Var, int]) -> bool:
        return label in kept and all(t.holds(condition, values) for condition in kept[label])

    def _inputs_at(self, label: str) -> Iterable[Any]:
        return [
            one for transition in self.system.transitions if transition.source == label for one in transition.inputs
        ]

    def _with_chosen(
        self, transition: Step, chosen: Mapping[tuple[str, int], int], inputs: Iterable[Any] | None = None
    ) -> Step:
        """The transition in which inputs of the program have these values."""
        values: dict[t.Var, t.Term] = {}
        for one in transition.inputs if inputs is None else inputs:
            if one.origin is not Origin.MEMORY and (one.block, one.index) in chosen:
                values[one.var] = t.const(chosen[one.block, one.index])
        return given(transition, values)


def _beyond(comparison: t.Compare) -> tuple[t.Condition, ...]:
    """Of an equation, and of its opposite, the two sides on which it does not hold."""
    return () if comparison.relation == "le" else (comparison.term.lt(0), comparison.term.gt(0))


def _of_pairs(variables: Sequence[t.Var], transitions: Sequence[Step]) -> Iterator[t.Term]:
    """The smaller and the larger one of two variables that change, or of one and its neighbours: what falls where they
    change places.
    """
    changed = [var for var in variables if any(var in step.update for step in transitions)]
    if len(changed) > MAX_PAIRED_VARIABLES:
        return
    for a, b in combinations(changed, 2):
        yield t.minimum(a, b)
        yield t.maximum(a, b)
    for a, b in permutations(changed, 2):
        yield t.maximum(a, b - 1)
        yield t.minimum(a, b - 1)
