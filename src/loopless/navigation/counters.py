"""What must hold of how often each way through each loop is taken, if a run gets to the goal.

The constraint systems of Obdržálek and Trtík (Efficient loop navigation for symbolic execution, ATVA 2011, section
3.2), of a whole run at once: values are sums over counters, their merges and resets; and beyond the paper a counter for
each transition and finite state, as flows; the last and the first iteration of a loop exactly; the state in front of
the last and the first time that each way is taken; bounds on sums of data; numbers of iterations of inner loops. All
of it is necessary: without a solution there is no such run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from loopless import terms as t
from loopless.graphs import reachable
from loopless.limits.navigation import CHECK_MS, MAX_CONSTRAINTS, MAX_CUTS, MAX_DETAILED_EDGES
from loopless.logic.incremental import Conjunction
from loopless.logic.solver import SmtAnswer
from loopless.logic.steps import INPUT, successors
from loopless.navigation.changes import EdgeChange, changes_of, moved_by, set_from
from loopless.navigation.product import Product
from loopless.navigation.totals import inner_totals
from loopless.navigation.trips import constant_trips
from loopless.records import dataclass
from loopless.terms.relation import GuardedUpdate, over
from loopless.transition.algebra import named_at, rewritten
from loopless.transition.relation import START, Step, TransitionSystem

COUNT: Final = t.IntType(None)


_FOLLOW: Final = frozenset((("crossing", "first"), ("crossing", "crossing"), ("last", "crossing")))
"""Which steps come directly one behind the other."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A solution: how often each step is taken, by its number, and what the variables hold where the run begins and
    what comes from outside on ways that are taken at most once.
    """

    counts: Mapping[int, int]
    values: Mapping[t.Var, int]


class CounterSystem:
    """The constraints of one product. ``scalars``: symbols for values that are not known at the beginning, with the
    variables and inputs that hold them. ``trips``: whether it is asked how often inner loops go round as a whole.
    """

    def __init__(self, product: Product, system: TransitionSystem, *, trips: bool = True) -> None:
        self.product, self.system, self.trips = product, system, trips
        self.parts: list[t.Condition] = []
        self._fresh = 0
        self._read: list[tuple[str, t.IntType, t.Term, t.Term, str, tuple[int, int]]] = []
        self.scalars: dict[t.Var, t.Var] = {}
        self._solver: Conjunction | None = None
        assert product.goal is not None
        self.count = {number: t.Var(f"#{number}", COUNT) for number in range(len(product.steps))}
        self.at_exit: dict[tuple[int, t.Var], t.Term] = {}
        for component in product.members:
            self._component(component)
        for number in product.between:
            self._crossing(number)

    # -- building blocks ----------------------------------------------------------------------------------------------

    def _new(self, name: str, type: t.IntType = COUNT) -> t.Var:
        self._fresh += 1
        return t.Var(f"!{self._fresh} {name}", type)  # the number first: `i1` with 6 is not `i` with 16

    def _say(self, condition: t.Condition) -> None:
        if condition is not t.TRUE:
            self.parts.append(condition)

    def _if(self, given: t.Condition, then: Iterable[t.Condition]) -> None:
        """Where ``given`` holds, so do the others."""
        refused = ~given
        for condition in then:
            if condition is not t.TRUE:
                self.parts.append(refused | condition)

    def _variables(self, component: int) -> list[t.Var]:
        """The variables that matter in a component beside those whose values its nodes have."""
        nodes = [self.product.nodes[name] for name in self.product.members[component]]
        found = dict.fromkeys(var for node in nodes for var in self.system.state.get(node.label, ()))
        return [var for var in found if not all(var in node.fixed for node in nodes)]

    def _is_start(self, node: str) -> bool:
        return node == self.product.begin and self.product.nodes[node].label == START

    def _begins(self, var: t.Var, symbol: t.Var) -> t.Var:
        """The symbol for what a variable holds where the run begins, or what an input is there."""
        self.scalars[symbol] = var
        return symbol

    def _entered(self, component: int, var: t.Var) -> t.Term:
        if component == self.product.component[self.product.begin]:
            return self._begins(var, var)
        return t.Var(f"{var.name}@{component}", var.type)

    def _onto(self, number: int, values: Mapping[t.Var, t.Term], time: str = "") -> GuardedUpdate:
        """A step over these values; what it takes from outside and reads is any value of its type. ``time``: which time
        it is that the step is taken, whose reads are those of its neighbours at the same place.
        """
        step, given = self.product.steps[number], self._given(number, values)
        reads: dict[t.Term, t.Term] = {}
        for part in t.conjuncts(step.condition):
            self._abstract(part, reads)
        if time:
            self._remember(step, time, reads, given)
        for term in step.update.values():
            self._abstract(term, reads)
        return over(rewritten(step, reads), given)

    def _given(self, number: int, values: Mapping[t.Var, t.Term]) -> dict[t.Var, t.Term]:
        """What stands for all that a step depends on, where variables have these values."""
        step = self.product.steps[number]
        used = step.condition.variables.union(*(term.variables for term in step.update.values()))
        given: dict[t.Var, t.Term] = {}
        for var in sorted(used, key=lambda one: one.key):
            if var in values:
                given[var] = values[var]
            elif self._is_start(step.source):
                given[var] = self._begins(var, named_at(var, number) if var.name.startswith(INPUT) else var)
            else:
                given[var] = self._new(var.name, var.type)
        return given

    def _remember(self, step: Step, time: str, reads: Mapping[t.Term, t.Term], given: Mapping[t.Var, t.Term]) -> None:
        """Let what is read be what a step next to this one reads at the same place."""
        ends = (self.product.component[step.source], self.product.component[step.target])
        for node, name in reads.items():
            if not isinstance(node, t.Read) or any(isinstance(part, t.Read) for part in t.walk(node.offset)):
                continue
            offset = t.substitute(node.offset, given)
            for array, type_, other, value, kind, (begin, end) in self._read:
                before = end == ends[0] and (kind, time) in _FOLLOW
                behind = ends[1] == begin and (time, kind) in _FOLLOW
                if (
                    (before or behind)
                    and array == node.array
                    and type_ == node.type
                    and len(self.parts) < MAX_CONSTRAINTS
                ):
                    self._say(offset.ne(other) | name.eq(value))
            self._read.append((node.array, node.type, offset, name, time, ends))

    def _abstract(self, node: t.Condition | t.Term, reads: dict[t.Term, t.Term]) -> None:
        for part in t.walk(node):
            if isinstance(part, t.Read | t.Aggregate) and part not in reads:
                low, high = t.range_of(part)
                name = self._new("read", part.type if isinstance(part, t.Read) else COUNT)
                reads[part] = name
                if isinstance(part, t.Aggregate):
                    self._say(t.TRUE if low is None else name.ge(low))
                    self._say(t.TRUE if high is None else name.le(high))

    def _held(self, node: str, var: t.Var, values: Mapping[t.Var, t.Term]) -> t.Term | None:
        return self.product.held(node, var) or values.get(var)

    # -- one component ------------------------------------------------------------------------------------------------

    def _sum(self, numbers: Iterable[int], *more: t.Term) -> t.Term:
        """How often these steps are taken, and ``more``."""
        return t.add(t.ZERO, *more, *(self.count[number] for number in numbers))

    def _arriving(self, node: str) -> t.Term:
        """How often a run comes into the component by this node: 0 or 1."""
        into = (number for number, step in self.product.between.items() if step.target == node)
        return self._sum(into, *((t.ONE,) if node == self.product.begin else ()))

    def _leaving(self, node: str) -> t.Term:
        out = (number for number, step in self.product.between.items() if step.source == node)
        return self._sum(out, *((t.ONE,) if node == self.product.goal else ()))

    def _component(self, component: int) -> None:
        variables = self._variables(component)
        entry = {var: self._entered(component, var) for var in variables}
        inside = self.product.inside.get(component, {})
        members = self.product.members[component]
        came = t.add(t.ZERO, *(self._arriving(node) for node in members))
        self._say(came.le(1))
        if not inside:
            for node in members:
                self._say(self._arriving(node).eq(self._leaving(node)))
            self.at_exit |= {(component, var): term for var, term in entry.items()}
            return
        last = {number: self._new("last") for number in inside}
        first = {number: self._new("first") for number in inside}
        for node in members:
            into = self._sum((n for n, step in inside.items() if step.target == node), self._arriving(node))
            out = self._sum((n for n, step in inside.items() if step.source == node), self._leaving(node))
            self._say(into.eq(out))
        for number in inside:
            count = self.count[number]
            for flag in (last[number], first[number]):
                self._say(t.between(0, flag, 1))
                self._say(flag.le(count))
            self._if(count.ge(1), [came.eq(1)])
        steps = self._sum(inside).ge(1)
        for flags in (last, first):
            self._say(~steps | t.add(*flags.values()).eq(1))
            self._say(steps | t.add(*flags.values()).eq(0))
        exit_ = {var: t.Var(f"{var.name}@{component}out", var.type) for var in variables}
        middle = {var: t.Var(f"{var.name}@{component}mid", var.type) for var in variables}
        self.at_exit |= {(component, var): term for var, term in exit_.items()}
        changes = changes_of(self.product, self.system, inside, variables)
        constant = [var for var in variables if all(change == EdgeChange() for change in changes[var].values())]
        for var in constant:
            self._say(exit_[var].eq(entry[var]))
            self._say(middle[var].eq(entry[var]))
        self._if(~steps, [exit_[var].eq(entry[var]) for var in variables if var not in constant])
        for number in inside:
            self._last(number, last[number], middle, exit_)
            self._first(number, first[number], entry)
        before = {number: self.count[number] - last[number] for number in inside}
        self._sums(inside, variables, changes, entry, middle, before)
        if len(inside) <= MAX_DETAILED_EDGES:
            for number in inside:
                self._around(number, inside, variables, changes, entry)
        if self.trips:
            self._trips(component, entry)
        for condition in inner_totals(
            self.product, component, self.count, lambda var: self._held(self.product.begin, var, entry)
        ):
            self._say(condition)

    def _last(self, number: int, flag: t.Term, before: Mapping[t.Var, t.Term], after: Mapping[t.Var, t.Term]) -> None:
        """The step as the last one in its component, if ``flag`` is 1: with what it demands and does."""
        step, given = self.product.steps[number], flag.eq(1)
        placed = self._onto(number, before, "last")
        self._if(given, [self._leaving(step.target).eq(1), *t.conjuncts(placed.condition)])
        self._arrives(given, step, placed, before, after)

    def _first(self, number: int, flag: t.Term, before: Mapping[t.Var, t.Term]) -> None:
        """The step as the first one in its component, if ``flag`` is 1."""
        placed = self._onto(number, before, "first")
        place = self._arriving(self.product.steps[number].source)
        self._if(flag.eq(1), [place.eq(1), *t.conjuncts(placed.condition)])

    def _arrives(
        self,
        given: t.Condition,
        step: Step,
        placed: GuardedUpdate,
        before: Mapping[t.Var, t.Term],
        after: Mapping[t.Var, t.Term],
    ) -> None:
        """Where ``given`` holds, variables have the values ``after`` behind a step that is ``placed`` over those
        ``before``.
        """
        held = self.system.state.get(self.product.nodes[step.target].label, ())
        for var, term in after.items():
            value = self.product.held(step.target, var)
            if value is None and var in held:
                value = placed.update.get(var) or self._held(step.source, var, before)
                if value is None and self._is_start(step.source):
                    value = self._begins(var, var)
            if value is not None:
                self._if(given, [term.eq(value)])

    def _sums(
        self,
        inside: Mapping[int, Step],
        variables: list[t.Var],
        changes: Mapping[t.Var, Mapping[int, EdgeChange]],
        entry: Mapping[t.Var, t.Term],
        middle: Mapping[t.Var, t.Term],
        often: Mapping[int, t.Term],
    ) -> None:
        """What the variables hold once the steps were taken so ``often``."""
        for var in variables:
            by = changes[var]
            setting = [number for number in inside if by[number].sets]
            adding = [number for number in inside if not by[number].sets]
            kept = moved_by(entry[var], middle[var], [(by[n], often[n]) for n in adding])
            if not setting:
                self._say(kept)
                continue
            never = t.conjunction(often[n].eq(0) for n in setting)
            choices = [never & kept]
            since = {number: self._new("since") for number in adding}
            for number, count in since.items():
                self._say(count.ge(0) & count.le(often[number]))
            since_then = [(by[number], count) for number, count in since.items()]
            for number in setting:
                value = by[number].reset
                taken = often[number].ge(1)
                if value is not None:
                    value = t.substitute(value, {v: entry[v] for v in value.variables if v in entry})
                    choices.append(taken & moved_by(value, middle[var], since_then))
                    continue
                held = None
                if len(inside) <= MAX_DETAILED_EDGES:
                    held = set_from((number, inside[number]), var, changes, entry, often, since, self._new)
                if held is not None:
                    taken = t.conjunction((taken, *held[1], moved_by(held[0], middle[var], since_then)))
                choices.append(taken)
            self._say(t.disjunction(choices))

    def _around(
        self,
        number: int,
        inside: Mapping[int, Step],
        variables: list[t.Var],
        changes: Mapping[t.Var, Mapping[int, EdgeChange]],
        entry: Mapping[t.Var, t.Term],
    ) -> None:
        """The states in which the step is taken for the last time, and for the first time."""
        step = inside[number]
        if step.condition.variables.isdisjoint(variables):
            return
        taken = self.count[number].ge(1)
        for is_last in (True, False):
            often: dict[int, t.Term] = {}
            for other in inside:
                if other == number:
                    often[other] = self.count[other] - 1 if is_last else t.ZERO
                    continue
                before = often[other] = self._new("before")
                self._if(taken, [before.ge(0), before.le(self.count[other])])
            for node in self.product.members[self.product.component[step.source]]:  # what comes before is a run, too
                into = [often[n] for n, other in inside.items() if other.target == node]
                out = [often[n] for n, other in inside.items() if other.source == node]
                ends = t.const(1 if node == step.source else 0)
                self._if(taken, [t.add(self._arriving(node), *into).eq(t.add(ends, *out))])
            here = {var: self._new(var.name, var.type) for var in variables}
            self._if(taken, t.conjuncts(self._onto(number, here).condition))
            for var in variables:
                by = changes[var]
                if not any(by[other].sets for other in inside):
                    moved = [(by[other], often[other]) for other in inside]
                    self._if(taken, [moved_by(entry[var], here[var], moved)])

    def _trips(self, component: int, entry: Mapping[t.Var, t.Term]) -> None:
        """Inner loops that are gone round equally often each time that they are entered; where the run begins inside of
        one, the first round goes on from what the counter holds then.
        """
        for trips in constant_trips(self.product, component):
            each, rounds = t.const(trips.count), trips.rounds
            went, out, came = self._sum(rounds.back), self._sum(rounds.leaving), self._sum(rounds.entering)
            if self.product.begin not in rounds.at:
                self._say(went.le(each * came))
                self._say(went.ge(each * out))
                continue
            begins = self._held(self.product.begin, trips.counter, entry)
            if begins is None or abs(trips.step) != 1:
                continue
            last = trips.start + trips.step * trips.count
            low, high = sorted((trips.start, last))
            first = trips.step * (last - begins)  # rounds that are left of the first entry
            inside = t.between(low, begins, high)
            self._if(inside, [went.le(each * came + first)])
            often = inside & out.ge(1)
            self._if(often, [went.ge(each * (out - 1) + first)])

    # -- between components -------------------------------------------------------------------------------------------

    def _crossing(self, number: int) -> None:
        """A step that a run takes at most once."""
        step, count = self.product.steps[number], self.count[number]
        self._say(count.ge(0) & count.le(1))
        source, target = self.product.component[step.source], self.product.component[step.target]
        before = {var: term for (component, var), term in self.at_exit.items() if component == source}
        placed = self._onto(number, before, "crossing")
        given = count.eq(1)
        self._if(given, t.conjuncts(placed.condition))
        after = {var: self._entered(target, var) for var in self._variables(target)}
        self._arrives(given, step, placed, before, after)

    @property
    def length(self) -> t.Term:
        """How many transitions the run takes in all."""
        return t.add(t.const(0), *self.count.values())

    # -- answers ------------------------------------------------------------------------------------------------------

    def solve(self, also: Iterable[t.Condition] = (), timeout_ms: int = CHECK_MS) -> Plan | SmtAnswer:
        """A plan in one piece; NO where there is none, UNKNOWN where the solver, or the limit of cuts, gave up. A
        product in which runs may be missing refutes nothing.
        """
        none = SmtAnswer.UNKNOWN if self.product.cut else SmtAnswer.NO
        if t.FALSE in self.parts:
            return none
        if self._solver is None:
            self._solver = Conjunction()
            self._solver.add(self.parts)
        also = list(also)
        for _ in range(MAX_CUTS):
            answer, model = self._solver.check(also, timeout_ms)
            if answer is not SmtAnswer.YES:
                return none if answer is SmtAnswer.NO else answer
            counts = {number: model.get(var, 0) for number, var in self.count.items()}
            cuts = self._cuts(counts)
            if not cuts:
                values = {var: model[var] for var in self.scalars if var in model}
                return Plan({number: count for number, count in counts.items() if count}, values)
            self._solver.add(cuts)
        return SmtAnswer.UNKNOWN

    def _cuts(self, counts: Mapping[int, int]) -> list[t.Condition]:
        """For ways that nothing leads to: they are taken only if something does."""
        steps = self.product.steps
        onward = successors(steps[number] for number, count in counts.items() if count)
        reached = set(reachable((self.product.begin,), lambda at: onward.get(at, ())))
        lost = next((source for source in onward if source not in reached), None)
        if lost is None:
            return []
        island = set(reachable((lost,), lambda at: onward.get(at, ()))) - reached
        into = [number for number, one in enumerate(steps) if one.target in island and one.source not in island]
        some = self._sum(into).ge(1) if into else t.FALSE
        here = [n for n, count in counts.items() if count and {steps[n].source, steps[n].target} <= island]
        return [self.count[number].le(0) | some for number in here]
