"""Guided symbolic execution: a plan of the counters is followed way by way, and where the run departs from it another
one is made from there (Obdržálek and Trtík: Efficient loop navigation for symbolic execution, ATVA 2011, section 3.3).

What a path reads are symbols, each time that a loop goes the same way again is one step where the way demands the same
of each element, and what has been tried in vain is gone back from. A search that has tried everything, has fixed
nothing and has met nothing that it does not follow proves that there is no way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from loopless import clock
from loopless import terms as t
from loopless.graphs import predecessors, reachable
from loopless.limits.navigation import LARGE_PRODUCT, MAX_BACKTRACKS, MAX_LOOKAHEAD, MAX_SYSTEMS, SHORTEST_RUN
from loopless.logic.solver import SmtAnswer
from loopless.logic.steps import INPUT, outgoing, successors
from loopless.navigation.counters import CounterSystem, Plan
from loopless.navigation.memory import PathMemory
from loopless.navigation.product import Product, few_valued, product_of
from loopless.navigation.routes import Route, RouteStep, Searched
from loopless.navigation.steps import Steps
from loopless.navigation.store import ElementRange, Mark, PathDemands, size_of, small_model
from loopless.records import dataclass
from loopless.terms.relation import added
from loopless.transition.relation import START, VIOLATION, Step, TransitionSystem


@dataclass(slots=True)
class _Course:
    """A plan that is followed: what is left of it, and where it is."""

    product: Product
    left: dict[int, int]
    node: str

    def copied(self) -> _Course:
        return _Course(self.product, dict(self.left), self.node)


@dataclass(slots=True)
class _Point:
    """Where the search could go on otherwise."""

    label: str
    values: dict[t.Var, t.Term]
    course: _Course | None
    mark: tuple[Mark, int]
    steps: int
    others: Iterator[tuple[int, int | None]]


class Navigator:
    """One search. ``fixed``: what variables hold where the run begins, by choice; ``most``: how many transitions the
    first plan may have. ``trips`` as of :class:`CounterSystem`, ``begun`` as of :class:`PathMemory`.
    ``general``: the constraints of all runs, where they are made already: large ones are not made again for ``fixed``.
    """

    def __init__(
        self,
        system: TransitionSystem,
        fixed: Mapping[t.Var, int],
        deadline: float,
        *,
        most: int | None = None,
        trips: bool = True,
        begun: frozenset[str] = frozenset(),
        general: CounterSystem | None = None,
    ) -> None:
        self.system, self.fixed, self.deadline, self.most, self.trips = system, fixed, deadline, most, trips
        self._general = general
        self.done = Searched()
        self.store = PathDemands(self.system.graph.objects.values())
        self.memory = PathMemory(self.system.graph, self.store, begun, self._words(), self.fixed)
        self.steps = Steps(self.system, self.fixed, self.store, self.memory)
        self.onward = outgoing(self.system.transitions)
        self.path: list[RouteStep] = []
        self.complete = not self.fixed and most is None and all(one.kind.proves for one in self.system.transitions)
        self._finite: dict[tuple[str, frozenset[t.Var]], frozenset[t.Var]] = {}
        self._systems: dict[tuple[str, tuple[tuple[str, int], ...]], CounterSystem | Product] = {}
        back = predecessors(successors(self.system.transitions))
        self._towards = {START, *reachable((VIOLATION,), lambda at: back.get(at, ()))}

    def _words(self) -> tuple[t.Term, int] | None:
        """How many words ``main`` is given, and the object in which pointers to them lie."""
        graph = self.system.graph
        match graph.parameters if graph.source_name == "main" else ():
            case (count, words, *_) if count.var is not None and words.object is not None:
                fixed = self.fixed.get(count.var)
                return (count.var if fixed is None else t.const(fixed)), words.object
            case _:
                return None

    def run(self) -> Searched:
        """Search until a way is found, everything is tried, or the time is over."""
        begin: dict[t.Var, t.Term] = {var: t.const(value) for var, value in self.fixed.items()}
        self.begin = begin
        point = self._arrive(START, dict(begin), None)
        stack = [point] if point is not None else []
        went_back = 0
        while stack:
            if clock.counted() > self.deadline or went_back > MAX_BACKTRACKS:
                self.done.why = "the search met its limit"
                return self.done
            here = stack[-1]
            self.store.back(here.mark[0])
            self.memory.back(here.mark[1])
            del self.path[here.steps :]
            chosen = next(here.others, None)
            if chosen is None:
                stack.pop()
                went_back += 1
                continue
            following = self._take(here, *chosen)
            if following is None:
                continue
            label, values, course = following
            if label == VIOLATION:
                self._prefer()
                model = self.store.model()
                if model is None:
                    self.complete = False
                    continue
                cells, runs = dict(self.store.cells), tuple(self.store.runs)
                self.done.route = Route(
                    tuple(self.path), model, cells, runs, dict(begin), self.memory.led(), self.memory.aliases()
                )
                return self.done
            point = self._arrive(label, values, course)
            if point is not None:
                stack.append(point)
        self.done.exhausted = self.complete and self.steps.complete
        self.done.why = self.done.why or self.steps.why or "every way that the counters leave was tried"
        return self.done

    def _prefer(self) -> None:
        """Of the inputs that the path leaves open, such as can be given: pointers that are null or lead to an object,
        to its beginning where that can be, and an argc that counts the name of the program.
        """
        wanted = [part for condition in self.memory.given() for part in condition]
        words = self.memory.words
        if words is not None:
            wanted.append(words[0].ge(1))
        for condition in wanted:
            mark = self.store.mark()
            if condition is not t.TRUE and not self.store.demand([condition]):
                self.store.back(mark)

    # -- one step -----------------------------------------------------------------------------------------------------

    def _arrive(self, label: str, values: dict[t.Var, t.Term], course: _Course | None) -> _Point | None:
        """The place where a run is, with the ways to go on in their order; None where the counters say that none leads
        to the goal.
        """
        if course is None:
            course = self._planned(label, values)
            if course is None:
                return None
        mark = (self.store.mark(), self.memory.mark())
        return _Point(label, values, course, mark, len(self.path), self._ways(label, course, values))

    def _planned(self, label: str, values: Mapping[t.Var, t.Term]) -> _Course | None:
        """A plan from here on; None where there surely is none. Without an answer the product is all there is."""
        known = {var: term.value for var, term in values.items() if isinstance(term, t.Const)}
        if label != START:
            state = self.system.state.get(label, ())
            known = {var: value for var, value in known.items() if var in state}
        made, also = self._system(label, known)
        if isinstance(made, Product):
            return None if not made.cut else _Course(made, {}, made.begin)
        if self.done.systems >= MAX_SYSTEMS:
            self.complete = False
            self.done.why = "the search met its limit"
            return None
        self.done.systems += 1
        if self.most is not None and self.done.systems == 1:
            also = [*also, made.length.le(self.most)]
        found = made.solve(also)
        if found is SmtAnswer.NO:
            return None
        counts = dict(found.counts) if isinstance(found, Plan) else {}
        return _Course(made.product, counts, made.product.begin)

    def _system(self, label: str, known: Mapping[t.Var, int]) -> tuple[CounterSystem | Product, list[t.Condition]]:
        """The constraints of what is behind a place, and those that say what variables hold there; the product alone
        where no goal is in it. What was made for other values is used again where it does not depend on them.
        """
        if label == START and self._general is not None and len(self._general.product.steps) > LARGE_PRODUCT:
            begin = {var: symbol for symbol, var in self._general.scalars.items()}
            return self._general, [begin[v].eq(value) for v, value in known.items() if v in begin]
        names = (label, frozenset(known))
        if names not in self._finite:
            self._finite[names] = few_valued(self.system, label, known)
        finite = self._finite[names]
        key = (label, tuple(sorted((var.key, value) for var, value in known.items() if var in finite)))
        if key not in self._systems:
            product = product_of(self.system, label, {var: known[var] for var in known if var in finite})
            self._systems[key] = (
                product if product.goal is None else CounterSystem(product, self.system, trips=self.trips)
            )
        made = self._systems[key]
        if isinstance(made, Product):
            return made, []
        held = made.product.nodes[made.product.begin].fixed
        return made, [v.eq(value) for v, value in known.items() if v in made.scalars and v not in held]

    def _ways(self, label: str, course: _Course, values: Mapping[t.Var, t.Term]) -> Iterator[tuple[int, int | None]]:
        """The transitions to try, with their steps in the product, first those of the plan; ``None``: off the plan."""
        outgoing, origins = course.product.outgoing[course.node], course.product.origins
        planned = {number: step for number, step in outgoing.items() if course.left.get(number)}
        again = [number for number, step in planned.items() if step.target == step.source]
        inside = [number for number in planned if number not in again]
        tried: set[int] = set()
        moved = {var for number in again for var in planned[number].update}
        due = [number for number in inside if _is_due(planned[number], moved, values)]
        for number in (*due, *again, *(number for number in inside if number not in due)):
            if not self._strands(course, number):
                tried.add(origins[number])
                yield origins[number], number
        for number in self.onward.get(label, ()):
            if number not in tried and self.system.transitions[number].target in self._towards:
                yield number, None

    @staticmethod
    def _strands(course: _Course, number: int) -> bool:
        """Whether something of the plan could no longer be reached behind a step (Fleury's rule for Euler paths)."""
        component, step = course.product.component, course.product.steps[number]
        left = [course.product.steps[n] for n, count in course.left.items() if count > (n == number)]
        wanted = {one.source for one in left}
        if step.target == step.source or not wanted:
            return False
        here = component[step.source]
        if component[step.target] != here:
            return any(component[source] == here for source in wanted if source != step.source) or any(
                one.source == step.source and component[one.target] == here for one in left
            )
        onward = successors(left)
        reached = set(reachable((step.target,), lambda at: onward.get(at, ())))
        return not wanted <= reached

    def _take(
        self, here: _Point, origin: int, number: int | None
    ) -> tuple[str, dict[t.Var, t.Term], _Course | None] | None:
        """What comes of taking a transition, as this step of the plan; None where it cannot be taken."""
        transition = self.system.transitions[origin]
        course = here.course
        if not transition.kind.refutes:
            self.complete = False  # maybe no run takes it
            return None
        if number is not None and course is not None and not transition.accesses:
            step = course.product.steps[number]
            if step.source == step.target:
                times = self._until_due(course, step, here.values, course.left.get(number, 0))
                ran = self._repeat(transition, origin, here.values, times) if times >= SHORTEST_RUN else None
                if ran is not None:
                    values, count = ran
                    following = course.copied()
                    following.left[number] -= count
                    return transition.target, values, following
        self.done.steps += 1
        taken = self.steps.once(transition, here.values)
        if taken is None:
            return None
        stepped, inputs = taken
        self.path.append(RouteStep(origin, 1, inputs))
        if number is None or course is None:
            return transition.target, stepped, None
        following = course.copied()
        following.left[number] -= 1
        following.node = course.product.steps[number].target
        return transition.target, stepped, following

    @staticmethod
    def _until_due(course: _Course, step: Step, values: Mapping[t.Var, t.Term], most: int) -> int:
        """How often a way is taken until another one of the plan is due, that asks for one value of what it moves."""
        others = [
            other
            for number, other in course.product.outgoing[step.source].items()
            if other.target != other.source and course.left.get(number)
        ]
        moved = set(step.update)
        steps = {var: added(step, var) for var in step.update}
        waiting = [other for other in others if any(_asks_for_one(p, moved) for p in t.conjuncts(other.condition))]
        for count in range(1, min(most, MAX_LOOKAHEAD) if waiting else 0):
            at = {
                var: t.const(now.value + by.value * count)
                for var, by in steps.items()
                if isinstance(by, t.Const) and isinstance(now := values.get(var), t.Const)
            }
            if any(_is_due(other, moved, {**values, **at}) for other in waiting):
                return count
        return most

    # -- many steps at once -------------------------------------------------------------------------------------------

    def _repeat(
        self, transition: Step, number: int, values: Mapping[t.Var, t.Term], most: int
    ) -> tuple[dict[t.Var, t.Term], int] | None:
        """Take a way many times that demands the same of each element that it reads; None where that is not so."""
        steps: dict[t.Var, int] = {}
        for var in transition.update:
            by, now = added(transition, var), values.get(var)
            if not isinstance(by, t.Const) or not isinstance(now, t.Const):
                return None
            if by.value:
                steps[var] = by.value
        given = {var: term for var, term in values.items() if var not in steps}
        symbols: dict[t.Term, t.Read] = {}
        demanded: list[t.Condition] = []
        linear: list[t.Condition] = []
        for part in t.conjuncts(transition.condition):
            placed = t.substitute(part, given)
            reads = [node for node in t.walk(placed) if isinstance(node, t.Read)]
            takes = any(var.name.startswith(INPUT) for var in placed.variables)
            if not reads and not takes:
                if placed is t.FALSE or not placed.variables <= steps.keys():
                    return None
                if placed.variables and not (isinstance(placed, t.Compare) and placed.relation == "le"):
                    return None
                linear.append(placed)
                continue
            cells: dict[t.Term, t.Term] = {}
            for node in reads:
                cells[node] = t.Var(f"{node.array}@{node.offset.key}", node.type)
                symbols[cells[node]] = node
            placed = t.replace_terms(placed, cells)
            if any(var in steps for var in placed.variables):
                return None
            demanded.append(placed)
        count = self._how_often(linear, steps, values, most)
        if count < SHORTEST_RUN:
            return None
        runs = self._runs(symbols, steps, values, count)
        if runs is None:
            return None
        model = small_model(t.conjunction(demanded)) if demanded else {}
        if model is None:
            return None
        self.complete = False  # of all that the elements could hold one value was chosen
        self.done.steps += 1
        for symbol, (array, start, stride, type_) in runs.items():
            assert isinstance(symbol, t.Var)
            value = model.get(symbol, 0)
            self.store.runs.append(ElementRange(array, start, stride, count, type_, value))
        inputs = {one: t.const(model.get(one.var, 0)) for one in transition.taken}
        new = {var: term for var, term in values.items() if var in self.system.state.get(transition.target, ())}
        for var, step in steps.items():
            before = values[var]
            assert isinstance(before, t.Const)
            new[var] = t.const(before.value + step * count)
        self.path.append(RouteStep(number, count, inputs))
        return new, count

    @staticmethod
    def _how_often(
        linear: list[t.Condition], steps: Mapping[t.Var, int], values: Mapping[t.Var, t.Term], most: int
    ) -> int:
        """How many times in a row, at most ``most``, inequalities hold that are so at the first and the last time."""
        first = {var: values[var] for var in steps}

        def holds_at(time_: int) -> bool:
            at = {
                var: t.const(term.value + steps[var] * time_)
                for var, term in first.items()
                if isinstance(term, t.Const)
            }
            return all(t.substitute(part, at) is t.TRUE for part in linear)

        if not holds_at(0):
            return 0
        low, high = 0, most - 1
        while low < high:
            middle = (low + high + 1) // 2
            if holds_at(middle):
                low = middle
            else:
                high = middle - 1
        return low + 1

    def _runs(
        self, symbols: Mapping[t.Term, t.Read], steps: Mapping[t.Var, int], values: Mapping[t.Var, t.Term], count: int
    ) -> dict[t.Term, tuple[str, int, int, t.IntType]] | None:
        """Where the elements lie that are read in so many steps; None where they are not all new ones."""
        found: dict[t.Term, tuple[str, int, int, t.IntType]] = {}
        spans: list[tuple[str, int, int]] = []
        for symbol, node in symbols.items():
            at = [
                t.substitute(
                    node.offset,
                    {
                        v: t.const(term.value + steps[v] * k)
                        for v, term in values.items()
                        if isinstance(term, t.Const) and v in steps
                    },
                )
                for k in (0, 1, 2)
            ]
            if not all(isinstance(one, t.Const) for one in at):
                return None
            first, second, third = (one.value for one in at if isinstance(one, t.Const))
            stride, size = second - first, size_of(node.type)
            if third - second != stride or abs(stride) < size:
                return None
            ends = (first, first + stride * (count - 1))
            low, high = min(ends), max(ends) + size
            if not self.store.free_span(low, high, node.array):
                return None
            if any(array == node.array and a < high and low < b for array, a, b in spans):
                return None
            spans.append((node.array, low, high))
            found[symbol] = (node.array, first, stride, node.type)
        return found


def _asks_for_one(part: t.Condition, moved: set[t.Var]) -> bool:
    """Whether a condition is an equality on something that moves."""
    return isinstance(part, t.Compare) and part.relation == "eq" and not part.variables.isdisjoint(moved)


def _is_due(step: Step, moved: set[t.Var], values: Mapping[t.Var, t.Term]) -> bool:
    """Whether a step asks for one value of something that moves, and now has it."""
    parts = [part for part in t.conjuncts(step.condition) if _asks_for_one(part, moved)]
    return bool(parts) and all(t.substitute(part, values) is t.TRUE for part in parts)
