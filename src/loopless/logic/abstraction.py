"""Over-approximation of conditions that are not Presburger: what isl cannot express becomes an unknown value."""

from __future__ import annotations

from collections.abc import Iterable

from loopless import terms as t
from loopless.logic.engine import metered
from loopless.logic.region import Region
from loopless.logic.translate import NotPresburger, frame_of
from loopless.records import dataclass


@dataclass(frozen=True, slots=True)
class OverApproximation:
    """A Presburger condition that holds wherever the original does, for some values of the ``unknowns``.

    Never the other way round: that it can be fulfilled says nothing; that it cannot be says that the original cannot.
    Each unknown stands for one term, the same one everywhere, and lies in that term's range.
    """

    condition: t.Condition
    unknowns: tuple[tuple[t.Var, t.Term], ...]


@metered
def over_approximation(condition: t.Condition) -> OverApproximation:
    """``condition`` with each maximal part that is not quasi-affine (a product of variables, an array read, a variable
    shift, ...) replaced by an unknown of its range.
    """
    rebuild = Abstraction()
    body = rebuild.condition(condition)
    return OverApproximation(rebuild.bounds() & body, tuple((v, term) for term, v in rebuild.unknowns.items()))


def enclosing_region(condition: t.Condition, variables: Iterable[t.Var] | None = None) -> Region:
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
        self.unknowns: dict[t.Term, t.Var] = {}
        self.known: dict[t.Term, t.Term] = {}

    def condition(self, condition: t.Condition) -> t.Condition:
        """``condition`` with the parts replaced."""
        return t.with_comparisons(condition, self._compared)

    def _compared(self, condition: t.Condition) -> t.Condition:
        if not isinstance(condition, t.Compare):
            return condition
        relation = {"le": t.at_most_zero, "eq": t.equals_zero, "ne": t.not_zero}[condition.relation]
        return relation(self.term(condition.term))

    def bounds(self) -> t.Condition:
        """The ranges of the replaced parts, on the variables."""
        ranges = ((t.range_of(term), unknown) for term, unknown in self.unknowns.items())
        return t.conjunction(t.between(low, unknown, high) for (low, high), unknown in ranges)

    def term(self, term: t.Term) -> t.Term:
        """``term`` with the parts replaced."""
        found = self.known.get(term)
        if found is None:
            found = self.known[term] = self._abstracted(term)
        return found

    def _abstracted(self, term: t.Term) -> t.Term:
        if _is_presburger(term):
            return term
        match term:
            case t.Sum():
                return t.add(*(self._product(monomial) * coefficient for monomial, coefficient in term.items))
            case t.Wrap():
                return t.wrap(self.term(term.arg), term.type)
            case t.Ite():
                return t.ite(self.condition(term.condition), self.term(term.then), self.term(term.otherwise))
            case t.Op(op=op) if op not in t.NAMED_FUNCTIONS:
                rebuilt = t.operation(term.op, tuple(self.term(arg) for arg in term.args))
                return rebuilt if _is_presburger(rebuilt) else self._unknown(term)
            case _:
                return self._unknown(term)

    def _product(self, monomial: t.Monomial) -> t.Term:
        if not monomial:
            return t.ONE
        if len(monomial) == 1 and monomial[0][1] == 1:
            return self.term(monomial[0][0])
        whole = t.Sum(((monomial, 1),))
        return whole if _is_presburger(whole) else self._unknown(whole)

    def _unknown(self, term: t.Term) -> t.Var:
        found = self.unknowns.get(term)
        if found is None:
            # Reductions of what lies in the range of a type are written as branches, without quotients.
            type_ = term.type if isinstance(term, t.Read) else t.INTEGERS
            found = self.unknowns[term] = t.Var(f"?{len(self.unknowns)} {term.key}", type_)
        return found


@metered
def _is_presburger(term: t.Term) -> bool:
    try:
        frame_of(term.variables).function(term)
    except NotPresburger:
        return False
    return True
