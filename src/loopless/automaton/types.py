"""The type of a loop, 1 to 4 (Proteus, Table 1)."""

from __future__ import annotations

from typing import Literal

from loopless.automaton.components import ExecutionPattern, Pattern, execution
from loopless.automaton.conditions import LoopCondition, loop_conditions
from loopless.flowgraph.model import LoopInfo
from loopless.limits.automaton import EXECUTION_OPERATIONS
from loopless.paths import LoopPaths, NoPaths
from loopless.records import dataclass
from loopless.refusals import Reason, Refused

LoopType = Literal[1, 2, 3, 4]


@dataclass(frozen=True, slots=True)
class LoopClass:
    """What kind of loop a loop is.

    ``type``: Proteus's Table 1, None ("-") where the loop's paths are refused (``refused`` says why).
    ``conditions``: "IV" if all of ``atoms`` are IV conditions, else "NIV". ``execution``: "sequential", "periodic" or
    "irregular"; ``order`` has the details. ``decided``: False if the execution is called irregular only because a
    regular pattern was not found. ``reasons``: one sentence for each thing that makes the loop harder than type 1.
    """

    loop: LoopInfo
    type: LoopType | None
    conditions: Literal["IV", "NIV"] | None
    execution: Literal["sequential", "periodic", "irregular"] | None
    decided: bool
    reasons: tuple[str, ...]
    atoms: tuple[LoopCondition, ...] = ()
    order: ExecutionPattern | None = None
    refused: Refused | None = None

    @property
    def label(self) -> str:
        """The type as tables show it: a digit or "-"."""
        return "-" if self.type is None else str(self.type)


def classify(paths: LoopPaths | NoPaths, *, operations: int = EXECUTION_OPERATIONS) -> LoopClass:
    """The type of a loop. ``operations`` bounds the logic's work (isl operations)."""
    refused = paths.refused if isinstance(paths, NoPaths) else _gap(paths)
    if refused is not None or isinstance(paths, NoPaths):
        why = (refused.detail,) if refused is not None else ()
        return LoopClass(paths.loop, None, None, None, decided=True, reasons=why, refused=refused)
    atoms = loop_conditions(paths)
    order = execution(paths, operations=operations)
    induction = all(atom.induction for atom in atoms)
    reasons = tuple(dict.fromkeys((*(atom.reason for atom in atoms if atom.reason), *order.reasons)))
    return LoopClass(
        paths.loop,
        _TABLE[induction, order.pattern],
        "IV" if induction else "NIV",
        _LABELS[order.pattern],
        order.decided,
        reasons,
        atoms,
        order,
    )


def _gap(paths: LoopPaths) -> Refused | None:
    """Why some paths are missing: what an inner loop does is not known in some states."""
    for path in paths.exits:
        if path.exit is not None and path.exit.refused is not None:
            why = path.exit.refused
            label = f"[{why.reason.code} {why.reason.label}]"
            return Refused(Reason.NESTED, why.where, f"a loop inside has no complete summary: {why.detail} {label}")
    return None


_TABLE: dict[tuple[bool, Pattern], LoopType] = {
    (True, Pattern.SEQUENTIAL): 1,
    (True, Pattern.PERIODIC): 1,
    (True, Pattern.IRREGULAR): 2,
    (False, Pattern.SEQUENTIAL): 3,
    (False, Pattern.PERIODIC): 3,
    (False, Pattern.IRREGULAR): 4,
}
_LABELS: dict[Pattern, Literal["sequential", "periodic", "irregular"]] = {
    Pattern.SEQUENTIAL: "sequential",
    Pattern.PERIODIC: "periodic",
    Pattern.IRREGULAR: "irregular",
}
