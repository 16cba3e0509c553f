"""What is known where a loop is entered: constants that variables were set to, conditions on what has not changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from loopless.flowgraph.liveness import defined_by
from loopless.flowgraph.model import Assign, Assume, Check, Flowgraph, LoopInfo
from loopless.paths.execution import State
from loopless.terms import Condition, Const, Term, TermTooLarge, Var, conjunction, conjuncts, equal, substitute


def common_facts(states: Sequence[State], variables: Iterable[Var]) -> Condition:
    """What all of the partial paths know of the present values of ``variables``."""
    shown = frozenset(variables)
    each = [_facts(state.condition, state.values, shown) for state in states]
    return conjunction(fact for fact in each[0] if all(fact in other for other in each[1:]))


def _facts(condition: Iterable[Condition], values: Mapping[Var, Term], shown: frozenset[Var]) -> list[Condition]:
    set_to = [equal(var, value) for var, value in sorted(values.items()) if var in shown and isinstance(value, Const)]
    kept = [part for part in condition if all(v in shown and values.get(v, v) is v for v in part.variables)]
    return [*set_to, *kept]


def entry_facts(graph: Flowgraph, loop: LoopInfo) -> Condition:
    """What the code that runs just before ``loop`` says of the values at its entry: straight code only."""
    conditions, values = _before(graph, loop)
    return conjunction(_facts(conditions, values, frozenset(graph.variables)))


def entry_values(graph: Flowgraph, loop: LoopInfo) -> dict[Var, Term]:
    """The variables that are set just before ``loop``, to terms over variables that still have the values that these
    speak of: what both sides of ``var == term`` are at its entry.
    """
    _, values = _before(graph, loop)
    return {
        var: term
        for var, term in sorted(values.items())
        if term is not var and all(v in graph.variables and values.get(v, v) is v for v in term.variables)
    }


def _before(graph: Flowgraph, loop: LoopInfo) -> tuple[list[Condition], dict[Var, Term]]:
    """The conditions and the values of the straight code before ``loop``, over the values where that begins."""
    incoming: dict[str, list[tuple[str, int]]] = {}
    for label, block in graph.blocks.items():
        for index, edge in enumerate(block.edges):
            incoming.setdefault(edge.target, []).append((label, index))
    chain: list[tuple[str, int]] = []
    before = [step for step in incoming.get(loop.header, []) if step[0] not in loop.blocks]
    headers = {other.header for other in graph.loops}
    while len(before) == 1 and before[0] not in chain:
        chain.append(before[0])
        before = incoming.get(before[0][0], []) if before[0][0] not in headers else []
    values: dict[Var, Term] = {}
    conditions: list[Condition] = []
    try:
        for label, index in reversed(chain):
            block = graph.blocks[label]
            for statement in block.statements:
                if isinstance(statement, Assign):
                    values[statement.target] = substitute(statement.value, values)
                elif isinstance(statement, Check | Assume):
                    conditions += conjuncts(substitute(statement.condition, values))
                else:
                    for target in defined_by(statement):
                        # A value of its own, which no later fact speaks of.
                        values[target] = Var(f"{target.name} as set in {label}", target.type)
            edge = block.edges[index]
            conditions += conjuncts(substitute(edge.condition, values))
            values |= {target: substitute(value, values) for target, value in edge.assigns}
    except TermTooLarge:
        return [], {}
    return conditions, values
