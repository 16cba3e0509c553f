"""Loopless tells what a loop in C does without running it.

    program = loopless.load("fig1a.c")
    loop = program["f"].loops[0]
    summary = loop.summarize()      # print(summary), summary(x=0, n=9), or let a notebook show it
    bound = loop.bound()            # bound.upper, bound.at(n=9)
    program["f"].evaluate(0, 9)

The page docs/python.md has all of it by examples. What is not needed is not imported: the names below come from their
modules when they are first used.
"""

from __future__ import annotations

import typing

if typing.TYPE_CHECKING:
    from loopless.errors import LimitError, LooplessError, SourceError, UsageError
    from loopless.interface.program import Function, Loop, Program, load
    from loopless.queries.bounds.answers import Bound, FunctionBound, LoopBound
    from loopless.queries.call_values.reached import Reached
    from loopless.queries.evaluation.evaluate import Evaluation
    from loopless.queries.functions import FunctionAnswer
    from loopless.queries.loops.answer import LoopAnswer
    from loopless.queries.settings import Settings
    from loopless.queries.verification.verdict import Verdict
    from loopless.refusals import Reason, Refused
    from loopless.summary import Case, FunctionCase

__all__ = [
    "Bound",
    "Case",
    "Evaluation",
    "Function",
    "FunctionAnswer",
    "FunctionBound",
    "FunctionCase",
    "LimitError",
    "Loop",
    "LoopAnswer",
    "LoopBound",
    "LooplessError",
    "Program",
    "Reached",
    "Reason",
    "Refused",
    "Settings",
    "SourceError",
    "UsageError",
    "Verdict",
    "load",
]

_HOMES = {
    "loopless.errors": ("LimitError", "LooplessError", "SourceError", "UsageError"),
    "loopless.interface.program": ("Function", "Loop", "Program", "load"),
    "loopless.queries.bounds.answers": ("Bound", "FunctionBound", "LoopBound"),
    "loopless.queries.call_values.reached": ("Reached",),
    "loopless.queries.evaluation.evaluate": ("Evaluation",),
    "loopless.queries.functions": ("FunctionAnswer",),
    "loopless.queries.loops.answer": ("LoopAnswer",),
    "loopless.queries.settings": ("Settings",),
    "loopless.queries.verification.verdict": ("Verdict",),
    "loopless.refusals": ("Reason", "Refused"),
    "loopless.summary": ("Case", "FunctionCase"),
}


def __getattr__(name: str) -> typing.Any:
    home = next((module for module, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(home), name)


def __dir__() -> list[str]:
    return sorted(__all__)
