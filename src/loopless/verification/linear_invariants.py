"""Linear invariants that exclude a violation, by Farkas' lemma on transitions between cutpoints.

At each cutpoint an affine term is looked for that is 0 or more where runs begin, falls on no transition, and is below 0
where a violation follows: one linear system, since the term behind a transition is compared with itself (Colón,
Sankaranarayanan and Sipma, Linear invariant generation using non-linear constraint solving, CAV 2003, with the
multiplier of the term fixed to 1). Where iterations add constants, that is dual to the flows over counters of paths of
Obdržálek and Trtík (Efficient loop navigation for symbolic execution, ATVA 2011): counts that no run can have are
excluded by such a term. What is found is a proposal: the search proves it before it is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from math import lcm

from loopless import terms as t
from loopless.bounds.iteration.linearize import Linearizer
from loopless.bounds.ranking.transition_system import alternatives_of
from loopless.graphs import predecessors, reachable
from loopless.limits.bounds import MAX_PATH_TRANSITIONS
from loopless.limits.verification import MAX_COEFFICIENT, MAX_TEMPLATE_VARIABLES
from loopless.logic.farkas import Farkas, FarkasClaim
from loopless.logic.steps import successors
from loopless.ranking.templates import Template, plain, total
from loopless.records import dataclass
from loopless.transition.relation import Step, TransitionSystem

Known = Mapping[str, Sequence[t.Condition]]
"""By cutpoint, what holds whenever a run is there."""


def linear_invariants(
    system: TransitionSystem, goals: Sequence[Step], known: Known
) -> Iterator[Mapping[str, t.Condition]]:
    """For each way into one of the ``goals``, conditions at the cutpoints from which runs come to it that may exclude
    it: affine terms that are 0 or more. Ways of which none are found are passed over.
    """
    search = _Search(system, known)
    for goal in goals:
        for part in search.split(goal):
            found = search.excluding(part)
            if found is not None:
                yield found


@dataclass(frozen=True, slots=True)
class _Relaxed:
    """A transition with affine terms: ``rows`` are 0 or more where it is taken, ``after`` are values behind it."""

    source: str
    target: str
    rows: tuple[t.Term, ...]
    after: Mapping[t.Var, t.Term]

    def stepped(self, variables: Sequence[t.Var]) -> tuple[t.Term, ...]:
        """What the variables hold behind it."""
        return tuple(self.after.get(var, var) for var in variables)


@dataclass(slots=True)
class _Search:
    system: TransitionSystem
    known: Known
    engine: Farkas = field(default_factory=Farkas)
    relaxed: dict[int, tuple[_Relaxed, ...]] = field(default_factory=dict)
    """By the identity of a transition of the system, its affine steps."""

    def excluding(self, goal: Step) -> Mapping[str, t.Condition] | None:
        """What excludes one way into a violation."""
        labels = self._leading_to(goal.source)
        over = {label: self._variables(label) for label in labels}
        if not 0 < sum(map(len, over.values())) <= MAX_TEMPLATE_VARIABLES:
            return None
        templates = {label: Template(f"c{number} ", tuple(over[label])) for number, label in enumerate(labels)}
        claims = []
        for transition in self.system.transitions:
            if transition.target not in templates:
                continue
            for step in self._steps(transition):
                behind = replace(templates[step.target], basis=step.stepped(over[step.target])).now()
                before = (templates[step.source].now(-1),) if step.source in templates else ()
                claims.append(FarkasClaim(step.rows, total(behind, *before)))
        claims.append(FarkasClaim(self._linear(goal).rows, total(templates[goal.source].now(-1), plain(-1))))
        size = {name: 1 for template in templates.values() for name in template.size()}
        solution = self.engine.solve(claims, least=(size,))
        if solution is None:
            return None
        found = {label: template.found(solution) for label, template in templates.items()}
        divisor = lcm(*(one.divisor for one in found.values()))
        if divisor > MAX_COEFFICIENT:
            return None
        return {label: one.term.ge(0) for label, one in found.items() if one.term.variables}

    def _leading_to(self, label: str) -> list[str]:
        """The cutpoints from which runs come to one."""
        back = predecessors(successors(self.system.transitions))
        found = reachable((label,), lambda at: back.get(at, ()))
        return [one for one in self.system.cutpoints if one in found]

    def _variables(self, label: str) -> list[t.Var]:
        """The variables at a cutpoint that hold numbers."""
        info = self.system.graph.variables
        return [var for var in self.system.state[label] if var not in info or not info[var].pointer_part]

    def _steps(self, transition: Step) -> tuple[_Relaxed, ...]:
        """The transition as affine ones, of which each has one value for each variable."""
        found = self.relaxed.get(id(transition))
        if found is None:
            found = self.relaxed[id(transition)] = tuple(self._linear(part) for part in self.split(transition))
        return found

    def split(self, transition: Step) -> Iterator[Step]:
        """The transition as several, with what is known at its source, without alternatives."""
        known = t.conjunction(self.known.get(transition.source, ()))
        for extra, condition, update in alternatives_of(
            known, transition.condition, transition.update, MAX_PATH_TRANSITIONS
        ):
            yield replace(transition, condition=extra & condition, update=update)

    def _linear(self, step: Step) -> _Relaxed:
        condition = step.condition
        changed = condition.variables.union(*(term.variables for term in step.update.values()))
        linearizer = Linearizer(condition, "", changed)
        for part in t.conjuncts(condition):
            if isinstance(part, t.Compare) and part.relation != "ne":
                term = linearizer.term(part.term)
                linearizer.row(-term)
                if part.relation == "eq":
                    linearizer.row(term)
        after = {var: linearizer.term(term) for var, term in step.update.items()}
        rows = (*linearizer.rows, *linearizer.wide)
        variables = {v for row in (*rows, *after.values()) for v in row.variables}
        linearizer.ranges(var for var in variables if var.type.width is not None)
        for var, term in after.items():
            linearizer.within(term, var)
        return _Relaxed(step.source, step.target, (*linearizer.rows, *linearizer.wide), after)
