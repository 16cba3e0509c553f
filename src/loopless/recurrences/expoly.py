"""Exponential polynomials Σ c · q^d · λ^q · M with rational c, integer λ ≠ 0 and M a monomial of entry-value atoms.

They are closed under sums, products, shifts and dilations of q, and under solving f(q+1) = a·f(q) + g(q): the values
that "solvable" loops (Rodríguez-Carbonell and Kapur, ISSAC 2004) take.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import comb, lcm

from flint import fmpq

from loopless import terms as t
from loopless.limits.recurrences import MAX_SUMMANDS
from loopless.records import dataclass

Key = tuple[int, int, t.Monomial]
"""Base λ, degree d in q, monomial of atoms."""


class NoClosedForm(Exception):
    """There is no closed form; the text is the part of a sentence that says why."""


@dataclass(frozen=True, slots=True, eq=False)
class ExpPoly:
    """A sum of ``items``: non-zero rational coefficients by (base, degree, monomial)."""

    items: Mapping[Key, fmpq]

    @property
    def bases(self) -> frozenset[int]:
        """The bases that occur, 1 for polynomial parts."""
        return frozenset(base for base, _, _ in self.items)

    @property
    def degree(self) -> int:
        """The largest exponent of q, 0 for the empty sum."""
        return max((degree for _, degree, _ in self.items), default=0)

    def same(self, other: ExpPoly) -> bool:
        """Whether both are the same function of q and the atoms (the representation is canonical)."""
        return dict(self.items) == dict(other.items)

    def __add__(self, other: ExpPoly) -> ExpPoly:
        total = dict(self.items)
        for key, value in other.items.items():
            total[key] = total[key] + value if key in total else value
        return _clean(total)

    def __sub__(self, other: ExpPoly) -> ExpPoly:
        return self + other.scale(fmpq(-1))

    def scale(self, factor: fmpq) -> ExpPoly:
        """``factor`` times this."""
        return _clean({key: value * factor for key, value in self.items.items()})

    def __mul__(self, other: ExpPoly) -> ExpPoly:
        if len(self.items) * len(other.items) > 8 * MAX_SUMMANDS:
            raise NoClosedForm("the product of its factors is too large")
        total: dict[Key, fmpq] = {}
        for (base, degree, monomial), value in self.items.items():
            for (base2, degree2, monomial2), value2 in other.items.items():
                key = (base * base2, degree + degree2, times(monomial, monomial2))
                product = value * value2
                total[key] = total[key] + product if key in total else product
        return _clean(total)

    def dilate(self, factor: int, offset: int) -> ExpPoly:
        """The function q ↦ f(factor·q + offset), factor ≥ 1, offset any integer."""
        if factor == 1 and offset == 0:
            return self
        total: dict[Key, fmpq] = {}
        for (base, degree, monomial), value in self.items.items():
            lead = value * fmpq(base) ** offset
            for i in range(degree + 1):
                coefficient = lead * (comb(degree, i) * factor**i * offset ** (degree - i))
                key = (base**factor, i, monomial)
                total[key] = total[key] + coefficient if key in total else coefficient
        return _clean(total)

    def stretched(self, factor: int) -> ExpPoly:
        """The function q ↦ f(q / factor); only for base 1."""
        return _clean({(b, d, m): value / fmpq(factor) ** d for (b, d, m), value in self.items.items()})

    def at(self, q: int) -> ExpPoly:
        """The value at an integer q, free of q."""
        total: dict[Key, fmpq] = {}
        for (base, degree, monomial), value in self.items.items():
            coefficient = value * fmpq(base) ** q * q**degree
            key = (1, 0, monomial)
            total[key] = total[key] + coefficient if key in total else coefficient
        return _clean(total)

    def order(self) -> int:
        """The order of a linear recurrence Π (z-λ)^(d+1) that the values satisfy."""
        tops: dict[int, int] = {}
        for base, degree, _ in self.items:
            tops[base] = max(tops.get(base, 0), degree + 1)
        return sum(tops.values())

    def denominator(self) -> int:
        """The least common denominator of the coefficients."""
        return lcm(*(int(value.q) for value in self.items.values()))

    def divided_exactly(self, divisor: int) -> ExpPoly | None:
        """The quotient by ``divisor`` if it is integer valued, else None.

        D·f has integer coefficients and satisfies a monic integer recurrence of order N; so it is divisible by
        D·divisor for all q ≥ 0 if it is at q = 0 … N-1.
        """
        quotient = self.scale(fmpq(1, divisor))
        if all(value.denominator() == 1 for value in (quotient.at(q) for q in range(self.order()))):
            return quotient
        return None

    def term(self, q: t.Term, *, shift: int = 0) -> t.Term:
        """The term of the value at ``q``; with ``shift`` s the polynomial parts are written in q + s instead.

        Division is exact: the whole numerator is divided at once, which is an integer for every q ≥ 0.
        """
        form = self.polynomials_in(shift) if shift else self
        variable = q + shift
        divisor = form.denominator()
        parts: list[t.Term] = []
        for (base, degree, monomial), value in form.items.items():
            factor = t.from_polynomial({monomial: int((value * divisor).p)})
            if degree:
                factor = factor * _raise(variable, degree)
            if base == -1:
                factor = factor * (1 - q % 2 * 2)
            elif base != 1:
                factor = factor * t.power(t.const(base), q)
            parts.append(factor)
        return t.add(*parts) // divisor if parts else t.ZERO

    def polynomials_in(self, shift: int) -> ExpPoly:
        """The same function with q = v - shift in the polynomial factors, the exponents of the bases left in q."""
        total: dict[Key, fmpq] = {}
        for (base, degree, monomial), value in self.items.items():
            for i in range(degree + 1):
                coefficient = value * (comb(degree, i) * (-shift) ** (degree - i))
                key = (base, i, monomial)
                total[key] = total[key] + coefficient if key in total else coefficient
        return _clean(total)

    def value_term(self) -> t.Term:
        """The term of a function without q (an integer polynomial of the atoms)."""
        return self.term(t.ZERO)


def _raise(base: t.Term, exponent: int) -> t.Term:
    if isinstance(base, (t.Var, t.Op)):
        return t.from_polynomial({((base, exponent),): 1})
    result: t.Term = t.ONE
    for _ in range(exponent):
        result = result * base
    return result


def times(a: t.Monomial, b: t.Monomial) -> t.Monomial:
    """The product of two monomials."""
    if not a or not b:
        return a or b
    powers = dict(a)
    for atom, exponent in b:
        powers[atom] = powers.get(atom, 0) + exponent
    return tuple(sorted(powers.items(), key=lambda pair: pair[0].key))


def _clean(total: dict[Key, fmpq]) -> ExpPoly:
    cleaned = {key: value for key, value in total.items() if value != 0}
    if len(cleaned) > MAX_SUMMANDS:
        raise NoClosedForm(f"it has more than {MAX_SUMMANDS} summands")
    return ExpPoly(cleaned)


def constant(value: int | fmpq) -> ExpPoly:
    """The constant ``value``."""
    return _clean({(1, 0, ()): fmpq(value)})


def counter() -> ExpPoly:
    """The function q ↦ q."""
    return ExpPoly({(1, 1, ()): fmpq(1)})


def exponential(base: int) -> ExpPoly:
    """The function q ↦ base^q, base ≠ 0."""
    return ExpPoly({(base, 0, ()): fmpq(1)})


def invariant(term: t.Term) -> ExpPoly:
    """A term that does not depend on q."""
    return _clean({(1, 0, monomial): fmpq(value) for monomial, value in t.polynomial(term).items()})


def total_of(parts: Iterable[ExpPoly]) -> ExpPoly:
    """The sum of ``parts``."""
    total = ExpPoly({})
    for part in parts:
        total = total + part
    return total


def first_order(ratio: int, forcing: ExpPoly, start: ExpPoly) -> ExpPoly:
    """The f with f(q+1) = ratio·f(q) + forcing(q) and f(0) = start; ratio ≠ 0.

    For ratio 1 this is summation (Faulhaber's formulas for powers of q). A particular solution λ^q Σ c_d q^d is found
    from the top degree down: (λ-ratio)·c_d + λ Σ_{i>d} C(i,d)·c_i = g_d; where λ = ratio the degree goes up by one.
    """
    groups: dict[tuple[int, t.Monomial], dict[int, fmpq]] = {}
    for (base, degree, monomial), value in forcing.items.items():
        groups.setdefault((base, monomial), {})[degree] = value
    particular: dict[Key, fmpq] = {}
    for (base, monomial), given in groups.items():
        top = max(given)
        resonant = int(base == ratio)
        found: dict[int, fmpq] = {}
        for degree in range(top, -1, -1):
            rest = given.get(degree, fmpq(0))
            for i, value in found.items():
                rest -= value * (base * comb(i, degree))
            own = degree + resonant
            found[own] = rest / (base * own if resonant else base - ratio)
        for degree, value in found.items():
            particular[(base, degree, monomial)] = value
    part = _clean(particular)
    return part + (start - part.at(0)) * exponential(ratio)
