"""What an iteration does to a measure: how much it grows at most, or to what it is set."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from loopless import terms as t
from loopless.bounds.looperman.scopes import HavocLoop
from loopless.bounds.model import Bounds
from loopless.limits.bounds import CACHED_MAXIMA, MAX_DEGREE, MAX_GROWTH, MEASURE_OPERATIONS
from loopless.logic import BudgetExceeded, EmptyRegion, NotPresburger, Region, budget, feasible, over_approximation
from loopless.records import dataclass


@dataclass(frozen=True, slots=True)
class Grows:
    """The measure grows by at most ``by``, a constant or a term over what does not change; ``by`` may be negative."""

    by: t.Term


@dataclass(frozen=True, slots=True)
class Becomes:
    """The measure is ``value`` at the end, whatever it was; a term over what does not change."""

    value: t.Term


Step = Grows | Becomes


def entails(known: t.Condition, claim: t.Condition, *, solver: bool = False) -> bool:
    """Whether ``claim`` surely holds wherever ``known`` does; False also where that is not known.

    What is not Presburger counts as unknown values, one for each term; with ``solver``, Z3 is asked about claims on
    products.
    """
    products = solver and any(isinstance(node, t.Sum) and _degree(node) > 1 for node in t.walk(claim))
    small = all(_degree(node) <= MAX_DEGREE for node in t.walk(claim) if isinstance(node, t.Sum))
    return not feasible(known & ~claim, solver=products and small)


def _degree(term: t.Sum) -> int:
    return max(sum(e for _, e in monomial) for monomial, _ in term.items)


def straight(term: t.Term, passed: Iterable[HavocLoop], measure: t.Term | None = None) -> t.Term | None:
    """``term`` as if the inner loops that were passed over had changed nothing; None where it is not linear in that.

    ``measure``: what ``term`` is later on. What the iterations of the inner loops do to it is to be added, which is
    right only where ``term`` speaks of what they make of the variables in the way that the measure does: not where it
    was saved before and is put back, or something else that they change is added to it. None there, too.
    """
    for havoc in reversed(tuple(passed)):
        symbols = {symbol: var for var, symbol in havoc.after}
        if not _linear_in(term, symbols):
            return None
        if measure is not None and not _moves_alike(term, measure, havoc):
            return None
        entry = havoc.entry()
        try:
            term = t.substitute(term, {symbol: entry.get(var, var) for symbol, var in symbols.items()})
        except t.TermTooLarge:
            return None
    return term


def _linear_in(term: t.Term, symbols: Mapping[t.Var, t.Var]) -> bool:
    for monomial in t.polynomial(term):
        inside = [atom for atom, _ in monomial if not atom.variables.isdisjoint(symbols)]
        if inside and not (len(monomial) == 1 and monomial[0][1] == 1 and isinstance(monomial[0][0], t.Var)):
            return False
    return True


def _moves_alike(term: t.Term, measure: t.Term, havoc: HavocLoop) -> bool:
    """Whether ``term``, over the values behind an inner loop, changes with these as ``measure`` does."""
    behind = {symbol for _, symbol in havoc.after}
    moved = t.substitute(measure, dict(havoc.after))
    first, second = ({m: c for m, c in t.polynomial(value).items() if _speaks_of(m, behind)} for value in (term, moved))
    return first == second


def _speaks_of(monomial: t.Monomial, symbols: Collection[t.Var]) -> bool:
    return any(not atom.variables.isdisjoint(symbols) for atom, _ in monomial)


def step(
    measure: t.Term,
    values: Mapping[t.Var, t.Term],
    passed: tuple[HavocLoop, ...],
    condition: t.Condition,
    variables: frozenset[t.Var],
    changed: frozenset[t.Var],
) -> Step | None:
    """What becomes of ``measure`` where ``values`` are assigned under ``condition``, inner loops aside.

    ``variables`` are those of the program, all else being symbols for what is not known; ``changed`` are those that
    change while the measure is watched. None where nothing useful is known.
    """
    touched = values.keys() | {var for havoc in passed for var, _ in havoc.after}
    if measure.variables.isdisjoint(touched):
        return Grows(t.const(0))
    try:
        after = t.substitute(measure, values)
        plain = straight(after, passed, measure)
        if plain is not None and not any(var.name.endswith("'dead") for var in plain.variables):
            found = growth(plain - measure, condition, variables, changed)
            if found is not None:
                return Grows(found)
    except t.TermTooLarge:
        return None
    if after.variables <= variables - changed:
        return Becomes(after)
    return None


def growth(
    difference: t.Term, condition: t.Condition, variables: frozenset[t.Var], changed: frozenset[t.Var]
) -> t.Term | None:
    """An upper bound of ``difference`` under ``condition``: a constant, or a term over what does not change."""
    if isinstance(difference, t.Const):
        return difference
    most = most_of(difference, condition)
    if most is not None and most <= MAX_GROWTH:
        return t.const(most)
    if difference.variables <= variables - changed:
        return difference
    return None


def most_of(term: t.Term, condition: t.Condition) -> int | None:
    """The greatest value of ``term`` under ``condition``, or some bound of it; None where none is found."""
    if (term, condition) in _most:
        return _most[term, condition]
    certain = True
    try:
        with budget(MEASURE_OPERATIONS) as granted:
            certain = granted == MEASURE_OPERATIONS  # less where a budget around this one is nearly used up
            found = _most_of(term, condition)
    except EmptyRegion:
        found = -MAX_GROWTH
    except BudgetExceeded:
        found = None
    except NotPresburger:
        certain, limits = False, (-1, 0)  # what Z3 was asked is remembered there
        found = next((x for x in limits if entails(condition, term.le(x), solver=True)), None)
    if certain:
        if len(_most) > CACHED_MAXIMA:
            _most.clear()
        _most[term, condition] = found
    return found


def _most_of(term: t.Term, condition: t.Condition) -> int | None:
    try:
        return _region(condition).range_of(term)[1]
    except NotPresburger:
        relaxed = over_approximation(condition).condition
        return None if relaxed is t.FALSE else _region(relaxed).range_of(term)[1]


_most: dict[tuple[t.Term, t.Condition], int | None] = {}
_regions: dict[t.Condition, Region] = {}


def _region(condition: t.Condition) -> Region:
    found = _regions.get(condition)
    if found is None:
        found = _regions[condition] = Region.of(condition)
    return found


def at_least_one(term: t.Term) -> t.Condition:
    """``term`` ≥ 1."""
    return term.ge(1)


def without_larger(bounds: Bounds) -> Bounds:
    """The bounds without those that are nowhere less than another one, as far as the logic tells."""
    found = list(bounds)
    for bound in bounds[::-1]:
        others = [other for other in found if other is not bound and other.when is t.TRUE]
        if any(entails(bound.when, other.term.le(bound.term)) for other in others):
            found.remove(bound)
    return tuple(found)
