"""Tests that cover the branches of a function, as text and as JSON."""

from __future__ import annotations

from typing import Any

from loopless.limits.report import MAX_INPUT_RUNS
from loopless.queries.reach.coverage import Coverage, Covered, CoveringTest
from loopless.report.reach import counted, inputs_json, inputs_text, proof_json


def coverage_json(found: Coverage) -> dict[str, Any]:
    """The fields that ``reach --cover`` gives."""
    return {
        "function": found.function,
        "covered": found.count("covered"),
        "unreachable": found.count("unreachable"),
        "unknown": found.count("unknown"),
        "sides": [
            {
                "line": one.side.line or None,
                "branch": one.side.number,
                "side": one.words,
                "verdict": one.verdict,
                "tests": [number + 1 for number in one.tests],
                "method": None if one.proof is None else one.proof.method,
                **proof_json(one.proof),
                "reason": one.reason or None,
            }
            for one in found.sides
        ],
        "tests": [
            {"number": number, "inputs": inputs_json(test.inputs), "ends": test.ends}
            for number, test in enumerate(found.tests, 1)
        ],
    }


def coverage_text(found: Coverage) -> str:
    """How many sides are covered first, then the sides that are not, by line with the reason, then the tests."""
    by = counted(len(found.tests), "test")
    sides = f"{found.count('covered')} of {counted(len(found.sides), 'side')} of branches covered by {by}"
    lines = [f"{sides}, {found.count('unreachable')} cannot be taken, {found.count('unknown')} unknown"]
    if not found.sides:
        lines.append(f"  {found.function} has no branches")
    left = [one for one in found.sides if one.verdict != "covered"]
    left.sort(key=lambda one: (one.side.line, one.side.number, one.side.side))
    lines += [f"  {side_text(found, one)}: {_left_text(one)}" for one in left]
    lines += [f"  assumes: {text}" for text in found.assumptions]
    for number, test in enumerate(found.tests, 1):
        ends = "" if test.ends == "ok" else f", ends: {test.ends}"
        lines.append(f"test {number}: {counted(len(test.sides), 'side')}{ends}")
        lines += [f"  {line}" for line in inputs_text(test.inputs)]
    return "\n".join(lines)


def side_text(found: Coverage, one: Covered) -> str:
    """Which side of which branch, by its line; where the line has several branches with its number among them."""
    numbers = list(dict.fromkeys(other.side.number for other in found.sides if other.side.line == one.side.line))
    line = f"line {one.side.line}" if one.side.line else "a line that is not known"
    several = f", branch {numbers.index(one.side.number) + 1} of {len(numbers)}" if len(numbers) > 1 else ""
    return f"{line}{several}, {one.words}"


def sides_text(found: Coverage, test: CoveringTest) -> str:
    """The sides that a test takes, the first of them where they are many."""
    shown = [side_text(found, found.sides[number]) for number in sorted(test.sides)]
    more = len(shown) - MAX_INPUT_RUNS
    return "; ".join(shown[:MAX_INPUT_RUNS]) + (f"; and {more} more" if more > 0 else "")


def _left_text(one: Covered) -> str:
    if one.proof is None:
        return f"unknown: {one.reason}"
    judged = "a certificate that the judge accepted" if one.proof.judged is not None else "no certificate"
    return f"cannot be taken, by {one.proof.method}, with {judged}"
