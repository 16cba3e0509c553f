"""How often loops run whose values have no summary: by what decides when they are left alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from loopless import terms as t
from loopless.flowgraph.model import Flowgraph, LoopInfo
from loopless.paths import LoopPaths, NoPaths, Path
from loopless.queries.functions import FunctionAnswer
from loopless.queries.jobs.overrun import Overrun, attempted
from loopless.queries.jobs.running import work
from loopless.queries.loops.answer import LoopAnswer
from loopless.queries.program import AnalyzedFunction, AnalyzedProgram
from loopless.queries.settings import Settings
from loopless.records import dataclass
from loopless.refusals import Refused
from loopless.summary import LoopSummary, paths_of, readable, summarize

Counts = Mapping[str, LoopSummary]
"""By the names of loops, summaries of what decides when they are left, and of nothing else: of undefined behaviour that
other values meet they say nothing.
"""


def counts_alone(
    functions: Sequence[AnalyzedFunction],
    answers: Sequence[FunctionAnswer],
    settings: Settings,
    until: float | None = None,
) -> Sequence[Counts]:
    """For each function the counts of loops that have no complete summary, each loop under its own limits."""
    asked = [(at, loop.loop.name) for at, answer in enumerate(answers) for loop in answer.loops if _is_open(loop)]
    jobs = [
        CountAlone(function.program, function.program.functions.index(function), name).run
        for function, name in ((functions[at], name) for at, name in asked)
    ]
    results = work(jobs, settings, until)
    found: list[dict[str, LoopSummary]] = [{} for _ in functions]
    for (at, name), result in zip(asked, results, strict=True):
        if isinstance(result, LoopSummary):
            found[at][name] = result
    return found


def _is_open(loop: LoopAnswer) -> bool:
    """Whether the values of a loop are not known for all entry states, but its paths might be followed."""
    known = loop.summary is not None and loop.summary.complete
    return not known and (loop.paths is not None or loop.refused is not None)


@dataclass(frozen=True, slots=True)
class CountAlone:
    """The job of counting the iterations of the loop ``name`` by what decides when it is left."""

    program: AnalyzedProgram
    index: int
    """Of the function among those of the program."""
    name: str

    def run(self) -> LoopSummary | None:
        """The summary of what decides when the loop is left; None where it is not known for every entry state."""
        graph = self.program.functions[self.index].graph()
        if isinstance(graph, Refused):
            return None
        loop = next((loop for loop in graph.loops if loop.name == self.name), None)
        if loop is None:
            return None
        # The other answer about the loop says what went wrong.
        found = attempted(_counted, graph, loop)
        return None if isinstance(found, Overrun) else found


def _counted(graph: Flowgraph, loop: LoopInfo) -> LoopSummary | None:
    paths = paths_of(graph, loop, ())
    outcome = None if isinstance(paths, NoPaths) else summarize(_without_unused(paths))
    if (
        not isinstance(outcome, LoopSummary)
        or not outcome.complete
        or outcome.diverges is not t.FALSE
        or not outcome.exact
    ):
        return None
    plain = readable(outcome)
    # What pickles back is small: the paths are told elsewhere.
    return replace(plain, cases=tuple(replace(case, then={}, contents=None) for case in plain.cases))


def _without_unused(paths: LoopPaths) -> LoopPaths:
    """The paths without the values from outside on which nothing depends."""

    def plain(path: Path) -> Path:
        used = path.condition.variables.union(*(term.variables for term in path.update.values()))
        return replace(path, unknowns=tuple(u for u in path.unknowns if u.var in used), result=None)

    return replace(paths, iterative=tuple(map(plain, paths.iterative)), exits=tuple(map(plain, paths.exits)))
