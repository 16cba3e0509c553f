"""Tests that cover the branches of a function, as text and as JSON."""

from __future__ import annotations

from typing import Any

from loopless.queries.covering import Coverage, Covered
from loopless.report.reach import inputs_json, inputs_text


def coverage_json(found: Coverage) -> dict[str, Any]:
    """The fields that ``reach --cover`` gives."""
    return {
        "function": found.function,
        "sides": [
            {
                "line": one.side.line or None,
                "branch": one.side.number,
                "side": one.words,
                "verdict": one.verdict,
                "tests": list(one.tests),
                "reason": one.reason or None,
            }
            for one in found.sides
        ],
        "tests": [inputs_json(one) for one in found.tests],
    }


def coverage_text(found: Coverage) -> str:
    """How many sides are covered, each side, and the tests; tests are counted from 1."""
    tests = f"{len(found.tests)} test{'' if len(found.tests) == 1 else 's'}"
    rest = [f"{count} {verdict}" for verdict in ("unreachable", "unknown") if (count := found.count(verdict))]
    sides = f"{found.count('covered')} of {len(found.sides)} sides of the branches of {found.function}"
    lines = [f"covered: {sides}, by {tests}{''.join(f'; {part}' for part in rest)}"]
    for number in dict.fromkeys(one.side.number for one in found.sides):
        told = [one for one in found.sides if one.side.number == number]
        lines.append(f"  line {told[0].side.line or '?'}: {'; '.join(map(_side, told))}")
    for number, inputs in enumerate(found.tests, 1):
        first, *others = inputs_text(inputs)
        lines += [f"test {number}: {first}", *(f"  {line}" for line in others)]
    return "\n".join(lines)


def taken_text(found: Coverage, number: int) -> str:
    """What a test does, counted from 1, in one sentence."""
    taken = [f"{one.side.line or '?'} ({one.words})" for one in found.sides if number - 1 in one.tests]
    return f"Takes branches of {found.function} in lines {', '.join(dict.fromkeys(taken))}."


def _side(one: Covered) -> str:
    if one.tests:
        return f"{one.words} by {', '.join(str(test + 1) for test in one.tests)}"
    return f"{one.words} {one.verdict}{f' ({one.reason})' if one.reason else ''}"
