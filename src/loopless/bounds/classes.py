"""How a bound grows with its variables: the big O of a term."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeGuard

from loopless.terms import Const, Ite, Monomial, Op, Read, Sum, Term, Var, Wrap, const, range_of

Powers = tuple[tuple[str, Fraction], ...]
"""A product of names to exponents > 0, by name; () is a constant."""


_LOG = "log "
"""Before a name: the logarithm of that variable."""


@dataclass(frozen=True, slots=True)
class Growth:
    """The greatest of some products of variables, as O(n*m + k^2). ``products`` are such that none divides another."""

    products: frozenset[Powers]

    @property
    def degree(self) -> Fraction:
        """The greatest sum of exponents; logarithms count nothing."""
        sums = [sum((e for n, e in p if not n.startswith(_LOG)), Fraction(0)) for p in self.products]
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
    shown = f"log({name.removeprefix(_LOG)})" if name.startswith(_LOG) else name
    if exponent == 1:
        return shown
    return f"{shown}^{exponent}" if exponent.denominator == 1 else f"{shown}^({exponent})"


CONSTANT = Growth(frozenset(((),)))


def growth_of(term: Term, name: Callable[[Var], str]) -> Growth | None:
    """How fast ``term`` grows at most as its variables grow without limit; None where that is more than a polynomial.

    What is positive and what is negative counts alike: n - i is O(n + i), unless the type of i has no negative values.
    """
    match term:
        case Const():
            return CONSTANT
        case Var():
            return Growth(frozenset((((name(term), Fraction(1)),),)))
        case Sum():
            return _sum(term, name)
        case Ite():
            return _joined((growth_of(term.then, name), growth_of(term.otherwise, name)))
        case Wrap() | Read():
            return CONSTANT
        case Op():
            return _operator(term, name)
        case _:
            return None


def _sum(term: Sum, name: Callable[[Var], str]) -> Growth | None:
    found: list[Growth | None] = []
    for monomial, coefficient in term.items:
        lows = [range_of(atom)[0] for atom, _ in monomial]
        if monomial and coefficient < 0 and all(low is not None and low >= 0 for low in lows):
            continue
        product: Growth | None = CONSTANT
        quotients = [atom for atom, exponent in monomial if exponent == 1 and _is_quotient(atom, monomial)]
        if quotients:
            # A quotient times its divisor is no more than dividend and divisor together.
            dividend, divisor = quotients[0].args
            product = _joined((growth_of(dividend, name), growth_of(divisor, name)))
            monomial = _without(monomial, quotients[0], divisor)
        for atom, exponent in monomial:
            factor = growth_of(atom, name)
            for _ in range(exponent):
                product = _times(product, factor)
        found.append(product)
    return _joined(found) if found else CONSTANT


def _is_quotient(atom: Term, monomial: Monomial) -> TypeGuard[Op]:
    """Whether the atom is a quotient whose divisor is a factor beside it."""
    if not isinstance(atom, Op) or atom.op not in ("floor_div", "trunc_div"):
        return False
    return any(atom.args[1] is other for other, _ in monomial)


def _without(monomial: Monomial, *factors: Term) -> Monomial:
    left = ((atom, exponent - sum(atom is f for f in factors)) for atom, exponent in monomial)
    return tuple((atom, exponent) for atom, exponent in left if exponent)


def _operator(term: Op, name: Callable[[Var], str]) -> Growth | None:
    match term.op:
        case "max" | "table":
            return _joined(growth_of(arg, name) for arg in term.args)
        case "min":
            known = [g for g in (growth_of(arg, name) for arg in term.args) if g is not None]
            return min(known, key=lambda g: (g.degree, g.text()), default=None)
        case "floor_div" | "trunc_div" | "shr":
            return growth_of(term.args[0], name)
        case "mod" | "trunc_rem" | "bit_and":
            return _joined(growth_of(arg, name) for arg in term.args[1:])
        case "first_positive" | "first_zero":
            return _of_curve(term, name)
        case "first_scaled":
            return growth_of(const(1), name)
        case "first_in_range":
            return growth_of(term.args[2], name)
        case _:
            return None


def _of_curve(term: Op, name: Callable[[Var], str]) -> Growth | None:
    """The least k at which Σ c·b^k·k^d is positive, or 0: what grows fastest outgrows each other part in the end, be it
    positive or negative. Where its coefficient may be 0, the next part may be the one that does.
    """
    parts: dict[tuple[int, int], Term] = {}
    for at in range(0, len(term.args), 3):
        base, degree, coefficient = term.args[at : at + 3]
        assert isinstance(base, Const)
        assert isinstance(degree, Const)
        parts[base.value, degree.value] = coefficient
    found: list[Growth | None] = [CONSTANT]
    for top in sorted(parts, reverse=True):
        found += _below(top, parts, name)
        low, high = range_of(parts[top])
        if (low is not None and low > 0) or (high is not None and high < 0):
            break
    return _joined(found)


def _below(
    top: tuple[int, int], parts: Mapping[tuple[int, int], Term], name: Callable[[Var], str]
) -> Iterator[Growth | None]:
    """From which k on the part ``top``, its coefficient being 1 or more, outgrows those that grow slower."""
    for key, coefficient in parts.items():
        if key >= top:
            continue
        grows = growth_of(coefficient, name)
        if key[0] == top[0]:
            # c·k^d against k^e: k grows as c^(1/(e - d))
            yield _root(grows, top[1] - key[1])
        else:
            # c·b^k against a^k with a > b: k grows as the logarithm of c
            yield _logarithm(grows)


def _root(growth: Growth | None, degree: int) -> Growth | None:
    if growth is None:
        return None
    return Growth(frozenset(tuple((n, e / degree) for n, e in product) for product in growth.products))


def _logarithm(growth: Growth | None) -> Growth | None:
    if growth is None:
        return None
    names = {n for product in growth.products for n, _ in product if not n.startswith(_LOG)}
    return _joined([CONSTANT, *(Growth(frozenset((((_LOG + n, Fraction(1)),),))) for n in names)])


def _joined(growths: Iterable[Growth | None]) -> Growth | None:
    products: set[Powers] = set()
    for growth in growths:
        if growth is None:
            return None
        products |= growth.products
    kept = {p for p in products if not any(q != p and _divides(p, q) for q in products)}
    return Growth(frozenset(kept)) if kept else CONSTANT


def _divides(p: Powers, q: Powers) -> bool:
    powers = dict(q)
    # A power of a variable, however small, outgrows its logarithm.
    plain = all(powers.get(name, 0) >= e or (name.startswith(_LOG) and name[len(_LOG) :] in powers) for name, e in p)
    logs = [name for name, _ in p if name.startswith(_LOG) and powers.get(name, 0) == 0]
    return plain and (len(p) == 1 or not logs)


def _times(a: Growth | None, b: Growth | None) -> Growth | None:
    if a is None or b is None:
        return None
    products: list[Growth | None] = []
    for p in a.products:
        for q in b.products:
            powers = dict(p)
            for name, e in q:
                powers[name] = powers.get(name, Fraction(0)) + e
            products.append(Growth(frozenset((tuple(sorted(powers.items())),))))
    return _joined(products)
