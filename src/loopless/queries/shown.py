"""Answers that people hold show themselves: to ``print``, at a prompt, in a notebook, and as JSON.

How an answer looks is said in :mod:`loopless.report.shown`, which stands above the answers. It is imported by its name
when an answer is first shown, so that answers travel between processes without it.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any


@functools.cache
def presentation() -> Any:
    """The functions ``text``, ``brief``, ``page`` and ``fields`` of the report, by the type of what they are given."""
    return importlib.import_module("loopless.report.shown")


class Shown:
    """Something with a text (``print``), one short line (a prompt) and a picture of itself in HTML (a notebook)."""

    __slots__ = ()

    def __str__(self) -> str:
        return str(presentation().text(self))

    def __repr__(self) -> str:
        return f"<{presentation().brief(self)}>"

    def _repr_html_(self) -> str | None:
        page: str | None = presentation().page(self)
        return page

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # noqa: FBT001, ARG002  IPython's protocol
        printer.text(repr(self))
