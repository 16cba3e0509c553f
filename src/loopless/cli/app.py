"""The group of commands, and what every command has in common: errors, exit status, flags for clang."""

from __future__ import annotations

import importlib
import os
import re
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import click

from loopless.errors import LimitError, LooplessError, UsageError

ANSWERED: Final = 0
VIOLATED: Final = 1
BAD_INPUT: Final = 2
UNKNOWN: Final = 3
INTERNAL: Final = 101
_INTERRUPTED: Final = 130

COMMANDS: Final[Mapping[str, str]] = {
    "loops": "loopless.cli.loops",
    "summarize": "loopless.cli.summarize",
    "classify": "loopless.cli.classify",
    "bound": "loopless.cli.bound",
    "eval": "loopless.cli.eval",
    "explain": "loopless.cli.explain",
    "fuzz": "loopless.cli.fuzz",
}
"""The module of each command, imported when it is called; it has a click command named ``command``."""

_EPILOG: Final = """\b
Exit status:
  0    answered (loops, classify, and eval on a stream: every item has its line)
  1    violated (commands that check a property; fuzz: an answer is wrong)
  2    bad usage or bad input
  3    the question asked has no complete answer; --unknown-ok makes it 0
  101  an internal error

Flags for clang stand after --, as in: loopless summarize a.c -- -DN=10 -Iinclude
"""


@dataclass(frozen=True, slots=True)
class Request:
    """What stands outside a command's own options: its start (``time.monotonic``) and the flags for clang."""

    started: float
    flags: tuple[str, ...]

    @property
    def elapsed_ms(self) -> float:
        """Milliseconds since the start."""
        return 1000 * (time.monotonic() - self.started)


class _Group(click.Group):
    """Knows the names of the commands without importing them."""

    def list_commands(self, _: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, _: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(COMMANDS[cmd_name]).command
        return command


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
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Print the version."
)
def _loopless() -> None:
    """Tells what a loop in C does without running it.

    \b
    Example:
      loopless summarize examples/looperman/fig1.c
    """


def run(argv: list[str]) -> int:
    """Carry out one command line; the exit status. Nothing but the answer goes to standard output."""
    own, flags = _split(argv)
    command = next((word for word in own if word in COMMANDS), "")
    try:
        _no_numbers(flags)
        status = _loopless.main(own, "loopless", standalone_mode=False, obj=Request(time.monotonic(), flags))
        _flush()
        return status if isinstance(status, int) else ANSWERED
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.UsageError as error:
        hint = f"loopless {command} --help" if command else "loopless --help"
        return _fail(own, command, "usage", f"{error.format_message()} (see {hint})", BAD_INPUT)
    except click.ClickException as error:
        return _fail(own, command, "usage", error.format_message(), BAD_INPUT)
    except UsageError as error:
        return _fail(own, command, "usage", str(error), BAD_INPUT)
    except LimitError as error:
        return _fail(own, command, "limit", str(error), ANSWERED if "--unknown-ok" in own else UNKNOWN)
    except LooplessError as error:
        return _fail(own, command, "source", str(error), BAD_INPUT)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ANSWERED
    except (KeyboardInterrupt, click.Abort):
        return _INTERRUPTED
    except Exception as error:  # noqa: BLE001  # whatever it is, users get one sentence
        if os.environ.get("LOOPLESS_DEBUG"):
            import traceback

            traceback.print_exc()
        what = f"{type(error).__name__}: {error}".splitlines()[0]
        message = f"an error inside Loopless ({what}); please report it; LOOPLESS_DEBUG=1 shows the traceback"
        return _fail(own, command, "internal", message, INTERNAL)


_NUMBER: Final = re.compile(r"-(0[xX][0-9a-fA-F]+|\d+)")


def _split(argv: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """The command's own words, and the flags for clang after ``--``."""
    words = list(argv)
    if "--" not in words:
        return words, ()
    at = words.index("--")
    return words[:at], tuple(words[at + 1 :])


def _no_numbers(flags: Sequence[str]) -> None:
    """Other tools take negative numbers behind ``--``. Raises :class:`UsageError`."""
    number = next((flag for flag in flags if _NUMBER.fullmatch(flag)), None)
    if number is not None:
        raise UsageError(f"what stands behind -- is for clang, and {number} is a number: write it before, without --")


def _flush() -> None:
    sys.stdout.flush()


def _fail(own: Sequence[str], command: str, kind: str, message: str, status: int) -> int:
    """Say what is wrong, in JSON on standard output where that was asked for, else on standard error."""
    if _wants_json(own):
        from loopless.cli.errors import error_document

        click.echo(error_document(command, kind, message))
    else:
        click.echo(f"loopless: {message}", err=True)
    return status


def _wants_json(own: Sequence[str]) -> bool:
    following = [*own[1:], ""]
    return any(a == "--format=json" or (a == "--format" and b == "json") for a, b in zip(own, following, strict=True))
