"""A small set of tests that takes every side of every branch of a function that can be taken.

What one test takes is taken out before the next is looked for, inputs drawn at random come first, and what no run takes
is proved where that can be.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from loopless import clock
from loopless.errors import LooplessError, UsageError
from loopless.flowgraph.model import Flowgraph
from loopless.limits.queries import (
    BATCH,
    COVERING_CHANCE_S,
    DEFAULT_REACH_S,
    FENCE_MARGIN_S,
    LEAST_SIDE_S,
    MAX_IDLE_BATCHES,
    NEXT_SHARE,
    QUICK_SIDE_S,
    SIDE_GRACE,
    SIDE_GRACE_S,
    SIDE_GROWTH,
    SIDE_SHARE,
)
from loopless.queries.call_values.mutation import Mutator, constants
from loopless.queries.call_values.reached import Reached
from loopless.queries.jobs.overrun import Overrun
from loopless.queries.jobs.sandbox import Limits, Pool
from loopless.queries.program import load
from loopless.queries.reach.answering import reach
from loopless.queries.reach.coverage import Coverage, Covered, CoveringTest, needed, words_of
from loopless.queries.reach.covering_driver import CoveringDriver, SideDriver
from loopless.queries.reach.side_search import SideSearch
from loopless.queries.settings import Settings
from loopless.source.targets import SourceTarget

MOST: Final = 1 << 16
"""So many sides a native run can tell apart."""
_NOT_FOUND: Final = "neither a run that gets there nor a proof that there is none was found"


def cover(
    files: Sequence[Path],
    function: str | None,
    settings: Settings,
    until: float | None = None,
    *,
    summaries: bool = True,
    tell: Callable[[str, int, int], None] | None = None,
) -> Coverage:
    """Tests for every side of the branches of ``function`` (None: ``main``, or the only function that there is).
    ``summaries``: as for :func:`loopless.queries.reach.answering.reach`. ``tell`` hears what is being worked on, how
    many sides are settled, and of how many.

    Raises:
        UsageError: there is no such function, or it has more branches than can be told apart.
        SourceError: the program does not compile.
    """
    started = clock.now()
    seconds = DEFAULT_REACH_S if settings.timeout_s is None else settings.timeout_s
    fence = until if until is not None else started + seconds
    deadline = clock.counted() + seconds
    program = load(files, settings)
    module = program.source.module
    entry = _chosen(function, [one.name for one in module.defined()], [str(file) for file in files])
    work = _Work(files, entry, settings, deadline, fence, tell, summaries=summaries)
    try:
        work.by_chance(program.functions)
        work.numbers = constants(module.defined())
        work.next_to(work.tests, NEXT_SHARE)
        work.one_by_one()
        work.proved()
        return work.answer(started)
    finally:
        work.close()


def _chosen(function: str | None, defined: list[str], files: list[str]) -> str:
    if function is not None:
        if function not in defined:
            known = ", ".join(defined) or "none"
            raise UsageError(f"there is no function {function} in {', '.join(files)}; its functions: {known}")
        return function
    if "main" in defined or len(defined) == 1:
        return "main" if "main" in defined else defined[0]
    raise UsageError(f"which function is to be covered? Choose one with --function: {', '.join(defined)}")


class _Work:
    def __init__(
        self,
        files: Sequence[Path],
        entry: str,
        settings: Settings,
        deadline: float,
        fence: float,
        tell: Callable[[str, int, int], None] | None,
        *,
        summaries: bool,
    ) -> None:
        """``deadline``: of counted work; ``fence``: of work of the processor."""
        self.files, self.entry, self.settings, self.deadline, self.tell = files, entry, settings, deadline, tell
        self.fence = fence
        self.summaries = summaries
        source = settings.for_runs(settings.source)
        self.driver = CoveringDriver([str(file) for file in files], source, entry, deadline)
        self.sides = self.driver.sides
        if len(self.sides) > MOST:
            raise UsageError(f"{entry} has {len(self.sides):,} sides of branches, and at most {MOST:,} are told apart")
        self.open = dict.fromkeys(range(len(self.sides)))
        self.tests: list[CoveringTest] = []
        self.refuted: dict[int, Reached] = {}
        self.numbers: list[int] = []
        self.random = random.Random(1)
        self._search: SideSearch | None = None
        self._pool: Pool[Reached] | None = None
        self.unknown: dict[int, str] = {}

    def _told(self, what: str) -> None:
        if self.tell is not None:
            self.tell(what, len(self.sides) - len(self.open) + len(self.refuted), len(self.sides))

    def _keep(self, test: CoveringTest) -> None:
        if any(number in self.open for number in test.sides):
            self.tests.append(test)
            for number in test.sides:
                self.open.pop(number, None)
                self.unknown.pop(number, None)

    def by_chance(self, functions: Iterable[Any]) -> None:
        """Runs with inputs drawn at random."""
        graph = next((f.graph() for f in functions if f.code.name == self.entry), None)
        if not self.settings.run or not isinstance(graph, Flowgraph):
            return
        self._told("random inputs")
        try:
            for test in self.driver.taken_by_chance(graph, 200, COVERING_CHANCE_S):
                self._keep(test)
            self.tests = [self.driver.with_fewer_inputs(test) for test in self.tests]
        except LooplessError:
            return

    def next_to(self, tests: Sequence[CoveringTest], share: float) -> None:
        """Runs with inputs next to those of tests, as long as they take new sides, in this part of the time that is
        left.
        """
        until = clock.counted() + share * (self.deadline - clock.counted())
        seeds, idle = list(tests), 0
        if not self.settings.run or not seeds:
            return
        try:
            mutator = Mutator(self.driver.signature, self.numbers, self.random)
            while idle < MAX_IDLE_BATCHES and self.open.keys() - self.refuted.keys() and clock.counted() < until:
                self._told("inputs next to those of tests")
                drawn = [mutator.next_to(self.random.choice(seeds).inputs) for _ in range(BATCH)]
                before = len(self.tests)
                for test in self.driver.taken_by(drawn, COVERING_CHANCE_S):
                    self._keep(test)
                seeds += self.tests[before:]
                idle = 0 if len(self.tests) > before else idle + 1
        except LooplessError:
            return

    def one_by_one(self) -> None:
        """A search for each side that is still open: first a short one, and then longer ones for what is left."""
        least = LEAST_SIDE_S
        for share in (0.0, SIDE_SHARE, SIDE_SHARE):
            waiting = {number for number in self.open if number not in self.refuted}
            while waiting := {number for number in waiting if number in self.open and number not in self.refuted}:
                left = self.deadline - clock.counted()
                number = min(waiting, key=lambda number: (not self._is_next(number), number))
                waiting.remove(number)
                if left <= 0:
                    self.unknown.setdefault(number, "the time was over (--timeout raises it)")
                    continue
                fair = left / (len(waiting) + 1)
                seconds = min(max(LEAST_SIDE_S, fair), QUICK_SIDE_S) if share == 0 else max(LEAST_SIDE_S, share * left)
                begun = clock.counted()
                self._look_for(number, max(seconds, min(least, SIDE_SHARE * left)))
                # Where searches end for want of time, fewer that have more of it find more.
                if number in self.open and clock.counted() - begun >= seconds:
                    least *= SIDE_GROWTH

    def _is_next(self, number: int) -> bool:
        """Whether another side of the same branch is taken, so that some run comes by."""
        branch = self.sides[number].number
        return any(side.number == branch and other not in self.open for other, side in enumerate(self.sides))

    def proved(self) -> None:
        """Proofs of what cannot be taken, in the time that is left: certificates for what is refuted, too."""
        for number in list(self.open):
            left = self.deadline - clock.counted()
            if left > LEAST_SIDE_S and number in self.open:
                self._look_for(number, max(LEAST_SIDE_S, left / len(self.open)), proofs=True)

    def _look_for(self, number: int, seconds: float, *, proofs: bool = False) -> None:
        """A search for one side."""
        side = self.sides[number]
        self._told(f"line {side.line}")
        target = SourceTarget(within=self.entry, branch=(side.number, side.side))
        try:
            if proofs or (self.settings.run and not self.driver.trapped):
                driver = SideDriver(self.driver, number) if self.settings.run and self.driver.trapped else None
                found = reach(
                    self.files,
                    target,
                    self.entry,
                    self.settings,
                    self.fence,
                    summaries=self.summaries,
                    driver=driver,
                    proofs=proofs,
                    seconds=seconds,
                )
            else:
                found = self._searched(number, target, seconds)
        except LooplessError as error:
            self.unknown[number] = str(error)
            return
        if found.verdict == "reached" and found.inputs is not None:
            test = self.driver.taken(found.inputs)
            self._keep(test)
            self.next_to([test], NEXT_SHARE / 4)
        elif found.verdict == "unreachable":
            self.refuted[number] = found
        if number in self.open:
            self.unknown[number] = found.reason or _NOT_FOUND

    def _searched(self, number: int, target: SourceTarget, seconds: float) -> Reached:
        """The answer of a search in a process that goes on to the next side with what it knows."""
        if self._search is None:
            driver = self.driver if self.settings.run else None
            self._search = SideSearch(self.files, self.entry, self.settings, driver, summaries=self.summaries)
            if self.settings.sandboxed:
                limits = Limits(None, self.settings.loop_memory_mb, self.fence + FENCE_MARGIN_S)
                self._pool = Pool([self._search.answer], limits)
        if self._pool is None:
            return self._search.answer(number, target, seconds)
        self._pool.start(0, 0, number, target, seconds, time_s=SIDE_GRACE * seconds + SIDE_GRACE_S)
        while True:
            for _, found in self._pool.finished():
                if not isinstance(found, Overrun):
                    return found
                return Reached(target, self.entry, "unknown", reason=found.in_words, trouble=found.traceback)

    def close(self) -> None:
        """End all processes."""
        if self._pool is not None:
            self._pool.__exit__(None, None, None)
        self.driver.close()

    def answer(self, started: float) -> Coverage:
        """The tests that are needed, and what became of each side."""
        kept = needed(self.tests)
        told = []
        for number, side in enumerate(self.sides):
            tests = tuple(index for index, test in enumerate(kept) if number in test.sides)
            proof = None if tests else self.refuted.get(number)
            verdict = "covered" if tests else "unreachable" if proof is not None else "unknown"
            reason = self.unknown.get(number, _NOT_FOUND) if verdict == "unknown" else ""
            told.append(Covered(side, words_of(side), verdict, tests, proof, reason))
        names = tuple(str(file) for file in self.files)
        return Coverage(self.entry, names, tuple(kept), tuple(told), round(clock.now() - started, 3))
