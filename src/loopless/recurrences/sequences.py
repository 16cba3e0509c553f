"""Sequences with a closed form: explicit values first, then one exponential polynomial per residue of the index.

For index i ≥ m, with i - m = p·q + r and 0 ≤ r < p, the value is ``forms[r]`` at q. The prefix comes from resets and
copies, the period from swaps, sign changes and floors.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence as Items
from math import lcm

from loopless import terms as t
from loopless.limits.recurrences import MAX_PERIOD, MAX_PREFIX
from loopless.records import dataclass
from loopless.recurrences.expoly import ExpPoly, NoClosedForm, constant, counter, first_order, invariant


@dataclass(frozen=True, slots=True, eq=False)
class Sequence:
    """Values s_0, s_1, …; ``prefix`` are the first m of them (free of q), ``forms`` the p residues of the rest."""

    prefix: tuple[ExpPoly, ...]
    forms: tuple[ExpPoly, ...]

    @property
    def start(self) -> int:
        """m, the first index of the closed form."""
        return len(self.prefix)

    @property
    def period(self) -> int:
        """The period p."""
        return len(self.forms)

    def at(self, index: int) -> ExpPoly:
        """The value at ``index``, free of q."""
        if index < self.start:
            return self.prefix[index]
        q, r = divmod(index - self.start, self.period)
        return self.forms[r].at(q)

    def from_start(self, start: int) -> Sequence:
        """The same sequence with at least ``start`` explicit values."""
        if start > MAX_PREFIX:
            raise NoClosedForm(f"its closed form starts after {start} iterations only")
        prefix, forms = self.prefix, self.forms
        while len(prefix) < start:
            prefix = (*prefix, forms[0].at(0))
            forms = (*forms[1:], forms[0].dilate(1, 1))
        return Sequence(prefix, forms)

    def with_period(self, period: int) -> Sequence:
        """The same sequence with ``period``, a multiple of its own."""
        if period > MAX_PERIOD:
            raise NoClosedForm(f"its period is {period}, more than {MAX_PERIOD}")
        if period == self.period:
            return self
        factor = period // self.period
        return Sequence(self.prefix, tuple(f.dilate(factor, j) for j in range(factor) for f in self.forms))

    def map(self, change: Callable[[ExpPoly], ExpPoly]) -> Sequence:
        """The sequence of the changed values; ``change`` must act pointwise."""
        return Sequence(tuple(map(change, self.prefix)), tuple(map(change, self.forms)))

    def __add__(self, other: Sequence) -> Sequence:
        return _pointwise(self, other, lambda a, b: a + b)

    def __mul__(self, other: Sequence) -> Sequence:
        return _pointwise(self, other, lambda a, b: a * b)

    def delayed(self, first: ExpPoly) -> Sequence:
        """The sequence ``first``, s_0, s_1 and so on."""
        return Sequence((first, *self.prefix), self.forms)

    def normal(self) -> Sequence:
        """The same sequence with the shortest prefix and, where only polynomials occur, the least period."""
        result = self
        for period in range(1, self.period):
            if self.period % period == 0:
                shorter = _shortened(result, period)
                if shorter is not None:
                    result = shorter
                    break
        prefix, forms = result.prefix, result.forms
        while prefix:
            earlier = forms[-1].dilate(1, -1)
            if not earlier.at(0).same(prefix[-1]):
                break
            prefix, forms = prefix[:-1], (earlier, *forms[:-1])
        return Sequence(prefix, forms)


def _pointwise(a: Sequence, b: Sequence, combine: Callable[[ExpPoly, ExpPoly], ExpPoly]) -> Sequence:
    left, right = aligned((a, b))
    return Sequence(tuple(map(combine, left.prefix, right.prefix)), tuple(map(combine, left.forms, right.forms)))


def aligned(sequences: Items[Sequence], period: int = 1) -> list[Sequence]:
    """The sequences with one common start and one common period, a multiple of ``period``."""
    start = max((s.start for s in sequences), default=0)
    common = lcm(period, *(s.period for s in sequences))
    return [s.from_start(start).with_period(common) for s in sequences]


def _shortened(sequence: Sequence, period: int) -> Sequence | None:
    factor = sequence.period // period
    forms: list[ExpPoly] = []
    for residue in range(period):
        form = sequence.forms[residue]
        if form.bases - {1}:
            return None
        form = form.stretched(factor)
        if not all(form.dilate(factor, j).same(sequence.forms[residue + period * j]) for j in range(1, factor)):
            return None
        forms.append(form)
    return Sequence(sequence.prefix, tuple(forms))


def constant_sequence(term: t.Term) -> Sequence:
    """The sequence of one value, a term over what does not change."""
    return Sequence((), (invariant(term),))


def index_sequence() -> Sequence:
    """The sequence 0, 1, 2 and so on."""
    return Sequence((), (counter(),))


def solve_first_order(ratio: int, forcing: Sequence, start: ExpPoly) -> Sequence:
    """The sequence with s_0 = ``start`` and s_(i+1) = ratio·s_i + forcing_i."""
    if ratio == 0:
        return forcing.delayed(start)
    prefix: list[ExpPoly] = []
    value = start
    for given in forcing.prefix:
        prefix.append(value)
        value = value * constant(ratio) + given
    period = forcing.period
    step = ExpPoly({})
    for form in forcing.forms:
        step = step * constant(ratio) + form
    forms = [first_order(ratio**period, step, value)]
    for form in forcing.forms[:-1]:
        forms.append(forms[-1] * constant(ratio) + form)
    return Sequence(tuple(prefix), tuple(forms))


def floor_quotient(sequence: Sequence, divisor: int) -> Sequence:
    """The sequence floor(s_i / divisor), divisor ≥ 1. Raises :class:`NoClosedForm`."""

    def quotient(value: ExpPoly) -> ExpPoly:
        start = value.at(0)
        moved = (value - start).divided_exactly(divisor)
        assert moved is not None
        return moved + invariant(start.value_term() // divisor)

    exact = [value.divided_exactly(divisor) for value in (*sequence.prefix, *sequence.forms)]
    divided = [value for value in exact if value is not None]
    if len(divided) == len(exact):
        return Sequence(tuple(divided[: sequence.start]), tuple(divided[sequence.start :]))
    return _inflated(sequence, divisor).map(quotient)


def remainder(sequence: Sequence, divisor: int) -> Sequence:
    """The sequence s_i mod divisor, divisor ≥ 1. Raises :class:`NoClosedForm`."""
    return _inflated(sequence, divisor).map(lambda value: invariant(value.at(0).value_term() % divisor))


def _inflated(sequence: Sequence, divisor: int) -> Sequence:
    """The sequence with a period at which all that moves with q is a multiple of ``divisor``.

    (Prototype: "inflate p until each floor argument moves by an integer".)
    """
    for factor in range(1, MAX_PERIOD // sequence.period + 1):
        if not all(_moves_by_multiples(form.dilate(factor, 0), divisor) for form in sequence.forms):
            continue
        inflated = sequence.with_period(sequence.period * factor)
        if all(_moves_by_multiples(form, divisor) for form in inflated.forms):
            return inflated
    raise NoClosedForm(f"its residues modulo {divisor} have no period up to {MAX_PERIOD}")


def _moves_by_multiples(form: ExpPoly, divisor: int) -> bool:
    return (form - form.at(0)).divided_exactly(divisor) is not None
