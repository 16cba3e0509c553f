"""Traps for what LLVM itself calls undefined, put into the text of a module.

Clang's own checks exist only in what clang compiles with them; a module that comes as IR has none. So every addition,
subtraction and multiplication that must not wrap (``nsw``, ``nuw``), every division and every shift becomes a call of
a small checking function (LLVM Language Reference, "Binary Operations" and "Bitwise Binary Operations"). So do absolute
values that must fit, left shifts and reads of a ``_Bool`` that carry marks (:mod:`loopless.source.marks`). Before each
``memcpy`` stands a call that tests whether what it copies overlaps what it copies to.
"""

from __future__ import annotations

from typing import Final

from loopless.check.oracle.signature import DebugInfo
from loopless.patterns import pattern

_VALUE: Final = r'(%[\w$.\-]+|%"[^"]+"|-?\d+)'
_OPERATION: Final = pattern(
    r"^(\s+\S+ = )(add|sub|mul|shl|lshr|ashr|sdiv|udiv|srem|urem)((?: nuw| nsw| exact)*)"
    rf" i(\d+) {_VALUE}, {_VALUE}((?:, .*)?)$"
)
_TRUTH: Final = pattern(rf"^(\s+\S+ = )trunc i8 {_VALUE} to i1((?:, .*)?, !loopless\.truth !.*)$")
_ABSOLUTE: Final = pattern(
    rf"^(\s+\S+ = )(?:tail )?call i(\d+) @llvm\.abs\.i\d+\(i\d+ {_VALUE}, i1 (?:immarg )?true\)((?:[, ].*)?)$"
)
_COPY: Final = pattern(r"^\s+(?:tail )?call void @llvm\.memcpy(?:\.inline)?\.p0\.p0\.i(32|64)\((.*)$")
_POINTER: Final = pattern(
    r"ptr (?:(?:align \d+|noundef|nonnull|writeonly|readonly|noalias|\w+\([^)]*\)) )*(?=[%@\w])(.*)"
)
_ASSUMED: Final = pattern(rf"^(\s+)call void @llvm\.assume\(i1 (?:noundef )?(true|false|{_VALUE[1:-1]})\)((?:, .*)?)$")
_MARKS: Final = {"!loopless.shift.signed ": "signed", "!loopless.shift.signed.cxx ": "nuw"}
"""By the attachment the check: in C the operand is not negative and no bits are lost, in C++ the second alone."""
_PLACE: Final = pattern(r"!dbg !(\d+)")
_KINDS: Final = {"add": 0, "sub": 21, "mul": 12, "shl": 20, "lshr": 20, "ashr": 20}
_DIVISION: Final = 3


def checked(line: str, debug: DebugInfo, needed: dict[str, str]) -> str:
    """The line with its operation checked, if it is one that can be undefined.

    ``needed`` collects the checking functions, text by name; they call ``@loopless_trap``.
    """
    found = _OPERATION.match(line)
    if not found:
        return _absolute(line, debug, needed)
    start, op, words, bits, left, right, rest = found.groups()
    marked = [flag for mark, flag in _MARKS.items() if mark in rest] if op == "shl" else []
    flags = tuple(flag for flag in ("nsw", "nuw", "signed") if flag in (*words.split(), *marked))
    if op in ("add", "sub", "mul") and not flags:
        return line
    name = ".".join(("loopless", op, *flags, f"i{bits}"))
    if name not in needed:
        needed[name] = _function(name, op, flags, int(bits))
    return f"{start}call i{bits} @{name}(i{bits} {left}, i{bits} {right}, i32 {_line(rest, debug)}){rest}"


def _line(rest: str, debug: DebugInfo) -> int:
    place = _PLACE.search(rest)
    return debug.line(int(place[1])) if place else 0


def _absolute(line: str, debug: DebugInfo, needed: dict[str, str]) -> str:
    """An absolute value of which the compiler promises that it fits."""
    found = _ABSOLUTE.match(line)
    if not found:
        return _truth(line, debug, needed)
    start, bits, value, rest = found.groups()
    t, name = f"i{bits}", f"loopless.abs.i{bits}"
    needed[name] = (
        f"define internal {t} @{name}({t} %a, i32 %line) {{\n"
        f"  %bad = icmp eq {t} %a, {-(1 << (int(bits) - 1))}\n  br i1 %bad, label %trap, label %go\n"
        f"go:\n  %less = sub {t} 0, %a\n  %negative = icmp slt {t} %a, 0\n"
        f"  %value = select i1 %negative, {t} %less, {t} %a\n  ret {t} %value\n{_trap(13)}"
    )
    return f"{start}call {t} @{name}({t} {value}, i32 {_line(rest, debug)}){rest}"


def _truth(line: str, debug: DebugInfo, needed: dict[str, str]) -> str:
    found = _TRUTH.match(line)
    if not found:
        return _assumed(line, debug, needed)
    needed["loopless.truth"] = (
        "define internal i1 @loopless.truth(i8 %a, i32 %line) {\n"
        "  %bad = icmp ugt i8 %a, 1\n  br i1 %bad, label %trap, label %go\n"
        f"go:\n  %value = trunc i8 %a to i1\n  ret i1 %value\n{_trap(10)}"
    )
    return f"{found[1]}call i1 @loopless.truth(i8 {found[2]}, i32 {_line(found[3], debug)}){found[3]}"


def _assumed(line: str, debug: DebugInfo, needed: dict[str, str]) -> str:
    """What the compiler is told to take for granted (``__builtin_assume``), which is undefined where it is false."""
    found = _ASSUMED.match(line)
    if not found:
        return line
    needed["loopless.assumed"] = (
        "define internal void @loopless.assumed(i1 %a, i32 %line) {\n"
        f"  br i1 %a, label %go, label %trap\ngo:\n  ret void\n{_trap(94)}"
    )
    return f"{found[1]}call void @loopless.assumed(i1 {found[2]}, i32 {_line(found[3], debug)}){found[3]}"


def copy_check(line: str, debug: DebugInfo) -> tuple[str, str] | None:
    """For a ``memcpy`` the runtime's function that tests it, and its call; None for every other line."""
    found = _COPY.match(line)
    if not found:
        return None
    target, source, length = _arguments(found[2])[:3]
    addresses = [_POINTER.fullmatch(argument) for argument in (target, source)]
    if None in addresses:
        return None
    name = "apart" if found[1] == "64" else "narrow_apart"
    place = _PLACE.search(line)
    told = f", {place[0]}" if place else ""
    to, at = (f"ptr {address[1]}" for address in addresses if address)
    return name, f"  call void @loopless_{name}({to}, {at}, {length}, i32 {_line(line, debug)}){told}"


def _arguments(text: str) -> list[str]:
    """The arguments of a call, ``text`` being what stands behind its opening bracket."""
    depth, found = 0, [""]
    for char in text:
        depth += (char in "([{<") - (char in ")]}>")
        if depth < 0:
            break
        if char == "," and depth == 0:
            found.append("")
        else:
            found[-1] += char
    return [argument.strip() for argument in found]


def _trap(kind: int) -> str:
    return f"trap:\n  call void @loopless_trap(i32 {kind}, i32 %line)\n  unreachable\n}}"


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
        if "signed" in flags:
            lines.append(f"  %negative = icmp slt {t} %a, 0")
            bad.append("%negative")
        for flag in flags:
            back = "lshr" if flag == "nuw" else "ashr"
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
        f"  %value = {op} {t} %a, %b\n  ret {t} %value\n{_trap(_KINDS.get(op, _DIVISION))}"
    )
