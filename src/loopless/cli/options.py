"""Options that several commands share, and the settings they make."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from loopless.cli.app import Request
from loopless.cli.colour import CHOICES
from loopless.debugging import shows_tracebacks
from loopless.queries.settings import LONGEST_S, Settings
from loopless.source.compile import STANDARD_INPUT, SourceOptions

_F = TypeVar("_F", bound=Callable[..., Any])
_MOST_MB: Final = 1 << 40
"""More memory than any machine has, and its bytes still fit what limits a process."""


class _Seconds(click.ParamType[float]):
    """A time that is more than 0 and has an end."""

    name = "seconds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            found = float(value)
        except ValueError:
            found = math.nan
        if not 0 < found <= LONGEST_S:
            self.fail(f"{str(value)!r} is no time: give seconds, more than 0 and at most {LONGEST_S}", param, ctx)
        return found


SECONDS: Final = _Seconds()
"""The type of options that limit a time."""


def _all(*options: Callable[[_F], _F]) -> Callable[[_F], _F]:
    def decorate(function: _F) -> _F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def format_option(*formats: str) -> Callable[[_F], _F]:
    """``--format``, the first one the default, and ``--color`` of what is text."""
    return _all(
        click.option("--format", "format_", type=click.Choice(formats), default=formats[0], show_default=True),
        click.option(
            "--color",
            type=click.Choice(CHOICES),
            default="auto",
            show_default=True,
            help="Colours of text; auto: on terminals, and as NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE say.",
        ),
    )


def reading(function: _F) -> _F:
    """How the program is read."""
    return _all(
        click.option(
            "-p",
            "database",
            metavar="BUILD_DIR",
            type=click.Path(path_type=Path),
            help="Take flags from BUILD_DIR/compile_commands.json.",
        ),
        click.option(
            "-x",
            "language",
            type=click.Choice(["c", "c++"]),
            default="c",
            show_default=True,
            help="What standard input is, where FILE is -.",
        ),
        click.option(
            "--clang",
            metavar="PATH",
            help="Compile with this clang; default: that of the package ziglang, else the system's.",
        ),
        click.option("--data-model", type=click.Choice(["ILP32", "LP64"]), help="Sizes of types; default: the host's."),
        click.option(
            "--integers",
            type=click.Choice(["machine", "mathematical"]),
            default="machine",
            show_default=True,
            help="Read signed types as their C types or as all integers.",
        ),
        click.option(
            "--stubs",
            metavar="FILE",
            multiple=True,
            type=click.Path(path_type=Path),
            help="A C file that says what functions do which the program only declares.",
        ),
        click.option("--wrapv", is_flag=True, help="Signed overflow wraps around instead of being undefined."),
    )(function)


def limits(function: _F) -> _F:
    """What the work may cost."""
    return _all(
        click.option("--timeout", metavar="S", type=SECONDS, help="Seconds of processor time for the whole command."),
        click.option(
            "--loop-timeout",
            metavar="S",
            type=SECONDS,
            default=10.0,
            show_default=True,
            help="Seconds of processor time for each loop.",
        ),
        click.option("--thorough", is_flag=True, help="As much time for each loop where many are asked for."),
        click.option(
            "--loop-memory",
            metavar="MB",
            type=click.IntRange(16, _MOST_MB),
            default=4096,
            show_default=True,
            help="Memory for each loop.",
        ),
        click.option(
            "-j",
            "jobs",
            metavar="N",
            type=click.IntRange(min=1),
            help="Work on N loops at once; default: one a processor.",
        ),
        click.option("--no-run", is_flag=True, help="Never run code of the program."),
        click.option("--unknown-ok", is_flag=True, help="Exit with 0 where the answer is not complete."),
    )(function)


def selection(function: _F) -> _F:
    """Which loops, and what about them."""
    return _all(
        click.option("--function", "functions", metavar="F", multiple=True, help="Only loops of this function."),
        click.option(
            "--loop", "places", metavar="FILE:LINE", multiple=True, help="Only this loop: its place, or its full name."
        ),
        click.option("--vars", "variables", metavar="x,z", help="What to tell about; default: what is used later."),
        click.option("--assume", metavar="COND", help="A C condition on the values at the loop's entry."),
    )(function)


def given_options(ctx: click.Context) -> dict[str, str]:
    """The options that stand on the command line: the names of their values, and how they are written."""
    line = click.core.ParameterSource.COMMANDLINE
    return {
        param.name: max(param.opts, key=len)
        for param in ctx.command.params
        if isinstance(param, click.Option) and param.name and ctx.get_parameter_source(param.name) is line
    }


def exclude(option: str, why: str, *others: str) -> None:
    """Raises ``UsageError`` if one of the options ``others`` is given beside ``option``: it would be ignored."""
    given = given_options(click.get_current_context()).values()
    for other in others:
        if option in given and other in given:
            raise click.UsageError(f"{option} {why}; leave out {other}")


def settings_of(request: Request, options: Mapping[str, Any]) -> Settings:
    """The settings that the options of :func:`reading` and :func:`limits` make."""
    if options["integers"] == "mathematical" and options["wrapv"]:
        raise click.UsageError("--integers mathematical has no overflow; leave out --wrapv")
    timeout = options["timeout"]
    source = SourceOptions(
        data_model=options["data_model"],
        clang=options["clang"],
        flags=(*request.of_file, *request.flags),
        compile_database=options["database"],
        timeout_s=timeout if timeout is not None else SourceOptions().timeout_s,
        stubs=tuple(options["stubs"]),
        standard_input=_standard_input(),
        language=options["language"],
    )
    return Settings(
        source=source,
        mathematical=options["integers"] == "mathematical",
        wrapv=options["wrapv"],
        run=not options["no_run"],
        loop_timeout_s=options["loop_timeout"],
        thorough=options["thorough"],
        loop_memory_mb=options["loop_memory"],
        timeout_s=timeout,
        workers=options["jobs"],
    )


def _standard_input() -> bytes | None:
    """The text of standard input, where it is one of the files; read when it is first asked for."""
    ctx = click.get_current_context()
    given = [value for name in ("files", "file", "paths") for value in _each(ctx.params.get(name, ()))]
    if STANDARD_INPUT not in given:
        return None
    if given.count(STANDARD_INPUT) > 1:
        raise click.UsageError("- is standard input, which is read once: name it once")
    if _READ not in ctx.meta:
        ctx.meta[_READ] = b"" if sys.stdin is None else sys.stdin.buffer.read()
    found: bytes = ctx.meta[_READ]
    return found


_READ: Final = "loopless.standard-input"


def check_judged(files: Sequence[Path]) -> None:
    """Raises ``UsageError`` for standard input, where a judge reads the files by themselves, in another process."""
    if STANDARD_INPUT in files:
        raise click.UsageError("a judge reads the files by themselves: write standard input to a file first")


def _each(value: object) -> tuple[object, ...]:
    return value if isinstance(value, tuple) else (value,)


def names_of(text: str | None) -> tuple[str, ...] | None:
    """The names of ``--vars``."""
    if text is None:
        return None
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not names:
        raise click.UsageError("--vars names no variable")
    return names


def deadline_of(request: Request, settings: Settings) -> float | None:
    """When the command must end, by :func:`loopless.clock.now`."""
    return None if settings.timeout_s is None else request.started + settings.timeout_s


def warn(message: str) -> None:
    """Print one sentence to standard error."""
    click.echo(f"loopless: {message}", err=True)


def show_trouble(tracebacks: Sequence[str]) -> None:
    """Print the tracebacks of errors inside Loopless to standard error, if LOOPLESS_DEBUG is set."""
    if shows_tracebacks():
        for traceback in dict.fromkeys(tracebacks):
            if traceback:
                click.echo(traceback, err=True)
