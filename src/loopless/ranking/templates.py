"""Affine functions with unknown coefficients, and what Farkas' lemma finds for them on transitions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from math import gcd, lcm

from loopless import terms as t
from loopless.logic.farkas import Farkas, FarkasClaim, Form, Linear, affine
from loopless.records import dataclass


@dataclass(frozen=True, slots=True)
class RationalFunction:
    """The rational function ``term`` / ``divisor`` of the state; ``divisor`` ≥ 1, ``term`` affine with integers."""

    term: t.Term
    divisor: int

    @property
    def floor(self) -> t.Term:
        """The greatest integer not above it."""
        return self.term // self.divisor


@dataclass(frozen=True, slots=True)
class Template:
    """A constant and a combination of the affine terms ``basis``, with unknown coefficients of any sign: each is the
    difference of two unknowns ≥ 0.
    """

    name: str
    basis: tuple[t.Term, ...]

    def now(self, factor: int = 1) -> Form:
        """``factor`` times the function, before a step."""
        return total(*(_weighted(term, self._unknown(at, factor)) for at, term in enumerate((t.ONE, *self.basis))))

    def then(self, after: Callable[[t.Term], t.Term], factor: int = 1) -> Form:
        """``factor`` times the function after a step, in terms of what is before; ``after``: of a term the same."""
        terms = (t.ONE, *map(after, self.basis))
        return total(*(_weighted(term, self._unknown(at, factor)) for at, term in enumerate(terms)))

    def size(self) -> Linear:
        """The sum of the coefficients' absolute values, the constant left out."""
        return {f"{self.name}{at}{sign}": 1 for at in range(1, len(self.basis) + 1) for sign in "+-"}

    def constant(self) -> Linear:
        """The constant."""
        return self._unknown(0, 1)

    def found(self, solution: Mapping[str, Fraction]) -> RationalFunction:
        """The function that a solution describes."""
        zero = Fraction(0)
        values = [
            solution.get(f"{self.name}{at}+", zero) - solution.get(f"{self.name}{at}-", zero)
            for at in range(len(self.basis) + 1)
        ]
        divisor = lcm(*(value.denominator for value in values))
        parts = (term * int(value * divisor) for term, value in zip((t.ONE, *self.basis), values, strict=True))
        whole = t.add(*parts)
        common = gcd(divisor, *t.polynomial(whole).values())
        return RationalFunction(exactly_divided(whole, common), divisor // common)

    def _unknown(self, at: int, factor: int) -> dict[str, int]:
        return {f"{self.name}{at}+": factor, f"{self.name}{at}-": -factor}


@dataclass(frozen=True, slots=True)
class LinearStep:
    """A step between two places, as linear inequalities have it, and what can be claimed of functions on it.

    ``rows``: affine terms that are 0 or more where the step is taken. ``after``: gives an affine term after the step,
    as a term over the values before it and over auxiliary variables, which occur in ``rows``.
    """

    source: str
    target: str
    rows: tuple[t.Term, ...]
    after: Callable[[t.Term], t.Term]

    def then(self, template: Template, factor: int = 1) -> Form:
        """``factor`` times the function after the step."""
        return template.then(self.after, factor)

    def claims(self, *forms: Form, least: int = 0) -> FarkasClaim:
        """That the sum of the forms is ``least`` or more whenever the step is taken."""
        return claimed(self.rows, *forms, least=least)

    def falls(self, before: Template, behind: Template, *more: Form, by: int = 0) -> FarkasClaim:
        """That the function behind the step is less, by ``by`` or more, than the one before it; or than that and
        ``more``.
        """
        return self.claims(before.now(), self.then(behind, -1), *more, least=by)


def claimed(rows: Sequence[t.Term], *forms: Form, least: int = 0) -> FarkasClaim:
    """That the sum of the forms is ``least`` or more wherever all ``rows`` are 0 or more."""
    return FarkasClaim(tuple(rows), total(*forms, plain(-least)) if least else total(*forms))


def _weighted(term: t.Term, unknowns: Mapping[str, int]) -> Form:
    return {v: {name: c * k for name, k in unknowns.items()} for v, c in affine(term).items()}


def exactly_divided(term: t.Term, divisor: int) -> t.Term:
    """``term`` with its coefficients divided; they must be multiples."""
    return t.from_polynomial({m: c // divisor for m, c in t.polynomial(term).items()})


def total(*forms: Form) -> Form:
    """The sum of forms."""
    found: dict[t.Var | None, dict[str, int | Fraction]] = {}
    for form in forms:
        for variable, linear in form.items():
            at = found.setdefault(variable, {})
            for name, coefficient in linear.items():
                at[name] = at.get(name, 0) + coefficient
    return found


def fixed(term: t.Term, factor: int = 1) -> Form:
    """``factor`` times the affine ``term`` as a form without unknowns."""
    return {v: {"": c * factor} for v, c in affine(term).items()}


def plain(value: int) -> Form:
    """A constant as a form."""
    return {None: {"": value}}


def unknown(name: str) -> Form:
    """An unknown ≥ 0 as a form."""
    return {None: {name: 1}}


def bound_above(engine: Farkas, rows: Sequence[t.Term], term: t.Term, over: Iterable[t.Var]) -> RationalFunction | None:
    """A small affine function of ``over`` that is ≥ the affine ``term`` wherever ``rows`` are ≥ 0; a constant if there
    is one.
    """
    if isinstance(term, t.Const):
        return RationalFunction(term, 1)
    variables = tuple(over)
    for chosen in ((), variables) if variables else ((),):
        template = Template("g", chosen)
        least = (template.size(), template.constant()) if chosen else (template.constant(),)
        solution = engine.solve([claimed(rows, template.now(), fixed(term, -1))], least=least)
        if solution is not None:
            return template.found(solution)
    return None
