"""Constructors of terms: sums in canonical polynomial form, simplified in ways that hold for all values."""

from __future__ import annotations

from collections.abc import Iterable
from math import gcd

from loopless.limits.terms import MAX_DEGREE, MAX_MONOMIALS, MAX_POWER_BITS
from loopless.terms.nodes import (
    ONE,
    ZERO,
    Condition,
    Const,
    Ite,
    Monomial,
    Op,
    Read,
    Sum,
    Term,
    TermTooLarge,
    Truth,
    Var,
    Wrap,
    walk,
)
from loopless.terms.operators import OPERATORS
from loopless.terms.term_ranges import range_of
from loopless.terms.types import IntType

Polynomial = dict[Monomial, int]
"""Monomials with their non-zero integer coefficients."""


def const(value: int) -> Const:
    """The constant ``value``."""
    return Const(value)


def polynomial(term: Term) -> Polynomial:
    """``term`` as a polynomial over atoms (terms that are neither sums nor constants)."""
    match term:
        case Const():
            return {(): term.value} if term.value else {}
        case Sum():
            return dict(term.items)
        case _:
            return {((term, 1),): 1}


def from_polynomial(poly: Polynomial) -> Term:
    """The term of a polynomial; the inverse of :func:`polynomial`."""
    items = [(m, c) for m, c in poly.items() if c]
    if not items:
        return ZERO
    if len(items) == 1:
        monomial, coefficient = items[0]
        if monomial == ():
            return Const(coefficient)
        if coefficient == 1 and len(monomial) == 1 and monomial[0][1] == 1:
            return monomial[0][0]
    items.sort(key=_order)
    return Sum(tuple(items))


_Order = tuple[int, list[tuple[str, int]]]
_orders: dict[Monomial, _Order] = {}
"""By monomial what it is sorted by: the same few are, again and again."""


def _order(item: tuple[Monomial, int]) -> _Order:
    monomial = item[0]
    found = _orders.get(monomial)
    if found is None:
        found = _orders[monomial] = -sum(e for _, e in monomial), [(a.key, e) for a, e in monomial]
    return found


def add(*terms: Term) -> Term:
    """The sum of ``terms``."""
    if len(terms) == 2 and isinstance(terms[1], Const):
        return add_constant(terms[0], terms[1].value)
    total: Polynomial = {}
    for term in terms:
        for monomial, coefficient in _items(term):
            total[monomial] = total.get(monomial, 0) + coefficient
    return from_polynomial(total)


def sub(a: Term, b: Term) -> Term:
    """``a - b``."""
    if isinstance(b, Const):
        return add_constant(a, -b.value)
    total = polynomial(a)
    for monomial, coefficient in _items(b):
        total[monomial] = total.get(monomial, 0) - coefficient
    return from_polynomial(total)


def _items(term: Term) -> Iterable[tuple[Monomial, int]]:
    """The monomials of :func:`polynomial`, with their coefficients."""
    return term.items if isinstance(term, Sum) else polynomial(term).items()


def add_constant(term: Term, value: int) -> Term:
    """``term + value``: of the monomials in their order the constant is the last."""
    if not value:
        return term
    if isinstance(term, Const):
        return Const(term.value + value)
    items = term.items if isinstance(term, Sum) else ((((term, 1),), 1),)
    if items[-1][0] != ():
        return Sum((*items, ((), value)))
    value += items[-1][1]
    return Sum((*items[:-1], ((), value))) if value else from_polynomial(dict(items[:-1]))


def neg(a: Term) -> Term:
    """``-a``."""
    return scale(a, -1)


def scale(term: Term, factor: int) -> Term:
    """``factor · term``."""
    if factor == 1:
        return term
    if factor and isinstance(term, Sum) and len(term.items) > 1:
        return Sum(tuple((m, c * factor) for m, c in term.items))  # the order is the same
    return from_polynomial({m: c * factor for m, c in polynomial(term).items()})


def mul(a: Term, b: Term) -> Term:
    """``a · b``, multiplied out. Raises :class:`TermTooLarge` beyond the limits above."""
    if isinstance(a, Const):
        return scale(b, a.value)
    if isinstance(b, Const):
        return scale(a, b.value)
    left, right = polynomial(a), polynomial(b)
    if len(left) * len(right) > MAX_MONOMIALS:
        raise TermTooLarge(f"a product of {len(left)} and {len(right)} monomials")
    total: Polynomial = {}
    for m, c in left.items():
        for n, d in right.items():
            key = _times(m, n)
            total[key] = total.get(key, 0) + c * d
    return from_polynomial(total)


def _times(m: Monomial, n: Monomial) -> Monomial:
    if not m:
        return n
    if not n:
        return m
    powers = dict(m)
    for atom, exponent in n:
        powers[atom] = powers.get(atom, 0) + exponent
    degree = sum(powers.values())
    if degree > MAX_DEGREE:
        raise TermTooLarge(f"a product of degree {degree}")
    return tuple(sorted(powers.items(), key=lambda pair: pair[0].key))


def product(terms: Iterable[Term]) -> Term:
    """The product of ``terms``, 1 for none."""
    result: Term = ONE
    for term in terms:
        result = mul(result, term)
    return result


def power(base: Term, exponent: Term) -> Term:
    """``base`` to the ``exponent`` ≥ 0; small constant exponents are multiplied out."""
    if isinstance(base, Const):
        if base is ONE:
            return ONE
        if not isinstance(exponent, Const) or not 0 <= exponent.value <= 256:
            return Op("pow", (base, exponent))
        if base.value.bit_length() * exponent.value > MAX_POWER_BITS:
            return Op("pow", (base, exponent))
        return Const(OPERATORS["pow"].fold(base.value, exponent.value))
    if isinstance(exponent, Const) and 0 <= exponent.value <= 8:
        return product([base] * exponent.value)
    return Op("pow", (base, exponent))


def _split_by(term: Term, divisor: int) -> tuple[Term, Term]:
    """Quotient q and rest r: term = divisor·q + r, the coefficients of r in (-d/2, d/2], its constant in [0, d)."""
    quotient: Polynomial = {}
    remainder: Polynomial = {}
    for monomial, coefficient in polynomial(term).items():
        q, r = divmod(coefficient, divisor)
        if monomial and 2 * r > divisor:
            q, r = q + 1, r - divisor
        if q:
            quotient[monomial] = q
        if r:
            remainder[monomial] = r
    return from_polynomial(quotient), from_polynomial(remainder)


def floor_div(a: Term, b: Term) -> Term:
    """``floor(a / b)``; undefined where b = 0."""
    if isinstance(b, Const) and b.value != 0:
        if b.value < 0:
            return floor_div(neg(a), Const(-b.value))
        quotient, rest = _split_by(a, b.value)
        common = gcd(b.value, *(c for m, c in polynomial(rest).items() if m))
        divisor = b.value
        if common > 1:
            divisor //= common
            rest = from_polynomial({m: c // common for m, c in polynomial(rest).items()})
        if divisor == 1:
            return add(quotient, rest)
        low, high = range_of(rest)
        if low is not None and high is not None and low // divisor == high // divisor:
            return add(quotient, Const(low // divisor))
        if isinstance(rest, Op) and rest.op == "floor_div" and isinstance(rest.args[1], Const):
            return add(quotient, floor_div(rest.args[0], Const(divisor * rest.args[1].value)))
        return add(quotient, Op("floor_div", (rest, Const(divisor))))
    return Op("floor_div", (a, b))


def mod(a: Term, b: Term) -> Term:
    """``a - b·floor(a / b)``, in [0, b) for b > 0; undefined where b = 0."""
    if isinstance(b, Const) and b.value > 0:
        _, rest = _split_by(a, b.value)
        low, high = range_of(rest)
        if low is not None and high is not None and low // b.value == high // b.value:
            return sub(rest, Const(b.value * (low // b.value)))
        if isinstance(rest, Op) and rest.op == "mod" and isinstance(rest.args[1], Const):
            inner = rest.args[1].value
            if inner % b.value == 0:
                return mod(rest.args[0], b)
        if isinstance(rest, Wrap) and rest.type.width is not None and (1 << rest.type.width) % b.value == 0:
            return mod(rest.arg, b)
        return Op("mod", (rest, b))
    if isinstance(a, Const) and isinstance(b, Const) and b.value:
        return Const(OPERATORS["mod"].fold(a.value, b.value))
    return Op("mod", (a, b))


def trunc_div(a: Term, b: Term) -> Term:
    """C's ``a / b``: the quotient rounded towards 0; undefined where b = 0."""
    low, high = range_of(a)
    if isinstance(b, Const) and b.value != 0:
        if b.value < 0:
            return neg(trunc_div(a, Const(-b.value)))
        if b.value == 1:
            return a
        if low is not None and low >= 0:
            return floor_div(a, b)
        if high is not None and high <= 0:
            return neg(floor_div(neg(a), b))
        return Op("trunc_div", (a, b))
    divisor_low = range_of(b)[0]
    if low is not None and low >= 0 and divisor_low is not None and divisor_low >= 0:
        return floor_div(a, b)
    return Op("trunc_div", (a, b))


def trunc_rem(a: Term, b: Term) -> Term:
    """C's ``a % b``: the remainder with the sign of ``a``; undefined where b = 0."""
    low, high = range_of(a)
    if isinstance(b, Const) and b.value != 0:
        if b.value < 0:
            return trunc_rem(a, Const(-b.value))
        if b.value == 1:
            return ZERO
        if low is not None and low >= 0:
            return mod(a, b)
        if high is not None and high <= 0:
            return neg(mod(neg(a), b))
        return Op("trunc_rem", (a, b))
    divisor_low = range_of(b)[0]
    if low is not None and low >= 0 and divisor_low is not None and divisor_low >= 0:
        return mod(a, b)
    return Op("trunc_rem", (a, b))


def minimum(*terms: Term) -> Term:
    """The least of ``terms``."""
    return _extreme("min", terms)


def maximum(*terms: Term) -> Term:
    """The greatest of ``terms``."""
    return _extreme("max", terms)


def _extreme(op: str, terms: tuple[Term, ...]) -> Term:
    sign = 1 if op == "min" else -1
    flat: list[Term] = []
    for term in terms:
        flat.extend(term.args if isinstance(term, Op) and term.op == op else (term,))
    kept: list[Term] = []
    for term in dict.fromkeys(flat):
        if any(_at_most(scale(other, sign), scale(term, sign)) for other in kept):
            continue
        kept = [other for other in kept if not _at_most(scale(term, sign), scale(other, sign))]
        kept.append(term)
    if len(kept) == 1:
        return kept[0]
    return Op(op, tuple(sorted(kept)))


def _at_most(a: Term, b: Term) -> bool:
    high = range_of(sub(a, b))[1]
    return (high is not None and high <= 0) or _raised_at_most(a, b)


def _raised_at_most(a: Term, b: Term) -> bool:
    """Whether max(c, x) <= max(c, y) since y >= x, or is wherever x > c: y - x is a constant of at least 0 beside some
    times x - c - 1, where that is linear.
    """
    if not (isinstance(a, Op) and isinstance(b, Op) and a.op == b.op == "max" and len(a.args) == len(b.args) == 2):
        return False
    floors = [(c, x, y) for c, x in (a.args, a.args[::-1]) for d, y in (b.args, b.args[::-1]) if c is d]
    for c, x, y in floors:
        least = range_of(sub(y, x))[0]
        if least is not None and least >= 0:
            return True
        above, more = polynomial(sub(sub(x, c), ONE)), polynomial(sub(y, x))
        first = next((monomial for monomial in above if monomial), None)
        if first is None or above[first] * more.get(first, 0) <= 0:
            continue
        p, q = abs(more[first]), abs(above[first])
        low = range_of(sub(scale(sub(y, x), q), scale(sub(sub(x, c), ONE), p)))[0]
        if low is not None and low >= 0:
            return True
    return False


def wrap(term: Term, type: IntType) -> Term:
    """``term`` reduced modulo 2^width into the range of ``type``; the term itself where it surely fits."""
    if type.width is None or fits(term, type):
        return term
    modulus = 1 << type.width
    if isinstance(term, Const):
        return Const(type.wrap(term.value))
    reduced: Polynomial = {}
    for monomial, coefficient in polynomial(term).items():
        r = coefficient % modulus
        if 2 * r > modulus or (2 * r == modulus and type.signed):
            r -= modulus
        _accumulate(reduced, _unwrapped(monomial, type.width - _twos(r)), r)
    inner = from_polynomial(reduced)
    if fits(inner, type):
        return inner
    if isinstance(inner, Const):
        return Const(type.wrap(inner.value))
    if isinstance(inner, Ite):
        return _wrapped_choice(inner, type)
    return Wrap(inner, type)


_wrapped: dict[tuple[Ite, IntType], Term] = {}
"""Choices between choices share parts: each is wrapped once."""


def _wrapped_choice(choice: Ite, type: IntType) -> Term:
    found = _wrapped.get((choice, type))
    if found is None:
        for node in walk(choice, lambda below: not isinstance(below, Ite) or (below, type) in _wrapped):
            assert isinstance(node, Ite)
            found = ite(node.condition, wrap(node.then, type), wrap(node.otherwise, type))
            _wrapped[node, type] = found
    assert found is not None
    return found


def _accumulate(into: Polynomial, poly: Polynomial, factor: int) -> None:
    for monomial, coefficient in poly.items():
        into[monomial] = into.get(monomial, 0) + coefficient * factor


def _twos(number: int) -> int:
    """How often 2 divides a number; 0 for 0."""
    return (number & -number).bit_length() - 1 if number else 0


def _unwrapped(monomial: Monomial, width: int) -> Polynomial:
    """The monomial with inner wraps of at least ``width`` bits removed: reduction is a ring homomorphism."""
    if not any(_wraps(atom, width) for atom, _ in monomial):
        return {monomial: 1}
    result: Term = ONE
    try:
        for atom, exponent in monomial:
            base = atom.arg if isinstance(atom, Wrap) and _wraps(atom, width) else atom
            result = mul(result, product([base] * exponent))
    except TermTooLarge:
        return {monomial: 1}
    return polynomial(result)


def _wraps(atom: Term, width: int) -> bool:
    return isinstance(atom, Wrap) and atom.type.width is not None and atom.type.width >= width


def fits(term: Term, type: IntType) -> bool:
    """Whether ``term`` surely lies in the range of ``type``, by the ranges of its variables."""
    if type.width is None:
        return True
    low, high = range_of(term)
    assert type.min is not None
    assert type.max is not None
    return low is not None and high is not None and type.min <= low and high <= type.max


def ite(condition: Condition, then: Term, otherwise: Term) -> Term:
    """``then`` where ``condition`` holds, else ``otherwise``."""
    if isinstance(condition, Truth):
        return then if condition.value else otherwise
    if then is otherwise:
        return then
    return Ite(condition, then, otherwise)


def read(array: str, offset: Term, type: IntType) -> Term:
    """The element of ``type`` at byte ``offset`` of the object ``array``."""
    return Read(array, offset, type)


def bit_and(a: Term, b: Term) -> Term:
    """Bitwise and; masks 2^k-1 become ``mod``."""
    if isinstance(a, Const):
        a, b = b, a
    if isinstance(b, Const) and not isinstance(a, Const):
        if b.value > 0 and b.value & (b.value + 1) == 0:
            return mod(a, Const(b.value + 1))
        if b.value < -1 and -b.value & (-b.value - 1) == 0:
            return sub(a, mod(a, Const(-b.value)))
    return _commutative("bit_and", a, b)


def bit_or(a: Term, b: Term) -> Term:
    """Bitwise or."""
    return _commutative("bit_or", a, b)


def bit_xor(a: Term, b: Term) -> Term:
    """Bitwise exclusive or; with -1 it is ``-a - 1``."""
    if isinstance(a, Const):
        a, b = b, a
    if a is b:
        return ZERO
    if isinstance(b, Const) and not isinstance(a, Const):
        if b.value == -1:
            return sub(Const(-1), a)
        if b.value == 1 and range_of(a) == (0, 1):
            return sub(ONE, a)
    return _commutative("bit_xor", a, b)


def _commutative(op: str, a: Term, b: Term) -> Term:
    """A commutative operator of two operands, simplified by what the table of operators says of it."""
    operator = OPERATORS[op]
    if isinstance(a, Const):
        a, b = b, a
    if isinstance(b, Const):
        if isinstance(a, Const):
            return Const(operator.fold(a.value, b.value))
        if b.value == operator.neutral:
            return a
        if b.value == operator.absorbing:
            return b
    if a is b and operator.idempotent:
        return a
    return Op(op, tuple(sorted((a, b))))


def shift_left(a: Term, amount: Term) -> Term:
    """``a · 2^amount`` over ℤ, amount ≥ 0."""
    if isinstance(amount, Const) and 0 <= amount.value <= 4096:
        return scale(a, 1 << amount.value)
    return Op("shl", (a, amount))


def shift_right(a: Term, amount: Term) -> Term:
    """``floor(a / 2^amount)``, amount ≥ 0."""
    if isinstance(amount, Const) and 0 <= amount.value <= 4096:
        return floor_div(a, Const(1 << amount.value))
    return Op("shr", (a, amount))


def variable(name: str, type: IntType) -> Var:
    """The variable ``name`` of ``type``."""
    return Var(name, type)
