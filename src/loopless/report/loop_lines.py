"""Answers of one line a loop, as ``loops`` and ``classify`` print them."""

from __future__ import annotations

from collections.abc import Sequence

from loopless.queries.loops.answer import LoopAnswer
from loopless.queries.loops.name import LoopName


def loop_line(answer: LoopAnswer, width: int) -> str:
    """The answer of ``loops``: one line a loop, inner loops indented, with the reason of a refusal. ``width``: that of
    the longest name, as :func:`indented` has it.
    """
    status = answer.status
    if answer.complete is False:
        status = f"{status}, not complete"
    reason = f"{answer.refused.reason.code} {answer.refused.reason.label}" if answer.refused is not None else ""
    kind = f"type {answer.type}" if answer.type is not None else "-"
    return _line(answer, f"{indented(answer.loop):{width}}  {kind:6}  {status}  {reason}")


def indented(loop: LoopName) -> str:
    """The name of a loop, as deep as it is nested."""
    return "  " * (loop.depth - 1) + loop.name


def type_list(answers: Sequence[LoopAnswer]) -> str:
    """The answers of ``classify``: one line a loop, inner loops indented."""
    width = max((len(indented(answer.loop)) for answer in answers), default=0)
    return "\n".join(type_line(answer, width) for answer in answers)


def type_line(answer: LoopAnswer, width: int) -> str:
    """One line of :func:`type_list`; ``width``: that of the longest name, as :func:`indented` has it."""
    reason = answer.untyped or answer.refused
    kind = f"type {answer.type}" if answer.type is not None else "-"
    about = f"{reason.reason.code} {reason.reason.label}" if reason is not None else ""
    return _line(answer, f"{indented(answer.loop):{width}}  {kind:6}  {about}")


def _line(answer: LoopAnswer, line: str) -> str:
    """The line, with the limit that ended the search for more."""
    return line.rstrip() if answer.cut is None else f"{line.rstrip()}  ({answer.cut.detail})"
