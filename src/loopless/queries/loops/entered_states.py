"""What the summary of a loop says of the states in which the program enters it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from loopless import terms as t
from loopless.paths.context import entry_facts, entry_values
from loopless.queries.jobs.overrun import Overrun, attempted
from loopless.queries.loops.answer import LoopAnswer, Question
from loopless.queries.loops.scope import graph_for
from loopless.queries.program import AnalyzedFunction
from loopless.refusals import Refused
from loopless.summary import (
    AtEntry,
    LoopSummary,
    at_entry,
    relative,
)


def with_entry(
    answer: LoopAnswer,
    function: AnalyzedFunction,
    question: Question,
    tell: Callable[[LoopAnswer], None] = lambda _: None,
) -> LoopAnswer:
    """The answer with what its summary says of the states in which the program enters the loop; ``tell`` is given the
    same in more words first.
    """
    graph = graph_for(function, question)
    info, summary = answer.loop.info, answer.summary
    if summary is None or info is None or isinstance(graph, Refused) or question.assume:
        return answer
    known = {var for var, variable in graph.variables.items() if variable.is_source}
    values = {v: term for v, term in entry_values(graph, info).items() if v in known and term.variables <= known}
    facts = t.conjunction(fact for fact in t.conjuncts(entry_facts(graph, info)) if fact.variables <= known)
    parts = frozenset(var for var in known if graph.variables[var].pointer_part)

    def with_it(found: AtEntry) -> LoopAnswer:
        names = {v: graph.variables[v].shown for v in (*found.fixed, *found.summary.entered.variables) if v in known}
        return replace(answer, at_entry=found, shown={**names, **answer.shown})

    found = attempted(lambda: at_entry(summary, facts, values, parts, lambda found: tell(with_it(found))))
    return answer if found is None or isinstance(found, Overrun) else with_it(found)


def entry_first(
    answer: LoopAnswer,
    outcome: LoopSummary,
    function: AnalyzedFunction,
    question: Question,
    tell: Callable[[LoopAnswer], None],
) -> LoopAnswer:
    """The answer with what most people read: to tell it of all states of the header may take long."""
    if not question.entered:
        return answer
    there = with_entry(replace(answer, summary=relative(outcome)), function, question, tell)
    return replace(answer, at_entry=there.at_entry, shown=there.shown)
