"""Answers about the loops of C source, for tests of what is printed."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path
from typing import Any

from loopless.queries.loops.answer import LoopAnswer, Question
from loopless.queries.loops.answering import answer_all
from loopless.queries.program import load
from loopless.queries.settings import Settings

_OF_SETTINGS = ("mathematical", "wrapv")


@functools.cache
def answers(source: str, **asked: Any) -> tuple[LoopAnswer, ...]:
    """The answers about all loops of ``source``, which is a file ``a.c``; ``asked`` are fields of the question."""
    settings = Settings(sandboxed=False, **{key: asked.pop(key) for key in _OF_SETTINGS if key in asked})
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "a.c"
        file.write_text(source, encoding="utf-8")
        program = load([file], settings)
        return tuple(answer_all(program.loops, Question(**asked), settings))
