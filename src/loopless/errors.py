"""Errors that end a whole request, each one sentence that names the place and the way out.

A loop that cannot be answered is not an error: it is a value, see :mod:`loopless.refusals`.
"""

from __future__ import annotations


class LooplessError(Exception):
    """Root of all errors that Loopless raises on purpose; its text is one sentence for the user."""


class UsageError(LooplessError):
    """The request itself is off: an unknown option value, function, loop or variable (exit status 2)."""


class SourceError(LooplessError):
    """The program cannot be read: a missing file, C that does not compile, IR of another version (exit status 2)."""


class LimitError(LooplessError):
    """A limit on time or memory ended a piece of work; the text names the limit and the option that raises it."""
