"""Elimination of paths by maximal runs: Gauss's elimination on the graph of transitions.

A transition that is eliminated is first accelerated: it becomes transitions that each stand for its longest run and
land outside its domain. Every other transition that lands in the domain is then continued by these. A cycle of paths
shows up as a transition that lands in itself; its runs are Proteus's periods, nested to any depth. What only lands
where the loop has ended is an exit segment; in the end all transitions are continued to exit segments, backwards.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Literal

from loopless.graphs import cycles
from loopless.limits.summary import (
    ELIMINATION_OPERATIONS,
    ELIMINATION_STEP_OPERATIONS,
    MAX_RUNS,
    MAX_SEGMENTS,
    MAX_TRANSITIONS,
)
from loopless.logic import BudgetExceeded, Region, budget
from loopless.records import dataclass
from loopless.refusals import Reason, Refused
from loopless.summary.rewrite.auxiliary import preimage
from loopless.summary.transitions.guarded import composed, convex, divided, is_translation, resolved, simplified, split
from loopless.summary.transitions.nonlinear_repeat import accelerated
from loopless.summary.transitions.repeat import Stuck, brief_runs, is_simple, longest_runs
from loopless.summary.transitions.subsumption import gathered
from loopless.summary.transitions.system import ControlSystem, place_of
from loopless.summary.transitions.transformer import GuardedTransition, NoIteration


@dataclass(slots=True, eq=False)
class ExitSegment:
    """Entry values in ``transition.where`` come by ``transition`` to an end.

    "ended": the loop is left; "forever": ``again`` then repeats for ever; "stuck": ``why`` nothing more is known.
    """

    transition: GuardedTransition
    kind: Literal["ended", "forever", "stuck"]
    again: GuardedTransition | None = None
    why: Refused | None = None


class _TooCostly(BudgetExceeded):
    """The runs of one transition take too many steps of the logic."""


@dataclass(slots=True, eq=False)
class EliminationNode:
    """A transition, and the transitions in which one step of it may land."""

    transition: GuardedTransition
    after: set[EliminationNode] = field(default_factory=set)
    unsure: set[EliminationNode] = field(default_factory=set)
    """Those of ``after`` for which that has not been looked at."""
    seen: bool = False
    """Whether steps that are translations on the domain have been looked for."""
    mixed: bool = True
    """Whether some of the transition may lead to exit segments at once."""
    brief: list[GuardedTransition] | None = None
    """The runs of a step without closed form that are known to be short."""


def eliminate(
    system: ControlSystem,
    transitions: Iterable[GuardedTransition],
    segments: Iterable[ExitSegment] = (),
    *,
    cutting: bool = True,
    dividing: bool = False,
) -> list[ExitSegment]:
    """How the loop ends, for all values of the universe: the domains of the result partition it.

    ``transitions`` partition with the system's ended values and those of ``segments`` the universe. What exceeds a
    limit is stuck. ``cutting``: runs that the logic cannot express are cut
    (:mod:`loopless.summary.transitions.nonlinear_repeat`), not followed. ``dividing``: domains on which the runs of a
    transition are not known are divided.
    """
    return _Elimination(system, cutting=cutting, dividing=dividing).solve(list(transitions), list(segments))


class _Elimination:
    def __init__(self, system: ControlSystem, *, cutting: bool, dividing: bool) -> None:
        self.system = system
        self.cutting = cutting
        self.dividing = dividing
        self.nodes: list[EliminationNode] = []
        self.levels: list[list[GuardedTransition]] = []
        self.segments: list[ExitSegment] = []

    def solve(self, transitions: list[GuardedTransition], segments: list[ExitSegment]) -> list[ExitSegment]:
        self.segments = [ExitSegment(GuardedTransition(self.system.ended, {}, NoIteration()), "ended"), *segments]
        self.nodes = [EliminationNode(transition) for transition in transitions if not transition.where.is_empty()]
        try:
            with budget(ELIMINATION_OPERATIONS):
                for node in self.nodes:
                    node.after = node.unsure = set(self.nodes)
                for node in self.nodes:
                    self._look_again(node)
                while self.nodes:
                    self._cut_tails()
                    self._eliminate(self._next())
        except BudgetExceeded:
            for node in self.nodes:
                self.segments.append(_stuck(node.transition.where, self._too_costly()))
        return self._back()

    def _too_costly(self) -> Refused:
        detail = "the paths take turns in a way that needs more steps or cases than the budget for this loop"
        return Refused(Reason.BUDGET, place_of(self.system.paths), detail)

    # -- the graph of transitions --------------------------------------------------------------------------------------

    @staticmethod
    def _lands(transition: GuardedTransition, region: Region) -> bool:
        return not preimage(region, transition.control).disjoint(transition.where)

    def _next(self) -> EliminationNode:
        """The transition to eliminate next: such that few transitions go through it, and simple runs first.

        What a transition that repeats leads to comes after it, else its rounds would be peeled off one by one; where
        domains are divided, what any cycle of transitions leads to.
        """
        cycle_of = self._cycles()

        def cost(node: EliminationNode) -> tuple[int, int, int, bool]:
            before = [other for other in self.nodes if other is not node and node in other.after]
            behind = any(other in cycle_of and cycle_of[other] != cycle_of.get(node) for other in before)
            if behind and self.dividing:
                hard = 4
            elif node in node.after:
                hard = 0 if is_translation(node.transition) else 2 if is_simple(node.transition) else 3
            else:
                hard = 4 if any(other in other.after for other in before) else 1
            return (0 if not before else 1, hard, len(before) * len(node.after), behind)

        return min(self.nodes, key=cost)

    def _cycles(self) -> dict[EliminationNode, int]:
        """The strongly connected component, by number, of each transition that may follow itself after some others."""
        found = cycles({node: node.after for node in self.nodes})
        return {node: number for number, cycle in enumerate(found) for node in cycle}

    def _eliminate(self, node: EliminationNode) -> None:
        if node in node.after and not is_simple(node.transition):
            # What lands in itself once or twice is followed, not divided: each part would go through all that is left.
            node.brief = brief_runs(node.transition)
            if node.brief is None and self._divide(node):
                return
        try:
            self._pass_through(node)
        except (Stuck, _TooCostly) as failure:
            parts = divided(node.transition) if self.dividing else None
            if parts is not None:
                self._replace({node: [EliminationNode(part, node.after) for part in parts]})
            elif isinstance(failure, Stuck):
                self._pass_through(node, stuck=failure)
            else:
                raise
        if len(self.nodes) + len(self.segments) > MAX_TRANSITIONS:
            raise BudgetExceeded("too many pieces")

    def _pass_through(self, node: EliminationNode, stuck: Stuck | None = None) -> None:
        """Continue every transition that lands in ``node`` by its runs, which are not known if it is ``stuck``.

        Nothing has changed if this raises :class:`Stuck` or :class:`BudgetExceeded`.
        """
        if not node.after:
            ended = self._to_segments(node.transition, self.segments)
            made: list[list[EliminationNode]] = []
            before: list[EliminationNode] = []
        else:
            before = [other for other in self.nodes if other is not node and node in other.after]
            if stuck is not None:
                runs: list[GuardedTransition] = []
                ended = [_stuck(node.transition.where, stuck.refused)]
            else:
                runs, ended = ([node.transition], []) if node not in node.after else self._accelerate(node)
            level = [EliminationNode(run, node.after - {node}) for run in runs]
            made = [self._continued(other, node, level) for other in before]
            self.levels.append(runs)
        self.segments += ended
        self.nodes.remove(node)
        for other in self.nodes:
            other.after.discard(node)
        self._replace(dict(zip(before, made, strict=True)))

    def _continued(
        self, node: EliminationNode, gone: EliminationNode, level: list[EliminationNode]
    ) -> list[EliminationNode]:
        """``node``, which may land in ``gone``, with its continuations through the runs of ``gone``."""
        transition = node.transition
        rest = transition.where
        made: list[EliminationNode] = []
        for run in level:
            builder = preimage(run.transition.where, transition.control) & transition.where
            if builder.is_empty():
                continue
            rest -= builder
            through = composed(transition, run.transition, builder.coalesce())
            if through.transformer.length > MAX_RUNS:
                raise BudgetExceeded("too many runs one after another")
            made += [EliminationNode(part, run.after) for part in resolved(through)]
        if not rest.is_empty():
            made.append(EliminationNode(transition.within(rest.coalesce()), node.after - {gone}))
        return made

    def _replace(self, replaced: Mapping[EliminationNode, list[EliminationNode]]) -> None:
        """The transitions made of others stand in their place; their possible successors are looked at here."""
        new = {made for parts in replaced.values() for made in parts}
        self.nodes = [node for node in self.nodes if node not in replaced] + [
            m for parts in replaced.values() for m in parts
        ]
        for node in self.nodes:
            unsure = node.after if node in new else node.after & replaced.keys()
            if unsure:
                candidates = {c for after in unsure for c in replaced.get(after, [after])}
                node.after = node.after - unsure | candidates
                node.unsure |= candidates
        for node in self.nodes:
            self._look_again(node)

    def _look_again(self, node: EliminationNode) -> None:
        """Drop successors in which the transition does not land after all, and end at once what lands in none."""
        node.after = {a for a in node.after if a not in node.unsure or self._lands(node.transition, a.transition.where)}
        node.unsure = set()
        if node in node.after and not is_translation(node.transition) and not node.seen:
            node.seen = True
            node.transition = GuardedTransition(
                node.transition.where,
                simplified(node.transition.control, node.transition.where),
                node.transition.transformer,
            )

    def _cut_tails(self) -> None:
        """End at once what surely leaves by a transition, where another transition leads only there: it is then no
        cycle.
        """
        for node in self.nodes:
            before = [other for other in self.nodes if other is not node and node in other.after]
            if node.mixed and before and node.after:
                self._cut_tail(node, before)
            node.mixed = False

    def _cut_tail(self, node: EliminationNode, before: list[EliminationNode]) -> None:
        transition = node.transition
        going_on = [preimage(a.transition.where, transition.control) & transition.where for a in node.after]
        rest = going_on[0]
        for region in going_on[1:]:
            rest |= region
        rest = rest.coalesce()
        tail = (transition.where - rest).coalesce()
        if tail.is_empty() or all(self._lands(other.transition, rest) for other in before):
            return
        self.segments += self._to_segments(transition.within(tail), self.segments)
        node.transition = transition.within(rest)
        for other in self.nodes:
            if node in other.after and not self._lands(other.transition, rest):
                other.after = other.after - {node}

    # -- runs -----------------------------------------------------------------------------------------------------

    def _accelerate(self, node: EliminationNode) -> tuple[list[GuardedTransition], list[ExitSegment]]:
        """The runs of a transition that lands in itself, and how it ends otherwise. Raises :class:`Stuck`."""
        transition = node.transition
        if node.brief is not None:
            return gathered(node.brief), []
        try:
            with budget(ELIMINATION_STEP_OPERATIONS):
                runs, never = longest_runs(self.system, transition, cutting=self.cutting)
        except BudgetExceeded as error:
            raise _TooCostly(str(error)) from None
        runs = gathered(runs)
        if never.is_empty():
            return runs, []
        return runs, [ExitSegment(GuardedTransition(never, {}, NoIteration()), "forever", again=transition)]

    def _divide(self, node: EliminationNode) -> bool:
        """Replace a transition without closed forms for the logic by parts; False where no part is easier."""
        parts = convex(node.transition) if self.cutting else None
        if parts is None and (not self.cutting or accelerated(node.transition) is None):
            parts = split(node.transition)
        if parts is None:
            return False
        self._replace({node: [EliminationNode(part, node.after) for part in parts]})
        return True

    # -- backwards ------------------------------------------------------------------------------------------------

    def _back(self) -> list[ExitSegment]:
        segments = list(self.segments)
        with budget(ELIMINATION_OPERATIONS):
            for level in reversed(self.levels):
                segments += [segment for transition in level for segment in self._back_from(transition, segments)]
            with contextlib.suppress(BudgetExceeded):
                segments = _together(segments)
        return segments

    def _back_from(self, transition: GuardedTransition, segments: list[ExitSegment]) -> list[ExitSegment]:
        """The exit segments of a transition; past a limit it is stuck."""
        with contextlib.suppress(BudgetExceeded):
            found = self._to_segments(transition, segments)
            if len(segments) + len(found) <= (MAX_SEGMENTS if self.dividing else MAX_TRANSITIONS):
                return found
        return [_stuck(transition.where, self._too_costly())]

    @staticmethod
    def _to_segments(transition: GuardedTransition, segments: list[ExitSegment]) -> list[ExitSegment]:
        """The transition continued by the exit segments in which it lands."""
        found = []
        for segment in segments:
            builder = preimage(segment.transition.where, transition.control)
            if not builder.disjoint(transition.where):
                whole = composed(transition, segment.transition, (builder & transition.where).coalesce())
                found.append(ExitSegment(whole, segment.kind, segment.again, segment.why))
        return found


def _together(segments: list[ExitSegment]) -> list[ExitSegment]:
    """The exit segments with transitions of the same transformer put together."""
    plain = gathered([segment.transition for segment in segments if segment.kind == "ended"])
    return [ExitSegment(transition, "ended") for transition in plain] + [e for e in segments if e.kind != "ended"]


def _stuck(region: Region, why: Refused) -> ExitSegment:
    return ExitSegment(GuardedTransition(region, {}, NoIteration()), "stuck", why=why)
