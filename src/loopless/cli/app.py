"""The group of commands, and what every command has in common: errors, exit status, flags for clang."""

from __future__ import annotations

import contextlib
import difflib
import importlib
import itertools
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final

import click

from loopless import clock
from loopless.cli.colour import show
from loopless.errors import LimitError, LooplessError, UsageError
from loopless.garbage import seldom_collecting
from loopless.patterns import pattern
from loopless.records import dataclass

ANSWERED: Final = 0
VIOLATED: Final = 1
BAD_INPUT: Final = 2
UNKNOWN: Final = 3
INTERNAL: Final = 101
INTERRUPTED: Final = 130

COMMANDS: Final[Mapping[str, str]] = {
    "loops": "loopless.cli.loops",
    "summarize": "loopless.cli.summarize",
    "classify": "loopless.cli.classify",
    "bound": "loopless.cli.bound",
    "verify": "loopless.cli.verify",
    "reach": "loopless.cli.reach",
    "eval": "loopless.cli.eval",
    "explain": "loopless.cli.explain",
    "help": "loopless.cli.help",
}
"""The module of each command, imported when it is called; it has a click command named ``command``."""

_EPILOG: Final = """\b
Exit status:
  0    answered (loops, classify, and eval on a stream: every item has its line)
  1    violated (commands that check a property), unreachable (reach)
  2    bad usage or bad input
  3    the question asked has no complete answer; --unknown-ok makes it 0
  101  an internal error
  130  interrupted; what was found is printed

Flags for clang stand after --, as in: loopless summarize a.c -- -DN=10 -Iinclude
"""


@dataclass(frozen=True, slots=True)
class Request:
    """What stands outside a command's own options: its start by the clock of work (:func:`loopless.clock.now`) and by
    the wall, the flags for clang on the command line, and those of a file (:mod:`loopless.cli.configuration`).
    """

    started: float
    begun: float
    flags: tuple[str, ...]
    of_file: tuple[str, ...] = ()

    @property
    def elapsed_ms(self) -> float:
        """Milliseconds by the wall since the start."""
        return 1000 * (clock.wall() - self.begun)


class _Group(click.Group):
    """Knows the names of the commands without importing them."""

    def list_commands(self, _: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, _: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        return command_of(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            raise click.UsageError(no_command(name), ctx)
        return super().resolve_command(ctx, args)


def command_of(name: str) -> click.Command:
    """The command of that name."""
    command: click.Command = importlib.import_module(COMMANDS[name]).command
    return command


def no_command(name: str) -> str:
    """That there is no such command, and which one may be meant."""
    if name == "fuzz":
        return "fuzz is a tool of its own, loopless-fuzz; install it from the repository with pip install ./tools/fuzz"
    near = difflib.get_close_matches(name, COMMANDS, n=1)
    return f"No such command {name!r}{f'; did you mean {near[0]}?' if near else ''}"


def _version(ctx: click.Context, _: click.Parameter, wanted: object) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version

        try:
            click.echo(f"loopless {version('loopless')}")
        except PackageNotFoundError:
            click.echo("loopless (not installed)")
        ctx.exit()


@click.command(
    cls=_Group,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=_EPILOG,
    no_args_is_help=True,
)
@click.option(
    "-V", "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Print the version."
)
def group() -> None:
    """Tells what a loop in C does without running it.

    \b
    Example:
      loopless summarize examples/looperman/fig1.c
    """


def run(argv: list[str]) -> int:
    """Carry out one command line; the exit status. Nothing but the answer goes to standard output."""
    started, begun = clock.now(), clock.wall()
    own, flags = _split(argv)
    said = list(own)  # and what files say
    named = next((word for word in own if not word.startswith("-")), "")
    command = named if named in COMMANDS else ""
    try:
        _check_flags(command, flags)
        _check_output()
        defaults, given = _configured(command)
        own_defaults = (defaults or {}).get(command, {})
        said += ["--unknown-ok"] * bool(own_defaults.get("unknown_ok"))
        if "--format" not in own and not any(word.startswith("--format=") for word in own):
            said.append(f"--format={own_defaults.get('format_', 'text')}")
        with seldom_collecting():
            request = Request(started, begun, flags, given)
            status = group.main(own, "loopless", standalone_mode=False, obj=request, default_map=defaults)
        sys.stdout.flush()
        return status if isinstance(status, int) else ANSWERED
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        _say(error.format_message())
        return BAD_INPUT
    except BrokenPipeError:
        drop_output()
        return ANSWERED
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001  # whatever it is, users get one sentence
        kind, message, status = failure(error, f"loopless {command} --help" if command else "loopless --help")
        status = ANSWERED if kind == "limit" and "--unknown-ok" in said else status
        if kind == "output":
            drop_output()
        return _fail(said, command, kind, message, status)


def failure(error: Exception, help_: str) -> tuple[str, str, int]:
    """What went wrong: its kind, the sentence that users get, and the exit status; ``help_`` explains the usage."""
    match error:
        case click.UsageError():
            return "usage", f"{error.format_message().removesuffix('.')} (see {help_})", BAD_INPUT
        case click.ClickException():
            return "usage", error.format_message(), BAD_INPUT
        case UsageError():
            return "usage", str(error), BAD_INPUT
        case LimitError():
            return "limit", str(error), UNKNOWN
        case LooplessError():
            return "source", str(error), BAD_INPUT
        case OSError() if _is_of_output(error):
            return "output", f"cannot write the output: {error.strerror or error}", BAD_INPUT
        case _:
            from loopless.debugging import shows_tracebacks

            if shows_tracebacks():
                import traceback

                traceback.print_exception(error)
            what = f"{type(error).__name__}: {error}".splitlines()[0]
            message = f"an error inside Loopless ({what}); please report it; LOOPLESS_DEBUG=1 shows the traceback"
            return "internal", message, INTERNAL


_WITHOUT_SOURCES: Final = ("explain", "help")


def _configured(command: str) -> tuple[dict[str, Any] | None, tuple[str, ...]]:
    """The defaults of options and the flags for clang that a file has. Raises :class:`UsageError`."""
    if not command or command in ("help", "explain"):
        return None, ()
    from loopless.cli.configuration import nearest, read

    found = nearest()
    if found is None:
        return None, ()
    known = read(*found, {name: command_of(name) for name in COMMANDS if name != "help"})
    return {name: dict(own) for name, own in known.defaults.items()}, () if command in _WITHOUT_SOURCES else known.flags


_NUMBER: Final = pattern(r"-(0[xX][0-9a-fA-F]+|\d+)")


def _split(argv: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """The command's own words, and the flags for clang after ``--``."""
    words = list(argv)
    if "--" not in words:
        return words, ()
    at = words.index("--")
    return words[:at], tuple(words[at + 1 :])


def _check_flags(command: str, flags: Sequence[str]) -> None:
    """Flags are for what compiles; other tools take negative numbers behind ``--``. Raises :class:`UsageError`."""
    if flags and command in _WITHOUT_SOURCES:
        raise UsageError(f"{command} does not compile what you name, and has no use for flags behind --")
    number = next((flag for flag in flags if _NUMBER.fullmatch(flag)), None)
    if number is not None:
        raise UsageError(f"what stands behind -- is for clang, and {number} is a number: write it before, without --")


def _check_output() -> None:
    """Raises :class:`UsageError` where there is no standard output at all."""
    if sys.stdout is None:
        raise UsageError("cannot write the output: standard output is closed")


def _is_of_output(error: OSError) -> bool:
    """Whether the error came from printing: where it was raised."""
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    return at is not None and at.tb_frame.f_code in (click.echo.__code__, show.__code__, run.__code__)


def drop_output() -> None:
    """Let what is still to write go nowhere, so that Python does not complain of it at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(message: str) -> None:
    """Print to standard error, if that can be."""
    with contextlib.suppress(OSError):
        click.echo(message, err=True)


def _fail(own: Sequence[str], command: str, kind: str, message: str, status: int) -> int:
    """Say what is wrong, in JSON on standard output where that was asked for, else on standard error."""
    if _wants_json(own) and kind != "output" and sys.stdout is not None:
        from loopless.cli.errors import error_document

        try:
            click.echo(error_document(command, kind, message))
        except BrokenPipeError:
            drop_output()
        except OSError as error:
            drop_output()
            _say(f"loopless: {message}; cannot write that as JSON: {error.strerror or error}")
    else:
        _say(f"loopless: {message}")
    return status


def _wants_json(own: Sequence[str]) -> bool:
    return "--format=json" in own or any(pair == ("--format", "json") for pair in itertools.pairwise(own))
