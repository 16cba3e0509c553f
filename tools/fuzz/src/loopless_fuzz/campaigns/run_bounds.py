"""Bounds of programs of several functions, judged by what native runs of ``main`` count.

Judged are the bounds of a run from ``main``, and those of each call of a function, in the values that the call began
with. What a bound takes for granted is tested: where objects overlap that a bound says do not, it is left out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

from loopless import terms as t
from loopless.bounds import Claim
from loopless.flowgraph.model import Flowgraph, Kind
from loopless.queries.bounds.answering import answer_bounds
from loopless.queries.bounds.answers import FunctionBound, LoopIterations
from loopless.queries.bounds.runs import is_recursion
from loopless.queries.bounds.whole_program import ProgramBounds, answer_run
from loopless.queries.loops.name import LoopName
from loopless.queries.program import AnalyzedFunction, AnalyzedProgram, load
from loopless.queries.settings import Settings
from loopless_fuzz.campaigns.writes import written_by
from loopless_fuzz.judging.counting import Activation, Count, Counted, Counts

Verdict = Literal["tight", "above", "below", "unknown", "granted"]
"""How a bound stands to a count: "below" the truth is wrong, and so is an exact or a lower one that is above it;
"unknown": it speaks of what is not noted, or does not hold there; "granted": it takes for granted what is not so."""

_APART: Final = re.compile(r"^(.+) and (.+) do not overlap$")
_INSIDE: Final = re.compile(r"inside the memory")
_INPUTS: Final = (Kind.PARAMETER, Kind.GLOBAL, Kind.POINTEE)


@dataclass(frozen=True, slots=True)
class Finding:
    """One bound beside one count. ``what``: of which kind it is; ``wrong``: what is wrong, in words, or ""."""

    what: str
    verdict: Verdict
    wrong: str = ""


@dataclass(frozen=True, slots=True)
class Bounded:
    """What the tool says of a program: by function, and of a run from ``main`` (empty where it has no ``main``)."""

    program: AnalyzedProgram
    counted: Counted
    answers: Mapping[str, FunctionBound]
    run: ProgramBounds


def bounded(file: Path, counted: Counted, settings: Settings, names: Collection[str] | None = None) -> Bounded:
    """The bounds of a program as ``loopless bound FILE`` and ``loopless bound FILE --entry main`` give them; of the
    functions with these names and ``main``, or of all.
    """
    program = load([file], settings)
    wanted = {f.name for f in program.functions} if names is None else {*names, "main"}
    functions = [function for function in program.functions if function.name in wanted]
    functions = [function for function in functions if function.loops or function.name == "main"]
    answers = {found.name: found for found in answer_bounds(functions, "all", settings)}
    main = program["main"]
    return Bounded(program, counted, answers, answer_run(program, main, "all", settings))


def judged(subject: Bounded, counts: Counts) -> Iterator[Finding]:
    """All bounds of a program beside the counts of one run."""
    if not counts.loops and not counts.calls:
        return  # it was cut off without a trace
    source = subject.program.source
    for activation in counts.activations:
        for name, known in written_by((source.module, source.inlined), activation):
            wrong = "" if known else f"a call of {activation.function} writes {name}, which its effects leave out"
            yield Finding("writes", "tight" if known else "below", wrong)
        found = subject.answers.get(activation.function)
        if found is None:
            continue
        if any(is_recursion(bound.answer.loop) for bound in found.loops):
            if counts.dropped:
                continue  # not all calls of itself are known
            inside = [
                other
                for other in counts.activations
                if other.function == activation.function and activation.first <= other.first <= activation.last
            ]
            activation = _together(activation, inside)
        yield from _of_call(subject, subject.program[found.name], found, activation)
    first = counts.activations[0]
    assert first.function == "main"
    yield from _of_run(subject, counts, first)


# ---------------------------------------------------------------------------------------------------------- a run


def _of_run(subject: Bounded, counts: Counts, main: Activation) -> Iterator[Finding]:
    """The bounds of a run: its loops by their places, in all and of any entry."""
    answer, graph = subject.run.entry, subject.program["main"].graph()
    values = _Values(graph if isinstance(graph, Flowgraph) else None, answer, main)
    known: set[int] = set()
    for run in subject.run.loops:
        number = _number(subject, run.loop)
        if number is None:
            continue
        known.add(number)
        count = counts.loops[number]
        granted = [text for copy in run.copies for text in copy.calls.granted]
        del granted  # calls of the program's own functions that do not return are none of what may be granted
        if not values.granted(answer.granted):
            yield Finding("run", "granted")
            continue
        where = f"{run.loop.name} in a run"
        total, entry = values.number(run.total), values.number(run.any_entry)
        # A run whose assumption fails is none that the program is meant to have: it may take fewer.
        exact = run.exact and not counts.cut and counts.outcome.status != "assumption-failed"
        yield _beside(f"run total{' exact' * exact}", where, total, count.total, exact=exact)
        yield _beside("run entry", f"{where}, one entry", entry, count.most)
    if answer.refused is None and not isinstance(graph, Flowgraph):
        return
    for number, count in enumerate(counts.loops):
        if number not in known and count.total and answer.refused is None:
            text = f"the loop entered at line {subject.counted.lines[number]} takes {count.total} and is not named"
            yield Finding("run total", "below", text)


def _number(subject: Bounded, loop: LoopName) -> int | None:
    """The number of a loop of the program's text."""
    return None if is_recursion(loop) else subject.counted.loop_at(loop.line)


# --------------------------------------------------------------------------------------------------------- a call


def _together(first: Activation, inside: Sequence[Activation]) -> Activation:
    """A call with those of itself that it comes to, which its bounds are about, too, where they read it as a loop."""
    loops = {}
    for number in first.loops:
        own = [other.loops[number] for other in inside]
        loops[number] = Count(sum(count.total for count in own), max(count.most for count in own))
    return replace(first, loops=loops, everything=first.everything + len(inside) - 1)


def _of_call(
    subject: Bounded, function: AnalyzedFunction, found: FunctionBound, activation: Activation
) -> Iterator[Finding]:
    """The bounds of one call of a function."""
    graph, ends = function.graph(), activation.returned
    values = _Values(graph if isinstance(graph, Flowgraph) else None, found, activation)
    if not values.granted(found.granted):
        yield Finding("call", "granted")
        return
    for bound in found.counts:
        loop = bound.answer.loop
        if loop.inlined_from is not None or is_recursion(loop):
            continue
        number = subject.counted.loop_at(loop.line)
        count = activation.loops.get(number)
        if count is None:
            raise AssertionError(f"{loop.name} is loop {number}, which is not of {activation.function}")
        yield from _of_loop(bound, values, count, ends=ends)
    if not any(is_recursion(bound.answer.loop) for bound in found.loops):
        where = f"all loops in a call of {found.name}"
        yield from _of_claim("all", where, found.call, values, activation.everything, ends=ends)


def _of_loop(bound: LoopIterations, values: _Values, count: Count, *, ends: bool) -> Iterator[Finding]:
    where = f"{bound.answer.loop.name} in a call"
    yield from _of_claim("call", where, bound.call, values, count.total, ends=ends)
    yield _beside("any entry", f"{where}, one entry", values.number(bound.any_entry), count.most)


def _of_claim(what: str, where: str, claim: Claim, values: _Values, truth: int, *, ends: bool) -> Iterator[Finding]:
    """A claim about a call that ``ends``, by returning, or else was left before, by the end of the run."""
    upper = values.number(claim.upper, claim.when)
    exact = claim.exact and ends
    yield _beside(f"{what}{' exact' * exact}", where, upper, truth, exact=exact)
    lower = values.number(claim.lower, claim.when)
    if lower and ends:
        wrong = f"{where}: at least {lower}, it takes {truth}{values.told()}" if lower > truth else ""
        yield Finding(f"{what} lower", "below" if wrong else "tight" if lower == truth else "above", wrong)
    if ends and values.holds(claim.never):
        yield Finding(f"{what} never", "below", f"{where}: never ends, and it did{values.told()}")


def _beside(what: str, where: str, bound: int | None, truth: int, *, exact: bool = False) -> Finding:
    if bound is None:
        return Finding(what, "unknown")
    if truth > bound or (exact and truth != bound):
        word = "exactly" if exact else "at most"
        return Finding(what, "below", f"{where}: {word} {bound}, it takes {truth}")
    return Finding(what, "tight" if truth == bound else "above")


class _Values:
    """What a call began with, by the variables of its function's bounds."""

    def __init__(self, graph: Flowgraph | None, found: FunctionBound, activation: Activation) -> None:
        self.activation = activation
        self._noted = {_plain(name): value for name, value in activation.values.items()}
        self._shown = found.shown
        self._inputs = {var for var, info in graph.variables.items() if info.kind in _INPUTS} if graph else set()
        self._read: dict[str, int] = {}

    def number(self, term: t.Term | None, when: t.Condition = t.TRUE) -> int | None:
        """The number that a term comes to; None where it does not hold, or speaks of what was not noted."""
        if term is None:
            return None
        try:
            values = self._of(term.variables | when.variables)
            return t.evaluate(term, values) if t.holds(when, values) else None
        except t.EvaluationError:
            return None

    def holds(self, condition: t.Condition) -> bool:
        """Whether a condition is known to hold."""
        try:
            return t.holds(condition, self._of(condition.variables))
        except t.EvaluationError:
            return False

    def _of(self, variables: frozenset[t.Var]) -> dict[t.Var, int]:
        found = {}
        for var in variables & self._inputs:
            name = self._shown.get(var, var.name)
            if name in self._noted:
                found[var] = self._read[name] = var.type.wrap(self._noted[name])
        return found

    def told(self) -> str:
        """The values that bounds spoke of, for people."""
        return f" (at {', '.join(f'{name}={value}' for name, value in self._read.items())})" if self._read else ""

    def granted(self, assumptions: Sequence[str]) -> bool:
        """Whether what is taken for granted is so, as far as that can be told; accesses are tested by the run."""
        for text in assumptions:
            pair = _APART.match(text)
            if pair is not None and self._may_overlap(pair[1], pair[2]):
                return False
            if pair is None and "point into the same object" in text:
                return False
        return True

    def _may_overlap(self, one: str, other: str) -> bool:
        regions = self.activation.regions
        if one not in regions or other not in regions:
            return True
        (first, size), (second, length) = regions[one], regions[other]
        return first < second + length and second < first + size


def _plain(name: str) -> str:
    """As bounds name it: ``(*p)`` is ``*p``."""
    return name[1:-1] if name.startswith("(") and name.endswith(")") else name
