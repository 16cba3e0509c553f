"""``loopless reach``."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    warn,
)
from loopless.errors import SourceError, UsageError
from loopless.queries.reach.places import place_of
from loopless.source.targets import SourceTarget

if TYPE_CHECKING:
    from loopless.queries.call_values.reached import Inputs, Reached
    from loopless.queries.reach.coverage import Coverage
    from loopless.queries.settings import Settings


@click.command("reach", short_help="Which inputs get me to a place? A test, or a proof that none do.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--line", "line", metavar="[FILE:]N", help="To this line; a FILE is named where there are several.")
@click.option("--call", "callee", metavar="NAME", help="To a call of this function, as reach_error.")
@click.option("--when", metavar="COND", help="With --line: only where this condition of C holds just before the line.")
@click.option(
    "--hang", is_flag=True, help="To a run of a function that never ends; --rounds: that goes round too often."
)
@click.option(
    "--rounds", metavar="N", type=int, help="With --hang: more than N rounds of one loop since it was entered."
)
@click.option("--cover", is_flag=True, help="To every side of every branch of a function, with few tests.")
@click.option("--function", metavar="F", help="Call F; default: main, or where there is none the function of the line.")
@click.option(
    "--write-test",
    "folder",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write test.c, test.py and, of what main reads, test.xml with metadata.xml there "
    "and, where standard input is read, stdin.bin (--cover: test-1.c, test-2.c, ...).",
)
@click.option(
    "--minimize", type=click.Choice(["run", "inputs"]), help="Look for the shortest run, or for the smallest inputs."
)
@click.option("--no-summary", is_flag=True, help="Do not use what loops come to as a whole.")
@format_option("text", "json")
@reading
@limits
@click.pass_obj
def command(request: Request, /, files: tuple[Path, ...], **options: Any) -> int:
    """Which inputs lead to a line or a call, or the proof that none do; or a few tests that cover a function.

    The inputs are the arguments of one call (integers, what pointers point to, null pointers; of main the words of
    argv), what input functions (__VERIFIER_nondet_*, functions without a body) return, and what globals begin with.
    They were replayed on the compiled program. Without --timeout a place has 60
    seconds of processor time.

    With --hang: a call of F (default: main, or the only function) that never ends, or, with --rounds, goes back to the
    header of one loop more than N times since it was entered; or that bounds of all loops exclude it.

    With --cover: calls of F that together take each side of each branch of F (default: main, or the only function) that
    can be taken, and the proof for sides that cannot.

    Exit status 0: reached (--cover: each side is covered, or cannot be taken); 1: unreachable; 3: unknown (--cover: a
    side is).

    \b
    Examples:
      loopless reach examples/reach/csv.c --line 18
      loopless reach examples/reach/csv.c --line 15 --when "fields > 1000"
      loopless reach examples/reach/ledger.c --call reach_error
      loopless reach examples/reach/staircase.c --cover
      loopless reach examples/reach/options.c --hang
    """
    check_judged(files)
    if options["cover"]:
        return _cover(request, files, options)
    if options["hang"]:
        settings = settings_of(request, options)
        found = _hanging(request, files, settings, options)
    else:
        if options["rounds"] is not None:
            raise click.UsageError("--rounds says how many rounds of a loop --hang is about; give --hang, too")
        target = place_of(files, options["line"], options["callee"], options["when"])
        settings = settings_of(request, options)
        found = _reached(request, files, target, settings, options)
    show_trouble([found.trouble])
    if options["folder"] is not None:
        _write(found, files, settings, options["folder"])
    from loopless.report.reach import reach_json, reach_text

    if options["format_"] == "json":
        from loopless.report.document import document, dump

        answer = reach_json(found)
        click.echo(dump(document("reach", **answer, assumptions=found.assumptions, time_ms=request.elapsed_ms)))
    else:
        show(reach_text(found), options["color"])
    if found.verdict == "unknown":
        return ANSWERED if options["unknown_ok"] else UNKNOWN
    return ANSWERED if found.verdict == "reached" else VIOLATED


def _cover(request: Request, files: tuple[Path, ...], options: dict[str, Any]) -> int:
    """The answer to ``--cover``, and its exit status."""
    exclude(
        "--cover",
        "is about every side of every branch",
        "--line",
        "--call",
        "--when",
        "--minimize",
        "--hang",
        "--rounds",
    )
    from loopless.queries.reach.covering import cover
    from loopless.report.coverage import coverage_json, coverage_text

    settings = settings_of(request, options)
    shown = sys.stderr.isatty()

    def tell(what: str, settled: int, count: int) -> None:
        if shown:
            click.echo(f"\r\033[K{settled} of {count} sides of branches settled; {what}", nl=False, err=True)

    until = deadline_of(request, settings)
    try:
        found = cover(files, options["function"], settings, until, summaries=not options["no_summary"], tell=tell)
    finally:
        if shown:
            click.echo("\r\033[K", nl=False, err=True)
    if options["folder"] is not None:
        _write_all(found, files, settings, options["folder"])
    if options["format_"] == "json":
        from loopless.report.document import document, dump

        answer = coverage_json(found)
        click.echo(dump(document("reach", **answer, assumptions=found.assumptions, time_ms=request.elapsed_ms)))
    else:
        show(coverage_text(found), options["color"])
    return UNKNOWN if found.count("unknown") and not options["unknown_ok"] else ANSWERED


def _hanging(request: Request, files: tuple[Path, ...], settings: Settings, options: dict[str, Any]) -> Reached:
    """The answer to ``--hang``."""
    exclude("--hang", "is about runs that never end", "--line", "--call", "--when", "--minimize")
    from loopless.queries.reach.hang import hang

    return hang(
        files,
        options["function"],
        settings,
        deadline_of(request, settings),
        rounds=options["rounds"],
        summaries=not options["no_summary"],
        seconds=settings.timeout_s,
    )


def _reached(
    request: Request, files: tuple[Path, ...], target: SourceTarget, settings: Settings, options: dict[str, Any]
) -> Reached:
    from loopless.queries.reach.answering import reach

    try:
        return reach(
            files,
            target,
            options["function"],
            settings,
            deadline_of(request, settings),
            summaries=not options["no_summary"],
            minimize=options["minimize"] or "",
            seconds=settings.timeout_s,
        )
    except SourceError as error:
        found = re.search(rf"cannot compile .*:{target.line}:\d+: (.*)", str(error)) if target.when else None
        if found is None:
            raise
        message = f"--when {target.when!r} does not compile at {target.file}:{target.line}: {found[1]}"
        raise UsageError(message) from None


def _write(found: Reached, files: tuple[Path, ...], settings: Settings, folder: Path) -> None:
    """The tests that can be written, into the folder; of the others the reason why not goes to standard error."""
    if found.inputs is None:
        warn(f"the answer is {found.verdict}: there is no test to write")
        return
    tests = {"test": (found.inputs, found.purpose)}
    _write_files(tests, found.target, found.function, files, settings, folder)


def _write_all(found: Coverage, files: tuple[Path, ...], settings: Settings, folder: Path) -> None:
    """The same of all tests of a function."""
    from loopless.report.coverage import sides_text

    if not found.tests:
        warn("no side of a branch is covered: there is no test to write")
        return
    tests = {}
    for number, test in enumerate(found.tests, 1):
        ends = "" if test.ends == "ok" else f" Ends: {test.ends}."
        purpose = f"Takes sides of branches of {found.function}: {sides_text(found, test)}.{ends}"
        tests[f"test-{number}"] = (test.inputs, purpose)
    _write_files(tests, None, found.function, files, settings, folder)


def _write_files(
    tests: Mapping[str, tuple[Inputs, str]],
    target: SourceTarget | None,
    function: str,
    files: tuple[Path, ...],
    settings: Settings,
    folder: Path,
) -> None:
    """Each of the tests, with what it is for, in the formats in which it can be written."""
    from loopless.queries.call_values.surroundings import surroundings
    from loopless.report.reach_python import python_test
    from loopless.report.reach_tests import STDIN_FILE, c_test
    from loopless.report.testcomp import xml_metadata, xml_test

    program = surroundings(files, function, replace(settings.source, target=None))
    endless = target is not None and target.endless
    forms = (".c", ".py") if target is not None and (endless or target.rounds is not None) else (".c", ".py", ".xml")
    texts: dict[str, str] = {}
    reasons: dict[str, None] = {}
    for name, (inputs, purpose) in tests.items():
        for form in forms:
            try:
                match form:
                    case ".c":
                        text = c_test(inputs, purpose, program, folder, name, endless=endless)
                    case ".py":
                        text = python_test(inputs, purpose, program, folder, endless=endless)
                    case _:
                        text = xml_test(inputs)
            except UsageError as error:
                if form != ".xml" or not inputs.arguments:  # that arguments are no inputs of main is no news
                    reasons[f"{name}: {error}" if len(tests) > 1 else str(error)] = None
            else:
                texts[f"{name}{form}"] = text
    for reason in reasons:
        warn(reason)
    if any(file.endswith(".xml") for file in texts):
        texts["metadata.xml"] = xml_metadata(target, function, files, program.pointer_bits)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, content in texts.items():
            (folder / file).write_text(content, encoding="utf-8")
        for inputs, _ in tests.values():
            if inputs.stdin is not None:
                (folder / STDIN_FILE).write_bytes(inputs.stdin)
    except OSError as error:
        raise UsageError(f"cannot write to {folder}: {error.strerror}") from None
