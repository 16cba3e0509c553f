"""Z3's solvers as all of Loopless drives them: what is told once, and questions about it, whose steps count as work.

What is told stays; a question is asked in a scope of its own, under assumptions, and leaves nothing behind. A question
that Z3 gives up in is UNKNOWN: it is at one of its limits then, of steps or of memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from typing import Any, Literal, TypeAlias

from loopless.limits.foundation import STEPS_PER_MS
from loopless.metering import check, limit, limit_steps, new_context

Engine: TypeAlias = Literal["simple", "tactics", "optimizing"]


class SmtAnswer(Enum):
    """Yes, no, or not decided within the limits."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


class Solver:
    """One solver, over formulas of Z3 in its ``context``, or in text.

    ``context``: None makes one of its own, in 5 ms; solvers that share one share what Z3 learns of names, too.
    ``engine``: "simple" keeps what it learns from question to question, "tactics" looks at the first question as a
    whole, "optimizing" takes what is to be as small as possible. ``seed``: it decides which model is found.
    ``failed``: whether Z3 gave up in the middle of a text or a question.
    """

    def __init__(self, context: Any = None, engine: Engine = "simple", seed: int = 1) -> None:
        import z3  # type: ignore[import-untyped]

        self._z3 = z3
        self.context = context or new_context()
        self.failed = False
        make = {"simple": z3.SimpleSolver, "tactics": z3.Solver, "optimizing": z3.Optimize}[engine]
        self._solver = make(ctx=self.context)
        if engine != "optimizing":  # it has no seed
            self._solver.set(random_seed=seed)

    def limit(self, milliseconds: float, per_ms: int = STEPS_PER_MS) -> None:
        """Let each question take at most as many steps as count as so many milliseconds."""
        limit(self._solver, milliseconds, per_ms)

    def limit_steps(self, steps: int, per_ms: int = STEPS_PER_MS) -> None:
        """Let each question take at most so many steps."""
        limit_steps(self._solver, steps, per_ms)

    def tell(self, *formulas: Any) -> None:
        """Let the formulas hold."""
        self._solver.add(*formulas)

    def tell_text(self, text: str) -> bool:
        """Let what a text in SMT-LIB asserts hold; whether it could be read. Z3 reads a text many times faster than its
        terms are made one by one.
        """
        try:
            self._solver.from_string(text)
        except self._z3.Z3Exception:
            self.failed = True
            return False
        return True

    def flag(self, name: str) -> Any:
        """A fresh condition, to be assumed in questions: ``given`` of :meth:`ask`."""
        return self._z3.Bool(name, self.context)

    @contextmanager
    def scope(self) -> Iterator[None]:
        """What is told within is forgotten behind."""
        self._solver.push()
        try:
            yield
        finally:
            self._solver.pop()

    def ask(self, *goals: Any, given: Sequence[Any] = ()) -> SmtAnswer:
        """Whether all that was told, the ``goals``, and the assumptions ``given`` can hold together."""
        return self.ask_model(*goals, given=given, wanted=False)[0]

    def ask_model(self, *goals: Any, given: Sequence[Any] = (), wanted: bool = True) -> tuple[SmtAnswer, Any]:
        """The same, with Z3's model where they can: it costs time, and so is not made where it is not ``wanted``."""
        if goals:
            with self.scope():
                self._solver.add(*goals)
                return self._checked(given, wanted=wanted)
        return self._checked(given, wanted=wanted)

    def _checked(self, given: Sequence[Any], *, wanted: bool) -> tuple[SmtAnswer, Any]:
        try:
            found = check(self._solver, *given)
            model = self._solver.model() if wanted and found == self._z3.sat else None
        except self._z3.Z3Exception:
            self.failed = True
            return SmtAnswer.UNKNOWN, None
        if found == self._z3.sat:
            return SmtAnswer.YES, model
        return SmtAnswer.NO if found == self._z3.unsat else SmtAnswer.UNKNOWN, None

    def core(self) -> tuple[str, ...]:
        """The names of the assumptions that the last NO rests on."""
        return tuple(map(str, self._solver.unsat_core()))
