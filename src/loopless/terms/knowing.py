"""What follows at once from conjuncts that are known: comparisons of the same form with other constants.

i·t + s ≤ 5 makes i·t + s ≤ 7 true and i·t + s ≥ 6 false, whatever the products are; no solver is asked.
"""

from __future__ import annotations

from collections.abc import Iterable

from loopless.terms.build import from_polynomial, polynomial, scale
from loopless.terms.conditions import conjunction, conjuncts, disjunction, negate
from loopless.terms.nodes import FALSE, TRUE, And, Compare, Condition, Monomial, Node, Or, Sum, Term, walk
from loopless.terms.ranges import Range, are_apart, both, is_within, total
from loopless.terms.term_ranges import range_of


class Known:
    """Conditions that hold, by the forms that they bound."""

    def __init__(self, parts: Iterable[Condition]) -> None:
        self._true: set[Condition] = set()
        self._ends: dict[Term, Range] = {}
        for part in parts:
            for single in conjuncts(part):
                self._true.add(single)
                if isinstance(single, Compare):
                    form, ends = _bounds(single)
                    self._ends[form] = both(self._ends_of(form), ends)

    def decide(self, condition: Condition) -> Condition:
        """A condition that agrees with ``condition`` wherever all that is known holds: without what is decided."""
        found: dict[Node, Condition] = {}
        for node in walk(condition, lambda below: not isinstance(below, Condition)):
            match node:
                case Condition() if node in self._true:
                    found[node] = TRUE
                case Compare():
                    found[node] = self._compared(node)
                case And():
                    found[node] = conjunction(found[arg] for arg in node.args)
                case Or():
                    found[node] = disjunction(found[arg] for arg in node.args)
                case Condition():
                    found[node] = node
                case _:
                    raise AssertionError(type(node))
        return found[condition]

    def _ends_of(self, form: Term) -> Range:
        found = self._ends.get(form)
        if found is not None and (None not in found or not isinstance(form, Sum)):
            return found
        return both(found or (None, None), self._by_parts(form) if isinstance(form, Sum) else range_of(form))

    def _by_parts(self, form: Sum) -> Range:
        """Where a sum must lie by where its summands do."""

        def of_part(monomial: Monomial) -> Range:
            part = from_polynomial({monomial: 1})
            return self._ends.get(part) or range_of(part)

        return total(form.items, of_part)

    def _compared(self, condition: Compare) -> Condition:
        if negate(condition) in self._true:
            return FALSE
        if condition.relation == "ne":
            return negate(self._compared_plainly(negate(condition)))
        return self._compared_plainly(condition)

    def _compared_plainly(self, condition: Condition) -> Condition:
        assert isinstance(condition, Compare)
        form, wanted = _bounds(condition)
        known = self._ends_of(form)
        if are_apart(known, wanted):
            return FALSE
        return TRUE if is_within(known, wanted) else condition


def without_implied(condition: Condition) -> Condition:
    """The same condition without conjuncts, and arms of disjunctions, that the other conjuncts decide."""
    parts = list(conjuncts(condition))
    place = 0
    while place < len(parts):
        others = parts[:place] + parts[place + 1 :]
        found = conjuncts(Known(others).decide(parts[place]))
        if FALSE in found:
            return FALSE
        parts[place : place + 1] = found
        place += len(found)
    return conjunction(parts)


def _bounds(condition: Compare) -> tuple[Term, Range]:
    """The form that a comparison is about, its first coefficient positive and no constant, and where that must lie."""
    poly = polynomial(condition.term)
    constant = poly.pop((), 0)
    form = from_polynomial(poly)
    first = next(iter(polynomial(form).values()))
    sign = 1 if first > 0 else -1
    form = scale(form, sign)
    limit = -sign * constant
    if condition.relation == "eq":
        return form, (limit, limit)
    if condition.relation == "ne":
        return form, (None, None)
    return form, ((None, limit) if sign > 0 else (limit, None))
