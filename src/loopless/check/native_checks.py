"""Traps for what LLVM itself calls undefined, put into the text of a module.

Clang's own checks exist only in what clang compiles with them; a module that comes as IR has none. So every addition,
subtraction and multiplication that must not wrap (``nsw``, ``nuw``), every division and every shift becomes a call of
a small checking function (LLVM Language Reference, "Binary Operations" and "Bitwise Binary Operations").
"""

from __future__ import annotations

import re
from typing import Final

from loopless.check.native_signature import DebugInfo

_VALUE: Final = r'(%[\w$.\-]+|%"[^"]+"|-?\d+)'
_OPERATION: Final = re.compile(
    r"^(\s+\S+ = )(add|sub|mul|shl|lshr|ashr|sdiv|udiv|srem|urem)((?: nuw| nsw| exact)*)"
    rf" i(\d+) {_VALUE}, {_VALUE}((?:, .*)?)$"
)
_PLACE: Final = re.compile(r"!dbg !(\d+)")
_KINDS: Final = {"add": 0, "sub": 21, "mul": 12, "shl": 20, "lshr": 20, "ashr": 20}
_DIVISION: Final = 3


def checked(line: str, debug: DebugInfo, needed: dict[str, str]) -> str:
    """The line with its operation checked, if it is one that can be undefined.

    ``needed`` collects the checking functions, text by name; they call ``@loopless_trap``.
    """
    found = _OPERATION.match(line)
    if not found:
        return line
    start, op, words, bits, left, right, rest = found.groups()
    flags = tuple(flag for flag in ("nsw", "nuw") if flag in words.split())
    if op in ("add", "sub", "mul") and not flags:
        return line
    name = ".".join(("loopless", op, *flags, f"i{bits}"))
    if name not in needed:
        needed[name] = _function(name, op, flags, int(bits))
    place = _PLACE.search(rest)
    at = debug.line(int(place[1])) if place else 0
    return f"{start}call i{bits} @{name}(i{bits} {left}, i{bits} {right}, i32 {at}){rest}"


def _function(name: str, op: str, flags: tuple[str, ...], bits: int) -> str:
    """A function that does the operation and traps where its result is undefined."""
    t = f"i{bits}"
    lines: list[str] = []
    bad: list[str] = []
    if op in ("add", "sub", "mul"):
        for flag in flags:
            intrinsic = f"@llvm.{'s' if flag == 'nsw' else 'u'}{op}.with.overflow.{t}"
            lines.append(f"  %{flag} = call {{ {t}, i1 }} {intrinsic}({t} %a, {t} %b)")
            lines.append(f"  %{flag}.bad = extractvalue {{ {t}, i1 }} %{flag}, 1")
            bad.append(f"%{flag}.bad")
    elif op in ("shl", "lshr", "ashr"):
        lines.append(f"  %wide = icmp uge {t} %b, {bits}")
        bad.append("%wide")
        for flag in flags:
            back = "ashr" if flag == "nsw" else "lshr"
            lines.append(f"  %{flag}.shifted = shl {t} %a, %b")
            lines.append(f"  %{flag}.back = {back} {t} %{flag}.shifted, %b")
            lines.append(f"  %{flag}.bad = icmp ne {t} %{flag}.back, %a")
            bad.append(f"%{flag}.bad")
    else:
        lines.append(f"  %zero = icmp eq {t} %b, 0")
        bad.append("%zero")
        if op in ("sdiv", "srem"):
            lines.append(f"  %least = icmp eq {t} %a, {-(1 << (bits - 1))}")
            lines.append(f"  %minus = icmp eq {t} %b, -1")
            lines.append("  %over = and i1 %least, %minus")
            bad.append("%over")
    # One after the other, so that a poison flag of a later test cannot hide what an earlier one found.
    for index, flag in enumerate(bad):
        lines.append(f"  br i1 {flag}, label %trap, label %go{index}")
        lines.append(f"go{index}:")
    body = "\n".join(lines)
    return (
        f"define internal {t} @{name}({t} %a, {t} %b, i32 %line) {{\n{body}\n"
        f"  %value = {op} {t} %a, %b\n  ret {t} %value\n"
        f"trap:\n  call void @loopless_trap(i32 {_KINDS.get(op, _DIVISION)}, i32 %line)\n  unreachable\n}}"
    )
