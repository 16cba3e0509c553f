"""Limits on questions to Z3 by its own count of steps, which is the same on every machine, and that count as work.

Z3's ``timeout`` is one of the wall: it makes an answer depend on what else the machine does. So it is the fence here,
several times what the steps count as, as behind all limits (:mod:`loopless.clock`): how long a step takes varies by a
factor of a hundred with the size of numbers, and the process that asks need not be one that is ended at a limit.
"""

from __future__ import annotations

from typing import Any, Final

from loopless import clock
from loopless.deadline import not_interrupted
from loopless.limits.foundation import (
    PRODUCT_STEPS_PER_MS,
    QUESTION_CHARGE_S,
    SLOWING_QUOTIENTS,
    STEPS_PER_MS,
)

MAX_STEPS: Final = 4_000_000_000
"""Z3 counts its steps in 32 bits."""
_COUNT: Final = "rlimit count"


def steps_per_ms(quotients: int, *, products: bool) -> int:
    """The steps that count as a millisecond, by how many quotients there are and whether unknowns are multiplied."""
    return (PRODUCT_STEPS_PER_MS if products else STEPS_PER_MS) // max(1, quotients // SLOWING_QUOTIENTS)


def new_context() -> Any:
    """A context of Z3. No time limit breaks in while it is made: what is left of half a one complains when it goes."""
    import z3  # type: ignore[import-untyped]

    with not_interrupted():
        return z3.Context()


def limit(solver: Any, milliseconds: float, per_ms: int = STEPS_PER_MS) -> None:
    """Let each question to a solver take at most as many of its steps as count as so many milliseconds."""
    limit_steps(solver, round(milliseconds * per_ms), per_ms)


def limit_steps(solver: Any, steps: int, per_ms: int = STEPS_PER_MS) -> None:
    """Let each question to a solver take at most so many of its steps."""
    most = max(1, min(steps, MAX_STEPS))
    solver.set(rlimit=most, timeout=round(1000 * clock.fence(most / (1000 * per_ms))))
    solver.steps_per_ms = per_ms


def check(solver: Any, *assumptions: Any) -> Any:
    """What a solver says; its steps count as work (:func:`loopless.clock.counted`)."""
    before = _steps(solver)
    try:
        return solver.check(*assumptions)
    finally:
        clock.count((_steps(solver) - before) / (1000 * solver.steps_per_ms) + QUESTION_CHARGE_S)


def query(engine: Any, goal: Any) -> Any:
    """What Spacer says; its steps count as work."""
    try:
        return engine.query(goal)
    finally:
        clock.count(_steps(engine) / (1000 * engine.steps_per_ms) + QUESTION_CHARGE_S)


def _steps(solver: Any) -> int:
    """All steps in the context of a solver up to now. An optimizer that was not asked yet does not tell."""
    import z3

    known = solver.statistics()
    if _COUNT not in known.keys():  # noqa: SIM118  statistics are no mapping
        known = z3.SimpleSolver(ctx=solver.ctx).statistics()
    return int(known.get_key_value(_COUNT))
