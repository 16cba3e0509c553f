"""Marks on instructions for what C says of them and LLVM IR does not.

A left shift is the same ``shl`` whether its operand is signed or not, and signed it is undefined where bits are lost
(C11 6.5.7p4). Reading a ``_Bool`` is a load of a byte, of which one bit is used, whether it is 0, 1 or a trap
representation (C11 6.2.6.1p5). The marks are metadata attachments; they travel with the module's text through linking
and inlining.

Which shifts are signed is read off a second compilation, in which clang checks just these (``-fsanitize=shift-base``):
for C what is shifted must be no negative number and the result representable; for C++11 to C++17 the result must fit
the unsigned type; since C++20, and with ``-fwrapv``, all left shifts are defined.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from loopless.patterns import pattern

SHIFT_CHECKS: Final = ("-fsanitize=shift-base", "-fsanitize-trap=shift-base")
"""What makes clang check the shifts that :func:`mark` then marks."""

SIGNED: Final = "signed"
SIGNED_CXX: Final = "signed-cxx"
PERHAPS_SIGNED: Final = "perhaps-signed"
TRUTH: Final = "truth"

ATTACHMENTS: Final[Mapping[str, str]] = {
    "!loopless.shift.signed": SIGNED,
    "!loopless.shift.signed.cxx": SIGNED_CXX,
    "!loopless.shift.unknown": PERHAPS_SIGNED,
    "!loopless.truth": TRUTH,
}
"""By the kind of an attachment the flag that the instruction gets: a ``shl`` of a signed operand by the rule of C or of
C++, or one of which it is not known; a ``trunc`` of a byte that was read as a ``_Bool``. A ``load`` whose ``!range``
says that the byte is 0 or 1 gets that flag too.
"""
_KINDS: Final = {flag: kind for kind, flag in ATTACHMENTS.items()}
_NODE: Final = 3_900_000

_SHIFT: Final = pattern(r"^ +\S+ = shl (?:nuw |nsw )*i\d+ ")
_CHECKED: Final = pattern(r"^ +%shl\.check[\w.]* = lshr ")
_CHECKED_CXX: Final = pattern(r"^ +\S+ = lshr i\d+ %shl\.check[\w.]*, 1(?:,|$)")
_HEAD: Final = pattern(r'^define [^@]*@("[^"]*"|[-\w.$]+)\(')
_PLACE: Final = pattern(r", !dbg !(\d+)")
_LOCATION: Final = pattern(r"^!(\d+) = (?:distinct )?!DILocation\((.*?)scope:", re.MULTILINE)
_TRUTH: Final = pattern(
    r"^( +(%\S+) = load (?:atomic )?(?:volatile )?i8, [^\n]*\n +\S+ = trunc i8 \2 to i1)(?=[,\n])", re.MULTILINE
)

_Shifts = dict[str, list[tuple[str, str]]]
"""By function its left shifts in the order of the text: the place, and the flag of a signed one (else empty)."""


def has_shifts(text: str) -> bool:
    """Whether there are left shifts in the text of a module."""
    return " = shl " in text


def mark(text: str, checked: str) -> str:
    """The text of a module, as clang writes it without optimization, with the marks.

    ``checked`` is the module compiled with :data:`SHIFT_CHECKS`, empty where there is none; it is not looked at where
    the module has no left shifts. A shift of a function that is another one with the checks may be signed or not.
    """
    marked = _TRUTH.sub(rf"\1, {_KINDS[TRUTH]} !{_NODE}", text)
    if has_shifts(marked):
        marked = _with_shifts(marked, _shifts(checked))
    return marked if marked is text or marked == text else f"{marked}\n!{_NODE} = !{{}}\n"


def _with_shifts(text: str, checked: _Shifts) -> str:
    own = _shifts(text)
    lines = text.split("\n")
    flags: list[str] = []
    for at, line in enumerate(lines):
        if line.startswith("define"):
            name = _name(line)
            shifts, others = own.get(name, []), checked.get(name, [])
            same = [place for place, _ in shifts] == [place for place, _ in others]
            flags = [flag for _, flag in reversed(others)] if same else [PERHAPS_SIGNED] * len(shifts)
        elif _SHIFT.match(line):
            flag = flags.pop()
            if flag:
                lines[at] = f"{line}, {_KINDS[flag]} !{_NODE}"
    return "\n".join(lines)


def _shifts(text: str) -> _Shifts:
    """The left shifts of each function; clang writes the check of one right before it."""
    places = dict(_LOCATION.findall(text))
    found: _Shifts = {}
    here: list[tuple[str, str]] = []
    flag = ""
    for line in text.split("\n"):
        if line.startswith("define"):
            here = found[_name(line)] = []
            flag = ""
        elif _CHECKED.match(line):
            flag = SIGNED
        elif _CHECKED_CXX.match(line):
            flag = SIGNED_CXX
        elif _SHIFT.match(line):
            place = _PLACE.search(line)
            here.append((places.get(place[1], "") if place is not None else "", flag))
            flag = ""
    return found


def _name(head: str) -> str:
    m = _HEAD.match(head)
    return m[1] if m is not None else head
