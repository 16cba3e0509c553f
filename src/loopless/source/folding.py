"""Signed overflows that clang folds into constants: ``INT_MAX + 1`` and ``1 << 31`` come out as plain numbers.

The folded code wraps, which would silently take undefined behaviour for defined. Clang warns of each such place; the
places travel with the module as named metadata, through linking and inlining, so that nothing near them is answered.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

WARNINGS: Final = ("-Winteger-overflow", "-Wshift-overflow", "-Wshift-negative-value")
WARNINGS_OF_C: Final = ("-Wshift-sign-overflow",)
"""C++ lets a left shift reach the sign bit."""
_NAME: Final = "loopless.folded.overflows"
_FIRST_NODE: Final = 3_000_000
_WARNING: Final = re.compile(
    r"^(.*?):(\d+):\d+: warning: (?:overflow in expression|signed shift result|shifting a negative signed value)",
    re.MULTILINE,
)
_LIST: Final = re.compile(rf"^!{re.escape(_NAME)} = !{{(.*)}}", re.MULTILINE)


def mark(diagnostics: str) -> str:
    """The metadata, as text to append to a module, for what clang printed while it compiled the module."""
    places = sorted({(Path(file).name, int(line)) for file, line in _WARNING.findall(diagnostics)})
    if not places:
        return ""
    nodes = [f'!{_FIRST_NODE + i} = !{{!"{name}:{line}"}}' for i, (name, line) in enumerate(places)]
    named = ", ".join(f"!{_FIRST_NODE + i}" for i in range(len(places)))
    return "\n".join(["", f"!{_NAME} = !{{{named}}}", *nodes, ""])


def marked(text: str) -> frozenset[tuple[str, int]]:
    """(file name, line) of the places that the text of a module carries."""
    if _NAME not in text:
        return frozenset()
    places: set[tuple[str, int]] = set()
    for listed in _LIST.findall(text):
        for node in re.findall(r"!\d+", listed):
            found = re.search(rf'^{re.escape(node)} = !{{!"(.*):(\d+)"}}', text, re.MULTILINE)
            if found is not None:
                places.add((found[1], int(found[2])))
    return frozenset(places)
