"""Parametric least and greatest values, and the quantifiers that follow from projections."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import islpy as isl

from loopless import terms as t
from loopless.limits.logic import MANY_DIVISIONS
from loopless.logic.engine import BudgetExceeded, context, explicit, integer, is_out_of_operations, metered
from loopless.logic.readback import term_of
from loopless.logic.region import Region
from loopless.logic.translate import Dimensions, frame_of
from loopless.records import dataclass

_SET = isl.dim_type.set

Pieces = tuple[tuple[Region, t.Term], ...]
"""Pairs of a region and the term that holds there; the regions do not overlap."""


class Unbounded(ValueError):
    """A greatest (or least) value was asked for where there are values without bound."""


@dataclass(frozen=True, slots=True)
class FirstValue:
    """The outcome of :func:`first`: ``pieces`` where a value exists, ``never`` where none does.

    The regions of the pieces and ``never`` partition the universe that was asked about.
    """

    pieces: Pieces
    never: Region


@metered
def first(
    condition: t.Condition | Region,
    counter: t.Var,
    variables: Iterable[t.Var] | None = None,
    *,
    at_least: t.Term = t.ZERO,
    within: Region | None = None,
    always: bool = False,
) -> FirstValue:
    """For each value of ``variables``, the least ``counter`` ≥ ``at_least`` for which ``condition`` holds.

    ``variables`` defaults to those of the condition, of ``at_least`` and of ``within``, but for the counter.
    ``within`` is the universe asked about (default: the types' ranges). ``always``: the caller knows that there is
    such a counter for all of it, which saves the search for where there is none. Raises :class:`NotPresburger`,
    :class:`BudgetExceeded`.

    With n - x > 0 steps of 7 to go this says: 0 where n <= x, else ``ceil_div(n - x, 7)``.
    """
    frame, domain, points = _question(condition, (counter,), variables, at_least, within)
    relation = points.unwrap().intersect_domain(domain)
    somewhere = None if always else relation.domain()
    return _outcome(frame, domain, somewhere, relation.lexmin())


def first_exit(
    inside: Region,
    forms: Mapping[t.Var, t.Term],
    counter: t.Var,
    variables: Iterable[t.Var] = (),
    *,
    within: Region,
) -> FirstValue:
    """After how many iterations, at least 1, a run from ``within`` has left ``inside``, and where it never does.

    ``forms``: the values after ``counter`` iterations, right as long as the run stays inside. The pieces are over
    ``variables``, by default those that occur. Raises :class:`NotPresburger`, :class:`BudgetExceeded`.
    """
    named = tuple(variables)
    staying = inside.preimage(forms).over((*named, counter))
    return first(staying.complement(), counter, named or None, at_least=t.ONE, within=within)


@metered
def last(
    condition: t.Condition | Region,
    counter: t.Var,
    variables: Iterable[t.Var] | None = None,
    *,
    within: Region | None = None,
) -> FirstValue:
    """For each value of ``variables``, the greatest ``counter`` for which ``condition`` holds; else as :func:`first`.

    Raises :class:`Unbounded` where the counter has no greatest value for some of them.
    """
    return _last(*_question(condition, (counter,), variables, None, within), counter.name)


def _last(frame: Dimensions, domain: isl.Set, points: isl.Set, name: str) -> FirstValue:
    relation = points.unwrap().intersect_domain(domain)
    somewhere = relation.domain()
    try:
        extreme = relation.lexmax()
    except isl.Error as error:
        if "unbounded" not in str(error):
            raise
    else:
        return _outcome(frame, domain, somewhere, extreme)
    raise Unbounded(f"{name} has no greatest value")


def _outcome(frame: Dimensions, domain: isl.Set, somewhere: isl.Set | None, extreme: isl.Map) -> FirstValue:
    """``somewhere``: where there is a value, None for everywhere. It must be computed before ``extreme``: isl's lexmin
    changes the relation that it is asked about, which at times lacks an equality between remainders afterwards.
    """
    pieces = _pieces(_function(extreme).coalesce(), frame)
    if somewhere is None:
        return FirstValue(_without_search(pieces, domain, frame), Region(frame, frame.empty))
    # isl's partial_lexmin and partial_lexmax give this set too, but forget about divisibility at times:
    # for the pair (r, k) with 2k = -z and r = mod(2z, -5) it lacks the odd z.
    never = domain.subtract(somewhere).coalesce()
    return FirstValue(_without_search(pieces, domain.subtract(never).coalesce(), frame), Region(frame, never))


def _function(extreme: isl.Map) -> isl.PwAff:
    """The first value of the map, which has one at most for each point, as a function.

    isl's conversion fails for some maps, or loses a part of them, and may leave them changed: another way of writing
    the map, made before that, then helps. Raises :class:`BudgetExceeded` where it does not.
    """
    outputs = extreme.dim(isl.dim_type.out)
    if outputs > 1:
        extreme = extreme.project_out(isl.dim_type.out, 1, outputs - 1)
    conversions = [lambda: extreme.coalesce().as_pw_multi_aff(), extreme.as_pw_multi_aff]
    if max((part.dim(isl.dim_type.div) for part in extreme.get_basic_maps()), default=0) >= MANY_DIVISIONS:
        conversions.insert(0, lambda: _part_by_part(extreme))
    for convert in conversions:
        try:
            found = convert()
            if found.as_map().is_subset(extreme) and extreme.domain().is_subset(found.domain()):
                return found.get_at(0)
        except isl.Error as error:
            if is_out_of_operations(error):
                raise
    raise BudgetExceeded("the logic does not find the function that it described")


def _part_by_part(extreme: isl.Map) -> isl.PwMultiAff:
    """The map, which has one value for each point, as a function: each part where no part before it has a value.

    isl's own conversion of a whole map may take minutes where parts have several quotients each.
    """
    done = isl.Set.empty(extreme.domain().get_space())
    found = isl.PwMultiAff.from_map(isl.Map.empty(extreme.get_space()))
    for part in map(isl.Map.from_basic_map, extreme.get_basic_maps()):
        found = found.union_add(part.intersect_domain(part.domain().subtract(done)).as_pw_multi_aff())
        done = done.union(part.domain())
    return found


def _without_search(pieces: Pieces, somewhere: isl.Set, frame: Dimensions) -> Pieces:
    """The pieces, which partition ``somewhere``, without the conditions that isl drags along from its search.

    Sets that contain the pieces, lie in ``somewhere`` and are still disjoint are the pieces themselves.
    """
    if len(pieces) == 1:
        return ((Region(frame, somewhere), pieces[0][1]),)
    larger = [region.points.remove_unknown_divs().intersect(somewhere).coalesce() for region, _ in pieces]
    if all(a.is_disjoint(b) for i, a in enumerate(larger) for b in larger[:i]):
        return tuple((Region(frame, points), term) for points, (_, term) in zip(larger, pieces, strict=True))
    return tuple((Region(frame, explicit(region.points)), term) for region, term in pieces)


def _question(
    condition: t.Condition | Region,
    counters: tuple[t.Var, ...],
    variables: Iterable[t.Var] | None,
    at_least: t.Term | None,
    within: Region | None,
) -> tuple[Dimensions, isl.Set, isl.Set]:
    """The frame and the set asked about, and the condition's points with the counters last, as a wrapped relation."""
    used = set(variables or ()) | (set(at_least.variables) if at_least is not None else set())
    used |= set(condition.variables)
    if within is not None:
        used |= set(within.variables)
    used.difference_update(counters)
    frame = frame_of(used)
    domain = frame.box if within is None else frame.embed(within.frame, within.points)
    full = frame_of((*used, *counters))
    if isinstance(condition, Region):
        points = full.embed(condition.frame, condition.points)
    else:
        points = full.points(condition).intersect(full.box)
    if at_least is not None:
        points = points.intersect(full.points(at_least.le(counters[0])))
    # A copy of each counter behind all others takes its place.
    size = len(full.variables)
    points = points.insert_dims(_SET, size, len(counters))
    for i, counter in enumerate(counters):
        points = points.equate(_SET, full.index[counter], _SET, size + i)
    for position in sorted((full.index[counter] for counter in counters), reverse=True):
        points = points.project_out(_SET, position, 1)
    wrapped = isl.Space.alloc(context, 0, len(frame.variables), len(counters)).wrap()
    return frame, domain, points.reset_space(wrapped)


def _pieces(function: isl.PwAff, frame: Dimensions) -> Pieces:
    found: dict[t.Term, isl.Set] = {}
    for domain, part in function.get_pieces():
        term = term_of(part, frame)
        if term.variables:
            term = _constant_on(part, domain) or term
        found[term] = found[term].union(domain) if term in found else domain
    return tuple((Region(frame, found[term].coalesce()), term) for term in sorted(found))


def _constant_on(function: isl.Aff, domain: isl.Set) -> t.Const | None:
    """The one value of the function on a domain that pins it, where isl wrote it in variables all the same."""
    if not domain.detect_equalities().affine_hull().n_constraint():
        return None
    restricted = isl.PwAff.alloc(domain, function).floor()
    least, greatest = restricted.min_val(), restricted.max_val()
    if least.is_int() and least.eq(greatest):
        return t.const(integer(least))
    return None


@metered
def pieces_of(term: t.Term, within: Region) -> Pieces:
    """``term`` over a region, choices and extremes resolved: each piece's term is one quasi-affine expression.

    Raises :class:`NotPresburger`.
    """
    frame = frame_of((*within.variables, *term.variables))
    points = frame.embed(within.frame, within.points)
    return _pieces(frame.function(term).intersect_domain(points).coalesce(), frame)


def greatest(term: t.Term, over: t.Var, where: Region) -> Pieces:
    """The greatest value that ``term`` takes while ``over`` runs through its values in the region ``where``.

    The pieces cover those values of the other variables for which ``over`` has some value. Raises
    :class:`NotPresburger`, :class:`Unbounded`.
    """
    result = t.Var(f"{over.name}'s greatest {t.text(term)}", t.INTEGERS)
    values = where.over(term.variables) & Region.of(result.eq(term))
    return _greatest(values, result, over)


@metered
def _greatest(values: Region, result: t.Var, over: t.Var) -> Pieces:
    # The greatest pair (result, over) is found more easily than the greatest result for some value of over.
    return _last(*_question(values, (result, over), None, None, None), result.name).pieces


def least(term: t.Term, over: t.Var, where: Region) -> Pieces:
    """The least value that ``term`` takes while ``over`` runs through its values; see :func:`greatest`."""
    return tuple((region, -opposite) for region, opposite in greatest(-term, over, where))


def exists(
    counter: t.Var,
    low: t.Term,
    high: t.Term | None,
    condition: t.Condition,
    variables: Iterable[t.Var] | None = None,
) -> Region:
    """The values of ``variables`` for which ``condition`` holds for some ``counter`` with low <= counter < high.

    ``high`` None is no bound. Raises :class:`NotPresburger`, :class:`BudgetExceeded`.
    """
    bounds = [low.le(counter)]
    if high is not None:
        bounds.append(counter.lt(high))
    whole = t.conjunction((*bounds, condition))
    used = whole.variables if variables is None else frozenset(variables) | {counter}
    return Region.of(whole, used).over((counter,)).project_out((counter,)).coalesce()


def for_all(
    counter: t.Var,
    low: t.Term,
    high: t.Term | None,
    condition: t.Condition,
    variables: Iterable[t.Var] | None = None,
) -> Region:
    """The values of ``variables`` for which ``condition`` holds for every ``counter`` with low <= counter < high."""
    return exists(counter, low, high, ~condition, variables).complement().coalesce()
