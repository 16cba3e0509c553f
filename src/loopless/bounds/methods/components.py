"""How often loops run in a call, by ranking functions that differ from header to header.

The headers of a nest, or of loops that lead back to one another, are a component; a run comes into a component at most
once. In a component transition after transition gets a function, affine at each header, that falls with it and that
others do not raise, or raise or renew only so often (Alias et al., SAS 2010; Brockschmidt et al., Analyzing runtime
and size complexity of integer programs, TOPLAS 2016). What the functions are at most where a run comes into the
component follows from how large variables have become in the components before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from loopless import terms as t
from loopless.bounds.asymptotics.compare import lesser
from loopless.bounds.invariants.at_headers import invariants_at
from loopless.bounds.model import CallBounds, FunctionBounds, TermBound
from loopless.bounds.question import BoundQuestion
from loopless.bounds.ranking.components import HeaderComponent
from loopless.bounds.ranking.cutpoints import END, ENTRY, CutpointGraph, cutpoints_of, under
from loopless.bounds.ranking.refinement import refined
from loopless.bounds.ranking.transition_system import LinearTransition, TransitionGraph, system
from loopless.flowgraph.model import Flowgraph
from loopless.graphs import components, predecessors, reachable
from loopless.limits.bounds import COMPONENTS_OPERATIONS, COMPONENTS_WORK
from loopless.logic import BudgetExceeded, budget
from loopless.logic.farkas import Farkas
from loopless.portfolio import Method, NoAnswer, Tried
from loopless.refusals import Reason, Refused


def call_bounds(graph: Flowgraph) -> CallBounds | Refused:
    """Bounds on how often the loops of a function run in one call; those that are found."""
    if not graph.loops:
        return CallBounds()
    cutpoints = cutpoints_of(graph)
    if isinstance(cutpoints, Refused):
        return cutpoints
    try:
        with budget(COMPONENTS_OPERATIONS):
            first = CallSearch(cutpoints)
            found = first.answer()
            if found.whole is not None:
                return _least(found, _inputs_apart(cutpoints)) if first.relates_inputs else found
            apart = refined(cutpoints, first.system)
            return found if isinstance(apart, Refused) else _either(found, CallSearch(apart).answer())
    except (t.TermTooLarge, BudgetExceeded) as error:
        return Refused(Reason.BUDGET, graph.source_name, f"the search for a bound came to a limit: {error}")


def _inputs_apart(cutpoints: CutpointGraph) -> CallBounds:
    """The bounds without how inputs compare with one another; none where that takes too long."""
    try:
        return CallSearch(cutpoints, inputs_apart=True).answer()
    except (t.TermTooLarge, BudgetExceeded):
        return CallBounds()


def growth_in_call(graph: Flowgraph, variable: t.Var, start: t.Term) -> t.Term | None:
    """By how much a variable is larger than ``start`` at the end of a call, at most, over the call's inputs; None where
    that is not found, and for a function without loops, of which counts say as much.
    """
    if not graph.loops:
        return None
    cutpoints = cutpoints_of(graph, frozenset((variable,)))
    if isinstance(cutpoints, Refused):
        return None
    try:
        with budget(COMPONENTS_OPERATIONS):
            return CallSearch(cutpoints).growth(variable, start)
    except (t.TermTooLarge, BudgetExceeded):
        return None


def _least(first: CallBounds, second: CallBounds) -> CallBounds:
    """The bounds of the ``first``, or those of the second where these are less."""
    return CallBounds(
        {header: _lesser(bound, second.loops.get(header)) for header, bound in first.loops.items()},
        _lesser(first.whole, second.whole) if first.whole is not None else None,
    )


def _lesser(first: TermBound, second: TermBound | None) -> TermBound:
    if second is None or second.term == first.term:
        return first
    try:
        return TermBound(lesser(first.term, second.term))
    except t.TermTooLarge:
        return first


def _either(first: CallBounds, second: CallBounds) -> CallBounds:
    """What is known by one or the other."""
    return CallBounds({**second.loops, **first.loops}, first.whole or second.whole)


class CallSearch:
    """The components of a function, each after those that lead to it.

    ``inputs_apart``: nothing is made of how inputs compare with one another. A bound in the smaller one of two is then
    not given in the larger one, which either may be to the search.
    """

    def __init__(self, cutpoints: CutpointGraph, *, inputs_apart: bool = False) -> None:
        self.cutpoints = cutpoints
        invariants = invariants_at(cutpoints)
        self.relates_inputs = any(map(self._is_about_inputs, invariants.values()))
        if inputs_apart:
            invariants = {header: self._without_inputs(facts) for header, facts in invariants.items()}
        known = under(
            cutpoints.paths, {path.id: invariants[cutpoints.source[path.id]] for path in cutpoints.paths.iterative}
        )
        self.engine = Farkas()
        self.engine.allow(COMPONENTS_WORK)
        self.system = system(known, t.TRUE, split=True)
        self.graph = TransitionGraph(self.system, cutpoints.source, cutpoints.target, cutpoints.back)
        self.components: dict[str, HeaderComponent] = {}

    def _is_about_inputs(self, facts: t.Condition) -> bool:
        return any(fact.variables <= frozenset(self.cutpoints.paths.invariants) for fact in t.conjuncts(facts))

    def _without_inputs(self, facts: t.Condition) -> t.Condition:
        return t.conjunction(fact for fact in t.conjuncts(facts) if not self._is_about_inputs(fact))

    def answer(self) -> CallBounds:
        """The bounds of all components together."""
        order = self.searched()
        back = self.cutpoints.back
        loops = {header: self._together(order, (header,)) for header in set(back.values())}
        whole = self._together(order, set(back.values()))
        known = {h: TermBound(often) for h, often in sorted(loops.items()) if often is not None}
        return CallBounds(known, TermBound(whole) if whole is not None else None)

    def searched(self) -> list[HeaderComponent]:
        """The components but for the entry's, their transitions counted, each after those that lead to it."""
        self.components[ENTRY] = self._component(frozenset((ENTRY,)))
        order: list[HeaderComponent] = []
        for headers in self._in_order():
            component = self._component(headers)
            self.components |= dict.fromkeys(headers, component)
            component.search()
            order.append(component)
        return order

    def _component(self, headers: frozenset[str]) -> HeaderComponent:
        target, source = self.graph.target_of, self.graph.source_of
        entering = [
            (self.components[source(transition)], transition)
            for transition in self.system.transitions
            if target(transition) in headers
            and source(transition) not in headers
            and source(transition) in self.components
        ]
        return HeaderComponent(self.graph, self.engine, self.cutpoints.inputs, headers, entering)

    def growth(self, variable: t.Var, start: t.Term) -> t.Term | None:
        """By how much a variable is larger than ``start`` at the end at most: what the components on the way add, and
        the transitions between them.
        """
        order = self.searched()
        raised = {id(component): component.raised(variable) for component in order}
        pieces: list[tuple[t.Condition, t.Term]] = []
        others: list[t.Term] = []
        for first in self.system.transitions:
            if self.graph.source_of(first) != ENTRY:
                continue
            value = self.components[ENTRY].after(first, variable - start if start is t.ZERO else variable)
            more = self._on_the_way(order, first, variable, raised)
            if value is None or more is None:
                return None
            here = value - start + more
            if first.condition.variables <= self.cutpoints.inputs:
                pieces.append((first.condition, here))
            else:
                others.append(here)
        if not pieces and not others:
            return None
        result = t.maximum(*others) if others else pieces.pop()[1]
        for condition, here in reversed(pieces):
            result = t.ite(condition, t.maximum(here, *others), result)
        return result if result.variables <= self.cutpoints.inputs else None

    def _on_the_way(
        self,
        order: Sequence[HeaderComponent],
        first: LinearTransition,
        variable: t.Var,
        raised: Mapping[int, t.Term | None],
    ) -> t.Term | None:
        """What is added to a variable at most between a transition from the entry and the end."""
        known: dict[int, t.Term] = {}
        final = self.graph.target_of(first)
        if final == END:
            return t.ZERO
        ends: list[t.Term] = []
        for component in order:
            amounts: list[t.Term] = [t.ZERO] if final in component.headers else []
            for before, transition in component.entering:
                if id(before) in known:
                    amount = before.added(transition, variable)
                    if amount is None:
                        return None
                    amounts.append(known[id(before)] + amount)
            if not amounts:
                continue
            inside = raised[id(component)]
            if inside is None:
                return None
            known[id(component)] = t.maximum(*amounts) + inside
            if END in component.headers:
                ends.append(known[id(component)])
        return t.maximum(*ends) if ends else t.ZERO

    def _together(self, order: Sequence[HeaderComponent], loops: Collection[str]) -> t.Term | None:
        """The iterations of loops, by header, in a call: those inside components, and those on the way between them."""

        def chosen(transition: LinearTransition) -> bool:
            return self.cutpoints.back.get(transition.path.id) in loops

        inside: list[t.Term] = []
        between: dict[int, int] = {}
        for component in order:
            often = component.often([step for step in component.transitions if chosen(step)])
            if often is None or not often.variables <= self.cutpoints.inputs:
                return None
            inside.append(often)
            iterations = [between.get(id(before), 0) + chosen(step) for before, step in component.entering]
            between[id(component)] = max(iterations, default=0)
        return t.add(*inside, t.const(max(between.values(), default=0)))

    def _in_order(self) -> Iterator[frozenset[str]]:
        """The components but for the entry's, each after those that lead to it."""
        following: dict[str, list[str]] = {}
        for transition in self.system.transitions:
            following.setdefault(self.graph.source_of(transition), []).append(self.graph.target_of(transition))
        reached = sorted(reachable(following.get(ENTRY, ()), lambda header: following.get(header, ())))
        among = predecessors({header: following.get(header, []) for header in reached})
        yield from map(frozenset, components(among))


def _run(question: BoundQuestion, tried: Tried[FunctionBounds]) -> FunctionBounds:
    found = call_bounds(question.graph)
    if isinstance(found, Refused):
        raise NoAnswer(found)
    assert tried.answer is not None
    loops = {header: bound.by(METHOD.name) for header, bound in found.loops.items()}
    whole = found.whole.by(METHOD.name) if found.whole is not None else None
    return replace(tried.answer, in_call=CallBounds(loops, whole))


METHOD: Final[Method[BoundQuestion, FunctionBounds]] = Method(
    "ranking of components",
    "Alias et al. (SAS 2010); Brockschmidt, Emmes, Falke, Fuhs, Giesl, TOPLAS 2016",
    _run,
    lambda question, tried: tried.answer is not None and bool(question.graph.loops) and not question.is_counted(),
)
"""The function as a whole, by strongly connected components of its headers; not where its count is known."""
