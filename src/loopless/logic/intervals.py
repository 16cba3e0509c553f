"""Where terms lie if some conditions hold, by intervals alone: what follows at once, and what cannot be.

Each comparison bounds its linear form and, by where the other summands lie, each summand; a bound on a reduction that
changes nothing is one on what is reduced. That is repeated a few times (hull consistency: Benhamou, Goualard,
Granvilliers, Puget, Revising Hull and Box Consistency, ICLP 1999). It decides most of what is asked of path conditions
at a fraction of what sets cost.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from loopless import terms as t
from loopless.limits.logic import MAX_NARROWING_ROUNDS, MAX_OPERAND_DEPTH, MAX_REDUCTION_WINDOWS
from loopless.terms.ranges import (
    EVERYTHING,
    Range,
    added,
    both,
    hull,
    is_empty,
    is_within,
    moved,
    scaled,
    shared_out,
    total,
)
from loopless.terms.term_ranges import range_from

_Form = tuple[tuple[t.Monomial, int], ...]
"""A sum without its constant, the first coefficient positive."""


class Intervals:
    """What some conditions say of terms. ``possible``: False only if surely nothing fulfils them."""

    def __init__(self, parts: Iterable[t.Condition] = ()) -> None:
        self.possible = True
        self._ends: dict[t.Term, Range] = {}
        self._forms: dict[_Form, Range] = {}
        self._found: dict[t.Term, Range] = {}
        """Ranges worked out in this round: perhaps not the best that is known by now, but right."""
        self._narrowed = True
        self._depth = 0
        still_open = [part for whole in parts for part in t.conjuncts(whole)]
        for _ in range(MAX_NARROWING_ROUNDS):
            if not self._narrowed or not self.possible:
                break
            self._narrowed = False
            self._found.clear()
            still_open = [part for part in still_open if not self._take(part)]
        self._found.clear()

    def range_of(self, term: t.Term) -> Range:
        """Bounds on ``term`` where the conditions hold."""
        if isinstance(term, t.Const):
            return term.value, term.value
        if isinstance(term, t.Var):
            return self._ends.get(term) or (term.type.min, term.type.max)
        found = self._found.get(term)
        if found is None:
            if self._depth >= MAX_OPERAND_DEPTH or not self.possible:
                return t.range_of(term)
            self._depth += 1
            found = both(self._by_operands(term), self._ends.get(term, EVERYTHING))
            self._depth -= 1
            self._found[term] = found
            self._check(found)
        return found

    def decides(self, condition: t.Condition) -> bool | None:
        """True where ``condition`` holds wherever all that is known does, False where it holds nowhere there."""
        match condition:
            case t.Truth():
                return condition.value
            case t.Compare():
                return self._compared(condition.relation, condition.term)
            case t.And():
                found = [self.decides(arg) for arg in condition.args]
                return False if False in found else None if None in found else True
            case t.Or():
                found = [self.decides(arg) for arg in condition.args]
                return True if True in found else None if None in found else False
            case _:
                return None

    def _compared(self, relation: str, term: t.Term) -> bool | None:
        low, high = self.range_of(term)
        above, below = low is not None and low > 0, high is not None and high < 0
        if relation == "le":
            return False if above else True if high is not None and high <= 0 else None
        equal = False if above or below else True if low == high == 0 else None
        return equal if relation == "eq" or equal is None else not equal

    def _may_lack_value(self, term: t.Term) -> bool:
        """Whether a term may have no value: it is then taken for any in its range, whatever its operands are."""
        if not isinstance(term, t.Op):
            return False
        domain = t.OPERATORS[term.op].domain
        if domain in ("all", "some"):
            return domain == "some"
        least = 1 if domain == "nonzero" else 0
        low, high = self.range_of(term.args[-1])
        return (low is None or low < least) and (least == 0 or high is None or high >= 0)

    def _by_operands(self, term: t.Term) -> Range:
        if isinstance(term, t.Sum):
            return self._range_of_sum(term)
        if self._may_lack_value(term):
            return t.range_of(term)
        if isinstance(term, t.Wrap):
            inside = self.range_of(term.arg)
            return inside if is_within(inside, (term.type.min, term.type.max)) else t.range_of(term)
        return range_from(term, self.range_of)

    def _range_of_sum(self, term: t.Sum) -> Range:
        low, high = total(term.items, self._range_of)
        if self._forms:
            form, sign, constant = _form(term)
            known = self._forms.get(form)
            if known is not None:
                return both((low, high), moved(scaled(known, sign), constant))
        return low, high

    def _range_of(self, monomial: t.Monomial) -> Range:
        if not monomial:
            return 1, 1
        if len(monomial) == 1 and monomial[0][1] == 1:
            return self.range_of(monomial[0][0])
        return range_from(t.Sum(((monomial, 1),)), self.range_of)

    # -- what a condition tells ---------------------------------------------------------------------------------------

    def _take(self, part: t.Condition) -> bool:
        """Learn what ``part`` says; whether it has no more to say."""
        match part:
            case t.Compare(relation="ne"):
                return self._unequal(part.term)
            case t.Compare():
                decided = self._compared(part.relation, part.term)
                if decided is None:
                    self._bound(part.term, (0 if part.relation == "eq" else None, 0))
                self.possible = self.possible and decided is not False
                return decided is not None
            case t.And():
                taken = [self._take(arg) for arg in part.args]  # all of them, whatever the first says
                return all(taken)
            case t.Or():
                left = [arg for arg in part.args if self.decides(arg) is not False]
                self.possible = self.possible and bool(left)
                return len(left) == 1 and self._take(left[0])
            case _:
                self.possible = self.possible and self.decides(part) is not False
                return True

    def _unequal(self, term: t.Term) -> bool:
        low, high = self.range_of(term)
        if low == high == 0:
            self.possible = False
        elif low == 0:
            self._bound(term, (1, None))
        elif high == 0:
            self._bound(term, (None, -1))
        return (low is not None and low >= 0) or (high is not None and high <= 0)

    def _bound(self, term: t.Term, ends: Range) -> None:
        """``term`` lies between ``ends``."""
        if not isinstance(term, t.Sum):
            self._narrow(term, ends)
            return
        form, sign, constant = _form(term)
        ends_of_form = scaled(moved(ends, -constant), sign)
        if len(form) > 1:
            known = both(self._forms.get(form, EVERYTHING), ends_of_form)
            if self._forms.get(form) != known:
                self._forms[form] = known
                self._narrowed = True
                self._check(known)
        ranges = [scaled(self._range_of(monomial), factor) for monomial, factor in form]
        nothing: Range = (0, 0)
        for at, (monomial, factor) in enumerate(form):
            if len(monomial) != 1 or monomial[0][1] != 1:
                continue
            others = reduce(added, ranges[:at] + ranges[at + 1 :], nothing)
            self._narrow(monomial[0][0], shared_out(added(ends_of_form, scaled(others, -1)), factor))

    def _narrow(self, atom: t.Term, ends: Range) -> None:
        before = self.range_of(atom)
        now = both(before, ends)
        if now == before or isinstance(atom, t.Const):
            return
        self._ends[atom] = now
        self._found.pop(atom, None)
        self._narrowed = True
        self._check(now)
        if isinstance(atom, t.Wrap) and self._depth < MAX_OPERAND_DEPTH:
            self._depth += 1
            self._bound(atom.arg, _reduced_into(atom.type, self.range_of(atom.arg), now))
            self._depth -= 1

    def _check(self, ends: Range) -> None:
        if is_empty(ends):
            self.possible = False


def _form(term: t.Sum) -> tuple[_Form, int, int]:
    """(f, s, c) where the term is s·f + c."""
    constant = next((factor for monomial, factor in term.items if not monomial), 0)
    form = tuple(item for item in term.items if item[0])
    if not form or form[0][1] > 0:
        return form, 1, constant
    return tuple((monomial, -factor) for monomial, factor in form), -1, constant


def _reduced_into(type: t.IntType, inside: Range, ends: Range) -> Range:
    """Where a number in ``inside`` must lie that a type reduces into ``ends``."""
    if type.width is None:
        return ends
    lowest, modulus = type.min, 1 << type.width
    if lowest is None or None in inside or None in ends:
        return EVERYTHING
    least, most = inside
    assert least is not None
    assert most is not None
    first, last = (least - lowest) // modulus, (most - lowest) // modulus
    if last - first >= MAX_REDUCTION_WINDOWS:
        return EVERYTHING
    found = []
    for window in range(first, last + 1):
        part = both(inside, moved(ends, window * modulus))
        if not is_empty(part):
            found.append(part)
    return hull(found) if found else (most + 1, least - 1)
