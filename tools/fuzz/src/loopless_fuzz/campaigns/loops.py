"""The summary of each loop of a program, judged state by state against the loop itself, run alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Final

from loopless import clock
from loopless import terms as t
from loopless.check.interpreter.run import Interpreter, Jump
from loopless.errors import LimitError, UsageError
from loopless.flowgraph.model import Flowgraph, LoopInfo
from loopless.paths import LoopPaths
from loopless.queries.program import AnalyzedFunction, load
from loopless.refusals import Reason, Refused
from loopless.summary import (
    LoopSummary,
    Outcome,
    fixed_by,
    from_entry,
    paths_of,
    readable,
    summarize,
    summarized,
    with_memory,
)
from loopless.summary.memory.telling import writes_memory
from loopless_fuzz.campaigns.rows import LoopRow, State
from loopless_fuzz.judging.claims import Claims, Judgement, judge_all
from loopless_fuzz.judging.contents import ClaimReader, Entry
from loopless_fuzz.judging.entries import draw_entries, every_entry
from loopless_fuzz.judging.loop_alone import LoopAlone
from loopless_fuzz.judging.states import all_states, constants

STAGES: Final = ("read", "flowgraph", "paths", "summary", "reading", "judge")
STEPS: Final = 20_000
"""How many iterations of a run are followed."""
READING_STEPS: Final = 2_000
"""The same where the loop reads memory: what is read is small, and sums over it are evaluated element by element."""
_FOLDER: Final = re.compile(r"/\S*/(?=case\.c)")


@dataclass(slots=True)
class Subject:
    """A program that is read: its function under test, and what is known about its loops."""

    function: AnalyzedFunction
    graph: Flowgraph | None
    refused: Refused | None
    seconds: dict[str, float]
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    paths: dict[str, LoopPaths] = field(default_factory=dict)

    @property
    def loops(self) -> tuple[LoopInfo, ...]:
        """Its loops, those around others first."""
        return self.graph.loops if self.graph is not None else ()


def read(text: str, folder: Path, name: str = "f") -> Subject:
    """Compile a program and take its function apart."""
    file = folder / "case.c"
    file.write_text(text, encoding="utf-8")
    started = clock.wall()
    function = load([file])[name]
    seconds = {"read": clock.wall() - started}  # clang is another process
    started = clock.now()
    graph = function.graph()
    seconds["flowgraph"] = clock.now() - started
    if isinstance(graph, Refused):
        return Subject(function, None, graph, seconds)
    return Subject(function, graph, None, seconds)


def summarize_loop(subject: Subject, loop: LoopInfo, row: LoopRow) -> None:
    """Summarize one loop as the tool does, and note what came of it."""
    assert subject.graph is not None
    started = clock.now()
    graph = subject.function.over_streams
    assert not isinstance(graph, Refused)
    paths = paths_of(graph, loop, known=subject.function.inner)
    row.seconds["paths"] = clock.now() - started
    started = clock.now()
    outcome: Outcome
    try:
        if isinstance(paths, LoopPaths):
            row.paths = len(paths.iterative)
            paths, outcome = from_entry(graph, paths, summarize(paths))
            paths, outcome = with_memory(graph, paths, outcome, known=subject.function.inner)
        else:
            paths, outcome = summarized(graph, paths, known=subject.function.inner)
        if isinstance(paths, LoopPaths):
            subject.paths[loop.name] = paths
        row.writes = how_told(outcome) if writes_memory(graph, loop) else ""
        row.seconds["summary"] = clock.now() - started
        if isinstance(outcome, LoopSummary):
            started = clock.now()
            outcome = readable(outcome)
            row.seconds["reading"] = clock.now() - started
    except LimitError as error:
        outcome = Refused(Reason.BUDGET, loop.name, str(error))
    subject.outcomes[loop.name] = outcome
    noted(row, outcome)


_TOLD: Final = ("normal", "return", "exit", "abort")
"""The ways out behind which memory matters."""


def how_told(outcome: Outcome) -> str:
    """How much a summary says of what memory holds behind the loop: "exact", "partly" where some elements are not
    known, "lost" where some case says nothing, "refused".
    """
    if isinstance(outcome, Refused):
        return "refused"
    told = [case.contents for case in outcome.cases if case.exit.kind in _TOLD]
    if None in told:
        return "lost"
    layers = [layer for contents in told for each in (contents or {}).values() for layer in each]
    if any(layer.value is None for layer in layers):
        return "partly"
    return "exact"


def noted(row: LoopRow, outcome: Outcome) -> None:
    """What came of a loop."""
    if isinstance(outcome, Refused):
        row.status, row.causes, row.details = "refused", [cause(outcome)], [told(outcome)]
        return
    row.status = "residual" if not outcome.complete else "complete" if outcome.entered is t.TRUE else "entered"
    row.causes = sorted({cause(part.why) for part in outcome.residual})
    row.details = [told(part.why) for part in outcome.residual[:2]]
    row.pieces, row.method = len(outcome.cases), outcome.method


def short(loop: LoopInfo) -> str:
    """The loop's name without the folder of its file, the same in every process."""
    return loop.name.rpartition("/")[2]


def cause(refused: Refused) -> str:
    """A refusal in a word."""
    return f"{refused.reason.code} {refused.reason.label}"


def told(refused: Refused) -> str:
    """The sentence of a refusal, folders left out."""
    return _FOLDER.sub("", refused.detail)[:160]


@dataclass(slots=True)
class Court:
    """Where one summary is judged: the loop alone, and what is said about it."""

    alone: LoopAlone
    claims: Claims
    numbers: frozenset[int]
    entered: t.Condition

    def judge(self, entries: Iterable[Mapping[t.Var, int] | Entry]) -> Judgement:
        """The summary in these states, if the program enters the loop in them."""
        # Values that do not matter are not in the states; those that the program fixes are right for all of them.
        fixed = fixed_by(self.entered)
        stated = fixed.keys() | set(self.alone.entry)
        entered = t.conjunction(part for part in t.conjuncts(self.entered) if part.variables <= stated)
        every = (entry if isinstance(entry, Entry) else Entry(entry) for entry in entries)
        inside = (e for e in every if t.holds(entered, {**fixed, **e.values}, self._reader(e)))
        return judge_all(self.alone, self.claims, inside, max_steps=READING_STEPS if self.alone.contents else STEPS)

    def _reader(self, entry: Entry) -> ClaimReader:
        return ClaimReader(self.alone.contents, entry.contents, {}, entry.values)

    def drawn(self, seed: int, count: int, first: Sequence[State] = ()) -> list[Entry]:
        """``count`` entries, after those in ``first`` (by the names of variables) that this loop can be in."""
        known = [Entry.of(state, self.alone.entry) for state in first]
        fitting = [entry for entry in known if all(var.type.holds(value) for var, value in entry.values.items())]
        entries = [*fitting, *draw_entries(self.alone, self.numbers, seed, count)]
        fixed = fixed_by(self.entered)
        return [
            Entry({**e.values, **{var: value for var, value in fixed.items() if var in e.values}}, e.contents)
            for e in entries
        ]

    def every(self) -> Iterator[Entry] | None:
        """All entries of a loop that reads memory, of small size; all states of another; None where these are many."""
        if self.alone.contents:
            return every_entry(self.alone, self.numbers)
        states = all_states(self.alone.entry)
        return None if states is None else (Entry(state) for state in states)


def court(subject: Subject, loop: LoopInfo) -> Court | str:
    """Where the loop's summary can be judged, or why it cannot."""
    assert subject.graph is not None
    summary, paths = subject.outcomes.get(loop.name), subject.paths.get(loop.name)
    if not isinstance(summary, LoopSummary) or paths is None:
        return "there is no summary"
    if any(
        isinstance(n, t.Op) and n.op in t.NAMED_FUNCTIONS for path in paths.iterative for n in t.walk(path.condition)
    ):
        return "an inner loop's end, a named function, chooses its path"
    try:
        alone = LoopAlone(subject.graph, loop, {path.id: path.condition for path in paths.iterative})
    except UsageError as error:
        return str(error)
    claims = Claims(summary, alone.variables, {path.id: path.outputs for path in paths.exits}, alone.contents)
    numbers = constants([part for path in paths.all for part in (path.condition, *path.update.values())])
    return Court(alone, claims, numbers, summary.entered)


def judge_loop(subject: Subject, loop: LoopInfo, row: LoopRow, seed: int, states: int, *, everything: bool) -> None:
    """Judge one loop's summary in ``states`` states; with ``everything`` also in all states of its header where these
    are few, else in all that the function's runs come to it with.
    """
    found = court(subject, loop)
    if isinstance(found, str):
        row.unjudged = _FOLDER.sub("", found) if row.status != "refused" else ""
        return
    assert subject.graph is not None
    started = clock.now()
    add_judgement(row, found.judge(found.drawn(seed, states)))
    if everything and not row.mismatches:
        header = found.every()
        add_judgement(row, found.judge(header if header is not None else entry_states(subject.graph, loop)))
    row.seconds["judge"] = clock.now() - started


def add_judgement(row: LoopRow, judged: Judgement) -> None:
    """Add what was found."""
    row.states += judged.states
    row.compared += judged.compared
    counted = ((row.regions, judged.regions), (row.outcomes, judged.outcomes), (row.memory, judged.memory))
    for counts, more in counted:
        for name, count in more.items():
            counts[name] = counts.get(name, 0) + count
    row.mismatches += [(entry.shown(), why) for entry, (_, why) in zip(judged.entries, judged.mismatches, strict=True)]


def entry_states(graph: Flowgraph, loop: LoopInfo) -> Iterator[Mapping[t.Var, int]]:
    """The states in which the function's runs, on all its arguments, come to the loop; none where these are many."""
    types = [parameter.type for parameter in graph.parameters]
    if sum(type_.width or 64 if type_ is not None else 64 for type_ in types) > 16:
        return
    interpreter = Interpreter(None, graph)
    seen: list[Mapping[t.Var, int]] = []

    def arrived(at: LoopInfo, values: Mapping[t.Var, int]) -> Jump | None:
        if at.header != loop.header:
            return None
        seen.append(dict(values))
        return Jump(status="unknown", reason="only the entry is asked for")

    known: set[tuple[tuple[t.Var, int], ...]] = set()
    for arguments in _all_arguments(graph):
        seen.clear()
        interpreter.run(arguments, on_loop=arrived, max_steps=STEPS)
        for state in seen:
            key = tuple(state.items())
            if key not in known:
                known.add(key)
                yield state


def _all_arguments(graph: Flowgraph) -> Iterable[tuple[int, ...]]:
    ranges = [range(p.type.min or 0, (p.type.max or 0) + 1) for p in graph.parameters if p.type is not None]
    return product(*ranges)
