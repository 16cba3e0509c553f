"""Answers about C loops with contents of memory that a test gives, whatever the methods find."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from answers_in_c import answers
from loopless import terms as t
from loopless.queries.loops.answer import LoopAnswer
from loopless.summary import LoopSummary, merged, readable

INT = t.IntType(32)
BYTE = t.IntType(8, signed=False)
J = t.INDEX


def with_contents(summary: LoopSummary, contents: Callable[[Mapping[str, t.Var]], t.Contents]) -> LoopSummary:
    """The summary where memory holds ``contents``, over the variables by their names, behind each case with an
    iteration, and what it held behind the others.
    """
    variables = {var.name: var for var in (*summary.paths.state, *summary.paths.invariants)}
    told = contents(variables)
    cases = (replace(case, contents={} if case.iterations is t.ZERO else told) for case in summary.cases)
    return replace(summary, cases=tuple(cases))


def answer(source: str, contents: Callable[[Mapping[str, t.Var]], t.Contents]) -> LoopAnswer:
    """The answer about the only loop of ``source`` with such contents."""
    (found,) = answers(source)
    assert found.summary is not None
    summary = readable(with_contents(found.summary, contents))
    return replace(found, summary=summary, merged=merged(summary), at_entry=None, untold=())


def row(value: t.Term | None, where: t.Condition, start: t.Term = t.ZERO, stride: int = 4) -> t.Layer:
    """A layer of integers."""
    return t.Layer(INT, start, stride, where, value)
