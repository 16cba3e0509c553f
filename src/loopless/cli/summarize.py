"""``loopless summarize``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from loopless.cli.app import ANSWERED, UNKNOWN, Request
from loopless.cli.colour import show
from loopless.cli.options import format_option, limits, reading, selection
from loopless.records import dataclass

if TYPE_CHECKING:
    from loopless.queries.loops.answer import LoopAnswer
    from loopless.queries.program import AnalyzedLoop


@click.command("summarize", short_help="What each loop does, as cases over its entry values.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@selection
@click.option("--traces", is_flag=True, help="In text: one case a trace, not one an effect.")
@click.option("--paths", is_flag=True, help="In text: also the paths through the body, and the traces of cases.")
@click.option("--all-cases", is_flag=True, help="In text: all cases, and all of long conditions and values.")
@click.option("--all-states", is_flag=True, help="In text: all states of the header, not only those at the entry.")
@click.option("--whole", is_flag=True, help="Summaries of whole functions, over their arguments, instead of loops.")
@format_option("text", "json", "smtlib", "dot", "svg")
@reading
@limits
@click.pass_obj
def command(request: Request, /, files: tuple[Path, ...], **options: Any) -> int:
    """What each loop does, as cases over the values at its entry.

    A case says when it applies, how many iterations are taken, what the variables are afterwards (x' is x at the exit)
    and the trace of paths; of memory that the loop writes, what elements hold afterwards ("a'[j] = 0 for 0 <= j < n";
    where several such lines speak of an element, the first counts). Cases that come to the same are shown as one, with
    their traces. Several FILEs are linked into one program.

    Text speaks of the states in which the program enters the loop ("entered only with i == 0"); --all-states of all
    that the header may be in. What changes and is not told is named ("not told: dst[]"), and a variable that defeats a
    summary is left out by its name ("exact but for crc").

    Where nothing exact is found the summary is over-approximate, says why, and how the loop may be left ("may leave
    when"): every run does one of these. Commands after "try:" were run, and answer more.

    With --whole the cases are those of functions: over arguments, globals, what pointers point to, and inputs that are
    read once; loops, straight code, branches and calls are composed.

    \b
    Examples:
      loopless summarize examples/looperman/fig1.c
      loopless summarize examples/proteus/fig1a.c --vars x --assume 'z > n'
      loopless summarize examples/proteus/fig1a.c --traces
      loopless summarize examples/looperman/fig1.c --format smtlib
      loopless summarize examples/cases/triangle.c --loop examples/cases/triangle.c:10 --format json
      loopless summarize examples/cases/descending.c --whole
    """
    if options["whole"]:
        return _whole(request, files, options)
    if options["format_"] == "text":
        return _text(request, files, options)
    from loopless.cli.asking import ask

    answers = ask(request, files, options)
    complete = _document(request, answers, options) and all(answer.answered for answer in answers)
    return ANSWERED if complete or options["unknown_ok"] else UNKNOWN


def _document(request: Request, answers: Sequence[LoopAnswer], options: dict[str, Any]) -> bool:
    """Print the answers as one document; whether all of it could be written."""
    from loopless.cli.asking import written, written_whole
    from loopless.report.making import loop_without

    told = True
    match options["format_"]:
        case "json":
            from loopless.report.document import document, dump
            from loopless.report.json_report import loop

            assumed = [f"on entry: {options['assume'].strip()}"] if options["assume"] else []
            shown, told = written(request, options, loop, answers, loop_without)
            found = document("summarize", loops=shown, assumptions=assumed, time_ms=request.elapsed_ms)
            click.echo(dump(found))
        case "smtlib":
            from loopless.report import smtlib

            pairs = smtlib.named(answers)
            lines, told = written(
                request, options, smtlib.relation, pairs, lambda pair, over: (loop_without(pair[0], over), pair[1])
            )
            click.echo(smtlib.document(lines), nl=False)
        case "dot":
            from loopless.report.dot import drawing

            click.echo(written_whole(request, options, drawing, answers), nl=False)
        case _:
            from loopless.report.svg import picture

            click.echo(picture(answers), nl=False)
    return told


def _text(request: Request, files: tuple[Path, ...], options: dict[str, Any]) -> int:
    """The answers as text, each as soon as it is found."""
    from loopless.cli.asking import tell_as_found

    layout = (options["traces"], options["paths"], options["all_states"], options["all_cases"])

    def paragraph(loops: Sequence[AnalyzedLoop]) -> Callable[[LoopAnswer], str]:
        from loopless.report.brevity import lines_for

        return _Paragraph(*layout, lines_for([loop.id.function for loop in loops])).text

    complete = tell_as_found(request, files, options, paragraph)
    return ANSWERED if complete or options["unknown_ok"] else UNKNOWN


@dataclass(frozen=True, slots=True)
class _Paragraph:
    """Makes the text of an answer; what that takes is imported when there is one."""

    traces: bool
    paths: bool
    all_states: bool
    all_cases: bool
    lines: Mapping[str, int]
    """How many there are for a loop of each function."""

    def text(self, answer: LoopAnswer) -> str:
        """The paragraph."""
        from loopless.report.text import TextLayout, loop_summary

        layout = TextLayout(self.traces, self.paths, self.all_states, self.all_cases)
        return loop_summary(answer, layout, self.lines[answer.loop.function])


def _whole(request: Request, files: tuple[Path, ...], options: dict[str, Any]) -> int:
    """The summaries of functions."""
    from loopless.cli.asking import ask_whole, written

    answers = ask_whole(request, files, options)
    from loopless.report.functions import function_json, function_summary
    from loopless.report.making import function_without, loop_without

    if options["format_"] == "json":
        from loopless.report.document import document, dump
        from loopless.report.json_report import loop

        own = [loop for answer in answers for loop in answer.loops if loop.loop.inlined_from is None]
        shown, told = written(request, options, function_json, answers, function_without)
        loops, _ = written(request, options, loop, own, loop_without)
        click.echo(dump(document("summarize", functions=shown, loops=loops, time_ms=request.elapsed_ms)))
    else:
        paragraphs, told = written(request, options, function_summary, answers, function_without)
        show("\n\n".join(paragraphs) if paragraphs else "no functions", options["color"])
    complete = told and all(answer.complete for answer in answers)
    return ANSWERED if complete or options["unknown_ok"] else UNKNOWN
