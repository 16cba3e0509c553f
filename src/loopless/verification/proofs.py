"""Proofs that a violation is out of reach, by invariants at cutpoints, and runs that come to one.

Methods in the order of what they cost: single runs, the largest inductive subset of simple candidates, Spacer with what
that found, polynomial equations, paths of transitions.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from loopless import clock
from loopless import terms as t
from loopless.check.certificates.element_sums import NO_SUMS, ElementSums
from loopless.check.certificates.history import HistoryVariable
from loopless.deadline import in_time
from loopless.errors import LimitError
from loopless.flowgraph.model import Flowgraph, Origin
from loopless.limits.queries import PROVED_SHORTENING_S
from loopless.limits.verification import (
    COVERS_S,
    ENTERING_BLOCKS,
    EXCLUDED_BEFORE_MS,
    EXCLUDED_MS,
    HISTORY_S,
    MAX_KEPT_CALLS,
    MAX_KEPT_STATES,
    MAX_PATH_LENGTH,
    MAX_SAMPLED_RUNS,
    MAX_VIOLATING_WAYS,
    MIN_SAMPLED_RUNS,
    ONE_VARIABLE_SHARE,
    PLAINEST_SHARE,
    SHORTENED_PART_S,
    SHORTENING_CHECK_MS,
    STATES_OF_RUN,
)
from loopless.logic.horn import solved
from loopless.logic.induction import entailed, inductive_subset, needed, solver_context
from loopless.logic.strongest import Strongest
from loopless.logic.unrolling import extreme_first_steps, runs_into
from loopless.records import dataclass
from loopless.terms.ideals import independent
from loopless.terms.relation import pre
from loopless.transition.algebra import named_at
from loopless.transition.building import system_of
from loopless.transition.relation import OPEN, START, VIOLATION, Step, TransitionSystem, Violates, multiplies
from loopless.transition.star import Leaps, accelerated, leaps_of
from loopless.verification.array_contents import content_invariants
from loopless.verification.candidates import Proposals, conjuncts_under
from loopless.verification.exploration import SystemPath, explored
from loopless.verification.history import HistoryInvariants, history_invariants, instrumented
from loopless.verification.input_streams import streamed_violation
from loopless.verification.linear_invariants import linear_invariants
from loopless.verification.runs import Choose, ProgramRun, Runner
from loopless.verification.safe_states import safe_states, without_large_numbers
from loopless.verification.shapes import (
    is_equation,
    is_of_equations,
    is_of_one,
    is_one_or_equation,
    is_plain,
    is_plainest,
)

Invariants = Mapping[str, tuple[t.Condition, ...]]
"""By cutpoint, what holds whenever a run is there."""

SUMMARIES: Final = "summaries of loops"
"""What is told of answers by the summaries of loops."""
CONTENTS: Final = "what loops write to arrays"
LINEAR: Final = "linear invariants (Farkas)"
EQUATIONS: Final = "polynomial equations"
NO_INVARIANT: Final = "no invariant needed"
GOALS: Final = frozenset((VIOLATION, OPEN))


@dataclass(frozen=True, slots=True)
class Proof:
    """No run comes to a violation: ``invariants`` are inductive and exclude it. ``method``: who found them.
    ``history``: the history variables that they speak of. ``elements``: they are of all elements of arrays at once;
    ``pairs``: and of each two of one array. ``sums``: the sums over elements that they speak of.
    """

    invariants: Invariants
    method: str
    history: tuple[HistoryVariable, ...] = ()
    elements: bool = False
    pairs: bool = False
    sums: ElementSums = NO_SUMS


@dataclass(frozen=True, slots=True)
class Suspect:
    """A run that may come to a violation: what it reads, in order. ``method``: who found it. ``line``: where the
    violation is, 0 where that is not known; ``iterations``: those of the loop that takes most, as far as summaries tell
    them. ``repeats``: the last input comes again and again. ``proposed``: the inputs were guessed, and say
    nothing where they come to no violation.
    """

    inputs: tuple[int, ...]
    uninitialised: Mapping[str, int]
    method: str
    arguments: Mapping[t.Var, int]
    line: int = 0
    iterations: int = 0
    repeats: bool = False
    proposed: bool = False


class Search:
    """What is known of one system while methods look for a proof or a violation."""

    def __init__(
        self, system: TransitionSystem, violates: Violates, deadline: float, known: Invariants | None = None
    ) -> None:
        """``known``: what is inductive. ``deadline``, and all seconds here, are of counted work
        (:func:`loopless.clock.counted`).
        """
        self.system, self.violates, self.deadline = system, violates, deadline
        self.runner = Runner(system.graph, violates, system.state)
        self.seen: dict[str, list[dict[t.Var, int]]] = {label: [] for label in system.cutpoints}
        self.found: dict[str, tuple[t.Condition, ...]] = {
            label: tuple((known or {}).get(label, ())) for label in system.cutpoints
        }
        self.bad = [transition for transition in system.transitions if transition.target in GOALS]
        self.inner = [transition for transition in system.transitions if transition.target not in GOALS]
        self.undefined: dict[str, ProgramRun] = {}
        """By its kind, a run that met undefined behaviour."""
        self.returned: dict[str, list[Mapping[t.Var, int]]] = {}
        """By function, what held when calls returned."""
        self.is_sampled = False
        self.multiplies = multiplies(system.transitions)
        self._all_asked = False
        """Whether the plain equations were asked to the end."""
        self._few_asked = False
        """Whether the fewest of them were."""
        self._proposals: Proposals | None = None
        self._leaps_cut = True
        """Whether there was no time yet to summarize all loops."""

    # -- single runs --------------------------------------------------------------------------------------------------

    def sampled(
        self,
        seconds: float,
        most: int = 1500,
        on_long: Callable[[ProgramRun, int], None] | None = None,
        *,
        leaps: bool = False,
    ) -> Suspect | None:
        """Runs with inputs of all kinds, for states and violations; ``on_long`` is told of those that did not end;
        ``leaps``: they take many iterations at once that are alike.
        """
        self.is_sampled = True
        until = min(self.deadline, clock.counted() + seconds)
        random_ = random.Random(1)
        constants = [c for c in self.proposals(fresh=True).constants if abs(c) < 1 << 40]
        for number in range(MAX_SAMPLED_RUNS):
            if clock.counted() > until and number >= MIN_SAMPLED_RUNS:
                break
            chooser = _chooser(random_, constants, number)
            run = self.runner.run(chooser, most, leaps=leaps)
            if run.end == "violation" and not run.forgot:
                return _suspect(run, "single runs")
            if run.end == "undefined" and run.exact:
                self.undefined.setdefault(run.kind, run)
            if run.end == "steps" and on_long is not None:
                on_long(run, number)
            self._keep(run)
            if not run.taken and number >= 2:
                break
        self._proposals = None
        return None

    def _keep(self, run: ProgramRun) -> None:
        """Some states of a run at each cutpoint: the first ones, the last ones, and some between."""
        for function, values in run.returned:
            known_calls = self.returned.setdefault(function, [])
            if len(known_calls) < MAX_KEPT_CALLS and values not in known_calls[-STATES_OF_RUN:]:
                known_calls.append(values)
        visited: dict[str, list[dict[t.Var, int]]] = {}
        for label, values in run.visits:
            visited.setdefault(label, []).append(values)
        for label, states in visited.items():
            known = self.seen[label]
            room = MAX_KEPT_STATES - len(known)
            share = max(STATES_OF_RUN, 4 * STATES_OF_RUN if not known else 0)
            if len(states) > share:
                step = max((len(states) - share // 2) // (share // 3), 1)
                states = [*states[: share // 3], *states[share // 3 : -share // 3 : step], *states[-share // 3 :]]
            known += states[: max(room, 0)]

    def proposals(self, *, fresh: bool = False) -> Proposals:
        """What may hold, by the states seen."""
        if self._proposals is None or fresh:
            self._proposals = Proposals(self.system, self.seen)
        return self._proposals

    def proposals_for(self, states: Mapping[str, Sequence[Mapping[t.Var, int]]]) -> Proposals:
        """What may hold of these states."""
        return Proposals(self.system, states)

    # -- proofs -------------------------------------------------------------------------------------------------------

    @functools.cached_property
    def asserts_sums(self) -> bool:
        """Whether an equation of several variables is asserted, and nothing is multiplied."""
        return not self.multiplies and any(
            c.relation in ("eq", "ne") and len(c.variables) > 2
            for transition in self.bad
            for c in t.comparisons(transition.condition)
        )

    def excluded(
        self,
        transition: Step,
        known: Mapping[str, Sequence[t.Condition]],
        check_ms: int = EXCLUDED_MS,
        context: Any = None,
    ) -> bool:
        """Whether what is known at its source excludes a transition."""
        return entailed(replace(transition, update={}), known.get(transition.source, ()), t.FALSE, check_ms, context)

    def _proof(self, method: str, known: Invariants) -> Proof | None:
        context = solver_context()
        if all(self.excluded(transition, known, context=context) for transition in self.bad):
            return Proof(dict(known), method)
        return None

    def trivially(self) -> Proof | None:
        """Whether no invariant is needed."""
        return self._proof(NO_INVARIANT, self.found)

    def by_candidates(self, seconds: float) -> Proof | None:
        """Houdini on simple candidates."""
        now = clock.counted()
        until = min(self.deadline, now + seconds)
        made = self.proposals()
        proposed = {label: made.simple(label) for label in self.system.cutpoints}
        method = "inductive candidates (Houdini)"
        for chosen, share in ((is_of_one, ONE_VARIABLE_SHARE), (is_plainest, PLAINEST_SHARE)) if self.bad else ():
            some = {label: [c for c in parts if chosen(c)] for label, parts in proposed.items()}
            found = self._kept(some, min(until, now + share * seconds), method)
            if found is not None:
                return found
        return self._kept(proposed, until, method)

    def by_fewest_equations(self, seconds: float) -> Proof | None:
        """Houdini on equations, none of which follows from others, on what the program asserts, and on signs: what most
        proofs about products need, without the many bounds that hold besides.
        """
        until = min(self.deadline, clock.counted() + seconds)
        if self._few_asked:
            return None
        made, asserted = self.proposals(), self._asserted()
        proposed = {}
        for label in self.system.cutpoints:
            equal = (c for c in made.simple(label) if is_equation(c) or c in asserted)
            every = dict.fromkeys((*equal, *made.equations(label, 2)))
            proposed[label] = [*made.signs(label), *independent(every)]
        found = self._alone(proposed, until, EQUATIONS)
        self._few_asked = clock.counted() < until
        return found

    def _asserted(self) -> frozenset[t.Condition]:
        """The comparisons of what is asserted, and their negations."""
        atoms = (c for transition in self.bad for c in t.comparisons(transition.condition))
        return frozenset(part for c in atoms for part in (c, ~c) if is_plain(c))

    def by_plain_equations(self, seconds: float) -> Proof | None:
        """Houdini on equations, on what speaks of one variable, such as that it is one of some numbers, and on what the
        program asserts; without other inequalities of several variables, each of which makes questions about products
        harder.
        """
        until = min(self.deadline, clock.counted() + seconds)
        if self._all_asked:
            return None
        made, asserted = self.proposals(), self._asserted()
        proposed = {
            label: [*(c for c in made.simple(label) if is_of_equations(c, asserted)), *made.equations(label, 2)]
            for label in self.system.cutpoints
        }
        plainest = {label: [c for c in parts if is_plainest(c)] for label, parts in proposed.items()}
        found = self._alone(plainest, until, EQUATIONS) or self._alone(proposed, until, EQUATIONS)
        self._all_asked = clock.counted() < until
        return found

    def by_linear_invariants(self, seconds: float) -> Proof | None:
        """Houdini on linear invariants that Farkas' lemma finds for the ways into a violation."""
        until = min(self.deadline, clock.counted() + seconds)
        proposed: dict[str, list[t.Condition]] = {label: [] for label in self.system.cutpoints}
        left = [transition for transition in self.bad if not self.excluded(transition, self.found)]
        for found in linear_invariants(self.system, left, self.found):
            for label, condition in found.items():
                proposed[label].append(condition)
            if clock.counted() > until:
                break
        if not any(proposed.values()):
            return None
        return self._kept(proposed, until, LINEAR)

    def by_cases(self, seconds: float) -> Proof | Suspect | None:
        """Houdini on what holds case by case of the states of long runs."""
        until = min(self.deadline, clock.counted() + seconds)
        found = self.sampled(seconds / 4, leaps=True)
        if found is not None:
            return found
        made = self.proposals()
        proposed = {label: [*made.simple(label), *made.cases(label)] for label in self.system.cutpoints}
        return self._kept(proposed, until, "inductive candidates (Houdini), case by case")

    def by_steps(self, seconds: float, most: int = 4) -> Proof | None:
        """k-induction for k up to ``most``, made ordinary: that no violation comes within k transitions is a condition
        on the state, and where it is inductive, with what is known, none comes at all (Sheeran, Singh and Stålmarck,
        Checking safety properties using induction and a SAT-solver, FMCAD 2000). Transitions that read values are left
        out: what is said of them would need quantifiers.
        """
        until = min(self.deadline, clock.counted() + seconds)
        proposed: dict[str, dict[t.Condition, None]] = {label: {} for label in self.system.cutpoints}
        coming = [
            (transition.source, transition.condition)
            for transition in self.bad
            if transition.source in proposed and not transition.inputs
        ]
        for _ in range(most):
            further: list[tuple[str, t.Condition]] = []
            for label, condition in coming:
                if clock.counted() > until or len(proposed[label]) >= MAX_VIOLATING_WAYS:
                    break
                proposed[label][~condition] = None
                for transition in self.inner:
                    if transition.target == label and transition.source in proposed and not transition.inputs:
                        before = pre(transition, condition)
                        if not self.excluded(replace(transition, condition=before), self.found, EXCLUDED_BEFORE_MS):
                            further.append((transition.source, before))
            coming = further
            found = self._kept({label: list(parts) for label, parts in proposed.items()}, until, "k-induction")
            if found is not None or not coming:
                return found
        return None

    def by_equations(self, seconds: float, degree: int) -> Proof | None:
        """Houdini on polynomial equations."""
        until = min(self.deadline, clock.counted() + seconds)
        made = self.proposals()
        proposed = {label: made.equations(label, degree) for label in self.system.cutpoints}
        if not any(proposed.values()):
            return None
        return self._kept(proposed, until, EQUATIONS)

    def by_horn(self, seconds: float) -> Proof | bool | None:
        """Spacer on the transitions with what is known; False where it says that there is a violation."""
        left = min(self.deadline - clock.counted(), seconds)
        if left <= 0:
            return None
        strengthened = [
            replace(transition, condition=t.conjunction((*self.found.get(transition.source, ()), transition.condition)))
            for transition in self.system.transitions
        ]
        answer = solved(strengthened, self.system.state, START, GOALS, int(1000 * left))
        if answer.safe is None:
            return None
        if not answer.safe:
            return False
        proposed = {label: conjuncts_under([condition]) for label, condition in answer.invariants.items()}
        until = min(self.deadline, clock.counted() + max(seconds, COVERS_S))
        return self._kept(proposed, until, "Spacer")

    def _kept(self, proposed: Mapping[str, Sequence[t.Condition]], until: float, method: str) -> Proof | None:
        """What of this, with what is known, is inductive is known from now on."""
        every = {label: (*self.found[label], *proposed.get(label, ())) for label in self.system.cutpoints}
        return self._alone(every, until, method)

    def _alone(self, proposed: Mapping[str, Sequence[t.Condition]], until: float, method: str) -> Proof | None:
        """The same, of this without what is known."""
        kept = inductive_subset(self.inner, proposed, until)
        self.found = {label: tuple(dict.fromkeys((*known, *kept[label]))) for label, known in self.found.items()}
        return self._proof(method, kept)

    # -- summaries ----------------------------------------------------------------------------------------------------

    def by_summaries(self, seconds: float) -> Proof | Suspect | None:
        """By the summaries of loops as steps: the inputs of a path into a violation, or where there is none the states
        from which there is none as invariants.
        """
        if not self.system.graph.loops or not self._leaps_cut:
            return None
        leaps, self._leaps_cut = leaps_of(self.system, seconds)
        streamed = self._over_inputs(seconds) if len(leaps) < len(self.system.graph.loops) else None
        if streamed is not None or not leaps:
            return streamed
        system = accelerated(self.system, leaps)
        found = explored(system, GOALS, min(seconds, self.deadline - clock.counted()))
        if found.path is not None:
            run = self.run_along(found.path, found.values, leaps)
            return _suspect(run, SUMMARIES) if run.end == "violation" else None
        if not found.complete:
            return None
        safe = _safe(system, leaps)
        if safe is None:
            return None
        # What else is known stays as it is: other methods do better without such long conditions.
        for some in (without_large_numbers(safe), safe):
            if some is not None:
                kept = inductive_subset(self.inner, some, min(self.deadline, clock.counted() + seconds))
                proof = self._proof(SUMMARIES, kept)
                if proof is not None:
                    return proof
        return self._by_history(leaps, safe, min(seconds, HISTORY_S))

    def _over_inputs(self, seconds: float) -> Suspect | None:
        """A run into a violation behind loops that take inputs in each iteration."""
        try:
            with in_time(clock.now() + seconds):
                found = streamed_violation(self.system, seconds, self.deadline)
        except LimitError:
            return None
        if found is None:
            return None
        path = found.path
        told = path.iterations, found.repeats, True
        return Suspect(found.inputs, path.uninitialised, f"{SUMMARIES}, over inputs", {}, 0, *told)

    def by_history(self, seconds: float) -> Proof | None:
        """By what iterations come to alone, though there may be a proof that needs no history."""
        leaps, _ = leaps_of(self.system, seconds)
        safe = _safe(accelerated(self.system, leaps), leaps) if leaps else None
        return None if safe is None else self._by_history(leaps, safe, seconds)

    def _by_history(self, leaps: Leaps, safe: Invariants, seconds: float) -> Proof | None:
        """By what iterations come to, over history variables, from entries that are safe."""
        try:
            with in_time(clock.now() + seconds):
                found = history_invariants(self.system, leaps, safe)
        except LimitError:
            return None
        return None if found is None else self._told(found, f"{SUMMARIES}, with history", seconds)

    def by_contents(self, plain: Flowgraph, seconds: float, *, simple: bool = False) -> Proof | None:
        """By what loops write to arrays. ``plain``: the flowgraph without the cells that are followed; ``simple``: with
        simple candidates beside, as what stops a search is an element that was written.
        """
        try:
            with in_time(clock.now() + seconds):
                found = content_invariants(self.system, plain)
        except (LimitError, t.TermTooLarge):
            return None
        if found is None:
            return None
        if simple:
            made = self.proposals()
            cells = frozenset[t.Var]().union(*(cell.variables for cell in self.system.graph.cells.values()))
            beside = {
                label: [one for one in made.simple(label) if one.variables.isdisjoint(cells)]
                for label in self.system.cutpoints
            }
            every = {label: (*parts, *beside[label]) for label, parts in found.proposed.items()}
            found = replace(found, proposed=every)
        return self._told(found, CONTENTS, seconds, elements=True, shorten=simple)

    def _told(
        self, found: HistoryInvariants, method: str, seconds: float, *, elements: bool = False, shorten: bool = False
    ) -> Proof | None:
        """The proof by what of this is inductive, if that is one. ``elements``: what holds of followed elements is used
        of those that are read; ``shorten``: what the proof does not need is left out.
        """
        graph, variables = instrumented(self.system.graph, found.history)
        kept_everywhere = variables | found.also
        told = system_of(graph, self.system.violates, self.system.calls, kept=kept_everywhere, elements=elements)
        if not isinstance(told, TransitionSystem) or told.cutpoints != self.system.cutpoints:
            return None
        proposed = {label: (*self.found[label], *found.proposed[label]) for label in told.cutpoints}
        inner = [step for step in told.transitions if step.target not in GOALS]
        kept = inductive_subset(inner, proposed, min(self.deadline, clock.counted() + seconds))
        if not all(self.excluded(step, kept) for step in told.transitions if step.target in GOALS):
            return None
        if shorten:
            search = Search(told, self.violates, self.deadline)
            kept = search.shortened(kept, search.safety_goals(), PROVED_SHORTENING_S)
        return Proof(dict(kept), method, found.history, elements)

    def run_along(self, path: SystemPath, values: Mapping[t.Var, int], leaps: Leaps) -> ProgramRun:
        """The run along a path of steps, which jumps over loops as their summaries say."""
        position = 0

        def visited(label: str) -> None:
            nonlocal position
            if position + 1 < len(path.taken) and label == path.taken[position].target:
                position += 1

        def choose(target: t.Var, origin: Origin, block: str, index: int) -> int:
            del origin
            if not block:
                return values.get(target, 0)
            for one in path.taken[position].inputs:
                if one.block == block and one.index == index:
                    return values.get(named_at(one.var, position), 0)
            return 0

        summaries = {header: leap.summary for header, leap in leaps.items()}
        runner = Runner(self.system.graph, self.system.violates, self.system.state, summaries)
        return runner.run(choose, 1_000_000, visited)

    # -- violations ---------------------------------------------------------------------------------------------------

    def by_paths(self, seconds: float, most: int = MAX_PATH_LENGTH) -> Suspect | None:
        """The shortest path of transitions into a violation."""
        until = min(self.deadline, clock.counted() + seconds)
        transitions = self.system.transitions
        taken = runs_into(transitions, START, frozenset((VIOLATION,)), until, most)
        if taken is None:
            return None
        chosen = [(transitions[one.step], one.values) for one in taken]
        return self._followed(chosen)

    def guided_inputs(self, seconds: float) -> list[tuple[int, ...]]:
        """What runs read until they come to the first cutpoint, as small, as large and as low as they may, for native
        runs.
        """
        until = min(self.deadline, clock.counted() + seconds)
        first = [step for step in self.system.transitions if step.source == START and step.target not in GOALS]
        found: dict[tuple[int, ...], None] = {}
        for index, values in extreme_first_steps(first, START, until):
            transition = first[index]

            def choose(
                target: t.Var,
                origin: Origin,
                block: str,
                number: int,
                transition: Step = transition,
                values: Mapping[t.Var, int] = values,
            ) -> int:
                del target, origin
                chosen = (one.var for one in transition.inputs if (one.block, one.index) == (block, number))
                return next((values[var] for var in chosen if var in values), 1)

            run = self.runner.run(choose, ENTERING_BLOCKS)
            found[tuple(run.inputs[: run.before_cutpoint])] = None
        return list(found)

    def _followed(self, chosen: Sequence[tuple[Step, Mapping[t.Var, int]]]) -> Suspect | None:
        """The inputs of the run that takes these transitions."""
        position = 0
        labels = [transition.target for transition, _ in chosen]

        def visited(label: str) -> None:
            nonlocal position
            if position + 1 < len(chosen) and label == labels[position]:
                position += 1

        def choose(target: t.Var, origin: Origin, block: str, index: int) -> int:
            del origin
            transition, values = chosen[position]
            if not block:
                return values.get(target, 0)
            for one in transition.inputs:
                if one.block == block and one.index == index and one.var in values:
                    return values[one.var]
            return 0

        run = self.runner.run(choose, 1_000_000, visited)
        return _suspect(run, "paths of transitions") if run.end == "violation" else None

    # -- shorter proofs -----------------------------------------------------------------------------------------------

    def shortened(
        self, known: Invariants, goals: Sequence[tuple[Step, t.Condition]], seconds: float
    ) -> dict[str, tuple[t.Condition, ...]]:
        """Of ``known``, which is inductive, what is enough for itself and for ``goals``: conditions behind transitions.
        First what the proofs of Z3 use, then without each conjunct in turn, as far as time allows.
        """
        until, context = min(self.deadline, clock.counted() + seconds), solver_context()
        kept = {label: tuple(dict.fromkeys(conditions)) for label, conditions in known.items()}
        part = None
        if multiplies(self.inner):  # products are too much for the judge beside all that is known
            kept = {label: tuple(independent(Strongest().needed(parts))) for label, parts in kept.items()}
            part = self._enough(kept, goals, until, context)
        wanted = list(goals)
        if part is None:
            wanted += self._aside(kept, until, context)
            part = None if multiplies(self.inner) else self._enough(kept, wanted, until, context)
        kept = part or kept
        shorter = needed(kept, self.inner, wanted, context, until=until)
        return self._without_each(shorter or kept, wanted, until, context)

    def _aside(
        self, known: Mapping[str, Sequence[t.Condition]], until: float, context: Any
    ) -> list[tuple[Step, t.Condition]]:
        """What undefined behaviour is excluded stays so: else it would be taken for granted."""
        excluded = (
            term
            for term in self.system.failing
            if clock.counted() < until and self.excluded(term, known, SHORTENING_CHECK_MS, context)
        )
        return [(replace(term, update={}), t.FALSE) for term in excluded]

    def _enough(
        self,
        known: dict[str, tuple[t.Condition, ...]],
        goals: Sequence[tuple[Step, t.Condition]],
        until: float,
        context: Any,
    ) -> dict[str, tuple[t.Condition, ...]] | None:
        """The first of a few parts of ``known`` that is enough: what speaks of single variables, equations, both, then
        what has no large numbers.
        """
        for chosen in (is_of_one, is_equation, is_one_or_equation, is_plain):
            part = {label: [c for c in conditions if chosen(c)] for label, conditions in known.items()}
            kept = inductive_subset(self.inner, part, min(until, clock.counted() + SHORTENED_PART_S), context=context)
            known_at = ((transition, kept.get(transition.source, ()), wanted) for transition, wanted in goals)
            if all(entailed(*one, context=context) for one in known_at):
                return dict(kept)
        return None

    def _without_each(
        self,
        kept: dict[str, tuple[t.Condition, ...]],
        goals: Sequence[tuple[Step, t.Condition]],
        until: float,
        context: Any,
    ) -> dict[str, tuple[t.Condition, ...]]:
        """Without the conjuncts that the others make needless, the longest first."""
        every = [(label, part) for label, parts in kept.items() for part in parts]
        for label, part in sorted(every, key=lambda pair: (-len(pair[1].key), pair[1].key)):
            if clock.counted() > until:
                break
            rest = tuple(other for other in kept[label] if other is not part)
            asked = [goal for goal in goals if goal[0].source == label]
            for transition in self.inner:
                if transition.source == label:
                    behind = rest if transition.target == label else kept[transition.target]
                    asked.append((transition, t.conjunction(behind)))
            if all(entailed(term, rest, wanted, SHORTENING_CHECK_MS, context) for term, wanted in asked):
                kept[label] = rest
        return kept

    def safety_goals(self) -> list[tuple[Step, t.Condition]]:
        """That no transition into a violation is taken."""
        return [(replace(transition, update={}), t.FALSE) for transition in self.bad]


def _safe(system: TransitionSystem, leaps: Leaps) -> Invariants | None:
    """The states of the accelerated system from which no violation is ahead."""
    return safe_states(system, GOALS, {header: leap.given for header, leap in leaps.items() if leap.lasting})


def _suspect(run: ProgramRun, method: str) -> Suspect:
    line = run.loc.line if run.loc is not None else 0
    most = max(run.iterations.values(), default=0)
    return Suspect(tuple(run.inputs), dict(run.uninitialised), method, {}, line, most)


def _chooser(random_: random.Random, constants: Sequence[int], number: int) -> Choose:
    """Inputs: at first all alike, then small ones, then near constants of the program, then any."""
    alike = (0, 1, 5, -1, 1_000_000)

    def choose(target: t.Var, origin: Origin, block: str, index: int) -> int:
        del block, index
        if origin is Origin.UNSUPPORTED and number > 1:
            return target.type.wrap(random_.choice((0, 1, 2, 3, 3, 4)))  # places that runs come to
        low, high = target.type.min, target.type.max
        low, high = (-(1 << 40) if low is None else low), ((1 << 40) if high is None else high)
        if number < len(alike):
            value = alike[number]
        elif random_.random() < 0.5:
            value = random_.randint(-3, 12)
        elif random_.random() < 0.7:
            value = random_.choice(constants) + random_.randint(-1, 1)
        elif random_.random() < 0.5:
            value = random_.choice((low, high, low + 1, high - 1))
        else:
            value = random_.randint(low, high)
        return max(low, min(high, value)) if low <= 0 else value % (high + 1)

    return choose


def short_inputs(number: int) -> Iterator[tuple[int, ...]]:
    """A few small inputs, of which the last one is to come again and again."""
    random_ = random.Random(3)
    for index in range(number):
        yield tuple(random_.randint(-9, 9) for _ in range(1 + index % 5))


def small_sizes() -> Iterator[tuple[int, ...]]:
    """Inputs of which the first is small, as a number of elements that follow, and those are small and differ: runs
    with them are short, and meet what goes wrong with the first, the last and the one between.
    """
    random_ = random.Random(4)
    for size in (1, 2, 3):
        yield (size,)
        for _ in range(2):
            yield (size, *(random_.randint(-9, 9) for _ in range(4 * size)))


def input_lists(number: int, length: int = 4000) -> list[list[int]]:
    """Inputs for native runs: all alike, small ones, and any."""
    random_ = random.Random(2)
    found = [[value] * length for value in (0, 1, 2, -1, 7, 1_000_000)]
    while len(found) < number:
        if len(found) % 2:
            found.append([random_.randint(-2, 20) for _ in range(length)])
        else:
            found.append([random_.randint(-(1 << 31), (1 << 31) - 1) for _ in range(length)])
    return found
