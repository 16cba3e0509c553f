"""What may be a component of a rank: terms of the conditions and choices of steps, borders, the smaller and the larger
one of two variables, and affine terms by Farkas' lemma. All are proposals, which the search proves before it uses them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations, islice, permutations

from loopless import terms as t
from loopless.limits.verification import (
    MAX_CHOICES,
    MAX_COEFFICIENT,
    MAX_DIVISIONS,
    MAX_PAIRED_VARIABLES,
    MAX_RANK_TERMS,
    MAX_RANK_VARIABLES,
    NEAR_END,
)
from loopless.logic.farkas import Farkas, affine
from loopless.ranking.affine import Kept, Lowered, RankedStep, falling_together, ranking_functions
from loopless.ranking.lexicographic import Component, cut
from loopless.terms.relation import behind
from loopless.transition.algebra import apart
from loopless.transition.relation import Step
from loopless.verification.linear_steps import LinearSteps


class AffineRanks:
    """The search of one question; ``known``: what holds at a cutpoint."""

    def __init__(self, known: Callable[[str], Sequence[t.Condition]]) -> None:
        self.known = known
        self.linear = LinearSteps()

    @cached_property
    def engine(self) -> Farkas:
        """Made when it is first asked."""
        return Farkas()

    def components(self, state: Mapping[str, Collection[t.Var]], transitions: Sequence[Step]) -> Iterator[Component]:
        """For each cutpoint of ``state``, its variables, a term, so that no transition raises the terms, and all, or
        some, lower them by 1 or more where they are 0 or more.
        """
        used = {
            var
            for transition in transitions
            for c in (transition.condition, *transition.update, *transition.update.values())
            for var in c.variables
        }
        over = {label: sorted(used.intersection(variables), key=lambda v: v.key) for label, variables in state.items()}
        if not 0 < sum(map(len, over.values())) <= MAX_RANK_VARIABLES:
            return
        made = [self.linear.of(step, self.known(step.source)) for step in transitions]
        steps = [one for some in made for one in some]
        for falling in islice(falling_together(steps, *made), MAX_CHOICES):
            found = self._solved(over, [RankedStep(s, Lowered(1, 0) if s in falling else Kept()) for s in steps])
            if found is not None:
                yield found

    def _solved(self, over: Mapping[str, Sequence[t.Var]], steps: Sequence[RankedStep]) -> Component | None:
        found = ranking_functions(self.engine, over, steps)
        if found is None:
            return None
        terms = {label: one.term for label, one in found.items()}
        factors = (c for term in terms.values() for var, c in affine(term).items() if var is not None)
        if any(abs(c) > MAX_COEFFICIENT for c in factors):
            return None  # several components in one, by the width of a type
        return terms


def borders(transitions: Sequence[Step], shared: Collection[t.Var]) -> Iterator[t.Term]:
    """Terms that are below 0 behind a transition since its condition bounds them before: they fall before it is taken,
    or are used up for good.
    """
    for transition in (part for each in transitions for part in apart(each)):
        for part in t.conjuncts(transition.condition):
            if not isinstance(part, t.Compare):
                continue
            for side in _positive(part):
                if not side.variables or not side.variables <= frozenset(shared):
                    continue
                change = behind(transition, side) - side
                if not change.variables and t.polynomial(change).get((), 0) < 0:
                    yield -side + change - 1


def _positive(comparison: t.Compare) -> tuple[t.Term, ...]:
    """What is 0 or more where it holds; nothing of an inequation."""
    match comparison.relation:
        case "le":
            return (-comparison.term,)
        case "eq":
            return (comparison.term, -comparison.term)
        case _:
            return ()


def counts_to_end(rank: t.Term) -> bool:
    """Whether a rank falls towards the end of a type."""
    constants = [c for node in t.walk(rank) if isinstance(node, t.Sum) for m, c in node.items if not m]
    return any(abs(abs(value) - (1 << bits)) <= NEAR_END for value in constants for bits in (31, 32, 63, 64))


def terms_that_may_fall(
    transitions: Sequence[Step], shared: frozenset[t.Var], known: Callable[[str], Sequence[t.Condition]]
) -> list[t.Term]:
    """Terms that may fall, over the variables that matter everywhere: what conditions compare, variables, their
    differences and sums.
    """
    found: dict[t.Term, None] = {}
    firsts: dict[t.Term, None] = {}
    for transition in transitions:
        for comparison in _choices_of(transition):
            sides = [term for one in (comparison, *t.comparisons(~comparison)) for term in _sides_of(one)]
            firsts.update(dict.fromkeys(term for term in sides if term.variables and term.variables <= shared))
        for condition in (transition.condition, *known(transition.source)):
            for comparison in t.comparisons(condition):
                for term in _sides_of(comparison):
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


def of_pairs(variables: Sequence[t.Var], transitions: Sequence[Step]) -> Iterator[t.Term]:
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


def dividing_conditions(transitions: Sequence[Step], shared: frozenset[t.Var]) -> list[t.Condition]:
    """Conditions that may stay false once they are: of transitions, and the signs of what none of them changes."""
    atoms = dict.fromkeys(
        atom
        for transition in transitions
        for comparison in (*t.comparisons(transition.condition), *_choices_of(transition))
        for atom in (comparison, ~comparison, *_beyond(comparison))
        if atom.variables and atom.variables <= shared
    )
    fixed = shared - {var for transition in transitions for var in transition.update}
    return [*list(atoms)[:MAX_DIVISIONS], *(var.ge(1) for var in sorted(fixed, key=lambda var: var.key))]


def _beyond(comparison: t.Compare) -> tuple[t.Condition, ...]:
    """Of an equation, and of its opposite, the two sides on which it does not hold."""
    return () if comparison.relation == "le" else (comparison.term.lt(0), comparison.term.gt(0))


def _choices_of(transition: Step) -> list[t.Compare]:
    """The comparisons that choose what variables become."""
    nodes = (node for term in transition.update.values() for node in t.walk(term))
    return list(dict.fromkeys(node for node in nodes if isinstance(node, t.Compare)))


def _sides_of(comparison: t.Compare) -> list[t.Term]:
    """What falls while a comparison holds, by its form: the distance to its border."""
    term = comparison.term
    return [-term] if comparison.relation == "le" else [term, -term]
