"""One conjunction that grows, and questions to Z3 about it: what was said once is not translated again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from loopless.logic.smt import Answer
from loopless.logic.smt_integers import IntegerTranslation
from loopless.terms import Condition, Var

STEPS_PER_MS: Final = 4_000
"""Z3 makes 5 to 10 million of its steps a second."""


class Conjunction:
    """What holds of some variables, over the integers with the ranges of their types."""

    def __init__(self) -> None:
        import z3  # type: ignore[import-untyped]

        self._z3 = z3
        self._context = z3.Context()
        self._made = IntegerTranslation(z3, self._context)
        self._solver = z3.Solver(ctx=self._context)
        self._solver.set(random_seed=1)
        self._told = 0

    def add(self, conditions: Iterable[Condition]) -> None:
        """Let the conditions hold too."""
        for condition in conditions:
            self._solver.add(self._made.formula(condition))
        self._facts()

    def _facts(self) -> None:
        self._solver.add(*self._made.facts[self._told :])
        self._told = len(self._made.facts)

    def check(self, also: Iterable[Condition], timeout_ms: int) -> tuple[Answer, Mapping[Var, int]]:
        """Whether all that holds, and ``also``, has a solution, and one; without a solution none surely exists."""
        goals: list[Any] = [self._made.formula(condition) for condition in also]
        self._facts()
        self._solver.set(timeout=max(timeout_ms, 1), rlimit=min(max(timeout_ms, 1) * STEPS_PER_MS, 4_000_000_000))
        self._solver.push()
        try:
            self._solver.add(*goals)
            found = self._solver.check()
            if found == self._z3.unsat:
                return Answer.NO, {}
            if found == self._z3.sat:
                model = self._solver.model()
                number = self._made.number
                return Answer.YES, {var: number(model, known) for var, known in self._made.variables.items()}
        except self._z3.Z3Exception:
            pass
        finally:
            self._solver.pop()
        return Answer.UNKNOWN, {}
