"""Questions about one loop in this process, for tests that look at what was found rather than at how it is shown."""

from __future__ import annotations

from collections.abc import Iterable

from loopless.automaton import LoopClass, PathAutomaton
from loopless.paths import LoopPaths
from loopless.queries.loops.answer import LoopAnswer, Question
from loopless.queries.loops.answers import answer_loop
from loopless.queries.program import AnalyzedLoop
from loopless.refusals import Refused
from loopless.summary import LoopSummary


def asked(loop: AnalyzedLoop, **question: object) -> LoopAnswer:
    """The answer about a loop; ``question`` has fields of the question."""
    return answer_loop(loop.function, loop.id, Question(**question))  # type: ignore[arg-type]


def summary_of(
    loop: AnalyzedLoop, vars: Iterable[str] | None = None, assume: str | None = None
) -> LoopSummary | Refused:
    """The loop's summary, or why there is none."""
    names = tuple(vars) if vars is not None else None
    answer = asked(loop, variables=names, assume=assume, classify=False)
    return answer.summary if answer.summary is not None else _refusal(answer)


def type_of(loop: AnalyzedLoop) -> LoopClass | Refused:
    """The loop's type, or why there is none."""
    answer = asked(loop, summarize=False)
    return answer.classification if answer.classification is not None else _refusal(answer)


def paths_of(loop: AnalyzedLoop) -> LoopPaths | Refused:
    """The ways through the loop's body."""
    answer = asked(loop, classify=False, summarize=False)
    return answer.paths if answer.paths is not None else _refusal(answer)


def automaton_of(loop: AnalyzedLoop) -> PathAutomaton | Refused:
    """The loop's path dependency automaton."""
    answer = asked(loop, classify=False, summarize=False, draw=True)
    return answer.automaton if answer.automaton is not None else _refusal(answer)


def _refusal(answer: LoopAnswer) -> Refused:
    refused = answer.refused or answer.untyped
    assert refused is not None
    return refused
