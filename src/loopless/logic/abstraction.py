"""Over-approximation of conditions that are not Presburger: what isl cannot express becomes an unknown value."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from loopless.logic.engine import metered
from loopless.logic.region import Region
from loopless.logic.translate import NotPresburger, frame_of
from loopless.terms import (
    INTEGERS,
    NAMED_FUNCTIONS,
    ONE,
    Compare,
    Condition,
    Ite,
    Monomial,
    Op,
    Read,
    Sum,
    Term,
    Var,
    Wrap,
    add,
    at_most_zero,
    between,
    conjunction,
    equals_zero,
    ite,
    not_zero,
    operation,
    range_of,
    scale,
    with_comparisons,
    wrap,
)


@dataclass(frozen=True, slots=True)
class OverApproximation:
    """A Presburger condition that holds wherever the original does, for some values of the ``unknowns``.

    Never the other way round: that it can be fulfilled says nothing; that it cannot be says that the original cannot.
    Each unknown stands for one term, the same one everywhere, and lies in that term's range.
    """

    condition: Condition
    unknowns: tuple[tuple[Var, Term], ...]


@metered
def over_approximation(condition: Condition) -> OverApproximation:
    """``condition`` with each maximal part that is not quasi-affine (a product of variables, an array read, a variable
    shift, ...) replaced by an unknown of its range.
    """
    rebuild = Abstraction()
    body = rebuild.condition(condition)
    return OverApproximation(conjunction((rebuild.bounds(), body)), tuple((v, t) for t, v in rebuild.unknowns.items()))


def enclosing_region(condition: Condition, variables: Iterable[Var] | None = None) -> Region:
    """A region that contains all points at which ``condition`` holds, and perhaps others: an over-approximation.

    ``variables`` as in :meth:`Region.of`. It is exact where the condition is Presburger.
    """
    relaxed = over_approximation(condition)
    unknowns = [unknown for unknown, _ in relaxed.unknowns]
    used = condition.variables if variables is None else variables
    return Region.of(relaxed.condition, (*used, *unknowns)).project_out(unknowns)


class Abstraction:
    """Replaces parts that are not quasi-affine by variables, the same part by the same variable over all its uses.

    ``unknowns`` has the variables by the terms that they stand for.
    """

    def __init__(self) -> None:
        self.unknowns: dict[Term, Var] = {}
        self.known: dict[Term, Term] = {}

    def condition(self, condition: Condition) -> Condition:
        """``condition`` with the parts replaced."""
        return with_comparisons(condition, self._compared)

    def _compared(self, condition: Condition) -> Condition:
        if not isinstance(condition, Compare):
            return condition
        relation = {"le": at_most_zero, "eq": equals_zero, "ne": not_zero}[condition.relation]
        return relation(self.term(condition.term))

    def bounds(self) -> Condition:
        """The ranges of the replaced parts, on the variables."""
        ranges = ((range_of(term), unknown) for term, unknown in self.unknowns.items())
        return conjunction(between(low, unknown, high) for (low, high), unknown in ranges)

    def term(self, term: Term) -> Term:
        """``term`` with the parts replaced."""
        found = self.known.get(term)
        if found is None:
            found = self.known[term] = self._abstracted(term)
        return found

    def _abstracted(self, term: Term) -> Term:
        if _is_presburger(term):
            return term
        match term:
            case Sum():
                return add(*(scale(self._product(monomial), coefficient) for monomial, coefficient in term.items))
            case Wrap():
                return wrap(self.term(term.arg), term.type)
            case Ite():
                return ite(self.condition(term.condition), self.term(term.then), self.term(term.otherwise))
            case Op(op=op) if op not in NAMED_FUNCTIONS:
                rebuilt = operation(term.op, tuple(self.term(arg) for arg in term.args))
                return rebuilt if _is_presburger(rebuilt) else self._unknown(term)
            case _:
                return self._unknown(term)

    def _product(self, monomial: Monomial) -> Term:
        if not monomial:
            return ONE
        if len(monomial) == 1 and monomial[0][1] == 1:
            return self.term(monomial[0][0])
        whole = Sum(((monomial, 1),))
        return whole if _is_presburger(whole) else self._unknown(whole)

    def _unknown(self, term: Term) -> Var:
        found = self.unknowns.get(term)
        if found is None:
            # Reductions of what lies in the range of a type are written as branches, without quotients.
            type_ = term.type if isinstance(term, Read) else INTEGERS
            found = self.unknowns[term] = Var(f"?{len(self.unknowns)} {term.key}", type_)
        return found


@metered
def _is_presburger(term: Term) -> bool:
    try:
        frame_of(term.variables).function(term)
    except NotPresburger:
        return False
    return True
