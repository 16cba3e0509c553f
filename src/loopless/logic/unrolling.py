"""Runs of a transition system into a location, step by step, by Z3: bounded model checking over paths."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any

from loopless import clock
from loopless import terms as t
from loopless.limits.logic import UNROLLING_CHECK_MS
from loopless.logic.solver import SmtAnswer, Solver
from loopless.logic.steps import INPUT, PlaceStep, outgoing, translation
from loopless.metering import new_context
from loopless.records import dataclass


@dataclass(frozen=True, slots=True)
class UnrolledStep:
    """A step of a run, by its number, and the values of all variables that occur in it."""

    step: int
    values: Mapping[t.Var, int]


def runs_into(
    steps: Sequence[PlaceStep], start: str, goals: frozenset[str], deadline: float, most: int = 400
) -> list[UnrolledStep] | None:
    """The first run found from ``start`` into one of ``goals``, shortest first; None where the time is over, or where
    there is none of at most ``most`` steps.
    """
    import z3  # type: ignore[import-untyped]

    return _Search(z3, steps, start, goals, deadline).run(most)


class _Search:
    def __init__(self, z3: Any, steps: Sequence[PlaceStep], start: str, goals: frozenset[str], deadline: float) -> None:
        self.z3, self.steps, self.start, self.goals, self.deadline = z3, steps, start, goals, deadline
        self.context = new_context()
        self.made = translation(z3, self.context, steps)
        self.forms = []
        for step in steps:
            condition = self.made.formula(step.condition)
            self.forms.append((condition, {var: self.made.formula(term) for var, term in step.update.items()}))
        self.onward = outgoing(steps)
        used = [step.condition.variables.union(*(value.variables for value in step.update.values())) for step in steps]
        self.used = [tuple(sorted(found, key=lambda var: var.key)) for found in used]

    def run(self, most: int) -> list[UnrolledStep] | None:
        """Breadth first over paths of locations, each kept while it is feasible."""
        front = [_Front(self.start, (), {}, (), ())]
        for depth in range(most):
            following: list[_Front] = []
            for path in front:
                for index in self.onward.get(path.location, ()):
                    if clock.counted() > self.deadline:
                        return None
                    longer = self._longer(path, index, depth)
                    model = self._check(longer.known)
                    if model is None:
                        continue
                    if longer.location not in self.goals:
                        following.append(longer)
                    elif model is not True:
                        return self._read(longer, model)
            front = following
            if not front:
                return None
        return None

    def _longer(self, path: _Front, index: int, depth: int) -> _Front:
        """The path with one more step."""
        condition, update = self.forms[index]
        here = {var: path.values.get(var) for var in self.used[index]}
        for var, value in here.items():
            if value is None:
                here[var] = self.z3.Const(f"{var.key}@{depth}", self.made.sort)
        pairs = [(self.made.variables[var], here[var]) for var in here]
        facts = [self.made.limits(here[var], var) for var in here if path.values.get(var) is None]
        known = (*path.known, *chain.from_iterable(facts), self.z3.substitute(condition, *pairs))
        kept = {var: value for var, value in here.items() if not var.name.startswith(INPUT)}
        new = {var: self.z3.substitute(form, *pairs) for var, form in update.items()}
        values = {**path.values, **kept, **new}
        return _Front(self.steps[index].target, (*path.taken, index), values, known, (*path.inputs, here))

    def _check(self, known: Sequence[Any]) -> Any:
        """A model; True where the solver does not know; None where there is none."""
        solver = Solver(self.context)
        solver.limit(min(UNROLLING_CHECK_MS, 1000 * (self.deadline - clock.counted())))
        solver.tell(*known)
        answer, model = solver.ask_model()
        return model if answer is SmtAnswer.YES else None if answer is SmtAnswer.NO else True

    def _read(self, path: _Front, model: Any) -> list[UnrolledStep]:
        number = self.made.number
        return [
            UnrolledStep(index, {var: number(model, value) for var, value in here.items()})
            for index, here in zip(path.taken, path.inputs, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class _Front:
    """A path: where it is, its steps, what variables hold, what is known, and what each step began with."""

    location: str
    taken: tuple[int, ...]
    values: Mapping[t.Var, Any]
    known: tuple[Any, ...]
    inputs: tuple[Mapping[t.Var, Any], ...]


def extreme_first_steps(
    steps: Sequence[PlaceStep], start: str, deadline: float, *, most: int = 4
) -> list[tuple[int, dict[t.Var, int]]]:
    """First steps of runs from ``start``, by their numbers, with the values of what they take from outside: small ones,
    and then as large, or as low, as the step allows, one variable after the other.
    """
    import z3

    found: list[tuple[int, dict[t.Var, int]]] = []
    for index, step in enumerate(steps):
        inputs = sorted((v for v in _used(step) if v.name.startswith(INPUT)), key=lambda v: v.key)
        if step.source != start or not inputs:
            continue
        context = new_context()
        made = translation(z3, context, [step])
        goal = made.formula(step.condition)
        wishes = [_small, _large, _low, *(_one_large(v) for v in inputs[:6])]
        for wish in wishes:
            solver = Solver(context)
            solver.limit(UNROLLING_CHECK_MS // 4)
            solver.tell(goal, *made.facts)
            if solver.ask() is not SmtAnswer.YES:
                break
            for var in inputs:
                for value in wish(var):
                    if clock.counted() > deadline:
                        return found
                    chosen = made.formula(var) == made.formula(t.const(value))
                    if solver.ask(chosen) is SmtAnswer.YES:
                        solver.tell(chosen)
                        break
            answer, model = solver.ask_model()
            if answer is SmtAnswer.YES:
                values = {var: made.number(model, made.formula(var)) for var in inputs}
                if (index, values) not in found:
                    found.append((index, values))
        if len({one for one, _ in found}) >= most:
            break
    return found


def _used(step: PlaceStep) -> frozenset[t.Var]:
    return step.condition.variables.union(*(term.variables for term in step.update.values()))


def _small(var: t.Var) -> Sequence[int]:
    del var
    return (1, 0, 2, 10)


def _large(var: t.Var) -> Sequence[int]:
    high = var.type.max
    return () if high is None else (high, high - 1, high // 2, 1_000_000, 65535, 1)


def _low(var: t.Var) -> Sequence[int]:
    low = var.type.min
    return () if low is None else (low, low + 1, low // 2, -1_000_000, -65535, -1, 0)


def _one_large(chosen: t.Var) -> Callable[[t.Var], Sequence[int]]:
    """Large for one variable, small for the others."""
    return lambda var: _large(var) if var is chosen else _small(var)
