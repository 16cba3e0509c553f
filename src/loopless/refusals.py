"""Refusals: the values that stand where no answer can be given, with a closed set of reasons.

Every reason has a code (``L101`` …) that ``loopless explain CODE`` describes, and a page in ``docs/refusals.md``.
"""

from __future__ import annotations

from enum import Enum

from loopless.records import dataclass


class Reason(Enum):
    """Why a loop or a function has no (complete) answer. The value is (code, name)."""

    IRREDUCIBLE = ("L101", "irreducible-control-flow")
    FLOAT = ("L102", "floating-point")
    UNSUPPORTED_INSTRUCTION = ("L103", "unsupported-instruction")
    UNDEF_VALUE = ("L104", "undef-or-poison-value")
    INLINE_ASM = ("L105", "inline-assembly")
    RECURSION = ("L106", "recursive-call")
    UNKNOWN_CALL = ("L107", "unknown-call")
    POINTER = ("L108", "pointer-not-resolved")
    MEMORY = ("L109", "memory-not-summarized")
    EXCEPTION = ("L110", "exception-handling")
    CONCURRENCY = ("L111", "atomic-or-volatile-access")
    INPUT_DEPENDENT = ("L201", "input-dependent-condition")
    NON_AFFINE_CONDITION = ("L202", "non-affine-condition")
    NO_CLOSED_FORM = ("L203", "no-closed-form")
    MULTI_PATH = ("L204", "several-interleaving-paths")
    NESTED = ("L205", "inner-loop-not-summarized")
    WRAP = ("L206", "wrap-around-in-condition")
    OVERFLOW_UNDECIDED = ("L207", "overflow-undecided")
    NO_RANKING = ("L208", "no-ranking-function")
    NO_BOUND = ("L209", "no-bound-found")
    BUDGET = ("L301", "budget-exceeded")
    TIME_LIMIT = ("L302", "time-limit")
    MEMORY_LIMIT = ("L303", "memory-limit")
    RUN_FORBIDDEN = ("L304", "running-is-forbidden")
    ENGINE_FAILED = ("L305", "engine-failed")

    @property
    def code(self) -> str:
        """The short stable code, as ``loopless explain`` takes it."""
        return self.value[0]

    @property
    def label(self) -> str:
        """The name of the reason in words joined by hyphens, as JSON carries it."""
        return self.value[1]


@dataclass(frozen=True, slots=True)
class Refused:
    """No answer for one loop or function, and why.

    ``where`` is ``file:line:column`` (or a name where there is no place); ``detail`` is one sentence that names the
    construct, condition or update in the way.
    """

    reason: Reason
    where: str
    detail: str

    def __str__(self) -> str:
        return f"refused[{self.reason.code} {self.reason.label}] at {self.where}: {self.detail}"
