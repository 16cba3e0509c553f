"""Loops that leave after few iterations wherever the program enters them: their iterations put one after another.

That is for loops whose paths interleave in a way no other method knows: what the code before the loop says of the
values there (a counter at 0, a state at its first one) often leaves a handful of ways through. Each way is a case.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from loopless.logic import feasible
from loopless.paths.model import Exit, LoopPaths, Path
from loopless.refusals import Reason, Refused
from loopless.stepping import forbidden
from loopless.summary.model import Case, Residual, Run, Step, Summary, Undefined
from loopless.summary.rewrite.entry import fixed_by
from loopless.summary.transitions.system import where
from loopless.terms import (
    FALSE,
    TRUE,
    Condition,
    Term,
    TermTooLarge,
    Var,
    Wrap,
    conjunction,
    const,
    substitute,
    walk,
)

MAX_ROUNDS: Final = 64
"""Iterations that are put one after another."""

MAX_WAYS: Final = 24
"""Ways that are followed at a time."""

MAX_CASES: Final = 64
"""Cases that come of them."""

MAX_STEPS: Final = 200
"""Iterations looked at, of all ways together."""

MAX_NODES: Final = 1_000
"""Parts of the values and conditions of one way."""

MAX_REDUCED: Final = 8
"""Values that are reduced to their type, in the values and conditions of one way: what the logic takes long for."""


@dataclass(frozen=True, slots=True)
class _Way:
    """``taken`` paths from entry values that satisfy ``when`` on: the values at the header then."""

    when: Condition
    values: Mapping[Var, Term]
    taken: tuple[str, ...]


class _TooMany(Exception):
    """The loop takes too many iterations, or too many ways."""


def unfolded(paths: LoopPaths, entered: Condition) -> Summary | None:
    """The summary of the entry values that satisfy ``entered``, from which all runs are short; None if some may not be,
    or where stepping is forbidden (:mod:`loopless.stepping`).

    Raises :class:`loopless.logic.BudgetExceeded`.
    """
    if forbidden() or any(path.unknowns for path in paths.all):
        return None
    try:
        return _Unfolding(paths, entered).summary()
    except (_TooMany, TermTooLarge):
        return None


class _Unfolding:
    def __init__(self, paths: LoopPaths, entered: Condition) -> None:
        self.paths = paths
        self.entered = entered
        self.fixed: dict[Var, Term] = {var: const(value) for var, value in fixed_by(entered).items()}
        self.steps = 0
        self.cases: list[Case] = []
        self.undefined: list[Undefined] = []
        self.residual: list[Residual] = []

    def summary(self) -> Summary:
        ways = [_Way(substitute(self.entered, self.fixed), self.fixed, ())]
        for _ in range(MAX_ROUNDS + 1):
            ways = [after for way in ways for after in self._followed(way)]
            if not ways:
                return self._found()
            if len(ways) > MAX_WAYS:
                break
        raise _TooMany

    def _found(self) -> Summary:
        return Summary(
            self.paths.loop,
            self.paths,
            tuple(self.cases),
            FALSE,
            tuple(self.undefined),
            tuple(self.residual),
            "unfolding",
            self.paths.assumptions,
            self.entered,
        )

    def _followed(self, way: _Way) -> Iterator[_Way]:
        """The ways after one more iteration; what leaves the loop is noted."""
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise _TooMany
        for path in self.paths.all:
            here = substitute(path.condition, way.values)
            when = conjunction((way.when, here))
            if when is FALSE or (here is not TRUE and not feasible(when, solver=False)):
                continue
            if path.exit is not None:
                self._leave(path, path.exit, way, when)
                continue
            moved = {var: substitute(term, way.values) for var, term in path.update.items()}
            after = _Way(when, {**way.values, **moved}, (*way.taken, path.id))
            nodes = [part for node in (when, *moved.values()) for part in walk(node)]
            if len(nodes) > MAX_NODES or len({node for node in nodes if isinstance(node, Wrap)}) > MAX_REDUCED:
                raise _TooMany
            yield after

    def _leave(self, path: Path, exit: Exit, way: _Way, when: Condition) -> None:
        if exit.kind == "undefined":
            self.undefined.append(Undefined(when, exit.detail, exit.line))
            return
        if exit.kind == "unsupported":
            refused = exit.refused or Refused(Reason.UNSUPPORTED_INSTRUCTION, where(self.paths), exit.detail)
            self.residual.append(Residual(when, refused))
            return
        changed = sorted({*way.values, *path.update} & path.outputs)
        then = {var: substitute(path.update.get(var, var), way.values) for var in changed}
        self.cases.append(
            Case(
                when,
                {var: term for var, term in then.items() if term is not var},
                exit,
                path.id,
                const(len(way.taken)),
                {p.id: const(way.taken.count(p.id)) for p in self.paths.iterative},
                tuple(_trace(way.taken)),
                substitute(path.result, way.values) if path.result is not None else None,
            )
        )
        if len(self.cases) > MAX_CASES:
            raise _TooMany


def _trace(taken: tuple[str, ...]) -> Iterator[Step]:
    for path, several in groupby(taken):
        yield Run(path, const(len(list(several))))
