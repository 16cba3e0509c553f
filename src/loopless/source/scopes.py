"""The blocks of the source around each instruction, from debug information: where the lives of local variables end.

Without optimization clang writes no markers for them, but gives each instruction a place whose scope is the innermost
block that it belongs to. That holds for C as our clang compiles it; in code that was optimized, or has destructors,
instructions stand outside of the blocks that they come from. So the modules for which it holds are marked, as named
metadata that travel with them through linking and inlining, and only places in their compilation units have scopes.

A scope is a block (its number in the metadata) and the inlined call that it is a copy for (the number of the call's
place, -1 for none).
"""

from __future__ import annotations

import re
from typing import Final

_NAME: Final = "loopless.scopes"
_UNITS: Final = re.compile(r"^!llvm\.dbg\.cu = !\{([^}]*)\}", re.MULTILINE)
_LIST: Final = re.compile(rf"^!{re.escape(_NAME)} = !\{{([^}}]*)\}}", re.MULTILINE)


def mark(text: str) -> str:
    """The metadata, as text to append to a module whose places have scopes."""
    units = _UNITS.search(text)
    return f"\n!{_NAME} = !{{{units[1]}}}\n" if units is not None else ""


def marked(text: str) -> frozenset[int]:
    """The numbers of the compilation units whose places have scopes."""
    if _NAME not in text:
        return frozenset()
    return frozenset(int(number) for listed in _LIST.findall(text) for number in re.findall(r"!(\d+)", listed))
