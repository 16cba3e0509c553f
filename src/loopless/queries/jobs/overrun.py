"""Jobs that gave no result: what ended them, in words."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, TypeVar, TypeVarTuple

from loopless.errors import LimitError, LooplessError
from loopless.patterns import pattern
from loopless.records import dataclass
from loopless.refusals import Reason, Refused

_T = TypeVar("_T")
_Ts = TypeVarTuple("_Ts")
_USED_UP: Final = pattern(r"out of memory|cannot allocate memory|failed to map segment", re.IGNORECASE)
"""How libraries say that they could not have memory: Z3; the C library; the loader of libraries."""


@dataclass(frozen=True, slots=True)
class Overrun:
    """A job that gave no result: it met a limit, or it failed.

    ``traceback`` is for developers; ``seconds``: how long it worked; ``noted``: what it said last by :func:`note`.
    """

    reason: Reason
    detail: str
    traceback: str = ""
    seconds: float = 0.0
    noted: Any = None

    @property
    def in_words(self) -> str:
        """Why it ended, with what it was at where it said so in words."""
        at_work = self.reason is Reason.TIME_LIMIT and isinstance(self.noted, str)
        return f"the time limit was met while {self.noted}: {self.detail}" if at_work else self.detail

    @property
    def is_limit(self) -> bool:
        """Whether a limit on time or memory ended it: with a higher one there may be more to tell."""
        return self.reason in (Reason.TIME_LIMIT, Reason.MEMORY_LIMIT)

    def refused(self, where: str) -> Refused:
        """As the refusal of the loop at ``where``."""
        return Refused(self.reason, where, self.detail)


def attempted(job: Callable[[*_Ts], _T], *arguments: *_Ts) -> _T | Overrun:
    """What a job gives of its arguments; a limit of the logic, or an error inside Loopless, as an :class:`Overrun`, so
    that it does not take other answers with it. Raises every other :class:`loopless.errors.LooplessError`.
    """
    try:
        return job(*arguments)
    except LimitError as error:
        return Overrun(Reason.BUDGET, str(error))
    except LooplessError:
        raise
    except Exception as error:  # noqa: BLE001  # see above
        return failure(error)


def _for_memory(error: BaseException) -> bool:
    """Whether an exception, or one that it comes from, says that there was no memory to be had."""
    found: BaseException | None = error
    while found is not None:
        if isinstance(found, MemoryError) or _USED_UP.search(str(found)) is not None:
            return True
        found = found.__cause__ or found.__context__
    return False


TOO_DEEP: Final = "an expression of the program, or of the answer, is nested too deeply to be worked on"


def failure(error: BaseException) -> Overrun:
    """An unexpected exception as the failure of one job, with its traceback for developers; where it says that there
    was no memory to be had, as the limit of memory, and where recursion went too deep, as that limit.
    """
    import traceback

    if _for_memory(error):
        return Overrun(Reason.MEMORY_LIMIT, "the memory was used up; --loop-memory raises it")
    if isinstance(error, RecursionError):
        return Overrun(Reason.BUDGET, TOO_DEEP)
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    first = what.splitlines()[0]
    detail = f"an error inside Loopless ({first}); set LOOPLESS_DEBUG=1 for the traceback"
    return Overrun(Reason.ENGINE_FAILED, detail, "".join(traceback.format_exception(error)))
