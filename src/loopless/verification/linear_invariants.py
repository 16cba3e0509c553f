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
from dataclasses import field
from math import lcm

from loopless import terms as t
from loopless.graphs import predecessors, reachable
from loopless.limits.verification import MAX_COEFFICIENT, MAX_TEMPLATE_VARIABLES
from loopless.logic.farkas import Farkas
from loopless.logic.steps import successors
from loopless.ranking.templates import Template
from loopless.records import dataclass
from loopless.transition.relation import Step, TransitionSystem
from loopless.verification.linear_steps import LinearSteps, linear, ways

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
        for part in ways(goal, known.get(goal.source, ())):
            found = search.excluding(part)
            if found is not None:
                yield found


@dataclass(slots=True)
class _Search:
    system: TransitionSystem
    known: Known
    engine: Farkas = field(default_factory=Farkas)
    linear: LinearSteps = field(default_factory=LinearSteps)

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
            for step in self.linear.of(transition, self.known.get(transition.source, ())):
                before = (templates[step.source].now(-1),) if step.source in templates else ()
                claims.append(step.claims(step.then(templates[step.target]), *before))
        claims.append(linear(goal).claims(templates[goal.source].now(-1), least=1))
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
