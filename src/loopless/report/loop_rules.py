"""The rule that every loop has a bound, as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from loopless.queries.loop_rules import RuledLoop
from loopless.report.bounds import names_of
from loopless.report.names import Names
from loopless.terms import FALSE, TRUE


def verdict_of(loops: Sequence[RuledLoop]) -> str:
    """``true`` where all loops keep the rule, ``false(bounded-loops)`` where one never ends, else ``unknown``."""
    if all(loop.kept for loop in loops):
        return "true"
    return "false(bounded-loops)" if any(loop.never is not FALSE and not loop.kept for loop in loops) else "unknown"


def rule_text(loops: Sequence[RuledLoop]) -> str:
    """The verdict, then a line for each loop."""
    kept = sum(loop.bound is not None for loop in loops)
    plural = "loop" if len(loops) == 1 else "loops"
    lines = [f"{verdict_of(loops)}: {kept} of {len(loops)} {plural} {'has' if kept == 1 else 'have'} a bound"]
    lines += [f"  {loop.found.answer.loop.name}: {_words(loop)}" for loop in loops]
    return "\n".join(lines)


def _words(loop: RuledLoop) -> str:
    names = _names(loop)
    if loop.bound is not None:
        return f"at most {names.text(loop.bound)} iterations an entry"
    if loop.meant:
        return "no bound; it is listed as one that runs for ever"
    if loop.never is not FALSE:
        return "never ends" if loop.never is TRUE else f"never ends if {names.text(loop.never)}"
    return f"no bound: {loop.found.refused.detail}" if loop.found.refused is not None else "no bound was found"


def _names(loop: RuledLoop) -> Names:
    return names_of(loop.function, loop.found)


def rule_json(loops: Sequence[RuledLoop]) -> dict[str, Any]:
    """The fields that ``verify --rule`` gives."""
    return {
        "verdict": verdict_of(loops),
        "rule": "bounded-loops",
        "loops": [
            {
                "name": loop.found.answer.loop.name,
                "bound": None if loop.bound is None else _names(loop).text(loop.bound),
                "never_ends": None if loop.never is FALSE else _names(loop).text(loop.never),
                "meant": loop.meant,
                "reason": None if loop.bound is not None or loop.found.refused is None else str(loop.found.refused),
            }
            for loop in loops
        ],
    }
