"""Inequalities that no iteration destroys: what a bound may rely on if they hold at the entry.

Candidates stem from the loop's own conditions, weakened to what is left after a step, from the signs of steps, and from
the signs of variables. Each is tried on the paths by the logic.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from loopless import terms as t
from loopless.bounds.ranking.transition_system import LinearTransitionSystem, parts_of
from loopless.limits.bounds import MAX_LOOP_CANDIDATES, MAX_POSITIVE_PARAMETERS
from loopless.logic import BudgetExceeded, NotPresburger, feasible, presburger_part
from loopless.paths import LoopPaths
from loopless.paths.invariants import inductive


def candidates(system: LinearTransitionSystem) -> tuple[t.Condition, ...]:
    """Inequalities over state and parameters that may be kept by all iterations, likely ones first."""
    known = frozenset((*system.state, *system.parameters))
    found: dict[t.Condition, None] = {}
    for term in (*_steps(system), *_sides(system), *_limits(system), *_weakened(system), *_signs(system)):
        if term.variables <= known:
            condition = t.substitute(term.ge(0), system.fixed)
            if condition not in (t.TRUE, t.FALSE):
                found[condition] = None
    return tuple(found)[:MAX_LOOP_CANDIDATES]


def _steps(system: LinearTransitionSystem) -> Iterator[t.Term]:
    """By how much a variable changes, with either sign."""
    for transition in system.transitions:
        for variable, value in transition.after.items():
            step = value - variable
            if not isinstance(step, t.Const):
                yield from (step - 1, -step - 1, step, -step)


def _sides(system: LinearTransitionSystem) -> Iterator[t.Term]:
    """Both sides of what must not be 0."""
    for path in system.paths.iterative:
        for part in t.conjuncts(path.condition):
            if isinstance(part, t.Compare) and part.relation == "ne":
                yield from (part.term, -part.term)


def _weakened(system: LinearTransitionSystem) -> Iterator[t.Term]:
    """The conditions, and what is left of them after a step."""
    for transition in system.transitions:
        for row in transition.rows:
            changes = [each.step(row) - row for each in system.transitions]
            drops = [-c.value for c in changes if isinstance(c, t.Const) and c.value < 0]
            yield from (row, row + max(drops, default=1))
            if len(row.variables) == 1:
                yield -row


def _signs(system: LinearTransitionSystem) -> Iterator[t.Term]:
    yield from (parameter - 1 for parameter in system.parameters[:MAX_POSITIVE_PARAMETERS])
    for variable in system.state:
        yield from (term + offset for offset in (-1, 0) for term in (variable, -variable))


def _limits(system: LinearTransitionSystem) -> Iterator[t.Term]:
    """Conditions on parameters under which nothing wraps around: the negations of what wrapping around needs."""
    for path in system.paths.iterative:
        if not any(isinstance(node, t.Wrap) for term in path.update.values() for node in t.walk(term)):
            continue
        for transition in parts_of(path):
            # Only Presburger conjuncts are projected: without the others more parameters may allow a wrap-around.
            unchanging = [v for v in transition.variables if v in system.parameters]
            try:
                needed = presburger_part(transition).project_onto(unchanging).condition()
            except (NotPresburger, BudgetExceeded):
                continue
            if isinstance(needed, t.Compare) and needed.relation in ("le", "eq"):
                yield needed.term - 1
            if isinstance(needed, t.Compare) and needed.relation == "eq":  # at the end of a type
                yield -needed.term - 1


def is_inductive(paths: LoopPaths, condition: t.Condition, given: t.Condition) -> bool:
    """Whether every iteration from a state with ``given`` and ``condition`` leads to one with ``condition``."""
    return bool(inductive(paths, (condition,), given=(given,)))


def kept(paths: LoopPaths, proposed: Iterable[t.Condition], entry: t.Condition) -> tuple[t.Condition, ...]:
    """Those of the ``proposed`` that hold in all states at the header if ``entry`` does at the entry: what the entry
    implies and the iterations keep, all of it together.
    """
    implied = [c for c in dict.fromkeys(proposed) if not feasible(entry & ~c, solver=False)]
    return inductive(paths, implied)
