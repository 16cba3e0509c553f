"""A transition system whose locations also say what variables hold that take few values: modes, flags, states of a
parser, constants.

With them in the location, transitions that cannot follow one another are told apart, which counters alone do not
(laboratory note; the chains of Obdržálek and Trtík: Efficient loop navigation for symbolic execution, ATVA 2011,
section 3.1, times a finite state).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping

from loopless import terms as t
from loopless.graphs import components, reachable
from loopless.limits.navigation import MAX_FINITE_VALUES, MAX_PRODUCT_EDGES
from loopless.logic.feasible import feasible
from loopless.records import dataclass
from loopless.terms.relation import over
from loopless.transition.relation import VIOLATION, Step, TransitionSystem


@dataclass(frozen=True, slots=True)
class ProductNode:
    """A location with the values of the finite variables that matter there."""

    label: str
    fixed: Mapping[t.Var, int]


@dataclass(frozen=True, slots=True)
class ProductEdge:
    """A transition between two nodes, by their numbers; ``condition`` and ``update`` with the source's values in them.
    ``transition``: by its number in the system.
    """

    number: int
    source: int
    target: int
    transition: int
    condition: t.Condition
    update: Mapping[t.Var, t.Term]


@dataclass(frozen=True, eq=False)
class Product:
    """All that is reached from node 0 and leads to the node ``goal``, None where nothing does. ``component``: of each
    node; components are numbered so that runs go to higher ones only. ``cut``: there is more.
    """

    nodes: tuple[ProductNode, ...]
    edges: tuple[ProductEdge, ...]
    component: tuple[int, ...]
    goal: int | None
    cut: bool = False

    @functools.cached_property
    def outgoing(self) -> Mapping[int, tuple[ProductEdge, ...]]:
        """The edges of each node."""
        found: dict[int, list[ProductEdge]] = {number: [] for number in range(len(self.nodes))}
        for edge in self.edges:
            found[edge.source].append(edge)
        return {number: tuple(edges) for number, edges in found.items()}


def product_of(
    system: TransitionSystem, label: str, known: Mapping[t.Var, int], goals: frozenset[str] = frozenset((VIOLATION,))
) -> Product:
    """The product from ``label`` on, where variables hold what is ``known``."""
    transitions = _relevant(system, label, goals)
    finite = _few_valued(system, transitions, label, known)
    while True:
        made = _Exploration(system, transitions, finite, goals)
        too_many = made.run(label, known)
        if too_many is None:
            return made.product()
        finite = _closed(finite - {too_many}, transitions, label, known, system)


def few_valued(system: TransitionSystem, label: str, known: Mapping[t.Var, int]) -> frozenset[t.Var]:
    """The variables on whose known values the product may depend."""
    return _few_valued(system, _relevant(system, label, frozenset((VIOLATION,))), label, known)


def _relevant(system: TransitionSystem, label: str, goals: frozenset[str]) -> list[tuple[int, Step]]:
    """The transitions, by their numbers, that lead from ``label`` towards a goal."""
    towards = _leading_to(system, goals)
    transitions = [(n, step) for n, step in enumerate(system.transitions) if step.target in towards]
    onward: dict[str, list[str]] = {}
    for _, transition in transitions:
        onward.setdefault(transition.source, []).append(transition.target)
    within = set(reachable((label,), lambda at: onward.get(at, ())))
    return [(n, step) for n, step in transitions if step.source in within]


def _leading_to(system: TransitionSystem, goals: frozenset[str]) -> frozenset[str]:
    back: dict[str, list[str]] = {}
    for transition in system.transitions:
        back.setdefault(transition.target, []).append(transition.source)
    return frozenset(reachable(goals, lambda at: back.get(at, ())))


Numbered = Iterable[tuple[int, Step]]


def _few_valued(
    system: TransitionSystem, transitions: Numbered, label: str, known: Mapping[t.Var, int]
) -> frozenset[t.Var]:
    """The variables that may take few values only: not such as are counted up or down for ever."""
    transitions = list(transitions)
    state = {var for at in system.state.values() for var in at} | known.keys()
    found = set()
    for var in state:
        counted, others = set[tuple[str, str]](), set[tuple[str, str]]()
        for _, transition in transitions:
            term = transition.update.get(var)
            if term is not None:
                way = (transition.source, transition.target)
                (counted if isinstance(term - var, t.Const) else others).add(way)
        if counted <= others:
            found.add(var)
    return _closed(frozenset(found), transitions, label, known, system)


def _closed(
    variables: frozenset[t.Var], transitions: Numbered, label: str, known: Mapping[t.Var, int], system: TransitionSystem
) -> frozenset[t.Var]:
    """Those whose values follow from one another's alone."""
    transitions = list(transitions)
    found = set(variables)
    here = set(known)
    while True:
        lost = set()
        for var in found:
            for _, transition in transitions:
                term = transition.update.get(var)
                if term is None:
                    matters = var in system.state.get(transition.target, ())
                    if matters and transition.source == label and var not in here and label not in system.state:
                        lost.add(var)
                elif not term.variables <= found or any(isinstance(part, t.Read) for part in t.walk_inside(term)):
                    lost.add(var)
            if label in system.state and var not in here:
                lost.add(var)
        if not lost:
            return frozenset(found)
        found -= lost


class _Exploration:
    def __init__(
        self, system: TransitionSystem, transitions: Numbered, finite: frozenset[t.Var], goals: frozenset[str]
    ) -> None:
        self.system, self.finite, self.goals = system, finite, goals
        self.onward: dict[str, list[tuple[int, Step]]] = {}
        for number, transition in transitions:
            self.onward.setdefault(transition.source, []).append((number, transition))
        self.nodes: list[ProductNode] = []
        self.numbers: dict[tuple[str, tuple[tuple[str, int], ...]], int] = {}
        self.edges: list[ProductEdge] = []
        self.cut = False

    def _node(self, label: str, values: Mapping[t.Var, int]) -> int:
        matters = (
            values
            if label not in self.system.state
            else {var: values[var] for var in self.system.state[label] if var in values}
        )
        key = (label, () if label in self.goals else tuple(sorted((var.key, value) for var, value in matters.items())))
        if key not in self.numbers:
            self.numbers[key] = len(self.nodes)
            self.nodes.append(ProductNode(label, {} if label in self.goals else dict(matters)))
        return self.numbers[key]

    def run(self, label: str, known: Mapping[t.Var, int]) -> t.Var | None:
        """Explore; a variable that takes too many values, where one does."""
        self._node(label, {var: value for var, value in known.items() if var in self.finite})
        at = 0
        while at < len(self.nodes):
            node = self.nodes[at]
            given = {var: t.const(value) for var, value in node.fixed.items()}
            for number, transition in self.onward.get(node.label, ()):
                taken = over(transition, given)
                if taken.condition is t.FALSE or not feasible(taken.condition, solver=False):
                    continue
                values = dict(node.fixed)
                for var, term in taken.update.items():
                    if var in self.finite and isinstance(term, t.Const):
                        values[var] = term.value
                    else:
                        values.pop(var, None)
                target = self._node(transition.target, values)
                self.edges.append(ProductEdge(len(self.edges), at, target, number, taken.condition, taken.update))
                if len(self.edges) > MAX_PRODUCT_EDGES:
                    self.cut = True
                    return self._widest() if self.finite else None
            at += 1
            if at % 8 == 0 and (widest := self._widest(MAX_FINITE_VALUES)) is not None:
                return widest
        return self._widest(MAX_FINITE_VALUES)

    def _widest(self, most: int = 1) -> t.Var | None:
        """The variable with the most values at one location, if these, or the nodes there, are more than ``most``."""
        values: dict[tuple[str, t.Var], set[int]] = {}
        count: dict[str, int] = {}
        for node in self.nodes:
            count[node.label] = count.get(node.label, 0) + 1
            for var, value in node.fixed.items():
                values.setdefault((node.label, var), set()).add(value)
        widest = max(values, key=lambda one: (count[one[0]] > most, len(values[one]), one[1].key), default=None)
        if widest is None or len(values[widest]) < 2 or count[widest[0]] <= most:
            return None
        return widest[1]

    def product(self) -> Product:
        """What leads to the goal."""
        goal = next((number for number, node in enumerate(self.nodes) if node.label in self.goals), None)
        if goal is None:
            return Product(tuple(self.nodes[:1]), (), (0,), None, self.cut)
        back: dict[int, list[int]] = {}
        for edge in self.edges:
            back.setdefault(edge.target, []).append(edge.source)
        kept = set(reachable((goal,), lambda at: back.get(at, ())))
        if 0 not in kept:
            return Product(tuple(self.nodes[:1]), (), (0,), None, self.cut)
        numbers = {old: new for new, old in enumerate(sorted(kept))}
        edges = [e for e in self.edges if e.source in kept and e.target in kept]
        renumbered = tuple(
            ProductEdge(new, numbers[e.source], numbers[e.target], e.transition, e.condition, e.update)
            for new, e in enumerate(edges)
        )
        nodes = tuple(self.nodes[old] for old in sorted(kept))
        following: dict[int, set[int]] = {number: set() for number in range(len(nodes))}
        for edge in renumbered:
            following[edge.source].add(edge.target)
        order = _in_order(components(following), following)
        component = [0] * len(nodes)
        for number, members in enumerate(order):
            for member in members:
                component[member] = number
        return Product(nodes, renumbered, tuple(component), numbers[goal], self.cut)


def _in_order(groups: list[tuple[int, ...]], following: Mapping[int, set[int]]) -> list[tuple[int, ...]]:
    """The components so that those come later that others lead to."""
    of = {member: number for number, group in enumerate(groups) for member in group}
    onward = {
        number: {of[target] for member in group for target in following[member]} - {number}
        for number, group in enumerate(groups)
    }
    waiting = dict.fromkeys(onward, 0)
    for targets in onward.values():
        for target in targets:
            waiting[target] += 1
    ready = sorted(number for number, count in waiting.items() if not count)
    order = []
    while ready:
        number = ready.pop(0)
        order.append(groups[number])
        for target in sorted(onward[number]):
            waiting[target] -= 1
            if not waiting[target]:
                ready.append(target)
    return order
