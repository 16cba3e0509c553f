"""Calls evaluated from the summary of the whole function, without running it.

The summary becomes one Python function that finds the region of the entry values and computes what it says.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from loopless import terms as t
from loopless.check.interpreter.expressions import HELPERS, Expressions, Lines
from loopless.check.interpreter.run import Application
from loopless.check.interpreter.values import MissingValue, Stop, reduced
from loopless.flowgraph.callees.streams import INPUTS, counter_of
from loopless.flowgraph.model import Flowgraph
from loopless.summary import CallSummary, Diverges, FunctionCase, Residual, Undefined
from loopless.summary.function import told

if TYPE_CHECKING:
    from loopless.check.outcome import Status

_ENDS: Final[Mapping[str, tuple[Status, str]]] = {
    "abort": ("aborted", "abort"),
    "exit": ("aborted", "exit"),
    "error": ("error-reached", "the error function is called"),
    "assumption": ("assumption-failed", "an assumption is false"),
}
_MISSING: Final = MissingValue("it is not given")

_UNCOVERED: Final = "the regions do not cover these values"

_Find = Callable[[Sequence[Any], Sequence[int]], tuple[int, tuple[int, ...]]]
"""From the values of the inputs, and those of the program that loops read, to the number of their region, and the
values of its terms.
"""


class CompiledSummary:
    """The summary of a function, ready to be evaluated."""

    def __init__(self, summary: CallSummary, graph: Flowgraph) -> None:
        self._summary = summary
        self._file = graph.loc.file if graph.loc is not None else graph.source_name
        # Pointers of a call that is evaluated point to memory of their own, as the flowgraph takes them to do.
        self._granted = frozenset(graph.assumptions)
        usable = self._granted.issuperset(summary.assumptions)
        self._find = (_compiled(summary) or _interpreted(summary)) if usable else None

    def application(self, values: Mapping[t.Var, int], nondet: Sequence[int]) -> Application | None:
        """What a call with these entry values does; None where the summary does not say, or not without assumptions,
        or a value is missing that it takes to tell.
        """
        if self._find is None:
            return None
        given: list[int | MissingValue] = []
        for input in self._summary.inputs:
            if input.kind != "nondet":
                given.append(values.get(input.var, _MISSING))
            elif input.number <= len(nondet):
                given.append(reduced(nondet[input.number - 1], input.var.type))
            else:
                given.append(_MISSING)
        try:
            number, found = self._find(given, nondet)
        except (Stop, ArithmeticError, ValueError, MemoryError):
            return None
        match self._summary.regions[number]:
            case FunctionCase() as case:
                return self._case(case, found, nondet)
            case Diverges(loop=loop):
                return Application("diverges", reason=f"the loop {loop} never ends from these values")
            case Undefined(kind=kind, line=line):
                return Application("undefined", reason=f"{kind.replace('-', ' ')} at {self._file}:{line}")
            case Residual():
                return None

    def _case(self, case: FunctionCase, found: tuple[int, ...], nondet: Sequence[int]) -> Application | None:
        if not self._granted.issuperset(case.assumptions) or len(case.inputs) > len(nondet):
            return None
        if not case.exact:
            return None  # the run may end otherwise
        if case.contents is None or case.contents:
            return None  # memory changes
        if case.uncounted:
            return None  # how often inner loops are taken is not told
        iterations = dict(zip(case.iterations, found, strict=False))
        final = dict(zip(case.then, found[len(iterations) :], strict=False))
        drawn = len(case.inputs) + final.pop(counter_of(INPUTS), 0)
        if case.kind != "return":
            if self._summary.reads_streams:
                return None  # how many inputs are read is told of returns
            status, reason = _ENDS[case.kind]
            return Application(status, iterations=iterations, drawn=drawn, reason=reason)
        result = found[-1] if case.result is not None else None
        return Application("ok", result, final, iterations, drawn)


def _interpreted(summary: CallSummary) -> _Find:
    """The summary, its terms evaluated one by one."""
    regions, variables = summary.regions, [input.var for input in summary.inputs]

    def find(values: Sequence[Any], inputs: Sequence[int]) -> tuple[int, tuple[int, ...]]:
        def read(array: str, offset: int, type: t.IntType) -> int:
            if array != INPUTS or offset >= len(inputs):
                raise t.EvaluationError(f"{array} is not given")
            return reduced(inputs[offset], type)

        given = {var: x for var, x in zip(variables, values, strict=True) if not isinstance(x, MissingValue)}
        here = t.Valuation(given, read)
        for number, region in enumerate(regions):
            if here.holds(region.when):
                return number, tuple(here.evaluate(term) for term in told(region))
        raise ValueError(_UNCOVERED)

    return find


def _compiled(summary: CallSummary) -> _Find | None:
    """The summary as a Python function; None where it reads memory or names functions that Python does not have, or is
    beyond what Python's compiler takes.
    """
    nodes: list[t.Node] = [node for region in summary.regions for node in (region.when, *told(region))]
    parts = {part for node in nodes for part in t.walk_inside(node)}
    if any(isinstance(part, t.Read | t.Aggregate) for part in parts):
        return None
    if any(isinstance(part, t.Op) and part.op in t.NAMED_FUNCTIONS for part in parts):
        return None
    names = {input.var: f"v{at}" for at, input in enumerate(summary.inputs)}
    out = Lines()
    expressions = Expressions(out, names, lambda _: -1)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 20_000))
    namespace: dict[str, Any] = dict(HELPERS)
    try:
        out("def find(values, inputs):")
        with out.deeper():
            if names:
                out(f"{', '.join(names.values())}, = values")
            for number, region in enumerate(summary.regions):
                expressions.begin()
                out(f"if {expressions.condition(region.when)}:")
                with out.deeper():
                    expressions.begin()
                    values = "".join(f"{expressions.term(term)}, " for term in told(region))
                    out(f"return {number}, ({values})")
            out(f"raise ValueError({_UNCOVERED!r})")
        exec(compile("\n".join(out.lines), f"<{summary.name}>", "exec"), namespace)  # noqa: S102  our own code
    except (RecursionError, SyntaxError, MemoryError):
        return None
    finally:
        sys.setrecursionlimit(limit)
    find: _Find = namespace["find"]
    return find
