"""How the paths of a loop follow one another: strongly connected components and execution patterns.

Proteus (section 2.2) calls an execution *sequential* if no path comes back after another, *periodic* if its cycles
repeat one period, each path running the same number of times in every round, and *irregular* otherwise. LoopSCC
(section 4) orders the components by size.

The decision goes by rounds. From all states in which the paths of a component can be entered, follow the runs as many
times as the component has paths: what can still be entered then is entered again and again. There a periodic component
has one successor for each path, and runs whose length depends on loop invariants only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum

from loopless import terms as t
from loopless.automaton.pda import state_names
from loopless.automaton.regions import Precision, View
from loopless.automaton.runs import COUNTER, Runs
from loopless.automaton.single import value_of_variable
from loopless.graphs import components, cycles, predecessors
from loopless.limits.automaton import EXECUTION_OPERATIONS, MAX_COMPONENT, MAX_PATHS
from loopless.logic import BudgetExceeded, Region, budget
from loopless.paths import LoopPaths, Path
from loopless.records import dataclass


class Pattern(IntEnum):
    """How paths follow one another; the greater of two is that of a loop that has both."""

    SEQUENTIAL = 0
    PERIODIC = 1
    IRREGULAR = 2

    @property
    def label(self) -> str:
        """The word of Proteus's section 2.2."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Component:
    """A strongly connected component of the iterative states.

    ``order`` (LoopSCC): 0 for one path that does not follow itself, 1 for one that does, else the number of paths.
    ``periods``: for each cycle of a periodic component its states, each with the number of iterations in every round
    but the first (over the loop's invariants); none where the paths alternate for a bounded number of rounds only.
    ``decided``: whether an irregular pattern was shown, rather than a regular one not found.
    """

    states: tuple[str, ...]
    order: int
    pattern: Pattern
    periods: tuple[tuple[tuple[str, t.Term], ...], ...] = ()
    decided: bool = True
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ExecutionPattern:
    """The components in an order in which a run passes them, and the pattern of the whole loop."""

    components: tuple[Component, ...]
    pattern: Pattern
    decided: bool
    reasons: tuple[str, ...]


def execution(paths: LoopPaths, *, operations: int = EXECUTION_OPERATIONS) -> ExecutionPattern:
    """How the iterative paths of a loop follow one another."""
    if len(paths.iterative) <= 1:
        # Whether the one path follows itself is worth no question: as a rule it does.
        names = tuple(state_names(paths)[path.id] for path in paths.iterative)
        only = (Component(names, 1, Pattern.SEQUENTIAL),) if names else ()
        return ExecutionPattern(only, Pattern.SEQUENTIAL, decided=True, reasons=())
    if len(paths.iterative) > MAX_PATHS:
        reason = f"the order of {len(paths.iterative)} paths is not followed"
        return ExecutionPattern((), Pattern.IRREGULAR, decided=False, reasons=(reason,))
    return _Follower(paths, operations).execution()


class _Follower:
    def __init__(self, paths: LoopPaths, operations: int) -> None:
        self.paths = paths
        self.operations = operations
        self.view = View(paths)
        self.runs = Runs(self.view, operations // 4)
        self.names = state_names(paths)

    def execution(self) -> ExecutionPattern:
        try:
            with budget(self.operations):
                graph = self._graph()
                # Those that are passed first come first: each after those that lead to it.
                found = [self._component(members, graph) for members in components(predecessors(graph))]
        except BudgetExceeded:
            reason = "the order of the paths takes the logic too long"
            return ExecutionPattern((), Pattern.IRREGULAR, decided=False, reasons=(reason,))
        worst = max(component.pattern for component in found)
        decisive = [component for component in found if component.pattern is worst]
        reasons = tuple(component.reason for component in decisive if component.reason)
        # One component shown to be irregular settles it.
        decided = any(component.decided for component in decisive)
        return ExecutionPattern(tuple(found), worst, decided, reasons)

    def _graph(self) -> dict[int, list[int]]:
        """Which path may follow which, by their indices, themselves included."""
        paths = self.paths.iterative
        return {
            i: [j for j, target in enumerate(paths) if self.runs.follows(source, target)]
            for i, source in enumerate(paths)
        }

    def _component(self, members: Sequence[int], graph: Mapping[int, Sequence[int]]) -> Component:
        names = self._named(members)
        if len(members) == 1:
            order = 1 if members[0] in graph[members[0]] else 0
            return Component(names, order, Pattern.SEQUENTIAL)
        order = len(members)
        if order > MAX_COMPONENT:
            reason = f"{order} paths follow one another in ways that are not followed further"
            return Component(names, order, Pattern.IRREGULAR, decided=False, reason=reason)
        edges = [(i, j) for i in members for j in members if i != j and j in graph[i]]
        try:
            return self._alternating(members, edges)
        except BudgetExceeded:
            reason = f"how {', '.join(names)} follow one another takes the logic too long"
            return Component(names, order, Pattern.IRREGULAR, decided=False, reason=reason)

    def _named(self, members: Sequence[int]) -> tuple[str, ...]:
        return tuple(self._name(member) for member in members)

    def _name(self, member: int) -> str:
        return self.names[self._path(member).id]

    def _path(self, member: int) -> Path:
        return self.paths.iterative[member]

    # -- rounds ---------------------------------------------------------------------------------------------------

    def _alternating(self, members: Sequence[int], edges: Sequence[tuple[int, int]]) -> Component:
        """The component with several ``members``, joined by ``edges``."""
        names = self._named(members)
        order = len(members)
        entered = {i: self.view.behaviour(self._path(i)).where for i in members}
        for _ in members:
            before, entered = entered, self._next(entered, edges)
            if _same(before, entered):
                break  # further rounds change nothing either
        if not entered:
            if any(self._comes_back(i, edges, len(members)) for i in members):
                return Component(names, order, Pattern.PERIODIC)
            return Component(names, order, Pattern.SEQUENTIAL)
        alive: dict[int, list[int]] = {i: [] for i in members}
        for i, j in edges:
            if i in entered and not self._landing(entered[i], i, j).is_empty():
                alive[i].append(j)
        periods = []
        for cycle in sorted(cycles(alive)):
            period = self._period(cycle, alive, entered)
            if isinstance(period, str):
                decided, reason = self._explained(edges, period)
                return Component(names, order, Pattern.IRREGULAR, decided=decided, reason=reason)
            periods.append(period)
        return Component(names, order, Pattern.PERIODIC, tuple(periods))

    def _next(self, entered: Mapping[int, Region], edges: Sequence[tuple[int, int]]) -> dict[int, Region]:
        """Where the paths are entered one run later; paths that cannot be entered are left out."""
        found: dict[int, Region] = {}
        for i, j in edges:
            if i not in entered:
                continue
            landing = self._landing(entered[i], i, j)
            if not landing.is_empty():
                found[j] = (found[j] | landing).coalesce() if j in found else landing
        return found

    def _landing(self, before: Region, i: int, j: int) -> Region:
        return self.runs.landing(before, self._path(i), self._path(j))

    def _comes_back(self, start: int, edges: Sequence[tuple[int, int]], rounds: int) -> bool:
        entered = {start: self.view.behaviour(self._path(start)).where}
        for _ in range(rounds):
            entered = self._next(entered, edges)
            if start in entered:
                return True
        return False

    def _period(
        self, cycle: Sequence[int], alive: Mapping[int, Sequence[int]], entered: Mapping[int, Region]
    ) -> tuple[tuple[str, t.Term], ...] | str:
        """The states of a cycle in their order with the lengths of their runs; or why there is no period."""
        inside = set(cycle)
        period: list[tuple[str, t.Term]] = []
        current = cycle[0]
        while not period or current != cycle[0]:
            following = sorted(set(alive[current]) & inside)
            if len(following) > 1:
                after = " or ".join(self._named(following))
                return f"{after} follows {self._name(current)} again and again"
            times = self._times(current, following[0], entered[current])
            if times is None:
                return f"the runs of {self._name(current)} before {self._name(following[0])} differ in length"
            period.append((self._name(current), times))
            current = following[0]
        return tuple(period)

    def _times(self, i: int, j: int, entered: Region) -> t.Term | None:
        """How long the runs of i into j are that begin in ``entered``, if loop invariants alone say that."""
        ending = self.runs.ending(self._path(i), self._path(j))
        if ending is None or not ending.known:
            return None
        times = (ending.where & entered).project_out(self.view.control)
        value = value_of_variable(times, COUNTER)
        return self.view.readable_term(value) if value is not None else None

    def _explained(self, edges: Sequence[tuple[int, int]], reason: str) -> tuple[bool, str]:
        """Whether an irregular pattern is certain, and the reason with what stands in the way if not."""
        endings = [self.runs.ending(self._path(i), self._path(j)) for i, j in edges]
        unclear = [e.reason for e in endings if e is not None and e.precision is Precision.LOGIC]
        if unclear:
            return False, f"{reason}, as far as the logic can tell: {unclear[0]}"
        if any(self._overlap(i, j) for i, j in edges):
            return True, f"{reason}: an input chooses"
        return True, reason

    def _overlap(self, i: int, j: int) -> bool:
        a, b = (self.view.behaviour(self._path(member)).where for member in (i, j))
        return not a.disjoint(b)


def _same(a: Mapping[int, Region], b: Mapping[int, Region]) -> bool:
    return a.keys() == b.keys() and all(a[i].is_equal(b[i]) for i in a)
