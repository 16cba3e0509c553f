"""Ranks of whole programs from the summaries of their loops: how many iterations are left, of each loop around.

The number of iterations that a summary tells is a function of the state at the header, and falls by one with each of
them. In front of it stand those of the loops around, as they will be behind the inner loop, and the place of the loop
among its neighbours: a lexicographic rank.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from loopless import terms as t
from loopless.flowgraph.model import LoopInfo
from loopless.ranking.lexicographic import cut, padded
from loopless.summary import LoopSummary
from loopless.terms.relation import behind
from loopless.transition.relation import Step, TransitionSystem
from loopless.transition.star import Leaps


def ranks_of(system: TransitionSystem, leaps: Leaps) -> Mapping[str, tuple[t.Term, ...]] | None:
    """By cutpoint a lexicographic rank of the program whose accelerated system this is; None where some loop has no
    complete summary, or terms grow too large.
    """
    loops = {loop.header: loop for loop in system.graph.loops}
    if loops.keys() != {*system.cutpoints} or loops.keys() != leaps.keys():
        return None
    if any(leap.summary.residual for leap in leaps.values()):
        return None
    made = _Ranks(system, leaps, loops)
    try:
        ranks = {header: made.rank(loop) for header, loop in loops.items()}
    except (t.TermTooLarge, _Unknown):
        return None
    return padded(ranks)


class _Unknown(Exception):
    """What is left of a loop around depends on what the way there takes from outside."""


class _Ranks:
    def __init__(self, system: TransitionSystem, leaps: Leaps, loops: Mapping[str, LoopInfo]) -> None:
        self.system, self.leaps, self.loops = system, leaps, loops
        self.place = {label: -index for index, label in enumerate(system.cutpoints)}
        """The later a loop comes in an iteration of the loop around it, the lower; above that loop's own, 0."""

    def rank(self, loop: LoopInfo) -> list[t.Term]:
        """For each loop around, outermost first, and for the loop itself: its place, and the iterations left."""
        around = [loop]
        while (parent := self._parent(around[0])) is not None:
            around.insert(0, parent)
        found: list[t.Term] = []
        for outer in around:
            found += [t.const(len(self.place) + self.place[outer.header]), self._left(loop.header, outer, ())]
        return found[1:]

    def _parent(self, loop: LoopInfo) -> LoopInfo | None:
        holding = [one for one in self.loops.values() if one is not loop and loop.header in one.blocks]
        return min(holding, key=lambda one: len(one.blocks), default=None)

    def _left(self, label: str, outer: LoopInfo, passed: Sequence[str]) -> t.Term:
        """The iterations of ``outer`` that are left in the states of a cutpoint in it."""
        if label == outer.header:
            return cut(iterations_left(self.leaps[label].summary))
        if label in passed:
            raise _Unknown
        term: t.Term = t.ZERO
        for step in self._steps(label, outer):
            left = self._left(step.target, outer, (*passed, label))
            after = behind(step, left)
            taken = {one.var for one in step.inputs}
            if after.variables & taken:
                raise _Unknown
            if step.condition.variables & taken and after is not term:
                raise _Unknown
            term = after if term is t.ZERO else t.ite(step.condition, after, term)
        return term

    def _steps(self, label: str, outer: LoopInfo) -> list[Step]:
        return [step for step in self.system.transitions if step.source == label and step.target in outer.blocks]


def iterations_left(summary: LoopSummary) -> t.Term:
    """How many iterations a loop goes on from a state at its header, below 0 or 0 where it goes on no more. Where runs
    meet undefined behaviour it says something, which the proof has to bear out.
    """
    counted = [case for case in summary.cases if case.iterations is not t.ZERO]
    if not counted:
        return t.ZERO
    *others, last = counted
    term = last.iterations
    for case in reversed(others):
        term = t.ite(case.when, case.iterations, term)
    return term
