"""Results of calls, as text and as JSON."""

from __future__ import annotations

from typing import Any

from loopless.queries.evaluation import Evaluation


def evaluation_json(found: Evaluation) -> dict[str, Any]:
    """The fields that ``eval`` gives for one call."""
    return {
        "status": found.status,
        "return": found.return_value,
        "outputs": [list(values) for values in found.outputs],
        "globals": {name: found.globals[name] for name in sorted(found.globals)},
        "iterations": {name: found.iterations[name] for name in sorted(found.iterations)},
        "by": found.by,
        "elements_read": found.elements,
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
    else:
        first = _WORDS.get(found.status, found.status)
    lines = [f"{first}: {found.reason}" if found.reason else first]
    for number, values in enumerate(found.outputs, start=1):
        lines.append(f"  pointer {number} points to [{', '.join(map(str, values))}]")
    lines += [f"  {name} = {found.globals[name]}" for name in sorted(found.globals)]
    lines += [f"  {found.iterations[name]} iterations of {name}" for name in sorted(found.iterations)]
    if found.status != "unknown":
        read = f", which read {found.elements} elements of memory" if found.elements else ""
        lines.append(f"  by {found.by}{read}")
    lines += ["  assuming", *(f"    {text}" for text in found.assumptions)] if found.assumptions else []
    return "\n".join(lines)
