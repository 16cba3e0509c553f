"""Calls evaluated from the summary of the whole function, without running it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from loopless.check.interpret import Leap
from loopless.flowgraph.model import Flowgraph
from loopless.summary import Diverges, FunctionCase, FunctionSummary, Residual, Undefined
from loopless.terms import EvaluationError, Var, evaluate

if TYPE_CHECKING:
    from loopless.check.outcome import Status

_ENDS: Final[Mapping[str, tuple[Status, str]]] = {
    "abort": ("aborted", "abort"),
    "exit": ("aborted", "exit"),
    "error": ("error-reached", "the error function is called"),
    "assumption": ("assumption-failed", "an assumption is false"),
}


class Whole:
    """The summary of a function, ready to be evaluated."""

    def __init__(self, summary: FunctionSummary, graph: Flowgraph) -> None:
        self._summary = summary
        self._file = graph.loc.file if graph.loc is not None else graph.source_name
        # Pointers of a call that is evaluated point to memory of their own, as the flowgraph takes them to do.
        self._granted = frozenset(graph.assumptions)
        self._inputs = tuple(input for input in summary.inputs if input.kind == "nondet")
        by_header = {loop.header: loop for loop in graph.loops}
        self._inner = {
            by_header[loop.parent].name: loop.name for loop in graph.loops if loop.parent is not None
        }

    def leap(self, values: Mapping[Var, int], nondet: Sequence[int]) -> Leap | None:
        """What a call with these entry values does; None where the summary does not say, or not without assumptions,
        or a value is missing that it takes to tell.
        """
        if not self._granted.issuperset(self._summary.assumptions):
            return None
        given = dict(values)
        for input in self._inputs:
            if input.number <= len(nondet):
                given[input.var] = _as_read(nondet[input.number - 1], input.var)
        try:
            match self._summary.at(given):
                case FunctionCase() as case:
                    return self._case(case, given, nondet)
                case Diverges(loop=loop):
                    return Leap("diverges", reason=f"the loop {loop} never ends from these values")
                case Undefined(kind=kind, line=line):
                    return Leap("undefined", reason=f"{kind.replace('-', ' ')} at {self._file}:{line}")
                case Residual():
                    return None
        except EvaluationError:
            return None

    def _case(self, case: FunctionCase, given: Mapping[Var, int], nondet: Sequence[int]) -> Leap | None:
        if not self._granted.issuperset(case.assumptions) or len(case.inputs) > len(nondet):
            return None
        if any(self._inner.get(step.loop, step.loop) not in case.iterations for step in case.passed):
            return None  # how often inner loops are taken is not told
        iterations = {name: evaluate(count, given) for name, count in case.iterations.items()}
        if case.kind != "return":
            status, reason = _ENDS[case.kind]
            return Leap(status, iterations=iterations, drawn=len(case.inputs), reason=reason)
        result = evaluate(case.result, given) if case.result is not None else None
        final = {var: evaluate(term, given) for var, term in case.then.items()}
        return Leap("ok", result, final, iterations, len(case.inputs))


def _as_read(value: int, var: Var) -> int:
    """An input as a native run reads it."""
    return int(value != 0) if var.type.width == 1 else var.type.wrap(value)
