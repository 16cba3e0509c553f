"""Loops as steps: what their summaries say takes the place of their iterations (the accelerated system).

From the header of a loop one step for each case of its summary leads to where the case leaves, and steps lead into
regions that end runs. What is left of a program whose loops have complete summaries has no cycle, so paths of
transitions reach all that runs reach (Bozga, Iosif and Konečný, Fast acceleration of ultimately periodic relations,
CAV 2010; Kincaid et al., Compositional recurrence analysis revisited, PLDI 2017).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeGuard

from loopless import clock
from loopless import terms as t
from loopless.deadline import in_time
from loopless.errors import LimitError
from loopless.flowgraph.liveness import live_at_entry
from loopless.flowgraph.model import Check, Flowgraph, LoopInfo
from loopless.limits.verification import MAX_LEAPING_WAYS, SUMMARY_OPERATIONS
from loopless.logic import NotPresburger, budget
from loopless.paths.build import changed_variables
from loopless.paths.context import entry_facts
from loopless.paths.model import NoPaths
from loopless.summary import LoopSummary, Outcome, from_entry, paths_of, summarize
from loopless.summary.methods.entry_invariants import lasting_facts
from loopless.summary.nests import KnownLoops
from loopless.verification.transitions import TransitionSystem, system_of


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


def leaps_of(system: TransitionSystem, seconds: float) -> Leaps:
    """The loops that can be passed by exact summaries, outermost first, found in so many seconds of processor time: each
    loop may take half of what is left, the last one all of it.
    """
    graph, known = system.graph, KnownLoops()
    live = live_at_entry(graph.blocks, frozenset())
    all_checks = system.violates(Check(t.FALSE, "signed-overflow"))
    found: dict[str, Leap] = {}
    until = clock.now() + seconds
    ordered = sorted(graph.loops, key=lambda loop: -len(loop.blocks))
    for loop in ordered:
        left = max(0.0, until - clock.now())
        try:
            with in_time(clock.now() + (left if loop is ordered[-1] else left / 2)):
                leap = _leap(graph, loop, live, known, all_checks=all_checks)
        except LimitError:
            continue
        if leap is not None:
            found[loop.header] = leap
    return found


def accelerated(system: TransitionSystem, leaps: Leaps) -> TransitionSystem:
    """The same system with summaries of loops in place of their iterations."""
    summaries = {header: leap.summary for header, leap in leaps.items()}
    made = system_of(system.graph, system.violates, system.calls, ways=MAX_LEAPING_WAYS, leaps=summaries)
    return made if isinstance(made, TransitionSystem) else system


def _leap(
    graph: Flowgraph,
    loop: LoopInfo,
    live: Mapping[str, frozenset[t.Var]],
    known: KnownLoops,
    *,
    all_checks: bool,
) -> Leap | None:
    """How a loop is passed, without what runs never ask of it; None where nothing exact is said, or nothing that helps.

    Best under what holds at the entry and stays true: fewer cases are left, and they say something of all states in
    which runs come to the header.
    """
    targets = (graph.blocks[label].edges[index].target for label, index in loop.exits)
    behind = {var for target in targets for var in live.get(target, frozenset())}
    interest = tuple(sorted(changed_variables(graph, loop) & behind, key=lambda var: var.key))
    try:
        with budget(SUMMARY_OPERATIONS):
            paths = paths_of(graph, loop, interest, all_checks=all_checks, known=known)
            if isinstance(paths, NoPaths):
                return None
            given = t.conjunction(lasting_facts(paths, entry_facts(graph, loop)))
            if given is not t.TRUE:
                paths = paths_of(graph, loop, interest, all_checks=all_checks, given=given, known=known)
            if isinstance(paths, NoPaths):
                return None
            found = summarize(paths)
            if _helps(found) and found.complete:
                return Leap(found, given, lasting=True)
            _, entered = from_entry(graph, paths, found, interest, known)
    except (NotPresburger, t.TermTooLarge):
        return None
    if _helps(entered) and entered.complete:
        return Leap(entered, entered.entered, lasting=False)
    return Leap(found, given, lasting=True) if _helps(found) else None


def _helps(found: Outcome) -> TypeGuard[LoopSummary]:
    return isinstance(found, LoopSummary) and found.exact and bool(found.cases)
