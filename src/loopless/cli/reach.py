"""``loopless reach``."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from loopless.cli.app import ANSWERED, UNKNOWN, VIOLATED, Request
from loopless.cli.options import deadline_of, exclude, format_option, limits, reading, settings_of, show_trouble, warn
from loopless.errors import SourceError, UsageError
from loopless.queries.reached import Reach
from loopless.source.targets import Target

if TYPE_CHECKING:
    from loopless.queries.settings import Settings

_IR: Final = (".ll", ".bc")
_PLACE: Final = re.compile(r"(?:(.+):)?(\d+)", re.DOTALL)


@click.command("reach", short_help="Which inputs get me to a place? A test, or a proof that none do.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--line", "line", metavar="[FILE:]N", help="To this line; a FILE is named where there are several.")
@click.option("--call", "callee", metavar="NAME", help="To a call of this function, as reach_error.")
@click.option("--when", metavar="COND", help="With --line: only where this condition of C holds just before the line.")
@click.option("--cover", is_flag=True, help="To every side of every branch of a function, with few tests.")
@click.option("--function", metavar="F", help="Call F; default: main, or where there is none the function of the line.")
@click.option("--write-test", "folder", metavar="DIR", type=click.Path(path_type=Path, file_okay=False),
              help="Write test.c, test.py and, of what main reads, test.xml with metadata.xml there.")  # fmt: skip
@click.option("--minimize", type=click.Choice(["run", "inputs"]),
              help="Look for the shortest run, or for the smallest inputs.")  # fmt: skip
@click.option("--no-summary", is_flag=True, help="Do not use what loops come to as a whole.")
@format_option("text", "json")
@reading
@limits
@click.pass_obj
def command(request: Request, /, files: tuple[Path, ...], **options: Any) -> int:
    """Which inputs lead to a line or a call, or the proof that none do.

    The inputs are the arguments of one call (integers, what pointers point to, null pointers), what input functions
    (__VERIFIER_nondet_*, functions without a body) return, and what globals begin with. They were replayed on the
    compiled program. Without --timeout a place has 60 seconds.

    With --cover the place is every side of every branch of the function, and the answer a small set of tests.

    Exit status 0: reached (--cover: each side is, or is unreachable); 1: unreachable; 3: unknown.

    \b
    Examples:
      loopless reach examples/reach/csv.c --line 18
      loopless reach examples/reach/csv.c --line 15 --when "fields > 1000"
      loopless reach examples/reach/ledger.c --call reach_error
      loopless reach examples/reach/staircase.c --cover
    """
    if options["cover"]:
        return _covered(request, files, options)
    target = _target(files, options)
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
        click.echo(reach_text(found))
    if found.verdict == "unknown":
        return ANSWERED if options["unknown_ok"] else UNKNOWN
    return ANSWERED if found.verdict == "reached" else VIOLATED


def _covered(request: Request, files: tuple[Path, ...], options: dict[str, Any]) -> int:
    """Tests for a whole function."""
    for other in ("--line", "--call", "--when", "--minimize", "--no-summary"):
        exclude("--cover", "asks for all of a function", other)
    settings = settings_of(request, options)
    from loopless.queries.covering import cover
    from loopless.report.coverage import coverage_json, coverage_text, taken_text

    def tell(what: str, done: int, of: int) -> None:
        click.echo(f"loopless: {what} ({done} of {of} sides are settled)", err=True)

    until = deadline_of(request, settings)
    found = cover(files, options["function"], settings, until, tell=tell if sys.stderr.isatty() else None)
    if options["folder"] is not None:
        target = Target(callee=found.function)
        for number, inputs in enumerate(found.tests, 1):
            reached = Reach(target, found.function, "reached", "", inputs)
            _write(reached, files, settings, options["folder"], f"test{number}", taken_text(found, number))
    if options["format_"] == "json":
        from loopless.report.document import document, dump

        click.echo(dump(document("reach", **coverage_json(found), time_ms=request.elapsed_ms)))
    else:
        click.echo(coverage_text(found))
    return UNKNOWN if found.count("unknown") and not options["unknown_ok"] else ANSWERED


def _target(files: tuple[Path, ...], options: dict[str, Any]) -> Target:
    """The place that the options name. Raises ``UsageError``."""
    line, callee, when = options["line"], options["callee"], options["when"] or ""
    if (line is None) == (callee is None):
        both = "not both" if line is not None else "one of them"
        raise click.UsageError(f"a place is named by --line or by --call: give {both} (or --cover)")
    if line is None:
        if when:
            raise click.UsageError("--when is a condition at a line; name that with --line")
        if re.fullmatch(r"\w[\w.:$~<>, ]*", callee) is None:
            raise click.UsageError(f"--call takes the name of a function, and {callee!r} is none")
        return Target(callee=callee)
    match = _PLACE.fullmatch(line)
    if match is None:
        raise click.UsageError(f"--line takes N or FILE:N, and {line!r} is neither")
    number = int(match[2])
    if match[1] is None and len(files) > 1:
        raise click.UsageError(f"--line {line} is of one of {len(files)} files: name it, as --line {files[0]}:{line}")
    target = Target(match[1] or str(files[0]), number, when=when.strip())
    if options["when"] is not None:
        _check_condition(target.when)
    named = [file for file in files if target.is_in(file)]
    if len(named) > 1:
        raise click.UsageError(f"--line {line} may be in {' or in '.join(map(str, named))}: name more of its path")
    if len(named) == 1:
        _check_line(named[0], target)
    if target.when and (len(named) != 1 or named[0].suffix in _IR):
        raise click.UsageError("--when is asked at a line of a C file that is named: not in a header, nor in IR")
    return target


def _check_condition(when: str) -> None:
    """Raises ``UsageError`` for what is no condition, or changes what the program does."""
    if not when:
        raise click.UsageError("--when is empty; give a condition of C, or leave it out")
    bare = re.sub(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'", "0", when)
    if re.search(r"[;{}\n]|//|/\*|\*/", bare) or not _is_balanced(bare):
        raise click.UsageError(f"--when takes one condition of C, and {when!r} is none")
    if re.search(r"\+\+|--|(?<![=!<>])=(?!=)|<<=|>>=", bare):
        raise click.UsageError(f"--when {when!r} would change what the program does (a comparison is ==)")


def _is_balanced(text: str) -> bool:
    depth = 0
    for sign in text:
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            return False
    return depth == 0


def _check_line(file: Path, target: Target) -> None:
    """Raises ``UsageError`` for a line that a file of C does not have; what else is missing shows when it is read."""
    from loopless.source.compile import check_file

    if file.suffix in _IR:
        return
    count = len(check_file(file).read_bytes().splitlines())
    if target.line is None or not 1 <= target.line <= count:
        raise UsageError(f"{file} has {count} lines, so none is line {target.line}")


def _reached(
    request: Request, files: tuple[Path, ...], target: Target, settings: Settings, options: dict[str, Any]
) -> Reach:
    from loopless.queries.reach import reach

    try:
        return reach(
            files,
            target,
            options["function"],
            settings,
            deadline_of(request, settings),
            summaries=not options["no_summary"],
            minimize=options["minimize"] or "",
        )
    except SourceError as error:
        found = re.search(rf"cannot compile .*:{target.line}:\d+: (.*)", str(error)) if target.when else None
        if found is None:
            raise
        message = f"--when {target.when!r} does not compile at {target.file}:{target.line}: {found[1]}"
        raise UsageError(message) from None


def _write(
    found: Reach, files: tuple[Path, ...], settings: Settings, folder: Path, name: str = "test", words: str = ""
) -> None:
    """The tests that can be written, into the folder; of the others the reason why not goes to standard error."""
    if found.inputs is None:
        warn(f"the answer is {found.verdict}: there is no test to write")
        return
    from loopless.queries.surroundings import surroundings
    from loopless.report.reach_tests import c_test, python_test, xml_metadata, xml_test

    program = surroundings(files, found.function, replace(settings.source, target=None))
    made: dict[str, Callable[[], str]] = {
        ".c": lambda: c_test(found, program, folder, name, words),
        ".py": lambda: python_test(found, program, folder, words),
        ".xml": lambda: xml_test(found),
    }
    texts: dict[str, str] = {}
    for suffix, text in made.items():
        try:
            texts[name + suffix] = text()
        except UsageError as error:
            if suffix != ".xml" or not found.inputs.arguments:  # that arguments are no inputs of main is no news
                warn(str(error))
    if f"{name}.xml" in texts:
        texts["metadata.xml"] = xml_metadata(found, files, program.pointer_bits)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, content in texts.items():
            (folder / file).write_text(content, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write to {folder}: {error.strerror}") from None
