"""Modules without the ways that exceptions take: a native run that throws ends there, so that nothing unwinds.

What throws calls a function of the C++ runtime that no run calls. So an ``invoke`` is a call, and its landing pad is
code that no run comes to. (LLVM's JIT cannot run functions that name a personality which it does not have.)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from loopless.patterns import pattern

_PERSONALITY: Final = pattern(r' personality ptr (@(?:"[^"]*"|[\w$.\-]+))')
_NAME: Final = pattern(r'@(?:"[^"]*"|[\w$.\-]+)')
_INVOKE: Final = pattern(r"^(\s+(?:%\S+ = )?)invoke (.*)$")
_TO: Final = pattern(r"^(.*?)\s*to label (%\S+) unwind label %[^\s,]+((?:, !.*)?)$")
_PAD: Final = pattern(r"^(\s+%\S+ = )landingpad (\{ [^}]* \}).*$")
_CLAUSE: Final = pattern(r"^\s+(?:cleanup|catch|filter)\b")


def without_unwinding(lines: list[str]) -> list[str]:
    """The lines of a module in which nothing unwinds."""
    named = {found[1] for line in lines if line.startswith("define") and (found := _PERSONALITY.search(line))}
    if not named:
        return lines
    return [
        line for line in _rewritten(lines) if not line.startswith("declare") or not named & set(_NAME.findall(line))
    ]


def _rewritten(lines: list[str]) -> Iterator[str]:
    call, pad = "", False
    for line in lines:
        if call:
            found = _TO.match(line)
            if found is None:
                call += " " + line.strip()
                continue
            yield f"{call}{found[1].strip()}{found[3]}"
            yield f"  br label {found[2]}"
            call = ""
        elif line.startswith("define"):
            yield _PERSONALITY.sub("", line)
        elif invoke := _INVOKE.match(line):
            whole = _TO.match(invoke[2])
            if whole is None:
                call = f"{invoke[1]}call {invoke[2]}"
            else:
                yield f"{invoke[1]}call {whole[1].strip()}{whole[3]}"
                yield f"  br label {whole[2]}"
        elif landing := _PAD.match(line):
            yield f"{landing[1]}insertvalue {landing[2]} poison, ptr null, 0"
            pad = True
        elif pad and _CLAUSE.match(line):
            continue
        elif line.startswith("  resume "):
            yield "  unreachable"
        else:
            pad = False
            yield line
