"""Concrete runs of loop paths, one iteration at a time, and what an automaton says of them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from loopless.automaton import PathAutomaton, Transition
from loopless.paths import LoopPaths, Path
from loopless.terms import EvaluationError, IntType, Var, evaluate, holds

Values = dict[Var, int]


@dataclass(frozen=True)
class Run:
    """``times`` iterations of ``path`` in a row from ``start``, then ``following`` at ``end``."""

    path: Path
    times: int
    start: Values
    following: Path
    end: Values


class Memory:
    """Arrays full of small numbers, fixed by a seed."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def __call__(self, array: str, offset: int, type: IntType) -> int:
        return type.wrap(random.Random(f"{self.seed} {array} {offset}").choice((0, 0, 1, 1, 2, 3, -1)))


class Walker:
    """Runs a loop by its paths from chosen states."""

    def __init__(self, paths: LoopPaths, seed: int) -> None:
        self.paths = paths
        self.random = random.Random(seed)
        self.memory = Memory(seed)
        used = {v for p in paths.all for v in p.condition.variables}
        used |= {v for p in paths.all for term in p.update.values() for v in term.variables}
        self.unknowns = sorted({u.var for p in paths.all for u in p.unknowns})
        self.entry = sorted((used | set(paths.state)) - set(self.unknowns))

    def start(self) -> Values:
        """Some state: mostly small numbers, now and then the ends of the ranges."""
        return {var: self.number(var.type) for var in self.entry}

    def number(self, type: IntType) -> int:
        kind = self.random.random()
        if kind < 0.75 or type.min is None or type.max is None:
            value = self.random.randint(-12, 25)
        elif kind < 0.9:
            value = self.random.randint(-1000, 1000)
        else:
            value = self.random.choice((type.min, type.max, 0)) + self.random.randint(-4, 4)
        return type.wrap(value)

    def path_at(self, state: Values) -> Path:
        """The path of the next iteration; unknowns must have their values in ``state``."""
        found = [p for p in self.paths.all if holds(p.condition, state, self.memory)]
        assert len(found) == 1, (found, state)
        return found[0]

    def steps(self, state: Values, limit: int) -> Iterator[tuple[Path, Values]]:
        """The paths taken from ``state`` on, each with the state before, at most ``limit`` of them."""
        for _ in range(limit):
            state = {**state, **{u: self.number(u.type) for u in self.unknowns}}
            path = self.path_at(state)
            yield path, state
            if path.exit is not None:
                return
            new = {var: evaluate(term, state, self.memory) for var, term in path.update.items()}
            state = {**state, **new}

    def runs(self, state: Values, limit: int = 300) -> list[Run]:
        """The complete runs from ``state`` on."""
        found: list[Run] = []
        path: Path | None = None
        start: Values = {}
        times = 0
        for following, here in self.steps(state, limit):
            if path is None or following.id != path.id:
                if path is not None:
                    found.append(Run(path, times, start, following, here))
                path, start, times = following, here, 0
            times += 1
        return found


def agrees(transition: Transition, run: Run, memory: Memory) -> None:
    """Asserts that what ``transition`` says is true of ``run``."""
    values: Mapping[Var, int] = {**run.start, transition.counter: run.times}
    assert holds(transition.guard, values, memory), (transition, run)
    assert holds(transition.constraint, values, memory), (transition, run)
    if transition.times is not None:
        assert evaluate(transition.times, values, memory) == run.times, (transition, run)
    for var in run.path.update:
        if var not in transition.unstated:
            try:
                said = evaluate(transition.update.get(var, var), values, memory)
            except EvaluationError:
                continue
            assert said == run.end[var], (var, transition, run)


def transition_of(automaton: PathAutomaton, run: Run) -> Transition:
    """The transition that a run takes; there must be one."""
    source, target = automaton.state_of(run.path), automaton.state_of(run.following)
    found = automaton.transition(source.name, target.name)
    assert found is not None, f"{source.name} -> {target.name} is not a transition, but taken from {run.start}"
    return found
