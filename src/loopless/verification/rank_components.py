"""Components of ranks, and affine terms that may be some, by Farkas' lemma on transitions between cutpoints.

Of transitions that go on, one term is looked for that none of them raises and some of them lower while it is 0 or more
(Bradley, Manna and Sipma, Linear ranking with reachability, CAV 2005). What is found is a proposal: the search proves
it before it is used.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from loopless import terms as t
from loopless.limits.verification import MAX_CHOICES, MAX_COEFFICIENT, MAX_RANK_VARIABLES, NEAR_END
from loopless.logic.farkas import Farkas, affine
from loopless.ranking.affine import Kept, Lowered, RankedStep, ranking_functions
from loopless.terms.relation import behind
from loopless.transition.algebra import apart
from loopless.transition.relation import Step

Shown = Callable[[Step, t.Condition], bool]
"""Whether a condition holds before a transition that is taken."""


Component = Mapping[str, t.Term]
"""A component of a rank: at each cutpoint a term that is 0 or more."""


def alike(terms: Iterable[t.Term], labels: Sequence[str]) -> Iterator[Component]:
    """The same term at all cutpoints."""
    return (dict.fromkeys(labels, cut(term)) for term in terms)


def behind_and_before(transition: Step, rank: Component) -> tuple[t.Term, t.Term]:
    """The component where a transition has led, and where it begins, over the variables there."""
    return behind(transition, rank[transition.target]), rank[transition.source]


def cut(term: t.Term) -> t.Term:
    """The component of a rank that a term makes: it stays at 0 once the term is below 0."""
    return t.maximum(t.ZERO, term + 1)


class AffineRanks:
    """The search of one question; ``known``: what holds at a cutpoint."""

    def __init__(self, known: Callable[[str], Sequence[t.Condition]], shown: Shown) -> None:
        self.known, self.shown = known, shown

    @cached_property
    def engine(self) -> Farkas:
        """Made when it is first asked."""
        return Farkas()

    def components(
        self, state: Mapping[str, Collection[t.Var]], transitions: Sequence[Step]
    ) -> Iterator[Mapping[str, t.Term]]:
        """For each cutpoint of ``state``, its variables, a term, so that no transition raises the terms, and all, or
        some, lower them by 1 or more where they are 0 or more.
        """
        parts = [part for transition in transitions for part in apart(transition)]
        used = {
            var
            for transition in parts
            for c in (transition.condition, *transition.update, *transition.update.values())
            for var in c.variables
        }
        over = {label: sorted(used.intersection(variables), key=lambda v: v.key) for label, variables in state.items()}
        if not 0 < sum(map(len, over.values())) <= MAX_RANK_VARIABLES:
            return
        rows = [self._rows(term) for term in parts]
        every = tuple(range(len(parts)))
        choices = [every, *((index,) for index in every)] if len(parts) > 1 else [every]
        for falling in choices[:MAX_CHOICES]:
            found = self._solved(over, parts, rows, falling)
            if found is not None:
                yield found

    def _solved(
        self,
        over: Mapping[str, Sequence[t.Var]],
        transitions: Sequence[Step],
        rows: Sequence[tuple[t.Term, ...]],
        falling: Sequence[int],
    ) -> Mapping[str, t.Term] | None:
        steps = [
            RankedStep(
                transition.source,
                transition.target,
                (*known, *_of_unknown(transition.update, over[transition.target], index)),
                functools.partial(_after, transition.update, index),
                Lowered(by=1, least=0) if index in falling else Kept(),
            )
            for index, (transition, known) in enumerate(zip(transitions, rows, strict=True))
        ]
        found = ranking_functions(self.engine, over, steps)
        if found is None:
            return None
        terms = {label: one.term for label, one in found.items()}
        factors = (c for term in terms.values() for var, c in affine(term).items() if var is not None)
        if any(abs(c) > MAX_COEFFICIENT for c in factors):
            return None  # several components in one, by the width of a type
        return terms

    def _rows(self, transition: Step) -> tuple[t.Term, ...]:
        """Affine terms that are 0 or more where the transition is taken."""
        found: dict[t.Term, None] = {}
        for condition in (*t.conjuncts(transition.condition), *self.known(transition.source)):
            for part in t.conjuncts(condition):
                if isinstance(part, t.Compare) and all(_is_affine(term) for term in _positive(part)):
                    found.update(dict.fromkeys(_positive(part)))
                else:
                    found.update(dict.fromkeys(self._cut_off(transition, part)))
        variables = {var for row in found for var in row.variables} | {
            var for term in transition.update.values() for var in term.variables
        }
        for var in sorted(variables, key=lambda v: v.key):
            found.update(dict.fromkeys(_range(var, var.type)))
        return tuple(found)

    def _cut_off(self, transition: Step, condition: t.Condition) -> Iterator[t.Term]:
        """Of the terms that a condition cuts off below 0 those that are 0 or less there."""
        for node in t.walk(condition):
            if not isinstance(node, t.Op) or node.op != "max":
                continue
            for part in node.args:
                if part.variables and _is_affine(part) and self.shown(transition, part.le(0)):
                    yield -part


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


def _is_affine(term: t.Term) -> bool:
    try:
        affine(term)
    except ValueError:
        return False
    return True


def _range(var: t.Var, type_: t.IntType) -> Iterator[t.Term]:
    if type_.min is not None:
        yield var - type_.min
    if type_.max is not None:
        yield type_.max - var


def _after(update: Mapping[t.Var, t.Term], index: int, term: t.Term) -> t.Term:
    """A variable behind a transition: any value of its type where it is not affine."""
    assert isinstance(term, t.Var)
    after = update.get(term, term)
    return after if _is_affine(after) else t.Var(f"{term.name} behind {index}", term.type)


def _of_unknown(update: Mapping[t.Var, t.Term], variables: Sequence[t.Var], index: int) -> Iterator[t.Term]:
    """The ranges of the variables that have any value behind a transition."""
    new = {_after(update, index, var) for var in variables if not _is_affine(update.get(var, var))}
    for var in sorted((one for one in new if isinstance(one, t.Var)), key=lambda v: v.key):
        yield from _range(var, var.type)


def counts_to_end(rank: t.Term) -> bool:
    """Whether a rank falls towards the end of a type."""
    constants = [c for node in t.walk(rank) if isinstance(node, t.Sum) for m, c in node.items if not m]
    return any(abs(abs(value) - (1 << bits)) <= NEAR_END for value in constants for bits in (31, 32, 63, 64))


def choices_of(transition: Step) -> list[t.Compare]:
    """The comparisons that choose what variables become."""
    nodes = (node for term in transition.update.values() for node in t.walk(term))
    return list(dict.fromkeys(node for node in nodes if isinstance(node, t.Compare)))


def sides_of(comparison: t.Compare) -> list[t.Term]:
    """What falls while a comparison holds, by its form: the distance to its border."""
    term = comparison.term
    return [-term] if comparison.relation == "le" else [term, -term]
