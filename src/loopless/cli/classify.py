"""``loopless classify``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from loopless.cli.app import ANSWERED, BAD_INPUT, Request
from loopless.cli.asking import DRAWN, ENGINES, Telling, in_turn, written, written_whole
from loopless.cli.colour import show
from loopless.cli.options import deadline_of, format_option, limits, reading, settings_of, show_trouble, warn
from loopless.cli.progress import Progress

if TYPE_CHECKING:
    from loopless.project.survey import FileAnswers
    from loopless.queries.loops.answer import LoopAnswer, Question
    from loopless.queries.settings import Settings


@click.command("classify", short_help="The type (1 to 4) of each loop, and a census.")
@click.argument("paths", metavar="PATH...", nargs=-1, type=click.Path(path_type=Path))
@click.option("--function", "functions", metavar="F", multiple=True, help="Only loops of this function.")
@click.option("--census", is_flag=True, help="Only the table of files.")
@format_option("text", "json", "dot", "svg")
@reading
@limits
@click.pass_obj
def command(request: Request, /, paths: tuple[Path, ...], **options: Any) -> int:
    """The type of each loop by Proteus's classification, and how many there are of each type.

    A PATH is a file or a directory with sources; each file is a program of its own. With -p and no PATH, all files of
    the compile database. A loop of a header that several files include is told once.

    \b
    Types: all conditions move with induction variables (1, 2) or some do not (3, 4); the paths follow each other in
    sequence or periodically (1, 3) or some irregularly (2, 4).

    \b
    Examples:
      loopless classify examples/proteus
      loopless classify examples --census
      loopless classify examples/proteus/fig1a.c --format svg
    """
    if not paths and options["database"] is None:
        raise click.UsageError("Missing argument 'PATH...'.")
    if options["census"] and options["format_"] in DRAWN:
        raise click.UsageError(f"--census is a table; leave out --format {options['format_']}")
    settings = settings_of(request, options)
    from loopless.project.discovery import find_sources
    from loopless.project.survey import LoopsSoFar, survey_as_found
    from loopless.queries.loops.answer import Question

    files = find_sources(paths, options["database"])
    question = Question(summarize=False, draw=options["format_"] in DRAWN)
    of_files: dict[int, FileAnswers] = {}
    if len(files) == 1 and options["format_"] == "text" and not options["census"]:
        of_files[0] = _told_as_found(files[0], question, settings, options, deadline_of(request, settings))
    with Progress() as progress:
        telling, told = Telling(options["color"], progress, apart=False), LoopsSoFar()

        def tell(_: int, file: FileAnswers) -> None:
            if options["format_"] == "text" and not options["census"] and (new := told.new(file)):
                from loopless.report.loop_lines import type_list

                telling.tell(type_list(new))

        left = [] if of_files else files
        watch = progress.watching([str(file) for file in left], lambda: len(of_files))
        until = deadline_of(request, settings)
        answers = survey_as_found(left, question, settings, options["functions"], until, watch)
        in_turn(answers, of_files, [str(file) for file in left], tell)
    found = [of_files[at] for at in range(len(files))]
    if options["format_"] in DRAWN and not any(file.answers or file.error for file in found):
        warn(f"no loops in {', '.join(map(str, paths or [options['database']]))}")
    show_trouble([answer.trouble for file in found for answer in file.answers])
    _check_functions(options["functions"], found)
    _print(found, request, options)
    return BAD_INPUT if all(file.error is not None for file in found) else ANSWERED


def _told_as_found(
    file: Path, question: Question, settings: Settings, options: dict[str, Any], until: float | None
) -> FileAnswers:
    """The answers about a file that is the only one, told loop by loop: one that takes long keeps none before it."""
    from loopless.deadline import in_time
    from loopless.errors import LooplessError
    from loopless.project.survey import FileAnswers, loops_of, unread
    from loopless.queries.loops.answering import answers_as_found
    from loopless.queries.program import load_while_importing
    from loopless.report.loop_lines import indented, type_line

    try:
        with in_time(until):
            loops = loops_of(load_while_importing([file], settings, ENGINES), options["functions"])
    except LooplessError as error:
        return unread(file, error)
    found: dict[int, LoopAnswer] = {}
    width = max((len(indented(loop.id)) for loop in loops), default=0)
    with Progress() as progress:
        telling = Telling(options["color"], progress, apart=False)
        names = [loop.name for loop in loops]
        watch = progress.watching(names, lambda: len(found))
        answers = answers_as_found(loops, question, settings, until, watch)
        in_turn(answers, found, names, lambda _, answer: telling.tell(type_line(answer, width)))
    return FileAnswers(str(file), tuple(found[at] for at in range(len(loops))))


def _check_functions(names: tuple[str, ...], found: list[Any]) -> None:
    for name in names:
        if not any(answer.loop.function == name for file in found for answer in file.answers):
            raise click.UsageError(f"no function {name} with a loop in these files")


def _print(found: list[Any], request: Request, options: dict[str, Any]) -> None:
    from loopless.project.survey import distinct

    answers = distinct(found)
    match options["format_"]:
        case "json":
            from loopless.report.census import census_json
            from loopless.report.document import document, dump, error
            from loopless.report.json_report import loop
            from loopless.report.making import loop_without

            errors = [error(file.kind, file.error, file.file) for file in found if file.error is not None]
            shown, _ = written(request, options, loop, [] if options["census"] else answers, loop_without)
            text = document(
                "classify", loops=shown, census=census_json(found), errors=errors, time_ms=request.elapsed_ms
            )
            click.echo(dump(text))
        case "dot":
            from loopless.report.dot import drawing

            click.echo(written_whole(request, options, drawing, answers), nl=False)
        case "svg":
            from loopless.report.svg import picture

            click.echo(picture(answers), nl=False)
        case _:
            from loopless.report.census import census_table

            told = answers and not options["census"]
            show(f"\n{census_table(found)}" if told else census_table(found), options["color"])
    if options["format_"] != "json":
        for file in found:
            if file.error is not None:
                click.echo(f"loopless: {file.error}", err=True)
