"""A small set of tests that takes every side of every branch of a function that can be taken.

What one test takes is taken out before the next is looked for, inputs drawn at random come first, and what no run takes
is proved where that can be.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, cast

from loopless import clock
from loopless.check.outcome import Outcome
from loopless.errors import LooplessError, UsageError
from loopless.flowgraph.model import Flowgraph
from loopless.queries.call_values.mutation import Mutator, constants
from loopless.queries.call_values.native_driver import PREFIXES, Driver
from loopless.queries.call_values.reached import Inputs, Reached, runs_of, unrolled
from loopless.queries.jobs.overrun import Overrun
from loopless.queries.jobs.sandbox import Limits, Pool
from loopless.queries.program import load
from loopless.queries.reach.answering import DEFAULT_S, reach
from loopless.queries.reach.side_search import SideSearch
from loopless.queries.settings import Settings
from loopless.source.compile import compile_ir
from loopless.source.database import CompileDatabase
from loopless.source.targets import Side, SourceTarget, sides, telling
from loopless.source.worker import WORKER

SHARE: Final = 0.25
"""Of the time that is left, what one side may take. A guess."""
LEAST_S: Final = 1.5
"""Seconds that each has at least. A guess."""
QUICK_S: Final = 3.0
"""Seconds that each has at most, before the others had theirs. A guess."""
GROWTH: Final = 1.6
"""So many times longer is the next search. A guess."""
GRACE, GRACE_S = 2.0, 5.0
"""A search that works so many times longer than it may by what is counted, and so many seconds more, is ended, and with
it what its process knows. Guesses."""
NEXT_SHARE: Final = 0.15
"""Of the time that is left, what runs next to those of the first tests may take. A guess."""
BATCH: Final = 100
"""So many of them are made at once."""
IDLE: Final = 4
"""So often without anything new. A guess."""
MOST: Final = 1 << 16
"""So many sides a native run can tell apart."""
_NOT_FOUND: Final = "neither a run that gets there nor a proof that there is none was found"
CHANCE_S: Final = 0.02
"""Seconds for a run with such inputs. A guess."""


@dataclass(frozen=True, slots=True)
class Covered:
    """One side of a branch: which one in ``words`` ("true", "false", "case 3", "default"), the ``verdict`` ("covered",
    "unreachable", "unknown"), by which of the ``tests``, numbered from 0, for unreachable ones the ``proof``, and for
    unknown ones why.
    """

    side: Side
    words: str
    verdict: str
    tests: tuple[int, ...] = ()
    proof: Reached | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class CoveringTest:
    """One call: its ``inputs``, the ``sides`` that it takes, numbered in their order from 0, and how it ``ends``, as
    :class:`loopless.check.outcome.Outcome` says it, with its detail behind it.
    """

    inputs: Inputs
    sides: frozenset[int]
    ends: str = "ok"


@dataclass(frozen=True, slots=True)
class Coverage:
    """The tests of a function, and what each side of its branches came to."""

    function: str
    files: tuple[str, ...]
    tests: tuple[CoveringTest, ...]
    sides: tuple[Covered, ...]
    seconds: float = 0.0

    def count(self, verdict: str) -> int:
        """How many sides have this verdict."""
        return sum(side.verdict == verdict for side in self.sides)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the proofs take for granted."""
        proofs = [side.proof for side in self.sides if side.proof is not None]
        return tuple(dict.fromkeys(text for proof in proofs for text in proof.assumptions))


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
    seconds = DEFAULT_S if settings.timeout_s is None else settings.timeout_s
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
            for test in self.driver.taken_by_chance(graph, 200, CHANCE_S):
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
            while idle < IDLE and self.open.keys() - self.refuted.keys() and clock.counted() < until:
                self._told("inputs next to those of tests")
                drawn = [mutator.next_to(self.random.choice(seeds).inputs) for _ in range(BATCH)]
                before = len(self.tests)
                for test in self.driver.taken_by(drawn, CHANCE_S):
                    self._keep(test)
                seeds += self.tests[before:]
                idle = 0 if len(self.tests) > before else idle + 1
        except LooplessError:
            return

    def one_by_one(self) -> None:
        """A search for each side that is still open: first a short one, and then longer ones for what is left."""
        least = LEAST_S
        for share in (0.0, SHARE, SHARE):
            waiting = {number for number in self.open if number not in self.refuted}
            while waiting := {number for number in waiting if number in self.open and number not in self.refuted}:
                left = self.deadline - clock.counted()
                number = min(waiting, key=lambda number: (not self._is_next(number), number))
                waiting.remove(number)
                if left <= 0:
                    self.unknown.setdefault(number, "the time was over (--timeout raises it)")
                    continue
                fair = left / (len(waiting) + 1)
                seconds = min(max(LEAST_S, fair), QUICK_S) if share == 0 else max(LEAST_S, share * left)
                begun = clock.counted()
                self._look_for(number, max(seconds, min(least, SHARE * left)))
                # Where searches end for want of time, fewer that have more of it find more.
                if number in self.open and clock.counted() - begun >= seconds:
                    least *= GROWTH

    def _is_next(self, number: int) -> bool:
        """Whether another side of the same branch is taken, so that some run comes by."""
        branch = self.sides[number].number
        return any(side.number == branch and other not in self.open for other, side in enumerate(self.sides))

    def proved(self) -> None:
        """Proofs of what cannot be taken, in the time that is left: certificates for what is refuted, too."""
        for number in list(self.open):
            left = self.deadline - clock.counted()
            if left > LEAST_S and number in self.open:
                self._look_for(number, max(LEAST_S, left / len(self.open)), proofs=True)

    def _look_for(self, number: int, seconds: float, *, proofs: bool = False) -> None:
        """A search for one side."""
        side = self.sides[number]
        self._told(f"line {side.line}")
        target = SourceTarget(within=self.entry, branch=(side.number, side.side))
        try:
            if proofs or (self.settings.run and not self.driver.trapped):
                driver = _SideDriver(self.driver, number) if self.settings.run and self.driver.trapped else None
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
            of = functools.partial(_SideDriver, self.driver) if self.settings.run else None
            self._search = SideSearch(self.files, self.entry, self.settings, of, summaries=self.summaries)
            if self.settings.sandboxed:
                limits = Limits(None, self.settings.loop_memory_mb, self.fence + 1.0)
                self._pool = Pool([self._search], limits)
        if self._pool is None:
            return self._search(number, target, seconds)
        self._pool.start(0, 0, number, target, seconds, time_s=GRACE * seconds + GRACE_S)
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
        kept = _needed(self.tests)
        told = []
        for number, side in enumerate(self.sides):
            tests = tuple(index for index, test in enumerate(kept) if number in test.sides)
            proof = None if tests else self.refuted.get(number)
            verdict = "covered" if tests else "unreachable" if proof is not None else "unknown"
            reason = self.unknown.get(number, _NOT_FOUND) if verdict == "unknown" else ""
            told.append(Covered(side, words_of(side), verdict, tests, proof, reason))
        names = tuple(str(file) for file in self.files)
        return Coverage(self.entry, names, tuple(kept), tuple(told), round(clock.now() - started, 3))


def words_of(side: Side) -> str:
    """Which side of its branch it is."""
    if side.is_switch:
        return "default" if side.value is None else f"case {side.value}"
    return "true" if side.side == 0 else "false"


def _needed(tests: list[CoveringTest]) -> list[CoveringTest]:
    """Tests that together take all that all of them do: the one that takes most of the rest, again and again."""
    open_ = frozenset().union(*(test.sides for test in tests)) if tests else frozenset[int]()
    kept = []
    while open_:
        best = max(tests, key=lambda one: len(one.sides & open_))
        kept.append(best)
        open_ -= best.sides
    return kept


class CoveringDriver(Driver):
    """Native runs that tell which sides of branches they take."""

    def __init__(self, files: Sequence[str], options: Any, function: str, deadline: float) -> None:
        super().__init__(files, options, function, deadline)
        plain = _module(files, options, traps=False)
        self.sides: Sequence[Side] = sides(plain, function)
        self.trapped = True
        """Whether runs end where they meet undefined behaviour."""

    @property
    def oracle(self) -> Any:
        from loopless.check.oracle.native import NativeLimits, NativeOracle

        if self._oracle is None:
            text, found = telling(_module(self.files, self.options, traps=True), self.function)
            if len(found) != len(self.sides):  # the checks for undefined behaviour have changed its branches
                text, found = telling(_module(self.files, self.options, traps=False), self.function)
                self.trapped = False
            self._oracle = NativeOracle(text, options=self.options, limits=NativeLimits(seconds=2.0), ir=True)
            self._oracle.sides = len(found)
            self._oracle.any_result = True
        return self._oracle

    def taken(self, inputs: Inputs) -> CoveringTest:
        """The sides that a run with these inputs takes, with arrays as long as it needs them, and how it ends."""
        outcome, longer = self.long_enough(inputs)
        return CoveringTest(longer, frozenset(outcome.covered), _ends(outcome))

    def taken_by_chance(self, graph: Flowgraph, count: int, seconds: float, *, seed: int = 1) -> list[CoveringTest]:
        """Inputs drawn at random, with the sides that they take."""
        return self.taken_by(self.drawn(graph, (), count, seed), seconds)

    def taken_by(self, drawn: Sequence[Inputs], seconds: float) -> list[CoveringTest]:
        """Tests of inputs, with the sides that they take; ``seconds`` for each run."""
        outcomes = self._quick([self._run(one) for one in drawn], seconds)
        # A run that met undefined behaviour is no test.
        return [
            CoveringTest(one, frozenset(out.covered), _ends(out))
            for one, out in zip(drawn, outcomes, strict=True)
            if out.status in ("ok", "aborted", "error-reached")
        ]

    def with_fewer_inputs(self, test: CoveringTest) -> CoveringTest:
        """The same with fewer inputs, where the run reads no more of them."""
        values = list(unrolled(test.inputs.nondet))
        fewer = [
            replace(test.inputs, nondet=runs_of(values[:count]), repeats=False)
            for count in PREFIXES
            if count < len(values)
        ]
        # A run that asks for more than it is given ends there, so one that ends as before has had enough.
        runs = [replace(self._run(one), nondet=list(unrolled(one.nondet))) for one in fewer]
        outcomes = zip(fewer, self._quick(runs, CHANCE_S), strict=True)
        alike = (one for one, out in outcomes if out.covered == test.sides and _ends(out) == test.ends)
        return replace(test, inputs=next(alike, test.inputs))

    def _quick(self, runs: Sequence[Any], seconds: float) -> Sequence[Outcome]:
        kept = self.oracle.limits
        self.oracle.limits = replace(kept, seconds=seconds)
        try:
            return cast("Sequence[Outcome]", self.oracle.run_many(self.entry, runs))
        finally:
            self.oracle.limits = kept


class _SideDriver(Driver):
    """The same runs, asked whether they take one side."""

    def __init__(self, covering: CoveringDriver, number: int) -> None:
        super().__init__(covering.files, covering.options, covering.function, covering.deadline)
        self.covering, self.number = covering, number

    @property
    def oracle(self) -> Any:
        return self.covering.oracle

    def close(self) -> None:
        """Nothing: the process of native runs serves the next side, too."""

    def by_chance(self, *_: object) -> None:
        return None  # the whole function had its random inputs

    def is_there(self, outcome: Outcome) -> bool:
        return self.number in outcome.covered


def _ends(outcome: Outcome) -> str:
    return f"{outcome.status} {outcome.detail}".strip()


def _module(files: Sequence[str], options: Any, *, traps: bool) -> str:
    """The module of the program as text."""
    database = CompileDatabase(options.compile_database) if options.compile_database is not None else None
    paths = [Path(file) for file in files]
    chosen = replace(options, traps=traps)
    texts = [compile_ir(path, chosen, database.command(path) if database is not None else None) for path in paths]
    if len(texts) == 1:
        return texts[0]
    return WORKER.link(list(zip(files, texts, strict=True)), options.timeout_s)
