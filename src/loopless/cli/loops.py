"""``loopless loops``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from loopless.cli.app import ANSWERED, Request
from loopless.cli.colour import show
from loopless.cli.options import format_option, limits, reading


@click.command("loops", short_help="Name, place, nesting and status of every loop.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--function", "functions", metavar="F", multiple=True, help="Only loops of this function.")
@format_option("text", "json")
@reading
@limits
@click.pass_obj
def command(request: Request, /, files: tuple[Path, ...], **options: Any) -> int:
    """Name, type and status of every loop of a program; inner loops are indented.

    Several FILEs are linked into one program.

    \b
    Example:
      loopless loops examples/cases/triangle.c
    """
    from loopless.cli.asking import ask, written

    answers = ask(request, files, options)
    if options["format_"] == "json":
        from loopless.report.document import document, dump
        from loopless.report.json_report import loop
        from loopless.report.making import loop_without

        shown, _ = written(request, options, loop, answers, loop_without)
        click.echo(dump(document("loops", loops=shown, time_ms=request.elapsed_ms)))
    else:
        from loopless.report.text import loop_list

        show(loop_list(answers), options["color"])
    return ANSWERED
