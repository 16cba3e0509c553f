"""How questions are answered: the reading of numbers, and the limits on the work."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from loopless.source.compile import SourceOptions


@dataclass(frozen=True, slots=True)
class Settings:
    """All that a request fixes beside the question itself.

    ``mathematical`` reads signed types as ℤ, ``wrapv`` signed overflow as wrap-around. ``run``: whether user code may
    be run natively. ``loop_timeout_s`` and ``loop_memory_mb`` bound the work on one loop, ``timeout_s`` the whole
    request; None is no limit. ``workers``: how many loops are worked on at once, None for one a processor. ``fenced``:
    whether loops are worked on in child processes, without which the limits on a loop are not kept.
    """

    source: SourceOptions = field(default_factory=SourceOptions)
    mathematical: bool = False
    wrapv: bool = False
    run: bool = True
    loop_timeout_s: float | None = 10.0
    loop_memory_mb: int | None = 4096
    timeout_s: float | None = None
    workers: int | None = None
    fenced: bool = True

    @property
    def processes(self) -> int:
        """How many workers to use: those asked for, else one for each processor that this process may use."""
        if self.workers is not None:
            return max(1, self.workers)
        if hasattr(os, "sched_getaffinity"):
            return max(1, len(os.sched_getaffinity(0)))
        return os.cpu_count() or 1
