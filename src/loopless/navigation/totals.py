"""What inner loops add to a variable in all their rounds together: what it holds where they are left, less what it
holds where they are entered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from loopless import terms as t
from loopless.flowgraph.dataflow import flow
from loopless.logic.intervals import Intervals
from loopless.navigation.product import Product, rounds_of
from loopless.terms.relation import added


def inner_totals(
    product: Product,
    component: int,
    count: Mapping[int, t.Var],
    begins: Callable[[t.Var], t.Term | None],
) -> Iterator[t.Condition]:
    """Conditions on ``count``, how often steps are taken, that hold of every run to the goal, for each location of the
    component and each variable that its ways back to itself change by constants, and that holds constants where it is
    entered. ``begins``: what a variable holds where the run begins.
    """
    for rounds in rounds_of(product, component):
        back, entering, leaving = rounds.back, rounds.entering, rounds.leaving
        first_of_all = product.begin in rounds.at
        for var in dict.fromkeys(v for e in back.values() for v in e.update):
            if any(var in product.nodes[node].fixed for node in rounds.at):
                continue
            steps = {n: added(e, var) for n, e in back.items()}
            first = begins(var) if first_of_all else t.const(0)
            held_at = _constants(product, var, begins(var))
            starts = {n: e.update.get(var) or held_at[e.source] for n, e in entering.items()}
            if first is None or not all(isinstance(term, t.Const) for term in (*steps.values(), *starts.values())):
                continue
            sums = t.add(t.const(0), *(step * count[n] for n, step in steps.items()))
            began = t.add(first, *(start * count[n] for n, start in starts.items() if start is not None))
            ends = {n: Intervals((e.condition,)).range_of(var) for n, e in leaving.items()}
            begins_at = (*starts.values(), *((first,) if first_of_all else ()))
            values = [term.value for term in begins_at if isinstance(term, t.Const)]
            if isinstance(first, t.Const) and values:  # what only rises is never below where it begins
                if all(isinstance(step, t.Const) and step.value >= 0 for step in steps.values()):
                    least = min(values)
                    ends = {n: (least if low is None else max(low, least), high) for n, (low, high) in ends.items()}
                if all(isinstance(step, t.Const) and step.value <= 0 for step in steps.values()):
                    most = max(values)
                    ends = {n: (low, most if high is None else min(high, most)) for n, (low, high) in ends.items()}
            for side, says in ((0, t.greater_equal), (1, t.less_equal)):
                limits = {n: end[side] for n, end in ends.items()}
                if all(limit is not None for limit in limits.values()):
                    left = t.add(t.const(0), *((limit or 0) * count[n] for n, limit in limits.items()))
                    yield says(sums, left - began)


def _constants(product: Product, var: t.Var, begins: t.Term | None) -> Mapping[str, t.Term | None]:
    """By node the number that a variable always holds there; None where that is not so, or not known."""

    def onward(node: str, held: t.Term | None) -> Iterator[tuple[str, t.Term | None]]:
        for step in product.outgoing[node].values():
            term = step.update.get(var, held)
            yield step.target, product.held(step.target, var) or (term if isinstance(term, t.Const) else None)

    start: t.Term | None = begins if isinstance(begins, t.Const) else None
    found = flow(tuple(product.nodes), {product.begin: start}, onward, lambda one, other: one if one == other else None)
    return {node: found.get(node) for node in product.nodes}
