"""Constructors of the named functions: first visit of an interval, sums of quotients, tables of constants, first sign
of an exponential polynomial, powers of a matrix, and sums of digits.

They stand in answers where no expression over ``+``, ``*`` and floors exists or none can be read, and are evaluated in
logarithmic time (:mod:`loopless.terms.modular`, :mod:`loopless.terms.curves`, :mod:`loopless.terms.powers`). Also
:func:`operation`, every operator's constructor by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from math import gcd
from typing import Final

from loopless.limits.terms import MAX_EXPANDED_POWER, MAX_FOLDED_BITS
from loopless.terms import powers
from loopless.terms.build import (
    add,
    bit_and,
    bit_or,
    bit_xor,
    const,
    floor_div,
    from_polynomial,
    ite,
    maximum,
    minimum,
    mod,
    mul,
    neg,
    polynomial,
    power,
    scale,
    shift_left,
    shift_right,
    sub,
    trunc_div,
    trunc_rem,
)
from loopless.terms.conditions import equal, greater
from loopless.terms.nodes import ONE, ZERO, Const, Op, Term
from loopless.terms.operators import OPERATORS, EvaluationError
from loopless.terms.term_ranges import range_of


def first_in_range(u: Term, a: Term, m: int, low: Term, high: Term) -> Term:
    """The least t ≥ 0 with ``low`` ≤ (u + a·t) mod m ≤ ``high``; m itself where there is none. m ≥ 1.

    Every first visit comes before m, so that m is larger than all of them. Simplified for constants, and for an
    interval of one residue (modular inverse).
    """
    start = mod(u, const(m))
    if isinstance(start, Const) and isinstance(a, Const) and isinstance(low, Const) and isinstance(high, Const):
        return const(OPERATORS["first_in_range"].fold(start.value, a.value, m, low.value, high.value))
    size, bottom = range_of(sub(high, low))[1], range_of(low)[0]
    if size is not None and size < 0:
        return const(m)
    least, most = range_of(low)[1], range_of(high)[0]
    if least is not None and least <= 0 and most is not None and most >= m - 1:
        return ZERO
    if low is high and isinstance(a, Const) and bottom is not None and bottom >= 0 and _below(low, m):
        divisor = gcd(a.value, m)
        distance = sub(low, u)
        return ite(equal(mod(distance, const(divisor)), ZERO), first_equal(distance, a.value, m), const(m))
    step: Term = a
    if isinstance(a, Const):
        forward = a.value % m
        step = const(forward if 2 * forward <= m else forward - m)
    if isinstance(start, Op) and start.op == "mod":  # the function reduces by itself
        start = start.args[0]
    return Op("first_in_range", (start, step, const(m), low, high))


def first_equal(distance: Term, a: int, m: int) -> Term:
    """The least t ≥ 0 with a·t ≡ ``distance`` modulo m, where there is one: where gcd(a, m) divides the distance."""
    divisor = gcd(a, m)
    reduced = m // divisor
    inverse = pow(a // divisor, -1, reduced) if reduced > 1 else 0
    return mod(scale(floor_div(distance, const(divisor)), inverse), const(reduced))


def _below(term: Term, limit: int) -> bool:
    high = range_of(term)[1]
    return high is not None and high < limit


def first_scaled(u: Term, b: int, c: Term, m: int, low: Term, high: Term) -> Term:
    """The least k ≥ 0 with ``low`` ≤ (``u``·b^k + ``c``) mod m ≤ ``high``, -1 if there is none.

    m is a power of 2, b even or m ≤ 4096. After as many steps as m has bits, or after m / 4, nothing new comes.
    """
    args = (u, const(b), c, const(m), low, high)
    return _folded("first_scaled", args) or Op("first_scaled", args)


def floor_sum(n: Term, m: int, a: Term, u: Term) -> Term:
    """The sum of floor((a·i + u) / m) for 0 ≤ i < n; m ≥ 1; undefined where n < 0."""
    if n is ZERO:
        return ZERO
    if n is ONE:
        return floor_div(u, const(m))
    if m == 1 or (isinstance(a, Const) and a.value % m == 0):
        pairs = floor_div(mul(n, sub(n, ONE)), const(2))
        step = a if m == 1 else floor_div(a, const(m))
        return add(mul(n, floor_div(u, const(m))), mul(step, pairs))
    if isinstance(n, Const) and n.value >= 0 and isinstance(a, Const) and isinstance(u, Const):
        return const(OPERATORS["floor_sum"].fold(n.value, m, a.value, u.value))
    return Op("floor_sum", (n, const(m), a, u))


def sum_of_residues(n: Term, m: int, a: Term, u: Term) -> Term:
    """The sum of (u + a·i) mod m for 0 ≤ i < n."""
    pairs = floor_div(mul(n, sub(n, ONE)), const(2))
    return add(mul(n, u), mul(a, pairs), scale(floor_sum(n, m, a, u), -m))


def table(index: Term, entries: Iterable[int]) -> Term:
    """``entries[index]``, counted from 0; the first one below 0, the last one beyond the end."""
    values = tuple(entries)
    low, high = range_of(index)
    if isinstance(index, Const):
        return const(OPERATORS["table"].fold(index.value, *values))
    inside = low is not None and low >= 0 and high is not None and high < len(values)
    step = values[1] - values[0] if len(values) > 1 else 0
    if (inside or step == 0) and all(after - before == step for before, after in pairwise(values)):
        return add(scale(index, step), const(values[0]))
    return Op("table", (index, *(const(value) for value in values)))


Coefficients = Mapping[tuple[int, int], Term]
"""An exponential polynomial Σ c·base^k·k^degree: the coefficients c by (base, degree), base ≥ 1."""


def first_positive(curve: Coefficients) -> Term:
    """The least k ≥ 0 at which the value of ``curve`` is positive, -1 if there is none.

    Simplified for constants, for what is linear in k with a constant slope, and for what never grows.
    """
    items = _primitive(curve)
    start, moving = _at_start(items), [c for (base, degree), c in items.items() if (base, degree) != (1, 0)]
    low, high = range_of(start)
    if low is not None and low > 0:
        return ZERO
    if all(_never_positive(c) for c in moving):
        return const(-1) if high is not None and high <= 0 else ite(greater(start, ZERO), ZERO, const(-1))
    slope = items.get((1, 1))
    if len(moving) == 1 and isinstance(slope, Const):
        return maximum(ZERO, add(floor_div(neg(items.get((1, 0), ZERO)), slope), ONE))
    return _of_curve("first_positive", items)


def first_zero(curve: Coefficients) -> Term:
    """The least k ≥ 0 at which the value of ``curve`` is 0, -1 if there is none."""
    items = _primitive(curve)
    if all(key == (1, 0) for key in items):
        return ite(equal(_at_start(items), ZERO), ZERO, const(-1))
    return _of_curve("first_zero", items)


def _of_curve(op: str, items: Coefficients) -> Term:
    flat = ((const(base), const(degree), items[base, degree]) for base, degree in sorted(items))
    args = tuple(arg for group in flat for arg in group)
    try:
        return _folded(op, args) or Op(op, args)
    except EvaluationError:  # out of reach
        return Op(op, args)


def coefficients(args: Sequence[Term]) -> dict[tuple[int, int], Term]:
    """The exponential polynomial of a :func:`first_positive` or :func:`first_zero` with the arguments ``args``."""
    groups = zip(args[::3], args[1::3], args[2::3], strict=True)
    return {(b.value, d.value): c for b, d, c in groups if isinstance(b, Const) and isinstance(d, Const)}


def curve_at(curve: Coefficients, k: Term) -> Term:
    """The value of ``curve`` at ``k``. Raises :class:`loopless.terms.TermTooLarge`."""
    parts = (mul(mul(c, power(const(base), k)), power(k, const(degree))) for (base, degree), c in curve.items())
    return add(*parts)


def eventually_positive(curve: Coefficients) -> bool:
    """Whether the values are surely positive from some k on, by the range of the coefficient that grows fastest."""
    items = {key: c for key, c in curve.items() if c is not ZERO}
    if not items:
        return False
    low = range_of(items[max(items)])[0]
    return low is not None and low > 0


def _at_start(items: Coefficients) -> Term:
    return add(*(c for (_, degree), c in items.items() if degree == 0))


def _never_positive(term: Term) -> bool:
    high = range_of(term)[1]
    return high is not None and high <= 0


def _primitive(curve: Coefficients) -> dict[tuple[int, int], Term]:
    """Without zeros and without a common constant factor of all coefficients."""
    items = {key: c for key, c in curve.items() if c is not ZERO}
    common = gcd(*(number for c in items.values() for number in polynomial(c).values()))
    if common < 2:
        return items
    return {
        key: from_polynomial({m: number // common for m, number in polynomial(c).items()}) for key, c in items.items()
    }


def linear_power(count: Term, matrix: Sequence[Sequence[Term]], start: Sequence[Term]) -> Term:
    """The first component of ``matrix``^max(``count``, 0) · ``start``: a linear map applied again and again.

    Raises :class:`loopless.terms.TermTooLarge`.
    """
    if isinstance(count, Const) and count.value <= MAX_EXPANDED_POWER:
        values = list(start)
        for _ in range(count.value):
            values = [add(*(mul(c, x) for c, x in zip(row, values, strict=True))) for row in matrix]
        return values[0]
    args = (count, const(len(start)), *(c for row in matrix for c in row), *start)
    if all(isinstance(arg, Const) for arg in args):
        numbers = [arg.value for arg in args if isinstance(arg, Const)]
        try:
            return const(powers.first_component(numbers, limit=MAX_FOLDED_BITS))
        except ValueError:
            pass
    return Op("linear_power", args)


def digits(n: Term, base: int, factor: Term, count: Term) -> Term:
    """Σ d_i·factor^(count-1-i) over the first max(``count``, 0) digits d_i = floor(n / base^i) mod base, the lowest
    first; base ≥ 2. With factor 1 it is the sum of the digits, with factor = base their reversal.
    """
    if isinstance(count, Const) and count.value <= MAX_EXPANDED_POWER:
        total: Term = ZERO
        for i in range(count.value):
            total = add(mul(total, factor), mod(floor_div(n, const(base**i)), const(base)))
        return total
    if isinstance(n, Const) and isinstance(factor, Const) and isinstance(count, Const):
        try:
            return const(powers.horner_of_digits(n.value, base, factor.value, count.value, limit=MAX_FOLDED_BITS))
        except ValueError:
            pass
    return Op("digits", (n, const(base), factor, count))


def divided(count: Term, x: Term, a: Term, c: int, b: Term) -> Term:
    """The value of ``x`` after doing x = (x + ``a``) / c + ``b``, with C's quotient, max(``count``, 0) times; c ≥ 2."""
    if isinstance(count, Const) and count.value <= MAX_EXPANDED_POWER:
        for _ in range(count.value):
            x = add(trunc_div(add(x, a), const(c)), b)
        return x
    args = (count, x, a, const(c), b)
    return _folded("divided", args) or Op("divided", args)


def _folded(op: str, args: tuple[Term, ...]) -> Const | None:
    """The constant that an operator makes of constants; None where some operand is none."""
    numbers = [arg.value for arg in args if isinstance(arg, Const)]
    return const(OPERATORS[op].fold(*numbers)) if len(numbers) == len(args) else None


def _table(index: Term, *entries: Term) -> Term:
    return table(index, [entry.value for entry in entries if isinstance(entry, Const)])


def _linear_power(count: Term, size: Term, *entries: Term) -> Term:
    n = _number(size)
    return linear_power(count, [entries[i * n : i * n + n] for i in range(n)], entries[n * n :])


def _number(term: Term) -> int:
    """The value of an operand that is constant by the meaning of its function."""
    assert isinstance(term, Const)
    return term.value


CONSTRUCTORS: Final[Mapping[str, Callable[..., Term]]] = {
    "floor_div": floor_div,
    "mod": mod,
    "trunc_div": trunc_div,
    "trunc_rem": trunc_rem,
    "min": minimum,
    "max": maximum,
    "bit_and": bit_and,
    "bit_or": bit_or,
    "bit_xor": bit_xor,
    "shl": shift_left,
    "shr": shift_right,
    "pow": power,
    "first_in_range": lambda u, a, m, low, high: first_in_range(u, a, _number(m), low, high),
    "first_scaled": lambda u, b, c, m, low, high: first_scaled(u, _number(b), c, _number(m), low, high),
    "floor_sum": lambda n, m, a, u: floor_sum(n, _number(m), a, u),
    "table": _table,
    "first_positive": lambda *args: first_positive(coefficients(args)),
    "first_zero": lambda *args: first_zero(coefficients(args)),
    "linear_power": _linear_power,
    "digits": lambda n, base, factor, count: digits(n, _number(base), factor, count),
    "divided": lambda count, x, a, c, b: divided(count, x, a, _number(c), b),
}
"""The constructors of all operators of :data:`loopless.terms.operators.OPERATORS`, each of the operands of its node."""


def operation(op: str, args: tuple[Term, ...]) -> Term:
    """The simplified term of an operator of :data:`loopless.terms.operators.OPERATORS` applied to ``args``."""
    return CONSTRUCTORS[op](*args)
