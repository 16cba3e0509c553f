"""A transition system whose locations also say what variables hold that take few values: modes, flags, states of a
parser, constants.

With them in the location, transitions that cannot follow one another are told apart, which counters alone do not
(laboratory note; the chains of Obdržálek and Trtík: Efficient loop navigation for symbolic execution, ATVA 2011,
section 3.1, times a finite state). The product's steps are the system's, over the values of their sources.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from loopless import terms as t
from loopless.graphs import components, predecessors, reachable
from loopless.limits.navigation import MAX_FINITE_VALUES, MAX_PRODUCT_EDGES
from loopless.logic.feasible import feasible
from loopless.logic.steps import successors
from loopless.records import dataclass
from loopless.terms.relation import added
from loopless.transition.algebra import given
from loopless.transition.relation import VIOLATION, Step, TransitionSystem


@dataclass(frozen=True, slots=True)
class ProductNode:
    """A location with the values of the finite variables that matter there."""

    label: str
    fixed: Mapping[t.Var, int]


@dataclass(frozen=True, eq=False)
class Product:
    """All that is reached from the node ``begin`` and leads to the node ``goal``, None where nothing does. ``steps``
    lead from node to node; ``origins``: their numbers in the system. ``component``: of each node; components are
    numbered so that runs go to higher ones only. ``cut``: runs may be missing in it.
    """

    begin: str
    nodes: Mapping[str, ProductNode]
    steps: tuple[Step, ...]
    origins: tuple[int, ...]
    component: Mapping[str, int]
    goal: str | None
    cut: bool = False

    @functools.cached_property
    def outgoing(self) -> Mapping[str, Mapping[int, Step]]:
        """The steps of each node, by their numbers."""
        found: dict[str, dict[int, Step]] = {name: {} for name in self.nodes}
        for number, step in enumerate(self.steps):
            found[step.source][number] = step
        return found

    @functools.cached_property
    def inside(self) -> Mapping[int, Mapping[int, Step]]:
        """The steps within each component that has some, by their numbers."""
        found: dict[int, dict[int, Step]] = {}
        for number, step in enumerate(self.steps):
            if self.component[step.source] == self.component[step.target]:
                found.setdefault(self.component[step.source], {})[number] = step
        return found

    @functools.cached_property
    def between(self) -> Mapping[int, Step]:
        """The steps from one component to another, by their numbers."""
        of = self.component
        return {number: one for number, one in enumerate(self.steps) if of[one.source] != of[one.target]}

    @functools.cached_property
    def members(self) -> Mapping[int, tuple[str, ...]]:
        """The nodes of each component."""
        found: dict[int, list[str]] = {}
        for name, component in self.component.items():
            found.setdefault(component, []).append(name)
        return {component: tuple(names) for component, names in found.items()}

    def held(self, name: str, var: t.Var) -> t.Term | None:
        """The number that a variable holds at a node, where that is one of its values."""
        fixed = self.nodes[name].fixed
        return t.const(fixed[var]) if var in fixed else None


@dataclass(frozen=True, slots=True)
class Rounds:
    """The steps ``back`` from nodes ``at`` one location of a component to such nodes, into them, and out of them."""

    at: frozenset[str]
    back: Mapping[int, Step]
    entering: Mapping[int, Step]
    leaving: Mapping[int, Step]


def rounds_of(product: Product, component: int) -> list[Rounds]:
    """The rounds of a component, for each location with steps back to it."""
    found: list[Rounds] = []
    for label in sorted({product.nodes[name].label for name in product.members[component]}):
        at = frozenset(name for name in product.members[component] if product.nodes[name].label == label)
        back, entering, leaving = dict[int, Step](), dict[int, Step](), dict[int, Step]()
        for number, step in enumerate(product.steps):
            if step.source in at:
                (back if step.target in at else leaving)[number] = step
            elif step.target in at:
                entering[number] = step
        if back:
            found.append(Rounds(at, back, entering, leaving))
    return found


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
    onward = successors(system.transitions)
    back = predecessors(onward)
    towards = set(reachable(goals, lambda at: back.get(at, ())))
    within = set(reachable((label,), lambda at: [to for to in onward.get(at, ()) if to in towards]))
    return [(n, one) for n, one in enumerate(system.transitions) if one.source in within and one.target in towards]


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
            if var in transition.update:
                way = (transition.source, transition.target)
                (counted if isinstance(added(transition, var), t.Const) else others).add(way)
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
        self.order: list[str] = []
        self.nodes: dict[str, ProductNode] = {}
        self.names: dict[tuple[str, tuple[tuple[str, int], ...]], str] = {}
        self.steps: list[tuple[int, Step]] = []
        self.cut = not all(step.kind.proves for step in system.transitions)  # under steps lack runs

    def _node(self, label: str, values: Mapping[t.Var, int]) -> str:
        matters = (
            values
            if label not in self.system.state
            else {var: values[var] for var in self.system.state[label] if var in values}
        )
        key = (label, () if label in self.goals else tuple(sorted((var.key, value) for var, value in matters.items())))
        if key not in self.names:
            self.names[key] = name = f"{len(self.order)} {label}"
            self.order.append(name)
            self.nodes[name] = ProductNode(label, {} if label in self.goals else dict(matters))
        return self.names[key]

    def run(self, label: str, known: Mapping[t.Var, int]) -> t.Var | None:
        """Explore; a variable that takes too many values, where one does."""
        self._node(label, {var: value for var, value in known.items() if var in self.finite})
        for done, at in enumerate(self.order, 1):  # which grows on the way
            node = self.nodes[at]
            fixed = {var: t.const(value) for var, value in node.fixed.items()}
            for number, transition in self.onward.get(node.label, ()):
                taken = given(transition, fixed)
                if taken.condition is t.FALSE or not feasible(taken.condition, solver=False):
                    continue
                values = dict(node.fixed)
                for var, term in taken.update.items():
                    if var in self.finite and isinstance(term, t.Const):
                        values[var] = term.value
                    else:
                        values.pop(var, None)
                target = self._node(transition.target, values)
                self.steps.append((number, replace(taken, source=at, target=target)))
                if len(self.steps) > MAX_PRODUCT_EDGES:
                    self.cut = True
                    return self._widest() if self.finite else None
            if done % 8 == 0 and (widest := self._widest(MAX_FINITE_VALUES)) is not None:
                return widest
        return self._widest(MAX_FINITE_VALUES)

    def _widest(self, most: int = 1) -> t.Var | None:
        """The variable with the most values at one location, if these, or the nodes there, are more than ``most``."""
        values: dict[tuple[str, t.Var], set[int]] = {}
        count: dict[str, int] = {}
        for node in self.nodes.values():
            count[node.label] = count.get(node.label, 0) + 1
            for var, value in node.fixed.items():
                values.setdefault((node.label, var), set()).add(value)
        widest = max(values, key=lambda one: (count[one[0]] > most, len(values[one]), one[1].key), default=None)
        if widest is None or len(values[widest]) < 2 or count[widest[0]] <= most:
            return None
        return widest[1]

    def product(self) -> Product:
        """What leads to the goal."""
        begin = self.order[0]
        goal = next((name for name, node in self.nodes.items() if node.label in self.goals), None)
        back = predecessors(successors(step for _, step in self.steps))
        kept = set() if goal is None else set(reachable((goal,), lambda at: back.get(at, ())))
        if begin not in kept:
            return Product(begin, {begin: self.nodes[begin]}, (), (), {begin: 0}, None, self.cut)
        nodes = {name: node for name, node in self.nodes.items() if name in kept}
        steps = [(n, one) for n, one in self.steps if one.source in kept and one.target in kept]
        following = {**dict.fromkeys(nodes, ()), **successors(step for _, step in steps)}
        order = _in_order(components(following), following)
        of = {member: number for number, members in enumerate(order) for member in members}
        component = {name: of[name] for name in nodes}
        origins = tuple(number for number, _ in steps)
        return Product(begin, nodes, tuple(step for _, step in steps), origins, component, goal, self.cut)


def _in_order(groups: list[tuple[str, ...]], following: Mapping[str, Collection[str]]) -> list[tuple[str, ...]]:
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
