"""Verdicts as text and as JSON, and the program that replays a violation."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from loopless.check.certificates.property import Property
from loopless.check.oracle.runtime import BYTES, UNINITIALISED_BYTE
from loopless.queries.call_values.reached import runs_of
from loopless.queries.call_values.surroundings import Surroundings
from loopless.queries.verification.verdict import Verdict
from loopless.report.reach import runs_text, stdin_json, stdin_text
from loopless.report.reach_tests import flags_of, relative
from loopless.report.stand_ins import FAILS, bodies, variables

_TRUE: Final = {
    Property.UNREACH_CALL: "no run calls the error function, and no assertion is false",
    Property.TERMINATION: "every run ends",
    Property.NO_OVERFLOW: "no signed operation overflows",
}
_FALSE: Final = {
    Property.UNREACH_CALL: "a run calls the error function, or an assertion is false",
    Property.TERMINATION: "a run never ends",
    Property.NO_OVERFLOW: "a signed operation overflows",
}
_TRAPS: Final = ("-fsanitize=signed-integer-overflow,shift", "-fno-sanitize-recover=all")
"""What makes gcc and clang end a run at an overflow."""


def verdict_json(found: Verdict) -> dict[str, Any]:
    """The fields that ``verify`` gives."""
    return {
        "verdict": found.words,
        "property": found.property.value,
        "method": found.method or None,
        "inputs": list(found.inputs) if found.verdict == "false" else None,
        "last_input_repeats": found.repeats,
        **stdin_json(found.stdin),
        "uninitialised": {name: found.uninitialised[name] for name in sorted(found.uninitialised)},
        "replayed": found.replayed or None,
        "invariants": [
            {"file": one.file, "line": one.line, "text": one.text, "rank": one.rank or None} for one in found.told
        ],
        "contracts": [{"function": name, "text": words} for name, words in found.contracts.items()],
        "certificate": None if found.certificate is None else dict(found.certificate),
        "judged": None if found.judged is None else {k: v for k, v in found.judged.items() if k != "seconds"},
        "reason": found.reason or None,
        **({"cut": found.cut} if found.cut else {}),
    }


def verdict_text(found: Verdict) -> str:
    """The verdict first, then what it rests on."""
    lines = [found.words]
    match found.verdict:
        case "true":
            lines[0] += f": {_TRUE[found.property]}"
            lines.append(f"  by {found.method}")
            lines += [f"  {name} ensures: {words}" for name, words in found.contracts.items()]
            for one in found.told:
                lines.append(f"  at {one.file}:{one.line}: {one.text}")
                if one.rank:
                    lines.append(f"    falls with each iteration: {one.rank}")
            if found.judged is not None:
                asked = _counted(found.judged["questions"], "question")
                over = f", over {' and '.join(found.judged['theories'])}" if found.judged["theories"] else ""
                lines.append(f"  certificate: accepted by the judge, which knows no method ({asked}{over})")
        case "false":
            lines[0] += f": {_FALSE[found.property]}"
            where = "" if found.replayed.startswith("over the integers") else " on the compiled program"
            lines.append(f"  by {found.method}; replayed{where}: {found.replayed}")
            if found.inputs:
                again = ", again and again" if found.repeats else ""
                lines.append(f"  inputs in their order: {runs_text(runs_of(found.inputs), 'int')}{again}")
            if found.stdin is not None:
                lines.append(f"  {stdin_text(found.stdin)}")
            if found.uninitialised:
                lines.append(f"  uninitialised variables hold: {_uninitialised(found)}")
        case _:
            lines[0] += f": {found.reason}"
    lines += [f"  assumes: {text}" for text in found.assumptions]
    return "\n".join(lines)


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def harness(found: Verdict, program: Surroundings, folder: Path) -> str:
    """A C file, also C++, to be put into ``folder`` and compiled with the program: it defines what the program only
    declares, so that its run takes the inputs.
    """
    files = [relative(file, folder) for file in (program.file, *program.others)]
    compiler = "c++" if any(file.suffix not in (".c", ".i", ".h") for file in (program.file, *program.others)) else "cc"
    traps = _TRAPS if found.property is Property.NO_OVERFLOW else ()
    command = " ".join([compiler, *traps, *flags_of(program, folder), *files, "THIS_FILE", "-lm"])
    told = [f"/* Replays: {found.words}. Compile and run: {command}"]
    if program.replaced:
        told.append(f"   The program defines {', '.join(program.replaced)} itself: this file cannot give those inputs.")
    if found.uninitialised:
        told.append(f"   No file can give what uninitialised variables hold: {_uninitialised(found)}.")
        if set(found.uninitialised.values()) == {UNINITIALISED_BYTE} and all(map(_is_bytes, found.uninitialised)):
            told.append("   clang gives them that with -ftrivial-auto-var-init=pattern.")
    inputs = runs_of(found.inputs)
    return "\n".join(
        [
            *told[:-1],
            f"{told[-1]} */",
            "#include <stdio.h>",
            "#include <stdlib.h>",
            "",
            "#ifdef __cplusplus",
            'extern "C" {',
            "#endif",
            "",
            *variables(program, beside=True),
            "",
            *bodies(program.missing, inputs, repeats=found.repeats, ends=FAILS, for_ever=True, beside=True),
            "",
            "#ifdef __cplusplus",
            "}",
            "#endif",
            "",
        ]
    )


def _uninitialised(found: Verdict) -> str:
    """What uninitialised locals hold, or their bytes, where these all hold the same."""
    values = sorted(found.uninitialised.items())
    return ", ".join(
        f"{'each byte of ' * _is_bytes(name)}{name.removesuffix(BYTES)} = {value}" for name, value in values
    )


def _is_bytes(name: str) -> bool:
    """Whether the value of an uninitialised local is that of each of its bytes."""
    return name.endswith(BYTES)
