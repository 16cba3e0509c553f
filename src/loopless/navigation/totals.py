"""What inner loops add to a variable in all their rounds together: what it holds where they are left, less what it
holds where they are entered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from loopless import terms as t
from loopless.flowgraph.dataflow import flow
from loopless.logic.intervals import Intervals
from loopless.navigation.product import Product, ProductEdge


def inner_totals(
    product: Product,
    component: int,
    inside: Sequence[ProductEdge],
    count: Mapping[int, t.Var],
    begins: Callable[[t.Var], t.Term | None],
) -> Iterator[t.Condition]:
    """Conditions on ``count``, how often edges are taken, that hold of every run to the goal, for each location of the
    component and each variable that its ways back to itself change by constants, and that holds constants where it is
    entered. ``begins``: what a variable holds in node 0, where the run begins.
    """
    labels = {product.nodes[node].label for node, found in enumerate(product.component) if found == component}
    for label in sorted(labels):
        at = {n for n, node in enumerate(product.nodes) if node.label == label and product.component[n] == component}
        back = [e for e in inside if e.source in at and e.target in at]
        entering = [e for e in product.edges if e.target in at and e.source not in at]
        leaving = [e for e in product.edges if e.source in at and e.target not in at]
        for var in dict.fromkeys(v for e in back for v in e.update):
            if any(var in product.nodes[node].fixed for node in at):
                continue
            steps = [e.update[var] - var if var in e.update else t.const(0) for e in back]
            first = begins(var) if 0 in at else t.const(0)
            held_at = _constants(product, var, begins(var))
            starts = [e.update.get(var) or held_at[e.source] for e in entering]
            if first is None or not all(isinstance(term, t.Const) for term in (*steps, *starts)):
                continue
            held = [(start, e) for start, e in zip(starts, entering, strict=True) if start is not None]
            added = t.add(t.const(0), *(step * count[e.number] for step, e in zip(steps, back, strict=True)))
            began = t.add(first, *(start * count[e.number] for start, e in held))
            ends = [Intervals((e.condition,)).range_of(var) for e in leaving]
            values = [term.value for term in (*starts, *([first] if 0 in at else [])) if isinstance(term, t.Const)]
            if isinstance(first, t.Const) and values:  # what only rises is never below where it begins
                if all(isinstance(step, t.Const) and step.value >= 0 for step in steps):
                    ends = [(min(values) if low is None else max(low, min(values)), high) for low, high in ends]
                if all(isinstance(step, t.Const) and step.value <= 0 for step in steps):
                    ends = [(low, max(values) if high is None else min(high, max(values))) for low, high in ends]
            for side, says in ((0, t.greater_equal), (1, t.less_equal)):
                limits = [end[side] for end in ends]
                if all(limit is not None for limit in limits):
                    left = [(limit or 0) * count[e.number] for limit, e in zip(limits, leaving, strict=True)]
                    yield says(added, t.add(t.const(0), *left) - began)


def _constants(product: Product, var: t.Var, begins: t.Term | None) -> list[t.Term | None]:
    """By node the number that a variable always holds there; None where that is not so, or not known."""
    leaving: dict[int, list[ProductEdge]] = {}
    for edge in product.edges:
        leaving.setdefault(edge.source, []).append(edge)

    def onward(node: int, held: t.Term | None) -> Iterator[tuple[int, t.Term | None]]:
        for edge in leaving.get(node, ()):
            term = edge.update.get(var, held)
            fixed = product.nodes[edge.target].fixed
            yield edge.target, t.const(fixed[var]) if var in fixed else term if isinstance(term, t.Const) else None

    start: t.Term | None = begins if isinstance(begins, t.Const) else None
    nodes = range(len(product.nodes))
    found = flow(nodes, {0: start}, onward, lambda one, other: one if one == other else None)
    return [found.get(node) for node in nodes]
