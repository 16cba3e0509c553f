"""Which of many conditions say what others of them say already, seen at a glance: what is asked with these alone is
answered sooner, and the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from loopless import terms as t
from loopless.records import dataclass

_Parts = tuple[tuple[t.Monomial, int], ...]


@dataclass(frozen=True, slots=True)
class _Form:
    """``parts`` + ``constant`` is not above 0, or is 0 (``is_equation``)."""

    parts: _Parts
    constant: int
    is_equation: bool


class Strongest:
    """What is needed of sets of conditions; how a condition looks is found out once."""

    def __init__(self) -> None:
        self._forms: dict[t.Condition, _Form | None] = {}

    def needed(self, conditions: Iterable[t.Condition]) -> list[t.Condition]:
        """The conditions, without inequalities that follow from one that differs by its constant, from an equation with
        the same terms, or from bounds of the single variables. All of them hold where these do.
        """
        every = list(dict.fromkeys(conditions))
        most: dict[_Parts, int] = {}
        """By terms the largest constant: the condition that says most."""
        equal: dict[_Parts, int] = {}
        """The same of equations."""
        for condition in every:
            form = self._form(condition)
            if form is None:
                continue
            _raise(most, form.parts, form.constant)
            if form.is_equation:
                for table in (most, equal):
                    _raise(table, form.parts, form.constant)
                    _raise(table, _negated(form.parts), -form.constant)
        forms = ((condition, self._form(condition)) for condition in every)
        return [c for c, form in forms if form is None or form.is_equation or _says_more(form, most, equal)]

    def _form(self, condition: t.Condition) -> _Form | None:
        if condition not in self._forms:
            self._forms[condition] = _form_of(condition)
        return self._forms[condition]


def _says_more(form: _Form, most: Mapping[_Parts, int], equal: Mapping[_Parts, int]) -> bool:
    """Whether an inequality is no consequence of others."""
    if form.constant < most[form.parts] or form.constant <= equal.get(form.parts, form.constant - 1):
        return False
    if len(form.parts) < 2:
        return True
    total = form.constant
    for monomial, coefficient in form.parts:
        limit = _limit(monomial, coefficient, most)
        if limit is None:
            return True
        total += limit
    return total > 0


def _form_of(condition: t.Condition) -> _Form | None:
    if not isinstance(condition, t.Compare) or condition.relation == "ne":
        return None
    parts = t.polynomial(condition.term)
    constant = parts.get((), 0)
    return _Form(tuple((m, c) for m, c in parts.items() if m), constant, condition.relation == "eq")


def _raise(table: dict[_Parts, int], parts: _Parts, constant: int) -> None:
    if constant > table.get(parts, constant - 1):
        table[parts] = constant


def _negated(parts: _Parts) -> _Parts:
    return tuple((monomial, -coefficient) for monomial, coefficient in parts)


def _limit(monomial: t.Monomial, coefficient: int, most: Mapping[_Parts, int]) -> int | None:
    """What a variable times a coefficient is at most, by its type and by conditions on it alone; else None."""
    (atom, exponent), *others = monomial
    if others or exponent != 1 or not isinstance(atom, t.Var):
        return None
    low, high = t.range_of(atom)
    sign = 1 if coefficient > 0 else -1
    by_type = high if sign > 0 else (None if low is None else -low)
    constant = most.get(((monomial, sign),))
    limits = [limit for limit in (by_type, None if constant is None else -constant) if limit is not None]
    return abs(coefficient) * min(limits) if limits else None
