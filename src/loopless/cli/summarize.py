"""``loopless summarize``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from loopless.cli.app import ANSWERED, UNKNOWN, Request
from loopless.cli.options import format_option, limits, reading, selection


@click.command("summarize", short_help="What each loop does, as cases over its entry values.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@selection
@click.option("--traces", is_flag=True, help="In text: one case a trace, not one an effect.")
@format_option("text", "json", "smtlib", "dot", "svg")
@reading
@limits
@click.pass_obj
def command(request: Request, /, files: tuple[Path, ...], **options: Any) -> int:
    """What each loop does, as cases over the values at its entry.

    A case says when it applies, how many iterations are taken, what the variables are afterwards (x' is x at the exit)
    and the trace of paths. Cases that come to the same are shown as one, with their traces. Several FILEs are linked
    into one program.

    \b
    Examples:
      loopless summarize examples/looperman/fig1.c
      loopless summarize examples/proteus/fig1a.c --vars x --assume 'z > n'
      loopless summarize examples/proteus/fig1a.c --traces
      loopless summarize examples/looperman/fig1.c --format smtlib
      loopless summarize examples/cases/triangle.c --loop examples/cases/triangle.c:10 --format json
    """
    from loopless.cli.asking import ask

    answers = ask(request, files, options)
    match options["format_"]:
        case "json":
            from loopless.report.document import document, dump
            from loopless.report.json_report import loops

            assumed = [f"on entry: {options['assume'].strip()}"] if options["assume"] else []
            found = document("summarize", loops=loops(answers), assumptions=assumed, time_ms=request.elapsed_ms)
            click.echo(dump(found))
        case "smtlib":
            from loopless.report.smtlib import smtlib

            click.echo(smtlib(answers), nl=False)
        case "dot":
            from loopless.report.dot import drawing

            click.echo(drawing(answers), nl=False)
        case "svg":
            from loopless.report.svg import picture

            click.echo(picture(answers), nl=False)
        case _:
            from loopless.report.text import summaries

            click.echo(summaries(answers, traces=options["traces"]))
    complete = all(answer.answered for answer in answers)
    return ANSWERED if complete or options["unknown_ok"] else UNKNOWN
