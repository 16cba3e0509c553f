"""Results of calls, as text and as JSON."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from loopless.queries.call_values.argument_types import text_of
from loopless.queries.evaluation.evaluate import Evaluation
from loopless.queries.loops.name import own_name
from loopless.report.bounds import iterations


def evaluation_json(found: Evaluation) -> dict[str, Any]:
    """The fields that ``eval`` gives for one call."""
    return {
        "status": found.status,
        "return": found.return_value,
        "outputs": [list(values) for values in found.outputs],
        "globals": {name: found.globals[name] for name in sorted(found.globals)},
        "iterations": {name: found.iterations[name] for name in sorted(found.iterations, key=_in_order)},
        "by": found.by,
        "elements_read": found.elements,
        "inputs_read": found.nondet_used,
        "inputs_given": found.nondet_given,
        "place": found.place or None,
        "pointers": dict(found.pointers),
        "reason": found.reason or None,
        "assumptions": list(found.assumptions),
    }


def failed_json(reason: str) -> dict[str, Any]:
    """The same for a request that could not be understood."""
    return {
        "status": "unknown",
        "return": None,
        "outputs": [],
        "globals": {},
        "iterations": {},
        "by": None,
        "elements_read": 0,
        "inputs_read": 0,
        "inputs_given": 0,
        "place": None,
        "pointers": {},
        "reason": reason,
        "assumptions": [],
    }


_WORDS = {
    "diverges": "never returns",
    "undefined": "undefined behaviour",
    "aborted": "ends the program",
    "assumption-failed": "no such run: an assumption fails",
    "error-reached": "reaches the error",
    "unknown": "unknown",
}


def evaluation_text(found: Evaluation) -> str:
    """The answer first, then the effects, then how it was found."""
    if found.status == "ok":
        first = "returns" if found.return_value is None else f"returns {found.return_value}"
        first += f" in line {found.place.rpartition(':')[2]}" if found.place else ""
    else:
        first = _WORDS.get(found.status, found.status)
    lines = [f"{first}: {_in_words(found)}" if found.reason else first]
    if found.status == "unknown" and found.place and found.place not in found.reason:
        lines[0] += f" (at {found.place})"
    lines += [
        f"  {name} = {text_of(found.pointers[name], text=name in found.text)}"
        for name in found.pointers
        if name in found.changed
    ]
    lines += [f"  {name} = {found.globals[name]}" for name in sorted(found.globals, key=_in_order)]
    counts = Counter[str]()
    for name, count in found.iterations.items():
        counts[own_name(name)] += count
    lines += [f"  {iterations(counts[name])} of {name}" for name in sorted(counts, key=_in_order)]
    if found.status != "unknown":
        read = f", which read {_counted(found.elements, 'element')} of memory" if found.elements else ""
        lines.append(f"  by {found.by}{read}")
    unread = found.nondet_given - found.nondet_used
    if unread > 0 and (found.status == "ok" or found.by == "interpretation"):
        lines.append(f"  {_counted(found.nondet_given, 'input')} given, {found.nondet_used} read")
    lines += ["  assuming", *(f"    {text}" for text in found.assumptions)] if found.assumptions else []
    return "\n".join(lines)


_KINDS = {
    "bounds": "an access outside of its object",
    "pointer overflow": "an address outside of its object",
    "const write": "a write to a constant",
    "dangling pointer": "a pointer to an object whose lifetime is over",
    "null pointer": "an access through a null pointer",
    "invalid bool": "a truth value that is neither 0 nor 1",
    "overlap": "a copy between areas that overlap",
    "array length": "a length of an array that is not positive",
    "shift": "a shift by a negative number or by too much",
    "left shift": "a left shift of a signed value by a negative number or by too much",
    "shift overflow": "a left shift of a signed value that does not fit",
    "shift of negative": "a left shift of a negative value",
    "poison": "a value that the program must not use",
}
"""What is said of some kinds of undefined behaviour; the others say it themselves."""


def _in_words(found: Evaluation) -> str:
    """Why the call ends, in words."""
    kind, at, place = found.reason.partition(" at ")
    return f"{_KINDS[kind]}{at}{place}" if found.status == "undefined" and kind in _KINDS else found.reason


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _in_order(name: str) -> list[tuple[int, str]]:
    """Numbers in names by their values: line 9 before line 10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)]
