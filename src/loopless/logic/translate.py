"""Terms and conditions as isl's piecewise quasi-affine functions and sets.

A :class:`Dimensions` fixes which variable stands at which dimension; nothing outside this package sees dimensions.
Translations are exact for values of the variables within their types' ranges. They are cached per frame.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from math import prod

import islpy as isl

from loopless import terms as t
from loopless.limits.logic import (
    MAX_BIT_RUNS,
    MAX_PRODUCT_CASES,
    MAX_TABLE_OPERANDS,
    MAX_WRAP_BRANCHES,
    REMEMBERED_SETS,
)
from loopless.logic.engine import context, value
from loopless.logic.operators import TRANSLATIONS

_IN, _SET = isl.dim_type.in_, isl.dim_type.set


class NotPresburger(Exception):
    """A term is not quasi-affine; ``term`` is the first such subterm, operands before operators, left to right."""

    def __init__(self, term: t.Term) -> None:
        super().__init__(term)
        self.term = term

    def __str__(self) -> str:
        return f"not a Presburger term: {t.brief(self.term)}"


class Dimensions:
    """An ordered choice of variables: the dimensions of the sets over them."""

    __slots__ = ("_box", "_conditions", "_terms", "index", "local", "space", "variables")

    def __init__(self, variables: tuple[t.Var, ...]) -> None:
        self.variables = variables
        self.index = {variable: i for i, variable in enumerate(variables)}
        self.space = isl.Space.set_alloc(context, 0, len(variables))
        self.local = isl.LocalSpace.from_space(self.space)
        self._terms: dict[t.Term, isl.PwAff] = {}
        self._conditions: dict[t.Condition, isl.Set] = {}
        self._box: isl.Set | None = None

    @property
    def box(self) -> isl.Set:
        """All points within the ranges of the variables' types."""
        if self._box is None:
            box = isl.BasicSet.universe(self.space)
            for i, variable in enumerate(self.variables):
                low, high = variable.type.min, variable.type.max
                if low is not None:
                    box = box.lower_bound_val(_SET, i, value(low))
                if high is not None:
                    box = box.upper_bound_val(_SET, i, value(high))
            self._box = isl.Set.from_basic_set(box)
        return self._box

    @property
    def whole(self) -> isl.Set:
        """All integer points."""
        return isl.Set.universe(self.space)

    @property
    def empty(self) -> isl.Set:
        """No point."""
        return isl.Set.empty(self.space)

    def embed(self, source: Dimensions, points: isl.Set) -> isl.Set:
        """``points`` over ``source``, whose variables are among this frame's; the others range over their types."""
        if source.variables == self.variables:
            return points
        missing: list[int] = []
        for i, variable in enumerate(self.variables):
            if variable not in source.index:
                points = points.insert_dims(_SET, i, 1)
                missing.append(i)
        for i in missing:
            low, high = self.variables[i].type.min, self.variables[i].type.max
            if low is not None:
                points = points.lower_bound_val(_SET, i, value(low))
            if high is not None:
                points = points.upper_bound_val(_SET, i, value(high))
        return points

    def constant(self, number: int) -> isl.PwAff:
        """The function that is ``number`` everywhere."""
        return isl.PwAff.from_aff(isl.Aff.zero_on_domain(self.local).set_constant_val(value(number)))

    def function(self, term: t.Term) -> isl.PwAff:
        """``term`` as a function of the frame's variables. Raises :class:`NotPresburger`."""
        found = self._terms.get(term)
        if found is None:
            if len(self._terms) > REMEMBERED_SETS:
                self._terms.clear()
            for node in t.walk(term):  # operands first: the depth of a term costs no recursion
                if isinstance(node, t.Condition):
                    self.points(node)
                elif node not in self._terms and isinstance(node, t.Term):
                    self._terms[node] = self._translate(node)
            found = self._terms[term]
        return found

    def points(self, condition: t.Condition) -> isl.Set:
        """Where ``condition`` holds, type ranges not included. Raises :class:`NotPresburger`."""
        found = self._conditions.get(condition)
        if found is None:
            if len(self._conditions) > REMEMBERED_SETS:
                self._conditions.clear()
            found = self._conditions[condition] = self._decide(condition)
        return found

    def _decide(self, condition: t.Condition) -> isl.Set:
        match condition:
            case t.Truth():
                return self.whole if condition.value else self.empty
            case t.Compare():
                return self._compare(condition.relation, condition.term)
            case t.And():
                result = self.points(condition.args[0])
                for arg in condition.args[1:]:
                    result = result.intersect(self.points(arg))
                return result
            case t.Or():
                result = self.points(condition.args[0])
                for arg in condition.args[1:]:
                    result = result.union(self.points(arg))
                return result
            case _:
                raise AssertionError(condition)

    def _compare(self, relation: str, term: t.Term) -> isl.Set:
        coefficients = _linear(term)
        if coefficients is None or relation == "ne":
            function = self.function(term)
            match relation:
                case "le":
                    return function.neg().nonneg_set()
                case "eq":
                    return function.zero_set()
                case _:
                    return function.non_zero_set()
        if relation == "le":
            constraint, sign = isl.Constraint.alloc_inequality(self.local), -1
        else:
            constraint, sign = isl.Constraint.alloc_equality(self.local), 1
        for variable, coefficient in coefficients.items():
            if variable is None:
                constraint = constraint.set_constant_val(value(sign * coefficient))
            else:
                position = self.index[variable]
                constraint = constraint.set_coefficient_val(_SET, position, value(sign * coefficient))
        return isl.Set.from_basic_set(isl.BasicSet.from_constraint(constraint))

    def _translate(self, term: t.Term) -> isl.PwAff:
        blocked = _obstacle(term)
        if blocked is not None:
            raise NotPresburger(blocked)
        match term:
            case t.Const():
                return self.constant(term.value)
            case t.Var():
                return isl.PwAff.from_aff(isl.Aff.var_on_domain(self.local, _SET, self.index[term]))
            case t.Sum():
                return self._sum(term)
            case t.Wrap():
                return self._wrap(term)
            case t.Ite():
                return self._choose(self.points(term.condition), term.then, term.otherwise)
            case t.Op():
                return self._operator(term)
            case _:
                raise AssertionError(term)

    def _choose(self, where: isl.Set, then: t.Term, otherwise: t.Term) -> isl.PwAff:
        taken = self.function(then).intersect_domain(where)
        return taken.union_add(self.function(otherwise).intersect_domain(where.complement())).coalesce()

    def _sum(self, term: t.Sum) -> isl.PwAff:
        linear = isl.Aff.zero_on_domain(self.local)
        rest: isl.PwAff | None = None
        for monomial, coefficient in term.items:
            if not monomial:
                linear = linear.set_constant_val(value(coefficient))
            elif len(monomial) == 1 and monomial[0][1] == 1 and isinstance(monomial[0][0], t.Var):
                linear = linear.set_coefficient_val(_IN, self.index[monomial[0][0]], value(coefficient))
            else:
                part = self._product(monomial).scale_val(value(coefficient))
                rest = part if rest is None else rest.add(part)
        result = isl.PwAff.from_aff(linear)
        return result if rest is None else result.add(rest).coalesce()

    def _product(self, monomial: t.Monomial) -> isl.PwAff:
        """A product: one quasi-affine factor times factors of few values, over which it is split."""
        kept, _ = _kept(monomial)
        base = self.constant(1) if kept is None else self.function(kept)
        for atom, exponent in monomial:
            if atom is not kept:
                base = self._times_small(base, atom, exponent)
        return base if len(monomial) == 1 else base.coalesce()

    def _times_small(self, base: isl.PwAff, atom: t.Term, exponent: int) -> isl.PwAff:
        low, high = t.range_of(atom)
        assert low is not None
        assert high is not None
        function = self.function(atom)
        total: isl.PwAff | None = None
        for number in range(low, high + 1):
            where = function.eq_set(self.constant(number))
            part = base.scale_val(value(number**exponent)).intersect_domain(where)
            total = part if total is None else total.union_add(part)
        assert total is not None
        return total

    def _wrap(self, term: t.Wrap) -> isl.PwAff:
        inner = self.function(term.arg)
        width = term.type.width
        if width is None:
            return inner
        modulus = 1 << width
        lowest = term.type.min
        assert lowest is not None
        low, high = t.range_of(term.arg)
        if low is not None and high is not None:
            first, last = (low - lowest) // modulus, (high - lowest) // modulus
            if last - first < MAX_WRAP_BRANCHES:
                return self._branches(inner, lowest, modulus, first, last)
        shifted = inner.add_constant_val(value(-lowest)).mod_val(value(modulus))
        return shifted.add_constant_val(value(lowest))

    def _branches(self, inner: isl.PwAff, lowest: int, modulus: int, first: int, last: int) -> isl.PwAff:
        """``inner`` brought into [lowest, lowest + modulus), one branch for each multiple that it may contain."""
        total: isl.PwAff | None = None
        for quotient in range(first, last + 1):
            part = inner.add_constant_val(value(-quotient * modulus))
            if quotient > first:
                part = part.intersect_domain(inner.ge_set(self.constant(lowest + quotient * modulus)))
            if quotient < last:
                part = part.intersect_domain(inner.lt_set(self.constant(lowest + (quotient + 1) * modulus)))
            total = part if total is None else total.union_add(part)
        assert total is not None
        return total

    def _operator(self, term: t.Op) -> isl.PwAff:
        affine = TRANSLATIONS[term.op].affine
        assert affine is not None, term
        return affine.function(self, term, [self.function(arg) for arg in term.args])


def is_quasi_affine(node: t.Term | t.Condition) -> bool:
    """Whether :meth:`Dimensions.function` or :meth:`Dimensions.points` accepts the node; asks isl nothing."""
    # Conditions grow by a conjunct at a time.
    return all(map(_is_affine, node.args)) if isinstance(node, t.And) else _is_affine(node)


@lru_cache(REMEMBERED_SETS)
def _is_affine(node: t.Term | t.Condition) -> bool:
    return not any(isinstance(part, t.Term) and _obstacle(part) is not None for part in t.walk(node))


def _obstacle(term: t.Term) -> t.Term | None:
    """What is not quasi-affine in ``term`` even if its operands are: itself, or one of its products."""
    match term:
        case t.Const() | t.Var() | t.Wrap() | t.Ite():
            return None
        case t.Sum():
            large = (monomial for monomial, _ in term.items if _kept(monomial)[1] > MAX_PRODUCT_CASES)
            return next((t.Sum(((monomial, 1),)) for monomial in large), None)
        case t.Op():
            return None if _is_quasi_affine(term) else term
        case _:
            return term


def _is_quasi_affine(term: t.Op) -> bool:
    affine = TRANSLATIONS[term.op].affine
    pieces = None if affine is None else affine.pieces(term)
    return pieces is not None and pieces <= (MAX_TABLE_OPERANDS if term.op == "table" else MAX_BIT_RUNS)


def _kept(monomial: t.Monomial) -> tuple[t.Term | None, int]:
    """The factor of a product over whose values it is not split, and how many cases the others make."""
    counts = {atom: _count(atom) or MAX_PRODUCT_CASES + 1 for atom, _ in monomial}
    once = [atom for atom, exponent in monomial if exponent == 1]
    kept = max(once, key=lambda atom: counts[atom], default=None)
    return kept, prod(count for atom, count in counts.items() if atom is not kept)


def _linear(term: t.Term) -> dict[t.Var | None, int] | None:
    """Coefficients of a linear term (None: its constant), or None where it is not linear in plain variables."""
    match term:
        case t.Const():
            return {None: term.value}
        case t.Var():
            return {term: 1}
        case t.Sum():
            found: dict[t.Var | None, int] = {}
            for monomial, coefficient in term.items:
                if not monomial:
                    found[None] = coefficient
                elif len(monomial) == 1 and monomial[0][1] == 1 and isinstance(monomial[0][0], t.Var):
                    found[monomial[0][0]] = coefficient
                else:
                    return None
            return found
        case _:
            return None


def _count(term: t.Term) -> int | None:
    """How many values the range of ``term`` has, if no more than :data:`MAX_PRODUCT_CASES`."""
    low, high = t.range_of(term)
    if low is None or high is None or high - low >= MAX_PRODUCT_CASES:
        return None
    return high - low + 1


_frames: dict[tuple[t.Var, ...], Dimensions] = {}


def frame_of(variables: Iterable[t.Var]) -> Dimensions:
    """The frame of a set of variables; their order is always that of their keys."""
    ordered = tuple(sorted(set(variables)))
    found = _frames.get(ordered)
    if found is None:
        if len(_frames) > REMEMBERED_SETS:
            _frames.clear()
        found = _frames[ordered] = Dimensions(ordered)
    return found
