"""Inequalities that no iteration destroys: what a bound may rely on if they hold at the entry.

Candidates stem from the loop's own conditions, weakened to what is left after a step, from the signs of steps, and from
the signs of variables. Each is tried on the paths by the logic.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from loopless.bounds.transition_system import System, parts_of
from loopless.logic import BudgetExceeded, NotPresburger, feasible, presburger_part
from loopless.paths import LoopPaths
from loopless.paths.invariants import inductive
from loopless.terms import (
    FALSE,
    ONE,
    TRUE,
    ZERO,
    Compare,
    Condition,
    Const,
    Term,
    Wrap,
    add,
    conjunction,
    conjuncts,
    const,
    greater_equal,
    neg,
    negate,
    sub,
    substitute,
    walk,
)

MAX_CANDIDATES: Final = 40
"""So many inequalities are tried. A guess."""


MAX_PARAMETERS: Final = 4
"""Of so many parameters it is tried that they are positive. A guess."""


def candidates(system: System) -> tuple[Condition, ...]:
    """Inequalities over state and parameters that may be kept by all iterations, likely ones first."""
    known = frozenset((*system.state, *system.parameters))
    found: dict[Condition, None] = {}
    for term in (*_steps(system), *_sides(system), *_limits(system), *_weakened(system), *_signs(system)):
        if term.variables <= known:
            condition = substitute(greater_equal(term, ZERO), system.fixed)
            if condition not in (TRUE, FALSE):
                found[condition] = None
    return tuple(found)[:MAX_CANDIDATES]


def _steps(system: System) -> Iterator[Term]:
    """By how much a variable changes, with either sign."""
    for transition in system.transitions:
        for variable, value in transition.after.items():
            step = sub(value, variable)
            if not isinstance(step, Const):
                yield from (sub(step, ONE), sub(neg(step), ONE), step, neg(step))


def _sides(system: System) -> Iterator[Term]:
    """Both sides of what must not be 0."""
    for path in system.paths.iterative:
        for part in conjuncts(path.condition):
            if isinstance(part, Compare) and part.relation == "ne":
                yield from (part.term, neg(part.term))


def _weakened(system: System) -> Iterator[Term]:
    """The conditions, and what is left of them after a step."""
    for transition in system.transitions:
        for row in transition.rows:
            changes = [sub(t.step(row), row) for t in system.transitions]
            drops = [-c.value for c in changes if isinstance(c, Const) and c.value < 0]
            yield from (row, add(row, const(max(drops, default=1))))
            if len(row.variables) == 1:
                yield neg(row)


def _signs(system: System) -> Iterator[Term]:
    yield from (add(parameter, const(-1)) for parameter in system.parameters[:MAX_PARAMETERS])
    for variable in system.state:
        yield from (add(term, const(offset)) for offset in (-1, 0) for term in (variable, neg(variable)))


def _limits(system: System) -> Iterator[Term]:
    """Conditions on parameters under which nothing wraps around: the negations of what wrapping around needs."""
    for path in system.paths.iterative:
        if not any(isinstance(node, Wrap) for term in path.update.values() for node in walk(term)):
            continue
        for transition in parts_of(path):
            # Only Presburger conjuncts are projected: without the others more parameters may allow a wrap-around.
            unchanging = [v for v in transition.variables if v in system.parameters]
            try:
                needed = presburger_part(transition).project_onto(unchanging).condition()
            except (NotPresburger, BudgetExceeded):
                continue
            if isinstance(needed, Compare) and needed.relation in ("le", "eq"):
                yield sub(needed.term, ONE)
            if isinstance(needed, Compare) and needed.relation == "eq":  # at the end of a type
                yield sub(neg(needed.term), ONE)


def is_inductive(paths: LoopPaths, condition: Condition, given: Condition) -> bool:
    """Whether every iteration from a state with ``given`` and ``condition`` leads to one with ``condition``."""
    return bool(inductive(paths, (condition,), given=(given,)))


def kept(paths: LoopPaths, proposed: Iterable[Condition], entry: Condition) -> tuple[Condition, ...]:
    """Those of the ``proposed`` that hold in all states at the header if ``entry`` does at the entry: what the entry
    implies and the iterations keep, all of it together.
    """
    implied = [c for c in dict.fromkeys(proposed) if not feasible(conjunction((entry, negate(c))), solver=False)]
    return inductive(paths, implied)
