"""Loopless tells what a loop in C does without running it.

    program = loopless.load("fig1a.c")
    loop = program["f"].loops[0]
    summary = loop.summarize()

What is not needed is not imported: the names below come from their modules when they are first used.
"""

from __future__ import annotations

import typing

if typing.TYPE_CHECKING:
    from loopless.queries.session import Function, Loop, Program, load
    from loopless.queries.settings import Settings
    from loopless.refusals import Refused
    from loopless.summary import Summary

__all__ = ["Function", "Loop", "Program", "Refused", "Settings", "Summary", "load"]

_HOMES = {
    "Function": "loopless.queries.session",
    "Loop": "loopless.queries.session",
    "Program": "loopless.queries.session",
    "load": "loopless.queries.session",
    "Settings": "loopless.queries.settings",
    "Refused": "loopless.refusals",
    "Summary": "loopless.summary",
}


def __getattr__(name: str) -> typing.Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
