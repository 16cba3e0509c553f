"""Streams counted from where a loop is entered: the first value that it reads is number 0.

While loops are put together it counts how many values were read before; to a reader of one loop, or of one of its
paths, that number is only in the way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from loopless import terms as t
from loopless.flowgraph.callees.streams import stream_of
from loopless.paths.model import LoopPaths, Path
from loopless.summary.model import Approximation, Case, Cycle, LoopSummary, Step
from loopless.terms.contents import placed


def relative_paths(paths: LoopPaths) -> LoopPaths:
    """The paths, in each of which streams begin with number 0; without variables that count what is read."""
    begins = _begins(paths)
    if not begins:
        return paths

    def shown(path: Path) -> Path:
        placed = path.given(begins)
        update = {var: term for var, term in placed.update.items() if var not in begins}
        return replace(placed, update=update, outputs=path.outputs - begins.keys())

    iterative, exits = tuple(map(shown, paths.iterative)), tuple(map(shown, paths.exits))
    state, own = (tuple(var for var in some if var not in begins) for some in (paths.state, paths.shown))
    return replace(paths, iterative=iterative, exits=exits, state=state, shown=own)


def relative(summary: LoopSummary) -> LoopSummary:
    """The summary, in which streams begin with number 0 where the loop is entered. What a loop reads of the program's
    inputs is still among the values at its exits: how many they are.
    """
    begins = _begins(summary.paths)
    if not begins:
        return summary
    made = _Relative(begins)
    return replace(
        summary,
        paths=relative_paths(summary.paths),
        cases=tuple(map(made.case, summary.cases)),
        diverges=made.condition(summary.diverges),
        undefined=tuple(replace(part, when=made.condition(part.when)) for part in summary.undefined),
        residual=tuple(replace(part, when=made.condition(part.when)) for part in summary.residual),
        entered=made.condition(summary.entered),
        approximation=made.approximation(summary.approximation) if summary.approximation is not None else None,
    )


def _begins(paths: LoopPaths) -> dict[t.Var, t.Term]:
    occurring = {var for path in paths.all for var in path.update} | {*paths.state, *paths.invariants, *paths.shown}
    return {var: t.ZERO for var in sorted(occurring) if stream_of(var) is not None}


_Key = TypeVar("_Key")


class _Relative:
    def __init__(self, begins: Mapping[t.Var, t.Term]) -> None:
        self._begins = begins

    def condition(self, condition: t.Condition) -> t.Condition:
        return t.substitute(condition, self._begins)

    def term(self, term: t.Term) -> t.Term:
        return t.substitute(term, self._begins)

    def _terms(self, terms: Mapping[_Key, t.Term]) -> dict[_Key, t.Term]:
        return {key: self.term(term) for key, term in terms.items()}

    def case(self, case: Case) -> Case:
        return replace(
            case,
            when=self.condition(case.when),
            then=self._terms(case.then),
            iterations=self.term(case.iterations),
            per_path=self._terms(case.per_path),
            trace=tuple(map(self._step, case.trace)),
            result=self.term(case.result) if case.result is not None else None,
            totals=self._terms(case.totals),
            facts=self.condition(case.facts),
            contents=None if case.contents is None else placed(case.contents, self._begins),
        )

    def _step(self, step: Step) -> Step:
        times = self.term(step.times) if step.times is not None else None
        if isinstance(step, Cycle):
            return replace(step, body=tuple(map(self._step, step.body)), times=times)
        return replace(step, times=times)

    def approximation(self, found: Approximation) -> Approximation:
        return replace(
            found,
            cases=tuple(map(self.case, found.cases)),
            may_diverge=self.condition(found.may_diverge),
            may_be_undefined=tuple(replace(u, when=self.condition(u.when)) for u in found.may_be_undefined),
            may_be_lost=tuple(replace(lost, when=self.condition(lost.when)) for lost in found.may_be_lost),
        )
