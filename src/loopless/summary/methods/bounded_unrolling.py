"""Loops that leave after few iterations wherever the program enters them: their iterations put one after another.

That is for loops whose paths interleave in a way no other method knows: what the code before the loop says of the
values there (a counter at 0, a state at its first one) often leaves a handful of prefixes of runs. Each prefix that
leaves the loop is a case.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from loopless import terms as t
from loopless.limits.summary import (
    MAX_PREFIX_NODES,
    MAX_PREFIX_REDUCTIONS,
    MAX_PREFIXES,
    MAX_UNROLLED_CASES,
    MAX_UNROLLED_ITERATIONS,
    MAX_UNROLLED_STEPS,
    UNROLLING_OPERATIONS,
)
from loopless.logic import feasible
from loopless.paths.model import LoopPaths, Path
from loopless.portfolio import Method, NoAnswer, Tried
from loopless.records import dataclass
from loopless.stepping import forbidden
from loopless.summary.case_builder import Cases, TakenIterations
from loopless.summary.entry import Entry, EntrySummary
from loopless.summary.model import LoopSummary, PathRun, Step
from loopless.summary.rewrite.entry import fixed_by
from loopless.summary.rewrite.inner_loops import settled
from loopless.summary.transitions.system import place_of


@dataclass(frozen=True, slots=True)
class _Prefix:
    """``taken`` paths from entry values that satisfy ``when`` on: the values at the header then."""

    when: t.Condition
    values: Mapping[t.Var, t.Term]
    taken: tuple[str, ...]


class _Unrolling:
    def __init__(self, paths: LoopPaths, entered: t.Condition) -> None:
        self.paths = paths
        self.entered = entered
        self.fixed: dict[t.Var, t.Term] = {var: t.const(value) for var, value in fixed_by(entered).items()}
        self.steps = 0
        self.found = Cases(place_of(paths))

    def summary(self) -> LoopSummary:
        prefixes = [_Prefix(t.substitute(self.entered, self.fixed), self.fixed, ())]
        for _ in range(MAX_UNROLLED_ITERATIONS + 1):
            prefixes = self._all_followed(prefixes)
            if not prefixes:
                return self.found.summary(self.paths, entered=self.entered)
        raise NoAnswer

    def _all_followed(self, prefixes: Iterable[_Prefix]) -> list[_Prefix]:
        """All of them after one more iteration."""
        found: list[_Prefix] = []
        for prefix in prefixes:
            found += self._followed(prefix)
            if len(found) > MAX_PREFIXES:
                raise NoAnswer
        return found

    def _followed(self, prefix: _Prefix) -> Iterator[_Prefix]:
        """The prefixes after one more iteration; what leaves the loop is noted."""
        self.steps += 1
        if self.steps > MAX_UNROLLED_STEPS:
            raise NoAnswer
        for path in self.paths.all:
            here = t.substitute(path.condition, prefix.values)
            when = prefix.when & here
            if when is t.FALSE or (here is not t.TRUE and not feasible(when, solver=False)):
                continue
            if path.exit is not None:
                self._leave(path, prefix, when)
                continue
            moved = {var: t.substitute(term, prefix.values) for var, term in path.update.items()}
            after = _Prefix(when, {**prefix.values, **moved}, (*prefix.taken, path.id))
            nodes = [part for node in (when, *moved.values()) for part in t.walk(node)]
            if (
                len(nodes) > MAX_PREFIX_NODES
                or len({node for node in nodes if isinstance(node, t.Wrap)}) > MAX_PREFIX_REDUCTIONS
            ):
                raise NoAnswer
            yield after

    def _leave(self, path: Path, prefix: _Prefix, when: t.Condition) -> None:
        per_path = {p.id: t.const(prefix.taken.count(p.id)) for p in self.paths.iterative}
        taken = TakenIterations(t.const(len(prefix.taken)), per_path, tuple(_trace(prefix.taken)))
        self.found.leave(when, path, prefix.values, taken)
        if len(self.found.cases) > MAX_UNROLLED_CASES:
            raise NoAnswer


def _trace(taken: tuple[str, ...]) -> Iterator[Step]:
    for path, several in groupby(taken):
        yield PathRun(path, t.const(len(list(several))))


def _run(question: Entry, _: Tried[EntrySummary]) -> EntrySummary:
    paths = question.paths
    if forbidden() or any(path.unknowns for path in paths.all):
        raise NoAnswer
    found = settled(_Unrolling(paths, question.entered).summary())
    if not found.complete:
        raise NoAnswer
    return EntrySummary(paths, found)


METHOD = Method(
    "bounded unrolling", "bounded model checking's, with all prefixes kept", _run, operations=UNROLLING_OPERATIONS
)
"""All runs from the entry states must be short. Not where stepping is forbidden (:mod:`loopless.stepping`)."""
