"""Loops as steps: what their summaries say takes the place of their iterations (the accelerated system).

From the header of a loop one step for each case of its summary leads to where the case leaves, and steps lead into
regions that end runs. What is left of a program whose loops have complete summaries has no cycle, so paths of
transitions reach all that runs reach (Bozga, Iosif and Konečný, Fast acceleration of ultimately periodic relations,
CAV 2010; Kincaid et al., Compositional recurrence analysis revisited, PLDI 2017).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeGuard

from loopless import clock
from loopless import terms as t
from loopless.deadline import in_time
from loopless.errors import LimitError
from loopless.flowgraph.liveness import live_at_entry
from loopless.flowgraph.model import Call, Check, LoopInfo
from loopless.limits.verification import LOOP_SHARE, MAX_LEAPING_WAYS, SUMMARY_OPERATIONS
from loopless.logic import BudgetExceeded, NotPresburger, budget
from loopless.paths.build import changed_variables
from loopless.paths.context import facts_behind
from loopless.paths.model import LoopPaths, NoPaths
from loopless.records import dataclass
from loopless.summary import LoopSummary, Outcome, from_entry, paths_of, summarize
from loopless.summary.methods.entry_invariants import lasting_facts
from loopless.summary.nests import KnownLoops
from loopless.transition.building import system_of
from loopless.transition.relation import TransitionSystem


@dataclass(frozen=True, slots=True)
class Leap:
    """The exact ``summary`` of a loop for the states at its header in which ``given`` holds. ``lasting``: wherever the
    loop is entered that holds, and it stays true in all iterations; else it only holds where the loop is entered.
    """

    summary: LoopSummary
    given: t.Condition
    lasting: bool


Leaps = Mapping[str, Leap]
"""By the headers of loops."""


def leaps_of(system: TransitionSystem, seconds: float, kept: frozenset[t.Var] = frozenset()) -> tuple[Leaps, bool]:
    """The loops that can be passed by exact summaries, in so many seconds of processor time: outer ones first, each may
    take three quarters of what is left, the last one all of it. And whether that time has cut some off.
    ``kept``: variables whose values matter everywhere.
    """
    finding = _Finding(system, kept)
    found: dict[str, Leap] = {}
    cut = False
    until = clock.now() + seconds
    loops = {loop.header: loop for loop in system.graph.loops}
    ordered = [loops[label] for label in system.cutpoints if label in loops]
    for loop in ordered:
        left = max(0.0, until - clock.now())
        try:
            with in_time(clock.now() + (left if loop is ordered[-1] else LOOP_SHARE * left)):
                leap = finding.leap(loop)
        except LimitError:
            cut = True
            continue
        if leap is not None:
            found[loop.header] = leap
    return found, cut


def accelerated(system: TransitionSystem, leaps: Leaps, kept: frozenset[t.Var] = frozenset()) -> TransitionSystem:
    """The same system with summaries of loops in place of their iterations; ``kept`` as of :func:`leaps_of`."""
    summaries = {header: leap.summary for header, leap in leaps.items()}
    made = system_of(system.graph, system.violates, system.calls, ways=MAX_LEAPING_WAYS, leaps=summaries, kept=kept)
    return made if isinstance(made, TransitionSystem) else system


class _Finding:
    """The search for leaps of one system. ``facts``: by header what holds there in all iterations."""

    def __init__(self, system: TransitionSystem, kept: frozenset[t.Var]) -> None:
        self.system, self.graph, self.kept = system, system.graph, kept
        self.known = KnownLoops()
        self.live = live_at_entry(self.graph.blocks, frozenset())
        self.all_checks = system.violates(Check(t.FALSE, "signed-overflow"))
        self.facts: dict[str, t.Condition] = {}

    def leap(self, loop: LoopInfo) -> Leap | None:
        """How a loop is passed, without what runs never ask of it; None where nothing exact is said, or nothing that
        helps.

        Best under what holds at the entry and stays true: fewer cases are left, and they say something of all states in
        which runs come to the header.
        """
        if any(map(self._stops, loop.blocks)):
            return None
        targets = (self.graph.blocks[label].edges[index].target for label, index in loop.exits)
        behind = {var for target in targets for var in self.live.get(target, frozenset())}
        interest = tuple(sorted(changed_variables(self.graph, loop) & (behind | self.kept), key=lambda var: var.key))
        try:
            with budget(SUMMARY_OPERATIONS):
                paths = self._paths(loop, interest, t.TRUE)
                if isinstance(paths, NoPaths):
                    return None
                given = t.conjunction(lasting_facts(paths, self._entered(loop)))
                self.facts[loop.header] = given
                if given is not t.TRUE:
                    paths = self._paths(loop, interest, given)
                if isinstance(paths, NoPaths):
                    return None
                found = summarize(paths)
                if _helps(found) and found.complete:
                    return Leap(found, given, lasting=True)
                _, entered = from_entry(self.graph, paths, found, interest, self.known)
        except (BudgetExceeded, NotPresburger, t.TermTooLarge):
            return None
        if _helps(entered) and entered.complete:
            return Leap(entered, entered.entered, lasting=False)
        return Leap(found, given, lasting=True) if _helps(found) else None

    def _stops(self, label: str) -> bool:
        """Whether a block has a call that cannot be passed over."""
        statements = self.graph.blocks[label].statements
        return any(isinstance(s, Call) and self.system.calls(s) is not None for s in statements)

    def _paths(self, loop: LoopInfo, interest: tuple[t.Var, ...], given: t.Condition) -> LoopPaths | NoPaths:
        return paths_of(self.graph, loop, interest, all_checks=self.all_checks, given=given, known=self.known)

    def _entered(self, loop: LoopInfo) -> t.Condition:
        """What holds wherever the loop is entered, on each of the ways from the cutpoint before."""
        shown = frozenset(self.system.state[loop.header])
        each: list[list[t.Condition]] = []
        for step in self.system.transitions:
            if step.target == loop.header and step.source not in loop.blocks:
                before = t.conjunction((step.condition, self.facts.get(step.source, t.TRUE)))
                if before is not t.FALSE:
                    each.append(facts_behind(t.conjuncts(before), step.update, shown))
        if not each:
            return t.TRUE
        return t.conjunction(fact for fact in each[0] if all(fact in other for other in each[1:]))


def _helps(found: Outcome) -> TypeGuard[LoopSummary]:
    """Whether a summary may stand for a loop: not by lists, which another entry of the loop may find changed."""
    return isinstance(found, LoopSummary) and found.exact and bool(found.cases) and not found.lists
