"""Verdicts as text and as JSON, and the program that replays a violation."""

from __future__ import annotations

from typing import Any, Final

from loopless.check.certificates.property import Property
from loopless.queries.verification import Verdict

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
_MOST: Final = 24
"""So many inputs are shown in text; JSON has all."""


def verdict_json(found: Verdict) -> dict[str, Any]:
    """The fields that ``verify`` gives."""
    return {
        "verdict": found.words,
        "property": found.property.value,
        "method": found.method or None,
        "inputs": list(found.inputs) if found.verdict == "false" else None,
        "last_input_repeats": found.repeats,
        "uninitialised": {name: found.uninitialised[name] for name in sorted(found.uninitialised)},
        "replayed": found.replayed or None,
        "invariants": [
            {"file": one.file, "line": one.line, "text": one.text, "rank": one.rank or None} for one in found.invariants
        ],
        "contracts": [{"function": name, "text": words} for name, words in found.contracts.items()],
        "certificate": None if found.certificate is None else dict(found.certificate),
        "judged": None if found.judged is None else {k: v for k, v in found.judged.items() if k != "seconds"},
        "reason": found.reason or None,
    }


def verdict_text(found: Verdict) -> str:
    """The verdict first, then what it rests on."""
    lines = [found.words]
    match found.verdict:
        case "true":
            lines[0] += f": {_TRUE[found.property]}"
            lines.append(f"  by {found.method}")
            lines += [f"  {name} ensures: {words}" for name, words in found.contracts.items()]
            for one in found.invariants:
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
                shown = ", ".join(map(str, found.inputs[:_MOST]))
                again = ", again and again" if found.repeats else ""
                more = len(found.inputs) - _MOST
                lines.append(f"  inputs in their order: {shown}{f' and {more} more' if more > 0 else ''}{again}")
            if found.uninitialised:
                values = ", ".join(f"{name} = {value}" for name, value in sorted(found.uninitialised.items()))
                lines.append(f"  uninitialised variables hold: {values}")
        case _:
            lines[0] += f": {found.reason}"
    lines += [f"  assumes: {text}" for text in found.assumptions]
    return "\n".join(lines)


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _literal(value: int) -> str:
    return f"{value}LL" if abs(value) < 1 << 63 else f"{value % (1 << 64)}ULL"


def harness(found: Verdict, files: tuple[str, ...]) -> str:
    """A C file to be compiled with the program: it gives the run its inputs.

    Each input function of the competition's names takes the next value; behind the last one the run ends.
    """
    values = ", ".join(map(_literal, found.inputs)) or "0"
    kinds = {
        "_Bool": "bool", "char": "char", "short": "short", "int": "int", "long": "long", "long long": "longlong",
        "unsigned char": "uchar", "unsigned short": "ushort", "unsigned int": "uint", "unsigned long": "ulong",
        "unsigned long long": "ulonglong", "unsigned": "unsigned",
    }  # fmt: skip
    functions = "\n".join(
        f"WEAK {kind} __VERIFIER_nondet_{suffix}(void) {{ return ({kind})loopless_next(); }}"
        for kind, suffix in kinds.items()
    )
    later = f"{found.inputs[-1] % (1 << 64)}ULL" if found.repeats and found.inputs else "0"
    command = f"cc -fsanitize=signed-integer-overflow -fsanitize-trap=all {' '.join(files)} THIS_FILE"
    return (
        f"/* Replays: {found.words}. Compile and run: {command} */\n"
        "#include <stdio.h>\n#include <stdlib.h>\n\n"
        "#define WEAK __attribute__((weak)) /* what the program defines itself goes before */\n\n"
        f"static const unsigned long long loopless_inputs[] = {{ {values} }};\n"
        f"static unsigned long loopless_taken;\n\n"
        "static unsigned long long loopless_next(void) {\n"
        f"  if (loopless_taken >= {len(found.inputs)}UL) return {later};\n"
        "  return loopless_inputs[loopless_taken++];\n}\n\n"
        f"{functions}\n"
        'WEAK void reach_error(void) { fputs("reach_error was called\\n", stderr); abort(); }\n'
        "WEAK void __VERIFIER_assume(int condition) { if (!condition) exit(0); }\n"
    )
