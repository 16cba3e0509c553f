"""How answers that people hold look: as text, in one short line, as a page of HTML, and as JSON.

Each function goes by the type of what it is given. :mod:`loopless.queries.shown` asks them.
"""

from __future__ import annotations

from functools import singledispatch
from pathlib import Path
from typing import Any, Final

from loopless.errors import UsageError
from loopless.queries.bounds.answers import Bound, FunctionBound, LoopBound
from loopless.queries.call_values.inputs import Given
from loopless.queries.call_values.reached import Reached
from loopless.queries.call_values.surroundings import surroundings
from loopless.queries.evaluation.evaluate import Evaluation
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
from loopless.report.evaluation import evaluation_json, evaluation_text
from loopless.report.reach import reach_json, reach_text
from loopless.report.reach_tests import c_test as written_test
from loopless.report.verification import harness as written_harness
from loopless.report.verification import verdict_json, verdict_text

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
    return written_test(shown.inputs, f"Leads to {shown.target}.", program, folder)


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


def assumptions(shown: Bound) -> list[str]:
    """What is taken for granted for a bound, one sentence each."""
    return granted_for(shown) if isinstance(shown, LoopBound) else granted(shown.within)


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


def _bound_words(name: str, words: str, grows: str | None) -> str:
    return f"bound of {name}: {words}{f' [{grows}]' if grows else ''} in a call"


def _headed(told: str, words: str, title: str) -> str:
    """A page with the first line as its heading, and the others as a note."""
    heading, *lines = told.splitlines()
    notes = [html.note(title, [line.strip() for line in lines])] if lines else []
    return html.box([html.heading(words, heading.partition(": ")[2]), *notes])
