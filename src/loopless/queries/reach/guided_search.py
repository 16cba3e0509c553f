"""Searches for a run that counters of paths guide: with small values for what it begins with, then with any."""

from __future__ import annotations

from loopless import clock
from loopless import terms as t
from loopless.limits.queries import LEAST_ATTEMPT_S, LEAST_FREE_S, MAX_ATTEMPTS, PROOF_S, SLOW_ATTEMPT_S, SLOW_ATTEMPTS
from loopless.navigation.counters import CounterSystem
from loopless.navigation.search import Navigator
from loopless.queries.call_values.reached import Reached
from loopless.queries.guided import begun_globals
from loopless.queries.reach.native_runs import RunsToTarget
from loopless.queries.reach.question import ReachQuestion
from loopless.queries.reach.start_values import least_length, smallest, some_length
from loopless.queries.reach.unreachable import unreachable
from loopless.transition.relation import TransitionSystem


class GuidedSearch:
    """The searches for one question. ``counters``: the constraints of all runs, where they could be made."""

    def __init__(
        self, question: ReachQuestion, system: TransitionSystem, runs: RunsToTarget, counters: CounterSystem | None
    ) -> None:
        self.question, self.system, self.runs, self.counters = question, system, runs, counters

    def answer(self) -> Reached | None:
        """What the searches come to: with small values, with the fewest steps, with any; and some runs by chance."""
        question, counters = self.question, self.counters
        most = least_length(counters) if question.minimize == "run" and counters is not None else None
        if counters is not None and counters.scalars:
            answer = self._with_small_values(counters, most)
            if answer is not None:
                return answer
        if most is not None and question.why == "":
            answer = self._search({}, clock.counted() + LEAST_ATTEMPT_S, most)
            if answer is not None:
                return answer
        kept = PROOF_S if question.proofs else 0.0
        free = self._search({}, max(question.deadline - kept, clock.counted() + LEAST_FREE_S))
        return free or (None if self.runs.were_drawn else self.runs.drawn())

    def _with_small_values(self, counters: CounterSystem, most: int | None) -> Reached | None:
        """Searches from one choice of small values after the other; after the first some runs by chance."""
        question = self.question
        limit = most
        if question.minimize == "":
            with question.timed("counters"):
                limit = some_length(counters)
        short = [] if limit is None else [counters.length.le(limit)]
        blocked: list[t.Condition] = []
        slow = 0
        for attempt in range(MAX_ATTEMPTS):
            if attempt == 1 and (chance := self.runs.drawn()) is not None:
                return chance
            with question.timed("counters"):
                fixed = smallest(question, counters, [*short, *blocked])
            if fixed is None:
                break
            share = min(question.deadline, clock.counted() + max(LEAST_ATTEMPT_S, question.left / 3))
            begun = clock.counted()
            answer = self._search(fixed, share, most)
            if answer is not None:
                return answer
            slow += clock.counted() - begun > SLOW_ATTEMPT_S
            if slow == SLOW_ATTEMPTS:
                break
            if attempt == 0 and most is None:
                short = []  # the shortest runs may be none
            blocked.append(t.disjunction(var.ne(value) for var, value in fixed.items()))
        return None

    def _search(self, fixed: dict[t.Var, int], until: float, most: int | None = None) -> Reached | None:
        """What one search comes to, from these values and with at most so many steps."""
        question, system = self.question, self.system
        navigator = Navigator(
            system,
            fixed,
            min(until, question.deadline),
            most=most,
            trips=question.summaries,
            begun=begun_globals(question.program, question.entry),
            general=self.counters,
        )
        with question.timed("guided search"):
            found = navigator.run()
        if found.route is not None:
            return self.runs.along(found.route)
        if found.exhausted and not system.open:
            return unreachable(question, "guided search", system, self.runs)
        question.why = question.why or (found.why if not fixed else "")
        return None
