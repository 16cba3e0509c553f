"""The blocks of the source around each instruction, from debug information: where the lives of local variables end.

Without optimization clang writes no markers for them, but gives each instruction a place whose scope is the innermost
block that it belongs to. That holds for C as our clang compiles it; in code that was optimized, or has destructors,
instructions stand outside of the blocks that they come from. So the modules for which it holds are marked, as named
metadata that travel with them through linking and inlining, and only places in their compilation units have scopes.

What our clang compiled without optimization, C or C++, is marked too: there an array that is indexed is one that the
source indexes (:mod:`loopless.flowgraph.members`).

A variable may live in storage that its function does not allocate: a structure that is returned in memory is built
where the caller wants it, and one that is given by value may be the caller's own. Such storage outlives the scope of
the variable. Inlining replaces the parameter by the caller's object, and then nothing tells the two apart any more; so
the mark names these variables before that.

A scope is a block (its number in the metadata) and the inlined call that it is a copy for (the number of the call's
place, -1 for none).
"""

from __future__ import annotations

import re
from typing import Final

SCOPED: Final = "loopless.scopes"
"""The mark of modules whose places have scopes."""
UNOPTIMIZED: Final = "loopless.unoptimized"
"""The mark of modules that are as our clang writes them without optimization."""
_LENT: Final = "loopless.lent"
"""The mark of the variables that live in storage of a caller."""
_UNITS: Final = re.compile(r"^!llvm\.dbg\.cu = !\{([^}]*)\}", re.MULTILINE)
_ALLOCA: Final = re.compile(r'^ +(%[-\w.$]+|%"[^"]*") = alloca ')
_DECLARE: Final = re.compile(
    r'(?:#dbg_declare\(|@llvm\.dbg\.declare\(metadata )ptr (%[-\w.$]+|%"[^"]*"), (?:metadata )?!(\d+),'
)


def mark(text: str, *names: str) -> str:
    """The metadata, as text to append to a module for which this holds."""
    units = _UNITS.search(text)
    if units is None:
        return ""
    made = [f"\n!{name} = !{{{units[1]}}}\n" for name in names]
    lent = _lent(text) if SCOPED in names else ()
    if lent:
        made.append(f"\n!{_LENT} = !{{{', '.join(f'!{number}' for number in lent)}}}\n")
    return "".join(made)


def _lent(text: str) -> list[str]:
    """The numbers of the variables whose records name storage that their function does not allocate itself."""
    own: set[str] = set()
    found: dict[str, None] = {}
    for line in text.split("\n"):
        if line.startswith("define"):
            own = set()
        elif allocated := _ALLOCA.match(line):
            own.add(allocated[1])
        elif (declared := _DECLARE.search(line)) and declared[1] not in own:
            found[declared[2]] = None
    return list(found)


def lent(text: str) -> frozenset[int]:
    """The numbers of the variables that live in storage of a caller."""
    return marked(text, _LENT)


def marked(text: str, name: str) -> frozenset[int]:
    """The numbers of the nodes with a mark."""
    if name not in text:
        return frozenset()
    lists = re.findall(rf"^!{re.escape(name)} = !\{{([^}}]*)\}}", text, re.MULTILINE)
    return frozenset(int(number) for listed in lists for number in re.findall(r"!(\d+)", listed))
