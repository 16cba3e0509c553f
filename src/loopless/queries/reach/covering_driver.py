"""Native runs of a function that tell which sides of its branches they take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from loopless.check.outcome import Outcome
from loopless.flowgraph.model import Flowgraph
from loopless.limits.queries import COVERING_CHANCE_S, COVERING_RUN_S
from loopless.queries.call_values.native_driver import PREFIXES, Driver
from loopless.queries.call_values.reached import Inputs, runs_of, unrolled
from loopless.queries.reach.coverage import CoveringTest
from loopless.source.compile import compile_ir
from loopless.source.database import CompileDatabase
from loopless.source.targets import Side, sides, telling
from loopless.source.worker import WORKER


class CoveringDriver(Driver):
    """Native runs that tell which sides of branches they take."""

    def __init__(self, files: Sequence[str], options: Any, function: str, deadline: float) -> None:
        super().__init__(files, options, function, deadline)
        plain = module_text(files, options, traps=False)
        self.sides: Sequence[Side] = sides(plain, function)
        self.trapped = True
        """Whether runs end where they meet undefined behaviour."""

    @property
    def oracle(self) -> Any:
        from loopless.check.oracle.native import NativeLimits, NativeOracle

        if self._oracle is None:
            text, found = telling(module_text(self.files, self.options, traps=True), self.function)
            if len(found) != len(self.sides):  # the checks for undefined behaviour have changed its branches
                text, found = telling(module_text(self.files, self.options, traps=False), self.function)
                self.trapped = False
            self._oracle = NativeOracle(
                text, options=self.options, limits=NativeLimits(seconds=COVERING_RUN_S), ir=True
            )
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
        outcomes = zip(fewer, self._quick(runs, COVERING_CHANCE_S), strict=True)
        alike = (one for one, out in outcomes if out.covered == test.sides and _ends(out) == test.ends)
        return replace(test, inputs=next(alike, test.inputs))

    def _quick(self, runs: Sequence[Any], seconds: float) -> Sequence[Outcome]:
        kept = self.oracle.limits
        self.oracle.limits = replace(kept, seconds=seconds)
        try:
            return cast("Sequence[Outcome]", self.oracle.run_many(self.entry, runs))
        finally:
            self.oracle.limits = kept


class SideDriver(Driver):
    """The same runs, asked whether they take one side."""

    one_of_many = True

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


def module_text(files: Sequence[str], options: Any, *, traps: bool) -> str:
    """The module of the program as text."""
    database = CompileDatabase(options.compile_database) if options.compile_database is not None else None
    paths = [Path(file) for file in files]
    chosen = replace(options, traps=traps)
    texts = [compile_ir(path, chosen, database.command(path) if database is not None else None) for path in paths]
    if len(texts) == 1:
        return texts[0]
    return WORKER.link(list(zip(files, texts, strict=True)), options.timeout_s)
