"""How large a term over the state can become while a loop runs, from how often its transitions are taken.

Each transition raises a term by no more than some amount, or sets it to no more than some value. So the term never
exceeds the largest of its entry value and the values that it is set to, plus each amount as often as its transition is
taken (after Sinn, Zuleger and Veith, Complexity and resource bound analysis of imperative programs using difference
constraints, JAR 2017; Brockschmidt et al., Analyzing runtime and size complexity of integer programs, TOPLAS 2016).
Amounts and values are found by Farkas' lemma and proved on the paths before they are used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from loopless.bounds.templates import Function, bound_above
from loopless.bounds.transition_system import System, Transition
from loopless.logic import feasible
from loopless.logic.farkas import Farkas
from loopless.terms import (
    TRUE,
    ZERO,
    Condition,
    Const,
    Term,
    TermTooLarge,
    Truth,
    add,
    conjunction,
    less_equal,
    maximum,
    mul,
    negate,
    polynomial,
    scale,
    sub,
    substitute,
)

MAX_DEPTH: Final = 4
"""Amounts that depend on the state are bounded in turn, so many levels deep. A guess."""

MAX_NODES: Final = 300
"""Bounds of more monomials than this are given up. A guess."""


@dataclass(frozen=True, slots=True)
class Counted:
    """Transitions, by name, that are together taken at most ``bound`` times; a term over entry values, ≥ 0."""

    names: frozenset[str]
    bound: Term


@dataclass(frozen=True, slots=True)
class Effect:
    """What one transition does to a term: raises it by at most ``amount``, or sets it to at most ``amount``, which is
    ≤ a term over entry values.
    """

    resets: bool
    amount: Term


class SizeBounds:
    """Upper bounds on affine terms in all states at the header, by the counts known so far."""

    def __init__(self, system: System, engine: Farkas, *, wide: bool, by_value: bool = False) -> None:
        """``by_value``: what a step sets a term to at most counts before what it adds to it at most."""
        self.system = system
        self.engine = engine
        self.by_value = by_value
        self.wide = wide
        self.counted: list[Counted] = []
        self._known: dict[Term, Term | None] = {}
        self._open: set[Term] = set()

    def rows(self, transition: Transition) -> tuple[Term, ...]:
        """The rows that are used of a transition."""
        return transition.rows + transition.wide if self.wide else transition.rows

    def count(self, counted: Counted) -> None:
        """Takes note of a further bound."""
        self.counted.append(counted)
        self._known = {term: bound for term, bound in self._known.items() if bound is not None}

    def group(self, transition: Transition) -> Counted | None:
        """The bound that a transition is counted in."""
        return next((c for c in self.counted if transition.name in c.names), None)

    def upper(self, term: Term) -> Term | None:
        """A bound over entry values that the affine ``term`` never exceeds at the header; None where none is found."""
        if term not in self._known:
            if term in self._open or len(self._open) >= MAX_DEPTH:
                return None
            self._open.add(term)
            self._known[term] = self._upper(term)
            self._open.discard(term)
        return self._known[term]

    def _upper(self, term: Term) -> Term | None:
        values: list[Term] = [self.meaning(term)]
        amounts: dict[Counted, list[Term]] = {}
        for transition in self.system.transitions:
            if term.variables.isdisjoint(transition.after):
                continue
            counted = self.group(transition)
            effect = self.effect(transition, term, counted=counted is not None)
            if effect is None:
                return None
            if effect.resets:
                values.append(effect.amount)
            elif counted is not None:
                amounts.setdefault(counted, []).append(effect.amount)
        try:
            raised = [mul(c.bound, maximum(ZERO, *each)) for c, each in amounts.items()]
            return small(add(maximum(*values), *raised))
        except TermTooLarge:
            return None

    def before(self, transition: Transition, term: Term) -> Term | None:  # noqa: ARG002
        """The most that the affine ``term`` is before a step."""
        return self.upper(term)

    def effect(self, transition: Transition, term: Term, *, counted: bool) -> Effect | None:
        """What a step does to the affine ``term`` at most, by constants before terms; with a raise only if
        ``counted``, apart from one by nothing.
        """
        rows = self.rows(transition)
        after = transition.step(term)
        change = sub(after, term)
        raised = bound_above(self.engine, rows, change, ())
        if raised is not None and self.proves(transition, _at_most(sub(self.exact(transition, term), term), raised)):
            amount = raised.floor
            if isinstance(amount, Const) and amount.value <= 0:
                return Effect(resets=False, amount=ZERO)
        else:
            amount = None
        if counted and amount is not None and not self.by_value:
            return Effect(resets=False, amount=amount)
        value = self._bounded(transition, rows, after, self.exact(transition, term))
        if value is not None:
            return Effect(resets=True, amount=value)
        if not counted:
            return None
        if amount is not None:
            return Effect(resets=False, amount=amount)
        amount_found = self._bounded(transition, rows, change, sub(self.exact(transition, term), term))
        return Effect(resets=False, amount=amount_found) if amount_found is not None else None

    def _bounded(self, transition: Transition, rows: Sequence[Term], affine: Term, exact: Term) -> Term | None:
        """A bound over entry values on an affine term of the state before a step."""
        found = self._by_parameters(transition, rows, affine, exact)
        return found if found is not None else self._by_state(transition, rows, affine, exact)

    def after(self, transition: Transition, term: Term) -> list[Term]:
        """Bounds over entry values on the affine ``term`` after a step: by the condition alone, and by what is known
        of the values before it.
        """
        return self.bounded(transition, transition.step(term), self.exact(transition, term))

    def bounded(self, transition: Transition, affine: Term, exact: Term) -> list[Term]:
        """Bounds over entry values on an affine term of the state before a step, which stands for the ``exact`` one."""
        rows = self.rows(transition)
        found = [way(transition, rows, affine, exact) for way in (self._by_parameters, self._by_state)]
        return [bound for bound in found if bound is not None]

    def _by_parameters(self, transition: Transition, rows: Sequence[Term], affine: Term, exact: Term) -> Term | None:
        found = bound_above(self.engine, rows, affine, self.system.parameters)
        if found is None or not self.proves(transition, _at_most(exact, found)):
            return None
        return self.meaning(found.floor)

    def _by_state(self, transition: Transition, rows: Sequence[Term], affine: Term, exact: Term) -> Term | None:
        found = Function(affine, 1)
        if not affine.variables <= {*self.system.parameters, *self.system.state}:
            near = bound_above(self.engine, rows, affine, (*self.system.parameters, *self.system.state))
            if near is None:
                return None
            found = near
        if not self.proves(transition, _at_most(exact, found)):
            return None
        outer = self.before(transition, found.term)
        return Function(outer, found.divisor).floor if outer is not None else None

    def meaning(self, term: Term) -> Term:
        """``term`` with the terms that parameters are names of."""
        return substitute(term, self.system.fixed)

    def exact(self, transition: Transition, term: Term) -> Term:
        """The value of a term over state and parameters after a step, as the path has it."""
        return substitute(term, transition.path.update)

    def proves(self, transition: Transition, claim: Condition) -> bool:
        """Whether ``claim`` about the state before a step holds whenever the transition is taken."""
        claim = substitute(claim, self.system.fixed)
        if isinstance(claim, Truth):
            return claim is TRUE
        return not feasible(conjunction((transition.condition, negate(claim))))


def _at_most(term: Term, limit: Function) -> Condition:
    return less_equal(scale(term, limit.divisor), limit.term)


def small(term: Term) -> Term | None:
    """``term``, if it is not too large to be of use."""
    return term if len(polynomial(term)) <= MAX_NODES else None
