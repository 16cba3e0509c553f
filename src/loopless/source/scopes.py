"""The blocks of the source around each instruction, from debug information: where the lives of local variables end.

Without optimization clang writes no markers for them, but gives each instruction a place whose scope is the innermost
block that it belongs to. That holds for C as our clang compiles it; in code that was optimized, or has destructors,
instructions stand outside of the blocks that they come from. So the modules for which it holds are marked, as named
metadata that travel with them through linking and inlining, and only places in their compilation units have scopes.

What our clang compiled without optimization, C or C++, is marked too: there an array that is indexed is one that the
source indexes (:mod:`loopless.flowgraph.memory.members`).

A scope is a block (its number in the metadata) and the inlined call that it is a copy for (the number of the call's
place, -1 for none).
"""

from __future__ import annotations

import re
from typing import Final

from loopless.patterns import pattern

SCOPED: Final = "loopless.scopes"
"""The mark of modules whose places have scopes."""
UNOPTIMIZED: Final = "loopless.unoptimized"
"""The mark of modules that are as our clang writes them without optimization."""
_UNITS: Final = pattern(r"^!llvm\.dbg\.cu = !\{([^}]*)\}", re.MULTILINE)


def mark(text: str, *names: str) -> str:
    """The metadata, as text to append to a module for which this holds."""
    units = _UNITS.search(text)
    return "".join(f"\n!{name} = !{{{units[1]}}}\n" for name in names) if units is not None else ""


def marked(text: str, name: str) -> frozenset[int]:
    """The numbers of the compilation units with a mark."""
    if name not in text:
        return frozenset()
    lists = re.findall(rf"^!{re.escape(name)} = !\{{([^}}]*)\}}", text, re.MULTILINE)
    return frozenset(int(number) for listed in lists for number in re.findall(r"!(\d+)", listed))
