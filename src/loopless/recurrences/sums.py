"""Sums over a counter and the differences of a form from one value of the counter to the next."""

from __future__ import annotations

from typing import Literal

from loopless import terms as t
from loopless.records import dataclass
from loopless.recurrences.closed import shown_term
from loopless.recurrences.expoly import ExpPoly, NoClosedForm
from loopless.recurrences.lifting import KnownSequence, lift
from loopless.recurrences.sequences import Sequence, index_sequence, solve_first_order


def sum_over(term: t.Term, counter: t.Var, low: t.Term, high: t.Term) -> t.Term:
    """The sum of ``term`` for ``low`` ≤ counter < ``high``, exact where low ≤ high (0 where low = high).

    ``term`` is built of sums and products of the counter, of powers with a constant base and an exponent that grows by
    a constant, of floors and remainders by constants, and of anything free of the counter. Raises
    :class:`NoClosedForm` (its text says what is in the way).
    """
    try:
        shifted = t.substitute(term, {counter: counter + low})
        total = solve_first_order(1, _sequence(shifted, counter), ExpPoly({})).normal()
        if total.start:
            raise NoClosedForm("the summands have no common form")
        return t.substitute(shown_term(total, counter), {counter: high - low})
    except t.TermTooLarge as failure:
        raise NoClosedForm(f"the sum is too large: {failure}") from None


def _sequence(term: t.Term, counter: t.Var) -> Sequence:
    return lift(term, {counter: KnownSequence(index_sequence())})


@dataclass(frozen=True, slots=True)
class Difference:
    """How a form e(k) moves: Δ(k) = e(k+1) - e(k), k ≥ 0.

    ``kind``: Δ is constant, affine in k, or neither. For the first two Δ(k) = ``offset`` + ``slope``·k. ``delta`` is Δ
    as a term (None where there is no closed form). ``sign`` is the sign of the slope if it is the same for all values
    of the variables. For an affine Δ: ``first_nonnegative`` is the least k ≥ 0 with Δ(k) ≥ 0 where slope > 0 (there e
    falls before and does not fall afterwards: its minimum), ``first_nonpositive`` the least k ≥ 0 with Δ(k) ≤ 0 where
    slope < 0 (there e has its maximum); None where the slope surely has another sign.
    """

    kind: Literal["constant", "affine", "other"]
    delta: t.Term | None
    offset: t.Term | None = None
    slope: t.Term | None = None
    sign: Literal[-1, 0, 1] | None = None
    first_nonnegative: t.Term | None = None
    first_nonpositive: t.Term | None = None


def sign_over(term: t.Term, counter: t.Var) -> Difference:
    """How ``term`` changes as ``counter`` grows by one, see :class:`Difference`."""
    plain, quotients = _without_floor_sums(term, counter)
    if quotients is not t.ZERO:
        rest = sign_over(plain, counter).delta
        return Difference("other", None if rest is None else rest + quotients)
    try:
        sequence = _sequence(term, counter).normal()
        if sequence.period > 1 or sequence.prefix:
            return Difference("other", t.substitute(term, {counter: counter + 1}) - term)
        form = sequence.forms[0]
        change = form.dilate(1, 1) - form
        delta = change.term(counter)
        if change.bases - {1} or change.degree > 1:
            return Difference("other", delta)
        offset = change.at(0).value_term()
        slope = (change.at(1) - change.at(0)).value_term()
    except (NoClosedForm, t.TermTooLarge):
        return Difference("other", None)
    sign = _sign(slope)
    if sign == 0:
        return Difference("constant", delta, offset, slope, 0)
    rising = None if sign == -1 else _first(-offset, slope)
    falling = None if sign == 1 else _first(offset, -slope)
    return Difference("affine", delta, offset, slope, sign, rising, falling)


def _without_floor_sums(term: t.Term, counter: t.Var) -> tuple[t.Term, t.Term]:
    """``term`` without its multiples of floor_sum(counter, m, a, u), and what those grow by: floor((a·k + u) / m).

    With floor sums go residues, such as the wrapped value that is summed next.
    """
    plain: list[t.Term] = []
    residues: list[t.Term] = []
    grown: list[t.Term] = []
    for monomial, coefficient in t.polynomial(term).items():
        atom = monomial[0][0] if len(monomial) == 1 and monomial[0][1] == 1 else None
        if isinstance(atom, t.Op) and atom.op == "floor_sum" and atom.args[0] is counter:
            _, modulus, step, start = atom.args
            if counter not in step.variables | start.variables:
                summand = (step * counter + start) // modulus
                grown.append(summand * coefficient)
                continue
        part = t.from_polynomial({monomial: coefficient})
        (residues if isinstance(atom, t.Wrap) and counter in atom.variables else plain).append(part)
    if not grown:
        return term, t.ZERO
    grown += [t.substitute(part, {counter: counter + 1}) - part for part in residues]
    return t.add(*plain), t.add(*grown)


def _first(numerator: t.Term, divisor: t.Term) -> t.Term:
    """max(0, ceil(numerator / divisor)) for divisor > 0."""
    return t.maximum(t.ZERO, -(-numerator // divisor))


def _sign(slope: t.Term) -> Literal[-1, 0, 1] | None:
    low, high = t.range_of(slope)
    if low == 0 == high:
        return 0
    if low is not None and low > 0:
        return 1
    return -1 if high is not None and high < 0 else None
