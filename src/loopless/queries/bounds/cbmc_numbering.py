"""Whether CBMC numbers the loops of a function as we do: by the text of the function.

CBMC gives a number to every jump backwards of a function in the order in which they stand (``goto_programt``,
``--show-loops``), whether it is ever taken or not. That is one for each ``for``, ``while`` and ``do`` in the order of
their ends, as long as nothing else jumps backwards and all of these are loops here too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

from loopless.patterns import pattern
from loopless.queries.bounds.runs import is_recursion
from loopless.queries.program import AnalyzedFunction

_SKIPPED: Final = pattern(
    r"/\*.*?\*/|//(?:\\\n|[^\n])*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|^[ \t]*#(?:\\\n|[^\n])*",
    re.DOTALL | re.MULTILINE,
)
_TOKEN: Final = pattern(r"[A-Za-z_]\w*|[0-9]\w*|\S")


def numbered_otherwise(function: AnalyzedFunction) -> str | None:
    """Why CBMC may number the loops of a function otherwise, in one sentence; None where it does not."""
    same = [other for other in function.program.functions if other.name == function.name]
    if len(same) > 1:
        return f"there are {len(same)} functions called {function.name}"
    body = _body(function)
    if body is None:
        return f"the text of {function.name} is not found"
    if _jumps_back(body):
        return f"in {function.name} a goto jumps backwards, or to where is not known"
    loops = [loop.id for loop in function.loops if loop.id.inlined_from is None and not is_recursion(loop.id)]
    written = sum(token in ("for", "while") for token in body)
    if written != len(loops) or any(loop.refused is not None for loop in loops):
        return f"the text of {function.name} has {written} loops, and {len(loops)} are known that may run again"
    return None


def _jumps_back(body: Sequence[str]) -> bool:
    for at, word in enumerate(body[:-1]):
        if word == "goto":
            target = body[at + 1]
            later = any(a == target and b == ":" for a, b in zip(body[at + 2 :], body[at + 3 :], strict=False))
            if not later:
                return True
    return False


def _body(function: AnalyzedFunction) -> Sequence[str] | None:
    """The tokens of a function's body; None where they are not found."""
    place = function.code.loc
    if place is None:
        return None
    try:
        text = Path(place.file).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    tokens = _tokens(text)
    name = function.name.rsplit("::", 1)[-1]
    starts = [at for at, (line, text) in enumerate(tokens) if line >= place.line and text == name]
    for start in starts[:1]:
        if start + 1 >= len(tokens) or tokens[start + 1][1] != "(":
            return None
        opened = next((at for at in range(start, len(tokens)) if tokens[at][1] == "{"), None)
        depth = 0
        for at in range(opened if opened is not None else len(tokens), len(tokens)):
            depth += {"{": 1, "}": -1}.get(tokens[at][1], 0)
            if depth == 0:
                return [text for _, text in tokens[start : at + 1]]
    return None


@lru_cache(maxsize=8)
def _tokens(text: str) -> list[tuple[int, str]]:
    """The lines and tokens of C, without comments, strings and directives."""
    plain = _SKIPPED.sub(lambda found: " " + "\n" * found[0].count("\n"), text)
    return [(number, token) for number, line in enumerate(plain.split("\n"), 1) for token in _TOKEN.findall(line)]
