"""``loopless verify``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from loopless.cli.app import ANSWERED, UNKNOWN, VIOLATED, Request
from loopless.cli.colour import show
from loopless.cli.options import (
    check_judged,
    deadline_of,
    exclude,
    format_option,
    limits,
    reading,
    settings_of,
    show_trouble,
)
from loopless.deadline import in_time
from loopless.errors import UsageError

if TYPE_CHECKING:
    from loopless.check.certificates.property import Property
    from loopless.queries.program import AnalyzedProgram
    from loopless.queries.settings import Settings
    from loopless.queries.verification.verdict import Verdict

_TASKS: Final = (".yml", ".yaml")


@click.command("verify", short_help="Is it right? Assertions, termination, overflow, with evidence.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--property",
    "property_",
    metavar="P",
    help="unreach-call (no assertion is false; the default), termination, no-overflow, or a .prp file.",
)
@click.option(
    "--certificate",
    metavar="OUT.json",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the certificate of a proof there.",
)
@click.option(
    "--witness",
    metavar="OUT.yml",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the proof as a witness of the competition (2.0) there.",
)
@click.option(
    "--harness",
    metavar="OUT.c",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write a C file that gives the program the inputs of a violation there.",
)
@click.option(
    "--rule", type=click.Choice(["bounded-loops"]), help="Ask instead whether every loop has a bound, or why not."
)
@click.option(
    "--endless", "endless", metavar="FILE:LINE", multiple=True, help="With --rule: this loop is meant to run for ever."
)
@format_option("text", "json")
@reading
@limits
@click.pass_obj
def command(request: Request, /, files: tuple[Path, ...], **options: Any) -> int:
    """Whether every run of the program from main has a property: proved, with a certificate that a judge has accepted
    which knows none of the methods, or refuted by a run that was replayed on the compiled program.

    FILEs are the sources of one program, or one task definition (.yml), which names sources, data model and property.
    Without --timeout a program has 60 seconds of processor time.

    \b
    Properties:
      unreach-call  no run calls reach_error, and no assertion is false
      termination   every run ends
      no-overflow   no signed operation overflows; abs(INT_MIN) does, and so does
                    a signed << that C11 leaves undefined (1 << 31, -1 << 1)

    Exit status 0: true; 1: false; 3: unknown.

    \b
    Examples:
      loopless verify examples/verify/phases.c
      loopless verify examples/verify/phases.c --property termination --certificate phases.json
      loopless verify examples/verify/phases.c --rule bounded-loops
    """
    check_judged(files)
    from loopless.project.tasks import read_property, read_task

    property_ = read_property(options["property_"]) if options["property_"] is not None else None
    if any(file.suffix in _TASKS for file in files):
        if len(files) > 1:
            raise UsageError(f"{files[0]} and {len(files) - 1} more: a task definition stands alone")
        task = read_task(files[0])
        files = task.files
        options["data_model"] = options["data_model"] or task.data_model
        property_ = property_ or _chosen(task.properties)
    settings = settings_of(request, options)
    until = deadline_of(request, settings)
    if options["rule"] is not None:
        return _ruled(request, files, options)
    if options["endless"]:
        raise click.UsageError("--endless names loops of --rule bounded-loops; give that, or leave it out")
    found, program = _verified(files, property_, settings, until)
    show_trouble([found.trouble])
    _write(found, program, options)
    from loopless.report.verification import verdict_json, verdict_text

    if options["format_"] == "json":
        from loopless.report.document import document, dump

        answer = verdict_json(found)
        click.echo(dump(document("verify", **answer, assumptions=found.assumptions, time_ms=request.elapsed_ms)))
    else:
        show(verdict_text(found), options["color"])
    if found.verdict == "unknown":
        return ANSWERED if options["unknown_ok"] else UNKNOWN
    return ANSWERED if found.verdict == "true" else VIOLATED


def _ruled(request: Request, files: tuple[Path, ...], options: dict[str, Any]) -> int:
    """The rule that every loop has a bound."""
    from loopless.queries.program import load_while_importing

    for other in ("--property", "--certificate", "--witness", "--harness"):
        exclude("--rule", "asks for bounds, not for a property", other)
    settings = settings_of(request, options)
    until = deadline_of(request, settings)
    with in_time(until):
        program = load_while_importing(files, settings, ("loopless.queries.bounds.answering",))
        from loopless.queries.bounds.rules import bounded_loops, verdict_of
        from loopless.report.loop_rules import rule_json, rule_text
    loops = bounded_loops(program, options["endless"], settings, until)
    if options["format_"] == "json":
        from loopless.report.document import document, dump

        click.echo(dump(document("verify", **rule_json(loops), time_ms=request.elapsed_ms)))
    else:
        show(rule_text(loops), options["color"])
    verdict = verdict_of(loops)
    if verdict == "unknown":
        return ANSWERED if options["unknown_ok"] else UNKNOWN
    return ANSWERED if verdict == "true" else VIOLATED


def _chosen(properties: Any) -> Property | None:
    """The property of a task that is asked for where none is named."""
    from loopless.check.certificates.property import Property

    if len(properties) > 1 and Property.UNREACH_CALL not in properties:
        named = ", ".join(found.value for found in properties)
        raise UsageError(f"the task has several properties; choose one with --property: {named}")
    return Property.UNREACH_CALL if Property.UNREACH_CALL in properties else next(iter(properties), None)


def _verified(
    files: tuple[Path, ...], property_: Property | None, settings: Settings, until: float | None
) -> tuple[Verdict, AnalyzedProgram]:
    from loopless.queries.program import load_while_importing

    with in_time(until):
        program = load_while_importing(
            files, replace(settings, apart=False), ("loopless.queries.verification.answering",)
        )
    from loopless.check.certificates.property import Property
    from loopless.limits.queries import DEFAULT_VERIFICATION_S
    from loopless.queries.verification.answering import verify

    seconds = DEFAULT_VERIFICATION_S if settings.timeout_s is None else settings.timeout_s
    return verify(program, property_ or Property.UNREACH_CALL, settings, until, seconds), program


def _write(found: Verdict, program: AnalyzedProgram, options: dict[str, Any]) -> None:
    """The files that were asked for, where there is something to write."""
    from loopless.queries.call_values.surroundings import surroundings
    from loopless.report.document import dump
    from loopless.report.verification import harness
    from loopless.report.witness import witness

    written: dict[str, Callable[[], str]] = {
        "certificate": lambda: dump(found.certificate or {}),
        "witness": lambda: witness(found, program.files, program.source.data_model),
        "harness": lambda: harness(
            found,
            surroundings([Path(file) for file in program.files], "main", program.source.options),
            options["harness"].parent,
        ),
    }
    wanted = {"certificate": found.certificate is not None, "witness": found.verdict == "true"}
    wanted["harness"] = found.verdict == "false"
    for name, make in written.items():
        path = options[name]
        if path is None:
            continue
        if not wanted[name]:
            click.echo(f"loopless: the answer is {found.words}: there is no {name} to write", err=True)
            continue
        try:
            path.write_text(make() + "\n", encoding="utf-8")
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror}") from None
