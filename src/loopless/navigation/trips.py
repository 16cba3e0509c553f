"""Inner loops that go round equally often whatever happens in them: from constants, by constants, to constants."""

from __future__ import annotations

from collections.abc import Sequence

from loopless import terms as t
from loopless.limits.navigation import MAX_TRIP_COUNTS
from loopless.logic.feasible import feasible
from loopless.navigation.product import Product, Rounds, rounds_of
from loopless.records import dataclass
from loopless.terms.relation import added


@dataclass(frozen=True, slots=True)
class Trips:
    """``count`` of the ``rounds``, in which ``counter`` goes from ``start`` by ``step``."""

    rounds: Rounds
    count: int
    counter: t.Var
    start: int
    step: int


def constant_trips(product: Product, component: int) -> list[Trips]:
    """How often the inner loops that begin at a location go round from each entry to the way out: each of its ways back
    adds the same constant to a variable that holds a constant where the loop is entered, none can be taken once that
    has its last value, and nothing leaves before.
    """
    inside = product.inside.get(component, {})
    found = []
    for rounds in rounds_of(product, component):
        if rounds.leaving and not inside.keys().isdisjoint(rounds.entering):
            trips = _trips(rounds)
            if trips is not None:
                found.append(trips)
    return found


def _trips(rounds: Rounds) -> Trips | None:
    back = rounds.back.values()
    for var in sorted(next(iter(back)).update.keys(), key=lambda v: v.key):
        starts = {one.update.get(var) for one in rounds.entering.values()}
        steps = {added(one, var) for one in back}
        if len(starts) != 1 or len(steps) != 1:
            continue
        (start,), (step,) = starts, steps
        if not isinstance(start, t.Const) or not isinstance(step, t.Const) or step.value == 0:
            continue
        leaving = [one.condition for one in rounds.leaving.values()]
        trips = _until(var, start.value, step.value, [one.condition for one in back], leaving)
        if trips is not None:
            return Trips(rounds, trips, var, start.value, step.value)
    return None


def _until(
    var: t.Var, start: int, step: int, back: Sequence[t.Condition], leaving: Sequence[t.Condition]
) -> int | None:
    """How many steps are taken, if that is the same in every run."""
    limits = _numbers(var, [*back, *leaving])
    counts = {count for limit in limits for off in (-1, 0, 1) if (count := -((start - limit - off) // step)) >= 0}
    for count in sorted(counts)[:MAX_TRIP_COUNTS]:
        last = start + step * count
        if any(feasible(condition & var.eq(last)) for condition in back):
            continue
        low, high = sorted((start, last - step))
        early = t.between(low, var, high) if count else None
        if early is None or not any(feasible(condition & early) for condition in leaving):
            return count
    return None


def _numbers(var: t.Var, conditions: Sequence[t.Condition]) -> set[int]:
    """Numbers that the variable is compared with."""
    found: set[int] = set()
    for condition in conditions:
        for compared in t.comparisons(condition):
            if compared.variables == {var}:
                at_zero, at_one = _at(compared.term, var, 0), _at(compared.term, var, 1)
                if at_zero is not None and at_one is not None and at_one != at_zero:
                    found.add(-at_zero // (at_one - at_zero))
    return found


def _at(term: t.Term, var: t.Var, value: int) -> int | None:
    try:
        return t.evaluate(term, {var: value})
    except t.EvaluationError:
        return None
