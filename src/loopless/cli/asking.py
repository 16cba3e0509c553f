"""The common course of ``loops`` and ``summarize``: read the program, select loops, ask."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from loopless.cli.app import Request
from loopless.cli.options import deadline_of, names_of, settings_of, show_trouble, warn
from loopless.queries.deadline import in_time

if TYPE_CHECKING:
    from loopless.queries.answers import LoopAnswer
    from loopless.queries.functions import FunctionAnswer
    from loopless.queries.sandbox import Overrun

_A = TypeVar("_A")
_T = TypeVar("_T")
ENGINES: Final = ("loopless.queries.answers",)
"""What answering needs: imported while the compiler runs."""
DRAWN: Final = ("dot", "svg")
"""The formats that show the automaton."""
_OF_LOOPS: Final = (("places", "--loop"), ("variables", "--vars"), ("assume", "--assume"), ("traces", "--traces"))
MERGED: Final = ("text", "json")
"""The formats that show which cases come to the same."""


def written(
    request: Request,
    options: Mapping[str, Any],
    make: Callable[[_A], _T],
    answers: Sequence[_A],
    without: Callable[[_A, Overrun], _A],
) -> tuple[list[_T], bool]:
    """What ``make`` makes of the answers under the limits of the options: see :func:`loopless.report.making.parts`."""
    from loopless.report.making import parts

    settings = settings_of(request, options)
    return parts(make, answers, without, settings, deadline_of(request, settings))


def written_whole(request: Request, options: Mapping[str, Any], make: Callable[[], _T]) -> _T:
    """The same of what is of no use in parts: see :func:`loopless.report.making.whole`."""
    from loopless.report.making import whole

    settings = settings_of(request, options)
    return whole(make, settings, deadline_of(request, settings))


def ask(request: Request, files: Sequence[Path], options: Mapping[str, Any]) -> list[LoopAnswer]:
    """The answers about all loops that the options select."""
    from loopless.queries.program import load_while_importing

    settings = settings_of(request, options)
    until = deadline_of(request, settings)
    with in_time(until):
        program = load_while_importing(files, settings, ENGINES)
        from loopless.queries.answers import Question, answer_all
        from loopless.queries.assumptions import names_in
        from loopless.queries.effort import LEAST_FOR_SUMMARY_S, shared
        from loopless.queries.selection import check_variables, select_loops

        loops = select_loops(program, options.get("functions", ()), options.get("places", ()))
        form = options["format_"]
        question = Question(
            names_of(options.get("variables")),
            options.get("assume"),
            draw=form in DRAWN,
            merge=form in MERGED,
            approximate=True,
        )
        spoken_of = names_in(question.assume) if question.assume is not None else ()
        check_variables(loops, (*(question.variables or ()), *spoken_of))
    if not loops and form in (*DRAWN, "smtlib"):
        warn(f"no loops in {', '.join(map(str, files))}")
    answers = answer_all(loops, question, shared(settings, len(loops), LEAST_FOR_SUMMARY_S), until)
    show_trouble([answer.trouble for answer in answers])
    return answers


def ask_whole(request: Request, files: Sequence[Path], options: Mapping[str, Any]) -> list[FunctionAnswer]:
    """The summaries of the functions that the options select, with the answers about their loops."""
    from loopless.queries.program import load_while_importing

    for given, option in _OF_LOOPS:
        if options.get(given):
            raise click.UsageError(f"{option} is about loops; leave it out with --whole")
    if options["format_"] not in ("text", "json"):
        raise click.UsageError(f"--format {options['format_']} is about loops; leave it out with --whole")
    settings = settings_of(request, options)
    until = deadline_of(request, settings)
    with in_time(until):
        program = load_while_importing(files, settings, ("loopless.queries.functions",))
        from loopless.queries.answers import Question
        from loopless.queries.effort import LEAST_FOR_SUMMARY_S, shared
        from loopless.queries.functions import answer_functions

        named = [program[name] for name in options.get("functions", ())]
        functions = [function for function in program.functions if function in named or not (named or function.is_stub)]
        for function in functions:
            function.graph()
    share = shared(settings, sum(len(function.loops) for function in functions), LEAST_FOR_SUMMARY_S)
    answers = answer_functions(functions, Question(classify=options["format_"] == "json"), share, until)
    show_trouble([answer.trouble for answer in answers] + [loop.trouble for answer in answers for loop in answer.loops])
    return answers
