"""How large a term can become at the headers between which a run goes, from how often the transitions are taken.

Each transition raises a term by no more than some amount, or sets it to no more than some value. So the term never
exceeds the largest of what it is where a run comes in from outside and of the values that it is set to, plus each
amount as often as its transition is taken (after Sinn, Zuleger and Veith, Complexity and resource bound analysis of
imperative programs using difference constraints, JAR 2017; Brockschmidt et al., Analyzing runtime and size complexity
of integer programs, TOPLAS 2016). Amounts and values are found by Farkas' lemma and proved on the paths before they are
used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from loopless import terms as t
from loopless.bounds.ranking.transition_system import (
    LinearTransition,
    LinearTransitionSystem,
    TransitionGraph,
    loop_graph,
)
from loopless.limits.bounds import MAX_MONOMIALS, MAX_SIZE_DEPTH
from loopless.logic import feasible
from loopless.logic.farkas import Farkas
from loopless.ranking.templates import LinearStep, RationalFunction, bound_above
from loopless.records import dataclass
from loopless.terms.relation import behind


@dataclass(frozen=True, slots=True)
class TakenAtMost:
    """Transitions, by name, that are together taken at most ``bound`` times; a term over entry values, ≥ 0."""

    names: frozenset[str]
    bound: t.Term


@dataclass(frozen=True, slots=True)
class SizeEffect:
    """What one transition does to a term: raises it by at most ``amount``, or sets it to at most ``amount``, which is
    ≤ a term over entry values.
    """

    resets: bool
    amount: t.Term


Entering = Callable[[str, t.Term], Sequence[t.Term] | None]
"""Upper bounds on an affine term where runs come to a header from outside, one for each transition that leads there,
over entry values; None where one of them is not known.
"""


class SizeBounds:
    """Upper bounds on affine terms in all states at headers, by the counts known so far."""

    def __init__(
        self, graph: TransitionGraph, engine: Farkas, entering: Entering, *, wide: bool, by_value: bool = False
    ) -> None:
        """``by_value``: what a step sets a term to at most counts before what it adds to it at most."""
        self.graph = graph
        self.system = graph.system
        self.engine = engine
        self.entering = entering
        self.by_value = by_value
        self.wide = wide
        self.counted: list[TakenAtMost] = []
        self._known: dict[tuple[str, t.Term], t.Term | None] = {}
        self._open: set[tuple[str, t.Term]] = set()

    def rows(self, transition: LinearTransition) -> tuple[t.Term, ...]:
        """The rows that are used of a transition."""
        return transition.rows + transition.wide if self.wide else transition.rows

    def linear(self, transition: LinearTransition) -> LinearStep:
        """The transition as linear inequalities have it."""
        source, target = self.graph.source_of(transition), self.graph.target_of(transition)
        return LinearStep(source, target, self.rows(transition), transition.step)

    def count(self, counted: TakenAtMost) -> None:
        """Takes note of a further bound."""
        self.counted.append(counted)
        self._known = {key: bound for key, bound in self._known.items() if bound is not None}

    def group(self, transition: LinearTransition) -> TakenAtMost | None:
        """The bound that a transition is counted in."""
        return next((c for c in self.counted if transition.name in c.names), None)

    def upper(self, header: str, term: t.Term) -> t.Term | None:
        """A bound over entry values that the affine ``term`` never exceeds at a header; None where none is found."""
        key = (header, term)
        if key not in self._known:
            if key in self._open or len(self._open) >= MAX_SIZE_DEPTH:
                return None
            self._open.add(key)
            self._known[key] = self._upper(header, term)
            self._open.discard(key)
        return self._known[key]

    def _upper(self, header: str, term: t.Term) -> t.Term | None:
        """By what transitions set the term to, and what they add to it, on the paths to a header."""
        values: list[t.Term] = []
        amounts: dict[TakenAtMost, list[t.Term]] = {}
        reaching = [header]
        for here in reaching:  # which grows meanwhile
            entering = self.entering(here, term)
            if entering is None:
                return None
            values += entering
            for transition in self.system.transitions:
                if self.graph.target_of(transition) != here:
                    continue
                effect = self._set_or_raised(transition, term)
                if effect is None:
                    return None
                if effect.resets:
                    values.append(effect.amount)
                    continue
                if effect.amount is not t.ZERO:
                    counted = self.group(transition)
                    assert counted is not None
                    amounts.setdefault(counted, []).append(effect.amount)
                before = self.graph.source_of(transition)
                if before not in reaching:
                    reaching.append(before)
        try:
            raised = [c.bound * t.maximum(t.ZERO, *each) for c, each in amounts.items()]
            return small(t.add(t.maximum(*values), *raised)) if values else None
        except t.TermTooLarge:
            return None

    def _set_or_raised(self, transition: LinearTransition, term: t.Term) -> SizeEffect | None:
        """What a step sets the affine ``term`` to at most, where it does not depend on what it was; else its effect."""
        if term.variables.isdisjoint(transition.after):
            return SizeEffect(resets=False, amount=t.ZERO)
        then = transition.step(term)
        if then.variables.isdisjoint(term.variables):
            value = least_of(self.bounded(transition, then, self.exact(transition, term)))
            if value is not None:
                return SizeEffect(resets=True, amount=value)
        return self.effect(transition, term, counted=self.group(transition) is not None)

    def effect(self, transition: LinearTransition, term: t.Term, *, counted: bool) -> SizeEffect | None:
        """What a step does to the affine ``term`` at most, by constants before terms; with a raise only if
        ``counted``, apart from one by nothing.
        """
        rows = self.rows(transition)
        after = transition.step(term)
        change = after - term
        raised = bound_above(self.engine, rows, change, ())
        if raised is not None and self.proves(transition, _at_most(self.exact(transition, term) - term, raised)):
            amount = raised.floor
            if isinstance(amount, t.Const) and amount.value <= 0:
                return SizeEffect(resets=False, amount=t.ZERO)
        else:
            amount = None
        if counted and amount is not None and not self.by_value:
            return SizeEffect(resets=False, amount=amount)
        value = self._bounded(transition, rows, after, self.exact(transition, term))
        if value is not None:
            return SizeEffect(resets=True, amount=value)
        if not counted:
            return None
        if amount is not None:
            return SizeEffect(resets=False, amount=amount)
        amount_found = self._bounded(transition, rows, change, self.exact(transition, term) - term)
        return SizeEffect(resets=False, amount=amount_found) if amount_found is not None else None

    def _bounded(
        self, transition: LinearTransition, rows: Sequence[t.Term], affine: t.Term, exact: t.Term
    ) -> t.Term | None:
        """A bound over entry values on an affine term of the state before a step."""
        found = self._by_parameters(transition, rows, affine, exact)
        return found if found is not None else self._by_state(transition, rows, affine, exact)

    def after(self, transition: LinearTransition, term: t.Term) -> list[t.Term]:
        """Bounds over entry values on the affine ``term`` after a step: by the condition alone, and by what is known
        of the values before it.
        """
        return self.bounded(transition, transition.step(term), self.exact(transition, term))

    def bounded(self, transition: LinearTransition, affine: t.Term, exact: t.Term) -> list[t.Term]:
        """Bounds over entry values on an affine term of the state before a step, which stands for the ``exact`` one."""
        rows = self.rows(transition)
        found = [find(transition, rows, affine, exact) for find in (self._by_parameters, self._by_state)]
        return [bound for bound in found if bound is not None]

    def _by_parameters(
        self, transition: LinearTransition, rows: Sequence[t.Term], affine: t.Term, exact: t.Term
    ) -> t.Term | None:
        found = bound_above(self.engine, rows, affine, self.system.parameters)
        if found is None or not self.proves(transition, _at_most(exact, found)):
            return None
        return self.meaning(found.floor)

    def _by_state(
        self, transition: LinearTransition, rows: Sequence[t.Term], affine: t.Term, exact: t.Term
    ) -> t.Term | None:
        found = RationalFunction(affine, 1)
        if not affine.variables <= {*self.system.parameters, *self.system.state}:
            near = bound_above(self.engine, rows, affine, (*self.system.parameters, *self.system.state))
            if near is None:
                return None
            found = near
        if not self.proves(transition, _at_most(exact, found)):
            return None
        outer = self.upper(self.graph.source_of(transition), found.term)
        return RationalFunction(outer, found.divisor).floor if outer is not None else None

    def meaning(self, term: t.Term) -> t.Term:
        """``term`` with the terms that parameters are names of."""
        return t.substitute(term, self.system.fixed)

    def exact(self, transition: LinearTransition, term: t.Term) -> t.Term:
        """The value of a term over state and parameters after a step, as the path has it."""
        return behind(transition.path, term)

    def proves(self, transition: LinearTransition, claim: t.Condition) -> bool:
        """Whether ``claim`` about the state before a step holds whenever the transition is taken."""
        claim = t.substitute(claim, self.system.fixed)
        if isinstance(claim, t.Truth):
            return claim is t.TRUE
        return not feasible(transition.condition & ~claim)


def sizes_in_loop(made: LinearTransitionSystem, engine: Farkas, *, wide: bool, by_value: bool = False) -> SizeBounds:
    """Of a loop: over the values at its entry, where a run comes to its header with any values."""
    return SizeBounds(
        loop_graph(made), engine, lambda _, term: (t.substitute(term, made.fixed),), wide=wide, by_value=by_value
    )


def _at_most(term: t.Term, limit: RationalFunction) -> t.Condition:
    return (term * limit.divisor).le(limit.term)


def least_of(bounds: Iterable[t.Term | None]) -> t.Term | None:
    """The least of several bounds, those that are not known left out; None where none is."""
    known = [bound for bound in bounds if bound is not None]
    return t.minimum(*known) if known else None


def small(term: t.Term) -> t.Term | None:
    """``term``, if it is not too large to be of use."""
    return term if len(t.polynomial(term)) <= MAX_MONOMIALS else None
