"""What one run of a C function came to, in the words that ``loopless eval`` uses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Literal, get_args

from loopless.records import dataclass

Status = Literal[
    "ok",
    "undefined",
    "aborted",
    "assumption-failed",
    "error-reached",
    "diverges",
    "timeout",
    "crashed",
    "unknown",
]
"""How a run ended.

``ok``: the function returned. ``undefined``: it met undefined behaviour, which ends the run. ``aborted``: ``abort`` or
``exit``. ``assumption-failed``: an assumption was false, so the run does not count. ``error-reached``: the error
function was called or an assertion was false. ``diverges``: proved to run forever. ``timeout``: still running at the
time limit, which says nothing about divergence. ``crashed``: killed by a signal that is not a trap for undefined
behaviour (a wild memory access, say). ``unknown``: the run could not be carried out; ``detail`` says why.
"""

STATUSES: tuple[Status, ...] = get_args(Status)


def _no_globals() -> Mapping[str, int]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of one run.

    ``return_value`` is the returned integer in the range of the return type, ``None`` for ``void`` and for runs that
    did not return. ``outputs`` has one tuple per pointer parameter, in their order: the elements of what was passed,
    after the run, in the range of the pointee's type. ``globals`` has the final values of the scalar integer globals
    by source name. Both are empty for runs that were cut off. ``detail`` is one phrase for people. ``covered``: the
    sides of branches that were taken, where that was asked. ``drawn``: what the run drew, kinds and values by turns,
    where standard input is laid out. ``stdin``: the bytes that the run was given as standard input, where they were
    laid out from that, and ``nondet`` its other inputs.
    """

    status: Status
    return_value: int | None = None
    outputs: tuple[tuple[int, ...], ...] = ()
    globals: Mapping[str, int] = field(default_factory=_no_globals)
    detail: str = ""
    covered: frozenset[int] = frozenset()
    drawn: tuple[int, ...] | None = None
    stdin: bytes | None = None
    nondet: tuple[int, ...] = ()

    def __str__(self) -> str:
        parts: list[str] = [self.status]
        if self.return_value is not None:
            parts.append(f"returns {self.return_value}")
        parts.extend(f"output {list(values)}" for values in self.outputs)
        parts.extend(f"{name}={value}" for name, value in sorted(self.globals.items()))
        if self.detail:
            parts.append(f"({self.detail})")
        return " ".join(parts)

    def agrees_with(self, other: Outcome) -> bool:
        """Whether both say the same of the run, ``detail`` aside.

        A run that ends by a trap, an abort or a limit has no final values worth comparing, so only the status counts
        there.
        """
        if self.status != other.status:
            return False
        if self.status != "ok":
            return True
        return (
            self.return_value == other.return_value
            and self.outputs == other.outputs
            and dict(self.globals) == dict(other.globals)
        )
