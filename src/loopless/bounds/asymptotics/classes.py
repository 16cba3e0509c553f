"""How a bound grows with its variables: the big O of a term."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from math import prod
from typing import Final, TypeGuard

from loopless import terms as t
from loopless.limits.bounds import LARGE_CONSTANT, MAX_CLASS_DEPTH, SMALL_END
from loopless.records import dataclass

Powers = tuple[tuple[str, Fraction], ...]
"""A product of names to exponents > 0, by name; () is a constant."""


LOG: Final = "log "
"""Before a name: the logarithm of that variable."""


@dataclass(frozen=True, slots=True)
class AsymptoticClass:
    """The greatest of some products of variables, as O(n*m + k^2). ``products`` are such that none divides another."""

    products: frozenset[Powers]

    @property
    def degree(self) -> Fraction:
        """The greatest sum of exponents; logarithms count nothing."""
        sums = [sum((e for n, e in p if not n.startswith(LOG)), Fraction(0)) for p in self.products]
        return max(sums, default=Fraction(0))

    def text(self, head: str = "O") -> str:
        """As people write it."""
        return f"{head}({' + '.join(map(_text, sorted(self.products, key=_order)))})"


def _order(product: Powers) -> tuple[Fraction, Powers]:
    return -sum((e for _, e in product), Fraction(0)), product


def _text(product: Powers) -> str:
    if not product:
        return "1"
    return "*".join(map(_power, product))


def _power(factor: tuple[str, Fraction]) -> str:
    name, exponent = factor
    shown = f"log({name.removeprefix(LOG)})" if name.startswith(LOG) else name
    if exponent == 1:
        return shown
    return f"{shown}^{exponent}" if exponent.denominator == 1 else f"{shown}^({exponent})"


CONSTANT = AsymptoticClass(frozenset(((),)))


def asymptotic_class(term: t.Term, name: Callable[[t.Var], str], *, exact: bool = True) -> AsymptoticClass | None:
    """How fast ``term`` grows at most, where it is positive, as its variables grow without limit; None where that is
    more than a polynomial, or where nothing but the end of a type limits it.

    What is added and what is taken away counts alike: n - i is O(n + i), unless the type of i has no negative values.
    Unless ``term`` is ``exact``, and no mere bound, its large constants may be the ends of types of what it does not
    speak of.
    """
    if t.depth_of(term) > MAX_CLASS_DEPTH:
        return None
    types = {var.type.width for var in term.variables}
    widths = [width for width in types if width is not None]
    if not exact and None not in types:
        widths.append(_INT)
    # Ends of short types are small beside the values of longer ones; the integers have none.
    longer = [width for width in widths if width > SHORT]
    return _Classes(name, min(longer, default=max(widths, default=None))).towards(term, 1)


class _Classes:
    """The growth of terms in one direction: where they are positive, or where they are negative."""

    def __init__(self, name: Callable[[t.Var], str], width: int | None) -> None:
        """``width``: a constant that is large in a type of so many bits owes to the type's end; None: none is."""
        self.name = name
        self.width = width
        self._known: dict[tuple[t.Term, int], AsymptoticClass | None] = {}

    def towards(self, term: t.Term, sign: int) -> AsymptoticClass | None:
        """The growth of max(0, ``sign``·``term``), ``sign`` being 1 or -1."""
        if (term, sign) not in self._known:
            self._known[term, sign] = self._towards(term, sign)
        return self._known[term, sign]

    def _towards(self, term: t.Term, sign: int) -> AsymptoticClass | None:
        low, high = t.range_of(term)
        end = high if sign > 0 else low
        if end is not None and sign * end <= 0:
            return CONSTANT
        match term:
            case t.Const():
                return self._constant(term.value)
            case t.Var():
                return AsymptoticClass(frozenset((((self.name(term), Fraction(1)),),)))
            case t.Sum():
                return _joined(self._summand(monomial, c, sign) for monomial, c in term.items)
            case t.Ite():
                return _joined((self.towards(term.then, sign), self.towards(term.otherwise, sign)))
            case t.Wrap():
                return self._wrapped(term, sign)
            case t.Read():
                # What stands in memory is an input that has no name here.
                return CONSTANT if (term.type.width or LONG) <= SHORT else None
            case t.Aggregate() if term.kind == "first" or t.counted(term) is not None:
                length = term.outside[0]
                if sign > 0 and isinstance(length, t.Const) and length.value >= LARGE_CONSTANT:
                    return None  # what is read decides, and its size has no name
                return self.towards(length, 1) if sign > 0 else CONSTANT
            case t.Op():
                return self._operator(term, sign)
            case _:
                return None

    def size(self, term: t.Term) -> AsymptoticClass | None:
        """The growth of the absolute value."""
        return _joined((self.towards(term, 1), self.towards(term, -1)))

    def _constant(self, value: int) -> AsymptoticClass | None:
        return CONSTANT if _is_few(abs(value), self.width) else None

    def _summand(self, monomial: t.Monomial, coefficient: int, sign: int) -> AsymptoticClass | None:
        sign = sign if coefficient > 0 else -sign
        odd = [_sign(atom) for atom, exponent in monomial if exponent % 2]
        if None not in odd and prod(s for s in odd if s is not None) != sign:
            return CONSTANT
        return _times(self._constant(coefficient), self._product(monomial, sign))

    def _product(self, monomial: t.Monomial, sign: int) -> AsymptoticClass | None:
        product: AsymptoticClass | None = CONSTANT
        quotients = [atom for atom, exponent in monomial if exponent == 1 and _is_quotient(atom, monomial)]
        if quotients:
            # A quotient times its divisor is no more than dividend and divisor together.
            dividend, divisor = quotients[0].args
            monomial = _without(monomial, quotients[0], divisor)
            whole = self.size(dividend) if monomial else self.towards(dividend, sign)
            product = _joined((whole, self.size(divisor)))
        elif len(monomial) == 1 and monomial[0][1] == 1:
            return self.towards(monomial[0][0], sign)
        for atom, exponent in monomial:
            factor = self.size(atom)
            for _ in range(exponent):
                product = _times(product, factor)
        return product

    def _wrapped(self, term: t.Wrap, sign: int) -> AsymptoticClass | None:
        width, (low, high) = term.type.width, t.range_of(term.arg)
        if width is None:
            return self.towards(term.arg, sign)
        if 1 << width < LARGE_CONSTANT and _is_small(1 << width, term.arg):
            return CONSTANT
        # Wrapping takes away from what is not below the type, and adds to what is not beyond it.
        least, most = term.type.min, term.type.max
        if sign > 0 and low is not None and least is not None and low >= least:
            return self.towards(term.arg, 1)
        if sign < 0 and high is not None and most is not None and high <= most:
            return self.towards(term.arg, -1)
        # In a signed type it makes nothing larger in absolute value; in an unsigned one -1 is made very large.
        return self.size(term.arg) if term.type.signed else None

    def _operator(self, term: t.Op, sign: int) -> AsymptoticClass | None:
        match term.op:
            case "max" | "min":
                each = [self.towards(arg, sign) for arg in term.args]
                return _joined(each) if (term.op == "max") == (sign > 0) else _least(each)
            case "table":
                return CONSTANT
            case "floor_div" | "trunc_div" | "shr":
                dividend, divisor = term.args
                positive = term.op == "shr" or _sign(divisor) == 1
                return self.towards(dividend, sign) if positive else self.size(dividend)
            case "mod" | "trunc_rem":
                return self._remainder(term, sign)
            case "bit_and":
                return self._masked(term, sign)
            case "first_positive" | "first_zero":
                return self._of_curve(term)
            case "first_scaled":
                return self._of_scaled(term)
            case "first_in_range":
                modulus = term.args[2]
                assert isinstance(modulus, t.Const)
                return CONSTANT if _is_small(modulus.value, term) else None
            case _:
                return None

    def _masked(self, term: t.Op, sign: int) -> AsymptoticClass | None:
        """No larger than an operand that is not negative; where both are of any sign, than the larger one."""
        known = [arg for arg in term.args if _sign(arg) == 1]
        if sign < 0 or not known:
            return _joined(self.towards(arg, sign) for arg in term.args)
        small = [arg for arg in known if not isinstance(arg, t.Const) or _is_small(arg.value, term)]
        return _least(self.towards(arg, sign) for arg in small)

    def _remainder(self, term: t.Op, sign: int) -> AsymptoticClass | None:
        """No larger than the divisor; with the sign of the divisor (``mod``) or of the dividend, as which C's remainder
        is no larger either.
        """
        dividend, divisor = term.args
        truncated = term.op == "trunc_rem"
        found = []
        if not isinstance(divisor, t.Const) or _is_small(abs(divisor.value), dividend):
            found.append(self.size(divisor) if truncated else self.towards(divisor, sign))
        if truncated or (sign > 0 and _sign(dividend) == _sign(divisor) == 1):
            found.append(self.towards(dividend, sign))
        return _least(found)

    def _of_scaled(self, term: t.Op) -> AsymptoticClass:
        """When a value that is multiplied comes into a window: within as many steps as there are bits. Where nothing
        lies beyond the window it does so on the way up, if at all soon.
        """
        _, _, added, modulus, low, high = term.args
        assert isinstance(modulus, t.Const)
        if added != t.ZERO or not isinstance(high, t.Const) or high.value < modulus.value - 1:
            return CONSTANT
        # The logarithm of a type's end is small.
        return _logarithm(_Classes(self.name, None).towards(low, 1)) or CONSTANT

    def _of_curve(self, term: t.Op) -> AsymptoticClass | None:
        """The least k at which Σ c·b^k·k^d is positive, or 0: what grows fastest outgrows each other part in the end,
        be it positive or negative. Where its coefficient may be 0, the next part may be the one that does.
        """
        parts: dict[tuple[int, int], t.Term] = {}
        for at in range(0, len(term.args), 3):
            base, degree, coefficient = term.args[at : at + 3]
            assert isinstance(base, t.Const)
            assert isinstance(degree, t.Const)
            parts[base.value, degree.value] = coefficient
        found: list[AsymptoticClass | None] = [CONSTANT]
        for top in sorted(parts, reverse=True):
            # Of what is added to a positive part it becomes positive the sooner, and negative parts the same way.
            sign = _sign(parts[top]) if term.op == "first_positive" else None
            found += self._below(top, parts, sign)
            low, high = t.range_of(parts[top])
            if (low is not None and low > 0) or (high is not None and high < 0):
                break
        return _joined(found)

    def _below(
        self, top: tuple[int, int], parts: Mapping[tuple[int, int], t.Term], sign: int | None
    ) -> Iterator[AsymptoticClass | None]:
        """From which k on the part ``top``, of this sign and 1 or more in size, outgrows those that grow slower."""
        for key, coefficient in parts.items():
            if key >= top:
                continue
            same = key[0] == top[0]
            # The logarithm of a type's end is small.
            classes = self if same else _Classes(self.name, None)
            grows = classes.size(coefficient) if sign is None else classes.towards(coefficient, -sign)
            # c·k^d against k^e: k grows as c^(1/(e - d)); c·b^k against a^k with a > b: as the logarithm of c
            yield _root(grows, top[1] - key[1]) if same else _logarithm(grows)


_INT: Final = 32
"""The bits of C's int, in which sizes are counted where no width is told."""
LONG, SHORT = 64, 16
"""Elements of memory of at most ``SHORT`` bits have so few values that these count as constants."""


def _sign(term: t.Term) -> int | None:
    """1 where a term is surely never negative, -1 where it is never positive; None where neither is seen."""
    low, high = t.range_of(term)
    if low is not None and low >= 0:
        return 1
    return -1 if high is not None and high <= 0 else None


def _is_few(limit: int, width: int | None) -> bool:
    """Whether ``limit`` is a small part of the values of a type; a loop may go round it in steps of up to 256."""
    return width is None or limit <= SMALL_END or limit * (256 if width >= 32 else 4) <= 1 << width


def _is_small(limit: int, term: t.Term) -> bool:
    """Whether ``limit`` is a constant beside what the values in ``term`` may come to, and not the end of their types:
    what is cut off there grows with them, as n + 1 in n's own type does, and as n does in a type shorter than its own.
    """
    widths = [node.type.width for node in t.walk(term) if isinstance(node, t.Var | t.Read)]
    return all(width is None or (limit < LARGE_CONSTANT and _is_few(limit, width)) for width in widths)


def _least(growths: Iterable[AsymptoticClass | None]) -> AsymptoticClass | None:
    """The first of the least degree, each of them being right; or what is a part of it, as O(n) of O(n + p)."""
    known = [g for g in growths if g is not None]
    first = min(known, key=lambda g: (g.degree, g != CONSTANT), default=None)
    parts = [g for g in known if first is not None and g.degree == first.degree and g.products < first.products]
    return min(parts, key=lambda g: len(g.products), default=first)


def _is_quotient(atom: t.Term, monomial: t.Monomial) -> TypeGuard[t.Op]:
    """Whether the atom is a quotient whose divisor is a factor beside it."""
    if not isinstance(atom, t.Op) or atom.op not in ("floor_div", "trunc_div"):
        return False
    return any(atom.args[1] is other for other, _ in monomial)


def _without(monomial: t.Monomial, *factors: t.Term) -> t.Monomial:
    left = ((atom, exponent - sum(atom is f for f in factors)) for atom, exponent in monomial)
    return tuple((atom, exponent) for atom, exponent in left if exponent)


def _root(growth: AsymptoticClass | None, degree: int) -> AsymptoticClass | None:
    if growth is None:
        return None
    return AsymptoticClass(frozenset(tuple((n, e / degree) for n, e in product) for product in growth.products))


def _logarithm(growth: AsymptoticClass | None) -> AsymptoticClass | None:
    if growth is None:
        return None
    # The logarithm of a logarithm is less than that.
    names = {n.removeprefix(LOG) for product in growth.products for n, _ in product}
    return _joined([CONSTANT, *(AsymptoticClass(frozenset((((LOG + n, Fraction(1)),),))) for n in names)])


def _joined(growths: Iterable[AsymptoticClass | None]) -> AsymptoticClass | None:
    products: set[Powers] = set()
    for growth in growths:
        if growth is None:
            return None
        products |= growth.products
    kept = {p for p in products if not any(q != p and _divides(p, q) for q in products)}
    return AsymptoticClass(frozenset(kept)) if kept else CONSTANT


def _divides(p: Powers, q: Powers) -> bool:
    powers = dict(q)
    # A power of a variable, however small, outgrows its logarithm.
    plain = all(powers.get(name, 0) >= e or (name.startswith(LOG) and name[len(LOG) :] in powers) for name, e in p)
    logs = [name for name, _ in p if name.startswith(LOG) and powers.get(name, 0) == 0]
    return plain and (len(p) == 1 or not logs)


def _times(a: AsymptoticClass | None, b: AsymptoticClass | None) -> AsymptoticClass | None:
    if a is None or b is None:
        return None
    products: list[AsymptoticClass | None] = []
    for p in a.products:
        for q in b.products:
            powers = dict(p)
            for name, e in q:
                powers[name] = powers.get(name, Fraction(0)) + e
            products.append(AsymptoticClass(frozenset((tuple(sorted(powers.items())),))))
    return _joined(products)
