"""How answers that people hold look: as text, in one short line, as a page of HTML, and as JSON.

Each function goes by the type of what it is given. :mod:`loopless.queries.shown` asks them.
"""

from __future__ import annotations

from functools import singledispatch
from pathlib import Path
from typing import Any, Final

from loopless.errors import UsageError
from loopless.queries.bounds.answers import FunctionBound, LoopBound
from loopless.queries.call_values.inputs import Given
from loopless.queries.call_values.reached import Reached
from loopless.queries.call_values.surroundings import surroundings
from loopless.queries.evaluation.evaluate import Evaluation
from loopless.queries.functions import FunctionAnswer
from loopless.queries.loops.answer import LoopAnswer
from loopless.queries.program import AnalyzedFunction, AnalyzedLoop, AnalyzedProgram
from loopless.queries.verification.verdict import Verdict
from loopless.report import html, html_bounds, html_programs
from loopless.report.bounds import (
    bound_json,
    bound_text,
    claim_words,
    function_json,
    granted,
    granted_for,
    names_of,
    names_of_call,
)
from loopless.report.dot import drawing
from loopless.report.evaluation import evaluation_json, evaluation_text
from loopless.report.functions import assumptions_of as assumptions_of_function
from loopless.report.functions import function_json as function_summary_json
from loopless.report.functions import function_summary
from loopless.report.json_report import assumptions_of as assumptions_of_loop
from loopless.report.json_report import loop as loop_json
from loopless.report.loop_lines import type_list
from loopless.report.outcomes import iterations, outcome, variables
from loopless.report.reach import reach_json, reach_text
from loopless.report.reach_tests import c_test as written_test
from loopless.report.smtlib import smtlib
from loopless.report.svg import picture
from loopless.report.text import TextLayout, summaries
from loopless.report.text import verdict as verdict_words
from loopless.report.verification import harness as written_harness
from loopless.report.verification import verdict_json, verdict_text

__all__ = ["drawing", "iterations", "outcome", "picture", "smtlib", "variables"]  # with what is defined here

_FEW: Final = 8
"""Maximum number of functions named in the short line of a program."""


@singledispatch
def text(shown: Any) -> str:
    """What ``print`` shows, as the command line does."""
    raise TypeError(f"{type(shown).__name__} has no text")


@singledispatch
def brief(shown: Any) -> str:
    """The essentials in a few words, for a prompt."""
    raise TypeError(f"{type(shown).__name__} has no short line")


@singledispatch
def page(shown: Any) -> str | None:
    """What a notebook shows, in HTML; None where it shows something else."""
    raise TypeError(f"{type(shown).__name__} has no page")


@singledispatch
def fields(shown: Any) -> dict[str, Any]:
    """The fields in the JSON of the command line."""
    raise TypeError(f"{type(shown).__name__} has no JSON")


text.register(Evaluation, evaluation_text)
page.register(Evaluation, html_programs.evaluation)
fields.register(Evaluation, evaluation_json)


@brief.register
def _(shown: Evaluation) -> str:
    return f"call: {evaluation_text(shown).splitlines()[0]}, by {shown.by}"


text.register(Verdict, verdict_text)
fields.register(Verdict, verdict_json)


@brief.register
def _(shown: Verdict) -> str:
    return f"{shown.property.value}: {shown.words}"


@page.register
def _(shown: Verdict) -> str:
    return _headed(verdict_text(shown), shown.words, "why")


def harness(shown: Verdict) -> str:
    """A C file that gives the program the inputs of a violation, with paths from the present folder."""
    if shown.verdict != "false":
        return ""
    files = [Path(file) for file in shown.files]
    return written_harness(shown, surroundings(files, "main", shown.options), Path())


text.register(Reached, reach_text)
fields.register(Reached, reach_json)


@brief.register
def _(shown: Reached) -> str:
    return f"{shown.target}: {shown.verdict}"


@page.register
def _(shown: Reached) -> str:
    return _headed(reach_text(shown), shown.verdict, "how")


def c_test(shown: Reached, folder: Path) -> str:
    """A C file that runs the program with the inputs. Raises ``UsageError`` where there are none."""
    if shown.inputs is None:
        raise UsageError(f"the answer is {shown.verdict}: there is no test to write")
    program = surroundings([Path(file) for file in shown.files], shown.function, shown.options)
    return written_test(shown.inputs, shown.purpose, program, folder, endless=shown.target.endless)


@text.register
def _(shown: FunctionBound, given: Given | None = None) -> str:
    return bound_text([shown], _own(shown), given)


@text.register
def _(shown: LoopBound, given: Given | None = None) -> str:
    return bound_text([shown.function], [shown.name], given)


@fields.register
def _(shown: FunctionBound, given: Given | None = None) -> dict[str, Any]:
    return function_json(shown, given)


@fields.register
def _(shown: LoopBound, given: Given | None = None) -> dict[str, Any]:
    return bound_json(shown, given)


@page.register
def _(shown: FunctionBound) -> str:
    return html_bounds.bounds(shown, _own(shown))


@page.register
def _(shown: LoopBound) -> str:
    return html_bounds.bounds(shown.function, [shown.name])


@brief.register
def _(shown: FunctionBound) -> str:
    words = claim_words(shown.call, names_of_call(shown)) if shown.counts else "no loops"
    return _bound_words(shown.name, words, shown.big_o)


@brief.register
def _(shown: LoopBound) -> str:
    return _bound_words(shown.name, claim_words(shown.call, names_of(shown)), shown.big_o)


@text.register
def _(shown: LoopAnswer) -> str:
    if shown.refused is None and shown.summary is None:
        return drawing([shown]) if shown.automaton is not None else type_list([shown])
    return summaries([shown])


@fields.register
def _(shown: LoopAnswer) -> dict[str, Any]:
    return loop_json(shown)


@page.register
def _(shown: LoopAnswer) -> str | None:
    if shown.summary is not None or shown.refused is not None:
        return html.loop_summary(shown)
    if shown.automaton is not None or shown.classification is None:
        return None  # of an automaton the picture says it better
    return html.classification(shown, shown.classification)


@brief.register
def _(shown: LoopAnswer) -> str:
    if shown.refused is not None:
        return f"refused: {shown.refused.reason.code} {shown.refused.reason.label} at {shown.refused.where}"
    if shown.summary is not None:
        return f"summary of {shown.name}: {', '.join([*verdict_words(shown), *_ways(shown)])}"
    if shown.automaton is not None:
        states, transitions = len(shown.automaton.states), len(shown.automaton.transitions)
        return f"automaton of {shown.name}: {_counted(states, 'state')}, {_counted(transitions, 'transition')}"
    kind = shown.classification
    return (
        f"loop {shown.name}"
        if kind is None
        else f"type {kind.label} of {shown.name}: {kind.conditions} conditions, {kind.execution}"
    )


def _ways(shown: LoopAnswer) -> list[str]:
    ways = [_counted(len(shown.cases), "case")] if shown.cases or shown.approximation is None else []
    if shown.approximation is not None:
        ways.append(f"{_counted(len(shown.approximation.cases), 'way')} to leave")
    return ways


def loop_text(shown: LoopAnswer, traces: bool, paths: bool, all_states: bool, all_cases: bool) -> str:  # noqa: FBT001
    """What ``loopless summarize`` prints with the options of these names."""
    return summaries([shown], TextLayout(traces, paths, all_states, all_cases))


text.register(FunctionAnswer, function_summary)
fields.register(FunctionAnswer, function_summary_json)
page.register(FunctionAnswer, html.function_summary)


@brief.register
def _(shown: FunctionAnswer) -> str:
    words = [shown.status, "complete" if shown.complete else "not complete"]
    words += [_counted(len(shown.cases), "case")] if shown.summary is not None else []
    return f"summary of {shown.name}: {', '.join(words)}"


@singledispatch
def assumptions(shown: Any) -> list[str]:
    """What is taken for granted, one sentence each."""
    raise TypeError(f"{type(shown).__name__} has no assumptions")


assumptions.register(LoopBound, granted_for)
assumptions.register(LoopAnswer, assumptions_of_loop)


@assumptions.register
def _(shown: FunctionBound) -> list[str]:
    return granted(shown.within)


@assumptions.register
def _(shown: FunctionAnswer) -> list[str]:
    return assumptions_of_function(shown.summary) if shown.summary is not None else []


text.register(AnalyzedProgram, html_programs.program_lines)
page.register(AnalyzedProgram, html_programs.program)
page.register(AnalyzedFunction, html_programs.function)
page.register(AnalyzedLoop, html_programs.loop)


@text.register(AnalyzedFunction)
@text.register(AnalyzedLoop)
def _(shown: AnalyzedFunction | AnalyzedLoop) -> str:
    return shown.name


@brief.register
def _(shown: AnalyzedProgram) -> str:
    names = list(dict.fromkeys(function.name for function in shown.functions))
    listed = ", ".join(names[:_FEW]) + (", …" if len(names) > _FEW else "") or "nothing"
    return f"program {', '.join(shown.files)}: functions {listed}"


@brief.register
def _(shown: AnalyzedFunction) -> str:
    return f"function {shown.name} at {shown.place.removesuffix(':0')}"


@brief.register
def _(shown: AnalyzedLoop) -> str:
    inside = f" inside {shown.id.parent}" if shown.id.parent is not None else ""
    return f"loop {shown.name}{inside}"


def _own(shown: FunctionBound) -> list[str]:
    """The names of the loops that are shown with a function: those that stand in its text."""
    return [loop.name for loop in shown.own]


def _counted(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _bound_words(name: str, words: str, grows: str | None) -> str:
    return f"bound of {name}: {words}{f' [{grows}]' if grows else ''} in a call"


def _headed(told: str, words: str, title: str) -> str:
    """A page with the first line as its heading, and the others as a note."""
    heading, *lines = told.splitlines()
    notes = [html.note(title, [line.strip() for line in lines])] if lines else []
    return html.box([html.heading(words, heading.partition(": ")[2]), *notes])
