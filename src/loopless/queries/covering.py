"""A small set of tests that takes every side of every branch of a function that can be taken.

What one test takes is taken out before the next is looked for, inputs drawn at random come first, and what no run takes
is proved where that can be.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from loopless.errors import LooplessError, UsageError
from loopless.flowgraph.model import Flowgraph
from loopless.queries.driving import Driver
from loopless.queries.program import load
from loopless.queries.reach import DEFAULT_S, reach
from loopless.queries.reached import Inputs, Reach
from loopless.queries.settings import Settings
from loopless.source.compile import compile_ir
from loopless.source.database import CompileDatabase
from loopless.source.targets import Side, Target, sides, telling
from loopless.source.worker import WORKER

SHARE: Final = 0.25
"""Of the time that is left, what one side may take. A guess."""
LEAST_S: Final = 3.0
"""Seconds that each has at least. A guess."""


@dataclass(frozen=True, slots=True)
class Covered:
    """One side of a branch: ``line``, in words (``condition``: "true", "false", "case 3", "default"), the ``verdict``
    ("covered", "unreachable", "unknown"), by which of the tests, and for unknown ones why.
    """

    side: Side
    words: str
    verdict: str
    tests: tuple[int, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Coverage:
    """The tests of a function, and what each side of its branches came to."""

    function: str
    files: tuple[str, ...]
    tests: tuple[Inputs, ...]
    sides: tuple[Covered, ...]
    unreachable: tuple[Reach, ...] = ()
    seconds: float = 0.0

    def count(self, verdict: str) -> int:
        """How many sides have this verdict."""
        return sum(side.verdict == verdict for side in self.sides)


def cover(
    files: Sequence[Path],
    function: str | None,
    settings: Settings,
    until: float | None = None,
    *,
    tell: Callable[[str, int, int], None] | None = None,
) -> Coverage:
    """Tests for every side of the branches of ``function`` (None: ``main``, or the only function that there is).
    ``tell`` hears what is being worked on, how many sides are settled, and of how many.

    Raises:
        UsageError: there is no such function.
    """
    started = time.monotonic()
    deadline = until if until is not None else started + DEFAULT_S
    program = load(files, settings)
    module = program.source.module
    entry = _chosen(function, [one.name for one in module.defined()], [str(file) for file in files])
    work = _Work(files, entry, settings, deadline, tell)
    try:
        work.by_chance(program.functions)
        work.one_by_one()
        return work.answer(started)
    finally:
        work.driver.close()


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
        tell: Callable[[str, int, int], None] | None,
    ) -> None:
        self.files, self.entry, self.settings, self.deadline, self.tell = files, entry, settings, deadline, tell
        self.driver = CoveringDriver([str(file) for file in files], settings.source, entry, deadline)
        self.sides = self.driver.sides
        self.open = dict.fromkeys(range(len(self.sides)))
        self.tests: list[tuple[Inputs, frozenset[int]]] = []
        self.refuted: dict[int, Reach] = {}
        self.unknown: dict[int, str] = {}

    def _told(self, what: str) -> None:
        if self.tell is not None:
            self.tell(what, len(self.sides) - len(self.open) + len(self.refuted), len(self.sides))

    def _keep(self, inputs: Inputs, taken: frozenset[int]) -> None:
        if any(number in self.open for number in taken):
            self.tests.append((inputs, taken))
            for number in taken:
                self.open.pop(number, None)
                self.unknown.pop(number, None)

    def by_chance(self, functions: Iterable[Any]) -> None:
        """Runs with inputs drawn at random."""
        graph = next((f.graph() for f in functions if f.code.name == self.entry), None)
        if not self.settings.run or not isinstance(graph, Flowgraph):
            return
        self._told("random inputs")
        try:
            for inputs, taken in self.driver.taken_by_chance(graph, 200, 0.02):
                self._keep(inputs, taken)
        except LooplessError:
            return

    def one_by_one(self) -> None:
        """A search for each side that is still open."""
        for number in list(self.open):
            left = self.deadline - time.monotonic()
            if number not in self.open:
                continue
            if left <= 0:
                self.unknown[number] = "the time was over (--timeout raises it)"
                continue
            side = self.sides[number]
            self._told(f"line {side.line}")
            target = Target(within=self.entry, branch=(side.number, side.side))
            until = time.monotonic() + min(left, max(LEAST_S, SHARE * left))
            try:
                found = reach(self.files, target, self.entry, self.settings, until)
            except LooplessError as error:
                self.unknown[number] = str(error)
                continue
            if found.verdict == "reached" and found.inputs is not None:
                inputs, taken, ended = self.driver.taken(found.inputs)
                self._keep(inputs, taken)
                if number in self.open:
                    self.unknown[number] = f"a run gets there, and ends so that nothing is told of it: {ended}"
            elif found.verdict == "unreachable":
                self.refuted[number] = found
            else:
                self.unknown[number] = found.reason

    def answer(self, started: float) -> Coverage:
        """The tests that are needed, and what became of each side."""
        kept = _needed(self.tests)
        told = []
        for number, side in enumerate(self.sides):
            tests = tuple(index for index, (_, taken) in enumerate(kept) if number in taken)
            verdict = "covered" if tests else "unreachable" if number in self.refuted else "unknown"
            told.append(Covered(side, words_of(side), verdict, tests, "" if tests else self.unknown.get(number, "")))
        names = tuple(str(file) for file in self.files)
        inputs = tuple(one for one, _ in kept)
        return Coverage(
            self.entry, names, inputs, tuple(told), tuple(self.refuted.values()), round(time.monotonic() - started, 3)
        )


def words_of(side: Side) -> str:
    """Which side of its branch it is."""
    if side.is_switch:
        return "default" if side.value is None else f"case {side.value}"
    return "true" if side.side == 0 else "false"


def _needed(tests: list[tuple[Inputs, frozenset[int]]]) -> list[tuple[Inputs, frozenset[int]]]:
    """Tests that together take all that all of them do: the one that takes most of the rest, again and again."""
    open_ = frozenset().union(*(taken for _, taken in tests)) if tests else frozenset[int]()
    kept = []
    while open_:
        best = max(tests, key=lambda one: len(one[1] & open_))
        kept.append(best)
        open_ -= best[1]
    return kept


class CoveringDriver(Driver):
    """Native runs that tell which sides of branches they take."""

    def __init__(self, files: Sequence[str], options: Any, function: str, deadline: float) -> None:
        super().__init__(files, options, function, deadline)
        plain = _module(files, options, traps=False)
        self.sides: Sequence[Side] = sides(plain, function)

    @property
    def oracle(self) -> Any:
        from loopless.check.oracle.native import Limits, NativeOracle

        if self._oracle is None:
            text, found = telling(_module(self.files, self.options, traps=True), self.function)
            if len(found) != len(self.sides):  # the checks for undefined behaviour have changed its branches
                text, found = telling(_module(self.files, self.options, traps=False), self.function)
            self._oracle = NativeOracle(text, options=self.options, limits=Limits(seconds=2.0), ir=True)
            self._oracle.sides = len(found)
        return self._oracle

    def taken(self, inputs: Inputs) -> tuple[Inputs, frozenset[int], str]:
        """The sides that a run with these inputs takes, with arrays as long as it needs them, and how it ends."""
        outcome, longer = self.long_enough(inputs)
        return longer, frozenset(outcome.covered), f"{outcome.status} {outcome.detail}".strip()

    def taken_by_chance(
        self, graph: Flowgraph, count: int, seconds: float, *, seed: int = 1
    ) -> list[tuple[Inputs, frozenset[int]]]:
        """Inputs drawn at random, with the sides that they take."""
        drawn = self.drawn(graph, (), count, seed)
        kept = self.oracle.limits
        self.oracle.limits = replace(kept, seconds=seconds)
        try:
            outcomes = self.oracle.run_many(self.function, [self._run(one) for one in drawn])
        finally:
            self.oracle.limits = kept
        # A run that met undefined behaviour is no test.
        good = ("ok", "aborted", "error-reached")
        return [(one, out.covered) for one, out in zip(drawn, outcomes, strict=True) if out.status in good]


def _module(files: Sequence[str], options: Any, *, traps: bool) -> str:
    """The module of the program as text."""
    database = CompileDatabase(options.compile_database) if options.compile_database is not None else None
    paths = [Path(file) for file in files]
    chosen = replace(options, traps=traps)
    texts = [compile_ir(path, chosen, database.command(path) if database is not None else None) for path in paths]
    if len(texts) == 1:
        return texts[0]
    return WORKER.link(list(zip(files, texts, strict=True)), options.timeout_s)
