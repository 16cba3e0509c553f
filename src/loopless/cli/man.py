"""The help of all commands as one page for ``man``, in the macros of man(7)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import Final

import click

from loopless.patterns import pattern

_SPECIAL: Final = pattern(r"^([.'])", re.MULTILINE)
_EPILOG: Final = "loopless COMMAND --help says the same of one command."


def page(group: click.Group, ctx: click.Context) -> str:
    """The page: all commands of the group with their options."""
    try:
        number = version("loopless")
    except PackageNotFoundError:
        number = ""
    lines = [f'.TH LOOPLESS 1 "" "loopless {number}" "User Commands"']
    lines += [".SH NAME", "loopless \\- tells what a loop in C does without running it"]
    lines += [".SH SYNOPSIS", ".B loopless", ".I COMMAND", "[ARG...] [\\-\\- FLAG...]"]
    lines += [".SH DESCRIPTION", *_text(group.help or "")]
    lines += _options(group, ctx)
    lines.append(".SH COMMANDS")
    for name in group.list_commands(ctx):
        found = group.get_command(ctx, name)
        assert found is not None
        own = click.Context(found, ctx, name)
        usage = " ".join(found.collect_usage_pieces(own))
        lines += [f".SS loopless {_escaped(name)} {_escaped(usage)}", *_text(found.help or ""), *_options(found, own)]
    lines += [".SH NOTES", *_text(f"{group.epilog or ''}\n\n{_EPILOG}")]
    return "\n".join(lines) + "\n"


def _options(command: click.Command, ctx: click.Context) -> Iterator[str]:
    """The options of a command, each a tagged paragraph."""
    for parameter in command.get_params(ctx):
        record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
        if record is not None:
            yield from (".TP", f"\\fB{_escaped(record[0])}\\fR", _escaped(" ".join(record[1].split())))


def _text(text: str) -> Iterator[str]:
    """The paragraphs of a help text; those that begin with a backspace keep their lines."""
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        if paragraph.strip().startswith("\b"):
            yield from (".PP", ".nf", *(_escaped(line) for line in paragraph.split("\n")[1:]), ".fi")
        elif paragraph.strip():
            yield from (".PP", _escaped(" ".join(paragraph.split())))


def _escaped(text: str) -> str:
    """The text as roff takes it for itself."""
    return _SPECIAL.sub(r"\\&\1", text.replace("\\", "\\e").replace("-", "\\-"))
