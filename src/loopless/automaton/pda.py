"""Construction of the path dependency automaton (Proteus, Algorithm 1)."""

from __future__ import annotations

from loopless import terms as t
from loopless.automaton.model import PathAutomaton, State, Transition
from loopless.automaton.regions import Precision, View
from loopless.automaton.runs import COUNTER, Ending, Runs
from loopless.automaton.single import described, pieces_of_variable
from loopless.limits.automaton import COSTLY_TRANSITIONS, MAX_STATES, TRANSITION_OPERATIONS
from loopless.logic import BudgetExceeded, Region, budget, feasible
from loopless.paths import LoopPaths, Path
from loopless.records import dataclass
from loopless.refusals import Reason, Refused

_ONE_OR_MORE = COUNTER.ge(1)


def build_automaton(
    paths: LoopPaths, precondition: t.Condition = t.TRUE, *, operations: int = TRANSITION_OPERATIONS
) -> PathAutomaton | Refused:
    """The path dependency automaton of a loop, begun in states that fulfil ``precondition``.

    What the logic cannot follow is over-approximated and marked so; only too many paths are refused (as a value).
    """
    if len(paths.all) > MAX_STATES:
        where = str(paths.loop.loc) if paths.loop.loc is not None else paths.loop.name
        detail = f"the loop has {len(paths.all)} paths, its automaton would have too many states"
        return Refused(Reason.BUDGET, where, detail)
    return _Builder(paths, operations).build(precondition)


def state_names(paths: LoopPaths) -> dict[str, str]:
    """The names of the states by the ids of their paths."""
    return {path.id: f"s{number}" for number, path in enumerate(paths.all, start=1)}


@dataclass(frozen=True, slots=True)
class _Described:
    """A guard and a constraint on the counter."""

    guard: t.Condition
    constraint: t.Condition
    times: t.Term | None


class _Builder:
    def __init__(self, paths: LoopPaths, operations: int) -> None:
        self.paths = paths
        self.operations = operations
        self.view = View(paths)
        self.runs = Runs(self.view, operations)
        self.names = state_names(paths)
        known = (*paths.state, *paths.invariants, *(var for path in paths.all for var in path.update))
        self.taken = {var.name for var in known}

    def build(self, precondition: t.Condition) -> PathAutomaton:
        with budget(COSTLY_TRANSITIONS * self.operations):
            transitions = [
                transition
                for source in self.paths.iterative
                for target in self.paths.all
                if source is not target and (transition := self._transition(source, target)) is not None
            ]
        going_on = {transition.source for transition in transitions}
        states = tuple(self._state(path, precondition, going_on) for path in self.paths.all)
        return PathAutomaton(self.paths, states, tuple(transitions), precondition)

    def _state(self, path: Path, precondition: t.Condition, going_on: set[str]) -> State:
        name = self.names[path.id]
        initial = feasible(precondition & path.condition)
        changes = {var: _change(var, value) for var, value in path.update.items()}
        terminal = path.exit is None and name not in going_on
        return State(name, path, path.condition, changes, initial, terminal)

    def _transition(self, source: Path, target: Path) -> Transition | None:
        try:
            with budget(self.operations):
                ending = self.runs.ending(source, target)
                if ending is None:
                    return None
                with budget(self.runs.allowance(source)):
                    described = self._described(source, ending)
        except BudgetExceeded:
            ending = None
            described = _Described(t.TRUE, _ONE_OR_MORE, None)
        single = ending is not None and ending.single
        update, unstated = self._update(source, described.times, single=single)
        exact = ending is not None and ending.precision is Precision.EXACT
        reason = "" if exact else _why(ending)
        counter = self._counter(source, target)
        update = {var: t.substitute(form, {COUNTER: counter}) for var, form in update.items()}
        return Transition(
            self.names[source.id],
            self.names[target.id],
            counter,
            t.substitute(described.constraint, {COUNTER: counter}),
            described.guard,
            update,
            unstated,
            described.times,
            exact,
            reason,
        )

    def _counter(self, source: Path, target: Path) -> t.Var:
        """k_ij, under a name that no variable of the loop has."""
        i, j = (self.names[path.id].removeprefix("s") for path in (source, target))
        name = f"k{i}{j}" if len(i) == len(j) == 1 else f"k{i}_{j}"
        while name in self.taken:
            name = f"k{name}"
        return t.Var(name, t.INTEGERS)

    def _described(self, source: Path, ending: Ending) -> _Described:
        """Guard and constraint in few words, for values at which the condition of ``source`` holds."""
        if not ending.known:
            return _Described(t.TRUE, _ONE_OR_MORE, None)
        given = self.view.behaviour(source).where
        guarded = ending.where.project_out((COUNTER,)).coalesce()
        guard = self.view.readable(described(guarded, given))
        within = given & guarded
        pieces = pieces_of_variable(ending.where, COUNTER)
        if pieces is None:
            constraint = _ONE_OR_MORE & described(ending.where, within & Region.of(_ONE_OR_MORE))
            return _Described(guard, self.view.readable(constraint), None)
        times = self.view.readable_term(pieces[0][1]) if len(pieces) == 1 else None
        each = (described(region, within) & COUNTER.eq(term) for region, term in pieces)
        return _Described(guard, self.view.readable(t.disjunction(each)), times)

    def _update(
        self, source: Path, times: t.Term | None, *, single: bool
    ) -> tuple[dict[t.Var, t.Term], frozenset[t.Var]]:
        if single:
            known = {var: value for var, value in source.update.items() if not value.variables & self.view.unknowns}
            return known, frozenset(source.update.keys() - known.keys())
        found = self.runs.iterated(source)
        update: dict[t.Var, t.Term] = {}
        unstated = set(found.scattered)
        for var, form in found.forms.items():
            try:
                value = form if times is None else t.substitute(form, {COUNTER: times})
            except t.TermTooLarge:
                unstated.add(var)
                continue
            if value is not var:
                update[var] = value
        return update, frozenset(unstated)


def _change(var: t.Var, value: t.Term) -> t.Term:
    """Δ of a variable; one that wraps changes by that amount modulo its range."""
    return (value.arg if isinstance(value, t.Wrap) else value) - var


def _why(ending: Ending | None) -> str:
    if ending is None:
        return "the logic takes too long"
    if ending.reason:
        return ending.reason
    if ending.precision is Precision.INPUT:
        return "it depends on what arrays hold or on what inputs are"
    return "loop-invariant terms are taken as independent values"
