"""What a question about a loop lets methods use: the graph, the variables of interest, inner loops and the budget."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from loopless import terms as t
from loopless.flowgraph.model import Flowgraph, LoopInfo
from loopless.limits.queries import HURRIED_OPERATIONS
from loopless.logic import budget
from loopless.paths.build import changed_variables
from loopless.queries.loops.answer import Question
from loopless.queries.loops.name import LoopName
from loopless.queries.program import AnalyzedFunction
from loopless.queries.selection import variables_named
from loopless.refusals import Reason, Refused
from loopless.summary import (
    KnownLoops,
)


def graph_for(function: AnalyzedFunction, question: Question) -> Flowgraph | Refused:
    """The function as the question wants it: with streams of what comes from outside, or without."""
    return function.over_streams if question.streams else function.graph()


def variables_asked(graph: Flowgraph, loop: LoopInfo, question: Question) -> tuple[t.Var, ...] | None:
    """The variables of the loop that the question names; None for all."""
    if question.variables is None:
        return None
    inside = changed_variables(graph, loop)
    return tuple(dict.fromkeys(v for name in question.variables for v in variables_named(graph, name, inside)))


def known_loops(function: AnalyzedFunction, question: Question) -> KnownLoops:
    """What was found out about loops inside others."""
    return function.inner if question.streams else function.inner_without_streams


def allowance(question: Question) -> AbstractContextManager[object]:
    """What the logic may do for a step that tells less where it meets a limit."""
    return budget(HURRIED_OPERATIONS) if question.hurried else nullcontext()


def not_asked(name: LoopName) -> Refused:
    """The refusal of a loop about which only approximations were asked."""
    return Refused(Reason.BUDGET, name.place, "no exact method was asked")
