"""A generated program with inputs: a tree that can be minimized, or a C file that is kept as a regression test."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from loopless.check.outcome import STATUSES, Outcome
from loopless.errors import SourceError
from loopless_fuzz.generator.inputs import Arguments
from loopless_fuzz.generator.printer import print_program
from loopless_fuzz.generator.syntax import GeneratedProgram

_HEADER = re.compile(r"\A/\* kept case\n(.*?)\n\*/\n", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Case:
    """A program and the inputs of one run of its function."""

    program: GeneratedProgram
    args: Arguments
    nondet: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class KeptCase:
    """A case read back from its file: C text, the call, what a native run must come to, and why it was kept."""

    text: str
    function: str
    args: Arguments
    nondet: tuple[int, ...]
    expected: Outcome
    note: str


def save_case(path: Path, case: Case, expected: Outcome, note: str = "") -> None:
    """Write a case as one C file that compiles as it is; its first comment holds the inputs and the outcome."""
    facts = {
        "function": case.program.function.name,
        "args": case.args,
        "nondet": case.nondet,
        "expected": {
            "status": expected.status,
            "return": expected.return_value,
            "outputs": expected.outputs,
            "globals": dict(sorted(expected.globals.items())),
            "detail": expected.detail,
        },
        "note": note,
    }
    header = json.dumps(facts, indent=1).replace("*/", "*\\/")
    path.write_text(f"/* kept case\n{header}\n*/\n{print_program(case.program)}", encoding="utf-8")


def load_case(path: Path) -> KeptCase:
    """Read a file that :func:`save_case` wrote (or a person, in the same form).

    Raises:
        SourceError: if the file does not start with the comment of a kept case.
    """
    text = path.read_text(encoding="utf-8")
    found = _HEADER.match(text)
    if not found:
        raise SourceError(f"{path} is no kept case: it does not start with the comment that tells its inputs")
    try:
        facts: dict[str, Any] = json.loads(found[1])
        expected = facts["expected"]
        if expected["status"] not in STATUSES:
            raise SourceError(f"{path}: {expected['status']} is no status of a run")
        return KeptCase(
            text=text,
            function=facts["function"],
            args=tuple(tuple(argument) if isinstance(argument, list) else argument for argument in facts["args"]),
            nondet=tuple(facts["nondet"]),
            expected=Outcome(
                expected["status"],
                expected["return"],
                tuple(map(tuple, expected["outputs"])),
                MappingProxyType(expected["globals"]),
                expected["detail"],
            ),
            note=facts["note"],
        )
    except (KeyError, json.JSONDecodeError) as error:
        raise SourceError(f"{path} is no kept case: its first comment cannot be read ({error})") from error
