"""Answers about places that runs are to get to, as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from loopless.queries.reached import Given, Inputs, Reach, Run

_MOST: Final = 12
"""So many runs of equal values are shown in text; JSON has all."""
_SMALL: Final = ("signed char", "unsigned char")
_NAMED: Final = {0: "'\\0'", 9: "'\\t'", 10: "'\\n'", 13: "'\\r'", 39: "'\\''", 92: "'\\\\'"}


def reach_json(found: Reach) -> dict[str, Any]:
    """The fields that ``reach`` gives."""
    target = found.target
    return {
        "target": {
            "file": target.file or None,
            "line": target.line,
            "call": target.callee or None,
            "when": target.when or None,
        },
        "verdict": found.verdict,
        "function": found.function,
        "method": found.method or None,
        "inputs": None if found.inputs is None else inputs_json(found.inputs),
        "replayed": found.replayed or None,
        "certificate": None if found.certificate is None else dict(found.certificate),
        "judged": None if found.judged is None else {k: v for k, v in found.judged.items() if k != "seconds"},
        "reason": found.reason or None,
        "tried": list(found.tried),
    }


def inputs_json(inputs: Inputs) -> dict[str, Any]:
    """The inputs of a run."""
    return {
        "arguments": [
            {
                "name": one.name,
                "type": one.type,
                "value": one.value,
                "elements": None if one.elements is None else _runs_json(one.elements),
            }
            for one in inputs.arguments
        ],
        "nondet": _runs_json(inputs.nondet),
        "last_input_repeats": inputs.repeats,
        "uninitialised": {name: inputs.uninitialised[name] for name in sorted(inputs.uninitialised)},
        "globals": {name: inputs.globals[name] for name in sorted(inputs.globals)},
    }


def _runs_json(runs: Sequence[Run]) -> list[dict[str, int]]:
    return [{"count": run.count, "value": run.value} for run in runs]


def reach_text(found: Reach) -> str:
    """The verdict first, then the inputs or what the answer rests on."""
    lines = [f"{found.verdict}: {found.target}"]
    match found.verdict:
        case "reached":
            lines.append(f"  by {found.method}; replayed on the compiled program: {found.replayed}")
            if found.inputs is not None:
                lines += [f"  {line}" for line in inputs_text(found.inputs)]
        case "unreachable":
            whole = "no run of the program" if found.function == "main" else f"no call of {found.function}"
            lines[0] += f": {whole} gets there"
            lines.append(f"  by {found.method}")
            if found.judged is not None:
                asked = found.judged["questions"]
                over = f", over {' and '.join(found.judged['theories'])}" if found.judged["theories"] else ""
                questions = f"{asked} question{'' if asked == 1 else 's'}"
                lines.append(f"  certificate: accepted by the judge, which knows no method ({questions}{over})")
            else:
                lines.append("  without a certificate: no method of proof found one")
        case _:
            lines[0] += f": {found.reason}"
            if found.tried:
                lines.append(f"  tried: {', '.join(found.tried)}")
    lines += [f"  assumes: {text}" for text in found.assumptions]
    return "\n".join(lines)


def inputs_text(inputs: Inputs) -> list[str]:
    """The inputs of a run, one to a line."""
    lines = [f"{inputs.function}({', '.join(one.name for one in inputs.arguments)})"]
    lines += [f"  {one.name} = {_given_text(one)}" for one in inputs.arguments]
    if inputs.nondet:
        again = ", again and again" if inputs.repeats else ""
        lines.append(f"inputs in their order: {_runs_text(inputs.nondet, 'int')}{again}")
    named = (("uninitialised variables hold", inputs.uninitialised), ("globals begin with", inputs.globals))
    for text, values in named:
        if values:
            lines.append(f"{text}: {', '.join(f'{name} = {value}' for name, value in sorted(values.items()))}")
    return lines


def _given_text(given: Given) -> str:
    if given.value is not None:
        return str(given.value)
    if given.elements is None:
        return "the null pointer"
    return f"[{_runs_text(given.elements, given.type)}]"


def _runs_text(runs: Sequence[Run], type_: str) -> str:
    times = [f" ({run.count:,} times)" if run.count > 1 else "" for run in runs[:_MOST]]
    text = _is_text(runs, type_)
    shown = [f"{_element(run.value) if text else run.value}{often}" for run, often in zip(runs, times, strict=False)]
    more = sum(run.count for run in runs[_MOST:])
    return ", ".join(shown) + (f" and {more:,} more" if more else "")


def _element(value: int) -> str:
    """A character as C writes it, or its number."""
    return _NAMED.get(value) or (f"'{chr(value)}'" if 32 <= value < 127 else str(value))


def _is_text(runs: Sequence[Run], type_: str) -> bool:
    """Whether what an array holds is shown as characters: of small integers where all are, and some are visible."""
    fine = all(run.value in _NAMED or 32 <= run.value < 127 for run in runs)
    return type_ == "char" or (type_ in _SMALL and fine and any(run.value >= 32 for run in runs))
