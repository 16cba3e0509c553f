"""Signed overflows that clang folds into constants: ``INT_MAX + 1`` and ``1 << 31`` come out as plain numbers.

The folded code wraps, which would silently take undefined behaviour for defined. Clang warns of each such place, but of
none inside of ``?:``: these are read off a second compilation, in which it checks additions, subtractions and products
and folds none. The places travel with the module as named metadata, through linking and inlining, so that nothing near
them is answered.
"""

from __future__ import annotations

import operator
import re
from pathlib import Path
from typing import Final

from loopless.patterns import pattern

WARNINGS: Final = ("-Winteger-overflow", "-Wshift-overflow", "-Wshift-negative-value")
WARNINGS_OF_C: Final = ("-Wshift-sign-overflow",)
"""C++ lets a left shift reach the sign bit."""
CHECKS: Final = ("-fsanitize=signed-integer-overflow", "-fsanitize-trap=signed-integer-overflow")
"""What makes clang leave :func:`unfolded` what it else folds."""
_NAME: Final = "loopless.folded.overflows"
_FIRST_NODE: Final = 3_000_000
_WARNING: Final = pattern(
    r"^(.*?):(\d+):\d+: warning: (?:overflow in expression|signed shift result|shifting a negative signed value)",
    re.MULTILINE,
)
_LIST: Final = pattern(rf"^!{re.escape(_NAME)} = !{{(.*)}}", re.MULTILINE)
_CHOICE: Final = pattern(r"^cond\.true\d*:", re.MULTILINE)
_CHECKED: Final = pattern(r"@llvm\.s(add|sub|mul)\.with\.overflow\.i(\d+)\(i\d+ (-?\d+), i\d+ (-?\d+)\).*?!dbg (!\d+)")
_RESULTS: Final = {"add": operator.add, "sub": operator.sub, "mul": operator.mul}


def has_choices(text: str) -> bool:
    """Whether the text of a module, as clang writes it without optimization, comes of a program with ``?:``."""
    return _CHOICE.search(text) is not None


def unfolded(checked: str) -> frozenset[tuple[str, int]]:
    """(file name, line) of operations on constants that overflow, in a module that was compiled with :data:`CHECKS`."""
    found: set[tuple[str, int]] = set()
    for name, bits, a, b, place in _CHECKED.findall(checked):
        half = 1 << (int(bits) - 1)
        if not -half <= _RESULTS[name](int(a), int(b)) < half:
            found.add(_place(checked, place))
    return frozenset(found)


def _place(text: str, node: str) -> tuple[str, int]:
    """File name and line of a location in the debug information."""
    told = _told(text, node)
    line = re.search(r"line: (\d+)", told)
    while "file: " not in told and (scope := re.search(r"scope: (!\d+)", told)) is not None:
        told = _told(text, scope[1])
    file = re.search(r"file: (!\d+)", told)
    name = re.search(r'filename: "([^"]*)"', _told(text, file[1])) if file is not None else None
    return Path(name[1]).name if name is not None else "", int(line[1]) if line is not None else 0


def _told(text: str, node: str) -> str:
    found = re.search(rf"^{re.escape(node)} = (.*)", text, re.MULTILINE)
    return "" if found is None else found[1]


def mark(diagnostics: str, checked: str = "") -> str:
    """The metadata, as text to append to a module, for what clang printed while it compiled the module; ``checked``:
    what it makes of the module with :data:`CHECKS`.
    """
    warned = {(Path(file).name, int(line)) for file, line in _WARNING.findall(diagnostics)}
    places = sorted(warned | unfolded(checked))
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
