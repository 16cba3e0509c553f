"""Inner loops that go round equally often whatever happens in them: from constants, by constants, to constants."""

from __future__ import annotations

from collections.abc import Sequence

from loopless import terms as t
from loopless.limits.navigation import MAX_TRIP_COUNTS
from loopless.logic.feasible import feasible
from loopless.navigation.product import Product, ProductEdge
from loopless.records import dataclass


@dataclass(frozen=True, slots=True)
class Trips:
    """``count`` rounds, in which ``counter`` goes from ``start`` by ``step``."""

    count: int
    counter: t.Var
    start: int
    step: int


def constant_trips(product: Product, component: int, inside: Sequence[ProductEdge]) -> dict[str, Trips]:
    """By the location of an inner loop how often it goes round from each entry to the way out: each of its ways back
    adds the same constant to a variable that holds a constant where the loop is entered, none can be taken once that
    has its last value, and nothing leaves before.
    """
    labels = {product.nodes[node].label for node, c in enumerate(product.component) if c == component}
    found: dict[str, Trips] = {}
    for label in sorted(labels):
        at = {n for n, node in enumerate(product.nodes) if node.label == label and product.component[n] == component}
        back = [e for e in inside if e.source in at and e.target in at]
        entering = [e for e in product.edges if e.target in at and e.source not in at]
        leaving = [e for e in product.edges if e.source in at and e.target not in at]
        if back and entering and leaving and any(e in inside for e in entering):
            trips = _trips(back, entering, leaving)
            if trips is not None:
                found[label] = trips
    return found


def _trips(
    back: Sequence[ProductEdge], entering: Sequence[ProductEdge], leaving: Sequence[ProductEdge]
) -> Trips | None:
    for var in sorted(back[0].update.keys(), key=lambda v: v.key):
        starts = {e.update.get(var) for e in entering}
        steps = {e.update[var] - var if var in e.update else None for e in back}
        if len(starts) != 1 or len(steps) != 1:
            continue
        (start,), (step,) = starts, steps
        if not isinstance(start, t.Const) or not isinstance(step, t.Const) or step.value == 0:
            continue
        trips = _until(var, start.value, step.value, [e.condition for e in back], [e.condition for e in leaving])
        if trips is not None:
            return Trips(trips, var, start.value, step.value)
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
