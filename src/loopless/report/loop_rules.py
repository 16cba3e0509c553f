"""The rule that every loop has a bound, as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from loopless import terms as t
from loopless.queries.bounds.rules import RuledLoop, verdict_of
from loopless.report.bounds import names_of, overflow_words


def rule_text(loops: Sequence[RuledLoop]) -> str:
    """The verdict, then a line for each loop."""
    kept = sum(loop.bound is not None for loop in loops)
    plural = "loop" if len(loops) == 1 else "loops"
    lines = [
        f"{verdict_of(loops)}: {kept} of {len(loops)} {plural} {'has' if 1 in (kept, len(loops)) else 'have'} a bound"
    ]
    lines += [f"  {loop.found.name}: {_words(loop)}" for loop in loops]
    return "\n".join(lines)


def _words(loop: RuledLoop) -> str:
    if loop.bound is not None:
        return f"at most {_text(loop, loop.bound)} iterations an entry"
    if loop.meant:
        return "no bound; it is listed as one that runs for ever"
    ends = _never_words(loop)
    if not loop.reached:
        return f"{ends}, but no run from main comes to it" if ends else "no run from main comes to it"
    end = loop.found.counts.ends_by_overflow if loop.by_overflow else None
    if ends and end is not None:
        return f"{ends}, but for {overflow_words(end)}"
    if ends:
        return ends
    if end is not None:
        return f"no bound but by {overflow_words(end)}"
    found = loop.found.counts.refused or loop.found.counts.refused_call
    why = f"no bound: {found.detail}" if found is not None else "no bound was found"
    if loop.perhaps is t.FALSE:
        return why
    states = names_of(loop.found).text(loop.perhaps)
    return f"{why}; it may never end{'' if loop.perhaps is t.TRUE else f', if a run enters it with {states}'}"


def _never_words(loop: RuledLoop) -> str:
    """When the loop surely never ends; empty where that is not known."""
    if loop.never is not t.FALSE:
        return "never ends" if loop.never is t.TRUE else f"never ends if {_text(loop, loop.never)}"
    return f"never ends {loop.run.words}" if loop.run is not None else ""


def _text(loop: RuledLoop, node: t.Term | t.Condition) -> str:
    return names_of(loop.told_by or loop.found).text(node)


def rule_json(loops: Sequence[RuledLoop]) -> dict[str, Any]:
    """The fields that ``verify --rule`` gives."""
    return {"verdict": verdict_of(loops), "rule": "bounded-loops", "loops": list(map(_loop_json, loops))}


def _loop_json(loop: RuledLoop) -> dict[str, Any]:
    refused = loop.found.counts.refused or loop.found.counts.refused_call
    return {
        "name": loop.found.name,
        "bound": None if loop.bound is None else _text(loop, loop.bound),
        "never_ends": None if loop.never is t.FALSE else _text(loop, loop.never),
        "by_overflow": loop.by_overflow,
        "run": None if loop.run is None else {"words": loop.run.words, "inputs": list(loop.run.inputs)},
        "reached": loop.reached,
        "meant": loop.meant,
        "reason": None if loop.bound is not None or refused is None else str(refused),
    }
