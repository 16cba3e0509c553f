"""Answers about places that runs are to get to, as text and as JSON."""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from typing import Any, Final

from loopless.limits.report import MAX_INPUT_RUNS, MAX_SHOWN_STDIN, MAX_SHOWN_WORD
from loopless.queries.call_values.reached import (
    GivenValue,
    Inputs,
    MemoryContent,
    Number,
    PointerIn,
    Reached,
    RepeatedValue,
    runs_of,
)
from loopless.source.targets import SourceTarget

_POINTER: Final = 8
"""Bytes of a pointer where a run was replayed."""


_SMALL: Final = ("signed char", "unsigned char")
_NAMED: Final = {0: "'\\0'", 9: "'\\t'", 10: "'\\n'", 13: "'\\r'", 39: "'\\''", 92: "'\\\\'"}


def reach_json(found: Reached) -> dict[str, Any]:
    """The fields that ``reach`` gives."""
    return {
        "target": None if found.asks_hang else _target_json(found.target),
        "hang": _hang_json(found) if found.asks_hang else None,
        "verdict": found.verdict,
        "function": found.function,
        "method": found.method or None,
        "inputs": None if found.inputs is None else inputs_json(found.inputs),
        "replayed": found.replayed or None,
        **proof_json(found),
        "reason": found.reason or None,
        "tried": list(found.tried),
    }


def _target_json(target: SourceTarget) -> dict[str, Any]:
    return {
        "file": target.file or None,
        "line": target.line,
        "call": target.callee or None,
        "when": target.when or None,
    }


def _hang_json(found: Reached) -> dict[str, Any]:
    return {"rounds": found.target.rounds, "loop": found.loop or None, "overflows": found.overflows}


def proof_json(found: Reached | None) -> dict[str, Any]:
    """The certificate of an answer and what the judge said of it; None: there is no answer."""
    certificate, judged = (None, None) if found is None else (found.certificate, found.judged)
    return {
        "certificate": None if certificate is None else dict(certificate),
        "judged": None if judged is None else {k: v for k, v in judged.items() if k != "seconds"},
    }


def inputs_json(inputs: Inputs) -> dict[str, Any]:
    """The inputs of a run."""
    return {
        "arguments": [
            {
                "name": one.name,
                "type": one.type,
                "value": number_json(one.value),
                "elements": None if one.elements is None else _runs_json(one.elements),
                "memory": None if one.memory is None else _memory_json(one.memory),
                "by_value": one.by_value,
            }
            for one in inputs.arguments
        ],
        "nondet": _runs_json(inputs.nondet),
        "last_input_repeats": inputs.repeats,
        "uninitialised": {name: inputs.uninitialised[name] for name in sorted(inputs.uninitialised)},
        "globals": {name: inputs.globals[name] for name in sorted(inputs.globals)},
        "words": [_runs_json(word) for word in inputs.words],
        **stdin_json(inputs.stdin),
    }


def stdin_json(stdin: bytes | None) -> dict[str, str]:
    """The bytes of standard input, in base 64; nothing where it is not read."""
    return {} if stdin is None else {"stdin": base64.b64encode(stdin).decode("ascii")}


def stdin_text(stdin: bytes) -> str:
    """The bytes of standard input, as Python writes them where they are few."""
    shown = repr(stdin[:MAX_SHOWN_STDIN]).removeprefix("b")
    more = " ..." if len(stdin) > MAX_SHOWN_STDIN else ""
    return f"standard input: {shown}{more} ({counted(len(stdin), 'byte')})"


def number_json(value: Number | None) -> Number | str | None:
    """A number; infinities and what is none, of which JSON has no numbers, by their names."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _memory_json(memory: MemoryContent) -> dict[str, Any]:
    return {
        "bytes": _runs_json(runs_of(memory.content)),
        "start": memory.start,
        "fields": [
            {"name": one.name, "offset": one.offset, "size": one.size, "value": number_json(one.value)}
            for one in memory.fields
        ],
        "pointers": [
            {
                "name": one.name,
                "offset": one.offset,
                "memory": None if one.same else _memory_json(one.memory),
                "at": one.at,
                "same": one.same or None,
            }
            for one in memory.pointers
        ],
    }


def _runs_json(runs: Sequence[RepeatedValue]) -> list[dict[str, int]]:
    return [{"count": run.count, "value": run.value} for run in runs]


def reach_text(found: Reached) -> str:
    """The verdict first, then the inputs or what the answer rests on."""
    lines = [f"{found.verdict}: {found.target}"]
    match found.verdict:
        case "reached":
            lines.append(f"  by {found.method}; replayed on the compiled program: {found.replayed}")
            if found.loop:
                lines[0] += f": {found.loop}"
            if found.overflows:
                lines.append("  unless a signed number overflows in it: C does not say what comes then")
            if found.inputs is not None:
                lines += [f"  {line}" for line in inputs_text(found.inputs)]
        case "unreachable":
            whole = "no run of the program" if found.function == "main" else f"no call of {found.function}"
            lines[0] += f": {whole} {_denied(found)}"
            lines.append(f"  by {found.method}")
            if found.judged is not None:
                asked = found.judged["questions"]
                over = f", over {' and '.join(found.judged['theories'])}" if found.judged["theories"] else ""
                questions = counted(asked, "question")
                lines.append(f"  certificate: accepted by the judge, which knows no method ({questions}{over})")
            else:
                lines.append("  without a certificate: no method of proof found one")
        case _:
            lines[0] += f": {found.reason}"
            if found.tried:
                lines.append(f"  tried: {', '.join(found.tried)}")
    lines += [f"  assumes: {text}" for text in found.assumptions]
    return "\n".join(lines)


def _denied(found: Reached) -> str:
    if found.target.endless:
        return "is one"
    return "takes so many" if found.asks_hang else "gets there"


def counted(count: int, what: str) -> str:
    """So many of them, in words."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def inputs_text(inputs: Inputs) -> list[str]:
    """The inputs of a run, one to a line."""
    lines = [f"{inputs.function}({', '.join(one.name for one in inputs.arguments)})"]
    if inputs.words:
        lines.append(
            f"  argc = {len(inputs.words)}, argv = {', '.join(map(_word_text, inputs.words[:MAX_INPUT_RUNS]))}"
        )
        lines[-1] += f" and {len(inputs.words) - MAX_INPUT_RUNS:,} more" if len(inputs.words) > MAX_INPUT_RUNS else ""
    for one in inputs.arguments:
        if one.by_value and one.memory is not None:
            shown = _memory_text(one.name, one.memory, 0)
            lines += [f"  {line}" for line in (shown[0].replace(" -> ", ": ", 1), *shown[1:])]
        elif one.memory is None:
            lines.append(f"  {one.name} = {_given_text(one)}")
        else:
            lines += [f"  {line}" for line in _memory_text(one.name, one.memory, one.memory.start)]
    if inputs.nondet:
        again = ", again and again" if inputs.repeats else ""
        lines.append(f"inputs in their order: {runs_text(inputs.nondet, 'int')}{again}")
    if inputs.stdin is not None:
        lines.append(stdin_text(inputs.stdin))
    named = (("uninitialised variables hold", inputs.uninitialised), ("globals begin with", inputs.globals))
    for text, values in named:
        if values:
            lines.append(f"{text}: {', '.join(f'{name} = {value}' for name, value in sorted(values.items()))}")
    return lines


def _word_text(word: Sequence[RepeatedValue]) -> str:
    """A word of argv, as C writes it where it is short and can be printed."""
    if sum(run.count for run in word) <= MAX_SHOWN_WORD and all(32 <= run.value < 127 for run in word):
        return quoted("".join(chr(run.value) * run.count for run in word))
    return f"[{runs_text(word, 'char')}]"


def quoted(text: str) -> str:
    """Text as a literal of C."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("?", "\\?") + '"'


def _given_text(given: GivenValue) -> str:
    if given.value is not None:
        return str(given.value)
    if given.elements is None:
        return "the null pointer"
    return f"[{runs_text(given.elements, given.type)}]"


def _memory_text(name: str, memory: MemoryContent, at: int) -> list[str]:
    """What a pointer of this name, to byte ``at`` of the memory, leads to; what its pointers lead to, further in."""
    parts = [f"{one.name} = {one.value}" for one in sorted(memory.fields, key=lambda one: one.offset)]
    named = {*memory.fields, *memory.pointers}
    if not named:
        bare = f"[{_bytes_text(memory.content)}]" if any(memory.content) else f"{len(memory.content):,} zeros"
        parts.append(bare if memory.content else "memory that is not read")
    else:
        parts += _nameless_text(memory, at)
    where = f"byte {at} of " if at and not named else ""  # names and numbers of bytes are as seen from there
    shown = f"{name} -> {where}{', '.join(parts)}" if parts else f"{name} -> nothing but pointers and zeros"
    inner = [line for one in memory.pointers for line in _pointed_text(one)]
    return [shown, *(f"  {line}" for line in inner)]


def _pointed_text(one: PointerIn) -> list[str]:
    if not one.same:
        return _memory_text(one.name, one.memory, one.at)
    moved = f" {'+' if one.at > 0 else '-'} {abs(one.at)} bytes" if one.at else ""
    return [f"{one.name} = {one.same}{moved}"]


def _nameless_text(memory: MemoryContent, at: int) -> list[str]:
    """The bytes that no name stands for, without zeros around them; their numbers count from byte ``at``."""
    taken = bytearray(len(memory.content))
    for field in memory.fields:
        taken[field.offset : field.offset + field.size] = b"\1" * field.size
    for pointer in memory.pointers:
        taken[pointer.offset : pointer.offset + _POINTER] = b"\1" * _POINTER
    parts, low, size = [], 0, len(memory.content)
    while low < size:
        end = taken.find(1, low)
        end = size if end < 0 else end
        piece = memory.content[low:end]
        bare = piece.lstrip(b"\0")
        first, bare = end - len(bare), bare.rstrip(b"\0")
        if len(bare) == 1:
            parts.append(f"byte {first - at} = {bare[0]}")
        elif bare:
            parts.append(f"bytes {first - at} to {first - at + len(bare) - 1} = [{_bytes_text(bare)}]")
        low = taken.find(0, end) if end < size else size
        low = size if low < 0 else low
    return parts


def _bytes_text(content: bytes) -> str:
    return runs_text(runs_of(content), "unsigned char")


def runs_text(runs: Sequence[RepeatedValue], type_: str) -> str:
    """Values of a type one after the other: each once, with how often it comes in a row."""
    times = [f" ({run.count:,} times)" if run.count > 1 else "" for run in runs[:MAX_INPUT_RUNS]]
    text = _is_text(runs, type_)
    shown = [f"{_element(run.value) if text else run.value}{often}" for run, often in zip(runs, times, strict=False)]
    more = sum(run.count for run in runs[MAX_INPUT_RUNS:])
    return ", ".join(shown) + (f" and {more:,} more" if more else "")


def _element(value: int) -> str:
    """A character as C writes it, or its number."""
    return _NAMED.get(value) or (f"'{chr(value)}'" if 32 <= value < 127 else str(value))


def _is_text(runs: Sequence[RepeatedValue], type_: str) -> bool:
    """Whether what an array holds is shown as characters: of small integers where all are, and some are visible."""
    fine = all(run.value in _NAMED or 32 <= run.value < 127 for run in runs)
    return type_ == "char" or (type_ in _SMALL and fine and any(run.value >= 32 for run in runs))
