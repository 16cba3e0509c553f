"""``loopless eval``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from loopless.cli.app import ANSWERED, UNKNOWN, Request
from loopless.cli.arguments import arguments_of_words, integer, parse_line
from loopless.cli.colour import show
from loopless.cli.options import deadline_of, format_option, limits, reading, settings_of
from loopless.deadline import in_time
from loopless.errors import UsageError
from loopless.source.compile import STANDARD_INPUT

if TYPE_CHECKING:
    from loopless.queries.evaluation.calls import Calls


@click.command(
    "eval",
    short_help="The result of a call, with loops jumped over.",
    context_settings={"ignore_unknown_options": True},
)
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("function")
@click.argument("args", metavar="[ARG]...", nargs=-1, type=click.UNPROCESSED)
@click.option("--nondet", metavar="1,2,3", help="The inputs that the call reads, in their order.")
@click.option("--stream", is_flag=True, help="Read calls from standard input even if FUNCTION has no parameters.")
@format_option("text", "json")
@reading
@limits
@click.pass_obj
def command(request: Request, /, file: Path, function: str, args: tuple[str, ...], **options: Any) -> int:
    """The result of a call of FUNCTION. A short call is interpreted; in a long one loops whose summary is complete are
    jumped over, not iterated.

    An ARG is an integer or a character 'c'; for a pointer what it points to: [1,2,3], [[1,2],[3,4]], text, "text",
    {x: 1, next: {x: 2}} for structures, or null. With a name it may stand anywhere: n=5. Without ARGs for a function
    with parameters, calls are read from standard input, one JSON object a line, {"args": [...], "nondet": [...]}, and
    the answers are JSON lines.

    --timeout counts for each call.

    \b
    Examples:
      loopless eval examples/cases/gcd.c gcd 12 18
      loopless eval examples/cases/descending.c descending -5
    """
    from loopless.queries.program import load_while_importing

    if args and options["stream"]:
        raise click.UsageError(f"--stream reads the arguments of calls from standard input; leave out {args[0]}")
    if options["stream"] and file == STANDARD_INPUT:
        raise click.UsageError("- is the program on standard input, and --stream has calls there; leave out one")
    if options["stream"] and options["nondet"] is not None:
        raise click.UsageError('--stream reads inputs as {"args": [], "nondet": [1]}; leave out --nondet')
    inputs = [integer(part.strip()) for part in (options["nondet"] or "").split(",") if part.strip()]
    settings = settings_of(request, options)
    until = deadline_of(request, settings)
    with in_time(until):
        program = load_while_importing([file], settings, ("loopless.queries.evaluation.calls",))
        from loopless.queries.evaluation.calls import Calls

        called = program[function]
        called.graph()
    with Calls(called, settings, until) as calls:
        calls.check_count(len(args))
        if options["stream"]:
            _stream(calls)
            return ANSWERED
        if not args and calls.parameters and not calls.is_main:
            if options["nondet"] is not None or not _stream(calls):
                raise UsageError(
                    f"{function} takes {calls.takes}: write them behind it, or on standard input, "
                    'one JSON object a line, {"args": [...], "nondet": [...]}'
                )
            return ANSWERED
        taken = calls.refused is None and (args or not calls.is_main)
        arguments = arguments_of_words(args, calls, function) if taken else []
        found = calls.run(arguments, inputs)
    from loopless.report.evaluation import evaluation_json, evaluation_text

    if options["format_"] == "json":
        from loopless.report.document import document, dump

        click.echo(dump(document("eval", **evaluation_json(found), time_ms=request.elapsed_ms)))
    else:
        show(evaluation_text(found), options["color"])
    return UNKNOWN if found.status == "unknown" and not options["unknown_ok"] else ANSWERED


def _stream(calls: Calls) -> int:
    """A JSON line for each line of standard input, at once; how many there were."""
    from loopless.report.document import dump
    from loopless.report.evaluation import evaluation_json, failed_json

    answered = 0
    for line in sys.stdin or ():
        if not line.strip():
            continue
        answered += 1
        try:
            answer = evaluation_json(calls.run(*parse_line(line, calls)))
        except UsageError as error:
            answer = failed_json(str(error))
        click.echo(dump(answer, line=True))
    return answered
