"""Counts for the few inputs that a function's summary leaves open, by one run of the judge's interpreter for each.

A run that ends counts its loops exactly. A run that repeats a state never ends. The runs are an answer only if they
cover all inputs: there is none where an input may have more values than are tried, or where a run needs an unknown one.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from loopless import terms as t
from loopless.check.interpreter.run import Interpreter, InterpreterRun
from loopless.errors import LooplessError
from loopless.flowgraph import Options
from loopless.flowgraph.model import Allocate, Flowgraph, Kind
from loopless.limits.queries import MAX_CHOICES, MAX_RUN_STEPS, MAX_RUNS
from loopless.logic import BudgetExceeded, NotPresburger, Region
from loopless.queries.program import AnalyzedFunction
from loopless.queries.verification.closed_world import RunFunction
from loopless.records import dataclass
from loopless.refusals import Refused
from loopless.stepping import forbidden
from loopless.summary import CallSummary, FunctionCase
from loopless.summary.function import Diverges

_KINDS: Final = {
    "ok": "return",
    "aborted": "abort",
    "error-reached": "error",
    "assumption-failed": "assumption",
    "undefined": "undefined",
}
"""What cases call the ends of runs; the iterations before undefined behaviour count, too."""

Point = Mapping[t.Var, int]


def completed(function: AnalyzedFunction, summary: CallSummary | None) -> CallSummary | None:
    """The summary with cases, and regions, for the inputs that it leaves open, as far as counts of iterations go; None
    where these are too many, or not all of their runs can be followed to the end.

    The new cases say nothing of values: they are for counting.
    """
    graph = _runnable(function)
    if graph is None or forbidden() or (summary is not None and summary.complete):
        return None
    gap = t.TRUE if summary is None else t.disjunction(part.when for part in summary.residual)
    inputs = _inputs(graph, summary, gap)
    points = None if inputs is None else _points(gap, inputs)
    if inputs is None or points is None:
        return None
    options = function.program.settings
    interpreter = Interpreter(
        function.program.source.inlined,
        graph,
        options=Options(options.mathematical, options.wrapv, options.apart),
    )
    ends: dict[_End, list[t.Condition]] = {}
    left = MAX_RUN_STEPS
    for point in points:
        run = _followed(interpreter, inputs, point, left)
        end = None if run is None else _end_of(graph, run)
        if run is None or end is None:
            return None
        left -= sum(run.iterations.values())
        here = t.conjunction(var.eq(value) for var, value in sorted(point.items(), key=lambda p: p[0].key))
        ends.setdefault(end, []).append(here)
    return _with_ends(function, graph, summary, ends)


@dataclass(frozen=True, slots=True)
class _Inputs:
    """The inputs of a run: its parameters, and what it reads from outside, in order."""

    parameters: tuple[t.Var, ...]
    read: tuple[t.Var, ...]


@dataclass(frozen=True, slots=True)
class _End:
    """How a run ends, ``kind`` as cases of summaries name it, in which line, with how many iterations of its loops by
    their names; or ``endless``, the name of the loop that it never leaves.
    """

    kind: str
    line: int
    iterations: tuple[tuple[str, int], ...] = ()
    endless: str = ""


def _runnable(function: AnalyzedFunction) -> Flowgraph | None:
    """The function, if nothing but numbers that it is given and that it reads from outside decides what it does."""
    plain = function.plain if isinstance(function, RunFunction) else function
    graph = plain.graph()
    if isinstance(graph, Refused) or not plain.is_as_written or graph.irreducible:
        return None
    begins = isinstance(function, RunFunction) and function.code.name == function.world.entry and function.world.begins
    if isinstance(function, RunFunction) and not (begins and not function.world.given):
        return None
    if any(parameter.object is not None or parameter.var is None for parameter in graph.parameters):
        return None
    bodies = {other.code.name: other for other in plain.program.functions}
    called = [bodies[name].graph() for name in plain.reached.names]
    if plain.reached.outside:
        return None
    for one in (graph, *called):
        if isinstance(one, Refused) or any(isinstance(s, Allocate) for b in one.blocks.values() for s in b.statements):
            return None  # that memory is there decides the implementation
        if not begins and not _is_closed(one):
            return None
    return graph


def _is_closed(graph: Flowgraph) -> bool:
    """Whether what the function finds in memory is what it has put there, or never changes."""
    outside = any(info.kind in (Kind.GLOBAL, Kind.POINTEE) for info in graph.variables.values())
    return not outside and not any(o.kind == "global" and not o.constant for o in graph.objects.values())


def _inputs(graph: Flowgraph, summary: CallSummary | None, gap: t.Condition) -> _Inputs | None:
    """The inputs of the runs; None where more decides them."""
    parameters = tuple(p.var for p in graph.parameters if p.var is not None)
    numbers = {} if summary is None else {one.var: one.number for one in summary.inputs if one.kind == "nondet"}
    read = tuple(sorted((var for var in gap.variables if var in numbers), key=lambda var: numbers[var]))
    if [numbers[var] for var in read] != list(range(1, len(read) + 1)):
        return None
    variables = (*parameters, *read)
    if not gap.variables <= set(variables) or any(var.type.width is None for var in variables):
        return None
    return _Inputs(parameters, read)


def _points(gap: t.Condition, inputs: _Inputs) -> list[Point] | None:
    """The values of the inputs for which ``gap`` holds; None where they are too many."""
    variables = (*inputs.parameters, *inputs.read)
    if not variables:
        return [{}]
    ranges = []
    choices = 1
    try:
        region = Region.of(gap, variables)
        if region.is_empty():
            return []
        for var in variables:
            low, high = region.range_of(var)
            if low is None or high is None:
                return None
            choices *= high - low + 1
            if choices > MAX_CHOICES:
                return None
            ranges.append(range(low, high + 1))
        drawn = (dict(zip(variables, values, strict=True)) for values in itertools.product(*ranges))
        found: list[Point] = [point for point in drawn if t.holds(gap, point)]
    except (BudgetExceeded, NotPresburger, t.EvaluationError):
        return None
    return found if len(found) <= MAX_RUNS else None


def _followed(interpreter: Interpreter, inputs: _Inputs, point: Point, steps: int) -> InterpreterRun | None:
    """The run with these inputs; None where it is longer than so many steps."""
    arguments, read = [point[var] for var in inputs.parameters], [point[var] for var in inputs.read]
    try:
        return interpreter.run(arguments, read, max_steps=max(1, steps))
    except LooplessError:
        return None


def _end_of(graph: Flowgraph, run: InterpreterRun) -> _End | None:
    """How a run ends, where it was followed to its end or will never come to one."""
    line = run.where.line if run.where is not None else 0
    if run.status == "diverges":
        loops = [loop.name for loop in graph.loops if loop.loc is not None and loop.loc == run.where]
        return _End(run.status, line, endless=loops[0]) if len(loops) == 1 else None
    names = {loop.name for loop in graph.loops}
    counts = tuple(sorted((name, count) for name, count in run.iterations.items() if name in names))
    return _End(_KINDS[run.status], line, counts) if run.status in _KINDS else None


def _with_ends(
    function: AnalyzedFunction,
    graph: Flowgraph,
    summary: CallSummary | None,
    ends: Mapping[_End, Sequence[t.Condition]],
) -> CallSummary:
    """The summary with these ends in place of what it leaves open."""
    names, parameters = tuple(loop.name for loop in graph.loops), tuple(graph.parameters)
    known = summary or CallSummary(function.name, function.place, parameters, (), (), (), (), (), names, {})
    cases, diverges = list(known.cases), list(known.diverges)
    for end, points in ends.items():
        when = t.disjunction(points)
        if end.endless:
            diverges.append(Diverges(when, end.endless))
        else:
            counts = {name: t.const(count) for name, count in end.iterations}
            cases.append(FunctionCase(when, end.kind, end.line, None, "", {}, counts, (), (), ()))
    return replace(known, cases=tuple(cases), diverges=tuple(diverges), residual=())
