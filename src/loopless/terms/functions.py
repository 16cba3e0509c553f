"""Constructors of the named functions: first visit of an interval, sums of quotients, and tables of constants.

They stand in answers where no expression over ``+``, ``*`` and floors exists or none can be read, and are evaluated in
logarithmic time (:mod:`loopless.terms.modular`). Also :func:`operation`, every operator's constructor by name.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from math import gcd

from loopless.terms import modular
from loopless.terms.build import (
    add,
    bit_and,
    bit_or,
    bit_xor,
    const,
    floor_div,
    ite,
    maximum,
    minimum,
    mod,
    mul,
    power,
    scale,
    shift_left,
    shift_right,
    sub,
    trunc_div,
    trunc_rem,
)
from loopless.terms.conditions import equal
from loopless.terms.nodes import NAMED_FUNCTIONS, ONE, ZERO, Const, Op, Term
from loopless.terms.ranges import range_of


def first_in_range(u: Term, a: Term, m: int, low: Term, high: Term) -> Term:
    """The least t ≥ 0 with ``low`` ≤ (u + a·t) mod m ≤ ``high``; m itself where there is none. m ≥ 1.

    Every first visit comes before m, so that m is larger than all of them. Simplified for constants, and for an
    interval of one residue (modular inverse).
    """
    start = mod(u, const(m))
    if isinstance(start, Const) and isinstance(a, Const) and isinstance(low, Const) and isinstance(high, Const):
        return const(modular.first_visit(start.value, a.value, m, low.value, high.value))
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
        return const(modular.floor_sum(n.value, m, a.value, u.value))
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
        return const(values[min(max(index.value, 0), len(values) - 1)])
    inside = low is not None and low >= 0 and high is not None and high < len(values)
    step = values[1] - values[0] if len(values) > 1 else 0
    if (inside or step == 0) and all(after - before == step for before, after in pairwise(values)):
        return add(scale(index, step), const(values[0]))
    return Op("table", (index, *(const(value) for value in values)))


def _named(op: str, args: tuple[Term, ...]) -> Term:
    """The simplified term of a named function applied to ``args``, in the order of the constructor."""
    if op == "table":
        return table(args[0], [arg.value for arg in args[1:] if isinstance(arg, Const)])
    modulus = args[2] if op == "first_in_range" else args[1]
    assert isinstance(modulus, Const)
    if op == "first_in_range":
        return first_in_range(args[0], args[1], modulus.value, args[3], args[4])
    return floor_sum(args[0], modulus.value, args[2], args[3])


OPERATIONS = {
    "floor_div": floor_div,
    "mod": mod,
    "trunc_div": trunc_div,
    "trunc_rem": trunc_rem,
    "bit_and": bit_and,
    "bit_or": bit_or,
    "bit_xor": bit_xor,
    "shl": shift_left,
    "shr": shift_right,
    "pow": power,
}
"""The constructors of the binary operators of :data:`loopless.terms.nodes.OPERATORS`."""


def operation(op: str, args: tuple[Term, ...]) -> Term:
    """The simplified term of an operator of :data:`loopless.terms.nodes.OPERATORS` applied to ``args``."""
    if op in NAMED_FUNCTIONS:
        return _named(op, args)
    if op == "min":
        return minimum(*args)
    if op == "max":
        return maximum(*args)
    left, right = args
    return OPERATIONS[op](left, right)
