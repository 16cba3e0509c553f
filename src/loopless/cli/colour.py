"""Colour of text answers, by the conventions of NO_COLOR (no-color.org), CLICOLOR and CLICOLOR_FORCE
(bixense.com/clicolors) and FORCE_COLOR (force-color.org). The words are the same with and without.
"""

from __future__ import annotations

import os
import sys
from typing import Final

import click

from loopless.patterns import pattern

CHOICES: Final = ("auto", "always", "never")

_STATUS: Final = {
    "exact": "green",
    "over-approximate": "yellow",
    "refused": "red",
    "true": "green",
    "reached": "green",
    "false": "red",
    "unreachable": "yellow",
    "unknown": "yellow",
}
"""The word for how good an answer is, and its colour."""
_HEADING: Final = pattern(r"(?P<name>\S+:\d+:\d+\S*): (?P<status>[\w-]+)(?P<rest>.*)")
_VERDICT: Final = pattern(r"(?P<status>true|false|reached|unreachable|unknown)(?P<rest>[:(].*)")
_LINES: Final = (
    (pattern(r"(\s+)((?:may be )?undefined)\b(.*)"), "red"),
    (pattern(r"(\s+)((?:may )?(?:diverges?|never ends?))\b(.*)"), "magenta"),
    (pattern(r"(\s+)(why|not exact|not told)\b(.*)"), "yellow"),
    (pattern(r"(\s+)(what to do)\b(.*)"), "cyan"),
    (pattern(r"(\s+)(when|always)\b(.*)"), "blue"),
)


def wanted(choice: str) -> bool:
    """Whether standard output is to have colours, where ``--color`` says ``choice``."""
    if choice != "auto":
        return choice == "always"
    given = os.environ.get
    if given("NO_COLOR"):
        return False
    if given("FORCE_COLOR") or given("CLICOLOR_FORCE", "0") not in ("", "0"):
        return True
    if given("CLICOLOR") == "0" or given("TERM") == "dumb":
        return False
    return sys.stdout is not None and sys.stdout.isatty()


def show(text: str, choice: str) -> None:
    """Print an answer, in colours where they are wanted, at once."""
    colours = wanted(choice)
    click.echo("\n".join(map(_painted, text.split("\n"))) if colours else text, color=colours)
    sys.stdout.flush()


def _painted(line: str) -> str:
    if found := _HEADING.fullmatch(line):
        status = click.style(found["status"], fg=_STATUS.get(found["status"]))
        return f"{click.style(found['name'], bold=True)}: {status}{found['rest']}"
    if found := _VERDICT.fullmatch(line):
        return click.style(found["status"], fg=_STATUS[found["status"]], bold=True) + found["rest"]
    for shape, colour in _LINES:
        if found := shape.fullmatch(line):
            return found[1] + click.style(found[2], fg=colour) + found[3]
    return line
