"""Sets of integer points over named variables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import islpy as isl

from loopless import terms as t
from loopless.limits.logic import DEFAULT_OPERATIONS
from loopless.logic.engine import (
    BudgetExceeded,
    budget,
    charge_for,
    context,
    integer,
    metered,
    value,
)
from loopless.logic.readback import condition_of
from loopless.logic.translate import Dimensions, frame_of
from loopless.terms.ranges import Range

_SET, _DIV = isl.dim_type.set, isl.dim_type.div


class EmptyRegion(ValueError):
    """The extremes of a term over no point at all were asked for."""


class Region:
    """An immutable set of integer points over :attr:`variables`.

    A region says nothing about variables that it is not over: those take any value of their types. So operations on
    regions over different variables work over all of them. Raised by most operations: :class:`BudgetExceeded`.

    ``==`` compares identity; the same points are :meth:`is_equal`.
    """

    __slots__ = ("_condition", "_empty", "frame", "points")
    # frame and points are for the modules of this package only

    def __init__(self, frame: Dimensions, points: isl.Set) -> None:
        charge_for(points)
        self.frame = frame
        self.points = points
        self._empty: bool | None = None
        self._condition: t.Condition | None = None

    @staticmethod
    @metered
    def of(condition: t.Condition, variables: Iterable[t.Var] | None = None, *, typed: bool = True) -> Region:
        """The values of ``variables`` (default: those of the condition) for which ``condition`` holds.

        ``typed``: only values within the types' ranges. Without it the bounds are left out; the region is then right
        within the ranges and says nothing meaningful outside, which is for callers that intersect with the ranges
        later. Raises :class:`NotPresburger` where the condition is not quasi-affine, ValueError where it speaks of a
        variable that is not among ``variables``.
        """
        frame = _frame_for(condition.variables, variables)
        points = frame.points(condition)
        return Region(frame, points.intersect(frame.box) if typed else points)

    @staticmethod
    @metered
    def universe(variables: Iterable[t.Var], *, typed: bool = True) -> Region:
        """All points: within the types' ranges, or of all ℤ if not ``typed``."""
        frame = frame_of(variables)
        return Region(frame, frame.box if typed else frame.whole)

    @staticmethod
    def empty(variables: Iterable[t.Var]) -> Region:
        """No point."""
        return Region.of(t.FALSE, variables)

    @property
    def variables(self) -> tuple[t.Var, ...]:
        """The variables of the region, ordered by their keys."""
        return self.frame.variables

    @property
    def parts(self) -> int:
        """How many basic sets the region consists of: a measure of its size."""
        return self.points.n_basic_set()

    @metered
    def over(self, variables: Iterable[t.Var]) -> Region:
        """The same region over further variables too, which take any value of their types."""
        frame = frame_of((*self.variables, *variables))
        return Region(frame, frame.embed(self.frame, self.points))

    def _aligned(self, other: Region) -> tuple[Dimensions, isl.Set, isl.Set]:
        if self.frame.variables == other.frame.variables:
            return self.frame, self.points, other.points
        frame = frame_of((*self.variables, *other.variables))
        return frame, frame.embed(self.frame, self.points), frame.embed(other.frame, other.points)

    @metered
    def __and__(self, other: Region) -> Region:
        frame, a, b = self._aligned(other)
        return Region(frame, a.intersect(b))

    @metered
    def __or__(self, other: Region) -> Region:
        frame, a, b = self._aligned(other)
        return Region(frame, a.union(b))

    @metered
    def __sub__(self, other: Region) -> Region:
        frame, a, b = self._aligned(other)
        return Region(frame, a.subtract(b))

    @metered
    def complement(self) -> Region:
        """All points within the types' ranges that are not in the region."""
        return Region(self.frame, self.frame.box.subtract(self.points))

    @metered
    def is_empty(self) -> bool:
        """Whether no point is in the region."""
        if self._empty is None:
            self._empty = self.points.is_empty()
        return self._empty

    @metered
    def is_subset(self, other: Region) -> bool:
        """Whether every point is in ``other`` too."""
        _, a, b = self._aligned(other)
        return a.is_subset(b)

    @metered
    def is_equal(self, other: Region) -> bool:
        """Whether both have the same points."""
        _, a, b = self._aligned(other)
        return a.is_equal(b)

    @metered
    def disjoint(self, other: Region) -> bool:
        """Whether the two have no point in common."""
        _, a, b = self._aligned(other)
        return a.is_disjoint(b)

    @metered
    def project_out(self, variables: Iterable[t.Var]) -> Region:
        """The points over the other variables that some values of ``variables`` complete to a point of the region."""
        dropped = set(variables)
        points = self.points
        for i in reversed(range(len(self.variables))):
            if self.variables[i] in dropped:
                points = points.project_out(_SET, i, 1)
        return Region(frame_of(v for v in self.variables if v not in dropped), points)

    def project_onto(self, variables: Iterable[t.Var]) -> Region:
        """:meth:`project_out` of all variables but these."""
        kept = set(variables)
        return self.project_out(v for v in self.variables if v not in kept)

    @metered
    def sample(self) -> dict[t.Var, int] | None:
        """Some point of the region, None where it is empty. The same region gives the same point in every run."""
        point = self.points.sample_point()
        if point.is_void():
            return None
        return {variable: integer(point.get_coordinate_val(_SET, i)) for i, variable in enumerate(self.variables)}

    @metered
    def contains(self, point: Mapping[t.Var, int]) -> bool:
        """Whether the point is in the region. ``point`` gives at least all of :attr:`variables`."""
        points = self.points
        for i, variable in enumerate(self.variables):
            points = points.fix_val(_SET, i, value(point[variable]))
        return not points.is_empty()

    @metered
    def gist(self, given: Region) -> Region:
        """A simpler region that has the same points as this one within ``given``."""
        frame, a, b = self._aligned(given)
        return Region(frame, a.gist(b))

    @metered
    def coalesce(self) -> Region:
        """The same points in fewer parts, where isl sees how."""
        return Region(self.frame, self.points.coalesce())

    @metered
    def joined(self) -> Region:
        """The same points as one convex part where they are convex, else coalesced."""
        coalesced = self.points.coalesce()
        if coalesced.n_basic_set() > 1:
            hull = isl.Set.from_basic_set(coalesced.simple_hull())
            if hull.is_subset(coalesced):
                return Region(self.frame, hull)
        return Region(self.frame, coalesced)

    @metered
    def without_divisions(self) -> Region:
        """A region with these points, and others, without the constraints that speak of quotients."""
        return Region(self.frame, self.points.remove_divs())

    @metered
    def without_upper_bound(self, variable: t.Var) -> list[Region]:
        """The parts in which ``variable`` has no greatest value, whatever the others are. Parts with quotients in them
        are among these unless they are surely not.
        """
        at = self.frame.index[variable]

        def bounds(constraint: isl.Constraint) -> bool:
            factor = integer(constraint.get_coefficient_val(_SET, at))
            return factor < 0 or (factor != 0 and bool(constraint.is_equality()))

        # A convex set goes on for ever in a direction exactly if none of its constraints speaks against it.
        return [
            Region(self.frame, isl.Set.from_basic_set(part))
            for part in self.points.get_basic_sets()
            if not part.is_empty() and not any(map(bounds, part.get_constraints()))
        ]

    @metered
    def hull(self) -> Region:
        """A convex region with these points, bounded by constraints of this one."""
        return Region(self.frame, isl.Set.from_basic_set(self.points.coalesce().simple_hull()))

    @metered
    def hull_and_holes(self) -> tuple[Region, Region]:
        """A convex region with these points, bounded by constraints of this one, and its points that are not in it."""
        hull = isl.Set.from_basic_set(self.points.coalesce().simple_hull())
        return Region(self.frame, hull), Region(self.frame, hull.subtract(self.points).coalesce())

    @metered
    def made_disjoint(self) -> Region:
        """The same points in parts that do not overlap."""
        return Region(self.frame, self.points.make_disjoint())

    @metered
    def split(self) -> list[Region]:
        """The convex parts (up to divisibility) of the region; they may overlap."""
        return [Region(self.frame, isl.Set.from_basic_set(part)) for part in self.points.get_basic_sets()]

    @metered
    def range_of(self, term: t.Term) -> Range:
        """The exact least and greatest value of ``term`` over the region; None where there is no bound.

        Variables of the term that the region is not over take any value of their types. Raises
        :class:`NotPresburger`, and :class:`EmptyRegion` where there is no point.
        """
        frame = frame_of((*self.variables, *term.variables))
        points = frame.embed(self.frame, self.points)
        if points.is_empty():
            raise EmptyRegion(f"no values of {t.text(term)}: the region is empty")
        # isl optimizes integer functions only, and keeps exact quotients as fractions
        function = frame.function(term).intersect_domain(points).floor()
        return _bound(function.min_val()), _bound(function.max_val())

    @metered
    def preimage(self, update: Mapping[t.Var, t.Term]) -> Region:
        """The points that the simultaneous assignment ``update`` takes into the region. Raises
        :class:`NotPresburger`.
        """
        target, domain, step = self._step(update)
        points = target.embed(self.frame, self.points).preimage_multi_pw_aff(step)
        return Region(domain, points.intersect(domain.box))

    @metered
    def image(self, update: Mapping[t.Var, t.Term]) -> Region:
        """Where the simultaneous assignment ``update`` takes the points of the region, over the same variables and
        the assigned ones. Raises :class:`NotPresburger`.
        """
        target, domain, step = self._step(update)
        points = domain.embed(self.frame, self.points)
        return Region(target, points.apply(isl.Map.from_multi_pw_aff(step)))

    def _step(self, update: Mapping[t.Var, t.Term]) -> tuple[Dimensions, Dimensions, isl.MultiPwAff]:
        target = frame_of((*self.variables, *update))
        domain = frame_of((*target.variables, *(v for term in update.values() for v in term.variables)))
        functions = isl.PwAffList.alloc(context, len(target.variables))
        for variable in target.variables:
            functions = functions.add(domain.function(update.get(variable, variable)))
        space = isl.Space.alloc(context, 0, len(domain.variables), len(target.variables))
        return target, domain, isl.MultiPwAff.from_pw_aff_list(space, functions)

    @metered
    def condition(self) -> t.Condition:
        """The region as a condition, simplified under the types' ranges, with equalities shown as such and without
        quantifiers. It holds at a point within the ranges exactly if the point is in the region.
        """
        if self._condition is None:
            self._condition = _readable(self.points, self.frame)
        return self._condition

    @metered
    def equalities(self, prefer: Sequence[t.Var] = ()) -> dict[t.Var, t.Term]:
        """Linear equalities that hold in all points, solved for some of the variables by terms over the others.

        Only those that stand in all parts and can be solved over the integers; no variable that is solved for occurs
        in a term. ``prefer``: what is solved for rather than others, the first of these first.
        """
        common: list[t.Term] | None = None
        for part in self.points.get_basic_sets():
            rows = [self._row(c) for c in part.get_constraints() if c.is_equality() and not _has_divisions(c)]
            common = rows if common is None else [row for row in rows if row in common or -row in common]
            if not common:
                break
        return _solved(common or [], {var: at for at, var in enumerate(reversed(prefer))})

    def _row(self, constraint: isl.Constraint) -> t.Term:
        """The linear term of a constraint."""
        parts: list[t.Term] = [t.const(integer(constraint.get_constant_val()))]
        for i, variable in enumerate(self.variables):
            coefficient = integer(constraint.get_coefficient_val(_SET, i))
            if coefficient:
                parts.append(variable * coefficient)
        return t.add(*parts)

    @metered
    def rough_condition(self) -> t.Condition:
        """As :meth:`condition`, at a fraction of the cost, but not simplified further than term by term."""
        if self._condition is not None:
            return self._condition
        return condition_of(self.points.coalesce(), self.frame)

    def __repr__(self) -> str:
        names = ", ".join(variable.name for variable in self.variables)
        return f"{{[{names}]: {t.text(self.condition())}}}"

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _restored, (self.variables, self.points.to_str())


@metered
def _restored(variables: tuple[t.Var, ...], points: str) -> Region:
    return Region(frame_of(variables), isl.Set(points, context))


def _has_divisions(constraint: isl.Constraint) -> bool:
    return bool(constraint.involves_dims(_DIV, 0, constraint.dim(_DIV)))


def _solved(rows: list[t.Term], rank: Mapping[t.Var, int]) -> dict[t.Var, t.Term]:
    found: dict[t.Var, t.Term] = {}
    for row in rows:
        term = t.substitute(row, found)
        units = [v for v in sorted(term.variables) if abs(t.polynomial(term).get(((v, 1),), 0)) == 1]
        units.sort(key=lambda var: rank.get(var, -1))
        if not units:
            continue
        solved = units[-1]
        factor = t.polynomial(term)[((solved, 1),)]
        value = (term - solved * factor) * -factor
        found = {v: t.substitute(other, {solved: value}) for v, other in found.items()} | {solved: value}
    return found


def _frame_for(used: frozenset[t.Var], variables: Iterable[t.Var] | None) -> Dimensions:
    if variables is None:
        return frame_of(used)
    frame = frame_of(variables)
    foreign = [variable.name for variable in sorted(used) if variable not in frame.index]
    if foreign:
        raise ValueError(f"the condition speaks of {', '.join(foreign)}, which the region is not over")
    return frame


def _bound(val: isl.Val) -> int | None:
    if val.is_infty() or val.is_neginfty():
        return None
    return integer(val)


def _readable(points: isl.Set, frame: Dimensions) -> t.Condition:
    """Simplified where the usual budget suffices for that, else as isl has it."""
    try:
        with budget(DEFAULT_OPERATIONS):
            return _simplified(points, frame)
    except BudgetExceeded:
        return condition_of(points, frame)


@metered
def _simplified(points: isl.Set, frame: Dimensions) -> t.Condition:
    if points.is_empty():
        return t.FALSE
    if frame.box.is_subset(points):
        return t.TRUE
    return condition_of(points.coalesce().gist(frame.box).coalesce(), frame)
