"""What is known where a loop is entered: constants that variables were set to, conditions on what has not changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Final

from loopless import terms as t
from loopless.flowgraph.model import Assume, Check, Flowgraph, LoopInfo, Origin
from loopless.flowgraph.transfer import Domain, Source, along, through
from loopless.limits.paths import MAX_ENTRY_ALTERNATIVES, MAX_WAYS
from loopless.paths.execution import ExecutionState
from loopless.records import dataclass
from loopless.source.ir import Loc

_NOW: Final = "now "
"""The names of variables begin so that stand for what others hold in the end."""


def common_facts(states: Sequence[ExecutionState], variables: Iterable[t.Var]) -> t.Condition:
    """What all of the partial paths know of the present values of ``variables``."""
    shown = frozenset(variables)
    each = [facts_behind(state.condition, state.values, shown) for state in states]
    return t.conjunction(fact for fact in each[0] if all(fact in other for other in each[1:]))


def facts_behind(
    condition: Iterable[t.Condition], values: Mapping[t.Var, t.Term], shown: frozenset[t.Var]
) -> list[t.Condition]:
    """What is known of the variables ``shown`` where they have got ``values``, and ``condition`` held before."""
    set_to = [var.eq(value) for var, value in sorted(values.items()) if var in shown and isinstance(value, t.Const)]
    held = {value: var for var, value in sorted(values.items()) if var in shown and isinstance(value, t.Var)}
    worked_out: dict[t.Term, t.Term] = {}
    for var, value in sorted(values.items()):
        if var in shown and isinstance(value, t.Op | t.Wrap):
            name = t.Var(f"{_NOW}{var.name}", var.type)
            worked_out[value], held[name] = name, var

    def now(var: t.Var) -> t.Var | None:
        """The variable that has the value which ``var`` stands for."""
        return var if var in shown and values.get(var, var) is var else held.get(var)

    kept = []
    for part in condition:
        if worked_out:
            part = t.replace_terms(part, worked_out)
        names = {var: now(var) for var in part.variables}
        present = {var: name for var, name in names.items() if name is not None}
        if len(present) == len(names):
            moved = {var: name for var, name in present.items() if name is not var}
            kept.append(t.substitute(part, moved) if moved else part)
    return [*set_to, *kept]


def entry_facts(graph: Flowgraph, loop: LoopInfo) -> t.Condition:
    """What the code that runs just before ``loop`` says of the values at its entry, on each of the ways there."""
    shown = frozenset(graph.variables)
    each = [dict.fromkeys(facts_behind(conditions, values, shown)) for conditions, values in _before(graph, loop)]
    each = [facts for facts in each if t.conjunction(facts) is not t.FALSE]
    if not each:
        return t.TRUE
    common = [fact for fact in each[0] if all(fact in other for other in each[1:])]
    others = [t.conjunction(fact for fact in facts if fact not in common) for facts in each]
    either = t.disjunction(others) if len(set(others)) <= MAX_ENTRY_ALTERNATIVES else t.TRUE
    return t.conjunction((*common, either))


def entry_values(graph: Flowgraph, loop: LoopInfo) -> dict[t.Var, t.Term]:
    """The variables that are set just before ``loop``, to terms over variables that still have the values that these
    speak of: what both sides of ``var == term`` are at its entry.
    """
    each = [
        {
            var: term
            for var, term in sorted(values.items())
            if term is not var and all(v in graph.variables and values.get(v, v) is v for v in term.variables)
        }
        for _, values in _before(graph, loop)
    ]
    return {var: term for var, term in each[0].items() if all(other.get(var) is term for other in each[1:])}


_Step = tuple[str, int]
"""A block, and the number of the edge by which it is left."""


def _ways(graph: Flowgraph, loop: LoopInfo) -> list[list[_Step]]:
    """The last steps of all ways to the entry of ``loop``, the last one first: back to the beginning of the function,
    or to another loop, or as far as there are few ways.
    """
    incoming: dict[str, list[_Step]] = {}
    for label, block in graph.blocks.items():
        for index, edge in enumerate(block.edges):
            incoming.setdefault(edge.target, []).append((label, index))
    headers = {other.header for other in graph.loops}
    found: list[list[_Step]] = []
    growing = [[step] for step in incoming.get(loop.header, []) if step[0] not in loop.blocks]
    while growing:
        chain = growing.pop()
        before = incoming.get(chain[-1][0], []) if chain[-1][0] not in headers else []
        many = len(found) + len(growing) + len(before) > MAX_WAYS
        if not before or many or {step[0] for step in before} & {step[0] for step in chain}:
            found.append(chain)
        else:
            growing += [[*chain, step] for step in before]
    return found


def _before(graph: Flowgraph, loop: LoopInfo) -> list[tuple[list[t.Condition], dict[t.Var, t.Term]]]:
    """The conditions and the values of the code before ``loop``, for each way over the values where that begins."""
    found = []
    for chain in _ways(graph, loop):
        way = _along(graph, chain)
        if t.conjunction(way[0]) is not t.FALSE:
            found.append(way)
    return found or [([], {})]


@dataclass(slots=True)
class _Way:
    """Where a way is: the values over those at its begin, and the conditions that hold there."""

    values: dict[t.Var, t.Term] = field(default_factory=dict)
    conditions: list[t.Condition] = field(default_factory=list)


class _Straight(Domain[_Way]):
    """One way, of which all conditions hold. Raises :class:`loopless.terms.TermTooLarge`."""

    label = ""
    number = 0

    def value(self, state: _Way, term: t.Term, target: t.Var) -> t.Term:  # noqa: ARG002
        return t.substitute(term, state.values)

    def assigned(self, state: _Way, values: Mapping[t.Var, t.Term], loc: Loc | None) -> _Way:  # noqa: ARG002
        state.values.update(values)
        return state

    def fresh(self, state: _Way, target: t.Var, origin: Origin, name: str, source: Source) -> _Way:  # noqa: ARG002
        self.number += 1  # a value of its own
        state.values[target] = t.Var(f"{target.name} as set in {self.label}, {self.number}", target.type)
        return state

    def holds(self, state: _Way, label: str, statement: Check | Assume) -> Sequence[_Way]:  # noqa: ARG002
        state.conditions += t.conjuncts(t.substitute(statement.condition, state.values))
        return (state,)


def _along(graph: Flowgraph, chain: Sequence[_Step]) -> tuple[list[t.Condition], dict[t.Var, t.Term]]:
    way, domain = _Way(), _Straight()
    try:
        for label, index in reversed(chain):
            block = graph.blocks[label]
            domain.label = label
            (way,) = through(domain, block, way)
            edge = block.edges[index]
            way.conditions += t.conjuncts(t.substitute(edge.condition, way.values))
            way = along(domain, edge, way)
    except t.TermTooLarge:
        return [], {}
    return way.conditions, way.values
