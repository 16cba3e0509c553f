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
from loopless.navigation.changes import EdgeChange, changes_of, moved_by, set_from
from loopless.navigation.product import Product, ProductEdge
from loopless.navigation.totals import inner_totals
from loopless.navigation.trips import constant_trips
from loopless.records import dataclass
from loopless.transition.relation import TransitionSystem

COUNT: Final = t.IntType(None)


_FOLLOW: Final = frozenset((("crossing", "first"), ("crossing", "crossing"), ("last", "crossing")))
"""Which steps come directly one behind the other."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A solution: how often each edge is taken, by its number, and what the variables hold where the run begins and
    what comes from outside on ways that are taken at most once.
    """

    counts: Mapping[int, int]
    values: Mapping[t.Var, int]


class CounterSystem:
    """The constraints of one product. ``scalars``: the variables whose values at the beginning are not known.
    ``trips``: whether it is asked how often inner loops go round as a whole.
    """

    def __init__(self, product: Product, system: TransitionSystem, *, trips: bool = True) -> None:
        self.product, self.system, self.trips = product, system, trips
        self.parts: list[t.Condition] = []
        self._fresh = 0
        self._read: list[tuple[str, t.IntType, t.Term, t.Term, str, tuple[int, int]]] = []
        self.count: dict[int, t.Var] = {}
        self.scalars: dict[t.Var, None] = {}
        self._solver: Conjunction | None = None
        assert product.goal is not None
        self.members: dict[int, list[int]] = {}
        for node, component in enumerate(product.component):
            self.members.setdefault(component, []).append(node)
        self.inside: dict[int, list[ProductEdge]] = {}
        self.between: list[ProductEdge] = []
        for edge in product.edges:
            if product.component[edge.source] == product.component[edge.target]:
                self.inside.setdefault(product.component[edge.source], []).append(edge)
            else:
                self.between.append(edge)
        for edge in product.edges:
            self.count[edge.number] = t.Var(f"#{edge.number}", COUNT)
        self.at_exit: dict[tuple[int, t.Var], t.Term] = {}
        for component in self.members:
            self._component(component)
        for edge in self.between:
            self._crossing(edge)

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
        found: dict[t.Var, None] = {}
        for node in self.members[component]:
            here = self.product.nodes[node]
            for var in self.system.state.get(here.label, ()):
                found[var] = None
        fixed = [self.product.nodes[node].fixed for node in self.members[component]]
        return [var for var in found if not all(var in values for values in fixed)]

    def _entered(self, component: int, var: t.Var) -> t.Term:
        if self.product.component[0] == component:
            self.scalars[var] = None
            return var
        return t.Var(f"{var.name}@{component}", var.type)

    def _onto(
        self, edge: ProductEdge, values: Mapping[t.Var, t.Term], step: str = ""
    ) -> tuple[list[t.Condition], dict[t.Var, t.Term]]:
        """What holds if an edge is taken with these values, and what it makes of them; what it takes from outside and
        reads is any value of its type. ``step``: which step of the run it is, whose reads are those of
        its neighbours at the same place.
        """
        node = self.product.nodes[edge.source]
        used = edge.condition.variables.union(*(term.variables for term in edge.update.values()))
        given: dict[t.Var, t.Term] = {}
        for var in used:
            if var in values:
                given[var] = values[var]
            elif var in node.fixed:
                given[var] = t.const(node.fixed[var])
            elif edge.source == 0 and self.product.component.count(self.product.component[0]) == 1 and node.label == "":
                if not var.name.startswith("?"):
                    self.scalars[var] = None  # what it holds where the run begins
                    given[var] = var
                else:
                    outside = t.Var(f"{var.name}~{edge.number}", var.type)
                    given[var] = outside
                    self.scalars[outside] = None
            else:
                given[var] = self._new(var.name, var.type)
        reads: dict[t.Term, t.Term] = {}
        for part in t.conjuncts(edge.condition):
            self._abstract(part, reads)
        if step:
            self._remember(edge, step, reads, given)
        for term in edge.update.values():
            self._abstract(term, reads)
        condition = [
            t.substitute(t.replace_terms(part, reads) if reads else part, given) for part in t.conjuncts(edge.condition)
        ]
        update = {
            var: t.substitute(t.replace_terms(term, reads) if reads else term, given)
            for var, term in edge.update.items()
        }
        return condition, update

    def _remember(
        self, edge: ProductEdge, step: str, reads: Mapping[t.Term, t.Term], given: Mapping[t.Var, t.Term]
    ) -> None:
        """Let what is read be what a step next to this one reads at the same place."""
        ends = (self.product.component[edge.source], self.product.component[edge.target])
        for node, name in reads.items():
            if not isinstance(node, t.Read) or any(isinstance(part, t.Read) for part in t.walk(node.offset)):
                continue
            offset = t.substitute(node.offset, given)
            for array, type_, other, value, kind, (begin, end) in self._read:
                before = end == ends[0] and (kind, step) in _FOLLOW
                behind = ends[1] == begin and (step, kind) in _FOLLOW
                if (
                    (before or behind)
                    and array == node.array
                    and type_ == node.type
                    and len(self.parts) < MAX_CONSTRAINTS
                ):
                    self._say(offset.ne(other) | name.eq(value))
            self._read.append((node.array, node.type, offset, name, step, ends))

    def _abstract(self, node: t.Condition | t.Term, reads: dict[t.Term, t.Term]) -> None:
        for part in t.walk(node):
            if isinstance(part, t.Read | t.Aggregate) and part not in reads:
                low, high = t.range_of(part)
                name = self._new("read", part.type if isinstance(part, t.Read) else COUNT)
                reads[part] = name
                if isinstance(part, t.Aggregate):
                    self._say(t.TRUE if low is None else name.ge(low))
                    self._say(t.TRUE if high is None else name.le(high))

    def _held(self, node: int, var: t.Var, values: Mapping[t.Var, t.Term]) -> t.Term | None:
        fixed = self.product.nodes[node].fixed
        return t.const(fixed[var]) if var in fixed else values.get(var)

    # -- one component ------------------------------------------------------------------------------------------------

    def _arriving(self, node: int) -> t.Term:
        """How often a run comes into the component by this node: 0 or 1."""
        here = self.product.component[node]
        edges = [e for e in self.between if e.target == node]
        first = [t.const(1)] if node == 0 and self.product.component[0] == here else []
        return t.add(*first, *(self.count[e.number] for e in edges)) if edges or first else t.const(0)

    def _leaving(self, node: int) -> t.Term:
        edges = [self.count[e.number] for e in self.between if e.source == node]
        last = [t.const(1)] if node == self.product.goal else []
        return t.add(*edges, *last) if edges or last else t.const(0)

    def _component(self, component: int) -> None:
        variables = self._variables(component)
        entry = {var: self._entered(component, var) for var in variables}
        inside = self.inside.get(component, [])
        members = self.members[component]
        came = t.add(t.const(0), *(self._arriving(node) for node in members))
        self._say(came.le(1))
        if not inside:
            for node in members:
                self._say(self._arriving(node).eq(self._leaving(node)))
            self.at_exit |= {(component, var): term for var, term in entry.items()}
            return
        counts = {edge.number: self.count[edge.number] for edge in inside}
        last = {edge.number: self._new("last") for edge in inside}
        first = {edge.number: self._new("first") for edge in inside}
        for node in members:
            into = [counts[e.number] for e in inside if e.target == node]
            out = [counts[e.number] for e in inside if e.source == node]
            self._say(t.add(self._arriving(node), *into).eq(t.add(self._leaving(node), *out)))
        for edge in inside:
            count = counts[edge.number]
            for flag in (last[edge.number], first[edge.number]):
                self._say(t.between(0, flag, 1))
                self._say(flag.le(count))
            self._if(count.ge(1), [came.eq(1)])
        total = t.add(*counts.values())
        steps = total.ge(1)
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
        for edge in inside:
            self._step(edge, last[edge.number], middle, exit_, at=edge.target, leaving=True)
            self._step(edge, first[edge.number], entry, None, at=edge.source, leaving=False)
        before = {edge.number: counts[edge.number] - last[edge.number] for edge in inside}
        self._sums(inside, variables, changes, entry, middle, before)
        if len(inside) <= MAX_DETAILED_EDGES:
            for edge in inside:
                self._around(component, edge, inside, variables, changes, entry, counts)
        if self.trips:
            self._trips(component, inside, entry)
        for condition in inner_totals(
            self.product, component, inside, self.count, lambda var: self._held(0, var, entry)
        ):
            self._say(condition)

    def _step(
        self,
        edge: ProductEdge,
        flag: t.Term,
        before: Mapping[t.Var, t.Term],
        after: Mapping[t.Var, t.Term] | None,
        *,
        at: int,
        leaving: bool,
    ) -> None:
        """One time that the edge is taken, with what it demands and does, if ``flag`` is 1."""
        given = flag.eq(1)
        condition, update = self._onto(edge, before, "last" if leaving else "first")
        place = self._leaving(at) if leaving else self._arriving(at)
        self._if(given, [place.eq(1), *condition])
        if after is None:
            return
        target = self.product.nodes[edge.target].fixed
        held = self.system.state.get(self.product.nodes[edge.target].label, ())
        for var, term in after.items():
            if var in target:
                self._if(given, [term.eq(target[var])])
            elif var in held:
                value = update.get(var, self._held(edge.source, var, before))
                if value is not None:
                    self._if(given, [term.eq(value)])

    def _sums(
        self,
        inside: list[ProductEdge],
        variables: list[t.Var],
        changes: Mapping[t.Var, Mapping[int, EdgeChange]],
        entry: Mapping[t.Var, t.Term],
        middle: Mapping[t.Var, t.Term],
        often: Mapping[int, t.Term],
    ) -> None:
        """What the variables hold once the edges were taken so ``often``."""
        for var in variables:
            by = changes[var]
            setting = [edge for edge in inside if by[edge.number].sets]
            adding = [edge for edge in inside if not by[edge.number].sets]
            kept = moved_by(entry[var], middle[var], [(by[e.number], often[e.number]) for e in adding])
            if not setting:
                self._say(kept)
                continue
            never = t.conjunction(often[e.number].eq(0) for e in setting)
            choices = [never & kept]
            since = {e.number: self._new("since") for e in adding}
            for e in adding:
                count = since[e.number]
                self._say(count.ge(0) & count.le(often[e.number]))
            for edge in setting:
                value = by[edge.number].reset
                taken = often[edge.number].ge(1)
                if value is None:
                    since_then = [(by[e.number], since[e.number]) for e in adding]
                    held = None
                    if len(inside) <= MAX_DETAILED_EDGES:
                        held = set_from(edge, var, changes, entry, often, since, self._new)
                    choices.append(
                        taken
                        if held is None
                        else t.conjunction(
                            (
                                taken,
                                *held[1],
                                moved_by(held[0], middle[var], since_then),
                            )
                        )
                    )
                    continue
                value = t.substitute(value, {v: entry[v] for v in value.variables if v in entry})
                moved = moved_by(value, middle[var], [(by[e.number], since[e.number]) for e in adding])
                choices.append(taken & moved)
            self._say(t.disjunction(choices))

    def _around(  # noqa: PLR0917
        self,
        component: int,
        edge: ProductEdge,
        inside: list[ProductEdge],
        variables: list[t.Var],
        changes: Mapping[t.Var, Mapping[int, EdgeChange]],
        entry: Mapping[t.Var, t.Term],
        counts: Mapping[int, t.Term],
    ) -> None:
        """The states in which the edge is taken for the last time, and for the first time."""
        if all(part.variables.isdisjoint(variables) for part in t.conjuncts(edge.condition)):
            return
        taken = counts[edge.number].ge(1)
        for is_last in (True, False):
            often: dict[int, t.Term] = {}
            for other in inside:
                if other.number == edge.number:
                    often[other.number] = counts[other.number] - 1 if is_last else t.const(0)
                    continue
                before = often[other.number] = self._new("before")
                self._if(taken, [before.ge(0), before.le(counts[other.number])])
            for node in self.members[component]:  # what comes before is a run, too
                into = [often[other.number] for other in inside if other.target == node]
                out = [often[other.number] for other in inside if other.source == node]
                ends = t.const(1 if node == edge.source else 0)
                self._if(taken, [t.add(self._arriving(node), *into).eq(t.add(ends, *out))])
            here = {var: self._new(var.name, var.type) for var in variables}
            condition, _ = self._onto(edge, here)
            self._if(taken, condition)
            for var in variables:
                by = changes[var]
                if any(by[other.number].sets for other in inside):
                    continue
                moved = [(by[other.number], often[other.number]) for other in inside]
                self._if(taken, [moved_by(entry[var], here[var], moved)])

    def _trips(self, component: int, inside: list[ProductEdge], entry: Mapping[t.Var, t.Term]) -> None:
        """Inner loops that are gone round equally often each time that they are entered; where the run begins inside of
        one, the first round goes on from what the counter holds then.
        """
        for label, trips in constant_trips(self.product, component, inside).items():
            at = {node for node in self.members[component] if self.product.nodes[node].label == label}
            count, each = self.count, t.const(trips.count)
            went = t.add(t.const(0), *(count[e.number] for e in inside if e.source in at and e.target in at))
            entries = [count[e.number] for e in inside if e.target in at and e.source not in at]
            left = [count[e.number] for e in inside if e.source in at and e.target not in at]
            out = t.add(t.const(0), *left, *(self._leaving(node) for node in at))
            came = t.add(t.const(0), *entries, *(self._arriving(node) for node in at if node))
            if 0 not in at:
                self._say(went.le(each * came))
                self._say(went.ge(each * out))
                continue
            begins = self._held(0, trips.counter, entry)
            if begins is None or abs(trips.step) != 1:
                continue
            last = trips.start + trips.step * trips.count
            low, high = sorted((trips.start, last))
            first = trips.step * (last - begins)  # rounds that are left of the first entry
            inside_ = t.between(low, begins, high)
            self._if(inside_, [went.le(each * came + first)])
            often = inside_ & out.ge(1)
            self._if(often, [went.ge(each * (out - 1) + first)])

    # -- between components -------------------------------------------------------------------------------------------

    def _crossing(self, edge: ProductEdge) -> None:
        """An edge that a run takes at most once."""
        count = self.count[edge.number]
        self._say(count.ge(0) & count.le(1))
        source, target = self.product.component[edge.source], self.product.component[edge.target]
        before = {var: term for (component, var), term in self.at_exit.items() if component == source}
        condition, update = self._onto(edge, before, "crossing")
        given = count.eq(1)
        self._if(given, condition)
        node = self.product.nodes[edge.target]
        held = self.system.state.get(node.label, ())
        for var in self._variables(target):
            term = self._entered(target, var)
            if var in node.fixed:
                self._if(given, [term.eq(node.fixed[var])])
            elif var in held:
                value = update.get(var, self._held(edge.source, var, before))
                if value is None and self.product.nodes[edge.source].label == "" and edge.source == 0:
                    self.scalars[var] = None
                    value = var
                if value is not None:
                    self._if(given, [term.eq(value)])

    @property
    def length(self) -> t.Term:
        """How many transitions the run takes in all."""
        return t.add(t.const(0), *self.count.values())

    # -- answers ------------------------------------------------------------------------------------------------------

    def solve(self, also: Iterable[t.Condition] = (), timeout_ms: int = CHECK_MS) -> Plan | SmtAnswer:
        """A plan in one piece; NO where there is none, UNKNOWN where the solver, or the limit of cuts, gave up. A
        product that does not have all edges refutes nothing.
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
        taken = [edge for edge in self.product.edges if counts[edge.number]]
        onward: dict[int, list[int]] = {}
        for edge in taken:
            onward.setdefault(edge.source, []).append(edge.target)
        reached = set(reachable((0,), lambda at: onward.get(at, ())))
        lost = [edge for edge in taken if edge.source not in reached]
        if not lost:
            return []
        island = set(reachable((lost[0].source,), lambda at: onward.get(at, ()))) - reached
        into = [self.count[e.number] for e in self.product.edges if e.target in island and e.source not in island]
        some = t.add(t.const(0), *into).ge(1) if into else t.FALSE
        here = [edge for edge in lost if edge.source in island and edge.target in island]
        return [self.count[edge.number].le(0) | some for edge in here]
