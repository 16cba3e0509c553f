"""``loopless loops``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from loopless.cli.app import ANSWERED, Request
from loopless.cli.options import format_option, limits, reading
from loopless.records import dataclass

if TYPE_CHECKING:
    from loopless.queries.loops.answer import LoopAnswer
    from loopless.queries.program import AnalyzedLoop


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
    if options["format_"] == "text":
        from loopless.cli.asking import tell_as_found

        def line(loops: Sequence[AnalyzedLoop]) -> Callable[[LoopAnswer], str]:
            from loopless.report.loop_lines import indented  # late: it takes longer than reading the program

            return _Line(max((len(indented(loop.id)) for loop in loops), default=0)).text

        tell_as_found(request, files, options, line, apart=False)
        return ANSWERED
    from loopless.cli.asking import ask, written

    answers = ask(request, files, options)
    from loopless.report.document import document, dump
    from loopless.report.json_report import loop
    from loopless.report.making import loop_without

    shown, _ = written(request, options, loop, answers, loop_without)
    click.echo(dump(document("loops", loops=shown, time_ms=request.elapsed_ms)))
    return ANSWERED


@dataclass(frozen=True, slots=True)
class _Line:
    """Makes the line about a loop, beside names that have at most this width."""

    width: int

    def text(self, answer: LoopAnswer) -> str:
        """The line."""
        from loopless.report.loop_lines import loop_line

        return loop_line(answer, self.width)
